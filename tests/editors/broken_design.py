"""A design with many faults of many kinds, and what the tools print about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-c", "from rtlagent.cli import main; main()"]
FAULTS = """`default_nettype none
module faults #(parameter W = 8) (input clk, input rst, input [W-1:0] d, output reg [3:0] q, output y, output z);
  wire [7:0] never;
  reg [7:0] wide;
  reg latched;
  wire unused_here;
  always @(posedge clk) q <= wide;
  always @(negedge clk) q <= d[12:9];
  always @* if (rst) latched = d[0];
  always @* case (d[1:0]) 2'd0: wide = 8'd1; 2'd1: wide = never; endcase
  assign y = d[0] ^ latched;
  assign z = d[31];
  sub u0 (.a(d), .nothing(1'b0));
  missing_module u1 (.clk(clk));
endmodule
module sub(input [3:0] a, input b, output c); assign c = a == 4'd3 & b; endmodule
"""
NAMES = f"module names(output [29:0] y);\n{''.join(f'  assign y[{n}] = u{n};{chr(10)}' for n in range(30))}endmodule\n"
SYNTAX = "module syntax(input a, output b)\n  assign b = a;\nendmodule\n"
LOOP = "module loops(input a, output b);\n  wire c;\n  assign c = a & b;\n  assign b = c | a;\nendmodule\n"


def lay_out(folder: Path) -> None:
    """Write the files, one of them below a folder with a blank and brackets in its name."""
    (folder / "rtl").mkdir()
    (folder / "odd [x] name").mkdir()
    (folder / "rtl/faults.v").write_text(FAULTS)
    (folder / "odd [x] name/syn tax.v").write_text(SYNTAX)
    (folder / "rtl/names.v").write_text(NAMES)
    (folder / "rtl/loops.v").write_text(LOOP)


CALLS = (
    ("lint", "rtl/faults.v"),
    ("lint", "rtl/names.v"),
    ("lint", "odd [x] name/syn tax.v"),
    ("synth", "rtl/loops.v"),
    ("synth", "rtl/loops.v", "--max-luts", "0"),
    ("lint", "rtl/faults.v", "--policy", "--language", "verilog"),
)


def printed(folder: Path) -> tuple[str, list[dict[str, object]]]:
    """Return all that the tools print for people, and every diagnostic that they give as data."""
    text, diagnostics = "", []
    for call in CALLS:
        shown = subprocess.run([*COMMAND, *call], cwd=folder, capture_output=True, text=True, check=False)
        assert shown.returncode == 1, shown.stderr
        text += shown.stdout
        data = subprocess.run([*COMMAND, *call, "--json"], cwd=folder, capture_output=True, text=True, check=False)
        diagnostics += json.loads(data.stdout)["diagnostics"]
    return text, diagnostics
