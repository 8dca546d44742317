module spi_master (
    input  wire       clk,
    input  wire       rst,
    input  wire       start,
    input  wire [7:0] tx_data,
    input  wire [3:0] div,
    input  wire       cpol,
    input  wire       cpha,
    input  wire       lsb_first,
    input  wire       keep,
    output wire       ready,
    output reg        done,
    output reg  [7:0] rx_data,
    output reg        sclk,
    output wire       mosi,
    input  wire       miso,
    output reg        cs_n
);

    reg       active;
    reg [4:0] phase;
    reg [3:0] wait_cycles;
    reg [3:0] reload;
    reg       second_edge;  // the stored cpha
    reg       reverse;
    reg       keeps;
    reg [7:0] out;  // the bit on the line is at the end that it leaves from
    reg [7:0] in;

    wire phase_ends = wait_cycles == 4'd0;
    wire last_phase = phase == 5'd16;
    // With cpha = 0 even phases end with a sample and odd ones with a shift; with cpha = 1 it is the other way round.
    wire samples    = phase[0] == second_edge && !last_phase;
    // With cpha = 1 the first bit is there from phase 0 on and stays through phases 1 and 2.
    wire shifts     = phase[0] != second_edge && !(second_edge && phase == 5'd0);

    assign ready = !active;
    assign mosi  = reverse ? out[0] : out[7];

    always @(posedge clk) begin
        done <= 1'b0;
        if (rst) begin
            active  <= 1'b0;
            rx_data <= 8'd0;
            sclk    <= 1'b0;
            cs_n    <= 1'b1;
        end else if (!active) begin
            sclk <= cpol;
            if (start) begin
                active      <= 1'b1;
                phase       <= 5'd0;
                wait_cycles <= div;
                reload      <= div;
                second_edge <= cpha;
                reverse     <= lsb_first;
                keeps       <= keep;
                out         <= tx_data;
                cs_n        <= 1'b0;
            end
        end else if (!phase_ends) begin
            wait_cycles <= wait_cycles - 4'd1;
        end else begin
            wait_cycles <= reload;
            phase       <= phase + 5'd1;
            if (samples)
                in <= reverse ? {miso, in[7:1]} : {in[6:0], miso};
            if (shifts)
                out <= reverse ? out >> 1 : out << 1;
            if (last_phase) begin
                active  <= 1'b0;
                done    <= 1'b1;
                rx_data <= in;
                cs_n    <= !keeps;
            end else begin
                sclk <= !sclk;
            end
        end
    end

endmodule
