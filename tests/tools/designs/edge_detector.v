// One-cycle pulse for each rising edge of each bit of `a`, registered.
module edge_detector (
    input  wire       clk,
    input  wire       rst,
    input  wire [7:0] a,
    output reg  [7:0] pulse
);
  reg [7:0] previous;
  always @(posedge clk) begin
    if (rst) begin
      previous <= 8'd0;
      pulse    <= 8'd0;
    end else begin
      previous <= a;
      pulse    <= a & ~previous;
    end
  end
endmodule
