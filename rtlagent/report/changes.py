"""What one attempt changed of the one before, and where a mutant was made: as lines, grouped for the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from rtlagent.types import SourceFile

_CONTEXT = 3
_MOST_LINES = 20_000
"""Of a file that is compared: beyond it a comparison takes minutes."""
_MOST_SHOWN = 600
_LONGEST = 400


@dataclass(frozen=True)
class Lines:
    """Neighbouring lines of one kind."""

    kind: str
    """`same`, `added`, `removed` or `gap`."""
    text: str
    """Each line with its mark (a blank, `+` or `-`)."""


@dataclass(frozen=True)
class FileChange:
    """The changes of one file."""

    path: str
    added: int
    removed: int
    lines: tuple[Lines, ...]
    note: str = ""
    """Why there are no lines, or fewer than there should be."""


def changes(before: Sequence[SourceFile], after: Sequence[SourceFile]) -> tuple[FileChange, ...]:
    """Return what is different, file by file; equal files are left out."""
    old, new = {f.path: f.text for f in before}, {f.path: f.text for f in after}
    paths = [*new, *(p for p in old if p not in new)]
    return tuple(_change(p, old.get(p, ""), new.get(p, "")) for p in paths if old.get(p) != new.get(p))


def _change(path: str, before: str, after: str) -> FileChange:
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _MOST_LINES:
        return FileChange(path, 0, 0, (), f"{len(new):,} lines are too many to compare")
    added = removed = 0
    rows: list[tuple[str, str]] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        rows.append(("gap", f"@@ line {group[0][3] + 1}"))
        for tag, a, b, c, d in group:
            if tag == "equal":
                rows += [("same", f" {line}") for line in old[a:b]]
                continue
            rows += [("removed", f"-{line}") for line in old[a:b]]
            rows += [("added", f"+{line}") for line in new[c:d]]
            removed, added = removed + b - a, added + d - c
    note = "" if len(rows) <= _MOST_SHOWN else f"{len(rows) - _MOST_SHOWN:,} lines more"
    return FileChange(path, added, removed, tuple(_grouped(rows[:_MOST_SHOWN])), note)


def _grouped(rows: Iterable[tuple[str, str]]) -> Iterator[Lines]:
    for kind, lines in groupby(rows, key=lambda r: r[0]):
        yield Lines(kind, "\n".join(_cut(text) for _, text in lines))


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ... {len(line) - _LONGEST:,} more"


def change_at(path: str, before: str, line: int, column: int, original: str, mutated: str) -> FileChange | None:
    """Return the change of a piece of text at a place (from 1) with the lines around it; None: it is not there."""
    lines = before.split("\n")
    if not 0 < line <= len(lines):
        return None
    start = sum(len(row) + 1 for row in lines[: line - 1]) + column - 1
    if not before.startswith(original, start):
        return None
    last = line - 1 + original.count("\n")
    stop = start + len(original)
    end = before.find("\n", stop)
    changed = before[start - column + 1 : start] + mutated + before[stop : len(before) if end < 0 else end]
    rows = [("gap", f"@@ line {line}")]
    rows += [("same", f" {row}") for row in lines[max(0, line - 1 - _CONTEXT) : line - 1]]
    rows += [("removed", f"-{row}") for row in lines[line - 1 : last + 1]]
    rows += [("added", f"+{row}") for row in changed.split("\n")]
    rows += [("same", f" {row}") for row in lines[last + 1 : last + 1 + _CONTEXT]]
    return FileChange(path, 1, 1, tuple(_grouped(rows)))
