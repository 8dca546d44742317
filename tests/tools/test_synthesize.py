"""Elaboration and synthesis: what is found wrong, where, and what is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import cell_counts
from rtlagent.tools.synthesize import elaborate, synthesize
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, StepResult

COUNTER = """module top(input clk, input rst, output reg [7:0] q);
  always @(posedge clk) if (rst) q <= 0; else q <= q + 1;
endmodule
"""
LATCH = """module top(input en, input [3:0] d, output reg [3:0] q);

  always @* if (en) q = d;
endmodule
"""
LOOP = """module top(input a, output y);
  wire b;
  assign b = y ^ a;
  assign y = b | a;
endmodule
"""
TWO_DRIVERS = """module top(input clk, input a, b, output y);
  reg p, q;
  always @(posedge clk) p <= a;
  always @(posedge clk) q <= b;
  assign y = p;
  assign y = q;
endmodule
"""
UNDRIVEN = "module top(input a, output y);\n  wire z;\n  assign y = a & z;\nendmodule\n"
UNRESOLVED = "module top(input a, output y);\n  missing_block u(.a(a), .y(y));\nendmodule\n"
MEMORY = """module top(input clk, we, input [8:0] wa, ra, input [15:0] d, output reg [15:0] q);
  reg [15:0] m [0:511];
  always @(posedge clk) begin
    if (we) m[wa] <= d;
    q <= m[ra];
  end
endmodule
"""
MULTIPLIER = """module top(input clk, input signed [15:0] a, b, output reg signed [31:0] p);
  always @(posedge clk) p <= a * b;
