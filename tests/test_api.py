"""The public functions, as somebody would call them from Python."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import rtlagent
from rtlagent import SourceFile, compile_c, generate, lint, simulate, synthesize, verify
from rtlagent.errors import CSourceError, UsageError
from rtlagent.types import Grade, Status

INVERTER = SourceFile("inv.v", "module inv(input a, output y);\n  assign y = ~a;\nendmodule\n")
TEST = SourceFile(
    "test_inv.py",
    """import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def inverts(dut):
    for a in (0, 1, 0):
        dut.a.value = a
        await Timer(1, "ns")
        assert dut.y.value == 1 - a
""",
)
GOLDEN = """class Golden:
    def reset(self):
        pass

    def outputs(self, i):
        return {"y": 1 - i["a"]}

    def clock(self, i):
        pass


def directed():
    return {"both": [{"a": 0}, {"a": 1}, {"a": 0}]}
"""
SCALE = "int scale(int x, int k) {\n  return x * k + 1;\n}\n"
SPEC = """---
top: inv
ports:
  - input a
  - output y
tests: [test_inv.py]
---
Output y is the inverse of input a.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_names_are_there_and_light() -> None:
    for name in rtlagent.__all__:
        assert getattr(rtlagent, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = rtlagent.nothing
    code = (
        "import rtlagent, sys; print(sorted(m for m in sys.modules if m in ('typer', 'pyslang', 'llvmlite', 'rich')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_module_takes_the_place_of_a_function() -> None:
    """Importing a submodule sets an attribute of the package."""
    for name in ("generate", "compile_c", "verify", "lint", "simulate", "synthesize"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(f"rtlagent.{name}")


def test_lint_and_synthesize(folder: Path) -> None:
    assert lint([INVERTER]).status is Status.PASS
    wrong = lint([SourceFile("inv.v", INVERTER.text.replace("~a", "~(a"))])
    assert wrong.status is Status.FAIL
    assert wrong.diagnostics[0].line == 2
    (folder / "rtl").mkdir()
    (folder / "rtl/inv.v").write_text(INVERTER.text)
    for files in (["rtl"], [Path("rtl/inv.v")], [INVERTER]):
        assert synthesize(files, target="ice40").metrics.luts == 1


def test_simulate(folder: Path) -> None:
    assert simulate([INVERTER], [TEST]).status is Status.PASS
    wrong = simulate([SourceFile("inv.v", INVERTER.text.replace("~", ""))], [TEST], keep_dir="kept")
    assert wrong.status is Status.FAIL
    assert [t.name for t in wrong.tests if t.status is Status.FAIL]
    assert list((folder / "kept").iterdir())


def test_verify(folder: Path) -> None:
    (folder / "spec.md").write_text(SPEC)
    (folder / "test_inv.py").write_text(TEST.text)
    verdict = verify("spec.md", [INVERTER], mutants=4)
    assert verdict.passed, verdict
    assert verdict.grade is not Grade.NONE
    wrong = verify("spec.md", [SourceFile("inv.v", INVERTER.text.replace("~", ""))], mutants=0)
    assert not wrong.passed
    assert verify("spec.md", [INVERTER], mutants=0).steps[0].status is not Status.ERROR


def test_verify_with_a_golden_model(folder: Path) -> None:
    (folder / "spec.md").write_text(SPEC.replace("tests: [test_inv.py]\n", ""))
    with pytest.raises(UsageError, match="nothing judges"):
        verify("spec.md", [INVERTER])
    (folder / "golden.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match="the golden model cannot judge"):
        verify("spec.md", [INVERTER], golden="golden.py")
    golden = SourceFile("golden.py", GOLDEN)
    verdict = verify("spec.md", [INVERTER], golden=golden, mutants=0, logs="logs")
    assert verdict.passed, verdict
    wrong = verify("spec.md", [SourceFile("inv.v", INVERTER.text.replace("~", ""))], golden=golden, mutants=0)
    assert not wrong.passed
    assert [s.step for s in wrong.steps if s.status is Status.FAIL] == ["simulate"]


def test_compile_c(folder: Path) -> None:
    (folder / "scale.c").write_text(SCALE)
    result = compile_c("scale.c", top="scale", target="xc7", clock="5ns")
    assert "module scale (" in result.design.text
    assert result.interface.result_width == 32
    (folder / "scale.c").write_text(SCALE.replace("int k", "float k"))
    with pytest.raises(CSourceError) as caught:
        compile_c(folder / "scale.c")
    assert caught.value.where.startswith(str(folder / "scale.c"))


def test_generate_from_c(folder: Path) -> None:
    (folder / "scale.c").write_text(SCALE)
    events: list[str] = []
    result = generate("scale.c", out="rtl", target="ecp5", on_event=lambda e: events.append(str(e["event"])))
    assert result.passed, result.report.reason
    assert result.files and result.files[0].is_file()
    assert result.folder.parent == Path("runs").absolute() or result.folder.parent == Path("runs")
    assert events[0] == "started" and events[-1] == "ended"


def test_generate_from_a_recording(folder: Path) -> None:
    example = Path(__file__).parents[1] / "examples/edge_detector"
    result = generate(example / "spec.md", model=f"replay:{example / 'replies.jsonl'}", mutants=0, runs_dir="here")
    assert result.passed, result.report.reason
    assert result.folder.is_dir() and "here" in result.folder.parts
    assert result.files == ()


def test_wrong_input(folder: Path) -> None:
    for call in (
        lambda: lint("inv.v"),
        lambda: lint(["nothing.v"]),
        lambda: lint([INVERTER, INVERTER]),
        lambda: simulate([INVERTER], []),
        lambda: simulate([INVERTER], [SourceFile("notes.txt", "hello")]),
        lambda: generate("nothing.md", model="replay:nothing"),
        lambda: compile_c("nothing.c"),
        lambda: generate("nothing.md", max_iteration=3),
    ):
        with pytest.raises(UsageError) as caught:
            call()
        assert caught.value.message
