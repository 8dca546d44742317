"""Mutants of narrow designs, and the grade that they give to strong and feeble oracles."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.mutants import Mutant, MutationResult, grade, kill_mutants, make_mutants
from rtlagent.tools.scoreboard import check_trace
from rtlagent.types import (
    Clock,
    CycleScenario,
    Grade,
    Port,
    Reset,
    SourceFile,
    Status,
    TestFile,
    TestKind,
    Trace,
)

CONFIG = ToolConfig()
TALLY = SourceFile(
    "rtl/tally.v",
    """\
// Counts up to 11 and down to 0: count + 1 <= 11 ? yes : no.
module tally (
    input wire clk,
    input wire rst,
    input wire up,
    input wire down,
    output reg [3:0] count,
    output wire full,
    output wire empty
);
  localparam LAST = 4'd11;
  assign full  = count == LAST;
  assign empty = count == 4'd0;
  always @(posedge clk) begin
    if (rst) count <= 4'd0;
    else if (up && !full && !down) count <= count + 4'd1;
    else if (down && !empty && !up) count <= count - 4'd1;
  end
endmodule
""",
)
PORTS = (
    Port("clk", "input"),
    Port("rst", "input"),
    Port("up", "input"),
    Port("down", "input"),
    Port("count", "output", 4),
    Port("full", "output"),
    Port("empty", "output"),
)


def scenario(name: str, moves: Sequence[tuple[int, int]], compared: Sequence[str]) -> CycleScenario:
    """Play `moves` (up, down) on a model of the counter."""
    count = 0
    inputs, expected = [], []
    for up, down in moves:
        inputs.append({"rst": 0, "up": up, "down": down})
        values = {"count": count, "full": int(count == 11), "empty": int(count == 0)}
        expected.append({name: values[name] for name in compared})
        count = min(count + 1, 11) if up and not down else max(count - 1, 0) if down and not up else count
    return CycleScenario(name, tuple(inputs), tuple(expected))


def strong_trace() -> Trace:
    rng = Random(3)
    everything = ("count", "full", "empty")
    ramps = [(1, 0)] * 14 + [(0, 1)] * 14
    noise = [(rng.randint(0, 1), rng.randint(0, 1)) for _ in range(150)]
    return Trace(seed=3, cycles=(scenario("ramps", ramps, everything), scenario("noise", noise, everything)))


def feeble_trace() -> Trace:
    return Trace(seed=3, cycles=(scenario("two_steps", [(1, 0), (1, 0), (0, 0)], ("full",)),))


def kill(
    mutants: Sequence[Mutant],
    trace: Trace | None,
    *,
    files: Sequence[SourceFile] = (TALLY,),
    tests: Sequence[TestFile] = (),
    config: ToolConfig = CONFIG,
) -> MutationResult:
    return kill_mutants(
        files,
        mutants,
        trace,
        top="tally",
        ports=PORTS,
        clock=Clock("clk"),
        reset=Reset("rst"),
        tests=tests,
        config=config,
    )


def by_hand(original: str, mutated: str) -> Mutant:
    """Make a mutant of the first place in the counter that reads `original`."""
    at = TALLY.text.index(original)
    line = TALLY.text.count("\n", 0, at) + 1
    return Mutant(TALLY.path, line, at - TALLY.text.rfind("\n", 0, at), "by hand", original, mutated)


@pytest.fixture(scope="module")
def mutants() -> tuple[Mutant, ...]:
    return make_mutants([TALLY], top="tally", limit=20, seed=1, config=CONFIG)


def complaints(files: Sequence[SourceFile]) -> list[str]:
    """Return what slang says against our own design."""
    import pyslang

    compilation = pyslang.ast.Compilation()
    for file in files:
        compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromText(file.text))
    return [str(d.code) for d in compilation.getAllDiagnostics() if d.isError()]


def test_mutants_parse_and_differ_in_one_place(mutants: Sequence[Mutant]) -> None:
    assert len(mutants) == 20
    results = set()
    for mutant in mutants:
        (changed,) = mutant.apply([TALLY])
        assert changed.text != TALLY.text
        assert complaints([changed]) == []
        results.add(changed.text)
        lines = zip(TALLY.text.split("\n"), changed.text.split("\n"), strict=True)
        assert [k for k, (old, new) in enumerate(lines, 1) if old != new] == [mutant.line]
    assert len(results) == 20


def test_mutants_are_spread_over_kinds_and_lines(mutants: Sequence[Mutant]) -> None:
    assert {m.kind for m in mutants} == {
        "operator",
        "dropped operand",
        "dropped negation",
        "condition",
        "constant",
        "removed assignment",
        "stuck output",
    }
    assert {m.line for m in mutants} == {12, 13, 15, 16, 17}


def test_mutants_depend_on_nothing_but_files_and_seed(mutants: Sequence[Mutant]) -> None:
    assert make_mutants([TALLY], top="tally", limit=20, seed=1, config=CONFIG) == tuple(mutants)
    assert make_mutants([TALLY], top="tally", limit=20, seed=2, config=CONFIG) != tuple(mutants)


def test_diff_is_one_line() -> None:
    assert by_hand("count == LAST", "count != LAST").diff == "rtl/tally.v:12: count == LAST  ->  count != LAST"
    assert by_hand("count <= 4'd0;", ";").diff == "rtl/tally.v:15: count <= 4'd0;  ->  (removed)"
    long = Mutant("a.v", 1, 1, "condition", "a &&\n  " + "b" * 80, "c").diff
    assert long == "a.v:1: a && " + "b" * 52 + "...  ->  c"


def test_what_tells_nothing_about_the_tests_is_left_alone() -> None:
    text = """\
