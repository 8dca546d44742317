module moving_average (
    input  wire               clk,
    input  wire               rst_n,
    input  wire               clear,
    input  wire               in_valid,
    input  wire signed [11:0] sample,
    input  wire        [1:0]  window,
    output reg                out_valid,
    output reg  signed [11:0] mean,
    output reg                complete
);

    reg signed [11:0] history [0:14];  // history[0] is the newest
    reg        [14:0] exists;

    reg signed [15:0] sum2, sum4, sum8, sum16;
    reg signed [15:0] rounded;
    reg               all_there;
    integer           k;

    function signed [15:0] wide(input [11:0] value, input present);
        wide = present ? {{4{value[11]}}, value} : 16'sd0;
    endfunction

    always @* begin
        sum2 = {{4{sample[11]}}, sample} + wide(history[0], exists[0] && !clear);
        sum4 = sum2;
        for (k = 1; k < 3; k = k + 1)
            sum4 = sum4 + wide(history[k], exists[k] && !clear);
        sum8 = sum4;
        for (k = 3; k < 7; k = k + 1)
            sum8 = sum8 + wide(history[k], exists[k] && !clear);
        sum16 = sum8;
        for (k = 7; k < 15; k = k + 1)
            sum16 = sum16 + wide(history[k], exists[k] && !clear);
        case (window)
            2'd0: begin
                rounded   = (sum2 + 16'sd1) >>> 1;
                all_there = exists[0];
            end
            2'd1: begin
                rounded   = (sum4 + 16'sd2) >>> 2;
                all_there = exists[2];
            end
            2'd2: begin
                rounded   = (sum8 + 16'sd4) >>> 3;
                all_there = exists[6];
            end
            default: begin
                // The sum of 16 samples fits into 16 bits, but half a window more does not.
                rounded   = (sum16 >>> 4) + {15'd0, sum16[3]};
                all_there = exists[14];
            end
        endcase
    end

    always @(posedge clk) begin
        if (!rst_n) begin
            out_valid <= 1'b0;
            mean      <= 12'sd0;
            complete  <= 1'b0;
            exists    <= 15'd0;
        end else begin
            out_valid <= in_valid;
            if (in_valid) begin
                mean       <= rounded[11:0];
                complete   <= all_there && !clear;
                exists     <= clear ? 15'd1 : {exists[13:0], 1'b1};
                history[0] <= sample;
                for (k = 1; k < 15; k = k + 1)
                    history[k] <= history[k-1];
            end else if (clear) begin
                exists <= 15'd0;
            end
        end
    end

    wire [3:0] unused = rounded[15:12];

endmodule
