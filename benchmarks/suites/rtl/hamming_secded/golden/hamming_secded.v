module hamming_secded (
    input  wire [31:0] enc_data,
    output reg  [38:0] enc_code,
    input  wire [38:0] dec_code,
    output wire [31:0] dec_data,
    output wire        dec_single,
    output wire        dec_double,
    output wire [5:0]  dec_position
);

    // Data at their positions, check bits and overall parity 0.
    function [38:0] spread(input [31:0] data);
        spread = {data[31:26], 1'b0, data[25:11], 1'b0, data[10:4], 1'b0, data[3:1], 1'b0, data[0], 3'b000};
    endfunction

    function [5:0] syndrome(input [38:0] code);
        integer k;
        begin
            syndrome = 6'd0;
            for (k = 1; k < 39; k = k + 1)
                if (code[k])
                    syndrome = syndrome ^ k[5:0];
        end
    endfunction

    reg [5:0] check;

    always @* begin
        enc_code     = spread(enc_data);
        check        = syndrome(enc_code);
        enc_code[1]  = check[0];
        enc_code[2]  = check[1];
        enc_code[4]  = check[2];
        enc_code[8]  = check[3];
        enc_code[16] = check[4];
        enc_code[32] = check[5];
        enc_code[0]  = ^enc_code[38:1];
    end

    wire [5:0] s   = syndrome(dec_code);
    wire       odd = ^dec_code;

    assign dec_single   = odd && s < 6'd39;
    assign dec_double   = !dec_single && (odd || s != 6'd0);
    assign dec_position = dec_single ? s : 6'd0;

    wire [38:0] right = dec_code ^ (dec_single ? 39'd1 << s : 39'd0);

    assign dec_data = {right[38:33], right[31:17], right[15:9], right[7:5], right[3]};

    wire unused = ^{right[32], right[16], right[8], right[4], right[2:0]};

endmodule
