from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.config import Limits, ToolConfig
from rtlagent.tools import verilator_runtime
from rtlagent.tools.initial_blocks import schedule_assignments
from rtlagent.tools.simulate import simulate
from rtlagent.tools.simulator_choice import candidates, verilator_pays
from rtlagent.tools.verilator import cocotb_main_source
from rtlagent.types import Severity, SourceFile, Status, StepResult, TestFile, TestKind

SHIFT = SourceFile(
    "rtl/shift.sv",
    """module shift #(parameter int N = 3) (input logic clk, rst, d, output logic q);
  logic [N-1:0] bits;
  always_ff @(posedge clk) bits <= rst ? '0 : {bits[N-2:0], d};
  assign q = bits[N-1];
endmodule
""",
)
WRONG = replace(SHIFT, text=SHIFT.text.replace("bits[N-1];", "bits[0];"))
TEST = TestFile(
    SourceFile(
        "tb/test_shift.py",
        """import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge


@cocotb.test()
async def delays(dut):
    dut.clk.value = 0
    dut.rst.value = 1
    dut.d.value = 0
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start(start_high=False))
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    sent = [0, 0, 0]
    for cycle in range(30):
        sent.append(random.randrange(2))
        dut.d.value = sent[-1]
        await FallingEdge(dut.clk)
        assert dut.q.value == sent[-3], f"cycle {cycle}"
""",
    ),
    TestKind.COCOTB,
)
# A class, a queue and an associative array: Icarus takes none of the first and the last.
BENCH = TestFile(
    SourceFile(
        "tb/tb.sv",
        """module tb;
  class Expected;
    bit items[$];
    int seen[string];
    function void send(bit b); items.push_back(b); seen["sent"]++; endfunction
  endclass
  logic clk = 0, rst = 1, d = 0, q;
  int errors = 0;
  Expected e = new;
  always #5 clk = ~clk;
  shift dut(.*);
  initial begin
    repeat (4) @(negedge clk);
    rst = 0;
    repeat (2) e.send(0);
    repeat (50) begin
      d = $urandom_range(1);
      e.send(d);
      @(negedge clk);
      if (q !== e.items.pop_front()) errors++;
    end
    $display("Mismatches: %0d in %0d samples", errors, e.seen["sent"]);
    $finish;
  end
endmodule
""",
    ),
    TestKind.SYSTEMVERILOG,
)


