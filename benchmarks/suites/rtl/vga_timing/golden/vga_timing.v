module vga_timing (
    input  wire        clk,
    input  wire        rst,
    input  wire        en,
    input  wire [10:0] h_active,
    input  wire [7:0]  h_front,
    input  wire [7:0]  h_sync,
    input  wire [7:0]  h_back,
    input  wire [10:0] v_active,
    input  wire [7:0]  v_front,
    input  wire [7:0]  v_sync,
    input  wire [7:0]  v_back,
    input  wire        h_positive,
    input  wire        v_positive,
    output wire        hsync,
    output wire        vsync,
    output wire        visible,
    output wire [10:0] x,
    output wire [10:0] y,
    output wire        line_start,
    output wire        frame_start
);

    reg         running;
    reg         h_high;
    reg         v_high;

    wire        h_first;
    wire        h_shown;
    wire        h_pulse;
    wire        h_last;
    wire [10:0] h_place;
    wire        v_first;
    wire        v_shown;
    wire        v_pulse;
    wire        v_last;
    wire [10:0] v_place;

    wire        goes_on = running && en && !rst;
    wire        begins  = !goes_on || (h_last && v_last);

    vga_axis horizontal (
        .clk(clk), .load(begins), .step(1'b1),
        .active(h_active), .front(h_front), .sync(h_sync), .back(h_back),
        .first(h_first), .shown(h_shown), .pulse(h_pulse), .last(h_last), .place(h_place)
    );
    vga_axis vertical (
        .clk(clk), .load(begins), .step(h_last),
        .active(v_active), .front(v_front), .sync(v_sync), .back(v_back),
        .first(v_first), .shown(v_shown), .pulse(v_pulse), .last(v_last), .place(v_place)
    );

    always @(posedge clk) begin
        running <= en && !rst;
        if (begins) begin
            h_high <= h_positive;
            v_high <= v_positive;
        end
    end

    // No pulse begins at 0, where the stopped generator is.
    assign hsync       = h_pulse == h_high;
    assign vsync       = v_pulse == v_high;
    assign visible     = running && h_shown && v_shown;
    assign x           = visible ? h_place : 11'd0;
    assign y           = visible ? v_place : 11'd0;
    assign line_start  = running && h_first && v_shown;
    assign frame_start = running && h_first && v_first;

endmodule
