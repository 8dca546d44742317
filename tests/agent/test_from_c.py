"""A compiled C function is judged by real tools against its C, and the run's folder tells how it ended.

The modules here are written by hand, so that these tests say nothing about the compiler: a wrong one must fail.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.agent.from_c import CRun, choose_top, compile_spec, defined_functions, is_c_run, start_c_run, worst_ii
from rtlagent.agent.report import RunReport
from rtlagent.config import Config, ToolConfig
from rtlagent.errors import CSourceError, RunError, UsageError
from rtlagent.hls.compile import HlsResult
from rtlagent.hls.interface import Argument, ArrayPort, Interface, ScalarPort
from rtlagent.spec import Asked, load_spec
from rtlagent.types import Diagnostic, Grade, LoopReport, Metrics, Severity, SourceFile, Spec, Status, to_json
from rtlagent.workspace import Run

C = """\
unsigned short scale(unsigned short a, unsigned short b[4]) {
    for (int i = 0; i < 4; i++) b[i] += a;
    return a + 1;
}
"""
VERILOG = """\
module scale (
  input wire ap_clk, input wire ap_rst, input wire ap_start,
  output wire ap_done, output wire ap_idle, output wire ap_ready, output wire [15:0] ap_return,
  input wire [15:0] a,
  output wire [1:0] b_address0, output wire b_ce0, output wire b_we0, output wire [15:0] b_d0, input wire [15:0] b_q0
);
  reg busy;
  reg [3:0] step;
  reg [15:0] kept;
  assign ap_idle = !busy;
  assign ap_done = busy && step == 4'd8;
  assign ap_ready = ap_done;
  assign ap_return = ap_done ? a + 16'd1 : kept;
  assign b_address0 = step[2:1];
  assign b_ce0 = busy && !step[3];
  assign b_we0 = busy && !step[3] && step[0];
  assign b_d0 = b_q0 + a;
  always @(posedge ap_clk) begin
    if (ap_done) kept <= ap_return;
    if (ap_rst) busy <= 1'd0;
    else if (!busy) busy <= ap_start;
    else if (ap_done) busy <= 1'd0;
    step <= busy ? step + 4'd1 : 4'd0;
  end
