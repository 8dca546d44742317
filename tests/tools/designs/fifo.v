// Synchronous FIFO of depth 4, first word falls through.
module fifo (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       wr_en,
    input  wire [7:0] wr_data,
    output wire       full,
    input  wire       rd_en,
    output wire [7:0] rd_data,
    output wire       empty
);
  reg [7:0] memory[0:3];
  reg [2:0] wr_ptr, rd_ptr;
  assign empty   = wr_ptr == rd_ptr;
  assign full    = wr_ptr == {~rd_ptr[2], rd_ptr[1:0]};
  assign rd_data = memory[rd_ptr[1:0]];
  always @(posedge clk) begin
    if (!rst_n) begin
      wr_ptr <= 3'd0;
      rd_ptr <= 3'd0;
    end else begin
      if (wr_en && !full) begin
        memory[wr_ptr[1:0]] <= wr_data;
        wr_ptr <= wr_ptr + 3'd1;
      end
      if (rd_en && !empty) rd_ptr <= rd_ptr + 3'd1;
    end
  end
endmodule
