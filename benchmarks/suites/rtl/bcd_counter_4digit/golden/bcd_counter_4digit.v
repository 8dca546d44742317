module bcd_counter_4digit (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        clear,
    input  wire        load,
    input  wire [15:0] load_digits,
    input  wire        en,
    input  wire        up,
    output reg  [15:0] digits,
    output wire        carry,
    output wire        at_zero
);

    reg [15:0] limited;
    reg [15:0] counted;
    reg        ripple;
    integer k;

    always @* begin
        for (k = 0; k < 4; k = k + 1)
            limited[4*k +: 4] = load_digits[4*k +: 4] > 4'd9 ? 4'd9 : load_digits[4*k +: 4];
    end

    // A digit moves if all digits below it pass their end.
    always @* begin
        counted = digits;
        ripple  = 1'b1;
        for (k = 0; k < 4; k = k + 1) begin
            if (ripple) begin
                if (up)
                    counted[4*k +: 4] = digits[4*k +: 4] == 4'd9 ? 4'd0 : digits[4*k +: 4] + 4'd1;
                else
                    counted[4*k +: 4] = digits[4*k +: 4] == 4'd0 ? 4'd9 : digits[4*k +: 4] - 4'd1;
            end
            ripple = ripple && digits[4*k +: 4] == (up ? 4'd9 : 4'd0);
        end
    end

    assign carry   = en && !clear && !load && ripple;
    assign at_zero = digits == 16'd0;

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n)
            digits <= 16'd0;
        else if (clear)
            digits <= 16'd0;
        else if (load)
            digits <= limited;
        else if (en)
            digits <= counted;
    end

endmodule
