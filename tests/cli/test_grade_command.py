"""`rtlagent grade`: tests measured by the wrong designs that they catch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rtlagent.cli import app

GATES = """module gates (
  input [3:0] a,
  input [3:0] b,
  output [3:0] q,
  output z
);
  assign q = a & b;
  assign z = q == 4'd0;
endmodule
"""
FULL = """module tb;
  reg [3:0] a, b;
  wire [3:0] q;
  wire z;
  integer i, j, wrong;
  gates dut (.a(a), .b(b), .q(q), .z(z));
  initial begin
    wrong = 0;
    for (i = 0; i < 16; i = i + 1)
      for (j = 0; j < 16; j = j + 1) begin
        a = i; b = j;
        #1 if (q !== (a & b) || z !== ((a & b) == 0)) wrong = wrong + 1;
      end
    if (wrong == 0) $display("PASS"); else $display("FAIL: %0d wrong", wrong);
    $finish;
  end
endmodule
"""
BLIND = FULL.replace(" || z !== ((a & b) == 0)", "")
COCOTB = """import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def all_values(dut):
    for a in range(16):
        for b in range(16):
            dut.a.value, dut.b.value = a, b
            await Timer(1, "ns")
            assert dut.q.value == a & b
            assert dut.z.value == (a & b == 0)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("gates.v").write_text(GATES)
    Path("full.v").write_text(FULL)
    Path("blind.v").write_text(BLIND)
    Path("test_gates.py").write_text(COCOTB)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["grade", *words])


def test_full_tests_kill_everything(folder: Path) -> None:
    result = run("gates.v", "--tests", "full.v", "--min", "1", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["killed"] == found["mutants"] - found["equivalent"] - found["not_built"] >= 8
    assert found["score"] == 1.0
    assert found["grade"] == "strong"
    assert found["survived"] == found["broken"] == 0


def test_survivors_are_shown_where_they_were_made(folder: Path) -> None:
    result = run("gates.v", "--tests", "blind.v", "--min", "0.95")
    assert result.exit_code == 1, result.output
    assert "--- gates.v\n+++ gates.v (" in result.stdout
    assert "-  assign z = q == 4'd0;" in result.stdout
    assert "+  assign z = q != 4'd0;" in result.stdout
    assert "and --min wants 95.0%" in result.stderr
    assert run("gates.v", "--tests", "blind.v").exit_code == 0


def test_cocotb_and_folders(folder: Path) -> None:
    (folder / "tests").mkdir()
    (folder / "test_gates.py").rename(folder / "tests/test_gates.py")
    result = run("gates.v", "--tests", "tests", "--mutants", "4", "--min", "1")
    assert result.exit_code == 0, result.output
    assert "4 mutants of gates" in result.stdout


def test_a_design_that_fails_its_tests_is_not_graded(folder: Path) -> None:
    Path("gates.v").write_text(GATES.replace("a & b", "a | b"))
    result = run("gates.v", "--tests", "full.v")
    assert result.exit_code == 1
    assert "the design itself does not pass these tests" in result.stderr
    assert "score" not in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gates.v",), "there is no test to grade"),
        (("gates.v", "--tests", "notes.txt"), "is not a test"),
        (("gates.v", "--tests", "nothing.py"), "nothing.py"),
        (("none.v", "--tests", "full.v"), "none.v"),
        (("empty.v", "--tests", "full.v"), "hint: "),
        (("gates.v", "--tests", "full.v", "--top", "other"), "other"),
        (("gates.v", "--tests", "full.v", "--min", "2"), "--min"),
    ],
)
def test_wrong_input(folder: Path, words: tuple[str, ...], said: str) -> None:
    Path("notes.txt").write_text("hello")
    Path("empty.v").write_text("")
    result = run(*words)
    assert result.exit_code in (1, 2), result.output
    assert said in result.output
    assert "Traceback" not in result.output


