// Combinational and small enough to be tried exhaustively.
module majority (
    input  wire [4:0] votes,
    output wire       carried
);
  assign carried = (votes[0] + votes[1] + votes[2] + votes[3] + votes[4]) > 3'd2;
endmodule
