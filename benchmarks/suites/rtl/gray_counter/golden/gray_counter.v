module gray_counter (
    input  wire       clk,
    input  wire       rst,
    input  wire       en,
    input  wire       up,
    input  wire       load,
    input  wire [7:0] load_gray,
    output reg  [7:0] gray,
    output reg  [7:0] binary,
    output reg        wrapped
);

    reg [7:0] loaded;
    reg [7:0] next;

    // Each bit is the parity of the code's bits from the top down to it.
    integer k;
    always @* begin
        loaded[7] = load_gray[7];
        for (k = 6; k >= 0; k = k - 1)
            loaded[k] = loaded[k+1] ^ load_gray[k];
    end

    always @* begin
        next = binary;
        if (load)
            next = loaded;
        else if (en)
            next = up ? binary + 8'd1 : binary - 8'd1;
    end

    always @(posedge clk) begin
        if (rst) begin
            gray    <= 8'd0;
            binary  <= 8'd0;
            wrapped <= 1'b0;
        end else begin
            gray    <= next ^ (next >> 1);
            binary  <= next;
            wrapped <= en && !load && binary == (up ? 8'd255 : 8'd0);
        end
    end

endmodule
