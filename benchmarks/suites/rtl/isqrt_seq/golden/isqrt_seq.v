// Digit by digit: two bits of the radicand come down in each step, and 4 * root + 1 is subtracted if it fits.
module isqrt_seq (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        start,
    input  wire        nearest,
    input  wire [31:0] radicand,
    output wire        ready,
    output reg         done,
    output wire [16:0] root,
    output wire [16:0] remainder
);

    reg  [4:0]  left;
    reg  [31:0] work;
    reg  [15:0] found;
    reg  [16:0] rest;
    reg         rounds;

    wire [18:0] next = {rest, work[31:30]};
    wire [18:0] test = {1'b0, found, 2'b01};
    wire        fits = next >= test;
    wire [18:0] diff = next - test;

    assign ready     = left == 5'd0;
    assign remainder = rest;
    // The root is above f + 1/2 exactly if the remainder is above f.
    assign root = {1'b0, found} + {16'd0, rounds && rest > {1'b0, found}};

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            left  <= 5'd0;
            done  <= 1'b0;
            found <= 16'd0;
            rest  <= 17'd0;
        end else begin
            done <= left == 5'd1;
            if (!ready) begin
                left  <= left - 5'd1;
                work  <= work << 2;
                found <= {found[14:0], fits};
                rest  <= fits ? diff[16:0] : next[16:0];
            end else if (start) begin
                left   <= 5'd16;
                work   <= radicand;
                found  <= 16'd0;
                rest   <= 17'd0;
                rounds <= nearest;
            end
        end
    end

    // A remainder never needs more than 17 bits.
    wire [1:0] unused = diff[18:17];

endmodule
