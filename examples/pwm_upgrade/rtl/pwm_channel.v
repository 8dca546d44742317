// One PWM output: high while the shared period counter is below the duty value.
module pwm_channel (
    input  wire       clk,
    input  wire       rst,
    input  wire       load,
    input  wire [7:0] duty_in,
    input  wire [7:0] phase,
    output reg        pwm
);
    reg [7:0] duty;

    always @(posedge clk) begin
        if (rst)
            duty <= 8'd0;
        else if (load)
            duty <= duty_in;
    end

    always @(posedge clk) begin
        if (rst)
            pwm <= 1'b0;
        else
            pwm <= (phase <= duty);
    end
endmodule
