"""Where in the source something is declared: inside a loop's body, or in a function of its own."""

from __future__ import annotations

import re

from rtlagent.hls.ir import Memory, Place

_SKIPPED = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
_LOOP = re.compile(r"\b(?:for|while)\b\s*\(")


class Scopes:
    """The braces of a source file."""

    def __init__(self, text: str, path: str) -> None:
        self._path = path
        self._text = _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        self._lines = [0]
        for found in re.finditer(r"\n", self._text):
            self._lines.append(found.end())

    def in_loop(self, memory: Memory, loop: Place | None) -> bool:
        """Tell whether an array is surely declared in the body of the loop that begins at a place."""
        place = memory.place
        if place is None or loop is None or place.path != self._path or loop.path != self._path:
            return False
        heads = list(_LOOP.finditer(self._text, self._start(loop.line), self._start(loop.line + 1)))
        if len(heads) != 1:
            return False
        closed = self._close(heads[0].end() - 1, "()")
        opened = re.compile(r"\s*\{").match(self._text, closed + 1) if closed else None
        end = self._close(opened.end() - 1, "{}") if opened else None
        if opened is None or end is None:
            return False
        return self._line(opened.end() - 1) < place.line < self._line(end)

    def in_other_function(self, memory: Memory, region: Place | None) -> bool:
        """Tell whether an array is surely declared in another function than a place."""
        place = memory.place
        if place is None or region is None or place.path != self._path or region.path != self._path:
            return False
        own = [body for body in self._bodies() if body[0] <= region.line <= body[1]]
        return len(own) == 1 and not own[0][0] <= place.line <= own[0][1]

    def is_body_of(self, function: Place | None, place: Place | None) -> bool:
        """Tell whether a place is surely in the body of the function whose name stands at another place."""
        if function is None or place is None or function.path != self._path or place.path != self._path:
            return False
        first = next((b for b in self._bodies() if b[0] >= function.line), None)
        return first is not None and first[0] <= place.line <= first[1]

    def _bodies(self) -> list[tuple[int, int]]:
        found, at = [], 0
        while (opened := self._text.find("{", at)) >= 0:
            end = self._close(opened, "{}")
            if end is None:
                break
            found.append((self._line(opened), self._line(end)))
            at = end + 1
        return found

    def _close(self, at: int, pair: str) -> int | None:
        depth = 0
        for found in re.compile(f"[{re.escape(pair)}]").finditer(self._text, at):
            depth += 1 if found[0] == pair[0] else -1
            if depth == 0:
                return found.start()
        return None

    def _start(self, line: int) -> int:
        return self._lines[line - 1] if line - 1 < len(self._lines) else len(self._text)

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1