`define STEP (1 + 2)                                            // -
module keeper #(parameter W = 4 + 4, localparam N = W - 1) (    // -
    input wire clk, input wire [W-1:0] d, output reg [7:0] q,   // -
    output reg [7:0] r, output wire [7:0] s);                   // -
  reg [1+2:0] narrow;                                            // -
  genvar g;                                                     // -
  integer i;                                                    // -
  initial q = 8'd3;                                             // -
  generate for (g = 0; g < 2; g = g + 1) begin : row            // -
    wire [7:0] x = d & 8'h0f;                                   // +
  end endgenerate                                               // -
  assign s = {2{row[0].x[3:0]}};                                // +
  /* q <= d + 1; if (q == 3) */                                 // -
  always @(negedge clk) begin                                   // -
    q <= `STEP;                                                 // +
    $display("%d", q + 1);                                      // -
    for (i = 0; i < 8; i = i + 1)                               // -
      r[i] <= d[i] ^ q[7];                                      // +
    narrow <= d[W-1:0];                                          // +
  end                                                           // -
endmodule                                                       // -
module unused(input wire a, output wire b);                     // -
  assign b = !a;                                                // -
endmodule                                                       // -
"""
    found = make_mutants([SourceFile("k.sv", text)], top="keeper", limit=200, seed=1, config=CONFIG)
    wanted = {k for k, line in enumerate(text.split("\n"), 1) if line.endswith("+")}
    assert {m.line for m in found} == wanted
    # The macro's own text, the count of a replication and a range's bounds keep their values.
    assert {(m.kind, m.mutated) for m in found if m.line == 15} == {("removed assignment", ";")}
    assert {(m.kind, m.original) for m in found if m.line == 12} == {
        ("stuck output", "{2{row[0].x[3:0]}}"),
        ("index", "0"),
    }


def test_case_labels_bits_and_indices_are_changed() -> None:
    text = """\
module pick(input wire clk, input wire [3:0] a, output reg y, output reg [7:0] z);
  reg [7:0] table_of [0:15];
  always @(posedge clk) begin
    casez (a)
      4'b1??0: y <= a[2];
      default: y <= a > 4'h9 ? 1'b1 : '0;
    endcase
    z <= table_of[a] << 2;
  end