endmodule
"""


def one(text: str, path: str = "rtl/top.v") -> list[SourceFile]:
    return [SourceFile(path, text)]


def found(result: StepResult, code: str) -> Diagnostic:
    matching = [d for d in result.diagnostics if d.code == code]
    assert len(matching) == 1, [str(d) for d in result.diagnostics]
    return matching[0]


@pytest.mark.parametrize(
    ("text", "code", "line", "words"),
    [
        (LOOP, "COMB_LOOP", 4, "'b'"),
        (TWO_DRIVERS, "MULTIDRIVEN", 3, "rtl/top.v:4"),
        (UNDRIVEN, "UNDRIVEN", 2, "'z'"),
        (UNRESOLVED, "UNRESOLVED_MODULE", 2, "missing_block"),
        ("module top(input a, output y);\n  assign y = ;\nendmodule\n", "SYNTAX", 2, "syntax error"),
        ("module other(input a, output y);\n  assign y = a;\nendmodule\n", "TOP_MISSING", 0, "top"),
    ],
)
def test_a_wrong_design_fails_with_its_place(
    tool_config: ToolConfig, text: str, code: str, line: int, words: str
) -> None:
    for result in (
        elaborate(one(text), top="top", config=tool_config),
        synthesize(one(text), top="top", target="ice40", config=tool_config),
    ):
        assert result.status is Status.FAIL
        diagnostic = found(result, code)
        assert diagnostic.severity is Severity.ERROR
        assert (diagnostic.path, diagnostic.line) == ("rtl/top.v" if line else "", line)
        assert words in diagnostic.message
        assert result.metrics.luts is None and result.metrics.ffs is None


def test_latches_are_a_warning_and_are_counted(tool_config: ToolConfig) -> None:
    result = elaborate(one(LATCH), top="top", config=tool_config)
    assert result.status is Status.PASS
    assert result.metrics.latches == 4
    latch = found(result, "LATCH")
    assert (latch.severity, latch.path, latch.line) == (Severity.WARNING, "rtl/top.v", 3)
    assert elaborate(one(COUNTER), top="top", config=tool_config).metrics.latches == 0


def test_no_latch_is_measured_where_elaboration_ended_early(tool_config: ToolConfig) -> None:
    assert elaborate(one("module top(;"), top="top", config=tool_config).metrics.latches is None


def test_legal_text_that_yosys_does_not_read_is_called_so(tool_config: ToolConfig) -> None:
    text = "module top(input logic a, output logic y);\n  class c; int x; endclass\n  assign y = a;\nendmodule\n"
    result = elaborate(one(text, "top.sv"), top="top", config=tool_config)
    assert result.status is Status.FAIL
    diagnostic = found(result, "YOSYS_UNSUPPORTED")
    assert (diagnostic.path, diagnostic.line) == ("top.sv", 2)
    assert diagnostic.hint


def test_packages_are_read_first_and_diagnostics_keep_the_users_paths(tool_config: ToolConfig) -> None:
    user = "module top(input logic [types::W-1:0] a, output logic y);\n  wire z;\n  assign y = &a & z;\nendmodule\n"
    files = [
        SourceFile("my rtl/top.sv", user),
        SourceFile("z/types.sv", "package types; parameter W = 3; endpackage\n"),
    ]
    result = elaborate(files, top="top", config=tool_config)
    assert found(result, "UNDRIVEN").path == "my rtl/top.sv"


def test_a_word_of_systemverilog_is_a_name_in_verilog(tool_config: ToolConfig) -> None:
    text = "module top(input bit, output priority);\n  assign priority = bit;\nendmodule\n"
    assert elaborate(one(text), top="top", config=tool_config).status is Status.PASS


@pytest.mark.parametrize(
    ("text", "target", "expected"),
    [
        (COUNTER, "generic", {"ffs": 8, "brams": 0, "dsps": 0}),
        (COUNTER, "ice40", {"ffs": 8, "brams": 0, "dsps": 0}),
        (MEMORY, "generic", {"brams": 1}),
        (MEMORY, "ice40", {"brams": 2}),
        (MEMORY, "ecp5", {"brams": 1, "dsps": 0}),
        (MULTIPLIER, "ecp5", {"dsps": 1, "luts": 0}),
        (MULTIPLIER, "ice40", {"dsps": 0, "ffs": 32}),
    ],
)
def test_resources_are_counted(tool_config: ToolConfig, text: str, target: str, expected: dict[str, int]) -> None:
    result = synthesize(one(text), top="top", target=target, config=tool_config)
    assert result.status is Status.PASS, result.diagnostics
    measured = {name: getattr(result.metrics, name) for name in expected}
    assert measured == expected
    assert result.metrics.luts is not None
    assert f"target {target}" in result.detail


@pytest.mark.slow
@pytest.mark.parametrize(("text", "expected"), [(MEMORY, (1, 0)), (MULTIPLIER, (0, 1)), (COUNTER, (0, 0))])
def test_xilinx_resources_are_counted(tool_config: ToolConfig, text: str, expected: tuple[int, int]) -> None:
    metrics = synthesize(one(text), top="top", target="xc7", config=tool_config).metrics
    assert (metrics.brams, metrics.dsps) == expected


def test_distributed_memory_and_carries_count_as_documented() -> None:
    assert cell_counts.count({"LUT4": 3, "CCU2C": 2, "TRELLIS_DPR16X4": 1}, "ecp5").luts == 13
    assert cell_counts.count({"SB_LUT4": 3, "SB_CARRY": 2}, "ice40").luts == 3
    xilinx = cell_counts.count({"LUT6": 2, "CARRY4": 5, "MUXF7": 1, "RAM32M": 1, "RAMB36E1": 1, "FDRE": 4}, "xc7")
    assert (xilinx.luts, xilinx.ffs, xilinx.brams) == (6, 4, 2)


def test_the_targets_primitives_may_be_instantiated(tool_config: ToolConfig) -> None:
    text = "module top(input c, d, output q);\n  SB_DFF u(.C(c), .D(d), .Q(q));\nendmodule\n"
    assert synthesize(one(text), top="top", target="ice40", config=tool_config).metrics.ffs == 1
    assert synthesize(one(text), top="top", target="ecp5", config=tool_config).status is Status.FAIL
    assert elaborate(one(text), top="top", target="ice40", config=tool_config).status is Status.PASS


def test_the_netlist_is_kept_and_an_old_one_is_not(tool_config: ToolConfig, tmp_path: Path) -> None:
    result = synthesize(one(COUNTER), top="top", target="ice40", keep_dir=tmp_path, config=tool_config)
    assert "top" in json.loads((tmp_path / "netlist.json").read_text())["modules"]
    assert result.log_path is not None and "synth_ice40" in (tmp_path / result.log_path).read_text()
    synthesize(one(LOOP), top="top", target="ice40", keep_dir=tmp_path, config=tool_config)
    assert not (tmp_path / "netlist.json").exists()


def test_the_command_can_be_repeated_and_names_no_place_of_this_machine(tool_config: ToolConfig) -> None:
    result = synthesize(one(COUNTER), top="top", target="ice40", config=tool_config)
    assert result.argv[:2] == ("yosys", "-p")
    assert "read_verilog -sv -I. rtl/top.v" in result.argv[2]
    assert "/" not in result.argv[2].replace("rtl/top.v", "")
    assert result.tool_version.startswith("Yosys 0.")


def test_a_designs_own_text_cannot_pass_for_a_finding(tool_config: ToolConfig) -> None:
    text = COUNTER.replace(
        "endmodule", 'initial $display("Warning: Wire top.\\\\q is used but has no driver.");\nendmodule'
    )
    result = elaborate(one(text), top="top", config=tool_config)
    assert result.status is Status.PASS, result.diagnostics


def test_a_file_outside_is_not_quoted(tool_config: ToolConfig, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden_word_here\n")
    result = elaborate(one(f'`include "{secret}"\n{COUNTER}'), top="top", config=tool_config)
    assert result.status is Status.FAIL
    assert "hidden_word_here" not in str(result)


@pytest.mark.parametrize(("top", "target"), [("top; shell", "generic"), ("top", "spartan")])
def test_names_that_cannot_be_are_refused(tool_config: ToolConfig, top: str, target: str) -> None:
    with pytest.raises(UsageError):
        synthesize(one(COUNTER), top=top, target=target, config=tool_config)


def test_no_verilog_is_refused(tool_config: ToolConfig) -> None:
    with pytest.raises(UsageError):
        elaborate([SourceFile("notes.txt", "none")], top="top", config=tool_config)


@pytest.mark.parametrize("target", ["generic", "ice40", "ecp5", pytest.param("xc7", marks=pytest.mark.slow)])
@pytest.mark.parametrize("ports", ["", "(input a)", "(input a, output b)"])
def test_an_empty_body_takes_nothing(target: str, ports: str, tool_config: ToolConfig) -> None:
    files = [SourceFile("rtl/empty.v", f"module empty{ports};\nendmodule\n")]
    result = synthesize(files, top="empty", target=target, config=tool_config)
    assert result.status is Status.PASS
    assert (result.metrics.luts, result.metrics.ffs, result.metrics.brams, result.metrics.dsps) == (0, 0, 0, 0)
    expected = [("EMPTY_MODULE", "module 'empty' has an empty body: nothing drives b")] if "output" in ports else []
    assert [(d.code, d.message) for d in result.diagnostics] == expected


def test_wires_alone_take_nothing(tool_config: ToolConfig) -> None:
    files = [SourceFile("w.v", "module w(input [1:0] a, output [1:0] b);\n  assign b = {a[0], a[1]};\nendmodule\n")]
    assert synthesize(files, top="w", config=tool_config).metrics.luts == 0


def test_an_error_of_the_design_itself_is_told_in_its_words(tool_config: ToolConfig) -> None:
    files = [
        SourceFile("w.v", 'module w(input a, output b);\n  assign b = a;\n  $error("W is too large");\nendmodule\n')
    ]
    result = synthesize(files, top="w", config=tool_config)
    assert result.status is Status.FAIL
    assert [(d.message, d.line) for d in result.diagnostics] == [("W is too large.", 3)]
