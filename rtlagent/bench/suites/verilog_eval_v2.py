"""VerilogEval version 2: `ProbNNN_name_{prompt.txt,ref.sv,test.sv}` and, to complete code, `..._ifc.txt`."""

from __future__ import annotations

from pathlib import Path

from rtlagent.bench.hidden_test import HiddenTest
from rtlagent.bench.problem import Problem
from rtlagent.bench.suites import mismatch_count
from rtlagent.bench.suites.testbench_suite import (
    TestbenchSuite,
    files_sha256,
    read_source,
    require_folder,
    unknown_problem,
    with_header,
)
from rtlagent.bench.verilog_tokens import normal, renamed
from rtlagent.errors import UsageError
from rtlagent.types import SourceFile

_TOP = "TopModule"
_REFERENCE = "RefModule"
_PROMPT, _INTERFACE, _TEST, _GOLDEN = "_prompt.txt", "_ifc.txt", "_test.sv", "_ref.sv"
_BENCH = "tb"


class VerilogEvalV2(TestbenchSuite):
    """The folders `dataset_spec-to-rtl` and `dataset_code-complete-iccad2023`."""

    name = "verilog-eval-v2"

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the problems by the names of their prompts."""
        folder = self._folder(path)
        return tuple(self._problem(folder, name) for name in self._names(folder))

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return the reference under the name that an answer has."""
        file = self._part(path, name, _GOLDEN)
        return (SourceFile(f"{name}.sv", renamed(normal(read_source(file).text), _REFERENCE, _TOP)),)

    def hidden_test(self, path: Path, name: str) -> HiddenTest:
        """Return testbench and reference."""
        files = (read_source(self._part(path, name, _TEST)), read_source(self._part(path, name, _GOLDEN)))
        return HiddenTest(_BENCH, files, rule=mismatch_count.rule)

    def data_sha256(self, path: Path) -> str:
        """Return a digest of prompts, tests and references."""
        folder = self._folder(path)
        kept = (_PROMPT, _INTERFACE, _TEST, _GOLDEN)
        return files_sha256(folder, [f for f in folder.glob("Prob*") if f.name.endswith(kept)])

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Put the module's header in front where the answer only completes it."""
        header = self._folder(path) / f"{name}{_INTERFACE}"
        if header.is_file():
            text = with_header(read_source(header).text, text, _TOP)
        return (SourceFile(f"{name}.sv", text),)

    def _folder(self, path: Path) -> Path:
        require_folder(self.name, path)
        if any(path.glob(f"Prob*{_PROMPT}")):
            return path
        inside = sorted(p.parent for p in path.glob(f"dataset_*/Prob001_*{_PROMPT}"))
        inside = inside or sorted({p.parent for p in path.glob(f"*/Prob*{_PROMPT}")})
        if not inside:
            raise UsageError(f"{path} holds no file Prob..._prompt.txt", hint="name the folder dataset_spec-to-rtl")
        if len(inside) > 1:
            raise UsageError(f"{path} holds several data sets", hint=f"name one of {', '.join(p.name for p in inside)}")
        return inside[0]

    @staticmethod
    def _names(folder: Path) -> list[str]:
        return sorted(p.name.removesuffix(_PROMPT) for p in folder.glob(f"Prob*{_PROMPT}"))

    def _problem(self, folder: Path, name: str) -> Problem:
        text = read_source(folder / f"{name}{_PROMPT}").text.strip() + "\n"
        header = folder / f"{name}{_INTERFACE}"
        if header.is_file():
            interface = read_source(header).text.strip()
            if interface not in text:
                text += f"\n{interface}\n"
        return Problem(self.name, name, text, top=_TOP, language="systemverilog")

    def _part(self, path: Path, name: str, suffix: str) -> Path:
        folder = self._folder(path)
        file = folder / f"{name}{suffix}"
        if "/" in name or not file.is_file():
            raise unknown_problem(self.name, path, name, self._names(folder))
        return file
