"""The project's own suite: every problem is complete, its design passes its test, and its test notices mistakes."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.bench.audit import AuditJob, ProblemAudit, audit
from rtlagent.bench.audit.findings import GOLDEN, NOT_AUDITED, SIMULATORS, TRIVIAL
from rtlagent.bench.suites import suite
from rtlagent.config import ToolConfig
from rtlagent.spec import load_spec
from rtlagent.tools.inspect import inspect
from rtlagent.tools.lint import lint
from rtlagent.types import Port, SourceFile, Status

RTL = Path(__file__).parents[2] / "benchmarks" / "suites" / "rtl"
NAMES = sorted(place.parent.name for place in RTL.glob("*/spec.md"))
OWN = suite("folder")
MUTANTS = 30
LEAST_SHARE = 0.95
LEAST_PROBLEMS = 40
TELLING_CHARS = 20
"""A line of a design that is shorter, such as `endmodule`, may stand in a spec."""


def golden_of(name: str) -> tuple[SourceFile, ...]:
    golden = OWN.golden(RTL, name)
    assert golden, f"{name} has no golden design"
    return golden


def shape(ports: tuple[Port, ...]) -> set[tuple[str, str, int | None]]:
    return {(p.name, p.direction, p.width) for p in ports}


def audited(name: str, config: ToolConfig, records: Path, mutants: int) -> ProblemAudit:
    job = AuditJob("folder", RTL, config, records, mutants=mutants, jobs=1)
    (found,) = audit(job, [p for p in OWN.problems(RTL) if p.name == name])
    return found


def test_each_folder_is_a_problem() -> None:
    problems = OWN.problems(RTL)
    assert sorted(p.name for p in problems) == NAMES
    assert len(NAMES) >= LEAST_PROBLEMS
    for problem in problems:
        place = RTL / problem.name
        assert problem.top == problem.name
        assert [t.name for t in (place / "tests").iterdir() if t.suffix == ".py"] == [f"test_{problem.name}.py"]
        assert f"{problem.name}.v" in {g.path for g in golden_of(problem.name)}


def test_the_spec_names_the_ports_of_the_design(tool_config: ToolConfig) -> None:
    files = [replace(f, path=f"{name}/{f.path}") for name in NAMES for f in golden_of(name)]
    design = inspect(files, config=tool_config)
    for name in NAMES:
        spec = load_spec(RTL / name / "spec.md")
        module = design.module(name)
        assert module is not None, name
        assert shape(spec.ports) == shape(module.ports), name
        clocked = {port for port in (spec.clock and spec.clock.port, spec.reset and spec.reset.port) if port}
        assert clocked <= {p.name for p in spec.ports}, name


def test_no_line_of_the_design_is_in_the_spec() -> None:
    for problem in OWN.problems(RTL):
        for file in golden_of(problem.name):
            lines = [line.strip() for line in file.text.splitlines()]
            shown = [x for x in lines if len(x) >= TELLING_CHARS and x in problem.spec_text]
            assert not shown, f"{problem.name}: {shown}"


def test_the_tests_use_nothing_but_ports() -> None:
    for name in NAMES:
        ports = {p.name for p in load_spec(RTL / name / "spec.md").ports}
        for file in (RTL / name / "tests").glob("*.py"):
            nodes = ast.walk(ast.parse(file.read_text()))
            reads = [n for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) in ("dut", "self.dut")]
            assert {n.attr for n in reads} <= ports, f"{name}: {sorted({n.attr for n in reads} - ports)}"
            assert reads, name


@pytest.mark.parametrize("name", ["round_robin_arbiter", "isqrt_seq"])
def test_some_designs_pass(name: str, tool_config: ToolConfig) -> None:
    found = OWN.score(RTL, name, golden_of(name), config=tool_config, simulator="icarus")
    assert found.status is Status.PASS, found.message


def test_a_wrong_design_fails(tool_config: ToolConfig) -> None:
    (design,) = golden_of("mux8_onehot")
    wrong = design.text.replace("sel[k] && !conflict", "sel[k]")
    assert wrong != design.text
    found = OWN.score(RTL, "mux8_onehot", [SourceFile(design.path, wrong)], config=tool_config, simulator="icarus")
    assert (found.status, found.failure_class) == (Status.FAIL, "design"), found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_design_is_free_of_warnings(name: str, tool_config: ToolConfig) -> None:
    found = lint(golden_of(name), top=name, language="verilog", config=tool_config)
    assert found.passed and not found.diagnostics, [str(d) for d in found.diagnostics]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_design_passes_on_both_simulators_and_trivial_ones_fail(
    name: str, tool_config: ToolConfig, tmp_path: Path
) -> None:
    found = audited(name, tool_config, tmp_path, mutants=0)
    assert {(r.simulator, r.status) for r in found.runs if r.design == "golden"} == {
        ("icarus", "PASS"),
        ("verilator", "PASS"),
    }
    bad = [f for f in found.findings if f.kind in (GOLDEN, NOT_AUDITED, SIMULATORS, TRIVIAL)]
    assert not found.defects and not bad, found.findings
    trivial = {(r.design, r.status == "PASS") for r in found.runs if r.design != "golden"}
    assert trivial == {("all zero", False), ("all X", False)}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_test_notices_mistakes(name: str, tool_config: ToolConfig, tmp_path: Path) -> None:
    found = audited(name, tool_config, tmp_path, mutants=MUTANTS)
    assert found.mutation is not None, found.findings
    share = found.mutation.share
    assert share is not None and share >= LEAST_SHARE, found.mutation.survivors
