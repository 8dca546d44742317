module dma_engine (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        start,
    input  wire        cancel,
    input  wire [15:0] src,
    input  wire [15:0] dst,
    input  wire [7:0]  count,
    input  wire        src_fixed,
    input  wire        dst_fixed,
    output reg         busy,
    output reg         done,
    output reg         error,
    output reg         canceled,
    output reg  [7:0]  left,
    output reg         m_valid,
    input  wire        m_ready,
    output reg         m_write,
    output wire [15:0] m_addr,
    output reg  [31:0] m_wdata,
    input  wire        m_resp,
    input  wire        m_error,
    input  wire [31:0] m_rdata
);

    reg [13:0] from;
    reg [13:0] to;
    reg        from_fixed;
    reg        to_fixed;
    reg        stopping;

    wire stop = stopping || cancel;
    wire last = m_write && left == 8'd1;

    assign m_addr = {m_write ? to : from, 2'b00};

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            busy    <= 1'b0;
            done    <= 1'b0;
            error   <= 1'b0;
            canceled <= 1'b0;
            left    <= 8'd0;
            m_valid <= 1'b0;
        end else begin
            done <= 1'b0;
            if (m_ready)
                m_valid <= 1'b0;
            if (!busy) begin
                if (start) begin
                    busy    <= count != 8'd0;
                    m_valid <= count != 8'd0;
                    done    <= count == 8'd0;
                    error   <= 1'b0;
                    canceled <= 1'b0;
                    left    <= count;
                end
                from       <= src[15:2];
                to         <= dst[15:2];
                from_fixed <= src_fixed;
                to_fixed   <= dst_fixed;
                m_write    <= 1'b0;
                stopping   <= 1'b0;
            end else begin
                stopping <= stop;
                if (m_resp) begin
                    m_write <= !m_write;
                    if (!m_write) begin
                        m_wdata <= m_rdata;
                    end else if (!m_error) begin
                        left <= left - 8'd1;
                        from <= from + {13'd0, !from_fixed};
                        to   <= to + {13'd0, !to_fixed};
                    end
                    if (m_error || last || stop) begin
                        busy    <= 1'b0;
                        done    <= 1'b1;
                        error   <= m_error;
                        canceled <= !m_error && !last;
                    end else begin
                        m_valid <= 1'b1;
                    end
                end
            end
        end
    end

    wire unused = &{src[1:0], dst[1:0]};

endmodule
