"""Small problems of our own in the layouts of the public suites."""

from __future__ import annotations

import json
from pathlib import Path

PROMPT = "Implement a module TopModule with an input a (4 bits) and an output y (4 bits): y is a plus 3, modulo 16.\n"
REFERENCE = "module RefModule(input [3:0] a, output [3:0] y);\n  assign y = a + 4'd3;\nendmodule\n"
GOOD = "module TopModule(input [3:0] a, output [3:0] y);\n  assign y = a + 4'd3;\nendmodule\n"
WRONG = "module TopModule(input [3:0] a, output [3:0] y);\n  assign y = a + 4'd2;\nendmodule\n"
MISMATCH_BENCH = """`timescale 1ps/1ps
`define ROUNDS 40
module stimulus(input clk, output reg [3:0] a);
  task pause; #1; endtask
  initial begin : drive
    a = 0;
    repeat (`ROUNDS) @(posedge clk) a <= $random;
    pause;
    #1 $finish;
  end
endmodule
module tb;
  typedef struct packed { int errors; int clocks; } stats_t;
  stats_t stats;
  reg clk = 0;
  initial forever #5 clk = ~clk;
  wire [3:0] a, y_ref, y_dut;
  stimulus stim(.clk, .a);
  RefModule good(.a, .y(y_ref));
  TopModule dut(.a, .y(y_dut));
  final begin
    if (stats.errors) $display("Hint: Output 'y' has %0d mismatches.", stats.errors);
    else $display("Hint: Output 'y' has no mismatches.");
    $display("Mismatches: %1d in %1d samples", stats.errors, stats.clocks);
  end
  always @(negedge clk) begin
    stats.clocks++;
    if (y_ref !== y_dut) stats.errors++;
  end
  initial begin
    #100000 $display("TIMEOUT");
    $finish();
  end
endmodule
"""
PRINTING_BENCH = """`timescale 1ns/1ns
module plus3_tb;
  reg [3:0] a; wire [3:0] y;
  reg [3:0] expected [0:15];
  integer i, error = 0;
  plus3 uut(.a(a), .y(y));
  initial begin
    $readmemh("expected.dat", expected);
    for (i = 0; i < 16; i = i + 1) begin
      a = i; #5;
      error = (y !== expected[i]) ? error + 1 : error;
    end
    if (error == 0) $display("===========Your Design Passed===========");
    else $display("===========Test completed with %d /16 failures===========", error);
    $finish;
  end
endmodule
"""


def write_v2(
    folder: Path, name: str = "Prob001_plus3", bench: str = MISMATCH_BENCH, reference: str = REFERENCE
) -> Path:
    """Write a problem as VerilogEval 2 lays it out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}_prompt.txt").write_text(PROMPT)
    (folder / f"{name}_test.sv").write_text(bench)
    (folder / f"{name}_ref.sv").write_text(reference)
    return folder


def write_v1(folder: Path) -> Path:
    """Write two problems as VerilogEval 1 has them."""
    folder.mkdir(parents=True, exist_ok=True)
    test = MISMATCH_BENCH.replace("TopModule", "top_module") + REFERENCE
    header = "module top_module(\n  input [3:0] a,\n  output [3:0] y);\n"
    rows = [
        {"task_id": n, "prompt": header, "canonical_solution": "  assign y = a + 4'd3;\nendmodule\n", "test": test}
        for n in ("plus3", "add_three")
    ]
    (folder / "VerilogEval_Human.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    described = [{"task_id": r["task_id"], "detail_description": f"Add three ({r['task_id']})."} for r in rows]
    (folder / "VerilogDescription_Human.jsonl").write_text("".join(json.dumps(r) + "\n" for r in described))
    return folder


def write_rtllm(
    folder: Path, name: str = "plus3", category: str = "Arithmetic/Adder", bench: str = PRINTING_BENCH
) -> Path:
    """Write a problem as RTLLM lays it out, its golden under the name verified_plus3."""
    place = folder / category / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "design_description.txt").write_text("Please add three.\n\nModule name:\n    plus3\n")
    (place / "testbench.v").write_text(bench)
    (place / "expected.dat").write_text("\n".join(f"{(i + 3) % 16:x}" for i in range(16)) + "\n")
    golden = "module verified_plus3(input [3:0] a, output [3:0] y);\n  assign y = a + 3;\nendmodule\n"
    (place / "verified_plus3.v").write_text(golden)
    (place / "makefile").write_text("sim:\n\ttrue\n")
    return folder
