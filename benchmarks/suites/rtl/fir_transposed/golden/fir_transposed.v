module fir_transposed (
    input  wire               clk,
    input  wire               rst,
    input  wire               coef_write,
    input  wire        [2:0]  coef_index,
    input  wire signed [7:0]  coef,
    input  wire               clear,
    input  wire               in_valid,
    input  wire signed [7:0]  sample,
    output reg                out_valid,
    output reg  signed [18:0] result
);

    reg signed [7:0]  coefs [0:7];
    reg signed [18:0] chain [1:7];  // chain[k]: what the next sample's product with coefficient k - 1 is added to
    integer           k;

    function signed [18:0] product(input signed [7:0] factor, input signed [7:0] other);
        product = factor * other;
    endfunction

    always @(posedge clk) begin
        if (rst) begin
            out_valid <= 1'b0;
            result    <= 19'sd0;
            for (k = 0; k < 8; k = k + 1)
                coefs[k] <= 8'sd0;
            for (k = 1; k < 8; k = k + 1)
                chain[k] <= 19'sd0;
        end else begin
            out_valid <= in_valid;
            if (coef_write)
                coefs[coef_index] <= coef;
            if (in_valid) begin
                result <= product(coefs[0], sample) + (clear ? 19'sd0 : chain[1]);
                for (k = 1; k < 7; k = k + 1)
                    chain[k] <= product(coefs[k], sample) + (clear ? 19'sd0 : chain[k+1]);
                chain[7] <= product(coefs[7], sample);
            end else if (clear) begin
                for (k = 1; k < 8; k = k + 1)
                    chain[k] <= 19'sd0;
            end
        end
    end

endmodule
