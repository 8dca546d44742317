module cdc_async_fifo (
    input  wire       wclk,
    input  wire       wrst_n,
    input  wire       winc,
    input  wire [7:0] wdata,
    output wire       wfull,
    output wire       whalf,
    input  wire       rclk,
    input  wire       rrst_n,
    input  wire       rinc,
    output wire [7:0] rdata,
    output wire       rempty,
    output wire       rhalf
);

    reg [7:0] memory [0:15];

    // Five bits each: the fifth tells full from empty.
    reg [4:0] wcount, wgray;
    reg [4:0] rcount, rgray;
    reg [4:0] wgray_meta, wgray_there;
    reg [4:0] rgray_meta, rgray_there;

    function [4:0] number_of(input [4:0] gray);
        integer k;
        begin
            number_of[4] = gray[4];
            for (k = 3; k >= 0; k = k - 1)
                number_of[k] = number_of[k+1] ^ gray[k];
        end
    endfunction

    wire       write = winc && !wfull;
    wire       take  = rinc && !rempty;
    wire [4:0] wnext = wcount + {4'd0, write};
    wire [4:0] rnext = rcount + {4'd0, take};

    wire [4:0] wlevel = wcount - number_of(rgray_there);
    wire [4:0] rlevel = number_of(wgray_there) - rcount;

    assign wfull  = wlevel == 5'd16;
    assign whalf  = wlevel >= 5'd8;
    assign rempty = rlevel == 5'd0;
    assign rhalf  = rlevel >= 5'd8;
    assign rdata  = memory[rcount[3:0]];

    always @(posedge wclk)
        if (write)
            memory[wcount[3:0]] <= wdata;

    always @(posedge wclk or negedge wrst_n) begin
        if (!wrst_n) begin
            wcount      <= 5'd0;
            wgray       <= 5'd0;
            rgray_meta  <= 5'd0;
            rgray_there <= 5'd0;
        end else begin
            wcount      <= wnext;
            wgray       <= wnext ^ (wnext >> 1);
            rgray_meta  <= rgray;
            rgray_there <= rgray_meta;
        end
    end

    always @(posedge rclk or negedge rrst_n) begin
        if (!rrst_n) begin
            rcount      <= 5'd0;
            rgray       <= 5'd0;
            wgray_meta  <= 5'd0;
            wgray_there <= 5'd0;
        end else begin
            rcount      <= rnext;
            rgray       <= rnext ^ (rnext >> 1);
            wgray_meta  <= wgray;
            wgray_there <= wgray_meta;
        end
    end

endmodule
