"""How long grading takes: 100 mutants of a design of about 200 lines.

    python benchmarks/perf/grade.py [--mutants 100]

Prints wall and processor time of `rtlagent grade` with two jobs, for a Verilog testbench, for a cocotb module of the
same stimulus, and for a testbench that notices nothing, so that each mutant has to be compared with the design; beside
them the bare simulator's time for one run of the testbench times the number of mutants.
Goal: under 60 s on two processors that nobody else uses; half of the processor time is what that would take.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STAGES = 24
BENCH = """module tb;
  reg clk = 0, rst = 1;
  reg [15:0] x;
  wire [15:0] y;
  reg [15:0] model [0:STAGES];
  integer i, k, wrong, seed;
  chain dut (.clk(clk), .rst(rst), .x(x), .y(y));
  always #5 clk = ~clk;
  initial begin
    wrong = 0; seed = 1; x = 0;
    for (k = 0; k <= STAGES; k = k + 1) model[k] = 0;
    repeat (2) @(negedge clk);
    rst = 0;
    for (i = 0; i < 400; i = i + 1) begin
      x = $random(seed);
      for (k = STAGES; k > 0; k = k - 1)
        model[k] = k == 1 ? ((x + 1) ^ (x >> 1)) : ((model[k-1] + k) ^ (model[k-1] >> 1));
      @(negedge clk);
      if (y !== model[STAGES]) wrong = wrong + 1;
    end
    if (wrong == 0) $display("PASS"); else $display("FAIL: %0d wrong", wrong);
    $finish;
  end
endmodule
""".replace("STAGES", str(STAGES))
BLIND = BENCH.replace("if (y !== model", "if (y !== y && y !== model")
COCOTB = f"""import random
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge


@cocotb.test()
async def stream(dut):
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    model = [0] * ({STAGES} + 1)
    rng = random.Random(1)
    dut.rst.value, dut.x.value = 1, 0
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for _ in range(400):
        x = rng.getrandbits(16)
        dut.x.value = x
        for k in range({STAGES}, 0, -1):
            before = x if k == 1 else model[k - 1]
            model[k] = (((before + k) & 0xFFFF) ^ (before >> 1)) & 0xFFFF
        await FallingEdge(dut.clk)
        assert dut.y.value == model[{STAGES}]
"""


def design() -> str:
    """Return a pipeline of about 200 lines."""
    lines = ["module chain (input clk, input rst, input [15:0] x, output [15:0] y);", "  wire [15:0] s0 = x;"]
    for k in range(1, STAGES + 1):
        lines += [
            f"  reg [15:0] s{k};",
            f"  wire [15:0] sum{k} = s{k - 1} + 16'd{k};",
            f"  wire [15:0] half{k} = s{k - 1} >> 1;",
            "  always @(posedge clk)",
            "    if (rst)",
            f"      s{k} <= 16'd0;",
            "    else",
            f"      s{k} <= sum{k} ^ half{k};",
        ]
    return "\n".join([*lines, f"  assign y = s{STAGES};", "endmodule", ""])


def main() -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    mutants = parser.parse_args().mutants
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "chain.v").write_text(design())
        (work / "tb.v").write_text(BENCH)
        (work / "blind.v").write_text(BLIND)
        (work / "test_chain.py").write_text(COCOTB)
        print(f"{len(design().splitlines())} lines, {mutants} mutants, load {os.getloadavg()[0]:.1f}")
        start = time.monotonic()
        subprocess.run(["iverilog", "-g2012", "-o", "tb.vvp", "chain.v", "tb.v"], cwd=work, check=True)
        subprocess.run(["vvp", "tb.vvp"], cwd=work, check=True, stdout=subprocess.DEVNULL)
        bare = time.monotonic() - start
        print(f"bare iverilog and vvp: {bare:.2f} s a run, {mutants * bare:.0f} s for all on one processor")
        for test in ("tb.v", "test_chain.py", "blind.v"):
            command = [
                sys.executable,
                "-c",
                "from rtlagent.cli import main; main()",
                "grade",
                "chain.v",
                "--tests",
                test,
                "--json",
            ]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            done = subprocess.run(
                [*command, "--mutants", str(mutants), "--jobs", "2"], cwd=work, check=True, capture_output=True
            )
            wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found = json.loads(done.stdout)
            told = f"{found['killed']} killed, {found['survived']} survived, {found['equivalent']} equivalent"
            load = os.getloadavg()[0]
            print(f"rtlagent grade, {test}: {wall:.1f} s, {cpu:.1f} cpu-s, load {load:.1f}")
            print(f"  {found['mutants']} mutants: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
