// Valid/ready pipeline of two stages: squares an 8-bit number.
module squarer (
    input  wire        clk,
    input  wire        rst,
    input  wire        in_valid,
    output wire        in_ready,
    input  wire [7:0]  in_data,
    output reg         out_valid,
    input  wire        out_ready,
    output reg  [15:0] out_data
);
  reg       mid_valid;
  reg [7:0] mid_data;
  wire out_free = !out_valid || out_ready;
  wire mid_free = !mid_valid || out_free;
  assign in_ready = mid_free;
  always @(posedge clk) begin
    if (rst) begin
      mid_valid <= 1'b0;
      out_valid <= 1'b0;
    end else begin
      if (out_free) begin
        out_valid <= mid_valid;
        out_data  <= mid_data * mid_data;
      end
      if (mid_free) begin
        mid_valid <= in_valid;
        mid_data  <= in_data;
      end
    end
  end
endmodule
