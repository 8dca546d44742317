// One step of the CORDIC algorithm (Volder 1959) a cycle.
module cordic_rotator (
    input  wire               clk,
    input  wire               rst,
    input  wire               in_valid,
    output wire               in_ready,
    input  wire signed [15:0] in_x,
    input  wire signed [15:0] in_y,
    input  wire        [15:0] in_angle,
    output wire               out_valid,
    input  wire               out_ready,
    output wire signed [17:0] out_x,
    output wire signed [17:0] out_y
);

    localparam STEPS = 4'd14;

    reg               full;
    reg        [3:0]  step;
    reg signed [17:0] x;
    reg signed [17:0] y;
    reg        [15:0] z;
    reg        [15:0] turn;

    wire signed [17:0] wide_x = {{2{in_x[15]}}, in_x};
    wire signed [17:0] wide_y = {{2{in_y[15]}}, in_y};
    wire signed [17:0] small_x = x >>> step;
    wire signed [17:0] small_y = y >>> step;

    always @*
        case (step)
            4'd0:    turn = 16'd8192;
            4'd1:    turn = 16'd4836;
            4'd2:    turn = 16'd2555;
            4'd3:    turn = 16'd1297;
            4'd4:    turn = 16'd651;
            4'd5:    turn = 16'd326;
            4'd6:    turn = 16'd163;
            4'd7:    turn = 16'd81;
            4'd8:    turn = 16'd41;
            4'd9:    turn = 16'd20;
            4'd10:   turn = 16'd10;
            4'd11:   turn = 16'd5;
            default: turn = 16'd3;  // 12; the last step's angle does not matter
        endcase

    assign in_ready  = !full;
    assign out_valid = full && step == STEPS;
    assign out_x     = x;
    assign out_y     = y;

    always @(posedge clk) begin
        if (rst) begin
            full <= 1'b0;
        end else if (!full) begin
            full <= in_valid;
            step <= 4'd0;
            case (in_angle[15:14])
                2'b01: begin
                    x <= -wide_y;
                    y <= wide_x;
                end
                2'b10: begin
                    x <= wide_y;
                    y <= -wide_x;
                end
                default: begin
                    x <= wide_x;
                    y <= wide_y;
                end
            endcase
            // A quarter turn less or more: the angle's second bit is inverted in quadrants 1 and 2.
            z <= {{2{in_angle[15]}}, in_angle[13:0]};
        end else if (out_valid) begin
            full <= !out_ready;
        end else begin
            step <= step + 4'd1;
            if (z[15]) begin
                x <= x + small_y;
                y <= y - small_x;
                z <= z + turn;
            end else begin
                x <= x - small_y;
                y <= y + small_x;
                z <= z - turn;
            end
        end
    end

endmodule
