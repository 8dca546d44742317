// Everything happens at the falling edge.
module toggler (
    input  wire       clk,
    input  wire       rst,
    input  wire [3:0] step,
    output reg  [3:0] sum
);
  always @(negedge clk) begin
    if (rst) sum <= 4'd0;
    else sum <= sum + step;
  end
endmodule
