module clock_divider_fractional (
    input  wire       clk,
    input  wire       rst,
    input  wire       load,
    input  wire [7:0] num,
    input  wire [7:0] den,
    input  wire       en,
    output reg        tick,
    output reg        div_clk,
    output reg  [7:0] phase
);

    reg [7:0] n;
    reg [7:0] d;

    wire       always_ticks = n >= d;
    wire [8:0] sum          = {1'b0, phase} + {1'b0, n};
    wire [8:0] over         = sum - {1'b0, d};
    wire       reaches      = sum >= {1'b0, d};

    always @(posedge clk) begin
        tick <= 1'b0;
        if (rst) begin
            n       <= 8'd1;
            d       <= 8'd2;
            phase   <= 8'd0;
            div_clk <= 1'b0;
        end else if (load) begin
            n     <= num;
            d     <= den;
            phase <= 8'd0;
        end else if (en) begin
            if (always_ticks) begin
                tick    <= 1'b1;
                phase   <= 8'd0;
                div_clk <= !div_clk;
            end else if (reaches) begin
                tick    <= 1'b1;
                phase   <= over[7:0];
                div_clk <= !div_clk;
            end else begin
                phase <= sum[7:0];
            end
        end
    end

    wire unused = over[8];

endmodule
