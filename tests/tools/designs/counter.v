// Up counter with asynchronous active-low reset and synchronous enable; `wrap` in the cycle before it wraps.
module counter (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       en,
    output reg  [3:0] count,
    output wire       wrap
);
  assign wrap = en && count == 4'd9;
  always @(posedge clk or negedge rst_n) begin
    if (!rst_n) count <= 4'd0;
    else if (en) count <= count == 4'd9 ? 4'd0 : count + 4'd1;
  end
endmodule
