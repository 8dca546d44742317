"""Tell what a testbench prints from what the answer beside it prints.

Every print of the testbench is bracketed by a secret that is new in each run and that the answer cannot
see: `$display("x=%d", x)` becomes `$display("SECRET<", "x=%d", x, "SECRET>")`, which prints the same
between two marks. Where it calls `$finish` it says so first, so that a summary that is printed at the
end of the simulation counts only if the testbench itself ended it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rtlagent.bench.verilog_tokens import Token, closing, is_verilog, normal, tokens
from rtlagent.tools.policy_text import words
from rtlagent.types import SourceFile

_SECRET = "\0"
"""Stands for the secret in a prepared text; no Verilog holds it."""
_LINES = words("$display $displayb $displayh $displayo $strobe $strobeb $strobeh $strobeo $monitor $monitorb $monitorh")
_PARTS = words("$write $writeb $writeh $writeo")
_FILE_LINES = words("$fdisplay $fdisplayb $fdisplayh $fdisplayo $fstrobe $fmonitor")
_FILE_PARTS = words("$fwrite $fwriteb $fwriteh $fwriteo")
_LINE, _PART, _END = "L", "P", "E"


@dataclass(frozen=True)
class Heard:
    """What a testbench printed, and whether it ended the simulation."""

    text: str
    ended: bool
    """It called $finish or $stop."""


def marked(files: Sequence[SourceFile], secret: str) -> tuple[SourceFile, ...]:
    """Return the files of a hidden test with every print bracketed by `secret`, a word of letters and digits."""
    return tuple(
        SourceFile(f.path, _prepared(normal(f.text)).replace(_SECRET, secret)) if is_verilog(f) else f for f in files
    )


def says_when_it_ends(files: Sequence[SourceFile]) -> bool:
    """Say whether the test ends the simulation itself, and every place of that could be marked."""
    found = [_ends(tokens(normal(f.text))) for f in files if is_verilog(f)]
    places = [p for part in found for p in part]
    return bool(places) and all(p is not None for p in places)


def reports_finally(files: Sequence[SourceFile]) -> bool:
    """Say whether the test prints in a `final` block, which runs however the simulation ends."""
    return any(t.kind == "name" and t.text == "final" for f in files if is_verilog(f) for t in tokens(normal(f.text)))


def heard(output: str, secret: str) -> Heard:
    """Return what the testbench printed, without anything that stood between two of its prints."""
    pieces: list[str] = []
    ended = False
    opened = re.compile(rf"{secret}([{_LINE}{_PART}{_END}])<")
    closed = f"{secret}>"
    place = 0
    while (start := opened.search(output, place)) is not None:
        stop = output.find(closed, start.end())
        following = opened.search(output, start.end())
        if stop < 0 or (following is not None and following.start() < stop):
            # A format took the closing mark as its value: the line is all that can be trusted.
            stop = output.find("\n", start.end())
            stop = len(output) if stop < 0 else stop
        if start[1] == _END:
            ended = True
        else:
            pieces.append(output[start.end() : stop] + ("\n" if start[1] == _LINE else ""))
        place = stop
    return Heard("".join(pieces), ended)


@lru_cache(maxsize=512)
def _prepared(text: str) -> str:
    """Return a testbench's text with marks that still lack their secret."""
    found = tokens(text)
    inserts: list[tuple[int, int, str]] = []
    for index, token in enumerate(found):
        if token.kind != "system":
            continue
        if token.text in _LINES | _PARTS:
            inserts += _print(found, index, _LINE if token.text in _LINES else _PART)
        elif token.text in _FILE_LINES | _FILE_PARTS:
            inserts += _file_print(found, index, _LINE if token.text in _FILE_LINES else _PART)
    # $stop waits for a person, or aborts: as the end of a test it means the same.
    inserts += [(t.start, t.end, "$finish") for t in found if t.kind == "system" and t.text == "$stop"]
    for place in _ends(found):
        if place is not None:
            start, end = place
            inserts.append((start, start, f'begin $write("{_SECRET}{_END}<{_SECRET}>"); '))
            inserts.append((end, end, " end"))
    kept: list[str] = []
    done = 0
    for start, end, words_ in sorted(inserts, key=lambda i: i[:2]):
        kept += [text[done:start], words_]
        done = end
    return "".join([*kept, text[done:]])


def _print(found: tuple[Token, ...], index: int, kind: str) -> list[tuple[int, int, str]]:
    before, after = f'"{_SECRET}{kind}<"', f'"{_SECRET}>"'
    token = found[index]
    if index + 1 >= len(found) or found[index + 1].text != "(":
        return [(token.end, token.end, f'("{_SECRET}{kind}<{_SECRET}>")')]
    opening, close = found[index + 1], closing(found, index + 1)
    if close == index + 2:
        return [(opening.end, opening.end, f'"{_SECRET}{kind}<{_SECRET}>"')]
    inserts = [(opening.end, opening.end, f"{before}, ")]
    if close is not None:
        inserts.append((found[close].start, found[close].start, f", {after}"))
    return inserts


def _file_print(found: tuple[Token, ...], index: int, kind: str) -> list[tuple[int, int, str]]:
    """Bracket a print to the standard output's own descriptor: `$fdisplay(1, ...)`."""
    if index + 3 >= len(found) or found[index + 1].text != "(":
        return []
    close = closing(found, index + 1)
    number = "".join(t.text for t in found[index + 2 : index + 4] if t.kind == "number")
    after = index + 2 + (2 if found[index + 3].kind == "number" else 1)
    if (
        close is None
        or after >= len(found)
        or found[after].text != ","
        or not re.search(r"(?:^|h[0_]*|h80{6})[01]\Z", number)
    ):
        return []
    start = found[after].end
    return [
        (start, start, f' "{_SECRET}{kind}<",'),
        (found[close].start, found[close].start, f', "{_SECRET}>"'),
    ]


def _ends(found: tuple[Token, ...]) -> list[tuple[int, int] | None]:
    """Return where each statement that ends the simulation begins and ends; None for one that cannot be marked."""
    places: list[tuple[int, int] | None] = []
    for index, token in enumerate(found):
        if token.kind == "system" and token.text in ("$finish", "$stop"):
            after: int | None = index + 1
            if index + 1 < len(found) and found[index + 1].text == "(":
                close = closing(found, index + 1)
                after = None if close is None else close + 1
            marks = after is not None and after < len(found) and found[after].text == ";"
            places.append((token.start, found[after].end) if marks and after is not None else None)
    return places
