module fixed_point_mac (
    input  wire               clk,
    input  wire               rst,
    input  wire               en,
    input  wire        [1:0]  op,
    input  wire signed [15:0] a,
    input  wire signed [15:0] b,
    output reg  signed [35:0] acc,
    output reg                acc_overflow,
    output wire        [15:0] q,
    output wire               q_saturated
);

    wire signed [31:0] product = a * b;
    wire signed [36:0] addend  = {{5{product[31]}}, product};
    wire signed [36:0] base    = {acc[35], acc};
    wire signed [36:0] sum     = op[1] ? base - addend : base + addend;
    wire               too_far = sum[36] != sum[35];

    always @(posedge clk) begin
        if (rst) begin
            acc          <= 36'sd0;
            acc_overflow <= 1'b0;
        end else if (en) begin
            case (op)
                2'd0: begin
                    acc          <= addend[35:0];
                    acc_overflow <= 1'b0;
                end
                2'd3: begin
                    acc          <= 36'sd0;
                    acc_overflow <= 1'b0;
                end
                default: begin
                    acc <= too_far ? {sum[36], {35{!sum[36]}}} : sum[35:0];
                    if (too_far)
                        acc_overflow <= 1'b1;
                end
            endcase
        end
    end

    // Round half to even: up if the half bit is set and anything below it or the bit above it.
    wire        up      = acc[14] && (acc[13:0] != 14'd0 || acc[15]);
    wire [21:0] rounded = {acc[35], acc[35:15]} + {21'd0, up};

    assign q_saturated = rounded[21:15] != {7{rounded[21]}};
    assign q           = q_saturated ? {rounded[21], {15{!rounded[21]}}} : rounded[15:0];

endmodule