def run(
    design: SourceFile, test: TestFile, config: ToolConfig, simulator: str, keep_dir: Path | None = None, **more: int
) -> StepResult:
    return simulate([design], [test], top="shift", simulator=simulator, keep_dir=keep_dir, config=config, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("design", [SHIFT, WRONG])
def test_both_simulators_agree(tool_config: ToolConfig, design: SourceFile, tmp_path: Path) -> None:
    on = {s: run(design, TEST, tool_config, s, tmp_path / s, seed=5) for s in ("icarus", "verilator")}
    assert on["icarus"].status is (Status.PASS if design is SHIFT else Status.FAIL), on["icarus"].detail
    for name in ("status", "seed", "cycle", "wave_path"):
        assert getattr(on["icarus"].tests[0], name) == getattr(on["verilator"].tests[0], name)
    assert on["verilator"].tool_version.startswith("verilator 5.")
    assert (tmp_path / "verilator" / "test_shift.vcd").is_file() == (design is WRONG)


def test_auto_takes_verilator_where_icarus_does_not_know_a_construct(tool_config: ToolConfig, tmp_path: Path) -> None:
    assert run(SHIFT, BENCH, tool_config, "icarus").status is Status.FAIL
    good = run(SHIFT, BENCH, tool_config, "auto")
    assert good.status is Status.PASS, good.detail
    assert good.tool_version.startswith("verilator") and good.diagnostics == ()
    assert good.tests[0].message == "Mismatches: 0 in 52 samples"
    bad = run(WRONG, BENCH, tool_config, "auto", tmp_path)
    assert bad.status is Status.FAIL and "Mismatches: " in bad.tests[0].message
    assert (tmp_path / "tb.vcd").read_text().count("$var") > 5


def test_the_seed_reaches_the_simulators_own_random_numbers(tool_config: ToolConfig) -> None:
    messages = [run(WRONG, BENCH, tool_config, "verilator", seed=s).tests[0].message for s in (3, 3, 4, 5)]
    assert messages[0] == messages[1]
    assert len(set(messages)) > 1


def test_a_wrong_design_is_wrong_for_both(tool_config: ToolConfig) -> None:
    typo = replace(SHIFT, text=SHIFT.text.replace("assign q =", "assign q"))
    step = run(typo, TEST, tool_config, "auto")
    assert step.status is Status.FAIL and step.tests == ()
    error = next(d for d in step.diagnostics if d.severity is Severity.ERROR)
    assert (error.path, error.line, error.tool) == ("rtl/shift.sv", 4, "verilator")


def test_stop_fatal_and_timeouts_on_verilator(tool_config: ToolConfig) -> None:
    ending = replace(SHIFT, text=SHIFT.text.replace("endmodule", '  initial #45 $fatal(1, "gone");\nendmodule'))
    step = run(ending, TEST, tool_config, "verilator")
    assert step.status is Status.FAIL, step.detail
    assert (
        step.tests[0].message.startswith("simulation ended before the tests did\n") and "gone" in step.tests[0].message
    )
    stopping = replace(BENCH, source=replace(BENCH.source, text=BENCH.source.text.replace("$finish", "$stop")))
    assert run(SHIFT, stopping, tool_config, "verilator").status is Status.PASS
    endless = replace(BENCH, source=replace(BENCH.source, text=BENCH.source.text.replace("$finish;", "")))
    short = replace(tool_config, limits=Limits(wall_s=6))
    assert run(SHIFT, endless, short, "verilator").status is Status.TIMEOUT


RACY = """module tb;
  logic clk = 0, rst = 1, d = 0, q;
  int errors = 0;
  task automatic drive(input bit v); d <= v; endtask
  always #5 clk = ~clk;
  shift #(.N(2)) dut(.*);
  initial begin : stimulus
    repeat (2) @(posedge clk);
    rst <= 0; // the design must still see 1 at this edge
    @(posedge clk) drive(1);
    @(posedge clk) if (d <= 0) disable stimulus; else d <= 0;
    @(negedge clk) if (q !== 0) errors++;
    @(negedge clk) if (q !== 1) errors++;
    @(negedge clk) if (q !== 0) errors++;
    $display("%s", errors == 0 ? "PASSED" : "FAILED");
    $finish;
  end : stimulus
endmodule
"""


def test_mismatches_that_are_counted_in_nested_loops_are_not_forgotten(tool_config: ToolConfig) -> None:
    bench = """module tb;
  reg [1:0] a, b;
  wire [1:0] q;
  integer i, j, wrong;
  gate dut (.a(a), .b(b), .q(q));
  initial begin
    wrong = 0;
    for (i = 0; i < 4; i = i + 1)
      for (j = 0; j < 4; j = j + 1) begin
        a = i; b = j;
        #1 if (q !== (a & b)) wrong = wrong + 1;
      end
    if (wrong == 0) $display("PASS"); else $display("FAIL: %0d wrong", wrong);
    $finish;
  end
endmodule
"""
    gate = "module gate (input [1:0] a, b, output [1:0] q);\n  assign q = a | b;\nendmodule\n"
    tests = [TestFile(SourceFile("tb.v", bench), TestKind.SYSTEMVERILOG)]
    step = simulate([SourceFile("gate.v", gate)], tests, top="gate", simulator="verilator", config=tool_config)
    assert step.status is Status.FAIL
    assert "12 wrong" in step.detail


def test_testbenches_that_drive_with_nonblocking_assignments_do_not_race(tool_config: ToolConfig) -> None:
    racy = TestFile(SourceFile("tb/tb.sv", RACY), TestKind.SYSTEMVERILOG)
    for simulator in ("icarus", "verilator"):
        step = run(SHIFT, racy, tool_config, simulator)
        assert step.status is Status.PASS and step.diagnostics == (), step.detail


def test_initial_blocks_become_always_blocks_on_the_same_lines() -> None:
    changed = schedule_assignments(RACY)
    assert "  always begin begin : stimulus\n" in changed and "  end : stimulus wait (0); end\n" in changed
    assert changed.count("\n") == RACY.count("\n")
    for unchanged in (
        "module a; initial begin x = 1; end endmodule",
        "module a; initial x <= 1; endmodule",
        'module a; always @(posedge c) q <= d; initial $display("initial begin end"); endmodule',
        "module a; always @* q <= d; // initial begin\n endmodule",
        "module a; initial begin q <= 1; // never closed",
    ):
        assert schedule_assignments(unchanged) == unchanged


def test_the_choice_follows_length_and_size() -> None:
    short, long = 1_000, 10_000_000
    assert not verilator_pays(TestKind.COCOTB, [SHIFT], None)
    assert not verilator_pays(TestKind.SYSTEMVERILOG, [SHIFT], short)
    assert verilator_pays(TestKind.SYSTEMVERILOG, [SHIFT], long)
    assert [s.NAME for s in candidates("auto", TestKind.COCOTB, [SHIFT], long)] == ["verilator", "icarus"]
    assert [s.NAME for s in candidates("icarus", TestKind.COCOTB, [SHIFT], long)] == ["icarus"]


def test_a_warm_build_takes_a_fraction_of_the_stock_one(tool_config: ToolConfig) -> None:
    run(SHIFT, TEST, tool_config, "verilator")
    start = time.monotonic()
    assert run(SHIFT, TEST, tool_config, "verilator").passed
    # A stock build takes 14 s on the same machine; the bound leaves room for a busy one.
    assert time.monotonic() - start < 8


def test_the_precompiled_header_is_valid(tool_config: ToolConfig, tmp_path: Path) -> None:
    cached = verilator_runtime.runtime(tool_config, cocotb_main_source())
    (tmp_path / "empty.cc").write_text("\n")
    argv = [
        "g++",
        *verilator_runtime.compile_flags(),
        verilator_runtime.MODEL_OPTIMIZATION,
        "-Winvalid-pch",
        "-Werror",
        "-H",
    ]
    argv += ["-include", str(cached.header), "-c", str(tmp_path / "empty.cc"), "-o", str(tmp_path / "empty.o")]
    import subprocess

    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stderr.startswith("! ")


def test_a_design_that_never_settles_fails(tool_config: ToolConfig) -> None:
    loop = "  logic a, b;\n  assign a = ~b & ~rst;\n  assign b = a;\nendmodule"
    step = run(replace(SHIFT, text=SHIFT.text.replace("endmodule", loop)), TEST, tool_config, "verilator")
    assert step.status is Status.FAIL and "did not converge" in step.detail, step.detail


@pytest.mark.slow
def test_two_at_once_make_one_runtime_and_say_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = ToolConfig(cache_dir=tmp_path)
    made: list[Path] = []
    threads = [
        threading.Thread(target=lambda: made.append(verilator_runtime.runtime(config, cocotb_main_source()).folder))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert sorted(p.name for p in (tmp_path / "verilator").iterdir()) == [made[0].name, "lock"]
    stamp = (made[0] / "libverilated.a").stat().st_mtime_ns
    assert run(SHIFT, TEST, config, "verilator").passed
    assert (made[0] / "libverilated.a").stat().st_mtime_ns == stamp
    assert [r.message for r in caplog.records] == ["building Verilator's runtime once, about a minute"]


@pytest.mark.parametrize("simulator", ["auto", "verilator"])
def test_no_runtime_is_built_for_a_design_that_does_not_compile(
    simulator: str, tool_config: ToolConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cold = replace(tool_config, cache_dir=tmp_path)
    wrong = replace(SHIFT, text=SHIFT.text.replace("rst ?", "rst ? ?"))
    step = simulate([wrong], [TEST], top="shift", simulator=simulator, config=cold)
    assert step.status is Status.FAIL
    (found,) = [d for d in step.diagnostics if d.severity is Severity.ERROR]
    assert (found.path, found.line) == ("rtl/shift.sv", 3)
    assert caplog.records == []
    assert not list(tmp_path.rglob("*.o"))


@pytest.mark.slow
def test_the_first_build_is_announced_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("module a; endmodule\n")
    (tmp_path / "tb.sv").write_text('module tb; initial $display("PASS"); endmodule\n')
    program = Path(sys.executable).parent / "rtlagent"
    command = [str(program), "sim", "a.v", "--tb", "tb.sv", "--simulator", "verilator", "--json"]
    environment = {**os.environ, "RTLAGENT_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stderr
        for _ in range(2)
    ]
    assert said == ["building Verilator's runtime once, about a minute\n", ""]
