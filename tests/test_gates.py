"""The gates: their order, what they hold against a design, and that nothing is judged twice."""

from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.conformance import find_unmet
from rtlagent.gates import Bench, Verifier
from rtlagent.grading import grade_evidence
from rtlagent.tools.golden import record_trace
from rtlagent.tools.toolchain import tool_versions
from rtlagent.types import (
    Candidate,
    Clock,
    Grade,
    Metrics,
    Port,
    Requirements,
    Reset,
    SourceFile,
    Spec,
    Status,
    TestFile,
    TestKind,
    Trace,
    Unmet,
)

GOLDEN = """\
class Golden:
    def reset(self):
        self.q = 0

    def outputs(self, i):
        return {"q": self.q}

    def clock(self, i):
        self.q = (self.q + i["en"]) & 15


def directed():
    return {"count": [{"en": 1}] * 20, "hold": [{"en": 1}, {"en": 0}, {"en": 1}]}
"""
RTL = """\
module counter (
    input  wire       clk,
    input  wire       rst,
    input  wire       en,
    output reg  [3:0] q
);
    always @(posedge clk) begin
        if (rst) q <= 4'd0;
        else if (en) q <= q + 4'd1;
    end
endmodule
"""
SPEC = Spec(
    "counter",
    "Counts.",
    top="counter",
    ports=(Port("clk", "input"), Port("rst", "input"), Port("en", "input"), Port("q", "output", 4)),
    clock=Clock("clk"),
    reset=Reset("rst"),
)


@pytest.fixture(scope="module")
def trace() -> Trace:
    step, found = record_trace(
        SourceFile("golden.py", GOLDEN),
        ports=SPEC.ports,
        clock=SPEC.clock,
        reset=SPEC.reset,
        seed=1,
        random_cycles=200,
        config=ToolConfig(),
    )
    assert found is not None, step
    return found


@pytest.fixture
def verifier(tmp_path: Path, tool_config: ToolConfig, trace: Trace) -> Verifier:
    (tmp_path / "store").mkdir()
    return Verifier(tool_config, Bench(trace, mutants=0), tmp_path / "store", tmp_path / "logs")


def design(text: str = RTL, path: str = "rtl/counter.v") -> Candidate:
    return Candidate((SourceFile(path, text),))


def failing_codes(verdict) -> set[str]:
    return {d.code for d in verdict.failing.diagnostics if d.severity == "error"}


def test_a_right_design_passes_every_gate_in_order(verifier: Verifier) -> None:
    verdict = verifier(design(), SPEC)
    assert verdict.passed
    assert [s.step for s in verdict.steps] == ["lint", "elaborate", "simulate", "synthesize", "cross_check"]
    assert verdict.grade is Grade.MODERATE
    assert verdict.metrics.ffs == 4


def test_a_strong_oracle_is_graded_by_mutants(verifier: Verifier) -> None:
    graded = replace(verifier, bench=replace(verifier.bench, mutants=12))
    verdict = graded(design(), SPEC)
    assert "mutants killed" in verdict.grade_reason


@pytest.mark.parametrize(
    ("change", "step", "code"),
    [
        (("q + 4'd1", "q + nothing"), "lint", None),
        (("else if (en)", "else if (en) $finish; else"), "lint", "POLICY_SYSTEM_TASK"),
        (("output reg  [3:0] q", "output reg  [3:0] q,\n    input wire more"), "elaborate", "PORT_EXTRA"),
        (("input  wire       en", "output wire en"), None, None),
        (("output reg  [3:0] q", "output reg  [4:0] q"), None, None),
        (("q + 4'd1", "q + 4'd2"), "simulate", None),
    ],
)
def test_the_first_gate_that_fails_ends_the_list(
    change: tuple[str, str], step: str | None, code: str | None, verifier: Verifier
) -> None:
    verdict = verifier(design(RTL.replace(*change)), SPEC)
    assert not verdict.passed
    assert verdict.grade is Grade.NONE
    assert verdict.failing is verdict.steps[-1]
    if step is not None:
        assert verdict.failing.step == step
    if code is not None:
        assert code in failing_codes(verdict)


def test_wrong_ports_are_named_before_simulation(verifier: Verifier) -> None:
    renamed = RTL.replace("q", "count")
    verdict = verifier(design(renamed), SPEC)
    assert verdict.failing.step == "elaborate"
    assert {"PORT_MISSING", "PORT_EXTRA"} <= failing_codes(verdict)


X_DEPENDENT = {
    "a branch on X": (
        "reg u, s;\n    always @(posedge clk) begin\n        u <= ~u;\n        if (u) s <= 1'b0;\n"
        "        else if (~u) s <= 1'b0;\n        else s <= 1'b1;\n    end",
        "s",
    ),
    "a comparison with x": ("reg u;\n    always @(posedge clk) u <= ~u;", "(u === 1'bx)"),
    "an index out of range": (
        "wire [3:0] k = 4'd1;\n    wire [3:0] i = {2'b11, en, 1'b0};\n    wire t = k[i];",
        "(t === 1'bx)",
    ),
    "a division by zero": ("wire [3:0] t = {3'd0, en} / {3'd0, en & ~en};", "(t === 4'bx)"),
}


