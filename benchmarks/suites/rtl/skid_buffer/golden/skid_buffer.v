module skid_buffer (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        in_valid,
    output wire        in_ready,
    input  wire [15:0] in_data,
    input  wire        in_last,
    output wire        out_valid,
    input  wire        out_ready,
    output wire [15:0] out_data,
    output wire        out_last,
    output wire [1:0]  held
);

    reg        main_valid;
    reg        skid_valid;  // only ever with main_valid
    reg [16:0] main;
    reg [16:0] skid;

    wire take = in_valid && in_ready;
    wire give = out_valid && out_ready;

    assign in_ready  = !skid_valid;
    assign out_valid = main_valid;
    assign {out_last, out_data} = main;
    assign held = {skid_valid, main_valid && !skid_valid};

    always @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            main_valid <= 1'b0;
            skid_valid <= 1'b0;
        end else if (give) begin
            main_valid <= skid_valid || take;
            skid_valid <= 1'b0;
        end else if (take) begin
            main_valid <= 1'b1;
            skid_valid <= main_valid;
        end
    end

    always @(posedge clk) begin
        if (give || !main_valid)
            main <= skid_valid ? skid : {in_last, in_data};
        if (take)
            skid <= {in_last, in_data};
    end

endmodule
