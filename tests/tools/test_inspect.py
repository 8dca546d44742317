"""Inspect: what a design consists of, and what drives a signal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError, UsageError
from rtlagent.tools.inspect import inspect
from rtlagent.types import Port, SourceFile
from rtlagent.verilog import DesignInfo, InstanceInfo, ParameterInfo

ALU = """\
module alu #(parameter W = 4) (
    input  wire signed [W-1:0] a,
    input  wire signed [W-1:0] b,
    input  wire                sub,
    output wire signed [W-1:0] y
);
    wire signed [W-1:0] operand;
    assign operand = sub ? ~b : b;
    assign y = a
             + operand
             + sub;
endmodule
"""
TOP = """\
module top(input wire clk, input wire rst, input wire [7:0] x, input wire sel, output reg [7:0] acc, output wire odd);
    wire [7:0] sum;
    wire unused_flag;
    alu #(.W(8)) u_alu (.a(acc), .b(x), .sub(sel), .y(sum));
    always @(posedge clk) begin
        if (rst)
            acc <= 8'd0;
        else begin
            acc <= sum;
        end
    end
    assign odd = ^acc;
    assign unused_flag = rst;
endmodule
"""
FILES = (SourceFile("rtl/alu.v", ALU), SourceFile("rtl/top.v", TOP))


@pytest.fixture(scope="module")
def design(tool_config: ToolConfig) -> DesignInfo:
    return inspect(FILES, config=tool_config)


def test_modules_and_tops_are_found(design: DesignInfo) -> None:
    assert [(m.name, m.path, m.line) for m in design.modules] == [("alu", "rtl/alu.v", 1), ("top", "rtl/top.v", 1)]
    assert design.tops == ("top",)
    assert design.complete


def test_widths_are_evaluated_at_the_defaults(design: DesignInfo) -> None:
    alu = design.module("alu")
    assert alu is not None
    assert alu.ports == (
        Port("a", "input", 4, True),
        Port("b", "input", 4, True),
        Port("sub", "input", 1),
        Port("y", "output", 4, True),
    )
    assert alu.parameters == (ParameterInfo("W", "4"),)


def test_an_instance_tells_its_parameters_and_connections(design: DesignInfo) -> None:
    top = design.module("top")
    assert top is not None
    (instance,) = top.instances
    assert replace(instance, connections=()) == InstanceInfo("u_alu", "alu", "rtl/top.v", 4, (ParameterInfo("W", "8"),))
    assert [(c.port, c.text) for c in instance.connections] == [("a", "acc"), ("b", "x"), ("sub", "sel"), ("y", "sum")]


def test_each_assignment_is_a_driver_with_its_conditions(design: DesignInfo) -> None:
    reset, run = design.drivers_of("top", "acc", depth=1)
    assert (reset.path, reset.first_line, reset.text) == ("rtl/top.v", 7, "            acc <= 8'd0;")
    assert (reset.kind, reset.reads) == ("always", ("rst",))
    assert (reset.block_first_line, reset.block_last_line) == (5, 11)
    assert (run.first_line, run.reads) == (9, ("rst", "sum"))


def test_a_statement_over_several_lines_is_quoted_whole(design: DesignInfo) -> None:
    (driver,) = design.drivers_of("alu", "y", depth=1)
    assert (driver.first_line, driver.last_line) == (9, 11)
    assert driver.text == "    assign y = a\n             + operand\n             + sub;"


def test_drivers_go_on_into_the_instance(design: DesignInfo) -> None:
    two = design.drivers_of("top", "acc", depth=2)
    assert [(d.module, d.signal, d.first_line) for d in two] == [
        ("top", "acc", 7),
        ("top", "acc", 9),
        ("top", "sum", 4),
    ]
    three = design.drivers_of("top", "acc", depth=3)
    assert ("alu", "y") in [(d.module, d.signal) for d in three]
    assert design.drivers_of("top", "odd", depth=1)[0].reads == ("acc",)


def test_fan_in_names_the_signals_nearest_first(design: DesignInfo) -> None:
    assert design.fan_in("top", "odd", depth=3) == ("acc", "rst", "sum", "sel", "x")
    assert design.fan_in("top", "nothing") == ()
    assert design.drivers_of("nothing", "acc") == ()


def test_a_loop_of_signals_ends(tool_config: ToolConfig) -> None:
    text = "module m(output wire a); wire b; assign a = b; assign b = a; endmodule\n"
    found = inspect([SourceFile("m.v", text)], config=tool_config)
    assert len(found.drivers_of("m", "a", depth=50)) == 2


SHAPES = {
    "concatenation": ("reg c; always @(posedge clk) {c, q} <= a + 1; assign y = c;", "c", "always", ("a",)),
    "bit": ("always @(posedge clk) q[a[1:0]] <= s; assign y = s;", "q", "always", ("a", "s")),
    "increment": ("always_ff @(posedge clk) q++; assign y = s;", "q", "always", ("q",)),
    "operator": ("always_ff @(posedge clk) q += a; assign y = s;", "q", "always", ("a", "q")),
    "declaration": ("wire w = s & a[0]; assign y = w;", "w", "declaration", ("a", "s")),
    "case": ("always @* case (a) 4'd0: q = 1; default: q = {4{s}}; endcase assign y = s;", "q", "always", ("a",)),
    "gate": ("and g(y, s, a[0]);", "y", "gate", ("a", "s")),
    "initial": ("initial q = 3; assign y = s;", "q", "initial", ()),
    "function": ("function [3:0] f(input [3:0] v); f = v + 1; endfunction assign y = f(a);", "y", "assign", ("a",)),
    "generate": (
        "generate if (1) begin : g wire i; assign i = s; assign y = i; end endgenerate",
        "y",
        "assign",
        ("i",),
    ),
    "member": ("struct packed {logic h; logic l;} t; assign t.h = s; assign y = t.h;", "t", "assign", ("s",)),
    "instance order": ("buffer b(s, y);", "y", "instance", ("s",)),
    "instance by name": ("wire i, o; assign i = s; buffer b(.*); assign y = o;", "o", "instance", ("i",)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_driver_is_found(tool_config: ToolConfig, name: str) -> None:
    body, signal, kind, inputs = SHAPES[name]
    text = (
        "module buffer(input wire i, output wire o); assign o = i; endmodule\n"
        f"module m(input clk, input [3:0] a, input s, output logic [3:0] q, output y);\n{body}\nendmodule\n"
    )
    found = inspect([SourceFile("m.sv", text)], top="m", config=tool_config)
    driver = found.drivers_of("m", signal, depth=1)[0]
    assert (driver.kind, driver.reads, driver.first_line) == (kind, inputs, 3)


def test_generate_loops_are_unrolled(tool_config: ToolConfig) -> None:
    text = (
        "module b(input wire i, output wire o); assign o = i; endmodule\n"
        "module m(input wire [1:0] a, output wire [1:0] y);\n"
        "genvar g; generate for (g = 0; g < 2; g = g + 1) begin : lane b u(.i(a[g]), .o(y[g])); end endgenerate\n"
        "endmodule\n"
    )
    module = inspect([SourceFile("m.v", text)], config=tool_config).module("m")
    assert module is not None
    assert [i.name for i in module.instances] == ["lane[0].u", "lane[1].u"]


def test_a_module_without_defaults_is_shown_as_it_is_used(tool_config: ToolConfig) -> None:
    text = (
        "module k #(parameter N)(input wire [N-1:0] a); endmodule\n"
        "module m(input wire [2:0] x); k #(3) u(x); endmodule\n"
    )
    module = inspect([SourceFile("m.sv", text)], config=tool_config).module("k")
    assert module is not None
    assert [p.width for p in module.ports] in ([3], [None])


def test_a_nested_module_keeps_its_drivers_to_itself(tool_config: ToolConfig) -> None:
    text = (
        "module m(input wire a, output wire y);\nassign y = a;\n"
        "module n(input wire y); wire a; assign a = y; endmodule\nendmodule\n"
    )
    found = inspect([SourceFile("m.sv", text)], config=tool_config)
    assert [d.first_line for d in found.drivers_of("m", "y", depth=1)] == [2]
    assert found.drivers_of("m", "a", depth=1) == ()


def test_a_broken_design_gives_what_was_found(tool_config: ToolConfig) -> None:
    text = "module m(input wire a, output wire y);\nassign y = a;\nassign z = ;\nendmodule\nmodule n(; endmodule\n"
    found = inspect([SourceFile("m.v", text)], config=tool_config)
    assert not found.complete
    assert [d.first_line for d in found.drivers_of("m", "y")] == [2]


@pytest.mark.parametrize("text", ["", "// nothing\n", "\x7fELF", "endmodule"])
def test_no_module_is_the_users_mistake(tool_config: ToolConfig, text: str) -> None:
    with pytest.raises(UsageError, match="no module"):
        inspect([SourceFile("m.v", text)], config=tool_config)


def test_a_wrong_top_gets_a_suggestion(tool_config: ToolConfig) -> None:
    with pytest.raises(UsageError, match="did you mean 'top'"):
        inspect(FILES, top="topp", config=tool_config)


def test_no_files_are_refused(tool_config: ToolConfig) -> None:
    with pytest.raises(UsageError, match="no Verilog file"):
        inspect([SourceFile("a.hex", "00")], config=tool_config)


def test_nothing_of_a_file_outside_is_told(tmp_path: Path) -> None:
    secret = tmp_path / "secret.vh"
    secret.write_text("wire hunter2;\n")
    text = f'module m(input wire a);\n`include "{secret}"\nendmodule\n'
    with pytest.raises(UsageError, match="not given") as caught:
        inspect([SourceFile("m.v", text)], config=ToolConfig(sandbox="none"))
    assert "hunter" not in str(caught.value)
    assert caught.value.where == "m.v:2:1"


def test_a_limit_is_a_tool_error(tool_config: ToolConfig) -> None:
    limits = replace(tool_config.limits, wall_s=0.01)
    with pytest.raises(ToolError, match="wall limit"):
        inspect(FILES, config=replace(tool_config, limits=limits))


def test_paths_are_the_users_own(tool_config: ToolConfig) -> None:
    found = inspect([SourceFile("../x/alu.v", ALU)], config=tool_config)
    assert {m.path for m in found.modules} | {d.path for m in found.modules for d in m.drivers} == {"../x/alu.v"}


PIECES = ("", ";", "(", ")", "begin", "end", "module", "endmodule", "<=", "{", "}", "[", "`", '"', ".", "#", "alu")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(TOP) - 1), st.integers(0, 6), st.sampled_from(PIECES)), max_size=4))
def test_a_mutated_design_is_read_or_refused(tool_config: ToolConfig, edits: list[tuple[int, int, str]]) -> None:
    text = TOP
    for start, length, new in edits:
        text = text[:start] + new + text[start + length :]
    try:
        found = inspect([FILES[0], SourceFile("rtl/top.v", text)], config=tool_config)
    except UsageError:
        return
    assert found.module("alu") is not None
