"""No answer forges the report of a hidden test; honest answers with unusual habits still pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_data import GOOD, MISMATCH_BENCH, PRINTING_BENCH, REFERENCE, WRONG, write_rtllm, write_v2

from rtlagent.bench.problem import DESIGN, Score
from rtlagent.bench.suites import suite
from rtlagent.config import ToolConfig
from rtlagent.types import SourceFile, Status

LYING = 'initial begin $display("Mismatches: 0 in 39 samples"); '
CONSTANT = "module TopModule({port} [3:0] a, output [3:0] y); {body} assign y = 4'd3; endmodule\n"
HEAD = "module TopModule(input [3:0] a, output [3:0] y);\n  assign y = a + 4'd2;\n"


def wrong(body: str, more: str = "") -> str:
    return f"{HEAD}{body}\nendmodule\n{more}"


FORGERIES = {
    "prints_the_verdict": wrong(LYING + "end"),
    "prints_and_finishes": wrong(LYING + "$finish; end"),
    "finishes_before_a_mismatch": wrong("initial $finish;"),
    "finishes_at_the_first_difference": wrong("always @(a) if (a != 0) $finish(0);"),
    "stops": wrong("initial #1 $stop;"),
    "finish_and_return": wrong("initial #1 $finish_and_return(0);"),
    "fatal": wrong('initial #1 $fatal(0, "Mismatches: 0 in 39 samples");'),
    "prints_in_final": wrong('final $display("Mismatches: 0 in 39 samples");'),
    "own_tb": wrong("", 'module tb; initial begin $display("Mismatches: 0 in 39 samples"); $finish; end endmodule'),
    "own_stimulus": wrong("", "module stimulus(input clk, output [3:0] a); endmodule"),
    "own_reference": wrong("", "module RefModule(input [3:0] a, output [3:0] y); assign y = a + 4'd2; endmodule"),
    "class_tb": wrong("", "class tb; endclass"),
    "copies_the_reference": HEAD.replace("a + 4'd2", "tb.y_ref") + "endmodule",
    "copies_by_the_instance": HEAD.replace("a + 4'd2", "good.y") + "endmodule",
    "uses_the_reference": HEAD.replace("assign y = a + 4'd2;", "RefModule mine(a, y);") + "endmodule",
    "resets_the_count": wrong("always @(a) tb.stats = 0;"),
    "resets_the_count_by_name": wrong("always @(a) stats.errors = 0;"),
    "forces": wrong("initial force tb.y_dut = tb.y_ref;"),
    "root": wrong("initial force $root.tb.y_dut = 0;"),
    "escaped_path": wrong("initial force \\tb .y_dut = 0;"),
    "spaced_path": wrong("initial force tb . /* x */ y_dut = 0;"),
    "calls_the_tests_task": wrong("initial pause;"),
    "disables_the_stimulus": wrong("initial #1 disable drive;"),
    "disables_by_path": wrong("initial #1 disable stim.drive;"),
    "defparam": wrong("defparam tb.stim.x = 1;"),
    "bind": wrong("", 'bind tb evil e(); module evil; initial $display("Mismatches: 0 in 39 samples"); endmodule'),
    "reads_the_test": wrong('integer f; initial f = $fopen("hidden/Prob001_plus3_test.sv", "r");'),
    "runs_a_shell": wrong('initial $system("true");'),
    "foreign_function": wrong('import "DPI-C" function int system(string s); initial system("true");'),
    "program": wrong("evil e();", "program evil; initial #1; endprogram"),
    "program_alone": wrong("", "program evil; initial #1 $exit; endprogram"),
    "macro_finish": "`define A $fin``ish\n" + wrong("initial #1 `A;"),
    "macro_path": "`define T tb\n`define D .\n" + wrong("initial force `T `D y_dut = 0;"),
    "macro_argument": "`define M(x) x.y_ref\n" + HEAD.replace("a + 4'd2", "`M(tb)") + "endmodule",
    "redefines_the_tests_macro": "`define ROUNDS 0\n" + wrong(""),
    "includes_the_test": '`include "hidden/Prob001_plus3_test.sv"\n' + wrong(""),
    "line_directive": '`line 1 "x" 0\n' + wrong("initial #1 $finish;"),
    "comment_splice": wrong("// \\\ninitial #1 $finish;"),
    "unclosed_comment": wrong("/* "),
    "string_with_quotes": wrong('initial $display(""" "); initial #1 $finish; // """);'),
    "hidden_in_interface_port": (
        "module dead(interface i); endmodule\n"
        + wrong("initial #1 $finish;").replace("endmodule", "endmodule : TopModule")
    ),
    "carriage_return": wrong("// x\rinitial #1 $finish;"),
    "drives_its_inputs_x": "module TopModule(input [3:0] a, output [3:0] y); assign a = 4'bx, y = 4'bx; endmodule",
    "drives_its_inputs": CONSTANT.format(port="input", body="assign (supply1, supply0) a = 4'd0;"),
    "drives_through_inout": CONSTANT.format(port="inout", body="assign (supply1, supply0) a = 4'd0;"),
    "drives_from_below": CONSTANT.format(port="input", body="below u(a);")
    + "module below(inout [3:0] b); assign (supply1, supply0) b = 0; endmodule",
    "drives_by_gates": CONSTANT.format(port="input", body="buf (supply1, supply0) b[3:0] (a, 4'd0);"),
    "forces_its_inputs": CONSTANT.format(port="input", body="initial force a = 0;"),
    "shorts_its_inputs": CONSTANT.format(port="input", body="supply0 z; tran t[3:0] (a, {4{z}});"),
    "supply_port": CONSTANT.format(port="input supply0", body=""),
    "variable_port": CONSTANT.format(port="input var logic", body="always @* a = 0;"),
    "reg_port": CONSTANT.format(port="input reg", body="always @* a = 0;"),
    "procedural_assign": CONSTANT.format(port="input reg", body="initial assign a = 0;"),
    "strong_net_port": CONSTANT.format(port="input tri0", body="pulldown p[3:0] (a);"),
    "ends_in_readmemh": "module TopModule(input [3:0] a, output [3:0] y); initial $readmemh",
    "reseeds": CONSTANT.format(port="input", body="integer s = 1; always @(a) s = $urandom(1);"),
    "endless_loop": wrong("initial #1 forever begin end"),
    "oscillates": wrong("reg r = 0; always @(r) r <= #0 ~r; initial r = 1;"),
    "floods": wrong('initial repeat (2000000) $display("Mismatches: 0 in 39 samples");'),
    "nothing": "",
    "no_module": "// Mismatches: 0 in 39 samples\n",
    "other_module": GOOD.replace("TopModule", "Other"),
    "plain_wrong": WRONG,
}
QUICK = ToolConfig()