endmodule
"""
    found = make_mutants([SourceFile("pick.sv", text)], top="pick", limit=200, seed=1, config=CONFIG)
    diffs = {f"{m.original} -> {m.mutated}" for m in found}
    assert {"> -> >=", "<< -> >>", "1'b1 -> 1'b0", "'0 -> '1", "2 -> 1", "2 -> 3", "4'h9 -> 4'ha"} <= diffs
    assert {"4'b1??0 -> 4'b0??0", "4'b1??0 -> 4'b1??1"} & diffs
    assert {"a -> (a) ^ 1", "a > 4'h9 -> !(a > 4'h9)"} <= diffs
    assert not {m.mutated for m in found if m.kind == "index"} & {"4"}


def test_places_hold_in_text_that_is_not_plain() -> None:
    text = TALLY.text.replace("// Counts", "// Zählt — ").replace("assign full ", "/* ∑ */ assign full ")
    file = SourceFile("../tally.v", text)
    found = make_mutants([file], top="tally", limit=200, seed=1, config=CONFIG)
    assert {m.path for m in found} == {"../tally.v"}
    operator = next(m for m in found if m.line == 12 and m.kind == "operator")
    assert operator.apply([file])[0].text == text.replace("count == LAST", "count != LAST")
    dos = SourceFile("tally.v", TALLY.text.replace("\n", "\r\n"))
    assert len(make_mutants([dos], top="tally", limit=20, seed=1, config=CONFIG)) == 20


@pytest.mark.parametrize(
    "text",
    [
        '`include "/etc/passwd"\nmodule m(output wire y); assign y = 1 + 1; endmodule\n',
        "module m(output wire y); assign y = " + "(" * 5000 + "1" + ")" * 5000 + "; endmodule\n",
        "module m(output wire y); assign y = 1" + " + 1" * 5000 + "; endmodule\n",
        "module m(output wire y); assign y = 4'd" + "9" * 9000 + "; endmodule\n",
        "module m(output wire y); m u(y); endmodule\n",
        "no Verilog at all",
        "",
    ],
    ids=["include", "nested", "long", "huge_number", "recursive", "junk", "empty"],
)
def test_hostile_text_does_no_harm(text: str) -> None:
    found = make_mutants([SourceFile("m.v", text)], top="m", limit=5, seed=1, config=CONFIG)
    assert len(found) <= 5
    assert all("root:" not in m.original + m.mutated for m in found)


def test_strong_oracle(mutants: Sequence[Mutant]) -> None:
    result = kill(mutants, strong_trace())
    assert (result.total, result.invalid, result.broken) == (20, 0, 0)
    assert result.killed >= 18
    verdict, reason = grade(result)
    assert verdict is Grade.STRONG, reason
    assert reason.startswith(f"{result.killed} of {result.counted} mutants killed")


def test_feeble_oracle_names_what_it_missed(mutants: Sequence[Mutant]) -> None:
    result = kill(mutants[:8], feeble_trace())
    verdict, reason = grade(result)
    assert verdict is Grade.WEAK
    assert len(result.survived) > 3
    names = "; ".join(m.diff for m in result.survived[:3])
    more = len(result.survived) - 3
    assert reason == f"{result.killed} of {result.counted} mutants killed; survivors: {names} (and {more} more)"


def test_the_users_tests_kill_what_the_trace_lets_live() -> None:
    bench = SourceFile(
        "tb.sv",
        """\
