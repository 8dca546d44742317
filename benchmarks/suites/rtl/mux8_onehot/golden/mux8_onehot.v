module mux8_onehot (
    input  wire [7:0]  sel,
    input  wire [63:0] data,
    output reg  [7:0]  y,
    output wire        valid,
    output wire        conflict
);

    // Clearing the lowest bit that is set leaves something only if there is a second one.
    wire [7:0] rest = sel & (sel - 8'd1);

    assign conflict = rest != 8'd0;
    assign valid    = sel != 8'd0 && !conflict;

    integer k;
    always @* begin
        y = 8'd0;
        for (k = 0; k < 8; k = k + 1)
            if (sel[k] && !conflict)
                y = y | data[8*k +: 8];
    end

endmodule
