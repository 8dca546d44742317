"""Mutants compared with their design: told apart by random inputs, proven the same, or neither."""

from __future__ import annotations

import time

import pytest

from rtlagent.config import ToolConfig
from rtlagent.tools.mutant_comparison import Comparer
from rtlagent.types import SourceFile, Status

CONFIG = ToolConfig()
STAGES = 40
DEEP = "\n".join(
    [
        "module deep (input clk, input rst_n, input [7:0] x, output [7:0] y);",
        f"  reg [7:0] s [0:{STAGES}];",
        "  integer k;",
        "  always @(posedge clk or negedge rst_n)",
        f"    if (!rst_n) for (k = 0; k <= {STAGES}; k = k + 1) s[k] <= 8'd0;",
        "    else begin",
        "      s[0] <= x + 8'd1;",
        f"      for (k = 1; k <= {STAGES}; k = k + 1) s[k] <= s[k-1];",
        "    end",
        f"  assign y = s[{STAGES}];",
        "endmodule",
        "",
    ]
)
GATES = """module gates (input [3:0] a, input [3:0] b, output [3:0] q, output z);
  assign q = a & b;
  assign z = q == 4'd0;
endmodule
"""
TOGGLE = """module toggle (input clk, input en, output reg q);
  always @(posedge clk) if (en) q <= ~q;
endmodule
"""
BELOW = """module inner (input ck, input d, output reg q);
  always @(negedge ck) q <= d;
endmodule
module below (input tick, input d, output q);
  inner u (.ck(tick), .d(d), .q(q));
endmodule
"""


def compared(text: str, old: str, new: str, top: str) -> Status:
    files = [SourceFile(f"{top}.v", text)]
    assert old in text
    changed = [SourceFile(f"{top}.v", text.replace(old, new))]
    return Comparer.of(files, top=top, reset=None, config=CONFIG).compare(changed)


def test_random_inputs_go_deeper_than_the_search() -> None:
    start = time.process_time()
    assert compared(DEEP, "8'd1", "8'd2", "deep") is Status.FAIL
    assert time.process_time() - start < 1


def test_the_same_design_is_proven() -> None:
    assert compared(GATES, "a & b", "b & a", "gates") is Status.PASS
    assert compared(GATES, "q == 4'd0", "~|q", "gates") is Status.PASS
    assert compared(GATES, "q == 4'd0", "q == 4'd1", "gates") is Status.FAIL


def test_the_design_plays_on_its_own_clock_and_reset() -> None:
    found = Comparer.of([SourceFile("deep.v", DEEP)], top="deep", reset=None, config=CONFIG)
    assert found.pins is not None
    assert found.pins.clocks == ("clk",)
    assert [(r.port, r.active) for r in found.pins.resets] == [("rst_n", "low")]
    inner = Comparer.of([SourceFile("below.v", BELOW)], top="below", reset=None, config=CONFIG)
    assert inner.pins is not None and inner.pins.clocks == ("tick",)
    # Read before and after each rising edge, in every cycle after the reset.
    assert len(found.played) == 2994
    assert len(inner.played) == 3000
    assert len(set(found.played)) > 100


def test_what_is_unknown_is_no_difference() -> None:
    # Without a reset q stays X, so that nothing can be told apart.
    assert compared(TOGGLE, "~q", "!q", "toggle") is Status.PASS
    assert compared(TOGGLE, "if (en) ", "if (!(en)) ", "toggle") is Status.UNPROVEN


@pytest.mark.parametrize(
    "text",
    [
        "module odd (input a, inout b, output q); assign q = a & b; endmodule\n",
        "module odd (input a, output q); assign q = a & 1'b1; initial #1 $finish; endmodule\n",
        "module odd (output q); assign q = 1'b1 & 1'b1; endmodule\n",
        "module odd #(parameter W) (input [W-1:0] a, output q); assign q = & a; endmodule\n",
        "module odd (input a, output q); assign q = a & missing(a); endmodule\n",
        "\xff\x00",
    ],
)
def test_designs_that_cannot_be_played_are_left_undecided_or_to_the_prover(text: str) -> None:
    files = [SourceFile("odd.v", text)]
    assert Comparer.of(files, top="odd", reset=None, config=CONFIG).compare(files) in (Status.PASS, Status.UNPROVEN)


def test_a_design_that_forges_lines_convinces_nobody() -> None:
    forged = GATES.replace("endmodule", '  initial $display("rtlagent-0 0000"); endmodule')
    files = [SourceFile("gates.v", forged)]
    comparer = Comparer.of(files, top="gates", reset=None, config=CONFIG)
    assert len(comparer.played) == 1500
    assert all(len(line) == 5 for line in comparer.played)
