"""Long texts as lines that are read and cut only where they are looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from rtlagent.cli.view_detail import Block, LogFile, Text
from rtlagent.printable import printable

_PIECE_BYTES = 256 << 10
SCAN_BYTES = 64 << 20
"""Of a file, looked through at a time: some 50 ms."""
LONGEST_LINE = 2_000
_TAB = 8

Line = tuple[str, str]
"""A text that steers no terminal, and its style."""


class FileLines:
    """The lines of a file of any size: what is kept is where each 256 kB begin.

    Args:
        path: The file; it may grow.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        self._scanned = 0
        self._ends = 0
        self._torn = False
        self._numbers: list[int] = [0]
        self._offsets: list[int] = [0]
        self._kept: tuple[int, int, list[bytes]] = (-1, 0, [])

    def __len__(self) -> int:
        """Return the number of lines that are known by now."""
        return self._ends + self._torn

    def scan(self, most_bytes: int = SCAN_BYTES) -> bool:
        """Look on through the file; True: something was found."""
        before = self._scanned
        with suppress(OSError), self._path.open("rb") as file:
            if file.seek(0, 2) < self._scanned:
                self._begin()
                before = -1
            file.seek(self._scanned)
            while self._scanned - before < most_bytes and (data := file.read(_PIECE_BYTES)):
                first = data.find(b"\n")
                if first >= 0 and self._scanned:
                    self._numbers.append(self._ends + 1)
                    self._offsets.append(self._scanned + first + 1)
                self._ends += data.count(b"\n")
                self._scanned += len(data)
                self._torn = not data.endswith(b"\n")
        return self._scanned != before

    def line(self, number: int) -> str:
        """Return a line, from 0; of one that no screen shows, the beginning."""
        at = bisect_right(self._numbers, number) - 1
        end = self._offsets[at + 1] if at + 1 < len(self._offsets) else self._scanned
        if self._kept[:2] != (at, end):
            self._kept = (at, end, self._read(self._offsets[at], end))
        lines = self._kept[2]
        index = number - self._numbers[at]
        return _shown(lines[index]) if index < len(lines) else ""

    def _read(self, start: int, end: int) -> list[bytes]:
        # Only the last line of a piece can be longer than it.
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(start)
            data = file.read(min(end - start, 2 * _PIECE_BYTES))
            lines = data.split(b"\n")
            if end - start > len(data) and len(lines[-1]) > LONGEST_LINE:
                lines[-1] = lines[-1][:LONGEST_LINE] + f" ... cut, {end - start - len(data):,} bytes more".encode()
            return lines
        return []


def _shown(data: bytes) -> str:
    text = data.removesuffix(b"\r")[: 4 * LONGEST_LINE].decode(errors="replace")
    more = len(data) - len(data[: 4 * LONGEST_LINE])
    if len(text) > LONGEST_LINE:
        more += len(text) - LONGEST_LINE
        text = text[:LONGEST_LINE]
    cut = f" ... {more:,} more" if more else ""
    return printable(text).expandtabs(_TAB) + cut


class Document:
    """Blocks as lines: texts are folded to the width, files are not.

    Args:
        blocks: What to show, in order.
    """

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        self.blocks = tuple(blocks)
        self._width = 0
        self._parts: list[FileLines | list[Line]] = [
            FileLines(b.path) if isinstance(b, LogFile) else [] for b in blocks
        ]
        self._starts: list[int] = []
        self._count = 0
        self.has_files = any(isinstance(p, FileLines) for p in self._parts)
        self.scan()

    def __len__(self) -> int:
        return self._count

    def scan(self) -> bool:
        """Look on through the files; True: there are more lines than before."""
        grown = [p.scan() for p in self._parts if isinstance(p, FileLines)]
        self._number()
        return any(grown)

    def fold(self, width: int) -> None:
        """Fold the texts to a width in cells."""
        width = max(20, width)
        if width == self._width:
            return
        self._width = width
        for index, block in enumerate(self.blocks):
            if isinstance(block, Text):
                self._parts[index] = [(line, block.style) for line in folded(block.text, width)]
        self._number()

    def _number(self) -> None:
        self._starts, self._count = [], 0
        for part in self._parts:
            self._starts.append(self._count)
            self._count += len(part)

    def line(self, number: int) -> Line:
        """Return a line and its style."""
        if not 0 <= number < self._count:
            return "", ""
        at = bisect_right(self._starts, number) - 1
        part = self._parts[at]
        if isinstance(part, FileLines):
            return part.line(number - self._starts[at]), ""
        return part[number - self._starts[at]]


def folded(text: str, width: int) -> list[str]:
    """Return a text's lines, long ones in several."""
    from rich.cells import cell_len, chop_cells

    found: list[str] = []
    for line in printable(text.replace("\r\n", "\n")).expandtabs(_TAB).split("\n"):
        if len(line) <= width and (line.isascii() or cell_len(line) <= width):
            found.append(line)
        elif line.isascii():
            found += _at_blanks(line, width)
        else:
            found += chop_cells(line, width)
    return found


def _at_blanks(line: str, width: int) -> Iterator[str]:
    """Yield a line's parts, cut after a blank where that does not leave half of the width empty."""
    while len(line) > width:
        at = line.rfind(" ", width // 2, width) + 1 or width
        yield line[:at]
        line = line[at:]
    yield line
