// Two PWM channels that share a prescaler and a period counter of 255 steps (0 to 254).
module pwm_top (
    input  wire       clk,
    input  wire       rst,
    input  wire       enable,
    input  wire [7:0] div,
    input  wire       wr,
    input  wire       wr_channel,
    input  wire [7:0] wr_duty,
    output wire [1:0] pwm
);
    wire      tick;
    reg [7:0] phase;

    prescaler u_prescaler (.clk(clk), .rst(rst), .enable(enable), .div(div), .tick(tick));

    always @(posedge clk) begin
        if (rst || !enable)
            phase <= 8'd0;
        else if (tick)
            phase <= phase + 8'd1;
    end

    pwm_channel u_channel0 (
        .clk(clk), .rst(rst), .load(wr && !wr_channel), .duty_in(wr_duty), .phase(phase), .pwm(pwm[0])
    );
    pwm_channel u_channel1 (
        .clk(clk), .rst(rst), .load(wr && wr_channel), .duty_in(wr_duty), .phase(phase), .pwm(pwm[1])
    );
endmodule
