module cpu_accumulator8 (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       en,
    output wire [7:0] mem_addr,
    input  wire [7:0] mem_rdata,
    output wire       mem_we,
    output wire [7:0] mem_wdata,
    output reg  [7:0] out_data,
    output reg        out_valid,
    output wire       halted
);

    localparam [3:0] LOAD = 4'd1, STORE = 4'd2, ADD = 4'd3, ADC = 4'd4, SUB = 4'd5, AND = 4'd6, OR = 4'd7, XOR = 4'd8,
                     RCR = 4'd9, RCL = 4'd10, JMP = 4'd11, JZ = 4'd12, JC = 4'd13, OUT = 4'd14, HALT = 4'd15;
    localparam [1:0] OPCODE = 2'd0, ARGUMENT = 2'd1, EXECUTE = 2'd2, HALTED = 2'd3;

    reg [1:0] state;
    reg [7:0] pc;
    reg [7:0] a;
    reg       c;
    reg       z;
    reg [3:0] op;
    reg       immediate;
    reg [7:0] argument;

    wire [7:0] v = immediate ? argument : mem_rdata;
    reg  [8:0] result;  // the new carry and A
    reg        writes_a;
    reg        jumps;

    assign mem_addr  = state == EXECUTE ? argument : pc;
    assign mem_we    = state == EXECUTE && op == STORE;
    assign mem_wdata = a;
    assign halted    = state == HALTED;

    always @* begin
        writes_a = op == LOAD || (op >= ADD && op <= RCL);
        jumps    = op == JMP || (op == JZ && z) || (op == JC && c);
        case (op)
            ADD:     result = {1'b0, a} + {1'b0, v};
            ADC:     result = {1'b0, a} + {1'b0, v} + {8'd0, c};
            SUB:     result = {1'b0, a} - {1'b0, v};
            AND:     result = {c, a & v};
            OR:      result = {c, a | v};
            XOR:     result = {c, a ^ v};
            RCR:     result = {a[0], c, a[7:1]};
            RCL:     result = {a, c};
            default: result = {c, v};
        endcase
    end

    always @(posedge clk) begin
        if (!rst_n) begin
            state     <= OPCODE;
            pc        <= 8'd0;
            a         <= 8'd0;
            c         <= 1'b0;
            z         <= 1'b1;
            out_data  <= 8'd0;
            out_valid <= 1'b0;
        end else if (en) begin
            out_valid <= 1'b0;
            case (state)
                OPCODE: begin
                    {immediate, op} <= mem_rdata[4:0];
                    pc              <= pc + 8'd1;
                    state           <= ARGUMENT;
                end
                ARGUMENT: begin
                    argument <= mem_rdata;
                    pc       <= pc + 8'd1;
                    state    <= EXECUTE;
                end
                EXECUTE: begin
                    state <= op == HALT ? HALTED : OPCODE;
                    if (writes_a) begin
                        {c, a} <= result;
                        z      <= result[7:0] == 8'd0;
                    end
                    if (jumps)
                        pc <= argument;
                    if (op == OUT) begin
                        out_data  <= a;
                        out_valid <= 1'b1;
                    end
                end
                default: ;
            endcase
        end
    end

endmodule