@pytest.fixture(scope="module")
def v2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_v2(tmp_path_factory.mktemp("v2"))


def score(
    path: Path, text: str, simulator: str = "icarus", name: str = "Prob001_plus3", config: ToolConfig = QUICK
) -> Score:
    which = "verilog-eval-v2" if name.startswith("Prob") else "rtllm-v2"
    return suite(which).score(path, name, [SourceFile("a.sv", text)], config=config, simulator=simulator)


@pytest.mark.parametrize("attack", FORGERIES)
def test_a_forgery_does_not_pass(v2: Path, attack: str) -> None:
    config = QUICK
    if attack in ("endless_loop", "oscillates"):
        from dataclasses import replace

        config = replace(QUICK, limits=replace(QUICK.limits, cpu_s=1))
    found = score(v2, FORGERIES[attack], config=config)
    assert found.status in (Status.FAIL, Status.TIMEOUT), found
    assert found.failure_class == DESIGN, found
    assert found.message


@pytest.mark.slow
@pytest.mark.parametrize("attack", [a for a in FORGERIES if a not in ("endless_loop", "oscillates", "floods")])
def test_a_forgery_does_not_pass_on_verilator(v2: Path, attack: str) -> None:
    found = score(v2, FORGERIES[attack], simulator="verilator")
    assert found.status is not Status.PASS, found


HONEST = {
    "plain": GOOD,
    "prints": GOOD.replace("endmodule", 'always @(a) $display("error: a=%0d FAIL", a);\nendmodule'),
    "brings_its_own_testbench": GOOD
    + 'module test; reg [3:0] a; TopModule dut(a, ); initial begin $display("x"); force dut.y = 1; $finish; end\n'
    + 'integer f; initial f = $fopen("x"); endmodule\n',
    "macros": "`define THREE 4'd3\n`ifdef NONE\nbroken\n`endif\n" + GOOD.replace("4'd3", "`THREE"),
    "own_timescale": "`timescale 1ns/1ps\n" + GOOD,
    "no_implicit_nets": "`default_nettype none\n" + GOOD.replace("[3:0] a, output", "wire [3:0] a, output wire"),
    "submodule_and_downward_name": (
        "module add(input [3:0] x, output [3:0] z); wire [3:0] s = x + 3; assign z = s; endmodule\n"
        "module TopModule(input [3:0] a, output [3:0] y); wire [3:0] q; add u(.x(a), .z(q)); assign y = u.s; endmodule"
    ),
    "struct": (
        "module TopModule(input [3:0] a, output [3:0] y); typedef struct packed { logic [3:0] v; } t; t s;\n"
        "assign s.v = a + 4'd3; assign y = s.v; endmodule"
    ),
    "windows_text": "\ufeff" + GOOD.replace("\n", "\r\n") + "// grün\r\n",
    "unreached_finish": GOOD.replace("endmodule", "initial if (0) $finish;\nendmodule"),
    "package": "package p; localparam [3:0] N = 3; endpackage\n" + GOOD.replace("4'd3", "p::N"),
    "function": GOOD.replace("a + 4'd3;", "f(a);\nfunction [3:0] f(input [3:0] x); f = x + 3; endfunction"),
    "attribute_and_delay": GOOD.replace("assign y", "(* keep *) wire w; assign #0 y"),
}


