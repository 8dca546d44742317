// `place` counts the bits of a flag, a byte or an abort that are still to be sent after the one on the line.
module hdlc_framer (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       tick,
    input  wire       in_valid,
    output wire       in_ready,
    input  wire [7:0] in_data,
    input  wire       in_last,
    output reg        tx,
    output reg        busy
);

    localparam IDLE = 3'd0, FLAG = 3'd1, DATA = 3'd2, ABORT = 3'd3, DISCARD = 3'd4;

    reg  [2:0] state;
    reg  [2:0] place;
    reg  [2:0] ones;
    reg  [6:0] rest;
    reg        final_byte;

    wire       stuff    = state == DATA && ones == 3'd5;
    wire       finished = place == 3'd0 && !stuff;
    wire       asks     = (state == FLAG && finished) || (state == DATA && finished && !final_byte)
                          || (state == ABORT && finished) || state == DISCARD;

    assign in_ready = tick && asks;

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            state <= IDLE;
            tx    <= 1'b1;
            busy  <= 1'b0;
        end else if (tick) begin
            case (state)
                IDLE:
                    if (in_valid) begin
                        state <= FLAG;
                        place <= 3'd7;
                        tx    <= 1'b0;
                        busy  <= 1'b1;
                    end
                FLAG, DATA:
                    if (stuff) begin
                        tx   <= 1'b0;
                        ones <= 3'd0;
                    end else if (!finished) begin
                        place <= place - 3'd1;
                        if (state == FLAG) begin
                            tx <= place != 3'd1;
                        end else begin
                            tx   <= rest[0];
                            ones <= rest[0] ? ones + 3'd1 : 3'd0;
                            rest <= {1'b0, rest[6:1]};
                        end
                    end else begin
                        place <= 3'd7;
                        if (!asks) begin
                            state <= FLAG;
                            tx    <= 1'b0;
                        end else if (in_valid) begin
                            state      <= DATA;
                            tx         <= in_data[0];
                            ones       <= !in_data[0] ? 3'd0 : state == FLAG ? 3'd1 : ones + 3'd1;
                            rest       <= in_data[7:1];
                            final_byte <= in_last;
                        end else begin
                            state <= state == FLAG ? IDLE : ABORT;
                            tx    <= 1'b1;
                            busy  <= state != FLAG;
                        end
                    end
                default: begin  // ABORT, DISCARD
                    if (!asks) begin
                        place <= place - 3'd1;
                    end else begin
                        state <= in_valid && in_last ? IDLE : DISCARD;
                        busy  <= 1'b0;
                    end
                end
            endcase
        end
    end

endmodule
