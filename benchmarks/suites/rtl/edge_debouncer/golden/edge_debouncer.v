module edge_debouncer (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       noisy,
    input  wire [7:0] limit,
    output reg        level,
    output reg        rose,
    output reg        fell,
    output wire       settling,
    output reg  [7:0] bounces
);

    reg [1:0] meta;
    reg [7:0] count;

    wire s      = meta[1];
    wire accept = settling && count >= limit;

    assign settling = s != level;

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            meta    <= 2'b00;
            count   <= 8'd0;
            level   <= 1'b0;
            rose    <= 1'b0;
            fell    <= 1'b0;
            bounces <= 8'd0;
        end else begin
            meta  <= {meta[0], noisy};
            count <= settling && !accept ? count + 8'd1 : 8'd0;
            rose  <= accept && s;
            fell  <= accept && !s;
            if (accept)
                level <= s;
            if (!settling && count != 8'd0 && bounces != 8'd255)
                bounces <= bounces + 8'd1;
        end
    end

endmodule
