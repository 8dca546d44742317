module pulse_stretcher (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       trigger,
    input  wire [7:0] length,
    input  wire       extend,
    input  wire       cancel,
    output wire       pulse,
    output wire       last,
    output reg  [7:0] remaining,
    output reg  [3:0] missed
);

    assign pulse = remaining != 8'd0;
    assign last  = remaining == 8'd1;

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            remaining <= 8'd0;
            missed    <= 4'd0;
        end else if (cancel) begin
            remaining <= 8'd0;
        end else if (trigger && (!pulse || extend)) begin
            remaining <= length;
        end else if (pulse) begin
            remaining <= remaining - 8'd1;
            if (trigger && missed != 4'd15)
                missed <= missed + 4'd1;
        end
    end

endmodule
