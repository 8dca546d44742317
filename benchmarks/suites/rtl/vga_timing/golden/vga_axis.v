// One direction of the raster: the place in the line (or frame), and the lengths it was begun with.
module vga_axis (
    input  wire        clk,
    input  wire        load,
    input  wire        step,
    input  wire [10:0] active,
    input  wire [7:0]  front,
    input  wire [7:0]  sync,
    input  wire [7:0]  back,
    output wire        first,
    output wire        shown,
    output wire        pulse,
    output wire        last,
    output wire [10:0] place
);

    reg [11:0] at;
    reg [11:0] shown_end;
    reg [11:0] pulse_begin;
    reg [11:0] pulse_end;
    reg [11:0] end_of_all;

    wire [11:0] to_front = {1'b0, active} + {4'd0, front};
    wire [11:0] to_sync  = to_front + {4'd0, sync};

    assign first = at == 12'd0;
    assign shown = at < shown_end;
    assign pulse = at >= pulse_begin && at < pulse_end;
    assign last  = at == end_of_all - 12'd1;
    assign place = at[10:0];

    always @(posedge clk) begin
        if (load) begin
            at          <= 12'd0;
            shown_end   <= {1'b0, active};
            pulse_begin <= to_front;
            pulse_end   <= to_sync;
            end_of_all  <= to_sync + {4'd0, back};
        end else if (step) begin
            at <= last ? 12'd0 : at + 12'd1;
        end
    end

endmodule