endmodule
"""
INTERFACE = Interface(
    "scale",
    16,
    scalars=(ScalarPort("a", 16, False, "a"),),
    arrays=(ArrayPort("b", 16, 4, True, True, "b", (0, 2, 4, 6)),),
    arguments=(
        Argument("a", 2, True, c_type="unsigned short", element_bytes=2),
        Argument("b", 8, False, c_type="unsigned short", element_bytes=2, dims=(4,)),
    ),
)
WARNING = Diagnostic("hls", Severity.WARNING, "PRAGMA_UNKNOWN", "unknown pragma", "scale.c", 2, 1)


def compiled(verilog: str = VERILOG) -> HlsResult:
    loop = LoopReport("loop_2", 2, 4, 2, 1, 3, 8, "port of `b`: 2 accesses, 1 port")
    return HlsResult(
        SourceFile("rtl/scale.v", verilog), INTERFACE, (loop,), 9, 9, Metrics(60, 30, 0, 0), (WARNING,)
    )  # fmt: skip


def spec_of(folder: Path, text: str = C, **asked: object) -> Spec:
    (folder / "scale.c").write_text(text)
    return load_spec(folder / "scale.c", Asked(top="scale", **asked))  # type: ignore[arg-type]


def run_it(folder: Path, spec: Spec, result: HlsResult | None, config: Config | None = None) -> tuple[Run, RunReport]:
    config = config or Config(runs_dir=folder / "runs")
    run = start_c_run(spec, config)
    return run, CRun(run, config, result).go()


def gates(report: RunReport) -> dict[str, Status]:
    assert report.verdict is not None
    return {s.step: s.status for s in report.verdict.steps}


def test_a_right_module_passes_and_everything_is_in_the_folder(tmp_path: Path) -> None:
    run, report = run_it(tmp_path, spec_of(tmp_path), compiled())
    assert (report.passed, report.exit_code, report.top) == (True, 0, "scale")
    assert gates(report) == dict.fromkeys(
        ("lint", "elaborate", "cosim", "synthesize", "place_and_route"), Status.PASS
    )  # fmt: skip
    assert report.verdict is not None
    metrics = report.verdict.metrics
    assert (metrics.latency_cycles, metrics.ii, metrics.dsps) == (9, 2, 0)
    assert metrics.luts is not None
    assert metrics.fmax_mhz is not None
    assert report.verdict.grade is Grade.STRONG
    assert "values equal the C's under icarus and verilator; 100 % of the C's lines ran" in report.verdict.grade_reason
    assert report.hls is not None
    assert (report.hls.clock_ns, report.hls.diagnostics) == (10.0, (WARNING,))
    assert (run.folder / "rtl/scale.v").read_text() == VERILOG
    assert (run.folder / "tb/scale.c").read_text() == C
    assert run.read_json("report.json") == to_json(report)
    assert [e["event"] for e in run.events()] == ["started", "compiled", *["gate"] * 5, "ended"]
    assert is_c_run(run)


def test_a_wrong_module_fails_with_the_element(tmp_path: Path) -> None:
    _, report = run_it(tmp_path, spec_of(tmp_path), compiled(VERILOG.replace("b_q0 + a", "b_q0 - a")))
    assert (report.record.exit_reason, report.exit_code) == ("fail", 1)
    assert list(gates(report))[-1] == "cosim"
    assert "b[0] = " in report.reason
    assert "expected" in report.reason


def test_a_wrong_result_fails(tmp_path: Path) -> None:
    _, report = run_it(tmp_path, spec_of(tmp_path), compiled(VERILOG.replace("a + 16'd1 :", "a + 16'd2 :")))
    assert report.exit_code == 1
    assert "return value" in report.reason


def test_lint_comes_first(tmp_path: Path) -> None:
    _, report = run_it(tmp_path, spec_of(tmp_path), compiled(VERILOG.replace("reg busy;", "")))
    assert list(gates(report)) == ["lint"]
    assert "busy" in report.reason


@pytest.mark.parametrize(
    ("changed", "name", "measured"),
    [({"max_latency_cycles": 8}, "max_latency_cycles", 9.0), ({"max_ii": 1}, "max_ii", 2.0), ({"max_luts": 1}, "", 0)],
)
def test_requirements_are_held_against_measured_figures(
    changed: dict[str, int], name: str, measured: float, tmp_path: Path
) -> None:
    spec = spec_of(tmp_path, target="generic")
    _, report = run_it(tmp_path, replace(spec, requirements=replace(spec.requirements, **changed)), compiled())
    assert report.exit_code == 1
    assert report.verdict is not None
    (unmet,) = report.verdict.unmet
    assert not name or (unmet.name, unmet.measured) == (name, measured)
    assert report.reason.startswith("not met: ")


def test_a_clock_that_was_asked_for_is_a_requirement(tmp_path: Path) -> None:
    _, report = run_it(tmp_path, spec_of(tmp_path, clock_ns=0.5), compiled())
    assert report.exit_code == 1
    assert gates(report)["place_and_route"] is Status.FAIL
    assert "of the 2000 MHz asked for" in report.reason


def slow_pair() -> tuple[str, str]:
    """Return C and Verilog whose six chained multiplications take longer than 10 ns."""
    c = C.replace("a + 1;", "x >> 16;").replace("    for", "    unsigned x = a;\n    for")
    c = c.replace("    return", "".join(f"    x *= x ^ {k + 3};\n" for k in range(6)) + "    return")
    chain = "".join(f"  wire [31:0] x{k + 1} = x{k} * (x{k} ^ 32'd{k + 3});\n" for k in range(6))
    slow = (
        VERILOG.replace("  assign ap_idle", f"  reg [31:0] x0;\n  reg [31:0] y;\n{chain}  assign ap_idle")
        .replace("a + 16'd1 :", "y[31:16] :")
        .replace("    step <=", "    x0 <= {16'd0, a};\n    y <= x6;\n    step <=")
    )
    return c, slow


@pytest.mark.slow
def test_a_missed_clock_is_compiled_again_with_more_of_the_period_left_free(tmp_path: Path) -> None:
    c, slow = slow_pair()
    run, report = run_it(tmp_path, spec_of(tmp_path, c, clock_ns=14.0), compiled(slow))
    assert report.passed, report.reason
    assert report.record.iterations == len(report.attempts) > 1
    assert report.attempts[0]["step"] == "place_and_route"
    margins = [e["margin"] for e in run.events() if e["event"] == "compiled"]
    assert margins == sorted(margins)
    assert (run.folder / "rtl/scale.v").read_text() != slow


@pytest.mark.slow
def test_a_clock_that_was_not_asked_for_is_none(tmp_path: Path) -> None:
    c, slow = slow_pair()
    _, report = run_it(tmp_path, spec_of(tmp_path, c), compiled(slow))
    assert report.verdict is not None, report.reason
    step = next((s for s in report.verdict.steps if s.step == "place_and_route"), None)
    assert step is not None, report.reason
    assert step.metrics.fmax_mhz is not None
    assert step.metrics.fmax_mhz < 100
    assert report.passed
    assert [d.severity for d in step.diagnostics] == [Severity.WARNING]


def test_many_ports_do_not_lack_pins(tmp_path: Path) -> None:
    # 40 words of 32 bits are more than any package of these chips has pins.
    names = [f"a{k}" for k in range(40)]
    inputs = ", ".join(f"input wire [31:0] {n}" for n in names)
    verilog = f"""module wide (
  input wire ap_clk, input wire ap_rst, input wire ap_start, {inputs},
  output wire ap_done, output wire ap_idle, output wire ap_ready, output wire [31:0] ap_return);
  reg busy;
  reg [31:0] kept;
  assign ap_idle = !busy;
  assign ap_done = busy;
  assign ap_ready = busy;
  assign ap_return = kept;
  always @(posedge ap_clk) begin
    busy <= !ap_rst & !busy & ap_start;
    if (!busy & ap_start) kept <= {" ^ ".join(names)};
  end
