module interrupt_controller (
    input  wire       clk,
    input  wire       rst,
    input  wire [7:0] sources,
    input  wire       we,
    input  wire       re,
    input  wire [3:0] addr,
    input  wire [7:0] wdata,
    output reg  [7:0] rdata,
    output reg        irq,
    output reg  [2:0] irq_id
);

    localparam [3:0] ENABLE = 4'd0, EDGE = 4'd1, PENDING = 4'd2, ACTIVE = 4'd3, THRESHOLD = 4'd4, CLAIM = 4'd5;

    reg [7:0]  enable;
    reg [7:0]  edges;
    reg [7:0]  sample;
    reg [7:0]  captured;  // cleared in the first cycle after a reset, in which nothing looks at it
    reg [7:0]  active;
    reg [2:0]  threshold;
    reg [23:0] priorities;

    reg  [2:0] least;  // a candidate's priority is above it
    reg  [7:0] claimed;
    integer    k;

    wire [7:0] pending = (edges & captured) | (~edges & sample);
    wire [7:0] rising  = edges & sources & ~sample;
    wire [7:0] cleared = we && addr == PENDING ? wdata : 8'd0;
    wire       claims  = re && addr == CLAIM && irq;
    wire [7:0] finish  = wdata - 8'd1;

    always @* begin
        least = threshold;
        for (k = 0; k < 8; k = k + 1)
            if (active[k] && priorities[3*k+:3] > least)
                least = priorities[3*k+:3];
        irq    = 1'b0;
        irq_id = 3'd0;
        for (k = 0; k < 8; k = k + 1)
            if (pending[k] && enable[k] && !active[k] && priorities[3*k+:3] > least) begin
                least  = priorities[3*k+:3];
                irq    = 1'b1;
                irq_id = k[2:0];
            end
        claimed = claims ? 8'd1 << irq_id : 8'd0;
    end

    always @* begin
        rdata = 8'd0;
        if (addr[3])
            rdata[2:0] = priorities[3*addr[2:0]+:3];
        else
            case (addr)
                ENABLE:    rdata = enable;
                EDGE:      rdata = edges;
                PENDING:   rdata = pending;
                ACTIVE:    rdata = active;
                THRESHOLD: rdata = {5'd0, threshold};
                CLAIM:     rdata = irq ? {5'd0, irq_id} + 8'd1 : 8'd0;
                default:   ;
            endcase
    end

    always @(posedge clk) begin
        if (rst) begin
            enable     <= 8'd0;
            edges      <= 8'd0;
            sample     <= 8'd0;
            active     <= 8'd0;
            threshold  <= 3'd0;
            priorities <= 24'd0;
        end else begin
            sample   <= sources;
            captured <= rising | (edges & captured & ~cleared & ~claimed);
            active   <= active | claimed;
            if (we) begin
                if (addr[3])
                    priorities[3*addr[2:0]+:3] <= wdata[2:0];
                else
                    case (addr)
                        ENABLE:    enable    <= wdata;
                        EDGE:      edges     <= wdata;
                        THRESHOLD: threshold <= wdata[2:0];
                        CLAIM:
                            if (finish < 8'd8)
                                active <= (active | claimed) & ~(8'd1 << finish[2:0]);
                        default:   ;
                    endcase
            end
        end
    end

endmodule
