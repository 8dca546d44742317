"""VerilogEval version 1: JSONL with `task_id`, `prompt`, `canonical_solution`, `test`; descriptions beside it."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rtlagent.bench.hidden_test import HiddenTest
from rtlagent.bench.problem import Problem
from rtlagent.bench.suites import mismatch_count
from rtlagent.bench.suites.testbench_suite import TestbenchSuite, unknown_problem, with_header
from rtlagent.errors import UsageError
from rtlagent.types import SourceFile

_TOP = "top_module"
_BENCH = "tb"
_SUFFIXES = (".jsonl", ".jsonl.gz")
_DESCRIPTIONS = ("detail_description", "description", "simple_description")


@dataclass(frozen=True)
class _Task:
    prompt: str
    solution: str
    test: str
    description: str


class VerilogEvalV1(TestbenchSuite):
    """The files VerilogEval_Machine.jsonl and VerilogEval_Human.jsonl, one of them or both."""

    name = "verilog-eval-v1"

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the problems in the file's order; of two files the names begin with `machine-` or `human-`."""
        return tuple(
            Problem(self.name, name, _spec_text(task), top=_TOP, language="systemverilog")
            for name, task in self._tasks(path).items()
        )

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return prompt and canonical solution as one module."""
        task = self._task(path, name)
        return self.completed(path, name, task.solution) if task.solution.strip() else None

    def hidden_test(self, path: Path, name: str) -> HiddenTest:
        """Return the test, which has its reference with it."""
        return HiddenTest(_BENCH, (SourceFile("test.sv", self._task(path, name).test),), rule=mismatch_count.rule)

    def data_sha256(self, path: Path) -> str:
        """Return a digest of the JSONL files."""
        files = sorted(_data_files(path))
        return hashlib.sha256(b"".join(hashlib.sha256(f.read_bytes()).digest() for f in files)).hexdigest()

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Put the prompt's module header in front of a completion that has none."""
        return (SourceFile(f"{name}.sv", with_header(self._task(path, name).prompt, text, _TOP)),)

    def _tasks(self, path: Path) -> dict[str, _Task]:
        files = tuple((str(f), f.stat().st_mtime_ns) for f in _data_files(path))
        return _load(files)

    def _task(self, path: Path, name: str) -> _Task:
        tasks = self._tasks(path)
        if name not in tasks:
            raise unknown_problem(self.name, path, name, tasks)
        return tasks[name]


def _spec_text(task: _Task) -> str:
    return f"{task.description.strip()}\n\n{task.prompt.strip()}\n".lstrip()


def _data_files(path: Path) -> list[Path]:
    """Return the JSONL files at `path`: that file and what lies beside it, or those of a folder or its `data`.

    Raises:
        UsageError: there is none.
    """
    if path.is_file():
        # Descriptions lie beside the tasks, or in a folder `descriptions` beside theirs.
        places = [path.parent, path.parent / "descriptions", path.parent.parent / "descriptions"]
        return [path, *(f for f in _jsonl(places) if f != path and "task_id" in _keys(f) and "test" not in _keys(f))]
    found = _jsonl([path, path / "data", path / "descriptions"])
    if not any("test" in _keys(f) for f in found):
        raise UsageError(
            f"{path} holds no JSONL file with task_id, prompt and test",
            hint="give --path the file VerilogEval_Human.jsonl or the folder it is in",
        )
    return found


def _jsonl(folders: list[Path]) -> list[Path]:
    return [f for d in folders if d.is_dir() for f in sorted(d.iterdir()) if f.name.endswith(_SUFFIXES)]


@lru_cache(maxsize=8)
def _load(files: tuple[tuple[str, int], ...]) -> dict[str, _Task]:
    records = {name: list(_records(Path(name))) for name, _ in files}
    data = {name: rows for name, rows in records.items() if any("test" in r for r in rows)}
    described = {name: rows for name, rows in records.items() if name not in data}
    tasks: dict[str, _Task] = {}
    for name, rows in data.items():
        group = _group(name)
        texts = {
            str(r.get("task_id")): next((str(r[k]) for k in _DESCRIPTIONS if r.get(k)), "")
            for other, rows_ in described.items()
            if _group(other) in (group, "")
            for r in rows_
        }
        for row in rows:
            try:
                task_id, prompt, test = str(row["task_id"]), str(row["prompt"]), str(row["test"])
            except KeyError as missing:
                raise UsageError(f"{name}: a record has no {missing}") from missing
            full = f"{group}-{task_id}" if len(data) > 1 else task_id
            if full in tasks:
                raise UsageError(f"{name}: two records are called {full}")
            description = texts.get(task_id) or next((str(row[k]) for k in _DESCRIPTIONS if row.get(k)), "")
            tasks[full] = _Task(prompt, str(row.get("canonical_solution") or ""), test, description)
    return tasks


def _group(name: str) -> str:
    stem = Path(name).name.lower()
    return next((g for g in ("machine", "human") if g in stem), "" if "desc" in stem else Path(name).name.split(".")[0])


def _keys(path: Path) -> frozenset[str]:
    return frozenset(next(_records(path), {}))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        raw = path.read_bytes()
        lines = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode(errors="replace").splitlines()
    except (OSError, EOFError) as error:
        raise UsageError(f"{path}: cannot read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise UsageError(f"not JSON: {error}", where=f"{path}:{number}") from error
        if not isinstance(record, dict):
            raise UsageError("not a JSON object", where=f"{path}:{number}")
        yield record