endmodule
"""
    c = f"unsigned wide({', '.join(f'unsigned {n}' for n in names)}) {{ return {' ^ '.join(names)}; }}\n"
    (tmp_path / "wide.c").write_text(c)
    spec = load_spec(tmp_path / "wide.c", Asked(top="wide", clock_ns=20.0))
    interface = Interface(
        "wide",
        32,
        scalars=tuple(ScalarPort(n, 32, False, n) for n in names),
        arguments=tuple(Argument(n, 4, True, c_type="unsigned", element_bytes=4) for n in names),
    )
    result = replace(compiled(verilog), interface=interface, design=SourceFile("rtl/wide.v", verilog), loops=())
    _, report = run_it(tmp_path, spec, result)
    assert report.passed, report.reason
    assert report.verdict is not None
    assert "more port bits than pins" in report.verdict.steps[-1].detail


def test_a_failing_testbench_fails_the_run_before_the_module_is_asked(tmp_path: Path) -> None:
    text = C + "int main(void) { unsigned short b[4] = {0}; scale(1, b); return b[0] != 2; }\n"
    _, report = run_it(tmp_path, spec_of(tmp_path, text), compiled())
    assert report.exit_code == 1
    assert list(gates(report))[-1] == "csim"
    assert "main() returned 1" in report.reason


def test_few_values_make_a_weak_pass(tmp_path: Path) -> None:
    text = C + "int main(void) { unsigned short b[4] = {0}; scale(1, b); return b[0] != 1; }\n"
    _, report = run_it(tmp_path, spec_of(tmp_path, text, target="generic"), compiled())
    assert report.passed
    assert report.verdict is not None
    assert report.verdict.grade is Grade.WEAK
    assert report.verdict.grade_reason.startswith("only 5 values")


def test_c_that_mostly_did_not_run_makes_a_weak_pass(tmp_path: Path) -> None:
    never = "".join(f"    if (a == {k} && b[0] == 7)\n        b[1] = b[2] + a;\n" for k in range(9000, 9020))
    text = C.replace("    return", f"    if (a > 65530 && b[1] == 3) {{\n{never}    }}\n    return")
    _, report = run_it(tmp_path, spec_of(tmp_path, text, target="generic"), compiled())
    assert report.passed, report.reason
    assert report.verdict is not None
    assert report.verdict.grade is Grade.WEAK
    assert "but only" in report.verdict.grade_reason
    assert "lines of C ran" in report.verdict.steps[2].detail


def test_what_was_judged_is_not_judged_again(tmp_path: Path) -> None:
    run, first = run_it(tmp_path, spec_of(tmp_path), compiled())
    logs = {p: p.stat().st_mtime_ns for p in (run.folder / "logs").rglob("*") if p.is_file()}
    again = CRun(Run(run.folder), Config(runs_dir=tmp_path / "runs"), compiled()).go()
    assert again == first
    assert {p: p.stat().st_mtime_ns for p in (run.folder / "logs").rglob("*") if p.is_file()} == logs


def test_a_broken_tool_is_no_failed_design(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))  # no bwrap, hence no sandbox
    _, report = run_it(tmp_path, spec, compiled())
    assert (report.record.exit_reason, report.exit_code) == ("tool", 4)
    assert report.verdict is None


def test_a_changed_spec_is_not_resumed(tmp_path: Path) -> None:
    config = Config(runs_dir=tmp_path / "runs")
    run = start_c_run(spec_of(tmp_path), config)
    value = json.loads((run.folder / "spec.json").read_text())
    value["spec"]["c_source"]["text"] += " "
    (run.folder / "spec.json").write_text(json.dumps(value))
    with pytest.raises(RunError, match="changed"):
        CRun(run, config, compiled()).go()


def test_undefined_stimuli_are_the_users_to_mend(tmp_path: Path) -> None:
    text = "unsigned short scale(unsigned short a, unsigned short b[4]) { return b[0] / (a - a); }\n"
    with pytest.raises(CSourceError, match="undefined in C"):
        run_it(tmp_path, spec_of(tmp_path, text), compiled())


def top_of(folder: Path, text: str) -> str:
    (folder / "k.c").write_text(text)
    return choose_top(load_spec(folder / "k.c"), ToolConfig())


@pytest.mark.parametrize(
    ("text", "top"),
    [
        ("int f(int a) { return a; }", "f"),
        ("static int g(int a) { return a; } int f(int a) { return g(a); }", "f"),
        ("int f(int a) { return a; } int main(void) { return f(1); }", "f"),
        ("static int g(int a) { return a; } int f(int a) { return g(a); } int main(void) { return f(1) + g(2); }", "f"),
        ("int main(void) { return 0; }", "main"),
    ],
)
def test_the_only_function_that_can_be_meant_is_the_top(text: str, top: str, tmp_path: Path) -> None:
    assert top_of(tmp_path, text) == top


def test_several_functions_are_listed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="several functions could be the top: f, g"):
        top_of(tmp_path, "int f(int a) { return a; } int g(int a) { return a; }")
    with pytest.raises(UsageError, match="no function is defined"):
        top_of(tmp_path, "int x;")


def test_a_static_top_is_explained(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no function is defined") as caught:
        top_of(tmp_path, "static int f(int a) { return a; }")
    assert caught.value.hint == "f is static or inline and nobody calls it: drop that word"
    text = "static int scale(int a) { return a; }\nint f(int a) { return a; }\n"
    with pytest.raises(CSourceError, match="scale is static or inline and nobody calls it"):
        compile_spec(spec_of(tmp_path, text), ToolConfig())


def test_a_pragma_where_no_statement_can_stand_is_named(tmp_path: Path) -> None:
    text = "struct s {\n  int a;\n#pragma HLS unroll\n  int b;\n};\nint scale(struct s x) { return x.a; }\n"
    with pytest.raises(CSourceError, match="#pragma HLS unroll cannot stand here") as caught:
        compile_spec(spec_of(tmp_path, text), ToolConfig())
    assert caught.value.where == "scale.c:3"


@pytest.mark.parametrize(
    "text",
    [
        "static char big[1 << 22]; int scale(int i) { return big[i]++; }",
        "int scale(int big[1 << 22]) { return big[3]; }",
    ],
)
def test_an_array_that_no_chip_holds_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(CSourceError, match=r"big has 4194304 elements of .* bits: more than a chip holds") as caught:
        compile_spec(spec_of(tmp_path, text), ToolConfig())
    assert caught.value.where == "scale.c:1"


def test_c_that_is_too_large_is_wrong_input(tmp_path: Path) -> None:
    text = "int scale(int i) { static long a[1ll << 40]; a[i] = 1; return a[i + 1]; }\n"
    with pytest.raises(CSourceError, match="scale is too large for the compiler"):
        compile_spec(spec_of(tmp_path, text), ToolConfig())


def test_nothing_compared_is_the_reason(tmp_path: Path) -> None:
    text = (
        "unsigned short scale(unsigned short a, unsigned short b[4]) { return b[a]; }\n"
        "int main(void) { unsigned short b[4] = {0}; scale(4, b); return 0; }\n"
    )
    interface = replace(INTERFACE, arrays=(replace(INTERFACE.arrays[0], writes=False),))
    still = replace(
        compiled(VERILOG.replace("assign b_we0 = busy", "assign b_we0 = 1'd0 && busy")), interface=interface
    )
    _, report = run_it(tmp_path, spec_of(tmp_path, text), still)
    assert report.exit_code == 1
    assert report.reason.startswith("cosim: no output was compared, since C leaves each one undefined: undefined beh")


def test_functions_are_named_as_in_the_source() -> None:
    llvm = (
        'define dso_local i32 @_Z1fi(i32 %0) #0 !dbg !7 {\ndefine internal void @"plain.name"() {\n'
        '!7 = distinct !DISubprogram(name: "f", linkageName: "_Z1fi")\n'
    )
    assert defined_functions(llvm) == [("f", "_Z1fi"), ("plain.name", "plain.name")]


def test_the_worst_ii_is_that_of_pipelined_loops() -> None:
    loop = compiled().loops[0]
    assert worst_ii([loop, replace(loop, ii=5), replace(loop, ii=None)]) == 5
    assert worst_ii([replace(loop, ii=None)]) is None