@pytest.mark.parametrize("kind", X_DEPENDENT)
def test_a_design_that_works_only_while_something_is_x_fails(kind: str, verifier: Verifier) -> None:
    extra, condition = X_DEPENDENT[kind]
    text = RTL.replace("    always", f"    {extra}\n    always", 1).replace(
        "else if (en)", f"else if (en && {condition})"
    )
    verdict = verifier(design(text), SPEC)
    assert not verdict.passed
    if verdict.failing.step == "cross_check":
        assert "DEPENDS_ON_X" in failing_codes(verdict)


def test_a_forgotten_reset_that_x_hides_fails_the_cross_check(verifier: Verifier) -> None:
    extra, condition = X_DEPENDENT["a branch on X"]
    text = RTL.replace("    always", f"    {extra}\n    always", 1).replace(
        "else if (en)", f"else if (en && {condition})"
    )
    icarus_only = replace(verifier, bench=replace(verifier.bench, cross_check=False, simulator="icarus"))
    assert icarus_only(design(text), SPEC).passed  # the fault is real: a four-state simulator alone lets it through
    assert verifier(design(text), SPEC).failing.step == "cross_check"


def test_a_missed_requirement_is_not_a_pass(verifier: Verifier) -> None:
    tight = replace(SPEC, requirements=Requirements(target="ice40", max_ffs=3))
    verdict = verifier(design(), tight)
    assert not verdict.passed
    assert verdict.failing is None
    assert verdict.unmet == (Unmet("max_ffs", 3.0, 4.0),)


def test_what_was_not_measured_is_not_met() -> None:
    needs = Requirements(target="ecp5", max_luts=10, min_fmax_mhz=100.0, max_latency_cycles=4)
    unmet = {u.name: u.measured for u in find_unmet(needs, Metrics(luts=10))}
    assert unmet == {"min_fmax_mhz": None, "max_latency_cycles": None}
    assert find_unmet(needs, Metrics(luts=0, fmax_mhz=100.0, latency_cycles=4)) == ()


def test_a_combinational_design_can_meet_a_frequency(tmp_path: Path, tool_config: ToolConfig) -> None:
    text = "module inv (\n    input wire [3:0] a,\n    output wire [3:0] y\n);\n    assign y = ~a;\nendmodule\n"
    golden = "class Golden:\n    def outputs(self, i):\n        return {'y': i['a'] ^ 15}\n"
    golden += "def directed():\n    return {'walk': [{'a': k} for k in range(16)]}\n"
    ports = (Port("a", "input", 4), Port("y", "output", 4))
    step, found = record_trace(
        SourceFile("golden.py", golden),
        ports=ports,
        clock=None,
        reset=None,
        seed=1,
        random_cycles=50,
        config=tool_config,
    )
    assert found is not None, step
    (tmp_path / "store").mkdir()
    judge = Verifier(tool_config, Bench(found, mutants=0), tmp_path / "store", tmp_path / "logs")
    for mhz, passes in ((10.0, True), (5000.0, False)):
        needs = Requirements(target="ice40", min_fmax_mhz=mhz)
        verdict = judge(design(text, "rtl/inv.v"), Spec("inv", "Inverts.", top="inv", ports=ports, requirements=needs))
        assert verdict.passed is passes, verdict
        assert verdict.metrics.fmax_mhz is None


def test_a_design_may_not_stand_in_for_a_test(verifier: Verifier) -> None:
    test = TestFile(SourceFile("tests/test_x.py", "import cocotb\n"), TestKind.COCOTB)
    candidate = Candidate((*design().files, SourceFile("tests/test_x.py", "# always passes\n")))
    verdict = verifier(candidate, replace(SPEC, tests=(test,)))
    assert failing_codes(verdict) == {"PROTECTED_TEST"}


def test_a_design_may_not_stand_in_for_what_a_test_includes(verifier: Verifier) -> None:
    checks = SourceFile("tests/checks.vh", "// strict\n")
    test = TestFile(SourceFile("tests/tb.sv", "module tb; endmodule\n"), TestKind.SYSTEMVERILOG, support=(checks,))
    candidate = Candidate((*design().files, SourceFile("rtl/checks.vh", "// lenient\n")))
    assert failing_codes(verifier(candidate, replace(SPEC, tests=(test,)))) == {"PROTECTED_TEST"}


def test_the_users_own_tests_judge_too(verifier: Verifier) -> None:
    text = "import cocotb\n\n@cocotb.test()\nasync def no(dut):\n    assert False, 'never good enough'\n"
    test = TestFile(SourceFile("tests/test_no.py", text), TestKind.COCOTB)
    verdict = verifier(design(), replace(SPEC, tests=(test,)))
    assert verdict.failing.step == "tests"
    assert "never good enough" in verdict.failing.tests[0].message


