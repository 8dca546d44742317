module priority_encoder16 (
    input  wire [15:0] req,
    input  wire [15:0] mask,
    input  wire        low_first,
    output reg  [3:0]  index,
    output wire [15:0] grant,
    output wire        valid,
    output wire [4:0]  others
);

    wire [15:0] active = req & ~mask;

    integer k;
    reg [4:0] active_count;

    // The last one that is met wins.
    always @* begin
        index = 4'd0;
        if (low_first) begin
            for (k = 15; k >= 0; k = k - 1)
                if (active[k]) index = k[3:0];
        end else begin
            for (k = 0; k < 16; k = k + 1)
                if (active[k]) index = k[3:0];
        end
    end

    always @* begin
        active_count = 5'd0;
        for (k = 0; k < 16; k = k + 1)
            active_count = active_count + {4'd0, active[k]};
    end

    assign valid  = active != 16'd0;
    assign grant  = {15'd0, valid} << index;
    assign others = valid ? active_count - 5'd1 : 5'd0;

endmodule
