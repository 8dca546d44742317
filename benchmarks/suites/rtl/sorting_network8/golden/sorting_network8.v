// Odd-even merge sort (Batcher 1968): 19 comparators in six stages, a register after every second one.
// A key is {value, lane}, the value inverted for descending order, so that no two keys are equal.
module sorting_network8 (
    input  wire        clk,
    input  wire        rst,
    input  wire        in_valid,
    input  wire        descending,
    input  wire [63:0] in_values,
    output wire        out_valid,
    output reg  [63:0] out_values,
    output reg  [23:0] out_lanes
);

    reg [2:0]  valid;
    reg [2:0]  down;
    reg [87:0] keys;
    reg [87:0] pairs;
    reg [87:0] halves;
    reg [87:0] sorted;
    integer    k;

    // Exchange the keys in lanes i and j if they are not in order.
    function [87:0] ordered(input [87:0] set, input integer i, input integer j);
        begin
            ordered = set;
            if (set[11*i+:11] > set[11*j+:11]) begin
                ordered[11*i+:11] = set[11*j+:11];
                ordered[11*j+:11] = set[11*i+:11];
            end
        end
    endfunction

    // Sort four lanes, from lane i on.
    function [87:0] four(input [87:0] set, input integer i);
        begin
            four = ordered(ordered(set, i, i + 1), i + 2, i + 3);
            four = ordered(ordered(four, i, i + 2), i + 1, i + 3);
            four = ordered(four, i + 1, i + 2);
        end
    endfunction

    // Merge two sorted halves: the two stages of wide comparators, then the last.
    function [87:0] wide(input [87:0] set);
        begin
            wide = ordered(ordered(ordered(ordered(set, 0, 4), 1, 5), 2, 6), 3, 7);
            wide = ordered(ordered(wide, 2, 4), 3, 5);
        end
    endfunction

    always @* begin
        for (k = 0; k < 8; k = k + 1)
            keys[11*k+:11] = {in_values[8*k+:8] ^ {8{descending}}, k[2:0]};
        for (k = 0; k < 8; k = k + 1) begin
            out_values[8*k+:8] = sorted[11*k+3+:8] ^ {8{down[2]}};
            out_lanes[3*k+:3]  = sorted[11*k+:3];
        end
    end

    assign out_valid = valid[2];

    always @(posedge clk) begin
        valid  <= rst ? 3'd0 : {valid[1:0], in_valid};
        down   <= {down[1:0], descending};
        pairs  <= four(four(keys, 0), 4);
        halves <= wide(pairs);
        sorted <= ordered(ordered(ordered(halves, 1, 2), 3, 4), 5, 6);
    end

endmodule
