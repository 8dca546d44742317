// One shifter to the right serves all: what goes left is reversed before and after it.
module barrel_shifter32 (
    input  wire [31:0] data,
    input  wire [4:0]  amount,
    input  wire [2:0]  op,
    output wire [31:0] result,
    output wire        carry,
    output wire        zero,
    output wire        negative
);

    function [31:0] reversed(input [31:0] word);
        integer k;
        begin
            for (k = 0; k < 32; k = k + 1)
                reversed[k] = word[31-k];
        end
    endfunction

    wire shifts    = op < 3'd5;
    wire leftwards = op == 3'd0 || op == 3'd3;
    wire rotates   = op == 3'd3 || op == 3'd4;
    wire signed_in = op == 3'd2 && data[31];

    wire [4:0]  n     = shifts ? amount : 5'd0;
    wire [31:0] right = leftwards || op == 3'd5 ? reversed(data) : data;
    wire [31:0] enter = rotates ? right : {32{signed_in}};

    // The bit below the word catches what left last.
    wire [64:0] shifted = {enter, right, 1'b0} >> n;

    assign carry    = shifted[0];
    assign result   = leftwards ? reversed(shifted[32:1]) : shifted[32:1];
    assign zero     = result == 32'd0;
    assign negative = result[31];

    wire [31:0] unused = shifted[64:33];

endmodule
