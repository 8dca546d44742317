module sync_fifo_fwft (
    input  wire       clk,
    input  wire       rst,
    input  wire       flush,
    input  wire       in_valid,
    output wire       in_ready,
    input  wire [7:0] in_data,
    output wire       out_valid,
    input  wire       out_ready,
    output wire [7:0] out_data,
    output wire [4:0] level,
    input  wire [4:0] threshold,
    output wire       almost_full,
    output reg  [4:0] peak
);

    reg [7:0] memory [0:15];
    reg [4:0] written;
    reg [4:0] read;

    wire write = in_valid && in_ready;
    wire take  = out_valid && out_ready;

    wire [4:0] next_written = written + {4'd0, write};
    wire [4:0] next_read    = read + {4'd0, take};
    wire [4:0] next_level   = next_written - next_read;

    // The fifth bit of the two counters tells full from empty.
    assign level       = written - read;
    assign in_ready    = !level[4];
    assign out_valid   = level != 5'd0;
    assign out_data    = memory[read[3:0]];
    assign almost_full = level >= threshold;

    always @(posedge clk) begin
        if (write)
            memory[written[3:0]] <= in_data;
        if (rst || flush) begin
            written <= 5'd0;
            read    <= 5'd0;
            peak    <= 5'd0;
        end else begin
            written <= next_written;
            read    <= next_read;
            if (next_level > peak)
                peak <= next_level;
        end
    end

endmodule
