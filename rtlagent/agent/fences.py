"""Find fenced blocks in a model's answer.

By lines and not by one regular expression: that took time with the square of an answer's length, and a model
that loops sends a hundred thousand fences or blank lines.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_OPENING = re.compile(r"(`{3,}|~{3,})([^\n`]*)")


@dataclass(frozen=True)
class Block:
    """A fenced block and where it lies in the text."""

    start: int
    end: int
    tag: str
    """What stands behind the opening fence, in lower case."""
    body: str


def blocks(text: str, start: int = 0) -> Iterator[Block]:
    """Yield the blocks from `start`, the beginning of a line, one after the other; one that is not closed is none."""
    lines: list[tuple[int, str]] = []
    fences: dict[str, list[int]] = {}
    at = start
    for line in text[start:].split("\n"):
        if (bare := line.rstrip(" \t")) and bare[0] in "`~":
            fences.setdefault(bare, []).append(len(lines))
        lines.append((at, line))
        at += len(line) + 1
    index = 0
    while index < len(lines):
        place, line = lines[index]
        opening = _OPENING.fullmatch(line)
        ends = fences.get(opening[1], []) if opening else []
        after = bisect_right(ends, index)
        if opening is None or after == len(ends):
            index += 1
            continue
        close, last = lines[ends[after]]
        yield Block(place, close + len(last), opening[2].strip().lower(), text[lines[index + 1][0] : close])
        index = ends[after] + 1
