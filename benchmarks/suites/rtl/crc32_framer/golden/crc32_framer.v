// The check sequence leaves the CRC register from the bottom while ones enter at the top: after
// four bytes the register holds the start value of the next packet.
module crc32_framer (
    input  wire       clk,
    input  wire       rst,
    input  wire       in_valid,
    output wire       in_ready,
    input  wire [7:0] in_data,
    input  wire       in_last,
    input  wire       in_abort,
    output reg        out_valid,
    input  wire       out_ready,
    output reg  [7:0] out_data,
    output reg        out_last
);

    reg  [31:0] crc;
    reg  [2:0]  left;  // bytes of the check sequence still to be sent

    wire        step = !out_valid || out_ready;

    assign in_ready = step && left == 3'd0;

    function [31:0] next_crc(input [31:0] start, input [7:0] data);
        integer k;
        begin
            next_crc = start ^ {24'd0, data};
            for (k = 0; k < 8; k = k + 1)
                next_crc = next_crc[0] ? {1'b0, next_crc[31:1]} ^ 32'hEDB88320 : {1'b0, next_crc[31:1]};
        end
    endfunction

    wire [31:0] after = next_crc(crc, in_data);

    always @(posedge clk) begin
        if (rst) begin
            out_valid <= 1'b0;
            left      <= 3'd0;
            crc       <= 32'hFFFFFFFF;
        end else if (step) begin
            if (left != 3'd0) begin
                out_valid <= 1'b1;
                out_data  <= crc[7:0];
                out_last  <= left == 3'd1;
                crc       <= {8'hFF, crc[31:8]};
                left      <= left - 3'd1;
            end else begin
                out_valid <= in_valid;
                out_data  <= in_data;
                out_last  <= 1'b0;
                if (in_valid) begin
                    crc <= in_last && !in_abort ? ~after : after;
                    if (in_last)
                        left <= 3'd4;
                end
            end
        end
    end

endmodule
