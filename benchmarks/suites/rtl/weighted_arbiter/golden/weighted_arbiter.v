module weighted_arbiter (
    input  wire        clk,
    input  wire        rst,
    input  wire [3:0]  req,
    input  wire [15:0] weights,
    input  wire        accept,
    output wire [3:0]  grant,
    output wire        grant_valid,
    output reg  [1:0]  owner,
    output reg  [3:0]  left
);

    wire goes_on = left != 4'd0 && req[owner];

    reg       found;
    reg [1:0] next;
    reg [1:0] place;
    integer k;

    // From the owner down to the one after it: the last one met is the first in turn.
    always @* begin
        found = 1'b0;
        next  = owner;
        place = owner;
        for (k = 0; k < 4; k = k + 1) begin
            if (req[place] && weights[4*place +: 4] != 4'd0) begin
                found = 1'b1;
                next  = place;
            end
            place = place - 2'd1;
        end
    end

    wire [1:0] winner = goes_on ? owner : next;

    assign grant_valid = goes_on || found;
    assign grant       = {3'd0, grant_valid} << winner;

    always @(posedge clk) begin
        if (rst) begin
            owner <= 2'd3;
            left  <= 4'd0;
        end else if (accept && grant_valid) begin
            owner <= winner;
            left  <= (goes_on ? left : weights[4*next +: 4]) - 4'd1;
        end
    end

endmodule