@pytest.mark.parametrize("habit", HONEST)
def test_an_honest_answer_passes(v2: Path, habit: str) -> None:
    found = score(v2, HONEST[habit])
    assert found.status is Status.PASS, found
    assert (found.syntax, found.simulation, found.failure_class) == (True, True, "")
    assert found.tool_versions and found.tool_versions[0].startswith("icarus ")


def test_the_count_alone_does_not_pass_when_the_test_did_not_end_the_simulation(tmp_path: Path) -> None:
    # Without marks for its end, an early summary would look like this: few samples, none wrong.
    found = score(write_v2(tmp_path), HEAD + "initial #11 $finish;\nendmodule")
    assert (found.status, found.failure_class) == (Status.FAIL, DESIGN)
    assert "$finish" in found.message


def test_no_samples_are_no_pass(tmp_path: Path) -> None:
    path = write_v2(tmp_path, bench=MISMATCH_BENCH.replace("stats.clocks++;", ""))
    found = score(path, GOOD)
    assert found.status is Status.FAIL
    assert "compared nothing" in found.message


PRINTING_FORGERIES = {
    "prints": 'initial $display("===========Your Design Passed===========");',
    "prints_late": 'initial #1000 $display("===========Your Design Passed===========");',
    "prints_and_finishes": 'initial begin $write("Your Design Passed\\n"); $finish; end',
    "reads_what_is_expected": 'reg [3:0] m[0:15]; initial $readmemh("expected.dat", m); assign y = m[a];',
    "reads_by_another_path": 'reg [3:0] m[0:15]; initial $readmemh("./expected.dat", m); assign y = m[a];',
    "reads_a_built_name": 'reg [3:0] m[0:15]; string s = "expected.dat"; initial $readmemh(s, m); assign y = m[a];',
    "writes_what_is_expected": 'reg [3:0] m[0:15]; initial $writememh("expected.dat", m);',
    "resets_the_count": "initial #79 plus3_tb.error = 0;",
}


@pytest.mark.parametrize("attack", PRINTING_FORGERIES)
def test_a_printed_pass_is_the_testbenchs_own(tmp_path: Path, attack: str) -> None:
    path = write_rtllm(tmp_path)
    body = PRINTING_FORGERIES[attack]
    driven = "" if "assign y" in body else "assign y = 0;"
    found = score(path, f"module plus3(input [3:0] a, output [3:0] y); {driven} {body} endmodule", name="plus3")
    assert (found.status, found.failure_class) == (Status.FAIL, DESIGN), found


def test_an_answers_file_is_no_cover_for_the_tests(tmp_path: Path) -> None:
    path = write_rtllm(tmp_path)
    reads = 'reg [3:0] m[0:15]; initial $readmemh("expected.dat", m); assign y = m[a];'
    files = [
        SourceFile("a.v", f"module plus3(input [3:0] a, output [3:0] y); {reads} endmodule"),
        SourceFile("expected.dat", "0\n" * 16),
    ]
    found = suite("rtllm-v2").score(path, "plus3", files, config=QUICK)
    assert found.status is Status.FAIL, found
    files = [
        SourceFile("a.v", files[0].text.replace("expected.dat", "table.hex")),
        SourceFile("table.hex", "\n".join(f"{(i + 3) % 16:x}" for i in range(16))),
    ]
    found = suite("rtllm-v2").score(path, "plus3", files, config=QUICK)
    assert found.status is Status.PASS, found


def test_a_print_without_its_end_of_line_cannot_be_completed(tmp_path: Path) -> None:
    bench = PRINTING_BENCH.replace("a = i; #5;", 'a = i; $write("case %0d ", i); #5;')
    path = write_rtllm(tmp_path, bench=bench)
    body = 'assign y = 0; always @(a) #1 $display("Your Design Passed");'
    found = score(path, f"module plus3(input [3:0] a, output [3:0] y); {body} endmodule", name="plus3")
    assert found.status is Status.FAIL, found


def test_a_design_that_fails_like_its_golden_is_the_benchmarks_defect(tmp_path: Path) -> None:
    path = write_v2(
        tmp_path, reference=REFERENCE.replace("output [3:0] y", "output [3:0] z").replace("assign y", "assign z")
    )
    found = score(path, WRONG, config=ToolConfig(cache_dir=tmp_path / "cache"))
    assert found.failure_class == "benchmark defect"
    assert "own design does not pass" in found.message
