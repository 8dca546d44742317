module cache_direct_mapped (
    input  wire        clk,
    input  wire        rst,
    input  wire        req_valid,
    output wire        req_ready,
    input  wire        req_write,
    input  wire [9:0]  req_addr,
    input  wire [31:0] req_wdata,
    input  wire [3:0]  req_wstrb,
    output reg         resp_valid,
    output reg  [31:0] resp_rdata,
    output wire        mem_valid,
    input  wire        mem_ready,
    output wire        mem_write,
    output wire [9:0]  mem_addr,
    output wire [31:0] mem_wdata,
    input  wire        mem_rvalid,
    input  wire [31:0] mem_rdata
);

    localparam REST = 3'd0, WRITE_BACK = 3'd1, READ = 3'd2, WAIT = 3'd3, FINISH = 3'd4;

    reg [31:0] words [0:31];
    reg [4:0]  tags [0:7];
    reg [7:0]  valid;
    reg [7:0]  dirty;

    reg [2:0]  state;
    reg [1:0]  word;
    reg        held_write;
    reg [9:0]  held_addr;
    reg [31:0] held_wdata;
    reg [3:0]  held_wstrb;

    // The request that is looked up or carried out in this cycle.
    wire        resting = state == REST;
    wire        write   = resting ? req_write : held_write;
    wire [9:0]  addr    = resting ? req_addr : held_addr;
    wire [31:0] wdata   = resting ? req_wdata : held_wdata;
    wire [3:0]  wstrb   = resting ? req_wstrb : held_wstrb;
    wire [2:0]  index   = addr[4:2];
    wire        hit     = valid[index] && tags[index] == addr[9:5];
    wire        act     = resting ? req_valid && hit : state == FINISH;
    wire [31:0] mask    = {{8{wstrb[3]}}, {8{wstrb[2]}}, {8{wstrb[1]}}, {8{wstrb[0]}}};
    wire [31:0] present = words[addr[4:0]];

    assign req_ready = resting;
    assign mem_valid = state == WRITE_BACK || state == READ;
    assign mem_write = state == WRITE_BACK;
    assign mem_addr  = {mem_write ? tags[index] : addr[9:5], index, word};
    assign mem_wdata = words[{index, word}];

    always @(posedge clk) begin
        resp_valid <= act && !rst;
        resp_rdata <= present;
        if (resting) begin
            held_write <= req_write;
            held_addr  <= req_addr;
            held_wdata <= req_wdata;
            held_wstrb <= req_wstrb;
        end
        if (act && write) begin
            words[addr[4:0]] <= (present & ~mask) | (wdata & mask);
            dirty[index]     <= 1'b1;
        end
        if (rst) begin
            state <= REST;
            valid <= 8'd0;
        end else begin
            case (state)
                REST: begin
                    word <= 2'd0;
                    if (req_valid && !hit)
                        state <= valid[index] && dirty[index] ? WRITE_BACK : READ;
                end
                WRITE_BACK:
                    if (mem_ready) begin
                        word <= word + 2'd1;
                        if (word == 2'd3)
                            state <= READ;
                    end
                READ:
                    if (mem_ready)
                        state <= WAIT;
                WAIT:
                    if (mem_rvalid) begin
                        words[{index, word}] <= mem_rdata;
                        word                 <= word + 2'd1;
                        state                <= word == 2'd3 ? FINISH : READ;
                        tags[index]          <= addr[9:5];
                        valid[index]         <= 1'b1;
                        dirty[index]         <= 1'b0;
                    end
                default:
                    state <= REST;
            endcase
        end
    end

endmodule
