"""Equivalence: proven, refuted with a counterexample, or honestly left open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.errors import BaselineError, UsageError
from rtlagent.tools.formal import equiv
from rtlagent.types import Reset, SourceFile, Status, StepResult

ADDER = "module top(input [15:0] a, b, input c, output [16:0] s);\n  assign s = a + b + c;\nendmodule\n"
RIPPLE = """module full(input a, b, c, output s, o);
  assign s = a ^ b ^ c;
  assign o = (a & b) | (c & (a ^ b));
endmodule
module top(input [15:0] a, b, input c, output [16:0] s);
  wire [16:0] k;
  assign k[0] = c, s[16] = k[16];
  genvar i;
  generate for (i = 0; i < 16; i = i + 1) begin : g
    full u(a[i], b[i], k[i], s[i], k[i + 1]);
  end endgenerate
endmodule
"""
ACCUMULATOR = """module top(input clk, input rst, input en, input [7:0] d, output reg [7:0] q, output reg [7:0] p);
  reg [7:0] s;
  always @(posedge clk) begin
    if (rst) q <= 0; else if (en) q <= q + d;
    s <= d;
    p <= s;
  end
endmodule
"""
REWRITTEN = """module top(input clk, input rst, input en, input [7:0] d, output [7:0] q, output [7:0] p);
  reg [7:0] sum, n, m;
  assign q = sum;
  assign p = ~m;
  always @(posedge clk) begin
    sum <= (sum + (d & {8{en}})) & {8{~rst}};
    n <= ~d;
    m <= n;
  end
endmodule
"""
FSM = """module top(input clk, input rst_n, input a, output z);
  reg [1:0] s;
  assign z = s == 2;
  always @(posedge clk or negedge rst_n)
    if (!rst_n) s <= 0;
    else case (s)
      0: if (a) s <= 1;
      1: s <= a ? 2 : 0;
      default: if (!a) s <= 0;
    endcase
endmodule
"""
ONE_HOT = """module top(input clk, input rst_n, input a, output z);
  reg [2:0] h;
  assign z = h[2];
  always @(posedge clk or negedge rst_n)
    if (!rst_n) h <= 3'b001;
    else begin
      h[0] <= ~a;
      h[1] <= h[0] & a;
      h[2] <= (h[1] | h[2]) & a;
    end
endmodule
"""
MEMORY = """module top(input clk, we, input [1:0] wa, ra, input [3:0] d, output reg [3:0] q);
  reg [3:0] m [0:3];
  always @(posedge clk) begin
    if (we) m[wa] <= d;
    q <= m[ra];
  end
endmodule
"""
SPLIT = """module top(input clk, we, input [1:0] wa, ra, input [3:0] d, output [3:0] q);
  reg [1:0] lo [0:3], hi [0:3], x, y;
  assign q = {x, y};
  always @(posedge clk) begin
    if (we) begin lo[wa] <= d[1:0]; hi[wa] <= d[3:2]; end
    x <= hi[ra];
    y <= lo[ra];
  end
endmodule
"""
TIMER = """module top(input clk, input rst, output t);
  reg [31:0] c;
  assign t = c == 32'd1000000;
  always @(posedge clk) if (rst) c <= 0; else c <= c + 1;
endmodule
"""
BOTH_EDGES = """module top(input clk, rst, input d, output reg q);
  reg p;
  always @(posedge clk) p <= rst ? 0 : d;
  always @(negedge clk) q <= rst ? 0 : p;
