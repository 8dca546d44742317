module manchester_rx (
    input  wire       clk,
    input  wire       rst,
    input  wire       line,
    output reg        valid,
    output reg  [7:0] data,
    output reg        error
);

    localparam DEAF = 2'd0, WAITING = 2'd1, RECEIVING = 2'd2;

    reg [1:0] state;
    reg [3:0] count;   // deaf: zeros seen; receiving: cycles since the middle
    reg [2:0] bits;
    reg [6:0] shift;
    reg       previous;

    always @(posedge clk) begin
        valid  <= 1'b0;
        error  <= 1'b0;
        previous <= line;
        if (rst) begin
            state <= DEAF;
            count <= 4'd0;
            data  <= 8'd0;
        end else begin
            case (state)
                DEAF: begin
                    count <= line ? 4'd0 : count + 4'd1;
                    if (!line && count == 4'd7)
                        state <= WAITING;
                end
                WAITING:
                    if (line) begin
                        state <= RECEIVING;
                        count <= 4'd1;
                        bits  <= 3'd0;
                    end
                default: begin
                    count <= count + 4'd1;
                    if (count >= 4'd6 && line != previous) begin
                        count <= 4'd1;
                        bits  <= bits + 3'd1;
                        shift <= {shift[5:0], line};
                        if (bits == 3'd7) begin
                            valid <= 1'b1;
                            data  <= {shift, line};
                            state <= DEAF;
                            count <= 4'd0;
                        end
                    end else if (count == 4'd10) begin
                        error <= 1'b1;
                        state <= DEAF;
                        count <= 4'd0;
                    end
                end
            endcase
        end
    end

endmodule