def test_nothing_to_change(folder: Path) -> None:
    Path("wire.v").write_text("module through (input a, output q);\n  assign q = a;\nendmodule\n")
    bench = """module tb;
      reg a = 0; wire q;
      through dut (a, q);
      initial begin #1 if (q === a) $display("PASS"); else $display("FAIL"); $finish; end
    endmodule
    """
    Path("tb.v").write_text(bench)
    result = run("wire.v", "--tests", "tb.v", "--min", "0.5")
    # A stuck output or two may be made; with nothing counted, --min cannot be met.
    assert result.exit_code in (0, 1)
    assert "score: " in result.stdout


def test_no_place_to_change(folder: Path) -> None:
    Path("plain.v").write_text("module plain (input a, output q);\n  buf (q, a);\nendmodule\n")
    Path("tb.v").write_text(
        """module tb;
  reg a = 0; wire q;
  plain dut (a, q);
  initial begin #1 if (q === a) $display("PASS"); else $display("FAIL"); $finish; end
endmodule
"""
    )
    result = run("plain.v", "--tests", "tb.v")
    assert result.exit_code == 0, result.output
    assert "0 mutants of plain" in result.stdout
    assert "score: unknown: none (no mutant could be judged)" in result.stdout
    result = run("plain.v", "--tests", "tb.v", "--min", "0")
    assert result.exit_code == 1
    assert "nothing could be counted, and --min wants 0.0%" in result.stderr


def test_equivalent_mutants_are_not_counted(folder: Path) -> None:
    # The second operand of || never decides: without it, it is the same design.
    Path("gates.v").write_text(GATES.replace("q == 4'd0", "q == 4'd0 || (q == 4'd0 && a == b)"))
    found = json.loads(run("gates.v", "--tests", "full.v", "--json").stdout)
    assert found["equivalent"] >= 2
    assert found["undecided"] == 0
    assert found["killed"] + found["survived"] + found["equivalent"] + found["not_built"] == found["mutants"]
    assert found["score"] == 1.0


@pytest.mark.parametrize(
    ("name", "test", "code", "said"),
    [
        (
            "test_forged.py",
            "import os, pathlib\npathlib.Path('results.xml').write_text('<testsuites/>')\nos._exit(0)\n",
            4,
            "the simulator ended before cocotb did",
        ),
        ("test_syntax.py", "def (:\n", 1, "SyntaxError"),
        ("test_none.py", "import cocotb\n", 1, "holds no test"),
        ("silent.v", "module silent; gates dut (); endmodule\n", 1, "UNPROVEN"),
        ("hangs.v", "module hangs; gates dut (); initial forever #1; endmodule\n", 3, "cpu limit of 2 s"),
    ],
)
def test_tests_that_cannot_grade(
    name: str, test: str, code: int, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RTLAGENT_LIMIT_CPU_S", "2")
    Path(name).write_text(test)
    result = run("gates.v", "--tests", name, "--mutants", "2")
    assert result.exit_code == code, result.output
    assert said in result.output
    assert "score" not in result.stdout and "Traceback (most recent" not in result.stderr


def test_bytes_that_are_no_text(folder: Path) -> None:
    Path("gates.v").write_bytes(b"\xff\xfe\x00module")
    result = run("gates.v", "--tests", "full.v")
    assert result.exit_code == 2
    assert "gates.v" in result.stderr and "Traceback" not in result.output


@pytest.mark.slow
def test_a_mutant_that_never_ends_is_killed(folder: Path) -> None:
    Path("wait.v").write_text(
        """module waits (input clk, input go, output reg done);
  always @(posedge clk) done <= go;
endmodule
"""
    )
    Path("tb.v").write_text(
        """module tb;
  reg clk = 0, go = 1; wire done;
  waits dut (clk, go, done);
  always #5 clk = ~clk;
  initial begin while (done !== 1) @(negedge clk); $display("PASS"); $finish; end
endmodule
"""
    )
    found = json.loads(run("wait.v", "--tests", "tb.v", "--json").stdout)
    assert found["mutants"] >= 1
    assert found["killed"] == found["mutants"]


@pytest.mark.slow
def test_verilator_can_be_asked_for(folder: Path) -> None:
    result = run("gates.v", "--tests", "full.v", "--mutants", "2", "--simulator", "verilator", "--min", "1")
    assert result.exit_code == 0, result.output
