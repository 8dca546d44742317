"""`rtlagent lint | sim | synth | pnr`: what is printed where, and the exit code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rtlagent.cli import app

COUNTER = """module counter (input clk, input rst, input en, output reg [7:0] q);
  always @(posedge clk)
    if (rst) q <= 0;
    else if (en) q <= q + 1;
endmodule
"""
LATCH = """module latch (input en, input d, output reg q);
  always @* if (en) q = d;
endmodule
"""
WIDE = """module wide (input [7:0] a, output [3:0] q);
  assign q = a;
endmodule
"""
TEST = """import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge


@cocotb.test()
async def counts(dut):
    dut.rst.value = 1
    dut.en.value = 1
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for _ in range(2):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    for i in range(1, 20):
        await FallingEdge(dut.clk)
        assert dut.q.value == i, f"step {i}: q is {int(dut.q.value)}"
"""
TESTBENCH = """module tb;
  reg clk = 0, rst = 1;
  wire [7:0] q;
  counter dut (clk, rst, 1'b1, q);
  always #5 clk = ~clk;
  initial begin
    #12 rst = 0;
    #100 if (q == 10) $display("PASS"); else $error("q is %0d", q);
    $finish;
  end
endmodule
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "counter.v": COUNTER,
        "broken.v": COUNTER.replace("q + 1", "q + 1 + (q == 5)"),
        "latch.v": LATCH,
        "wide.v": WIDE,
        "bad.v": "module bad (input a; endmodule\n",
        "test_counter.py": TEST,
        "tb.sv": TESTBENCH,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.usefixtures("folder")
class TestLint:
    def test_a_clean_file_passes(self) -> None:
        result = call("lint", "counter.v")
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith("lint: PASS in ")
        assert result.stderr == ""

    def test_an_error_is_quoted_with_a_caret(self) -> None:
        result = call("lint", "bad.v")
        assert result.exit_code == 1
        assert result.stdout.splitlines()[:3] == [
            "bad.v:1:20: error: expected ')' [ExpectedToken]",
            "    1 | module bad (input a; endmodule",
            "      |                    ^",
        ]

    def test_strict_fails_on_warnings(self) -> None:
        relaxed, strict = call("lint", "wide.v"), call("lint", "wide.v", "--strict")
        assert (relaxed.exit_code, strict.exit_code) == (0, 1)
        assert "warning" in relaxed.stdout
        assert "lint: FAIL" in strict.stdout

    def test_policy_refuses_what_a_model_may_not_write(self, folder: Path) -> None:
        (folder / "shell.v").write_text('module shell; initial $system("id"); endmodule\n')
        result = call("lint", "shell.v", "--policy")
        assert result.exit_code == 1
        assert "POLICY_" in result.stdout

    def test_json_is_one_object_and_nothing_else(self) -> None:
        result = call("lint", "bad.v", "--json")
        answer = json.loads(result.stdout)
        assert (result.exit_code, answer["step"], answer["status"]) == (1, "lint", "FAIL")
        first = answer["diagnostics"][0]
        assert (first["path"], first["line"], first["column"], first["severity"]) == ("bad.v", 1, 20, "error")
        assert result.stderr == ""

    def test_json_tells_strict_apart(self) -> None:
        assert json.loads(call("lint", "wide.v", "--strict", "--json").stdout)["status"] == "FAIL"


@pytest.mark.usefixtures("folder")
class TestWrongInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("lint", "conter.v"), "error: conter.v: does not exist\n\nhint: did you mean counter.v?\n"),
            (("lint", "."), "error: .: is a folder, not a file\n"),
            (("lint", "counter.v", "counter.v"), "error: counter.v: is given twice\n"),
            (("lint", "binary.v"), "error: binary.v: is a binary file, not text\n"),
            (("lint", "latin.v"), "error: latin.v: is not UTF-8 text (line 2)\n\nhint: save it as UTF-8\n"),
            (("sim", "counter.v"), "error: there is no test to run\n\nhint: name one with --test T.py (cocotb)"),
            (("sim", "counter.v", "--tb", "test_counter.py"), "error: test_counter.py: is not this kind of test"),
            (("sim", "counter.v", "--tb", "tb.sv", "-P", "W"), "error: -P: not NAME=VALUE: 'W'"),
            (("sim", "counter.v", "--tb", "tb.sv", "-D", "1=2"), "error: -D: not NAME or NAME=VALUE: '1=2'"),
            (("sim", "counter.v", "--tb", "tb.sv", "--wave", "always"), "error: --wave always has nowhere"),
            (("synth", "counter.v", "latch.v"), "error: several modules could be the top: counter, latch\n"),
            (("synth", "empty.v"), "error: no module is instantiated by nobody\n"),
            (("equiv", "counter.v", "void"), "error: void: the folder has no Verilog file\n"),
        ],
    )
    def test_is_named_on_standard_error(self, folder: Path, arguments: tuple[str, ...], message: str) -> None:
        (folder / "binary.v").write_bytes(b"\x7fELF\0\xff")
        (folder / "latin.v").write_bytes("module a;\n// Gr\u00f6\u00dfe\n".encode("latin-1"))
        (folder / "empty.v").write_text("// nothing\n")
        (folder / "void").mkdir()
        result = call(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith(message)
        assert "Traceback" not in result.output

    @pytest.mark.parametrize(
        "arguments",
        [
            ("lint", "counter.v", "--langauge", "verilog"),
            ("lint", "counter.v", "--language", "vhdl"),
            ("synth", "counter.v", "--target", "nexus"),
            ("synth", "counter.v", "--max-luts", "-1"),
            ("pnr", "counter.v", "--target", "xc7"),
            ("pnr", "counter.v"),
            ("pnr", "counter.v", "--target", "ice40", "--freq", "fast"),
            ("sim", "counter.v", "--tb", "tb.sv", "--sandbox", "off"),
            ("equiv", "counter.v"),
            ("lint",),
        ],
    )
    def test_of_options_is_a_usage_error(self, arguments: tuple[str, ...]) -> None:
        result = call(*arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output

    def test_of_the_configuration_is_a_usage_error(self, folder: Path) -> None:
        (folder / "rtlagent.toml").write_text("[tools]\nsandbx = 'none'\n")
        result = call("lint", "counter.v")
        assert result.exit_code == 2
        assert "rtlagent.toml:2: unknown setting 'tools.sandbx'" in result.stderr
        assert "hint: did you mean 'sandbox'?" in result.stderr


@pytest.mark.usefixtures("folder")
class TestSim:
    def test_a_passing_cocotb_test(self) -> None:
        result = call("sim", "counter.v", "--test", "test_counter.py", "--seed", "7", "--simulator", "icarus")
        assert result.exit_code == 0, result.output
        head, row, summary = result.stdout.splitlines()
        assert head.split()[:3] == ["test", "result", "seed"]
        assert row.split()[:3] == ["test_counter.counts", "PASS", "7"]
        assert summary.startswith("simulate: PASS, 1 of 1 tests passed in ")

    def test_a_failing_one_keeps_its_waveform(self, folder: Path) -> None:
        result = call("sim", "broken.v", "-t", "test_counter.py", "--keep", "out", "--simulator", "icarus")
        assert result.exit_code == 1
        assert "step 6: q is 7" in result.stdout
        assert "waveform in out/test_counter.vcd" in result.stdout
        assert (folder / "out" / "test_counter.vcd").stat().st_size > 0
        assert (folder / "out" / "simulate.log").is_file()

    def test_a_failure_is_told_once(self, folder: Path) -> None:
        long = "a message of more than seventy characters, which has its own place below the table"
        (folder / "test_long.py").write_text(TEST.replace('f"step {i}: q is {int(dut.q.value)}"', f'"{long}"'))
        (folder / "test_import.py").write_text("import nothing_of_this_name\n")
        for test, text in (("test_counter.py", "step 6: q is 7"), ("test_long.py", long)):
            shown = call("sim", "broken.v", "-t", test, "--simulator", "icarus").stdout
            assert shown.count(text) == 1, shown
        shown = call("sim", "counter.v", "-t", "test_import.py", "--simulator", "icarus").stdout
        assert shown.count("No module named") == 1, shown
        assert "as above" in shown

    def test_without_keep_nothing_is_left_behind(self, folder: Path) -> None:
        before = sorted(p.name for p in folder.iterdir())
        result = call("sim", "broken.v", "-t", "test_counter.py", "--simulator", "icarus")
        assert result.exit_code == 1
        assert result.stderr == "hint: --keep DIR keeps the log and the waveform of a failure\n"
        assert sorted(p.name for p in folder.iterdir()) == before

    def test_a_testbench(self) -> None:
        assert call("sim", "counter.v", "--tb", "tb.sv", "--simulator", "icarus").exit_code == 0
        result = call("sim", "broken.v", "--tb", "tb.sv", "--simulator", "icarus", "--json")
        answer = json.loads(result.stdout)
        assert (result.exit_code, answer["status"], answer["tests"][0]["status"]) == (1, "FAIL", "FAIL")

    def test_memory_images_defines_and_parameters_reach_the_simulator(self, folder: Path) -> None:
        (folder / "rom.v").write_text(
            "module rom #(parameter A = 0) (output [7:0] q);\n  reg [7:0] mem [0:3];\n"
            '  initial $readmemh("rom.hex", mem);\n  assign q = mem[A] + `PLUS;\nendmodule\n'
        )
        (folder / "rom.hex").write_text("10\n20\n30\n40\n")
        (folder / "test_rom.py").write_text(
            "import cocotb\nfrom cocotb.triggers import Timer\n\n\n@cocotb.test()\nasync def reads(dut):\n"
            "    await Timer(1, 'ns')\n    assert dut.q.value == 0x35\n"
        )
        arguments = ("sim", "rom.v", "rom.hex", "-t", "test_rom.py", "-D", "PLUS=5", "--simulator", "icarus")
        assert call(*arguments, "-P", "A=2").exit_code == 0
        assert call(*arguments, "-P", "A=1").exit_code == 1

    def test_a_limit_has_its_own_exit_code(self, folder: Path) -> None:
        (folder / "rtlagent.toml").write_text("[tools.limits]\nwall_s = 2\n")
        (folder / "endless.sv").write_text("module endless; initial forever #0; endmodule\n")
        result = call("sim", "counter.v", "--tb", "endless.sv", "--simulator", "icarus")
        assert result.exit_code == 3
        assert "TIMEOUT" in result.stdout


@pytest.mark.usefixtures("folder")
class TestSynth:
    def test_counts_what_it_takes(self) -> None:
        result = call("synth", "counter.v", "--json")
        answer = json.loads(result.stdout)
        assert (result.exit_code, answer["metrics"]["ffs"], answer["metrics"]["fmax_mhz"]) == (0, 8, None)

    def test_a_limit_that_is_exceeded_fails(self) -> None:
        result = call("synth", "counter.v", "--max-ffs", "7", "--max-luts", "1000")
        assert result.exit_code == 1
        assert "counter.v:0:0: error: max_ffs: 8, limit 7 [UNMET]" in result.stdout
        assert "max_luts" not in result.stdout
        assert call("synth", "counter.v", "--max-ffs", "8").exit_code == 0

    def test_figures_are_told_once_with_or_without_limits(self) -> None:
        for limits in ((), ("--max-ffs", "8")):
            shown = call("synth", "counter.v", *limits).stdout
            assert len(re.findall(r"^(?:FFs|flip-flops)\b", shown, re.M)) == 1, shown
            assert len(re.findall(r"^LUTs\b", shown, re.M)) == 1, shown
            assert shown.startswith("target generic\n")
            assert "$_" in shown

    def test_keeps_the_netlist(self, folder: Path) -> None:
        assert call("synth", "counter.v", "--keep", "out").exit_code == 0
        assert json.loads((folder / "out" / "netlist.json").read_text())["modules"]


@pytest.mark.usefixtures("folder")
class TestEquiv:
    def test_the_same_function_written_otherwise_passes(self, folder: Path) -> None:
        (folder / "same.v").write_text(COUNTER.replace("q + 1", "1 + q"))
        result = call("equiv", "counter.v", "same.v")
        assert result.exit_code == 0, result.output
        assert "equiv: PASS" in result.stdout

    def test_a_difference_fails_with_its_inputs(self, folder: Path) -> None:
        result = call("equiv", "counter.v", "broken.v", "--reset", "rst", "--keep", "out")
        assert result.exit_code == 1
        assert "equiv: FAIL" in result.stdout
        assert "en" in result.stdout
        assert (folder / "out" / "counterexample.vcd").is_file()

    def test_a_difference_beyond_the_depth_is_unproven_and_no_pass(self, folder: Path) -> None:
        text = COUNTER.replace("[7:0] q", "[7:0] q, output reg [31:0] n").replace(
            "q <= 0;", "begin q <= 0; n <= 0; end"
        )
        first = text.replace("q <= q + 1;", "begin q <= q + 1; n <= n + 1; end")
        (folder / "first.v").write_text(first)
        (folder / "second.v").write_text(first.replace("q + 1;", "q + 1 + (n == 32'd4000000000);"))
        (folder / "rtlagent.toml").write_text("[tools.limits]\nwall_s = 6\n")
        result = call("equiv", "first.v", "second.v", "--depth", "3", "--json")
        assert (result.exit_code, json.loads(result.stdout)["status"]) == (1, "UNPROVEN")

    def test_folders_are_compared_as_a_whole(self, folder: Path) -> None:
        for name in ("old", "new"):
            (folder / name / "deep").mkdir(parents=True)
            (folder / name / "deep" / "counter.v").write_text(COUNTER)
            (folder / name / "top.v").write_text(
                "module top (input clk, input rst, output [7:0] q); counter c (clk, rst, 1'b1, q); endmodule\n"
            )
        assert call("equiv", "old", "new").exit_code == 0


@pytest.mark.usefixtures("folder")
class TestTop:
    def test_is_the_module_that_nobody_instantiates(self, folder: Path) -> None:
        (folder / "top.v").write_text(
            "`ifdef NEVER\nmodule other; endmodule\n`endif\n"
            "module top (input clk, output [7:0] q); counter c (clk, 1'b0, 1'b1, q); endmodule\n"
        )
        result = call("synth", "counter.v", "top.v", "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["metrics"]["ffs"] == 8

    def test_of_a_design_with_errors_does_not_hide_them(self) -> None:
        result = call("synth", "bad.v")
        assert result.exit_code == 1
        assert "bad.v:1:" in result.stdout


def test_pnr_finds_a_frequency_and_misses_one(folder: Path) -> None:
    result = call("pnr", "counter.v", "--target", "ice40", "--freq", "100", "--json")
    assert result.exit_code == 0, result.output
    fmax = json.loads(result.stdout)["metrics"]["fmax_mhz"]
    assert fmax > 100
    missed = call("pnr", str(folder / "counter.v"), "--target", "ice40", "--freq", "3000")
    assert missed.exit_code == 1
    assert "(min. 3000 MHz)" in missed.stdout


@pytest.mark.usefixtures("folder")
def test_verilator_has_one_version_everywhere() -> None:
    doctor = {t["name"]: t["version"] for t in json.loads(call("doctor", "--json").stdout)["tools"]}
    lint = json.loads(call("lint", "counter.v", "--json").stdout)["tool_version"]
    sim = json.loads(call("sim", "counter.v", "--tb", "tb.sv", "--simulator", "verilator", "--json").stdout)
    shown = f"verilator {doctor['verilator']}"
    assert lint.endswith(shown)
    assert sim["tool_version"] == shown
