"""What a text of unknown origin goes through before it may stand in a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from urllib.parse import quote

from markupsafe import Markup

from rtlagent.printable import printable

MOST_CHARS = 20_000
"""Of one text in the page."""
_MOST_OF_ANY = 70_000
"""Backstop: what no template cuts."""
_LONGEST_LINE = 2_000


def shown(value: object) -> object:
    """Return what a template prints of a value: cut, every steering character spelt out; markup of ours stays."""
    if value is None:
        return ""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return printable(clip(value.replace("\r\n", "\n"), _MOST_OF_ANY))


def clip(text: str, most: int = MOST_CHARS) -> str:
    """Cut a text, and lines that no screen shows, and say how much is left out."""
    if len(text) > most:
        text = f"{text[:most]}\n... {len(text) - most:,} characters more"
    if len(text) <= _LONGEST_LINE:
        return text
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ... {len(line) - _LONGEST_LINE:,} more"


def one_line(text: str, most: int = 160) -> str:
    """Return a text's first line, cut."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= most else f"{line[: most - 3]}..."


def command_line(argv: Sequence[str]) -> str:
    """Return a command as a user would type it."""
    return clip(shlex.join(argv), 4_000)


def place_in_run(path: str) -> str:
    """Return a link to a file of the run; the report lies beside it."""
    return "./" + quote(path, safe="/")


def duration(seconds: float | None) -> str:
    """Spell a time: `0.31 s`, `12 s`, `3 min 5 s`, `2 h 4 min`."""
    if seconds is None:
        return "-"
    if seconds < 10:
        return f"{seconds:.2f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def size(count: int) -> str:
    """Spell a number of bytes."""
    for unit, limit in (("MB", 1_000_000), ("kB", 1_000)):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count} B"
