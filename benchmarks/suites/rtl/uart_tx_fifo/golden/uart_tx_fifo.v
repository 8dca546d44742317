module uart_tx_fifo (
    input  wire       clk,
    input  wire       rst,
    input  wire       in_valid,
    output wire       in_ready,
    input  wire [7:0] in_data,
    input  wire [7:0] div,
    input  wire [1:0] parity,
    input  wire       two_stop,
    input  wire       hold,
    output wire       txd,
    output wire       busy,
    output wire [3:0] level
);

    reg [7:0] memory [0:7];
    reg [3:0] written;
    reg [3:0] read;

    // The bit on the line is at the bottom, and ones follow the frame from above.
    reg [9:0] frame;
    reg [3:0] bits_left;
    reg [7:0] cycles_left;
    reg [7:0] reload;

    wire [7:0] oldest = memory[read[2:0]];
    wire       odd    = ^oldest;
    // What follows the byte: a parity bit or the first stop bit.
    wire       tail   = parity == 2'd1 ? !odd : parity == 2'd2 ? odd : 1'b1;

    wire write    = in_valid && in_ready;
    wire bit_ends = cycles_left == 8'd0;
    wire last     = bits_left == 4'd1 && bit_ends;
    wire take     = (!busy || last) && level != 4'd0 && !hold;

    assign level    = written - read;
    assign in_ready = level != 4'd8;
    assign busy     = bits_left != 4'd0;
    assign txd      = frame[0];

    always @(posedge clk) begin
        if (write)
            memory[written[2:0]] <= in_data;
        if (rst) begin
            written   <= 4'd0;
            read      <= 4'd0;
            frame     <= 10'h3FF;
            bits_left <= 4'd0;
        end else begin
            written <= written + {3'd0, write};
            read    <= read + {3'd0, take};
            if (take) begin
                frame       <= {tail, oldest, 1'b0};
                bits_left   <= 4'd10 + {3'd0, parity != 2'd0} + {3'd0, two_stop};
                cycles_left <= div;
                reload      <= div;
            end else if (busy) begin
                cycles_left <= cycles_left - 8'd1;
                if (bit_ends) begin
                    frame       <= {1'b1, frame[9:1]};
                    bits_left   <= bits_left - 4'd1;
                    cycles_left <= reload;
                end
            end
        end
    end

endmodule
