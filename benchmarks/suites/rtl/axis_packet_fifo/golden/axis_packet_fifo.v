// Bytes are written at `tail`; a good end moves `head` there, and a drop moves `tail` back to `head`.
module axis_packet_fifo (
    input  wire       clk,
    input  wire       rst,
    input  wire       s_valid,
    input  wire [7:0] s_data,
    input  wire       s_last,
    input  wire       s_bad,
    output reg        dropped,
    output wire       m_valid,
    input  wire       m_ready,
    output wire [7:0] m_data,
    output wire       m_last,
    output reg  [4:0] packets
);

    reg  [8:0] store [0:15];
    reg  [4:0] tail;      // where the next byte goes
    reg  [4:0] head;      // the end of the complete packets
    reg  [4:0] out;       // the oldest byte
    reg        ignoring;

    wire       full  = tail == {~out[4], out[3:0]};
    wire       lost  = ignoring || full;
    wire       drop  = lost || (s_last && s_bad);
    wire       gives = m_valid && m_ready;
    wire       gains = s_valid && s_last && !drop;
    wire       loses = gives && m_last;

    assign m_valid          = packets != 5'd0;
    assign {m_last, m_data} = store[out[3:0]];

    always @(posedge clk) begin
        dropped <= 1'b0;
        if (rst) begin
            tail     <= 5'd0;
            head     <= 5'd0;
            out      <= 5'd0;
            packets  <= 5'd0;
            ignoring <= 1'b0;
        end else begin
            packets <= packets + {4'd0, gains} - {4'd0, loses};
            if (gives)
                out <= out + 5'd1;
            if (s_valid) begin
                dropped  <= s_last && drop;
                ignoring <= lost && !s_last;
                if (!lost)
                    store[tail[3:0]] <= {s_last, s_data};
                tail <= drop ? head : tail + 5'd1;
                if (gains)
                    head <= tail + 5'd1;
            end
        end
    end

endmodule
