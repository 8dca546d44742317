// Radix-4 Booth recoding (Booth 1951, MacSorley 1961). Each step adds -2 to 2 times the multiplicand to the
// upper half of the partial product and moves it right by two.
module multiplier_booth_seq (
    input  wire        clk,
    input  wire        rst,
    input  wire        in_valid,
    output wire        in_ready,
    input  wire [15:0] a,
    input  wire [15:0] b,
    input  wire        a_signed,
    input  wire        b_signed,
    output wire        out_valid,
    input  wire        out_ready,
    output wire [31:0] product
);

    reg         full;
    reg  [3:0]  left;
    reg  [16:0] multiplicand;
    reg  [18:0] upper;
    reg  [18:0] lower;  // the multiplier, with the bit below its lowest; fills up with the product

    wire [18:0] once  = {{2{multiplicand[16]}}, multiplicand};
    reg  [18:0] sum;

    always @*
        case (lower[2:0])
            3'b001, 3'b010: sum = upper + once;
            3'b011:         sum = upper + {once[17:0], 1'b0};
            3'b100:         sum = upper - {once[17:0], 1'b0};
            3'b101, 3'b110: sum = upper - once;
            default:        sum = upper;
        endcase

    assign out_valid = full && left == 4'd0;
    assign in_ready  = !full || (out_valid && out_ready);
    assign product   = {upper[13:0], lower[18:1]};

    always @(posedge clk) begin
        if (rst) begin
            full <= 1'b0;
        end else if (in_ready) begin
            full         <= in_valid;
            left         <= 4'd9;
            multiplicand <= {a_signed && a[15], a};
            lower        <= {{2{b_signed && b[15]}}, b, 1'b0};
            upper        <= 19'd0;
        end else if (!out_valid) begin
            left  <= left - 4'd1;
            upper <= {{2{sum[18]}}, sum[18:2]};
            lower <= {sum[1:0], lower[18:2]};
        end
    end

endmodule
