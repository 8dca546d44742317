"""The rules for model-written RTL: each must catch its attack, also behind a macro, and leave honest RTL alone."""

from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.tools.lint import lint
from rtlagent.types import Severity, SourceFile, Status, StepResult

TABLE = SourceFile("data/table.hex", "1 2 3 4\n")


def module(body: str, before: str = "") -> str:
    return (
        f"{before}module m(input wire clk, input wire [3:0] a, input wire s, output reg [3:0] q);\n"
        f"{body}\nalways @(posedge clk) q <= s ? a : q;\nendmodule\n"
    )


def judged(text: str, config: ToolConfig, **options: object) -> StepResult:
    files = [SourceFile("m.sv", text), TABLE]
    return lint(files, top="m", policy=True, config=config, **options)  # type: ignore[arg-type]


HEADER = "module n #(parameter P = 1)(input wire i); wire y; assign y = i; endmodule\n"
SYSTEM, FORCE, REACH = "POLICY_SYSTEM_TASK", "POLICY_FORCE", "POLICY_HIERARCHICAL_REFERENCE"
MISMATCH, TESTBENCH, DIRECTIVE = "POLICY_SIM_SYNTH_MISMATCH", "POLICY_TESTBENCH", "POLICY_DIRECTIVE"
ATTACKS = {
    "finish": (module("initial $finish;"), SYSTEM),
    "stop in a task": (module("task t; begin $stop; end endtask"), SYSTEM),
    "display": (module('always @(posedge clk) $display("PASS");'), SYSTEM),
    "fopen": (module('integer f; initial f = $fopen("/etc/x");'), SYSTEM),
    "fwrite": (module('always @(posedge clk) $fwrite(1, "PASS");'), SYSTEM),
    "system": (module('initial $system("id");'), SYSTEM),
    "c": (module('always @(posedge clk) $c("exit(0);");'), SYSTEM),
    "random": (module("wire [31:0] r; assign r = $urandom;"), SYSTEM),
    "time": (module("wire [63:0] t; assign t = $time;"), SYSTEM),
    "plusargs": (module('wire t; assign t = $test$plusargs("x");'), SYSTEM),
    "elaboration error": (module('generate if (1) $error("x"); endgenerate'), SYSTEM),
    "macro argument": (module('initial `D(display)("a");', "`define D(x) $x\n"), SYSTEM),
    "pasted macro": (module("initial `D(fini);", "`define D(x) $``x``sh\n"), SYSTEM),
    "left out text": (module("`ifdef FOO\ninitial $finish;\n`endif"), SYSTEM),
    "text left out twice": (module("`ifdef FOO\n`ifdef BAR\ninitial $finish;\n`endif\n`endif"), SYSTEM),
    "readmem outside": (module('reg [3:0] r[0:3]; initial $readmemh("/etc/passwd", r);'), "POLICY_READMEM"),
    "readmem upwards": (module('reg [3:0] r[0:3]; initial $readmemh("../t.hex", r);'), "POLICY_READMEM"),
    "readmem unknown": (module('reg [3:0] r[0:3]; initial $readmemh("t.hex", r);'), "POLICY_READMEM"),
    "readmem of nothing": (module("initial $readmemh;"), "POLICY_READMEM"),
    "readmem computed": (
        module('localparam F = "data/table.hex"; reg [3:0] r[0:3]; initial $readmemh(F, r);'),
        "POLICY_READMEM",
    ),
    "dpi": (module('import "DPI-C" function void f();'), "POLICY_DPI"),
    "bind": (module("") + "module n; endmodule\nbind m n u();\n", "POLICY_BIND"),
    "force": (module("initial force q = 1;"), FORCE),
    "release": (module("initial release q;"), FORCE),
    "procedural assign": (module("always @* assign q = a;"), FORCE),
    "own module's name": (module("wire x; assign x = m.s;"), REACH),
    "testbench": (module("wire x; assign x = tb.dut.s;"), REACH),
    "testbench indexed": (module("wire x; assign x = tb[0].s;"), REACH),
    "into an instance": (HEADER + module("wire x; n u(.i(s)); assign x = u.y;"), REACH),
    "write into an instance": (HEADER + module("n u(.i(s)); always @* u.y = 1;"), REACH),
    "root": (module("wire x; assign x = $root.m.s;"), REACH),
    "unit": (module("wire x; assign x = $unit::s;"), REACH),
    "defparam": (HEADER + module("n u(.i(s)); defparam u.P = 2;"), REACH),
    "event of the testbench": (module("reg z; always @(tb.clk) z <= s;"), REACH),
    "include upwards": (module("", '`include "../x.vh"\n'), "POLICY_INCLUDE"),
    "include absolute": (module("", '`include "/work/data/table.hex"\n'), "POLICY_INCLUDE"),
    "include by macro": (module("", '`define F "data/table.hex"\n`include `F\n'), "POLICY_INCLUDE"),
    "metacomment": (module("/*verilator lint_off WIDTH*/"), "POLICY_METACOMMENT"),
    "metacomment in a line": (module("// verilator tracing_off"), "POLICY_METACOMMENT"),
    "metacomment with more": (module("// verilator lint_off DECLFILENAME WIDTH"), "POLICY_METACOMMENT"),
    "metacomment in two lines": (module("/* verilator lint_off DECLFILENAME\nWIDTH */"), "POLICY_METACOMMENT"),
    "translate_off": (module("// synthesis translate_off\nwire t;\n// synthesis translate_on"), MISMATCH),
    "translate_off synopsys": (module("/* synopsys translate_off */ wire t; /* synopsys translate_on */"), MISMATCH),
    "full_case comment": (module("reg x; always @* case (a) // synopsys full_case\n0: x = 1; endcase"), MISMATCH),
    "SYNTHESIS": (module("`ifdef SYNTHESIS\nwire t;\n`endif"), MISMATCH),
    "not Icarus": (module("`ifndef __ICARUS__\nwire t;\n`endif"), MISMATCH),
    "VERILATOR": (module("`ifdef X\n`elsif VERILATOR\nwire t;\n`endif"), MISMATCH),
    "COCOTB_SIM": (module("`ifdef COCOTB_SIM\nwire t;\n`endif"), MISMATCH),
    "condition defined by itself": (module("`define VERILATOR\n`ifdef VERILATOR\nwire t;\n`endif"), MISMATCH),
    "verilator_config": (module("", "`verilator_config\nlint_off\n`verilog\n"), DIRECTIVE),
    "systemc": (module("`systemc_header\n#include <x>\n`verilog"), DIRECTIVE),
    "line": (module('`line 1 "x.v" 0'), DIRECTIVE),
    "directive from parts": (module("`D(if)", "`define D(x) `x``def SYNTHESIS\n"), DIRECTIVE),
    "quote trick": (module("", '`define Q(x) `\\`"x`\\`"\n'), DIRECTIVE),
    "pragma": (module("`pragma protect begin"), "POLICY_PROTECT"),
    "full_case": (module("reg x; always @* (* full_case *) case (a) 0: x = 1; endcase"), "POLICY_ATTRIBUTE"),
    "blackbox": ("(* blackbox *) module z(input wire i); endmodule\n" + module("z u(.i(s));"), "POLICY_ATTRIBUTE"),
    "anyconst": (module("(* anyconst *) wire x;"), "POLICY_ATTRIBUTE"),
    "delay": (module("wire x; assign #3 x = s;"), "POLICY_DELAY"),
    "delay in an assignment": (module("reg x; always @(posedge clk) x <= #1 s;"), "POLICY_DELAY"),
    "specify": (module("specify (a => q) = 3; endspecify"), "POLICY_DELAY"),
    "wait": (module("reg t; always begin wait (s); t = 1; end"), TESTBENCH),
    "fork": (module("reg t; always @* fork t = 1; join"), TESTBENCH),
    "final": (module("reg t; final t = 1;"), TESTBENCH),
    "initial that waits": (module("reg t; initial begin @(posedge clk); t = 1; end"), TESTBENCH),
    "class": (module("class c; endclass"), TESTBENCH),
    "judge's name": ("module rtlagent_tb(input wire i); endmodule\n" + module(""), "POLICY_RESERVED_NAME"),
    "cocotb's name": ("module cocotb_iverilog_dump; endmodule\n" + module(""), "POLICY_RESERVED_NAME"),
    "Yosys's cell": ("module \\$_DFF_P_ (input wire i); endmodule\n" + module(""), "POLICY_RESERVED_NAME"),
    "library's cell": ("module SB_LUT4(input wire i); endmodule\n" + module(""), "POLICY_RESERVED_NAME"),
    "carriage return": (module("// x\rwire t;"), "POLICY_CHARACTERS"),
    "comment that goes on": (module("wire x; // foo \\\nassign x = 1;"), "POLICY_CHARACTERS"),
    "vertical tab": (module("// a\x0bb"), "POLICY_CHARACTERS"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_with_a_hint(tool_config: ToolConfig, name: str) -> None:
    text, code = ATTACKS[name]
    result = judged(text, tool_config)
    assert result.status is Status.FAIL
    caught = [d for d in result.diagnostics if d.code == code and d.severity is Severity.ERROR]
    assert caught, result.detail
    assert all(d.hint and d.path == "m.sv" and d.line > 0 for d in caught)


HONEST = {
    "memory filled in a loop": (
        "reg [3:0] r [0:3]; integer i; initial for (i = 0; i < 4; i = i + 1) r[i] = 4'd0;\n"
        "always @(posedge clk) r[a[1:0]] <= a;"
    ),
    "memory filled from a given file": (
        'reg [3:0] r [0:3]; initial $readmemh("data/table.hex", r); wire [3:0] x; assign x = r[a[1:0]];'
    ),
    "system functions": "localparam W = $clog2(9); wire [W-1:0] x; assign x = $unsigned($signed(a));",
    "own macro": "`define MAX(p, r) ((p) > (r) ? (p) : (r))\nwire [3:0] x; assign x = `MAX(a, 4'd3);",
    "include guard": "`ifndef GUARD\n`define GUARD\n`define WIDTH 3\n`endif",
    "generate block's signal": (
        "genvar g; generate for (g = 0; g < 4; g = g + 1) begin : lane wire x; assign x = a[g]; end endgenerate\n"
        "wire y; assign y = lane[0].x;"
    ),
    "structure": (
        "typedef struct packed {logic a; logic b;} pair; pair z; assign z.a = s; assign z.b = 1'b1;\n"
        "wire y; assign y = z.a;"
    ),
    "function": "function [3:0] f(input [3:0] v); begin f = v + 4'd1; end endfunction wire [3:0] y; assign y = f(a);",
    "attributes": '(* keep = "true" *) wire x; assign x = s; (* ram_style = "block" *) reg r; always @* r = s;',
    "quoted words": 'localparam [8*6:1] NOTE = "$stop;"; // $finish, `ifdef, force: only a remark\n/* #5 wait */',
    "comments with a tool's name": "// made for verilator and for synthesis\n/* see synthesis report */",
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_rtl_is_left_alone(tool_config: ToolConfig, name: str) -> None:
    result = judged(module(HONEST[name]), tool_config)
    assert [str(d) for d in result.diagnostics if d.code.startswith("POLICY")] == []
    assert result.status is Status.PASS, result.detail


def test_interfaces_and_packages_are_no_outside(tool_config: ToolConfig) -> None:
    text = (
        "package p; localparam X = 1'b1; typedef struct packed {logic a;} t; endpackage\n"
        "interface link; logic v; modport source(output v); endinterface\n"
        "module k(link.source b, input logic x); assign b.v = x; endmodule\n"
        + module("p::t z; assign z.a = p::X; link bus(); k u(.b(bus), .x(s)); wire y; assign y = bus.v & z.a;")
    )
    result = judged(text, tool_config)
    assert (result.status, [d for d in result.diagnostics if d.code.startswith("POLICY")]) == (Status.PASS, [])


def test_usual_directives_are_allowed(tool_config: ToolConfig) -> None:
    text = "`timescale 1ns/1ps\n`default_nettype none\n" + module("") + "`default_nettype wire\n"
    assert judged(text, tool_config).diagnostics == ()


def test_a_busy_initial_is_only_a_warning(tool_config: ToolConfig) -> None:
    result = judged(module("reg t; initial begin : b t = 1'b0; disable b; end"), tool_config)
    assert [(d.code, d.severity) for d in result.diagnostics if d.code.startswith("POLICY")] == [
        ("POLICY_INITIAL", Severity.WARNING)
    ]
    assert result.status is Status.PASS


def test_an_unknown_macro_is_only_a_warning(tool_config: ToolConfig) -> None:
    result = judged(module("`ifdef DEBUG\nwire t;\n`endif"), tool_config)
    assert [(d.code, d.severity) for d in result.diagnostics] == [(MISMATCH, Severity.WARNING)]
    assert result.status is Status.PASS


def test_the_rules_apply_only_when_asked(tool_config: ToolConfig) -> None:
    text = module('reg t; initial begin t = 1\'b0; $display("%b", t); end')
    assert lint([SourceFile("m.sv", text)], top="m", config=tool_config).status is Status.PASS
    assert judged(text, tool_config).status is Status.FAIL


def test_a_rule_cannot_be_allowed_away(tool_config: ToolConfig) -> None:
    text = module("initial $finish;")
    assert judged(text, tool_config, allow=(SYSTEM,)).status is Status.FAIL


def test_a_rule_names_its_place_behind_a_macro(tool_config: ToolConfig) -> None:
    result = judged(module("wire x;\n\ninitial `STOP", "`define STOP $finish;\n"), tool_config)
    assert 5 in [d.line for d in result.diagnostics if d.code == SYSTEM]


def test_headers_are_judged_too(tool_config: ToolConfig) -> None:
    files = [SourceFile("m.v", '`include "h.vh"\n' + module("")), SourceFile("h.vh", "`ifdef SYNTHESIS\n`endif\n")]
    result = lint(files, top="m", policy=True, config=tool_config)
    assert [(d.path, d.line, d.code) for d in result.diagnostics] == [("h.vh", 1, MISMATCH)]
