module i2c_target (
    input  wire        clk,
    input  wire        rst_n,
    input  wire [6:0]  address,
    input  wire        scl_in,
    input  wire        sda_in,
    output reg         sda_low,
    output reg  [63:0] regs
);

    localparam [2:0] IDLE    = 3'd0;
    localparam [2:0] ADDRESS = 3'd1;
    localparam [2:0] POINTER = 3'd2;
    localparam [2:0] WRITE   = 3'd3;
    localparam [2:0] READ    = 3'd4;

    // Two flip-flops against metastability, and one to see changes.
    reg [2:0] scl;
    reg [2:0] sda;

    reg [2:0] state;
    reg [2:0] pointer;
    // Every START begins with new ones of these.
    reg [3:0] bits;     // of the present byte, 9 with the acknowledgement
    reg [7:0] shift;
    reg       refused;  // the controller did not acknowledge

    wire clock     = scl[1];
    wire line      = sda[1];
    wire scl_rises = clock && !scl[2];
    wire scl_falls = !clock && scl[2];
    wire starts    = clock && !line && sda[2];
    wire stops     = clock && line && !sda[2];

    wire       byte_ends = bits == 4'd8;
    wire       ack_ends  = bits == 4'd9;
    wire       chosen    = shift[7:1] == address;
    wire [7:0] stored    = regs[8*pointer +: 8];

    always @(posedge clk) begin
        scl <= {scl[1:0], scl_in};
        sda <= {sda[1:0], sda_in};
        if (starts || (scl_falls && ack_ends))
            bits <= 4'd0;
        else if (scl_rises)
            bits <= bits + 4'd1;
        if (scl_rises) begin
            refused <= line;
            if (!byte_ends)
                shift <= {shift[6:0], line};
        end
    end

    integer k;
    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            state   <= IDLE;
            pointer <= 3'd0;
            sda_low <= 1'b0;
            for (k = 0; k < 8; k = k + 1)
                regs[8*k +: 8] <= {5'b10100, k[2:0]};
        end else begin
            // Whenever SDA can move while SCL is high, the target does not pull it.
            if (starts) begin
                state <= ADDRESS;
            end else if (stops) begin
                state <= IDLE;
            end else if (scl_falls) begin
                case (state)
                    ADDRESS: begin
                        if (byte_ends) begin
                            sda_low <= chosen;
                            if (!chosen)
                                state <= IDLE;
                        end else if (ack_ends) begin
                            state   <= shift[0] ? READ : POINTER;
                            sda_low <= shift[0] && !stored[7];
                        end
                    end
                    POINTER: begin
                        sda_low <= byte_ends;
                        if (byte_ends)
                            pointer <= shift[2:0];
                        if (ack_ends)
                            state <= WRITE;
                    end
                    WRITE: begin
                        sda_low <= byte_ends;
                        if (byte_ends) begin
                            regs[8*pointer +: 8] <= shift;
                            pointer <= pointer + 3'd1;
                        end
                    end
                    READ: begin
                        if (byte_ends) begin
                            sda_low <= 1'b0;
                            pointer <= pointer + 3'd1;
                        end else if (!ack_ends) begin
                            sda_low <= !stored[3'd7 - bits[2:0]];
                        end else if (refused) begin
                            state <= IDLE;
                        end else begin
                            sda_low <= !stored[7];
                        end
                    end
                    default: ;
                endcase
            end
        end
    end

endmodule
