module manchester_codec (
    input  wire       clk,
    input  wire       rst,
    input  wire       tx_valid,
    output wire       tx_ready,
    input  wire [7:0] tx_data,
    output wire       tx_line,
    input  wire       rx_line,
    output wire       rx_valid,
    output wire [7:0] rx_data,
    output wire       rx_error
);

    manchester_tx transmitter (
        .clk(clk), .rst(rst), .valid(tx_valid), .ready(tx_ready), .data(tx_data), .line(tx_line)
    );
    manchester_rx receiver (
        .clk(clk), .rst(rst), .line(rx_line), .valid(rx_valid), .data(rx_data), .error(rx_error)
    );

endmodule
