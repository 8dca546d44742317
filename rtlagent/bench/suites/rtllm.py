"""RTLLM, versions 1.1 and 2: a folder a problem with design_description.txt, testbench.v and verified_NAME.v."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

from rtlagent.bench.hidden_test import HiddenTest, Ruling, Said, judge_prints
from rtlagent.bench.problem import Problem
from rtlagent.bench.suites.testbench_suite import (
    TestbenchSuite,
    defines_module,
    files_sha256,
    read_source,
    require_folder,
    unknown_problem,
)
from rtlagent.bench.verilog_tokens import declared, normal, renamed, tokens
from rtlagent.errors import UsageError
from rtlagent.spec.names import KEYWORDS
from rtlagent.tools.testbench_top import top_modules
from rtlagent.types import SourceFile, Status

_DESCRIPTION = re.compile(r"design[_ ]?description\s*\.(?:txt|md)\Z", re.I)
_BENCH_NAME = re.compile(r"(?:testbench|tb)\w*\.s?v\Z|\w+_(?:tb|testbench)\.s?v\Z|test_\w+\.s?v\Z", re.I)
_GOLDEN_NAME = re.compile(r"verified_?\w*\.s?v\Z", re.I)
_MODULE_NAME = re.compile(r"module\s+name\s*:?\s*\n?\s*`?([A-Za-z_]\w*)", re.I)
_VERILOG = (".v", ".sv")
_NO_DATA = (*_VERILOG, ".md", ".py", ".sh", ".tcl", ".log", ".vcd", ".fsdb", ".vvp", ".o")
_PASSED = re.compile(r"\b(?:your\s+)?design\s+pass(?:ed)?\b", re.I)
_NOT = re.compile(r"\b(?:not|n't|never)\b", re.I)


class Rtllm(TestbenchSuite):
    """Problems are found by their descriptions, however deep their folders lie."""

    def __init__(self, name: str) -> None:
        self.name = name

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the problems by the names of their folders; two of the same name go by their paths, with dots."""
        return tuple(self._problem(path, name, folder) for name, folder in self._folders(path).items())

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return the verified design, its top module under the name that the testbench instantiates."""
        folder = self._find(path, name)
        verilog = [f for f in sorted(folder.iterdir()) if f.suffix.lower() in _VERILOG and f != _bench(folder)]
        chosen = [f for f in verilog if _GOLDEN_NAME.match(f.name)] or (verilog if len(verilog) == 1 else [])
        if not chosen:
            return None
        files = [SourceFile(f.name, normal(read_source(f).text)) for f in chosen]
        wanted = _instantiated(read_source(_bench(folder) or chosen[0]).text)
        own = [m for f in files for m in declared(tokens(f.text))]
        if wanted and not any(w in own for w in wanted):
            old = next((m for w in wanted for m in own if m == f"verified_{w}"), None)
            tops = top_modules(files)
            old = old or (tops[0] if len(tops) == 1 else None)
            if old is not None:
                files = [SourceFile(f.path, renamed(f.text, old, wanted[0])) for f in files]
        return tuple(files)

    def hidden_test(self, path: Path, name: str) -> HiddenTest:
        """Return the testbench and the data files beside it."""
        folder = self._find(path, name)
        bench = _bench(folder)
        if bench is None:
            raise UsageError(f"{folder} has no testbench.v")
        test = read_source(bench, bench.name.replace(" ", "_"))
        tops = [m for m in top_modules([test]) if defines_module(test.text, m)]
        if not tops:
            raise UsageError(f"{bench} has no module that nobody instantiates")
        data = tuple(
            read_source(f, f.relative_to(folder).as_posix()) for f in _data_files(folder) if f.stat().st_size < 8 << 20
        )
        return HiddenTest(tops[-1], (test,), data, rule=rule)

    def data_sha256(self, path: Path) -> str:
        """Return a digest of all files of the problems' folders."""
        folders = self._folders(path).values()
        return files_sha256(path, {f for d in folders for f in d.rglob("*") if f.is_file() and not f.is_symlink()})

    def _problem(self, path: Path, name: str, folder: Path) -> Problem:
        text = read_source(_description(folder)).text
        named = _MODULE_NAME.search(text)
        category = folder.parent.relative_to(path).as_posix()
        return Problem(self.name, name, text.strip() + "\n", top=named[1] if named else None,
                       category="" if category == "." else category)  # fmt: skip

    def _find(self, path: Path, name: str) -> Path:
        folders = self._folders(path)
        if name not in folders:
            raise unknown_problem(self.name, path, name, folders)
        return folders[name]

    def _folders(self, path: Path) -> dict[str, Path]:
        require_folder(self.name, path)
        found = _problem_folders(path)
        if not found:
            raise UsageError(f"{path} holds no design_description.txt", hint=f"name the folder of {self.name}'s data")
        return found


def rule(said: Said) -> Ruling:
    """Return PASS where the testbench says that the design passed; else go by what any testbench prints."""
    for line in said.heard.text.splitlines():
        if _PASSED.search(line) and not _NOT.search(line):
            return Ruling(Status.PASS, line.strip("= \t"))
    return judge_prints(said)


@lru_cache(maxsize=8)
def _problem_folders(path: Path) -> dict[str, Path]:
    folders = sorted({f.parent for f in path.rglob("*") if _DESCRIPTION.match(f.name) and f.is_file()})
    # A folder of descriptions only (a copy for prompts) is no problem.
    folders = [d for d in folders if _bench(d) is not None]
    clashes = {n for n, count in Counter(d.name.casefold() for d in folders).items() if count > 1}
    return {
        ".".join(d.relative_to(path).parts).replace(" ", "_") if d.name.casefold() in clashes else d.name: d
        for d in folders
    }


def _description(folder: Path) -> Path:
    return next(f for f in sorted(folder.iterdir()) if _DESCRIPTION.match(f.name))


def _bench(folder: Path) -> Path | None:
    verilog = [f for f in sorted(folder.iterdir()) if f.suffix.lower() in _VERILOG and not _GOLDEN_NAME.match(f.name)]
    exact = [f for f in verilog if f.stem.lower() == "testbench"]
    return next(iter([*exact, *(f for f in verilog if _BENCH_NAME.match(f.name))]), None)


def _data_files(folder: Path) -> list[Path]:
    """Return what a testbench may read: any file but Verilog, scripts and the description."""
    return [
        f
        for f in sorted(folder.rglob("*"))
        if f.is_file()
        and not f.is_symlink()
        and f.suffix.lower() not in _NO_DATA
        and f.name.lower() not in ("makefile", "license")
        and not _DESCRIPTION.match(f.name)
    ]


def _instantiated(bench: str) -> list[str]:
    """Return the modules that a testbench instantiates and does not define."""
    found = tokens(normal(bench))
    own = frozenset(declared(found))
    result = []
    for index in range(len(found) - 2):
        token, after, then = found[index : index + 3]
        starts = index == 0 or found[index - 1].text in (";", "end", ")", "endtask", "endfunction", "endgenerate")
        instance = after.kind == "name" and then.text in ("(", "[")
        if token.kind == "name" and starts and (instance or (after.text == "#" and then.text == "(")):
            result.append(token.text)
    return [m for m in dict.fromkeys(result) if m not in own and m not in KEYWORDS]