module tb;
  reg clk = 0, rst = 1, up = 0, down = 0;
  wire [3:0] count; wire full, empty;
  tally dut(clk, rst, up, down, count, full, empty);
  always #5 clk = !clk;
  initial begin
    @(negedge clk); @(negedge clk); rst = 0; up = 1; @(negedge clk);
    if (count !== 4'd1) $display("FAIL: count is %0d", count); else $display("PASS");
    $finish;
  end
endmodule
""",
    )
    tests = [TestFile(bench, TestKind.SYSTEMVERILOG)]
    twice = by_hand("count + 4'd1", "count + 4'd2")
    hidden = by_hand("count - 4'd1", "count - 4'd2")
    assert kill([twice], feeble_trace()).survived == (twice,)
    both = kill([twice, hidden], feeble_trace(), tests=tests)
    assert (both.killed, both.survived) == (1, (hidden,))
    alone = kill([twice, hidden], None, tests=tests)
    assert (alone.killed, alone.survived) == (1, (hidden,))


def test_equivalent_mutant_is_not_counted() -> None:
    same = by_hand("up && !full && !down", "!down && !full && up")
    result = kill([same, by_hand("count == LAST", "count != LAST")], strong_trace())
    assert result == MutationResult(total=2, killed=1, survived=(), invalid=0, equivalent=1)


SQUARES = SourceFile(
    "rtl/squares.v",
    "module squares (input signed [13:0] a, b, output signed [27:0] y);\n  assign y = (a + b) * (a - b);\nendmodule\n",
)


def test_a_mutant_that_may_be_the_same_design_survives_and_is_told_of() -> None:
    bench = SourceFile(
        "tb/tb.sv",
        """module tb;
  reg signed [13:0] a = 7, b = 3;
  wire signed [27:0] y;
  squares dut(a, b, y);
  initial #1 if (y === 40) $display("PASS"); else $display("FAIL");
endmodule
""",
    )
    hard = Mutant(SQUARES.path, 2, 14, "operator", "(a + b) * (a - b)", "(a * a) - (b * b)")
    differing = Mutant(SQUARES.path, 2, 14, "operator", "(a + b) * (a - b)", "(a * a) - (b * b) + (a == 5)")
    result = kill_mutants(
        [SQUARES],
        [hard, differing],
        None,
        top="squares",
        ports=(Port("a", "input", 14), Port("b", "input", 14), Port("y", "output", 28)),
        clock=None,
        reset=None,
        tests=[TestFile(bench, TestKind.SYSTEMVERILOG)],
        config=CONFIG,
    )
    assert result.survived == (hard, differing)
    assert result.undecided >= 1
    assert f"some may be the same design ({result.undecided} undecided)" in grade(result)[1]


def test_what_was_not_compared_is_told_of() -> None:
    survivors = (by_hand("count == LAST", "count != LAST"),) * 7
    _, reason = grade(MutationResult(27, 20, survivors, invalid=0, equivalent=0, undecided=1, not_compared=2))
    assert reason.endswith("(and 4 more); some may be the same design (1 undecided, 2 not compared)")


def test_mutant_that_is_not_built_is_not_counted() -> None:
    garbage = by_hand("count == LAST", "count ==")
    renamed = by_hand("up,", "upward,")
    wider = by_hand("[3:0] count", "[4:0] count")
    result = kill([garbage, renamed, wider], strong_trace())
    assert result == MutationResult(total=3, killed=0, survived=(), invalid=3, equivalent=0)
    assert grade(result) == (Grade.NONE, "no mutant could be judged")


@pytest.mark.slow
def test_mutant_that_never_ends_is_killed() -> None:
    endless = by_hand("assign empty", "reg t = 0; always @(full) while (1) t = !t; assign empty")
    assert kill([endless], strong_trace()).killed == 1


def test_design_that_fails_its_own_oracle_is_refused(mutants: Sequence[Mutant]) -> None:
    wrong = by_hand("count + 4'd1", "count + 4'd2").apply([TALLY])
    twelfth = [m for m in mutants if m.line == 12]
    with pytest.raises(UsageError, match="does not pass its own oracle"):
        kill(twelfth, strong_trace(), files=wrong, config=ToolConfig(limits=Limits(wall_s=60)))
    with pytest.raises(UsageError, match="neither a trace nor a test"):
        kill(twelfth, None)


def test_mutant_of_another_design_is_refused() -> None:
    with pytest.raises(UsageError, match=r"rtl/tally\.v:12:18: the mutant was made of another design"):
        by_hand("count == LAST", "1").apply([SourceFile(TALLY.path, TALLY.text.replace("count ==", "count  =="))])


def test_check_stops_at_the_first_failing_scenario() -> None:
    wrong = by_hand("count + 4'd1", "count + 4'd2").apply([TALLY])
    result = check_trace(
        wrong,
        strong_trace(),
        top="tally",
        ports=PORTS,
        clock=Clock("clk"),
        reset=Reset("rst"),
        simulator="icarus",
        stop_at_mismatch=True,
        config=CONFIG,
    )
    assert result.status is Status.FAIL
    assert [(t.name, t.status) for t in result.tests] == [("ramps", Status.FAIL), ("noise", Status.SKIPPED)]
    assert result.tests[0].checked_cycles == 2


@pytest.mark.parametrize(
    ("killed", "lived", "expected"),
    [
        (8, 0, Grade.STRONG),
        (7, 0, Grade.MODERATE),
        (9, 1, Grade.STRONG),
        (89, 11, Grade.MODERATE),
        (7, 3, Grade.MODERATE),
        (69, 31, Grade.WEAK),
        (0, 1, Grade.WEAK),
    ],
)
def test_grades(killed: int, lived: int, expected: Grade) -> None:
    survivors = (by_hand("count == LAST", "count != LAST"),) * lived
    verdict, reason = grade(MutationResult(killed + lived + 9, killed, survivors, invalid=5, equivalent=4))
    assert verdict is expected
    assert reason.startswith(f"{killed} of {killed + lived} mutants killed")
    if lived == 1:
        assert reason.endswith("; survivor: rtl/tally.v:12: count == LAST  ->  count != LAST")
