module pwm_dual_deadtime (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       enable,
    input  wire [7:0] period,
    input  wire [7:0] duty,
    input  wire [3:0] dead,
    input  wire       fault,
    input  wire       fault_clear,
    output reg        high_side,
    output reg        low_side,
    output wire       period_end,
    output reg        tripped
);

    reg [7:0] count;
    reg [7:0] p;
    reg [7:0] w;
    reg [3:0] t;

    reg       was_high;
    reg [3:0] run;  // length of the run up to the previous cycle, up to 15

    wire       wants_high = count < w;
    wire [3:0] so_far     = wants_high == was_high ? run : 4'd0;
    // One more cycle makes the run longer than t.
    wire       drives     = enable && so_far >= t;
    wire       trips      = fault || (tripped && !fault_clear);

    assign period_end = enable && count == p;

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            count     <= 8'd0;
            p         <= 8'd0;
            w         <= 8'd0;
            t         <= 4'd0;
            was_high  <= 1'b0;
            run       <= 4'd0;
            high_side <= 1'b0;
            low_side  <= 1'b0;
            tripped   <= 1'b0;
        end else begin
            count <= count + 8'd1;
            if (!enable || period_end) begin
                count <= 8'd0;
                p     <= period;
                w     <= duty;
                t     <= dead;
            end
            was_high  <= wants_high;
            run       <= !enable ? 4'd0 : so_far == 4'd15 ? 4'd15 : so_far + 4'd1;
            high_side <= drives && wants_high && !trips;
            low_side  <= drives && !wants_high && !trips;
            tripped   <= trips;
        end
    end

endmodule
