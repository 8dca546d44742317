"""Names that tools cannot take: Verilog goes under plain ones, and what the tools say comes back under the user's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.formal import equiv
from rtlagent.tools.inspect import inspect
from rtlagent.tools.lint import lint
from rtlagent.tools.simulate import simulate
from rtlagent.tools.staging import require_size, stage
from rtlagent.tools.synthesize import synthesize
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, TestFile, TestKind

TEXT = """module inv(input a, output y);
  assign y = ~a;
endmodule
"""
NAMES = [
    "naïve.v",
    "日本/語.sv",
    "it's.v",
    'a "b".v',
    "my design/my file.v",
    "$(touch pwned).v",
    "`touch pwned`.v",
    "a;b&c.v",
    "-o.v",
    "+define+x.v",
    "two\nlines.v",
    "a:b,c.v",
    "back\\slash.v",
]
TEST = "import cocotb\nfrom cocotb.triggers import Timer\n\n\n@cocotb.test()\nasync def inverts(dut):\n"
TEST += "    dut.a.value = 1\n    await Timer(1, 'ns')\n    assert dut.y.value == 0\n"


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_takes_every_name(name: str, tool_config: ToolConfig) -> None:
    files = [SourceFile(name, TEXT)]
    assert lint(files, config=tool_config).status is Status.PASS
    assert inspect(files, config=tool_config).modules[0].path == name
    assert synthesize(files, top="inv", config=tool_config).status is Status.PASS
    assert equiv(files, files, top="inv", config=tool_config).status is Status.PASS
    tests = [TestFile(SourceFile("test_inv.py", TEST), TestKind.COCOTB)]
    assert simulate(files, tests, top="inv", simulator="icarus", config=tool_config).status is Status.PASS


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_verilator_takes_every_name(name: str, tool_config: ToolConfig) -> None:
    bench = (
        TEXT.replace("inv", "tb")
        .replace("input a, output y", "")
        .replace("assign y = ~a;", 'reg a = 1; wire y; inv dut(a, y); initial #1 if (y === 0) $display("PASS");')
    )
    tests = [TestFile(SourceFile(f"tb/{name}", bench), TestKind.SYSTEMVERILOG, top="tb")]
    step = simulate([SourceFile(name, TEXT)], tests, top="inv", simulator="verilator", config=tool_config)
    assert step.status is Status.PASS, step.detail


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_is_said_under_the_users_name(name: str, tool_config: ToolConfig) -> None:
    files = [SourceFile(name, TEXT.replace("~a", "~nothing"))]
    for step in (lint(files, config=tool_config), synthesize(files, top="inv", config=tool_config)):
        assert step.status is Status.FAIL
        assert {(d.path, d.line) for d in step.diagnostics if d.severity is Severity.ERROR} == {(name, 2)}


def test_an_include_finds_a_file_with_an_unusual_name(tool_config: ToolConfig) -> None:
    files = [
        SourceFile(
            "rtl/top.v", '`include "größen & so.vh"\n`include "sub dir/more.vh"\n' + TEXT.replace("~a", "`INV(a)")
        ),
        SourceFile("rtl/größen & so.vh", "`define INV(x) `NOT x\n"),
        SourceFile("rtl/sub dir/more.vh", "`define NOT ~\n"),
    ]
    assert lint(files, config=tool_config).status is Status.PASS
    assert synthesize(files, top="inv", config=tool_config).status is Status.PASS
    tests = [TestFile(SourceFile("test_inv.py", TEST), TestKind.COCOTB)]
    assert simulate(files, tests, top="inv", simulator="icarus", config=tool_config).status is Status.PASS


def test_plain_names_stay_and_others_make_way(tmp_path: Path) -> None:
    paths = ["a b.v", "a_b.v", "a+b.v", "data été.hex", "tests/test_é.py", "/abs/x.v", "../y.v"]
    staged = stage([SourceFile(p, f"// {p}\n") for p in paths], tmp_path)
    assert staged.paths == ("a_b_2.v", "a_b.v", "a_b_3.v", "data été.hex", "tests/test_é.py", "ext/abs/x.v", "ext/y.v")
    for path, place in zip(paths, staged.paths, strict=True):
        assert (tmp_path / place).read_text() == f"// {path}\n"
        assert staged.place(path) == place
    found = Diagnostic("t", Severity.ERROR, "X", "see a_b_2.v:3, not a_b.v or other/a_b_2.v", "/work/a_b_2.v", 1)
    assert staged.restore(found) == replace(found, path="a b.v", message="see a b.v:3, not a_b.v or other/a_b_2.v")


def test_without_verilog_no_name_changes(tmp_path: Path) -> None:
    assert stage([SourceFile("my kernel.h", "int f(void);\n")], tmp_path).paths == ("my kernel.h",)


def test_two_files_at_one_place_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two files have the same path"):
        stage([SourceFile("/x.v", ""), SourceFile("../x.v", "")], tmp_path)


def test_more_verilog_than_the_limit_is_refused_by_every_tool(tool_config: ToolConfig) -> None:
    small = replace(tool_config, limits=replace(tool_config.limits, source_mb=0.001))
    files = [SourceFile("big.v", TEXT + "// filler\n" * 100), SourceFile("data.hex", "00\n" * 1000)]
    tests = [TestFile(SourceFile("test_inv.py", TEST), TestKind.COCOTB)]
    runs = [
        lambda: lint(files, config=small),
        lambda: inspect(files, config=small),
        lambda: synthesize(files, top="inv", config=small),
        lambda: simulate(files, tests, top="inv", config=small),
    ]
    for run in runs:
        with pytest.raises(UsageError, match=r"hold 0\.0 MB, more than the limit of 0\.001 MB.*\n\n.*SOURCE_MB"):
            run()
    require_size(files[1:], small)
