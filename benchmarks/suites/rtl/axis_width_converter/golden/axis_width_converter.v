module axis_width_converter (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        s_tvalid,
    output wire        s_tready,
    input  wire [7:0]  s_tdata,
    input  wire        s_tlast,
    input  wire        s_tuser,
    output reg         m_tvalid,
    input  wire        m_tready,
    output reg  [31:0] m_tdata,
    output reg  [3:0]  m_tkeep,
    output reg         m_tlast,
    output reg         m_tuser
);

    // A word under construction or, if `full`, complete and behind the one that is offered.
    reg  [31:0] data;
    reg  [3:0]  keep;
    reg         last;
    reg         user;
    reg         full;
    reg  [1:0]  place;

    wire        take = s_tvalid && s_tready;
    wire        free = !m_tvalid || m_tready;
    wire        ends = take && (s_tlast || place == 2'd3);

    // The word with the byte that comes now.
    wire        first     = place == 2'd0;
    wire [31:0] with_data = (first ? 32'd0 : data) | ({24'd0, s_tdata} << {place, 3'd0});
    wire [3:0]  with_keep = (first ? 4'd0 : keep) | (4'd1 << place);
    wire        with_user = (!first && user) || s_tuser;

    assign s_tready = !full || m_tready;

    always @(posedge clk) begin
        if (!rst_n) begin
            m_tvalid <= 1'b0;
            full     <= 1'b0;
            place    <= 2'd0;
        end else begin
            if (take) begin
                place <= ends ? 2'd0 : place + 2'd1;
                data  <= with_data;
                keep  <= with_keep;
                last  <= s_tlast;
                user  <= with_user;
            end
            full <= free ? full && ends : full || ends;
            if (free) begin
                m_tvalid <= full || ends;
                m_tdata  <= full ? data : with_data;
                m_tkeep  <= full ? keep : with_keep;
                m_tlast  <= full ? last : s_tlast;
                m_tuser  <= full ? user : with_user;
            end
        end
    end

endmodule
