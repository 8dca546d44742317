// Shift register without reset: its state is unknown until four bits have come in.
module shifter (
    input  wire       clk,
    input  wire       en,
    input  wire       d,
    output reg  [3:0] q
);
  always @(posedge clk) if (en) q <= {q[2:0], d};
endmodule
