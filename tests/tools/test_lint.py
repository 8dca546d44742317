"""Lint: what passes, what fails and where, and that no text breaks it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.lint import lint
from rtlagent.tools.lint_macros import oversized_macro
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, StepResult

COUNTER = """\
module counter #(parameter W = 4) (
    input  wire         clk,
    input  wire         rst,
    input  wire         en,
    output reg  [W-1:0] count
);
    wire [W-1:0] next;
    assign next = en ? count + 1'b1 : count;
    always @(posedge clk) begin
        if (rst) count <= {W{1'b0}};
        else     count <= next;
    end
endmodule
"""


def module(body: str) -> str:
    """Return a design whose inputs are all used, with `body` from its second line on."""
    return (
        "module m(input wire clk, input wire [3:0] a, input wire s, output reg [3:0] q, output wire [3:0] u);\n"
        f"{body}\nassign u = {{3'b0, s}} ^ a;\nendmodule\n"
    )


REGISTER = "always @(posedge clk) q <= a;"


def linted(text: str, config: ToolConfig, **options: object) -> StepResult:
    return lint([SourceFile("m.v", text)], config=config, **options)  # type: ignore[arg-type]


def errors(result: StepResult) -> list[Diagnostic]:
    return [d for d in result.diagnostics if d.severity is Severity.ERROR]


@pytest.mark.parametrize("language", ["verilog", "systemverilog"])
@pytest.mark.parametrize("policy", [False, True])
def test_a_good_design_passes_without_a_word(tool_config: ToolConfig, language: str, policy: bool) -> None:
    result = linted(COUNTER, tool_config, top="counter", language=language, policy=policy)
    assert (result.status, result.diagnostics) == (Status.PASS, ())
    assert result.step == "lint"
    assert result.detail == "no diagnostics"
    assert result.argv[:2] == ("verilator_bin", "--lint-only")
    assert "verilator 5." in result.tool_version or "verilator " in result.tool_version


BAD = {
    "syntax": ("always @(posedge clk) q <= a", "ExpectedToken", 2),
    "undeclared": ("always @(posedge clk) q <= aa;", "UndeclaredIdentifier", 2),
    "implicit net": (f"assign w = a[0];\n{REGISTER}", "IMPLICIT", 2),
    "latch": ("always @* if (s) q = a;", "LATCH", 2),
    "two always blocks": (f"{REGISTER}\nalways @(posedge clk) q <= ~a;", "MULTIDRIVEN", 3),
    "two assigns": (f"wire w;\nassign w = a[0];\nassign w = a[1];\n{REGISTER}", "MULTIDRIVEN", 4),
    "always in a generate loop": (
        "genvar g; generate for (g = 0; g < 4; g = g + 1) begin : l\nalways @(posedge clk) q[0] <= a[g];\n"
        "end endgenerate\n"
        "always @(posedge clk) q[3:1] <= 0;",
        "MULTIDRIVEN",
        3,
    ),
    "undriven": ("wire w;\nalways @(posedge clk) q <= {3'b0, w};", "UNDRIVEN", 2),
    "index": ("always @(posedge clk) q <= {3'b0, a[7]};", "SELRANGE", 2),
    "both assignments": ("always @(posedge clk) q <= a;\nalways @* q = a;", "BLKANDNBLK", 1),
    "unknown module": (f"foo f(.a(a));\n{REGISTER}", "MODMISSING", 2),
    "assign to a reg": ("assign q = a;\nreg z;\nassign z = zz;", "UndeclaredIdentifier", 4),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_design_fails_at_its_place(tool_config: ToolConfig, name: str) -> None:
    body, code, line = BAD[name]
    result = linted(module(body), tool_config, top="m")
    assert result.status is Status.FAIL
    assert (code, "m.v", line) in [(d.code, d.path, d.line) for d in errors(result)]


SUB = "module s(input wire x, output wire y); assign y = x; endmodule\n"


@pytest.mark.parametrize(
    ("instance", "code"),
    [
        ("s i(.y(w));", "PINMISSING"),
        ("s i(.x(s), .yy(w));", "PINNOTFOUND"),
        ("s i(.x(s), .y(w), .z());", "PINNOTFOUND"),
    ],
)
def test_wrong_connections_fail(tool_config: ToolConfig, instance: str, code: str) -> None:
    text = SUB + module(f"wire w; {instance}\nalways @(posedge clk) q <= {{a[3:1], w}};")
    result = linted(text, tool_config, top="m")
    assert result.status is Status.FAIL
    assert (code, 3) in [(d.code, d.line) for d in errors(result)]


WARNED = {
    "width": ("always @(posedge clk) q <= a + 5'd20;", "WIDTHTRUNC"),
    "case without default": ("always @(posedge clk) case (a) 4'd1: q <= a; 4'd2: q <= 4'd3; endcase", "CASEINCOMPLETE"),
    "loop": ("wire x; assign x = x ^ s; always @(posedge clk) q <= {a[3:1], x};", "UNOPTFLAT"),
}


@pytest.mark.parametrize("name", WARNED)
def test_a_doubtful_design_passes_with_a_warning(tool_config: ToolConfig, name: str) -> None:
    body, code = WARNED[name]
    result = linted(module(body), tool_config, top="m")
    assert result.status is Status.PASS
    assert code in [d.code for d in result.diagnostics if d.severity is Severity.WARNING]


LEGAL = {
    "two writers of a memory": (
        "reg [3:0] r [0:3];\nalways @(posedge clk) r[0] <= a;\nalways @(posedge clk) r[1] <= ~a;\n"
        "always @(posedge clk) q <= r[a[1:0]];"
    ),
    "a shared loop variable": (
        "integer i; reg [3:0] z;\nalways @(posedge clk) for (i = 0; i < 4; i = i + 1) q[i] <= z[i];\n"
        "always @* begin z = 4'd0; for (i = 0; i < 4; i = i + 1) z[i] = a[i]; end"
    ),
    "bit by bit": (
        "genvar g; generate for (g = 0; g < 4; g = g + 1) begin : l\nalways @(posedge clk) q[g] <= a[g];\n"
        "end endgenerate"
    ),
    "initial value": f"initial q = 4'd0;\n{REGISTER}",
    "declared value": "reg z = 1'b0;\nalways @(posedge clk) begin z <= s; q <= {3'b0, z}; end",
    "function called twice": (
        "function [3:0] f(input [3:0] x); f = ~x; endfunction\nwire [3:0] z; assign z = f(a);\n"
        "always @(posedge clk) q <= f(z);"
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_one_driver_for_each_bit_is_enough(tool_config: ToolConfig, name: str) -> None:
    result = linted(module(LEGAL[name]), tool_config, top="m")
    assert (result.status, errors(result)) == (Status.PASS, [])


def test_a_tristate_bus_may_have_two_drivers(tool_config: ToolConfig) -> None:
    text = (
        "module m(input wire e, input wire f, inout wire b);\n"
        "assign b = e ? 1'b1 : 1'bz;\nassign b = f ? 1'b0 : 1'bz;\nendmodule\n"
    )
    assert "MULTIDRIVEN" not in [d.code for d in linted(text, tool_config).diagnostics]


def test_two_outputs_on_one_wire_fail(tool_config: ToolConfig) -> None:
    text = (
        "module s(output wire y); assign y = 1'b1; endmodule\n"
        "module m(output wire y);\ns a(.y(y));\ns b(.y(y));\nendmodule\n"
    )
    result = linted(text, tool_config, top="m")
    assert [(d.code, d.line) for d in errors(result)] == [("MULTIDRIVEN", 4)]


def test_a_latch_can_be_allowed(tool_config: ToolConfig) -> None:
    text = module("always @* if (s) q = a;")
    assert linted(text, tool_config).status is Status.FAIL
    allowed = linted(text, tool_config, allow=("LATCH",))
    assert allowed.status is Status.PASS
    assert ("LATCH", Severity.WARNING) in [(d.code, d.severity) for d in allowed.diagnostics]


def test_a_syntax_error_cannot_be_allowed(tool_config: ToolConfig) -> None:
    assert linted("module m(; endmodule", tool_config, allow=("ExpectedToken", "SyntaxError")).status is Status.FAIL


def test_systemverilog_is_refused_as_verilog_only(tool_config: ToolConfig) -> None:
    text = "module m(input logic clk, input logic a, output logic q);\nalways_ff @(posedge clk) q <= a;\nendmodule\n"
    assert linted(text, tool_config).status is Status.PASS
    result = linted(text, tool_config, language="verilog")
    assert result.status is Status.FAIL
    first = errors(result)[0]
    assert (first.code, first.line) == ("SystemVerilogKeyword", 1)
    assert "Verilog-2005" in first.message


@pytest.mark.parametrize(
    "body",
    [
        "always @(posedge clk) q <= '0;",
        "always @(posedge clk) begin q <= a; q[0]++; end",
        REGISTER + " assert property (@(posedge clk) s);",
    ],
)
def test_systemverilog_without_new_keywords_is_refused_too(tool_config: ToolConfig, body: str) -> None:
    assert linted(module(body), tool_config, language="verilog").status is Status.FAIL


def test_verilog_may_use_the_names_that_systemverilog_reserves(tool_config: ToolConfig) -> None:
    text = module(
        "wire [3:0] priority, do;\nassign priority = a;\nassign do = priority;\nalways @(posedge clk) q <= do;"
    )
    assert linted(text, tool_config, language="verilog").status is Status.PASS
    assert linted(text, tool_config, language="systemverilog").status is Status.FAIL


def test_a_missing_top_lists_the_modules(tool_config: ToolConfig) -> None:
    result = linted(COUNTER, tool_config, top="kounter")
    assert [d.message for d in errors(result)] == ["top module 'kounter' not found; the files define: counter"]


def test_the_excerpt_shows_the_line_with_a_caret_and_a_hint(tool_config: ToolConfig) -> None:
    result = linted(module("\talways @(posedge clk) q <= aa;"), tool_config)
    assert "    2 |  always @(posedge clk) q <= aa;\n      |                             ^\n    hint: " in result.detail


def test_several_errors_are_reported_at_once(tool_config: ToolConfig) -> None:
    result = linted(module("wire x = b1;\nwire y = b2;\nwire z = b3;\n" + REGISTER), tool_config)
    assert [d.line for d in errors(result) if d.code == "UndeclaredIdentifier"] == [2, 3, 4]


def test_packages_and_headers_may_come_in_any_order(tool_config: ToolConfig) -> None:
    files = [
        SourceFile(
            "rtl/m.sv", '`include "w.svh"\nmodule m(input p::t a, output p::t b); assign b = ~a ^ `W\'d1; endmodule\n'
        ),
        SourceFile("rtl/w.svh", "`define W 4\n"),
        SourceFile("rtl/p.sv", "package p; typedef logic [3:0] t; endpackage\n"),
    ]
    result = lint(files, top="m", config=tool_config)
    assert (result.status, errors(result)) == (Status.PASS, [])


def test_results_are_the_same_every_time(tool_config: ToolConfig) -> None:
    text = module("wire x = b1;\nwire [1:0] z = a;\nalways @* if (s) q = a + zz;")
    first, second = (replace(linted(text, tool_config, policy=True), wall_s=0.0) for _ in range(2))
    assert first == second


def test_paths_are_the_users_own(tool_config: ToolConfig) -> None:
    result = lint([SourceFile("/abs/../rtl/m.v", "module m; wire a = b; endmodule\n")], config=tool_config)
    assert {d.path for d in result.diagnostics} == {"/abs/../rtl/m.v"}


def test_a_line_directive_does_not_move_the_place(tool_config: ToolConfig) -> None:
    result = linted('`line 900 "/etc/passwd" 0\nmodule m; wire a = b; endmodule\n', tool_config)
    assert ("m.v", 2) in [(d.path, d.line) for d in errors(result)]
    assert all("passwd" not in d.path for d in result.diagnostics)


def test_an_unknown_language_is_the_users_mistake(tool_config: ToolConfig) -> None:
    with pytest.raises(UsageError, match="vhdl"):
        linted(COUNTER, tool_config, language="vhdl")


HOSTILE = {
    "empty": "",
    "comment": "// nothing\n",
    "junk": random.Random(1).randbytes(3000).decode("latin1"),
    "nul": "module m;\0\0 endmodule",
    "surrogate": "module m; // \udc80\nwire a = b; endmodule",
    "half a module": "module m(input",
    "only end": "endmodule",
    "deep parentheses": "module m(output wire b); assign b=" + "(" * 20000 + "1" + ")" * 20000 + "; endmodule",
    "long sum": "module m(input wire a, output wire b); assign b = a" + " ^ a" * 20000 + "; endmodule",
    "deep blocks": "module m; initial " + "begin " * 20000 + "end " * 20000 + " endmodule",
    "recursive module": "module m(input wire a); m u(a); endmodule",
    "endless generate": (
        "module m(input wire a); genvar i; generate for (i = 0; i < 100000000; i = i + 1) begin : g\n"
        "wire x; assign x = a; end endgenerate endmodule"
    ),
    "endless constant": (
        "module m(output wire [31:0] q); function integer f(input integer n); begin f = n; while (1) f = f + 1; end\n"
        "endfunction localparam X = f(1); assign q = X; endmodule"
    ),
    "macro that uses itself": "`define A `A\nmodule m; `A endmodule",
    "macro bomb": "`define A0 x x x x x x x x x x\n"
    + "".join(f"`define A{i + 1} {f'`A{i} ' * 10}\n" for i in range(9))
    + "module m; `A9 endmodule",
    "include of itself": '`include "m.v"\n',
    "unterminated comment": "module m; /* endmodule",
    "unterminated string": 'module m; initial $display("a; endmodule',
    "wrong suffix inside": "\x7fELF\x02\x01\x01",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_breaks_lint(tool_config: ToolConfig, name: str) -> None:
    result = linted(HOSTILE[name], tool_config, policy=True)
    assert result.status is Status.FAIL, result.detail
    assert len(result.detail) < 20_000


def test_a_megabyte_is_linted(tool_config: ToolConfig) -> None:
    text = COUNTER + "// filler, filler, filler, filler\n" * 32_000
    assert linted(text, tool_config, policy=True).status is Status.PASS


def test_no_files_fail_clearly(tool_config: ToolConfig) -> None:
    assert [d.message for d in lint([], config=tool_config).diagnostics] == ["no Verilog file was given"]
    only_data = lint([SourceFile("a.hex", "00\n")], config=tool_config)
    assert (only_data.status, only_data.diagnostics[0].code) == (Status.FAIL, "NoModules")


@pytest.mark.parametrize("policy", [False, True])
@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../etc/passwd", "/proc/self/environ", "/etc/ld.so.cache"])
def test_no_message_quotes_a_file_outside(tool_config: ToolConfig, tmp_path: Path, target: str, policy: bool) -> None:
    result = linted(f'`include "{target}"\n{COUNTER}', tool_config, policy=policy)
    assert result.status is Status.FAIL
    text = result.detail + "".join(map(str, result.diagnostics))
    assert not any(word in text for word in ("root:", "nologin", "HOME=", "glibc"))


def test_a_file_beside_the_design_is_not_quoted_without_a_sandbox(tmp_path: Path) -> None:
    secret = tmp_path / "secret.vh"
    secret.write_text("hunter2 hunter3 hunter4\n")
    for policy in (False, True):
        result = linted(f'`include "{secret}"\n{COUNTER}', ToolConfig(sandbox="none"), policy=policy)
        assert result.status is Status.FAIL
        assert "hunter" not in result.detail + "".join(map(str, result.diagnostics))


def test_a_limit_is_a_timeout_not_an_error(tool_config: ToolConfig) -> None:
    limits = replace(tool_config.limits, wall_s=1.0)
    slow = "module m(input wire a, output wire [29999:0] b);\n" + "".join(
        f"assign b[{i}] = a;\n" for i in range(30_000)
    )
    result = linted(f"{slow}endmodule\n", replace(tool_config, limits=limits))
    assert (result.status, errors(result)) == (Status.TIMEOUT, [])


def test_only_a_macro_that_grows_too_much_is_refused() -> None:
    tower = ["`define A0 xxxxxxxxxx", *(f"`define A{i + 1} {f'`A{i} ' * 10}" for i in range(9))]
    assert oversized_macro({"m.v": "\n".join(tower[:5]) + "\nmodule m; `A4 endmodule"}) is None
    found = oversized_macro({"m.v": "\n".join(tower) + "\nmodule m; `A9 endmodule"})
    assert found is not None
    assert (found.code, found.path, found.line) == ("MacroTooLarge", "m.v", 9)


MUTATIONS = (
    "",
    ";",
    "(",
    ")",
    "begin",
    "end",
    "endmodule",
    "<=",
    "=",
    "[",
    "]",
    "wire",
    "reg",
    "`",
    '"',
    "$",
    "\\",
    "#",
    "/*",
    "\0",
    "é",
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(COUNTER) - 1), st.integers(0, 6), st.sampled_from(MUTATIONS)), max_size=4))
def test_a_mutated_design_passes_or_fails(tool_config: ToolConfig, edits: list[tuple[int, int, str]]) -> None:
    text = COUNTER
    for start, length, new in edits:
        text = text[:start] + new + text[start + length :]
    result = linted(text, tool_config, top="counter", policy=True)
    assert result.status in (Status.PASS, Status.FAIL), result.detail
    assert (result.status is Status.FAIL) == bool(errors(result))
