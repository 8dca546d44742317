from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.simulate import simulate
from rtlagent.types import Severity, SourceFile, Status, StepResult, TestFile, TestKind

COUNTER = SourceFile(
    "rtl/counter.v",
    """module counter #(parameter STEP = 1) (input clk, input rst, input en, output reg [7:0] q);
  always @(posedge clk)
    if (rst) q <= 0;
    else if (en) q <= q + STEP;
endmodule
""",
)
BROKEN = replace(COUNTER, text=COUNTER.text.replace("q + STEP", "q + STEP + (q == 5)"))

COUNT_TEST = """import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge


async def start(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.en.value = 0
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start(start_high=False))
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test()
async def counts(dut):
    await start(dut)
    want = 0
    for cycle in range(40):
        assert dut.q.value == want, f"wrong count in cycle {cycle}"
        enable = random.randrange(2)
        dut.en.value = enable
        want += enable
        await FallingEdge(dut.clk)


@cocotb.test()
async def resets(dut):
    await start(dut)
    assert dut.q.value == 0
"""

BENCH = """module tb;
  reg clk = 0, rst = 1;
  wire [7:0] q;
  always #5 clk = ~clk;
  counter dut(.clk(clk), .rst(rst), .en(1'b1), .q(q));
  initial begin
    #22 rst = 0;
    #100 if (q === 10) $display("Test PASSED"); else $display("Test FAILED: q is %0d", q);
    $finish;
  end
endmodule
"""


def cocotb_test(
    text: str = COUNT_TEST, path: str = "tb/test_counter.py", support: tuple[SourceFile, ...] = ()
) -> TestFile:
    return TestFile(SourceFile(path, text), TestKind.COCOTB, support=support)


def bench(text: str = BENCH, top: str | None = None) -> TestFile:
    return TestFile(SourceFile("tb/tb.sv", text), TestKind.SYSTEMVERILOG, top=top)


def run(
    design: SourceFile,
    *tests: TestFile,
    config: ToolConfig,
    top: str = "counter",
    keep_dir: Path | None = None,
    **more: object,
) -> StepResult:
    return simulate([design], tests, top=top, keep_dir=keep_dir, config=config, simulator="icarus", **more)  # type: ignore[arg-type]


def test_a_right_design_passes(tool_config: ToolConfig, tmp_path: Path) -> None:
    step = run(COUNTER, cocotb_test(), bench(), config=tool_config, keep_dir=tmp_path)
    assert step.status is Status.PASS, step.detail
    assert [(t.name, t.status) for t in step.tests] == [
        ("test_counter.counts", Status.PASS),
        ("test_counter.resets", Status.PASS),
        ("tb", Status.PASS),
    ]
    assert step.tool_version.startswith("icarus 1")
    assert step.argv[0] == "iverilog" and "rtl/counter.v" in step.argv
    assert "counts passed" in (tmp_path / str(step.log_path)).read_text()
    assert not list(tmp_path.glob("*.vcd"))


def test_a_wrong_design_fails_with_place_cycle_and_waveform(tool_config: ToolConfig, tmp_path: Path) -> None:
    step = run(BROKEN, cocotb_test(), bench(), config=tool_config, keep_dir=tmp_path)
    assert step.status is Status.FAIL
    counts, resets, testbench = step.tests
    assert counts.status is Status.FAIL and resets.status is Status.PASS and testbench.status is Status.FAIL
    assert counts.cycle is not None and 6 <= counts.cycle < 40
    assert counts.message.startswith(f"tb/test_counter.py:23: AssertionError: wrong count in cycle {counts.cycle}")
    assert "LogicArray('00000111'" in counts.message
    assert testbench.message == "Test FAILED: q is 11"
    for test in (counts, testbench):
        assert (tmp_path / str(test.wave_path)).read_text().startswith("$date")


