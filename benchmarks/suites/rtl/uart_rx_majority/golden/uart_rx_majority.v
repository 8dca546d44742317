module uart_rx_majority (
    input  wire       clk,
    input  wire       rst,
    input  wire       rxd,
    input  wire [3:0] div,
    output reg  [7:0] data,
    output reg        valid,
    output reg        frame_error,
    output reg        break_detect,
    output reg        noise,
    output reg        receiving
);

    reg [1:0] meta;
    reg       recovering;  // after a frame error, until the line is 1

    reg [3:0] divisor;
    reg [3:0] cycles;     // to the next sample
    reg [2:0] sample;     // its number within the bit
    reg [3:0] bit_index;
    reg [1:0] votes;      // the two samples before the third
    reg [7:0] shift;
    reg       noisy;

    wire line   = meta[1];
    wire now    = receiving && cycles == 4'd0;
    wire decide = now && sample == 3'd5;
    wire value  = (votes[0] & votes[1]) | (line & (votes[0] | votes[1]));
    wire mixed  = votes != {line, line};
    wire ends   = decide && bit_index == 4'd9;

    always @(posedge clk) begin
        valid        <= 1'b0;
        frame_error  <= 1'b0;
        break_detect <= 1'b0;
        noise        <= 1'b0;
        meta         <= {meta[0], rxd};
        if (rst) begin
            meta       <= 2'b11;
            recovering <= 1'b0;
            receiving  <= 1'b0;
            data       <= 8'd0;
        end else if (recovering) begin
            recovering <= !line;
        end else if (!receiving) begin
            receiving <= !line;
            divisor   <= div;
            cycles    <= div;
            sample    <= 3'd1;
            bit_index <= 4'd0;
            noisy     <= 1'b0;
        end else if (!now) begin
            cycles <= cycles - 4'd1;
        end else begin
            cycles <= divisor;
            sample <= sample + 3'd1;
            votes  <= {votes[0], line};
            if (sample == 3'd7)
                bit_index <= bit_index + 4'd1;
            if (decide) begin
                shift <= {value, shift[7:1]};
                noisy <= noisy || mixed;
                if (bit_index == 4'd0 && value)
                    receiving <= 1'b0;
            end
            if (ends) begin
                receiving    <= 1'b0;
                recovering   <= !value;
                valid        <= value;
                frame_error  <= !value;
                break_detect <= !value && shift == 8'd0;
                noise        <= noisy || mixed;
                if (value)
                    data <= shift;
            end
        end
    end

endmodule
