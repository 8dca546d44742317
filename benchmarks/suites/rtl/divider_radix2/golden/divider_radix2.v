// Restoring division. The dividend leaves `work` at the top while the quotient enters it at the bottom.
module divider_radix2 (
    input  wire        clk,
    input  wire        rst,
    input  wire        in_valid,
    output wire        in_ready,
    input  wire [15:0] dividend,
    input  wire [15:0] divisor,
    output wire        out_valid,
    input  wire        out_ready,
    output wire [15:0] quotient,
    output wire [15:0] remainder,
    output wire        by_zero
);

    reg         active;
    reg  [4:0]  left;
    reg  [15:0] work;
    reg  [15:0] part;
    reg  [15:0] by;

    wire [16:0] next = {part, work[15]};
    wire        fits = next >= {1'b0, by};
    wire [16:0] diff = next - {1'b0, by};

    assign in_ready  = !active;
    assign out_valid = active && left == 5'd0;
    assign quotient  = work;
    assign remainder = part;
    assign by_zero   = by == 16'd0;

    always @(posedge clk) begin
        if (rst) begin
            active <= 1'b0;
        end else if (!active) begin
            active <= in_valid;
            left   <= 5'd16;
            work   <= dividend;
            by     <= divisor;
            part   <= 16'd0;
        end else if (left != 5'd0) begin
            left <= left - 5'd1;
            work <= {work[14:0], fits};
            part <= fits ? diff[15:0] : next[15:0];
        end else if (out_ready) begin
            active <= 1'b0;
        end
    end

    // Its top bit is 0 whenever it is used.
    wire unused = diff[16];

endmodule