def test_the_same_seed_gives_the_same_result_and_another_may_not(tool_config: ToolConfig) -> None:
    first, again = (run(BROKEN, cocotb_test(), config=tool_config, seed=7) for _ in range(2))
    assert first.tests == again.tests and first.detail == again.detail
    assert {t.seed for t in first.tests} == {7}
    cycles = {run(BROKEN, cocotb_test(), config=tool_config, seed=s, wave="never").tests[0].cycle for s in (7, 8, 9)}
    assert len(cycles) > 1


def test_without_a_seed_reruns_agree_and_record_it(tool_config: ToolConfig) -> None:
    one, two = (run(COUNTER, cocotb_test(), config=tool_config) for _ in range(2))
    assert one.tests == two.tests
    assert one.tests[0].seed is not None and one.tests[0].seed > 0


def test_silent_and_unending_testbenches_are_no_pass(tool_config: ToolConfig) -> None:
    silent = run(COUNTER, bench(BENCH.replace("$display", "if (0) $display")), config=tool_config)
    assert silent.status is Status.UNPROVEN and "printed nothing" in silent.detail
    short = replace(tool_config, limits=Limits(wall_s=1.5))
    unending = run(COUNTER, bench(BENCH.replace("$finish;", "")), config=short)
    assert unending.status is Status.TIMEOUT
    assert unending.tests[0].message == "stopped at the wall limit of 1.5 s"
    # What the kernel stops is no crash of the simulator.
    busy = replace(tool_config, limits=Limits(cpu_s=1))
    unending = run(COUNTER, bench(BENCH.replace("$finish;", "")), config=busy)
    assert unending.status is Status.TIMEOUT
    assert unending.tests[0].message == "stopped at the cpu limit of 1 s"


def test_an_unending_cocotb_test_is_named(tool_config: ToolConfig) -> None:
    endless = COUNT_TEST.replace(
        "    assert dut.q.value == 0\n", "    while True:\n        await FallingEdge(dut.clk)\n"
    ).replace("resets(", "hangs(")
    step = run(COUNTER, cocotb_test(endless), config=replace(tool_config, limits=Limits(wall_s=3)))
    assert step.status is Status.TIMEOUT
    assert [(t.name, t.status) for t in step.tests] == [("test_counter.hangs", Status.TIMEOUT)]


def test_a_design_that_ends_the_simulation_fails(tool_config: ToolConfig) -> None:
    ending = replace(COUNTER, text=COUNTER.text.replace("endmodule", "  initial #40 $finish;\nendmodule"))
    step = run(ending, cocotb_test(), config=tool_config)
    assert step.status is Status.FAIL
    assert step.tests[0].message == ("simulation ended before the tests did\nrtl/counter.v:5: the design calls $finish")
    assert run(ending, bench(), config=tool_config).status is not Status.PASS


def test_a_design_cannot_forge_a_report(tool_config: ToolConfig) -> None:
    forged = """module counter(input clk, input rst, input en, output reg [7:0] q);
  integer f;
  initial begin
    f = $fopen("results.xml", "w");
    $fwrite(f, "<testsuites><testsuite><testcase name='counts' classname='t'/></testsuite></testsuites>");
    $fclose(f);
    $finish;
  end
endmodule
"""
    step = run(replace(COUNTER, text=forged), cocotb_test(), config=tool_config)
    assert step.status is Status.FAIL


def test_a_failing_assertion_in_the_design_fails_passing_tests(tool_config: ToolConfig) -> None:
    asserting = replace(
        COUNTER,
        text=COUNTER.text.replace("endmodule", '  always @(negedge clk) if (q > 3) $error("too far");\nendmodule'),
    )
    step = run(asserting, cocotb_test(), config=tool_config)
    assert step.status is Status.FAIL
    assert step.tests[-1].name == "test_counter.assertions"
    assert "rtl/counter.v:5: too far" in step.tests[-1].message


def test_a_compile_error_is_the_designs_fault_with_its_place(tool_config: ToolConfig) -> None:
    step = run(
        replace(COUNTER, text=COUNTER.text.replace("q <= 0;", "q <= nothere;")), cocotb_test(), config=tool_config
    )
    assert step.status is Status.FAIL and step.tests == ()
    error = next(d for d in step.diagnostics if d.severity is Severity.ERROR)
    assert (error.path, error.line) == ("rtl/counter.v", 3) and "nothere" in error.message


