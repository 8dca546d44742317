module cdc_handshake (
    input  wire        src_clk,
    input  wire        src_rst_n,
    input  wire        src_valid,
    output wire        src_ready,
    input  wire [15:0] src_data,
    output reg  [7:0]  src_count,
    input  wire        dst_clk,
    input  wire        dst_rst_n,
    output wire        dst_valid,
    input  wire        dst_ready,
    output wire [15:0] dst_data,
    output reg  [7:0]  dst_count
);

    reg        request;
    reg        acknowledge;
    reg [1:0]  request_there;
    reg [1:0]  acknowledge_there;
    reg [15:0] word;

    wire accept  = src_valid && src_ready;
    wire deliver = dst_valid && dst_ready;

    assign src_ready = request == acknowledge_there[1];
    assign dst_valid = acknowledge != request_there[1];
    assign dst_data  = word;

    always @(posedge src_clk)
        if (accept)
            word <= src_data;

    always @(posedge src_clk or negedge src_rst_n) begin
        if (!src_rst_n) begin
            request           <= 1'b0;
            acknowledge_there <= 2'b00;
            src_count         <= 8'd0;
        end else begin
            acknowledge_there <= {acknowledge_there[0], acknowledge};
            if (accept) begin
                request   <= !request;
                src_count <= src_count + 8'd1;
            end
        end
    end

    always @(posedge dst_clk or negedge dst_rst_n) begin
        if (!dst_rst_n) begin
            acknowledge   <= 1'b0;
            request_there <= 2'b00;
            dst_count     <= 8'd0;
        end else begin
            request_there <= {request_there[0], request};
            if (deliver) begin
                acknowledge <= !acknowledge;
                dst_count   <= dst_count + 8'd1;
            end
        end
    end

endmodule
