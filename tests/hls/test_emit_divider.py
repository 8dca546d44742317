from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls.emit.divider import pipeline_divider, sequential_divider
from rtlagent.tools.simulate import simulate
from rtlagent.types import SourceFile, Status, TestFile, TestKind

OPERANDS = """
  function [WIDTH-1:0] pick(input integer n);
    case (n % 6)
      0: pick = 0;
      1: pick = 1;
      2: pick = {WIDTH{1'b1}};
      3: pick = {1'b1, {(WIDTH-1){1'b0}}};
      4: pick = {$urandom, $urandom} >> ($urandom % WIDTH);
      default: pick = {$urandom, $urandom};
    endcase
  endfunction
  reg [WIDTH-1:0] want_q, want_r;
  task expect_result;
    begin
      if (b == 0) begin
        want_r = a;
        want_q = (is_signed && a[WIDTH-1]) ? 1 : {WIDTH{1'b1}};
      end else if (is_signed && a == {1'b1, {(WIDTH-1){1'b0}}} && b == {WIDTH{1'b1}}) begin
        want_q = a;
        want_r = 0;
      end else if (is_signed) begin
        want_q = $signed(a) / $signed(b);
        want_r = $signed(a) % $signed(b);
      end else begin
        want_q = a / b;
        want_r = a % b;
      end
    end
  endtask
"""

SEQUENTIAL = """module tb;
  parameter WIDTH = @W@;
  reg clk = 0, rst = 1, start = 0, is_signed;
  reg [WIDTH-1:0] a, b;
  wire done;
  wire [WIDTH-1:0] q, r;
  integer i, j, k, bad = 0;
  dut u (.ap_clk(clk), .ap_rst(rst), .start(start), .is_signed(is_signed), .dividend(a), .divisor(b), .done(done),
         .quotient(q), .remainder(r));
  always #5 clk = ~clk;
@OPERANDS@
  initial begin
    #21 rst = 0;
    for (i = 0; i < 6; i = i + 1) for (j = 0; j < 6; j = j + 1) for (k = 0; k < 8; k = k + 1) begin
      @(posedge clk); #1 start = 1; a = pick(i); b = pick(j); is_signed = k; expect_result;
      @(posedge clk); #1 start = 0;
      while (!done) @(posedge clk) #1;
      if (q !== want_q || r !== want_r) begin
        bad = bad + 1;
        $display("%h / %h signed %b: %h %h, not %h %h", a, b, is_signed, q, r, want_q, want_r);
      end
    end
    if (bad == 0) $display("TEST PASSED"); else $display("TEST FAILED");
    $finish;
  end
endmodule
"""

PIPELINE = """module tb;
  parameter WIDTH = @W@;
  reg clk = 0, start = 0, is_signed;
  reg [WIDTH-1:0] a, b;
  wire [WIDTH-1:0] q, r;
  integer i, j, k, c, bad = 0;
  dut u (.ap_clk(clk), .ap_ce(1'b1), .start(start), .is_signed(is_signed), .dividend(a), .divisor(b), .quotient(q),
         .remainder(r));
  always #5 clk = ~clk;
@OPERANDS@
  initial begin
    @(posedge clk);
    for (i = 0; i < 6; i = i + 1) for (j = 0; j < 6; j = j + 1) for (k = 0; k < 8; k = k + 1) begin
      #1 start = 1; a = pick(i); b = pick(j); is_signed = k; expect_result;
      @(posedge clk); #1 start = 0; a = 'bx; b = 'bx;
      for (c = 1; c < @L@; c = c + 1) @(posedge clk);
      #1 if (q !== want_q || r !== want_r) begin
        bad = bad + 1;
        $display("signed %b: %h %h, not %h %h", is_signed, q, r, want_q, want_r);
      end
    end
    if (bad == 0) $display("TEST PASSED"); else $display("TEST FAILED");
    $finish;
  end
endmodule
"""


def run(unit: str, bench: str, width: int, latency: int = 0) -> Status:
    text = bench.replace("@OPERANDS@", OPERANDS).replace("@W@", str(width)).replace("@L@", str(latency))
    test = TestFile(SourceFile("tb.sv", text), TestKind.SYSTEMVERILOG)
    result = simulate([SourceFile("dut.v", unit)], [test], top="dut", simulator="icarus", config=ToolConfig())
    return result.status


@pytest.mark.parametrize("width", [8, 13, 32, 64])
def test_sequential_divider(width: int) -> None:
    assert run(sequential_divider("dut", width), SEQUENTIAL, width) is Status.PASS


@pytest.mark.parametrize("width", [8, 13, 32, 64])
def test_pipeline_divider(width: int) -> None:
    latency = -(-width // 2) + 2
    assert run(pipeline_divider("dut", width, latency), PIPELINE, width, latency) is Status.PASS


def test_a_wrong_divider_is_noticed() -> None:
    wrong = sequential_divider("dut", 8).replace("negative_quotient ? -result : result", "result")
    assert run(wrong, SEQUENTIAL, 8) is Status.FAIL


def test_too_short_a_latency_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bits take 18 cycles, not 17"):
        pipeline_divider("dut", 32, 17)
