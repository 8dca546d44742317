"""Apply a model's SEARCH/REPLACE edits to files, all or nothing."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from rtlagent.types import SourceFile


class EditError(Exception):
    """An edit does not fit the file; the text says what is wrong, for the model."""


@dataclass(frozen=True)
class Edit:
    """Replace `old`, which stands once in the file at `path`, by `new`."""

    path: str
    old: str
    new: str


def apply_edits(files: Sequence[SourceFile], edits: Sequence[Edit]) -> tuple[SourceFile, ...]:
    """Return the files with every edit applied, in order.

    Raises:
        EditError: a file is unknown, or SEARCH is empty, missing or ambiguous. Nothing is applied then.
    """
    texts = {f.path: f.text for f in files}
    for number, edit in enumerate(edits, 1):
        if edit.path not in texts:
            raise EditError(f"edit {number}: there is no file {edit.path}; there are: {', '.join(texts)}")
        texts[edit.path] = _replace(texts[edit.path], edit, number)
    return tuple(SourceFile(path, text) for path, text in texts.items())


def _replace(text: str, edit: Edit, number: int) -> str:
    if not edit.old.strip():
        raise EditError(f"edit {number}: SEARCH is empty; give the existing lines that are to change")
    if text.count(edit.old) == 1:
        return text.replace(edit.old, edit.new)
    places = _match_lines(text, edit.old)
    if len(places) == 1:
        lines = text.splitlines(keepends=True)
        start = places[0]
        old_lines = edit.old.splitlines()
        new = _reindent(edit.new, old_lines, lines[start : start + len(old_lines)])
        return "".join(lines[:start]) + new + "".join(lines[start + len(old_lines) :])
    found = max(len(places), text.count(edit.old))
    if found:
        raise EditError(
            f"edit {number}: SEARCH occurs {found} times in {edit.path}; add neighbouring lines to make it unique"
        )
    raise EditError(f"edit {number}: SEARCH does not occur in {edit.path}.{_closest(text, edit.old)}")


def _match_lines(text: str, old: str) -> list[int]:
    """Find `old` line by line, ignoring indentation and trailing blanks (models often lose them)."""
    lines = [line.strip() for line in text.splitlines()]
    wanted = [line.strip() for line in old.splitlines()]
    return [i for i in range(len(lines) - len(wanted) + 1) if lines[i : i + len(wanted)] == wanted]


def _reindent(new: str, old_lines: Sequence[str], actual: Sequence[str]) -> str:
    """Shift `new` by the indentation that SEARCH had lost."""
    first = next((k for k, line in enumerate(old_lines) if line.strip()), 0)
    have = len(old_lines[first]) - len(old_lines[first].lstrip())
    want = len(actual[first]) - len(actual[first].lstrip())
    shift = want - have
    shifted = []
    for line in new.splitlines(keepends=True):
        if shift > 0 and line.strip():
            shifted.append(" " * shift + line)
        else:
            removable = len(line) - len(line.lstrip(" "))
            shifted.append(line[min(-shift, removable) :] if shift < 0 else line)
    return "".join(shifted)


def _closest(text: str, old: str) -> str:
    """Quote the lines of the file that look most like SEARCH."""
    lines, size = text.splitlines(), max(len(old.splitlines()), 1)
    windows = ["\n".join(lines[i : i + size]) for i in range(max(len(lines) - size + 1, 1))]
    matcher = difflib.SequenceMatcher(b=old.rstrip("\n"), autojunk=False)
    best, best_ratio = "", 0.5
    for window in windows:
        matcher.set_seq1(window)
        if matcher.real_quick_ratio() > best_ratio and matcher.quick_ratio() > best_ratio:
            ratio = matcher.ratio()
            if ratio > best_ratio:
                best, best_ratio = window, ratio
    return f" The closest lines are:\n{best}" if best else ""
