module lfsr16_galois (
    input  wire        clk,
    input  wire        rst,
    input  wire        en,
    input  wire [1:0]  speed,
    input  wire        load,
    input  wire [15:0] seed,
    output reg  [15:0] state,
    output reg  [7:0]  out_bits,
    output reg         out_valid,
    output wire        at_seed
);

    reg [15:0] start;
    reg [15:0] next;
    reg [7:0]  bits;

    wire [3:0]  steps  = 4'd1 << speed;
    wire [15:0] usable = seed == 16'd0 ? 16'd1 : seed;

    integer k;
    always @* begin
        next = state;
        bits = 8'd0;
        for (k = 0; k < 8; k = k + 1)
            if (k[3:0] < steps) begin
                bits[k] = next[0];
                next    = {1'b0, next[15:1]} ^ (next[0] ? 16'hB400 : 16'd0);
            end
    end

    assign at_seed = state == start;

    always @(posedge clk) begin
        out_bits  <= 8'd0;
        out_valid <= 1'b0;
        if (rst) begin
            state <= 16'd1;
            start <= 16'd1;
        end else if (load) begin
            state <= usable;
            start <= usable;
        end else if (en) begin
            state     <= next;
            out_bits  <= bits;
            out_valid <= 1'b1;
        end
    end

endmodule