endmodule
"""


def compare(gold: str, gate: str, config: ToolConfig, **options: object) -> StepResult:
    old, new = [SourceFile("old.v", gold)], [SourceFile("rtl/new.v", gate)]
    return equiv(old, new, top="top", config=config, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gold", "gate", "method"),
    [
        (ADDER, RIPPLE, "SAT"),
        (RIPPLE, RIPPLE.replace("a ^ b ^ c", "c ^ (b ^ a)"), "SAT"),
        (ACCUMULATOR, REWRITTEN, "equiv_induct"),
        (FSM, ONE_HOT, "proven by"),
        (MEMORY, MEMORY.replace("q <= m[ra];", "q <= {m[ra][3:2], m[ra][1:0]};"), "equiv_induct"),
        (MEMORY, SPLIT, "scorr"),
        (BOTH_EDGES, BOTH_EDGES.replace("rst ? 0 : p", "~rst & p"), "equiv_induct"),
    ],
)
def test_rewritten_designs_are_proven_the_same(tool_config: ToolConfig, gold: str, gate: str, method: str) -> None:
    result = compare(gold, gate, tool_config)
    assert result.status is Status.PASS, result.detail
    assert method in result.detail
    assert not result.diagnostics


def test_a_difference_is_shown_cycle_by_cycle(tool_config: ToolConfig, tmp_path: Path) -> None:
    result = compare(ACCUMULATOR, REWRITTEN.replace("sum + (d", "sum - (d"), tool_config, keep_dir=tmp_path)
    assert result.status is Status.FAIL
    (diagnostic,) = result.diagnostics
    assert (diagnostic.code, diagnostic.path, diagnostic.line) == ("NOT_EQUIVALENT", "rtl/new.v", 1)
    (test,) = result.tests
    (mismatch,) = test.mismatches
    assert mismatch.signal == "q" and test.cycle == mismatch.cycle
    rows = [line.split() for line in result.detail.splitlines() if line[:1].isdigit()]
    # cycle rst en d | q q p p, replayed by hand: from the reset on, q must follow the reference.
    q = None
    for row in rows:
        rst, en, d = row[1] == "1", row[2] == "1", int(row[3], 16)
        if q is not None:
            assert int(row[5], 16) == q
        q = 0 if rst else ((q or 0) + (d if en else 0)) & 0xFF if q is not None else None
    assert rows[0][1] == rows[1][1] == "1"
    assert rows[-1][6] == f"{mismatch.got}*" and mismatch.got != mismatch.expected == rows[-1][5]
    assert not any("*" in cell for row in rows[:-1] for cell in row)
    assert (tmp_path / (test.wave_path or "")).read_text().count("$var") > 5


@pytest.mark.parametrize(
    ("gold", "gate"),
    [
        (ADDER, ADDER.replace("+ c", "- c")),
        (ACCUMULATOR, REWRITTEN.replace("{8{~rst}}", "8'hff")),
        (FSM, ONE_HOT.replace("(h[1] | h[2]) & a", "h[1] & a")),
        (MEMORY, SPLIT.replace("x <= hi[ra]", "x <= we && wa == ra ? d[3:2] : hi[ra]")),
        (BOTH_EDGES, BOTH_EDGES.replace("negedge", "posedge")),
        (TIMER.replace("1000000", "12"), TIMER.replace("1000000", "13")),
        # The new version may not leave open what the reference decides.
        (ADDER, ADDER.replace("a + b + c", "a == 5 ? 17'bx : a + b + c")),
    ],
)
def test_different_designs_fail(tool_config: ToolConfig, gold: str, gate: str) -> None:
    result = compare(gold, gate, tool_config)
    assert result.status is Status.FAIL, result.detail
    assert {d.code for d in result.diagnostics} == {"NOT_EQUIVALENT"}
    assert "*" in result.detail
    assert result.tests[0].wave_path is None


def test_what_the_reference_leaves_open_may_be_chosen(tool_config: ToolConfig) -> None:
    open_sum = ADDER.replace("a + b + c", "a == 5 ? 17'bx : a + b + c")
    assert compare(open_sum, RIPPLE, tool_config).status is Status.PASS


@pytest.mark.parametrize(
    "other",
    [
        TIMER.replace("1000000", "1000001"),
        pytest.param(TIMER.replace("c <= 0", "c <= 1"), marks=pytest.mark.slow),
    ],
)
def test_a_difference_beyond_the_depth_is_never_a_pass(tool_config: ToolConfig, other: str) -> None:
    hurried = replace(tool_config, limits=replace(tool_config.limits, wall_s=8))
    result = compare(TIMER, other, hurried, depth=8)
    assert result.status is Status.UNPROVEN
    assert "8 cycles after the reset" in result.detail
    assert [d.code for d in result.diagnostics] == ["UNPROVEN"]


def test_registers_that_start_differently_are_not_proven_the_same(tool_config: ToolConfig) -> None:
    text = (
        "module top(input clk, output q);\n  reg [31:0] c = 0;\n  assign q = c[31];\n"
        "  always @(posedge clk) c <= c + 1;\nendmodule\n"
    )
    hurried = replace(tool_config, limits=replace(tool_config.limits, wall_s=8))
    result = compare(text, text.replace("c = 0", "c = 9"), hurried, depth=8)
    assert result.status is Status.UNPROVEN
    assert compare(text, text, tool_config).status is Status.PASS


def test_the_time_limit_is_unproven(tool_config: ToolConfig) -> None:
    gold = "module top(input [31:0] a, b, output [63:0] y);\n  assign y = a * b;\nendmodule\n"
    gate = gold.replace("a * b", "a[15:0] * b + ((a[31:16] * b) << 16)")
    gate = gate.replace("[15:0] * b", "[15:0] * {32'd0, b}").replace("[31:16] * b", "[31:16] * {32'd0, b}")
    hurried = replace(tool_config, limits=replace(tool_config.limits, wall_s=6))
    result = compare(gold, gate, hurried)
    assert result.status is Status.UNPROVEN


def test_an_attempts_processor_time_is_bounded_whatever_the_wall_time(tool_config: ToolConfig) -> None:
    assert compare(ADDER, RIPPLE, tool_config, attempt_cpu_s=3).status is Status.PASS
    text = "module top(input signed [13:0] a, b, output signed [27:0] y);\n  assign y = {};\nendmodule\n"
    step = compare(text.format("(a + b) * (a - b)"), text.format("a * a - b * b"), tool_config, attempt_cpu_s=1)
    assert step.status is Status.UNPROVEN


def test_different_ports_are_named(tool_config: ToolConfig) -> None:
    gate = ADDER.replace("input c, output [16:0] s", "input d, output [15:0] s").replace("+ c", "+ d")
    result = compare(ADDER, gate, tool_config)
    assert result.status is Status.FAIL
    found = {(d.code, d.path, d.line) for d in result.diagnostics}
    assert found == {("PORT_MISSING", "rtl/new.v", 1), ("PORT_EXTRA", "rtl/new.v", 1), ("PORT_WIDTH", "rtl/new.v", 1)}


def test_helper_modules_of_one_name_do_not_collide(tool_config: ToolConfig) -> None:
    gate = RIPPLE.replace("assign s = a ^ b ^ c;", "assign s = ~(a ^ b ^ c);").replace(
        "full u(a[i], b[i], k[i], s[i], k[i + 1]);", "wire n; full u(a[i], b[i], k[i], n, k[i + 1]); assign s[i] = ~n;"
    )
    assert compare(RIPPLE, gate, tool_config).status is Status.PASS


def test_a_version_that_cannot_be_elaborated_fails(tool_config: ToolConfig) -> None:
    result = compare(ADDER, ADDER.replace("a + b", "a + )"), tool_config)
    assert result.status is Status.FAIL
    assert [(d.code, d.path) for d in result.diagnostics] == [("SYNTAX", "rtl/new.v")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("module top(;", "SYNTAX"),
        (ADDER.replace("assign", "nothere u(); assign"), "UNRESOLVED_MODULE"),
        (ADDER.replace("assign", "initial $finish; assign"), "YOSYS_UNSUPPORTED"),
    ],
)
def test_a_reference_that_cannot_be_elaborated_is_wrong_input(text: str, code: str, tool_config: ToolConfig) -> None:
    with pytest.raises(BaselineError, match="the reference cannot be elaborated") as caught:
        compare(text, ADDER, tool_config)
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert caught.value.where.startswith("old.v:")


@pytest.mark.parametrize("task", ["$finish", "$stop", '$error("no")', "$fatal(1)", '$fwrite(1, "x")'])
def test_a_simulation_task_in_the_new_version_is_unproven_with_its_place(task: str, tool_config: ToolConfig) -> None:
    result = compare(ADDER, ADDER.replace("assign", f"always @* if (&a) {task}; assign"), tool_config)
    assert result.status is Status.UNPROVEN
    (found,) = result.diagnostics
    assert (found.code, found.path) == ("YOSYS_UNSUPPORTED", "rtl/new.v")
    assert task.partition("(")[0] in found.message
    assert "ifndef SYNTHESIS" in found.hint


def test_an_empty_version_can_be_compared(tool_config: ToolConfig) -> None:
    head = ADDER[: ADDER.index(";") + 1]
    empty = f"{head}\nendmodule\n"
    assert compare(ADDER, empty, tool_config).status is Status.FAIL
    assert compare(empty, empty, tool_config).status is Status.PASS  # undefined outputs ask for nothing
    assert compare(empty, ADDER, tool_config).status is Status.PASS


def test_what_nothing_drives_in_the_reference_may_be_anything(tool_config: ToolConfig) -> None:
    head = ADDER[: ADDER.index(";") + 1]
    undriven = f"{head}\n  wire unused = a[0];\nendmodule\n"
    assert compare(undriven, ADDER, tool_config).status is Status.PASS
    assert compare(ADDER, undriven, tool_config).status is Status.FAIL


def test_a_reset_can_be_named(tool_config: ToolConfig) -> None:
    clear = ACCUMULATOR.replace("rst", "clear")
    result = compare(clear, REWRITTEN.replace("rst", "clear"), tool_config, reset=Reset("clear"))
    assert result.status is Status.PASS
    assert "reset clear (active high)" in result.detail
    with pytest.raises(UsageError):
        compare(clear, clear, tool_config, reset=Reset("d"))


def test_a_depth_must_be_positive(tool_config: ToolConfig) -> None:
    with pytest.raises(UsageError):
        compare(ADDER, ADDER, tool_config, depth=0)
