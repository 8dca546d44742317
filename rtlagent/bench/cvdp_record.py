"""Read CVDP's records: what a model may see, what it has to write, the harness, and the solution."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rtlagent.errors import UsageError
from rtlagent.types import SourceFile

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@.*$")


@dataclass(frozen=True)
class Record:
    """One problem, agentic or not."""

    name: str
    categories: tuple[str, ...]
    prompt: str
    context: tuple[SourceFile, ...]
    targets: tuple[str, ...]
    """Paths of the files to write or change."""
    harness: tuple[SourceFile, ...]
    solution: tuple[SourceFile, ...] | None
    agentic: bool


@lru_cache(maxsize=4)
def read_records(files: tuple[tuple[str, int], ...]) -> dict[str, Record]:
    """Read JSONL files; of two records with one name the one with a solution stands.

    Args:
        files: Paths with their modification times.

    Raises:
        UsageError: a line is no record of CVDP.
    """
    found: dict[str, Record] = {}
    for name, _ in files:
        for number, line in enumerate(Path(name).read_bytes().decode(errors="replace").splitlines(), 1):
            if line.strip():
                record = _record(line, f"{name}:{number}")
                known = found.get(record.name)
                if known is None or known.solution is None:
                    found[record.name] = record
    return found


def _record(line: str, where: str) -> Record:
    try:
        data = json.loads(line)
        return _agentic(data) if "input" not in data else _plain(data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"not a record of CVDP: {type(error).__name__}: {error}", where=where) from error


def _plain(data: Any) -> Record:
    output = data.get("output") or {}
    answers = dict(output.get("context") or {})
    response = str(output.get("response") or "")
    solution = tuple(SourceFile(str(p), str(t)) for p, t in answers.items() if t)
    if not solution and response and len(answers) == 1:
        solution = (SourceFile(str(next(iter(answers))), response),)
    return Record(
        name=str(data["id"]),
        categories=tuple(map(str, data.get("categories") or ())),
        prompt=str(data["input"]["prompt"]),
        context=_sources(data["input"].get("context") or {}),
        targets=tuple(map(str, answers)),
        harness=_sources((data.get("harness") or {}).get("files") or data.get("harness") or {}),
        solution=solution or None,
        agentic=False,
    )


def _agentic(data: Any) -> Record:
    context = _sources(data.get("context") or {})
    patches = {str(p): str(t or "") for p, t in (data.get("patch") or {}).items()}
    before = {f.path: f.text for f in context}
    solution = tuple(SourceFile(p, patched(before.get(p, ""), t)) for p, t in patches.items() if t)
    harness = data.get("harness") or {}
    return Record(
        name=str(data["id"]),
        categories=tuple(map(str, data.get("categories") or ())),
        prompt=str(data["prompt"]),
        context=context,
        targets=tuple(patches),
        harness=_sources(harness.get("files") or harness),
        solution=solution or None,
        agentic=True,
    )


def _sources(files: Mapping[str, Any]) -> tuple[SourceFile, ...]:
    return tuple(SourceFile(str(path), str(text)) for path, text in files.items() if isinstance(text, str))


def patched(before: str, diff: str) -> str:
    """Apply the hunks of a unified diff to a text; a text without hunks is the new text itself.

    Raises:
        ValueError: a hunk does not fit.
    """
    if not any(_HUNK.match(line) for line in diff.splitlines()):
        return diff
    old = before.split("\n") if before else []
    new: list[str] = []
    place = 0
    inside = False
    for line in diff.split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            start = int(hunk[1]) - (1 if hunk[2] != "0" else 0)
            new += old[place : max(start, 0)]
            place, inside = max(start, 0), True
        elif not inside or line.startswith("\\"):
            continue
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith("-") or line.startswith(" "):
            if place >= len(old) or old[place].rstrip() != line[1:].rstrip():
                raise ValueError(f"a hunk does not fit: {line[:60]!r}")
            new += [old[place]] if line.startswith(" ") else []
            place += 1
    return "\n".join([*new, *old[place:]])
