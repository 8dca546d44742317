"""A spec is understood in all the forms that people write, or refused with a place and a hint."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtlagent.errors import SpecError, UsageError
from rtlagent.spec import _KEYS, _REQUIREMENTS, Asked, load_spec
from rtlagent.spec.clock_period import period_ns
from rtlagent.types import Clock, Parameter, Port, Requirements, Reset, Spec, TestKind


def write(folder: Path, front_matter: str, prose: str = "It counts.") -> Path:
    path = folder / "counter.md"
    path.write_text(f"---\n{front_matter}\n---\n{prose}\n")
    return path


def error_of(folder: Path, front_matter: str, prose: str = "It counts.") -> SpecError:
    with pytest.raises(SpecError) as caught:
        load_spec(write(folder, front_matter, prose))
    return caught.value


def ports_of(folder: Path, *lines: str, head: str = "") -> tuple[Port, ...]:
    listed = "\n".join(f"  - {line}" for line in lines)
    return load_spec(write(folder, f"{head}ports:\n{listed}")).ports


def test_prose_alone_is_a_spec(tmp_path: Path) -> None:
    path = tmp_path / "edge detector.md"
    path.write_text("# Edge detector\n\nOne pulse an edge.\n")
    spec = load_spec(path)
    assert (spec.name, spec.text) == ("edge_detector", "# Edge detector\n\nOne pulse an edge.")
    assert (spec.top, spec.ports, spec.clock, spec.language) == (None, (), None, "verilog")
    assert spec.requirements == Requirements()


def test_everything_at_once(tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "sub.v").write_text("module sub; endmodule\n")
    (tmp_path / "rtl" / "photo.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "test_it.py").write_text("import cocotb\n")
    (tmp_path / "model.py").write_text("x = 1\n")
    spec = load_spec(
        write(
            tmp_path,
            "name: my-counter\ntop: counter\nparameters: {WIDTH: 8}\n"
            "ports: [{name: clk, direction: input}, {name: rst_n, direction: input},\n"
            '        {name: q, direction: output, width: "[WIDTH-1:0]", signed: yes, description: the count}]\n'
            "clock: {port: clk, edge: negedge, period_ns: 2.5}\nreset: {port: rst_n, async: true}\n"
            "language: systemverilog\ntarget: ecp5\n"
            "requirements: {max_luts: 100, max_dsps: 0, min_fmax_mhz: 62.5, max_latency_cycles: 0, max_ii: 1}\n"
            "tests: [{path: test_it.py, support: [model.py]}]\ncontext: [rtl]",
        )
    )
    assert (spec.name, spec.top, spec.language) == ("my-counter", "counter", "systemverilog")
    assert spec.parameters == (Parameter("WIDTH", "8"),)
    assert spec.ports[2] == Port("q", "output", 8, signed=True, description="the count")
    assert spec.clock == Clock("clk", "negedge", 2.5)
    assert spec.reset == Reset("rst_n", "low", synchronous=False)
    assert spec.requirements == Requirements("ecp5", 100, None, None, 0, 62.5, 0, 1)
    (test,) = spec.tests
    assert (test.kind, test.source.path, test.support[0].text) == (TestKind.COCOTB, "test_it.py", "x = 1\n")
    assert [f.path for f in spec.context_files] == ["rtl/sub.v"]


@pytest.mark.parametrize(
    ("written", "port"),
    [
        ("input a", Port("a", "input")),
        ("input wire a,", Port("a", "input")),
        ("output reg [7:0] a", Port("a", "output", 8)),
        ("output logic signed [7:0]a;", Port("a", "output", 8, signed=True)),
        ("input [0:7] a", Port("a", "input", 8)),
        ("input [3:0][7:0] a", Port("a", "input", 32)),
        ("inout tri [3:0] a // the bus", Port("a", "inout", 4, description="the bus")),
        ("in a", Port("a", "input")),
        ("a: input", Port("a", "input")),
        ("a: input 8", Port("a", "input", 8)),
        ("a: 8-bit input", Port("a", "input", 8)),
        ("a: input, 8 bits, signed", Port("a", "input", 8, signed=True)),
        ("a: output reg [15:0] // data", Port("a", "output", 16, description="data")),
        ("input [7:0] a: the data", Port("a", "input", 8, description="the data")),
        ("a: {direction: output, width: 0x10}", Port("a", "output", 16)),
        ("{name: a, direction: input, width: 010}", Port("a", "input", 10)),
        ("{name: on, direction: in}", Port("on", "input")),
        ("input name", Port("name", "input")),
        ("name: input 3", Port("name", "input", 3)),
        ("a: input 8192", Port("a", "input", 8192)),
        ("input [WIDTH-1:0] a", Port("a", "input", None)),
    ],
)
def test_a_port_can_be_written_in_many_ways(tmp_path: Path, written: str, port: Port) -> None:
    assert ports_of(tmp_path, written) == (port,)


@pytest.mark.parametrize(
    ("written", "width"),
    [
        ("[W-1:0]", 8),
        ("[2*W-1:0]", 16),
        ("[W/8-1:0]", 1),
        ("[W-2:0]", 7),
        ("[W:1]", 8),
        ("[$clog2(D)-1:0]", 4),
        ("[$clog2(D):0]", 5),
        ("[2**W-1:0]", 256),
        ("[(W+1)*2-1:0]", 18),
        ("[T-1:0]", None),
    ],
)
def test_widths_are_worked_out_from_the_parameters(tmp_path: Path, written: str, width: int | None) -> None:
    head = "parameters:\n  - W = 8\n  - {name: D, default: 16}\n  - T\n"
    assert ports_of(tmp_path, f"input {written} a", head=head)[0].width == width


def test_ports_can_be_a_mapping_or_a_block_of_verilog(tmp_path: Path) -> None:
    expected = (Port("a", "input", 8), Port("q", "output"))
    assert load_spec(write(tmp_path, "ports:\n  a: input 8\n  q: {direction: output}")).ports == expected
    assert load_spec(write(tmp_path, "ports: |\n  // data\n  input  [7:0] a,\n\n  output reg q")).ports == expected


def test_several_names_share_a_declaration(tmp_path: Path) -> None:
    assert ports_of(tmp_path, "input [1:0] a, b") == (Port("a", "input", 2), Port("b", "input", 2))


@pytest.mark.parametrize(
    ("name", "active"),
    [("rst", "high"), ("rst_n", "low"), ("reset_b", "low"), ("rst_ni", "low"), ("aresetn", "low"), ("nrst", "low"),
     ("clear", "high"), ("restart_now", "high"), ("run", "high")],
)  # fmt: skip
def test_a_resets_polarity_follows_its_name(tmp_path: Path, name: str, active: str) -> None:
    assert load_spec(write(tmp_path, f"reset: {name}")).reset == Reset(name, active)


@pytest.mark.parametrize(
    ("keys", "reset"),
    [
        ("{port: rst_n, active: high}", Reset("rst_n", "high")),
        ("{port: r, synchronous: false}", Reset("r", "high", synchronous=False)),
        ("{port: r, async: off}", Reset("r", "high", synchronous=True)),
        ("{port: r, active: LOW, async: yes, synchronous: no}", Reset("r", "low", synchronous=False)),
    ],
)
def test_a_reset_can_be_spelled_out(tmp_path: Path, keys: str, reset: Reset) -> None:
    assert load_spec(write(tmp_path, f"reset: {keys}")).reset == reset


@pytest.mark.parametrize(
    ("front_matter", "place", "message", "hint"),
    [
        ("topp: a", "2:1", "unknown key 'topp' in the front matter", "did you mean 'top'?"),
        ("max_luts: 4", "2:1", "unknown key 'max_luts'", "put it under requirements:"),
        ("requirements: {target: ice40}", "2:16", "unknown key 'target'", "top level"),
        ("requirements:\n  max_lut: 4", "3:3", "unknown key 'max_lut' in requirements", "did you mean 'max_luts'?"),
        ("ports: [{name: a, direktion: input, direction: input}]", "2:19", "unknown key 'direktion'", "'direction'"),
        ("clock: {port: clk, perod_ns: 3}", "2:20", "unknown key 'perod_ns' in clock", "'period_ns'"),
        ("reset: {port: r, activ: low}", "2:18", "unknown key 'activ' in reset", "'active'"),
        ("tests: [{path: counter.md, kind: cocotb, kindd: 1}]", "2:42", "unknown key 'kindd' in a test", "'kind'"),
        ("parameters: [{name: W, defualt: 2}]", "2:24", "unknown key 'defualt' in a parameter", "'default'"),
        ("top: a\nclock: clk\ntop: b", "4:1", "key 'top' is given twice", "line 2"),
        ("top: [a]", "2:6", "top must be text, not a list", ""),
        ("top: 9a", "2:6", "top '9a' is not a Verilog identifier", "letters"),
        ("top: my-fifo", "2:6", "top 'my-fifo' is not a Verilog identifier", "for example my_fifo"),
        ("top: module", "2:6", "top 'module' is a keyword", "for example module_i"),
        ("name: a/b", "2:7", "name 'a/b' cannot be part of a folder's name", "a_b"),
        ("language: vhdl", "2:11", "unknown language 'vhdl'", "verilog"),
        ("target: ice4", "2:9", "unknown target 'ice4'", "did you mean 'ice40'?"),
        ("target: nexus", "2:9", "unknown target 'nexus'", "generic, ice40, ecp5, xc7"),
        ("requirements: 5", "2:15", "requirements must have keys, not be '5'", "max_luts"),
        ("requirements: {max_luts: -1}", "2:26", "max_luts must be between 1 and", ""),
        ("requirements: {max_luts: 0}", "2:26", "max_luts must be between 1 and", ""),
        ("requirements: {max_dsps: -1}", "2:26", "max_dsps must be between 0 and", ""),
        ("requirements: {max_luts: 1.5}", "2:26", "max_luts must be a whole number, not '1.5'", ""),
        ("requirements: {max_luts: 100LUT}", "2:26", "must be a whole number", "without its unit: 100"),
        ("requirements: {max_luts: true}", "2:26", "must be a whole number", ""),
        ("target: ice40\nrequirements: {min_fmax_mhz: .nan}", "3:30", "must be a number, not '.nan'", ""),
        ("target: ice40\nrequirements: {min_fmax_mhz: .inf}", "3:30", "must be a number, not '.inf'", ""),
        ("target: ice40\nrequirements: {min_fmax_mhz: 1e999}", "3:30", "must be a number", ""),
        ("target: ice40\nrequirements: {min_fmax_mhz: 0}", "3:30", "must be above zero, not 0", ""),
        ("target: ice40\nrequirements: {min_fmax_mhz: -5}", "3:30", "must be above zero, not -5", ""),
        ("target: ice40\nrequirements: {min_fmax_mhz: 100MHz}", "3:30", "not '100MHz'", "without its unit: 100"),
        ("target: ice40\nrequirements: {min_fmax_mhz: 0.1 GHz}", "3:30", "not '0.1 GHz'", "without its unit: 100"),
        ("requirements: {min_fmax_mhz: 50}", "2:30", "cannot be measured for the target generic", "ice40 or ecp5"),
        ("target: xc7\nrequirements: {min_fmax_mhz: 50}", "3:30", "for the target xc7", "ice40 or ecp5"),
        ("ports: [input a, input a]", "2:18", "port 'a' is declared twice", "line 2"),
        ("ports:\n- input a\n- input [3:0] a", "4:3", "port 'a' contradicts its first declaration", "line 3"),
        ("ports: [a: input 0]", "2:12", "port 'a' is 0 bits wide", ""),
        ("ports: [a: input 8193]", "2:12", "port 'a' is 8193 bits wide", ""),
        ("ports: [a: input -3]", "2:12", "width", ""),
        ("ports: [{name: a, direction: input, width: 0}]", "2:9", "port 'a' is 0 bits wide", ""),
        ("ports: [{name: a, direction: input, width: big}]", "2:44", "uses 'big', which is not a parameter", ""),
        ("ports: [{name: a, direction: input, width: 9**9**9}]", "2:44", "too large", ""),
        ("ports: [{name: a, direction: input, width: [1]}]", "2:44", "width must be text", ""),
        ("ports: [{name: a, direction: input, signed: perhaps}]", "2:45", "signed must be true or false", ""),
        ("ports: [{name: a}]", "2:9", "a port has no direction", "such as"),
        ("ports: [{direction: input}]", "2:9", "a port has no name", "such as"),
        ("ports: [a: 8]", "2:12", "port 'a' has no direction", "such as"),
        ("ports: [{name: a, direction: sideways}]", "2:30", "unknown direction 'sideways'", ""),
        ("ports: [inpt a]", "2:9", "cannot read the port 'inpt a'", "did you mean 'input'?"),
        ("ports:\n- input a [3:0]", "3:3", "cannot read the port", "unpacked"),
        ("ports: [input end]", "2:9", "port 'end' is a keyword", "end_i"),
        ("ports: [input a.b]", "2:9", "port 'a.b' is not a Verilog identifier", "a_b"),
        ("ports: [[a]]", "2:9", "a port cannot be a list", "such as"),
        ("ports:\n- input a\n-", "4:2", "a port cannot be empty", "such as"),
        ("ports: [a: [b]]", "2:12", "port 'a' cannot be a list", ""),
        ("clock: 7", "2:8", "clock port '7' is not a Verilog identifier", ""),
        ("clock: [clk]", "2:8", "clock must be a port's name or keys, not a list", "period_ns"),
        ("clock: {edge: posedge}", "2:8", "clock has no port", ""),
        ("clock: {port: clk, edge: up}", "2:26", "unknown clock edge 'up'", ""),
        ("clock: {port: clk, period_ns: 10ns}", "2:31", "period_ns must be a number", "unit: 10"),
        ("reset: rst_n low", "2:8", "reset must be one port's name", "active: low"),
        ("reset: {port: r, active: 0}", "2:26", "unknown reset level '0'", "high, low"),
        ("reset: {port: r, async: true, synchronous: true}", "2:25", "async contradicts synchronous", ""),
        ("clock: a\nreset: a", "3:8", "'a' cannot be both clock and reset", ""),
        ("clock: clk\nports: [input clock]", "2:8", "clock 'clk' is not among the ports", "'clock'"),
        ("clock: q\nports: [output q, input c]", "2:8", "clock 'q' is an output, not an input", ""),
        ("clock: c\nports:\n- input [1:0] c", "2:8", "clock 'c' is 2 bits wide, not 1", ""),
        ("reset: {port: r}\nports: [input rst]", "2:15", "reset 'r' is not among the ports", "rst"),
        ("tests: [tests/test_a.py]", "2:9", "test 'tests/test_a.py' does not exist", "does not exist"),
        ("tests: [te*.py]", "2:9", "test 'te*.py' matches no file", "relative to"),
        ("tests: [{kind: cocotb}]", "2:9", "a test has no path", ""),
        ("context: /nowhere/x.v", "2:10", "context '/nowhere/x.v' does not exist", ""),
        ("context: [~/x.v]", "2:11", "~ is not expanded", "relative"),
        ("context: ['**/**/x.v']", "2:11", "a glob is relative, with ** at most once", ""),
        ("context: [/**/x.v]", "2:11", "a glob is relative", ""),
        ("context: /dev/zero", "2:10", "is not a regular file", ""),
        ("parameters: [W = 1, W = 2]", "2:21", "parameter 'W' is declared twice", ""),
        ("top: {a: b", "2:11", "not YAML", ""),
        ("top: a: b", "2:7", "mapping values are not allowed here", "quotes"),
        ("clock:\n\tport: clk", "3:1", "indented with a tab", "spaces"),
        ("ports: [[[[[[[[[[[[[[[[[[[[a]]]]]]]]]]]]]]]]]]]]", "2:23", "nested more than 16 levels", ""),
        ("top: &x a\nname: *x", "2:6", "anchors are not accepted: &x", "write the value out"),
        ("top: *x", "2:6", "aliases are not accepted: *x", "write the value out"),
        ("top: !!python/object/apply:os.system ['id']", "2:6", "tags are not accepted", ""),
        ("top: !!str a", "2:6", "tags are not accepted", ""),
        ("just words", "2:1", "the front matter is not a list of keys", "top: fifo"),
        ("- a\n- b", "2:1", "the front matter is not a list of keys", "top: fifo"),
        ("? [a]\n: b", "2:3", "a key must be a plain name", ""),
        ('top: "a\\0b"', "2:6", "control character", ""),
        ('top: "\\ud800"', "2:6", "half a surrogate pair", ""),
        ('top: "\\UFFFFFFFF"', "1:1", "an escape or a number that YAML does not allow", ""),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, front_matter: str, place: str, message: str, hint: str
) -> None:
    error = error_of(tmp_path, front_matter)
    assert (error.where, error.exit_code) == (f"{tmp_path}/counter.md:{place}", 2)
    assert message in error.message
    assert hint in error.hint


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    error = error_of(tmp_path, "topp: a\nports: [input 9]\ntarget: ice4", prose="")
    name = f"{tmp_path}/counter.md"
    assert str(error).splitlines() == [
        f"{name}:2:1: unknown key 'topp' in the front matter",
        "  hint: did you mean 'top'?",
        f"{name}:3:9: port '9' is not a Verilog identifier",
        "  hint: letters, digits and _, no digit first",
        f"{name}:4:9: unknown target 'ice4'",
        "  hint: did you mean 'ice40'?",
        f"{name}:6:1: the spec has no text",
        "  hint: say below the front matter what the design does",
    ]


def test_a_wrong_port_is_not_blamed_on_the_clock(tmp_path: Path) -> None:
    error = error_of(tmp_path, "clock: clk\nports: [input a, inptu clk]")
    assert "clock" not in error.message


@pytest.mark.parametrize("text", ["", "\n\n", "---\n---\n", "---\ntop: a\n---\n \n"])
def test_a_spec_without_prose_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.md"
    path.write_text(text)
    with pytest.raises(SpecError, match="the spec has no text"):
        load_spec(path)


def test_unclosed_front_matter(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("\n---\ntop: a\n\nIt counts.\n")
    with pytest.raises(SpecError, match=r"a\.md:2:1: the front matter is not closed"):
        load_spec(path)


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbf---\r\ntop: a\r\n---\r\nIt\r\ncounts.\r\n")
    spec = load_spec(path)
    assert (spec.top, spec.text) == ("a", "It\ncounts.")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"abc\n\xff\xfe", r"not UTF-8 text \(line 2\)"),
        (b"a\0b", "binary"),
        (b"\x7fELF\0\xff", "binary"),
        (b"a" * 1_000_001, "larger than 1 MB"),
    ],
)
def test_a_file_that_is_no_text(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.md").write_bytes(data)
    with pytest.raises(SpecError, match=message):
        load_spec(tmp_path / "a.md")
    error = error_of(tmp_path, "context: a.md")
    assert "context 'a.md'" in error.message


def test_a_missing_spec_or_a_wrong_kind_of_path(tmp_path: Path) -> None:
    write(tmp_path, "top: a")
    with pytest.raises(SpecError) as missing:
        load_spec(tmp_path / "conter.md")
    assert missing.value.hint == "did you mean counter.md?"
    with pytest.raises(SpecError, match="is a folder"):
        load_spec(tmp_path)
    (tmp_path / "a.v").write_text("module a; endmodule\n")
    with pytest.raises(SpecError) as rtl:
        load_spec(tmp_path / "a.v")
    assert "`context: [a.v]`" in rtl.value.hint
    with pytest.raises(SpecError, match="cannot be read"):
        load_spec(tmp_path / ("x" * 300))
    with pytest.raises(SpecError, match="not a possible path"):
        load_spec(tmp_path / "a\0b")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_spec(tmp_path: Path) -> None:
    path = write(tmp_path, "top: a")
    path.chmod(0)
    with pytest.raises(SpecError, match="Permission denied"):
        load_spec(path)


def test_tests_are_told_apart_by_suffix(tmp_path: Path) -> None:
    for name in ("test_a.py", "tb.sv", "tb2.v", "bench.inc", "test-b.py"):
        (tmp_path / name).write_text("x\n")
    spec = load_spec(write(tmp_path, "tests: [test_a.py, {path: tb.sv, top: tb}, 'tb2*']"))
    assert [(t.source.path, t.kind, t.top) for t in spec.tests] == [
        ("test_a.py", "cocotb", None),
        ("tb.sv", "systemverilog", "tb"),
        ("tb2.v", "systemverilog", None),
    ]
    assert load_spec(write(tmp_path, "tests: {path: bench.inc, kind: systemverilog}")).tests[0].kind == "systemverilog"
    assert "cannot tell what kind" in error_of(tmp_path, "tests: bench.inc").message
    assert "cannot be imported" in error_of(tmp_path, "tests: test-b.py").message
    assert "no top module of its own" in error_of(tmp_path, "tests: {path: test_a.py, top: a}").message
    assert "named twice" in error_of(tmp_path, "tests: [tb.sv, tb.*]").message
    assert "support file 'nope'" in error_of(tmp_path, "tests: {path: tb.sv, support: nope}").message
    assert "is a folder" in error_of(tmp_path, "tests: ../" + tmp_path.name).message


def test_context_takes_files_globs_and_folders(tmp_path: Path) -> None:
    for name in ("work/rtl/b.v", "work/rtl/deep/a.sv", "work/rtl/.git/x.v", "doc/notes.md", "work/up.v"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"// {name.removeprefix('work/')}\n")
    spec = load_spec(write(tmp_path / "work", "context: [rtl, '../doc/*', up.v, up.v]"))
    assert [f.path for f in spec.context_files] == ["rtl/b.v", "rtl/deep/a.sv", "../doc/notes.md", "up.v"]
    assert spec.context_files[0].text == "// rtl/b.v\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../lib/a.v", "the existing design's file '../lib/a.v' lies outside the spec's folder"),
        ("my file.sv", "the existing design's file 'my file.sv' has a name that cannot be used in the design"),
        ("größe.vh", "the existing design's file 'größe.vh' has a name that cannot be used in the design"),
    ],
)
def test_existing_rtl_that_no_answer_could_name_is_refused(tmp_path: Path, name: str, message: str) -> None:
    folder = tmp_path / "work"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("module a; endmodule\n")
    (folder / "../notes.md").write_text("# notes\n")
    path = folder / "spec.md"
    folder.mkdir(exist_ok=True)
    path.write_text(f'---\ncontext: ["{name}", ../notes.md]\n---\nDoes it.\n')
    with pytest.raises(SpecError) as caught:
        load_spec(path)
    assert message in str(caught.value)
    assert ":2:" in str(caught.value)
    path.write_text("---\ncontext: ../notes.md\n---\nDoes it.\n")
    assert [f.path for f in load_spec(path).context_files] == ["../notes.md"]


def test_an_empty_context_folder(tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    assert "the context folder rtl has no RTL" in error_of(tmp_path, "context: rtl").message


def test_a_file_whose_name_looks_like_a_glob(tmp_path: Path) -> None:
    (tmp_path / "a[1].md").write_text("x\n")
    assert load_spec(write(tmp_path, "context: 'a[1].md'")).context_files[0].path == "a[1].md"


def test_a_c_file_is_a_spec(tmp_path: Path) -> None:
    path = tmp_path / "fir.c"
    path.write_text("int fir(int x) { return x; }\n")
    spec = load_spec(path)
    assert spec.c_source is not None
    assert (spec.name, spec.c_source.path, spec.c_source.text) == ("fir", "fir.c", path.read_text())
    path.write_text(" ")
    with pytest.raises(SpecError, match="the C file is empty"):
        load_spec(path)


def test_the_digest_covers_prose_keys_and_files(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("module a; endmodule\n")
    first = load_spec(write(tmp_path, "context: a.v")).sha256
    assert first == load_spec(write(tmp_path, "context: a.v")).sha256
    (tmp_path / "a.v").write_text("module a; endmodule \n")
    others = {
        load_spec(write(tmp_path, "context: a.v")).sha256,
        load_spec(write(tmp_path, "top: a")).sha256,
        load_spec(write(tmp_path, "top: a", "Other.")).sha256,
    }
    assert len({first, *others}) == 4


def test_a_spec_called_spec_is_named_after_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "sync fifo"
    folder.mkdir()
    (folder / "spec.md").write_text("A FIFO.\n")
    assert load_spec(folder / "spec.md").name == "sync_fifo"


def test_a_long_front_matter_is_refused_quickly(tmp_path: Path) -> None:
    assert "longer than 256 KiB" in error_of(tmp_path, "ports: [" + "input a, " * 40_000 + "]").message


def _front_matters() -> st.SearchStrategy[str]:
    word = st.sampled_from(
        ["top", "ports", "clock", "reset", "tests", "context", "requirements", "target", "parameters", "name", "input",
         "output", "width", "direction", "a", "[7:0]", "[W-1:0]", "8", "-", ":", "{", "}", "[", "]", ",", "'", '"', "|",
         ">", "&a", "*a", "!x", "?", "#", "\n", "\n  ", "\n- ", " ", "\t", "*.py", "/", "..", "%YAML 9", "\\x", "0x"]
    )  # fmt: skip
    return st.one_of(st.text(max_size=200), st.lists(word | st.text(max_size=4), max_size=40).map(" ".join))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_front_matters(), fenced=st.booleans())
def test_any_text_is_a_spec_or_a_spec_error(tmp_path: Path, text: str, fenced: bool) -> None:
    path = tmp_path / "any.md"
    path.write_text(f"---\n{text}\n---\nProse.\n" if fenced else text, encoding="utf-8", errors="surrogatepass")
    try:
        spec = load_spec(path)
    except SpecError as error:
        assert str(error)
    else:
        assert spec.text


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
def test_any_bytes_are_a_spec_or_a_spec_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.md"
    path.write_bytes(b"---\n" + data + b"\n---\nx")
    try:
        load_spec(path)
    except SpecError as error:
        assert str(error)


C_BLOCK = """# Adds