def test_a_compilers_warning_is_no_failure(tool_config: ToolConfig) -> None:
    pruned = COUNTER.text.replace("endmodule", "  wire [1:0] w; assign w = 40'd9 + 40'hff_ffff_ffff;\nendmodule")
    pruned = pruned.replace(
        "endmodule", "  wire [3:0] v [0:1]; sub s(v[0][5], );\nendmodule\nmodule sub(input a, b); endmodule"
    )
    step = run(replace(COUNTER, text=pruned), cocotb_test(), config=tool_config)
    assert step.status is Status.PASS, step.detail
    assert {d.severity for d in step.diagnostics} <= {Severity.WARNING}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("import cocotb\nimport nothere_at_all\n", 2, "nothere_at_all"),
        ("import cocotb\n\n\n@cocotb.test()\nasync def a(dut)\n    pass\n", 5, "expected ':'"),
        ("import cocotb\n\nLIMIT = 1 / 0\n", 3, "division by zero"),
    ],
)
def test_a_test_module_that_cannot_be_loaded_is_a_failure_of_its_own_line(
    tool_config: ToolConfig, text: str, line: int, what: str
) -> None:
    step = run(COUNTER, cocotb_test(text), config=tool_config)
    assert step.status is Status.FAIL
    (diagnostic,) = step.diagnostics
    assert (diagnostic.path, diagnostic.line) == ("tb/test_counter.py", line) and what in diagnostic.message


def test_a_process_that_dies_is_an_error(tool_config: ToolConfig) -> None:
    dying = "import os\nimport cocotb\n\n\n@cocotb.test()\nasync def a(dut):\n    os.abort()\n"
    step = run(COUNTER, cocotb_test(dying), config=tool_config)
    assert step.status is Status.ERROR


def test_support_collected_files_and_environment(tool_config: ToolConfig, tmp_path: Path) -> None:
    text = """import json
import os
from pathlib import Path

import cocotb
from expected import TOP


@cocotb.test()
async def a(dut):
    assert dut._name == TOP
    trace = json.loads(Path("tb/trace.json").read_text())
    secrets = [name for name in os.environ if "SECRET" in name]
    Path("out.json").write_text(json.dumps([trace, os.environ["MINE"], secrets]))
"""
    support = (SourceFile("tb/expected.py", "TOP = 'counter'\n"), SourceFile("tb/trace.json", "[1, 2]"))
    os.environ["RTLAGENT_TEST_SECRET"] = "x"
    try:
        step = run(
            COUNTER,
            cocotb_test(text, support=support),
            config=tool_config,
            keep_dir=tmp_path,
            env={"MINE": "yes"},
            collect=["out.json", "absent.json"],
        )
    finally:
        del os.environ["RTLAGENT_TEST_SECRET"]
    assert step.status is Status.PASS, step.detail
    assert (tmp_path / "out.json").read_text() == '[[1, 2], "yes", []]'
    assert not (tmp_path / "absent.json").exists()


def test_data_files_defines_parameters_and_headers(tool_config: ToolConfig) -> None:
    rom = SourceFile(
        "rtl/rom.v",
        """`include "size.vh"
module rom #(parameter A = 0) (output [7:0] y);
  reg [7:0] mem [0:`SIZE-1];
  initial $readmemh("rom.hex", mem);
`ifdef INVERT
  assign y = ~mem[A];
`else
  assign y = mem[A];
`endif
endmodule
""",
    )
    text = """import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def a(dut):
    await Timer(1, unit="ns")
    assert dut.y.value == 0xDD
"""
    step = simulate(
        [rom, SourceFile("inc/size.vh", "`define SIZE 4\n")],
        [cocotb_test(text)],
        top="rom",
        simulator="icarus",
        data_files=[SourceFile("rom.hex", "00 11\n22 33\n")],
        defines=["INVERT"],
        parameters=["A=2"],
        config=tool_config,
    )
    assert step.status is Status.PASS, step.detail


