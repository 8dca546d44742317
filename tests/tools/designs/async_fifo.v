// Two-clock FIFO of depth 8 with Gray pointers; the read data are registered: they come a cycle after rd_en.
module async_fifo (
    input  wire       wr_clk,
    input  wire       wr_rst_n,
    input  wire       wr_en,
    input  wire [7:0] wr_data,
    output wire       full,
    input  wire       rd_clk,
    input  wire       rd_rst_n,
    input  wire       rd_en,
    output reg  [7:0] rd_data,
    output wire       empty
);
  reg [7:0] memory[0:7];
  reg [3:0] wr_bin, rd_bin;
  wire [3:0] wr_gray = wr_bin ^ (wr_bin >> 1);
  wire [3:0] rd_gray = rd_bin ^ (rd_bin >> 1);
  reg [3:0] wr_sync0, wr_sync1, rd_sync0, rd_sync1, wr_gray_q, rd_gray_q;
  assign full  = wr_gray == {~rd_sync1[3:2], rd_sync1[1:0]};
  assign empty = rd_gray == wr_sync1;
  always @(posedge wr_clk or negedge wr_rst_n) begin
    if (!wr_rst_n) begin
      wr_bin <= 4'd0;
      wr_gray_q <= 4'd0;
      {rd_sync1, rd_sync0} <= 8'd0;
    end else begin
      {rd_sync1, rd_sync0} <= {rd_sync0, rd_gray_q};
      wr_gray_q <= wr_gray;
      if (wr_en && !full) begin
        memory[wr_bin[2:0]] <= wr_data;
        wr_bin <= wr_bin + 4'd1;
      end
    end
  end
  always @(posedge rd_clk or negedge rd_rst_n) begin
    if (!rd_rst_n) begin
      rd_bin <= 4'd0;
      rd_gray_q <= 4'd0;
      {wr_sync1, wr_sync0} <= 8'd0;
    end else begin
      {wr_sync1, wr_sync0} <= {wr_sync0, wr_gray_q};
      rd_gray_q <= rd_gray;
      if (rd_en && !empty) begin
        rd_data <= memory[rd_bin[2:0]];
        rd_bin <= rd_bin + 4'd1;
      end
    end
  end
endmodule
