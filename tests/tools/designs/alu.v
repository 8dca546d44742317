// Combinational: add, subtract, and, xor; `zero` when the result is 0.
module alu (
    input  wire [1:0]  op,
    input  wire [15:0] a,
    input  wire [15:0] b,
    output reg  [15:0] y,
    output wire        zero
);
  always @* begin
    case (op)
      2'd0: y = a + b;
      2'd1: y = a - b;
      2'd2: y = a & b;
      default: y = a ^ b;
    endcase
  end
  assign zero = y == 16'd0;
endmodule
