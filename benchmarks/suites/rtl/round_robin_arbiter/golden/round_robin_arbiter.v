module round_robin_arbiter (
    input  wire       clk,
    input  wire       rst_n,
    input  wire [7:0] req,
    input  wire       lock,
    input  wire       accept,
    output wire [7:0] grant,
    output reg  [2:0] grant_index,
    output wire       grant_valid
);

    reg [2:0] first;
    reg       locked;

    // While locked, the owner is the one before `first`.
    wire [2:0] owner = first - 3'd1;
    wire [7:0] asked = locked ? req & (8'd1 << owner) : req;

    assign grant_valid = asked != 8'd0;
    assign grant       = {7'd0, grant_valid} << grant_index;

    integer k;
    reg [2:0] place;
    always @* begin
        grant_index = 3'd0;
        place       = first;
        for (k = 0; k < 8; k = k + 1) begin
            place = place - 3'd1;
            if (asked[place])
                grant_index = place;
        end
    end

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            first  <= 3'd0;
            locked <= 1'b0;
        end else if (grant_valid) begin
            if (accept) begin
                first  <= grant_index + 3'd1;
                locked <= lock;
            end
        end else begin
            locked <= 1'b0;
        end
    end

endmodule
