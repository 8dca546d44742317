module axi_lite_regs (
    input  wire        aclk,
    input  wire        aresetn,
    input  wire        awvalid,
    output wire        awready,
    input  wire [7:0]  awaddr,
    input  wire        wvalid,
    output wire        wready,
    input  wire [31:0] wdata,
    input  wire [3:0]  wstrb,
    output reg         bvalid,
    input  wire        bready,
    output reg  [1:0]  bresp,
    input  wire        arvalid,
    output wire        arready,
    input  wire [7:0]  araddr,
    output reg         rvalid,
    input  wire        rready,
    output reg  [31:0] rdata,
    output reg  [1:0]  rresp,
    input  wire [31:0] hw_status,
    input  wire [7:0]  events,
    output reg  [31:0] control,
    output wire        irq
);

    localparam [5:0] ID = 6'd0, CONTROL = 6'd1, STATUS = 6'd2, PENDING = 6'd3, MASK = 6'd4, SCRATCH = 6'd5, COUNT = 6'd6;
    localparam [1:0] OKAY = 2'd0, SLVERR = 2'd2;

    reg  [7:0]  pending;
    reg  [7:0]  mask;
    reg  [31:0] scratch;
    reg  [15:0] count;

    wire        write = awvalid && wvalid && (!bvalid || bready);
    wire        read  = arvalid && arready;
    wire [5:0]  to    = awaddr[7:2];
    wire        known = to == CONTROL || to == PENDING || to == MASK || to == SCRATCH;
    wire [31:0] bits  = {{8{wstrb[3]}}, {8{wstrb[2]}}, {8{wstrb[1]}}, {8{wstrb[0]}}};

    assign awready = write;
    assign wready  = write;
    assign arready = !rvalid || rready;
    assign irq     = (pending & mask) != 8'd0;

    always @(posedge aclk) begin
        if (!aresetn) begin
            bvalid  <= 1'b0;
            control <= 32'h0000000F;
            pending <= 8'd0;
            mask    <= 8'd0;
            scratch <= 32'd0;
            count   <= 16'd0;
        end else begin
            pending <= pending | events;
            if (write) begin
                bvalid <= 1'b1;
                bresp  <= known ? OKAY : SLVERR;
                count  <= count + {15'd0, known};
                case (to)
                    CONTROL: control <= (control & ~bits) | (wdata & bits);
                    PENDING: pending <= (pending & ~(wdata[7:0] & bits[7:0])) | events;
                    MASK:    mask    <= (mask & ~bits[7:0]) | (wdata[7:0] & bits[7:0]);
                    SCRATCH: scratch <= (scratch & ~bits) | (wdata & bits);
                    default: ;
                endcase
            end else if (bready) begin
                bvalid <= 1'b0;
            end
        end
    end

    always @(posedge aclk) begin
        if (!aresetn) begin
            rvalid <= 1'b0;
        end else if (read) begin
            rvalid <= 1'b1;
            rresp  <= OKAY;
            case (araddr[7:2])
                ID:      rdata <= 32'h52544C31;
                CONTROL: rdata <= control;
                STATUS:  rdata <= hw_status;
                PENDING: rdata <= {24'd0, pending};
                MASK:    rdata <= {24'd0, mask};
                SCRATCH: rdata <= scratch;
                COUNT:   rdata <= {16'd0, count};
                default: begin
                    rdata <= 32'd0;
                    rresp <= SLVERR;
                end
            endcase
        end else if (rready) begin
            rvalid <= 1'b0;
        end
    end

    wire unused = &{awaddr[1:0], araddr[1:0]};

endmodule