def test_wrong_arguments_are_refused_before_anything_runs(tool_config: ToolConfig) -> None:
    with pytest.raises(UsageError, match="no test"):
        run(COUNTER, config=tool_config)
    with pytest.raises(UsageError, match="not a Verilog file"):
        run(SourceFile("tb/pytest.py", "import os"), cocotb_test(), config=tool_config)
    with pytest.raises(UsageError, match="several top modules: tb, other"):
        run(COUNTER, bench(f"{BENCH}module other; endmodule\n"), config=tool_config)
    with pytest.raises(UsageError, match="not a parameter"):
        run(COUNTER, cocotb_test(), config=tool_config, parameters=["$(touch x)=1"])
    with pytest.raises(UsageError, match="same path"):
        run(COUNTER, cocotb_test(), config=tool_config, data_files=[SourceFile("rtl/counter.v", "other")])


def test_the_top_of_a_testbench_is_found(tool_config: ToolConfig) -> None:
    helper = "module helper(output x); assign x = 1; endmodule\n"
    using = BENCH.replace("reg clk", "wire x;\n  helper h (.x(x));\n  // helper2 is not a module\n  reg clk")
    assert run(COUNTER, bench(helper + using), config=tool_config).status is Status.PASS
    assert run(COUNTER, bench(f"{BENCH}module other; endmodule\n", top="tb"), config=tool_config).status is Status.PASS


def test_shell_text_in_names_stays_text(tool_config: ToolConfig, tmp_path: Path) -> None:
    odd = SourceFile("rtl/$(touch hacked); x.v", COUNTER.text)
    step = run(odd, cocotb_test(), config=tool_config, keep_dir=tmp_path, collect=["hacked"])
    assert step.status is Status.PASS, step.detail
    assert not (tmp_path / "hacked").exists()


def test_always_and_never_keep_a_waveform(tool_config: ToolConfig, tmp_path: Path) -> None:
    always = run(COUNTER, bench(), config=tool_config, keep_dir=tmp_path / "a", wave="always")
    assert always.status is Status.PASS and (tmp_path / "a" / str(always.tests[0].wave_path)).is_file()
    never = run(BROKEN, bench(), cocotb_test(), config=tool_config, keep_dir=tmp_path / "n", wave="never")
    assert never.status is Status.FAIL and not list((tmp_path / "n").glob("*.vcd"))
    assert "LogicArray(" in never.tests[0].message


def test_tests_of_the_same_name_do_not_hide_each_other(tool_config: ToolConfig, tmp_path: Path) -> None:
    wrong = COUNT_TEST.replace("assert dut.q.value == 0", "assert dut.q.value == 1")
    tests = [cocotb_test(wrong, f"{folder}/test_counter.py") for folder in ("one", "two")]
    step = run(COUNTER, cocotb_test(), *tests, config=tool_config, keep_dir=tmp_path)
    assert [t.status.value for t in step.tests] == ["PASS", "PASS", "PASS", "FAIL", "PASS", "FAIL"]
    assert [t.message.partition(":")[0] for t in step.tests[3::2]] == ["one/test_counter.py", "two/test_counter.py"]
    assert [t.wave_path for t in step.tests[3::2]] == ["test_counter.vcd", "test_counter_2.vcd"]


def test_an_endless_build_is_a_timeout_and_endless_output_a_failure(tool_config: ToolConfig) -> None:
    huge = "genvar i; generate for (i = 0; i < 100000000; i = i + 1) begin : g wire w; assign w = i; end endgenerate"
    short = replace(tool_config, limits=Limits(wall_s=2, output_mb=0.1))
    step = run(replace(COUNTER, text=COUNTER.text.replace("endmodule", f"{huge}\nendmodule")), bench(), config=short)
    assert step.status is Status.TIMEOUT and step.detail.startswith("the build was stopped at the wall limit of 2 s")
    printing = bench(BENCH.replace("#22 rst = 0;", 'forever $display("PASSED");'))
    step = run(COUNTER, printing, config=short)
    assert step.status is Status.FAIL and "output limit of 0.1 MiB" in step.detail


