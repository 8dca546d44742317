module sequence_detector_programmable (
    input  wire       clk,
    input  wire       rst,
    input  wire       load,
    input  wire [7:0] pattern,
    input  wire [7:0] care,
    input  wire [2:0] last_index,
    input  wire       overlap,
    input  wire       in_valid,
    input  wire       in_bit,
    output reg        match,
    output reg  [7:0] count,
    output wire       armed
);

    reg [7:0] wanted;
    reg [7:0] relevant;
    reg [2:0] last;
    reg       shares;

    reg [6:0] history;
    reg [2:0] received;  // bits in the history, up to 7

    // One bit above the length leaves the ones below it when 1 is taken away: 8 bits for last = 7, too.
    wire [8:0] above  = 9'd2 << last;
    wire [8:0] used_bits = above - 9'd1;
    wire [7:0] window = {history, in_bit};
    wire       same   = ((window ^ wanted) & relevant & used_bits[7:0]) == 8'd0;
    wire       found  = in_valid && armed && same;

    assign armed = received >= last;

    always @(posedge clk) begin
        if (rst) begin
            wanted   <= 8'd0;
            relevant <= 8'hFF;
            last     <= 3'd7;
            shares   <= 1'b1;
            received <= 3'd0;
            match    <= 1'b0;
            count    <= 8'd0;
        end else if (load) begin
            wanted   <= pattern;
            relevant <= care;
            last     <= last_index;
            shares   <= overlap;
            received <= 3'd0;
            match    <= 1'b0;
            count    <= 8'd0;
        end else begin
            match <= found;
            if (found && count != 8'd255)
                count <= count + 8'd1;
            if (in_valid) begin
                history <= window[6:0];
                if (found && !shares)
                    received <= 3'd0;
                else if (received != 3'd7)
                    received <= received + 3'd1;
            end
        end
    end

    wire unused = used_bits[8];

endmodule