```c
int add(int a, int b) {
    return a + b;
}
```

And a shell block:

```sh
f() { true; }
```
"""


def c_spec(tmp_path: Path, text: str, **asked: object) -> Spec:
    path = tmp_path / "spec.md"
    path.write_text(text)
    return load_spec(path, Asked(**asked))  # type: ignore[arg-type]


def test_a_c_code_block_keeps_its_line_numbers(tmp_path: Path) -> None:
    spec = c_spec(tmp_path, "---\ntop: add\nclock: 8ns\n---\n" + C_BLOCK)
    assert spec.c_source is not None
    assert spec.c_source.path == "spec.md"
    assert spec.c_source.text.split("\n")[7] == "int add(int a, int b) {"
    assert "true" not in spec.c_source.text
    assert (spec.top, spec.clock_ns, spec.requirements) == ("add", 8.0, Requirements("ecp5", min_fmax_mhz=125.0))


@pytest.mark.parametrize(
    ("front", "is_c"),
    [
        ("", True),
        ("top: add", True),
        ("top: adder", False),
        ("top: add\nports: [input a]", False),
        ("ports: [input a]", False),
    ],
)
def test_a_c_block_rules_only_if_it_defines_the_top(front: str, is_c: bool, tmp_path: Path) -> None:
    spec = c_spec(tmp_path, f"---\n{front}\n---\n{C_BLOCK}")
    assert (spec.c_source is not None) == is_c


def test_a_prototype_is_no_c_source(tmp_path: Path) -> None:
    assert c_spec(tmp_path, "# A driver\n\n```c\nint add(int a, int b);\n```\n").c_source is None


def test_source_names_a_c_file_and_what_it_includes_comes_along(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/k.cpp").write_text('#include "k.h"\n#include "gone.h"\nint f() { return N; }\n')
    (tmp_path / "src/k.h").write_text('#include "deep.h"\n')
    (tmp_path / "src/deep.h").write_text("#define N 3\n")
    spec = c_spec(tmp_path, "---\nsource: src/k.cpp\ntarget: xc7\nclock: 100MHz\n---\n")
    assert spec.c_source is not None
    assert (spec.c_source.path, spec.c_language, spec.clock_ns) == ("src/k.cpp", "c++", 10.0)
    assert [f.path for f in spec.context_files] == ["src/k.h", "src/deep.h"]
    assert spec.requirements.min_fmax_mhz is None  # nothing places and routes xc7


def test_files_above_the_c_file_are_rooted_where_all_fit(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "inc").mkdir()
    (tmp_path / "src/k.c").write_text('#include "../inc/k.h"\nint f(void) { return N; }\n')
    (tmp_path / "inc/k.h").write_text("#define N 3\n")
    spec = load_spec(tmp_path / "src/k.c")
    assert spec.c_source is not None
    assert [spec.c_source.path, *(f.path for f in spec.context_files)] == ["src/k.c", "inc/k.h"]


def test_the_command_line_stands_over_a_c_spec(tmp_path: Path) -> None:
    (tmp_path / "tb.c").write_text("int main(void) { return 0; }\n")
    text = "---\ntop: add\nclock: 10ns\n---\n" + C_BLOCK
    spec = c_spec(tmp_path, text, top="add", target="ice40", clock_ns=20.0, files=(tmp_path / "tb.c",))
    assert spec.requirements == Requirements("ice40", min_fmax_mhz=50.0)
    assert [f.path for f in spec.context_files] == ["tb.c"]
    with pytest.raises(UsageError, match="--clock does not go with a spec in prose"):
        c_spec(tmp_path, "# Prose\n", clock_ns=10.0)


def test_ports_and_clock_names_do_not_go_with_c(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        c_spec(tmp_path, "---\ntop: add\nlanguage: verilog\nclock: clk\n---\n" + C_BLOCK)
    assert "spec.md:3:11: language does not go with a C source" in str(caught.value)
    assert "spec.md:4:8: not a clock: 'clk'" in str(caught.value)


@pytest.mark.parametrize(
    ("written", "period"), [("10", 10.0), ("2.5ns", 2.5), ("100 MHz", 10.0), ("500ps", 0.5), ("0.1GHz", 10.0)]
)
def test_clocks_are_read_as_people_write_them(written: str, period: float) -> None:
    assert period_ns(written) == pytest.approx(period)


@pytest.mark.parametrize("written", ["", "0", "-5", "clk", "10 bananas", "1e9", "0.001ps", "nan", "10ns20"])
def test_what_is_no_clock_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="clock"):
        period_ns(written)


def test_the_example_in_the_readme_is_a_spec(tmp_path: Path) -> None:
    readme = (Path(__file__).resolve().parents[1] / "README.md").read_text()
    text = next(block for block in readme.split("```\n") if block.startswith("---\nname:"))
    for name in ("tests/test_mine.py", "rtl/a.v", "docs/bus.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("// something\n")
    spec = load_spec(write(tmp_path, text.partition("---\n")[2].partition("---\n")[0]))
    assert (spec.name, spec.top, [p.name for p in spec.parameters]) == ("fifo", "sync_fifo", ["WIDTH"])
    for key in (*_KEYS, *_REQUIREMENTS):
        assert re.search(rf"\b{key}\b", readme), f"README.md does not tell of {key}"
