// Eleven slots of eight cycles: the start bit, eight data bits, two of silence.
module manchester_tx (
    input  wire       clk,
    input  wire       rst,
    input  wire       valid,
    output wire       ready,
    input  wire [7:0] data,
    output reg        line
);

    reg [6:0] left;    // cycles until idle
    reg [9:0] halves;  // the value of the coming second half, and those after it
    reg [7:0] sent;    // 1 where a coming slot carries a bit

    assign ready = left == 7'd0;

    always @(posedge clk) begin
        if (rst) begin
            left <= 7'd0;
            line <= 1'b0;
        end else if (ready) begin
            if (valid)
                left <= 7'd88;
            halves <= {1'b1, data, 1'b0};
            sent   <= 8'hFF;
        end else begin
            left <= left - 7'd1;
            if (left[2:0] == 3'd5)
                line <= halves[9];
            if (left[2:0] == 3'd1) begin
                line   <= sent[7] && !halves[8];
                halves <= {halves[8:0], 1'b0};
                sent   <= {sent[6:0], 1'b0};
            end
        end
    end

endmodule
