// Sixteen steps on the magnitudes, then one cycle in which the signs and the special cases are put right.
module divider_signed (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        start,
    input  wire        floored,
    input  wire [15:0] dividend,
    input  wire [15:0] divisor,
    output wire        busy,
    output reg         done,
    output reg  [15:0] quotient,
    output reg  [15:0] remainder,
    output reg         by_zero,
    output reg         overflow
);

    reg  [4:0]  left;
    reg  [15:0] work;
    reg  [15:0] part;
    reg  [15:0] by;
    reg         top_negative;
    reg         by_negative;
    reg         rounds_down;

    wire [16:0] next  = {part, work[15]};
    wire [16:0] diff  = next - {1'b0, by};
    wire        fits  = !diff[16];
    wire        zero  = by == 16'd0;
    wire        apart = top_negative != by_negative;
    wire        adjust = rounds_down && apart && part != 16'd0;
    wire [15:0] signed_part = top_negative ? -part : part;

    assign busy = left != 5'd0;

    always @(posedge clk) begin
        done <= 1'b0;
        if (!rst_n) begin
            left      <= 5'd0;
            quotient  <= 16'd0;
            remainder <= 16'd0;
            by_zero   <= 1'b0;
            overflow  <= 1'b0;
        end else if (!busy) begin
            if (start)
                left <= 5'd17;
            work         <= dividend[15] ? -dividend : dividend;
            by           <= divisor[15] ? -divisor : divisor;
            part         <= 16'd0;
            top_negative <= dividend[15];
            by_negative  <= divisor[15];
            rounds_down  <= floored;
        end else if (left != 5'd1) begin
            left <= left - 5'd1;
            work <= {work[14:0], fits};
            part <= fits ? diff[15:0] : next[15:0];
        end else begin
            left     <= 5'd0;
            done     <= 1'b1;
            by_zero  <= zero;
            overflow <= work[15] && !apart && !zero;
            // A magnitude divided by zero leaves itself as the remainder.
            remainder <= adjust && !zero ? signed_part + (by_negative ? -by : by) : signed_part;
            if (zero)
                quotient <= {top_negative, {15{!top_negative}}};
            else
                quotient <= (apart ? -work : work) - {15'd0, adjust};
        end
    end

endmodule
