// Divides the clock: tick is high for one cycle in every (div + 1) cycles while enabled.
module prescaler (
    input  wire       clk,
    input  wire       rst,
    input  wire       enable,
    input  wire [7:0] div,
    output wire       tick
);
    reg [7:0] count;

    assign tick = enable && (count == div);

    always @(posedge clk) begin
        if (rst || !enable)
            count <= 8'd0;
        else if (tick)
            count <= 8'd0;
        else
            count <= count + 8'd1;
    end
endmodule