def test_an_optimised_design_must_be_equivalent(verifier: Verifier) -> None:
    baseline = (SourceFile("rtl/counter.v", RTL),)
    optimise = replace(verifier, bench=replace(verifier.bench, baseline=baseline))
    same = optimise(design(RTL.replace("q <= q + 4'd1", "q <= 4'd1 + q")), SPEC)
    assert same.passed
    assert "equiv" in {s.step for s in same.steps}
    # The trace never sees it: 200 cycles of `en` do not tell a counter that skips after 2^20 cycles.
    late = RTL.replace(
        "    always", "    reg [19:0] age;\n    always @(posedge clk) age <= rst ? 20'd0 : age + 20'd1;\n    always", 1
    ).replace("q <= q + 4'd1", "q <= (&age) ? 4'd0 : q + 4'd1")
    differing = optimise(design(late), SPEC)
    assert not differing.passed
    assert differing.failing.step == "equiv"
    assert differing.failing.status in (Status.FAIL, Status.UNPROVEN)


def test_an_existing_design_that_is_broken_is_no_candidates_fault(verifier: Verifier) -> None:
    baseline = (SourceFile("rtl/counter.v", RTL.replace("else if (en)", "else if en")),)
    verdict = replace(verifier, bench=replace(verifier.bench, baseline=baseline))(design(), SPEC)
    assert (verdict.failing.step, verdict.failing.status) == ("equiv", Status.ERROR)
    assert verdict.failing.diagnostics[0].message.startswith("in the existing design: syntax error")


def test_a_latch_is_an_error_unless_the_spec_asks_for_one(verifier: Verifier) -> None:
    latch = RTL.replace("    always @", "    reg held;\n    always @* if (en) held = q[0];\n    always @", 1).replace(
        "q + 4'd1", "q + 4'd1 + {3'd0, held & 1'b0}"
    )
    assert "LATCH" in failing_codes(verifier(design(latch), SPEC))
    asked = verifier(design(latch), replace(SPEC, text="Counts, with a latch."))
    assert asked.failing is None or asked.failing.step != "lint"


@pytest.mark.parametrize("text", ["Data is latched on the rising edge.", "It has no latches.", "Latch d when en."])
def test_latched_data_are_no_request_for_a_latch(text: str, verifier: Verifier) -> None:
    latch = RTL.replace("    always @", "    reg held;\n    always @* if (en) held = q[0];\n    always @", 1).replace(
        "q + 4'd1", "q + 4'd1 + {3'd0, held & 1'b0}"
    )
    assert "LATCH" in failing_codes(verifier(design(latch), replace(SPEC, text=text)))


def test_a_design_whose_function_nobody_judged_does_not_pass(verifier: Verifier) -> None:
    unjudged = replace(verifier, bench=Bench(None))
    verdict = unjudged(design(), SPEC)
    assert all(s.passed for s in verdict.steps)
    assert not verdict.passed


def test_an_output_that_is_never_compared_makes_weak_evidence(verifier: Verifier, trace: Trace) -> None:
    blind = replace(trace, cycles=tuple(replace(s, expected=({},) * len(s.expected)) for s in trace.cycles))
    steps = verifier(design(), SPEC).steps
    assert grade_evidence(steps, SPEC, trace)[0] is Grade.MODERATE
    grade, reason = grade_evidence(steps, SPEC, blind)
    assert grade is Grade.WEAK
    assert reason.endswith("untested: q")


def test_other_limits_are_judged_anew(verifier: Verifier) -> None:
    hasty = replace(verifier, config=replace(verifier.config, limits=replace(verifier.config.limits, wall_s=0.01)))
    assert not hasty(design(), SPEC).passed
    assert verifier(design(), SPEC).passed


def test_a_candidate_that_is_too_large_is_the_designs_fault(verifier: Verifier) -> None:
    limits = replace(verifier.config.limits, source_mb=0.0001)
    verdict = replace(verifier, config=replace(verifier.config, limits=limits))(design(), SPEC)
    assert (verdict.failing.step, verdict.failing.status) == ("lint", Status.FAIL)
    assert failing_codes(verdict) == {"UNUSABLE"}


def test_other_tools_judge_anew(verifier: Verifier, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = replace(verifier, bench=replace(verifier.bench, mutants=1))
    judged(design(), SPEC)
    before = set(verifier.store.iterdir())
    judged(design(), SPEC)
    assert set(verifier.store.iterdir()) == before
    other = ("verilator 99", *tool_versions()[1:])
    for module in ("gates", "grading"):
        monkeypatch.setattr(f"rtlagent.{module}.tool_versions", lambda: other)
    judged(design(), SPEC)
    assert len(set(verifier.store.iterdir())) == 2 * len(before)


def test_nothing_is_judged_twice(verifier: Verifier, monkeypatch: pytest.MonkeyPatch) -> None:
    first = verifier(design(), SPEC)
    monkeypatch.setenv("PATH", "/nowhere")
    assert verifier(design(), SPEC) == first
