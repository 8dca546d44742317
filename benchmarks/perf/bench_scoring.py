"""Scoring given answers, sandbox on, against a bare loop over iverilog and vvp with the same number of jobs."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rtlagent.bench.answers import golden_answers
from rtlagent.bench.scoring import ScoringJob, score_answers
from rtlagent.bench.suites import suite
from rtlagent.config import ToolConfig
from rtlagent.types import Status

SUITE = "verilog-eval-v2"
_TEST = """`timescale 1 ps/1 ps
module stimulus_gen(input clk, output reg [7:0] a, b, output reg reset, input tb_match);
  bit failed = 0;
  always @(posedge clk, negedge clk) if (!tb_match) failed <= 1;
  initial begin
    @(posedge clk) reset <= 1; a <= 0; b <= 0;
    repeat (3) @(posedge clk);
    reset <= 0;
    repeat (@SAMPLES@) @(posedge clk, negedge clk) begin
      a <= $random; b <= $random; reset <= !($random & 31);
    end
    if (failed) $display("Hint: something differs.");
    #1 $finish;
  end
endmodule
module tb;
  typedef struct packed { int errors; int errortime; int errors_q; int errortime_q; int clocks; } stats;
  stats stats1;
  reg clk = 0;
  initial forever #5 clk = ~clk;
  logic reset; logic [7:0] a, b; logic [15:0] q_ref, q_dut;
  wire tb_match; wire tb_mismatch = ~tb_match;
  initial begin
    $dumpfile("wave.vcd");
    $dumpvars(1, stim1.clk, tb_mismatch, clk, reset, a, b, q_ref, q_dut);
  end
  stimulus_gen stim1(.clk, .*, .reset, .a, .b);
  RefModule good1(.clk, .reset, .a, .b, .q(q_ref));
  TopModule top_module1(.clk, .reset, .a, .b, .q(q_dut));
  final begin
    if (stats1.errors_q) $display("Hint: Output '%s' has %0d mismatches.", "q", stats1.errors_q);
    else $display("Hint: Output '%s' has no mismatches.", "q");
    $display("Simulation finished at %0d ps", $time);
    $display("Mismatches: %1d in %1d samples", stats1.errors, stats1.clocks);
  end
  assign tb_match = ({ q_ref } === ({ q_ref } ^ { q_dut } ^ { q_ref }));
  always @(posedge clk, negedge clk) begin
    stats1.clocks++;
    if (!tb_match) begin
      if (stats1.errors == 0) stats1.errortime = $time;
      stats1.errors++;
    end
    if (q_ref !== (q_ref ^ q_dut ^ q_ref)) stats1.errors_q = stats1.errors_q + 1'b1;
  end
  initial begin #1000000 $display("TIMEOUT"); $finish(); end
endmodule
"""
_DESIGN = """module RefModule(input clk, input reset, input [7:0] a, input [7:0] b, output reg [15:0] q);
  always @(posedge clk)
    if (reset) q <= 16'd0;
    else q <= @EXPRESSION@;
endmodule
"""
_EXPRESSIONS = ("a * b", "{a, b}", "a + b", "q + a", "q ^ {b, a}", "{q[14:0], ^a}", "a < b ? q : {8'd0, b}", "~q")


def write_suite(folder: Path, problems: int) -> None:
    """Write problems like VerilogEval's: a few hundred samples each, one in ten with some thousand."""
    for k in range(problems):
        name = f"Prob{k + 1:03}_made"
        samples = 2000 if k % 10 == 9 else 150 + 20 * (k % 8)
        (folder / f"{name}_prompt.txt").write_text("Made for timing.\n")
        (folder / f"{name}_test.sv").write_text(_TEST.replace("@SAMPLES@", str(samples)))
        (folder / f"{name}_ref.sv").write_text(_DESIGN.replace("@EXPRESSION@", _EXPRESSIONS[k % len(_EXPRESSIONS)]))


def bare_loop(path: Path, jobs: int) -> float:
    """Compile and run every golden as a shell script would; return the seconds."""
    adapter = suite(SUITE)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        todo = []
        for problem in adapter.problems(path):
            place = work / problem.name
            place.mkdir()
            golden = adapter.golden(path, problem.name)
            assert golden is not None
            (place / "answer.sv").write_text(golden[0].text)
            todo.append((place, [str((path / f"{problem.name}_{part}.sv").resolve()) for part in ("test", "ref")]))

        def run(one: tuple[Path, list[str]]) -> None:
            place, files = one
            done = subprocess.run(
                ["iverilog", "-g2012", "-s", "tb", "-o", "sim.vvp", *files, "answer.sv"],
                cwd=place, capture_output=True, check=False,
            )  # fmt: skip
            if done.returncode == 0:
                subprocess.run(["timeout", "30", "vvp", "-n", "sim.vvp"], cwd=place, capture_output=True, check=False)

        start = time.perf_counter()
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(run, todo))
        return time.perf_counter() - start


def scored(path: Path, jobs: int, config: ToolConfig) -> tuple[float, int]:
    """Score every golden; return the seconds and how many passed."""
    adapter = suite(SUITE)
    problems = adapter.problems(path)
    answers = golden_answers(adapter, path, [p.name for p in problems])
    start = time.perf_counter()
    # Icarus only: what the bare loop cannot compile is not tried with Verilator.
    job = ScoringJob(SUITE, path, config, "icarus")
    results = list(score_answers(job, problems, answers, jobs=jobs))
    return time.perf_counter() - start, sum(r.score.status is Status.PASS for r in results)


def report(path: Path | None, *, problems: int, jobs: int, runs: int) -> float:
    """Print the ratio (medians, the two sides in turn) and return it; the goal is at most 1.5."""
    with tempfile.TemporaryDirectory() as name:
        data = path or Path(name)
        if path is None:
            write_suite(data, problems)
        count = len(suite(SUITE).problems(data))
        config = ToolConfig(cache_dir=Path(name) / "cache")
        bare, ours, passed = [], [], 0
        for _ in range(runs):
            bare.append(bare_loop(data, jobs))
            seconds, passed = scored(data, jobs, config)
            ours.append(seconds)
        ratio = statistics.median(o / b for o, b in zip(ours, bare, strict=True))
        print(f"scoring {count} answers, {jobs} jobs, {passed} pass")
        print(f"  bare iverilog + vvp  {1000 * statistics.median(bare) / count:7.1f} ms an answer")
        print(f"  bench score          {1000 * statistics.median(ours) / count:7.1f} ms an answer")
        print(f"  ratio                {ratio:7.2f}    (goal: at most 1.5)")
        return ratio
