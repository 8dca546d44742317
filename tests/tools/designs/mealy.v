// Detects 1-0-1 with overlap; the output reacts in the same cycle (Mealy).
module mealy (
    input  wire clk,
    input  wire rst,
    input  wire x,
    output wire z
);
  localparam IDLE = 2'd0, GOT1 = 2'd1, GOT10 = 2'd2;
  reg [1:0] state;
  assign z = (state == GOT10) && x;
  always @(posedge clk) begin
    if (rst) state <= IDLE;
    else
      case (state)
        IDLE: state <= x ? GOT1 : IDLE;
        GOT1: state <= x ? GOT1 : GOT10;
        default: state <= x ? GOT1 : IDLE;
      endcase
  end
endmodule
