"""Find the answers that another system has written: files and folders by the problems' names, or JSONL.

| in DIR | is |
|---|---|
| `NAME.v`, `NAME.sv` | the only sample of problem NAME |
| `NAME_sample03.sv`, `NAME/NAME_sample03.sv` | sample 3 |
| `NAME/` with any other Verilog | one sample of several files |
| `t1/NAME.v`, `t2/NAME.v` | one sample a folder, for folders that are no problem's |
| `*.jsonl` (or DIR itself is one) | a sample a line: `task_id` and `completion` |
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.problem import Suite
from rtlagent.errors import UsageError
from rtlagent.types import SourceFile

_VERILOG = (".v", ".sv")
_KEPT = (*_VERILOG, ".vh", ".svh", ".hex", ".mem", ".dat", ".txt")
_SAMPLE = re.compile(r"(?P<name>.+?)[_-]sample[_-]?(?P<number>\d+)\Z")
_TEXT_FIELDS = ("completion", "answer", "response")
_BYTES = 4 << 20


@dataclass(frozen=True)
class Answer:
    """One sample of one problem."""

    problem: str
    sample: int
    files: tuple[SourceFile, ...]


@dataclass(frozen=True)
class Answers:
    """What was found in a folder."""

    found: tuple[Answer, ...]
    """By problem in the suite's order, then by sample."""
    missing: tuple[str, ...]
    """Problems without any answer."""
    unmatched: tuple[str, ...]
    """Files and records that belong to no problem."""


@dataclass(frozen=True)
class _Given:
    problem: str
    sample: int | None
    files: tuple[SourceFile, ...]


def read_answers(place: Path, suite: Suite, path: Path, names: Sequence[str]) -> Answers:
    """Read the answers at `place` (a folder, or a JSONL file) to the problems `names` of the suite at `path`.

    Raises:
        UsageError: nothing is there, a record is no JSON, or a problem has two answers of the same number.
    """
    if not place.exists():
        raise UsageError(f"{place} does not exist", hint="give --answers the folder with the answers")
    unmatched: list[str] = []
    given = list(_from_jsonl(place, suite, path, names, unmatched) if place.is_file() else
                 _from_folder(place, suite, path, names, unmatched))  # fmt: skip
    by_problem: dict[str, dict[int, Answer]] = defaultdict(dict)
    for one in given:
        taken = by_problem[one.problem]
        number = len(taken) if one.sample is None else one.sample
        if number in taken:
            raise UsageError(f"{place}: {one.problem} has two answers of number {number}")
        taken[number] = Answer(one.problem, number, one.files)
    if not given:
        raise UsageError(f"{place} holds no answer to any problem of {suite.name}", hint=_naming_hint(names))
    found = tuple(by_problem[n][k] for n in names for k in sorted(by_problem.get(n, {})))
    return Answers(found, tuple(n for n in names if n not in by_problem), tuple(unmatched))


def golden_answers(suite: Suite, path: Path, names: Sequence[str]) -> Answers:
    """Take the suite's own designs for answers; problems without one count as missing."""
    goldens = {n: suite.golden(path, n) for n in names}
    found = tuple(Answer(n, 0, files) for n, files in goldens.items() if files is not None)
    return Answers(found, tuple(n for n, files in goldens.items() if files is None), ())


def _naming_hint(names: Sequence[str]) -> str:
    return f"name the files after the problems: {names[0]}.sv, or {names[0]}_sample01.sv" if names else ""


def _from_folder(place: Path, suite: Suite, path: Path, names: Sequence[str], unmatched: list[str]) -> Iterator[_Given]:
    known = {n: n for n in names} | {n.casefold(): n for n in names}
    for entry in sorted(place.iterdir()):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            name = _match(entry.name, known)
            yield from _one_problem(entry, name) if name else _one_round(entry, known, unmatched)
        elif entry.suffix == ".jsonl":
            yield from _from_jsonl(entry, suite, path, names, unmatched)
        elif entry.suffix.lower() in _VERILOG:
            one = _from_file(entry, known)
            if one is None:
                unmatched.append(entry.name)
            else:
                yield one


def _match(name: str, known: Mapping[str, str]) -> str | None:
    return known.get(name) or known.get(name.casefold())


def _from_file(file: Path, known: Mapping[str, str]) -> _Given | None:
    name = _match(file.stem, known)
    if name is not None:
        return _Given(name, None, (_read(file, file.name),))
    sample = _SAMPLE.match(file.stem)
    name = _match(sample["name"], known) if sample else None
    return _Given(name, int(sample["number"]), (_read(file, file.name),)) if sample and name else None


def _one_problem(folder: Path, name: str) -> Iterator[_Given]:
    """Read the folder of one problem: numbered samples, or all files as one answer."""
    files = [f for f in sorted(folder.rglob("*")) if f.is_file() and f.suffix.lower() in _KEPT]
    samples = [(f, m) for f in files if f.suffix.lower() in _VERILOG and (m := _SAMPLE.match(f.stem)) is not None]
    if samples:
        for file, match in samples:
            yield _Given(name, int(match["number"]), (_read(file, file.name),))
    elif any(f.suffix.lower() in _VERILOG for f in files):
        yield _Given(name, None, tuple(_read(f, f.relative_to(folder).as_posix()) for f in files))


def _one_round(folder: Path, known: Mapping[str, str], unmatched: list[str]) -> Iterator[_Given]:
    """Read a folder that holds one answer to each of many problems."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            name = _match(entry.name, known)
            if name is not None:
                yield from _one_problem(entry, name)
        elif entry.suffix.lower() in _VERILOG:
            one = _from_file(entry, known)
            if one is None:
                unmatched.append(f"{folder.name}/{entry.name}")
            else:
                yield one


def _from_jsonl(file: Path, suite: Suite, path: Path, names: Sequence[str], unmatched: list[str]) -> Iterator[_Given]:
    known = frozenset(names)
    for number, line in enumerate(_read(file, file.name).text.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise UsageError(f"not JSON: {error}", where=where) from error
        name = str(record.get("task_id", record.get("id", ""))) if isinstance(record, dict) else ""
        text = next((record[f] for f in _TEXT_FIELDS if isinstance(record.get(f), str)), None) if name else None
        if text is None:
            raise UsageError("a record needs task_id and completion", where=where)
        if name in known:
            yield _Given(name, None, suite.completed(path, name, text))
        else:
            unmatched.append(f"{file.name}:{number}: {name}")


def _read(file: Path, name: str) -> SourceFile:
    try:
        if file.stat().st_size > _BYTES and file.suffix != ".jsonl":
            raise UsageError(f"{file} is too large", hint="an answer may have 4 MiB")
        return SourceFile(name, file.read_bytes().decode(errors="replace"))
    except OSError as error:
        raise UsageError(f"{file}: cannot read: {error.strerror}") from error