FORGED = """import os

import cocotb


@cocotb.test()
async def forges(dut):
    with open(os.environ["COCOTB_RESULTS_FILE"], "w") as report:
        report.write('<testsuites><testcase classname="test_counter" name="all"/></testsuites>')
    {end}
"""


@pytest.mark.parametrize("simulator", ["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_report_from_before_cocotb_ended_is_not_believed(simulator: str, end: str, tool_config: ToolConfig) -> None:
    forged = cocotb_test(FORGED.format(end=end))
    step = simulate([COUNTER], [forged], top="counter", simulator=simulator, config=tool_config)
    assert step.status is Status.ERROR
    assert "the simulator ended before cocotb did" in step.tests[0].message


def test_a_report_on_other_modules_is_not_believed(tool_config: ToolConfig) -> None:
    forged = (
        "import atexit\nimport os\n\nimport cocotb\n\nNAME = os.environ['COCOTB_RESULTS_FILE']\nREPORT = '<testsuites>"
        '<testsuite name="all"><testcase classname="somebody_else" name="all"/></testsuite></testsuites>\'\n\n\n'
        "@atexit.register\ndef forge():\n    open(NAME, 'w').write(REPORT)\n\n\n"
        "@cocotb.test()\nasync def fails(dut):\n    assert False\n"
    )
    step = run(COUNTER, cocotb_test(forged), config=tool_config)
    assert step.status is Status.ERROR
    assert "modules that were not given: somebody_else" in step.tests[0].message


def test_tests_imported_from_a_given_module_count(tool_config: ToolConfig) -> None:
    shared = SourceFile("tb/lib/shared.py", COUNT_TEST)
    step = run(COUNTER, cocotb_test("from lib.shared import counts\n", support=(shared,)), config=tool_config)
    assert [(t.name, t.status) for t in step.tests] == [("lib.shared.counts", Status.PASS)]


def test_tests_that_are_all_skipped_prove_nothing(tool_config: ToolConfig) -> None:
    step = run(
        COUNTER, cocotb_test(COUNT_TEST.replace("@cocotb.test()", "@cocotb.test(skip=True)")), config=tool_config
    )
    assert {t.status for t in step.tests} == {Status.SKIPPED}
    assert step.status is Status.UNPROVEN


@pytest.mark.parametrize("text", ["", "import cocotb\n\n\nasync def undecorated(dut):\n    pass\n"])
def test_a_module_without_a_test_proves_nothing(text: str, tool_config: ToolConfig) -> None:
    step = run(COUNTER, cocotb_test(text), config=tool_config)
    assert step.status is Status.UNPROVEN
    assert "tb/test_counter.py holds no test" in step.tests[0].message


SHELL = replace(COUNTER, text=COUNTER.text.replace("endmodule", '  initial $system("true");\nendmodule'))


@pytest.mark.parametrize("test", [cocotb_test(), bench()], ids=["cocotb", "testbench"])
def test_a_system_task_that_the_simulator_lacks_is_an_error_with_its_place(
    test: TestFile, tool_config: ToolConfig
) -> None:
    step = run(SHELL, test, config=tool_config)
    assert step.status is Status.FAIL
    (found,) = step.diagnostics
    assert (found.path, found.line, found.severity) == ("rtl/counter.v", 5, Severity.ERROR)
    assert found.message == "System task/function $system() is not defined by any module."
    assert step.tests == ()


@pytest.mark.slow
def test_a_system_task_that_icarus_lacks_is_tried_on_verilator(tool_config: ToolConfig) -> None:
    step = simulate([SHELL], [cocotb_test()], top="counter", config=tool_config)
    assert step.status is Status.PASS
    assert step.tool_version.startswith("verilator")
