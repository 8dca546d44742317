"""Read the documentation's pages: which blocks they have, and what each of them is there for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RUN = ("console", "sh", "python")
"""Languages of blocks that are run."""
_FENCE = re.compile(r"^```(\w+)?(.*)$")
_TITLE = re.compile(r'title="([^"]+)"')
_NOTE = re.compile(r"^<!-- (not run|excerpt of):? (.+) -->$")
_PROGRAM = re.compile(r"^(?:\w+=\S* )*rtlagent(?= |$)")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    """Of its fence, from 1."""
    language: str
    text: str
    title: str = ""
    """The file that the block is; empty: it is none."""
    note: str = ""
    """What the comment before it says it is: `not run`, `excerpt of`, or nothing."""
    about: str = ""
    """The reason, or the file."""

    @property
    def place(self) -> str:
        """Return `page:line`."""
        return f"docs/{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        """Whether the test runs it."""
        return not self.note and not self.title and self.language in RUN


@dataclass(frozen=True)
class Command:
    """A shell command, and what a page says that it prints."""

    text: str
    line: int
    expected: str | None
    """None: the page does not say."""


def page_names() -> list[str]:
    """Return every page."""
    return sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def blocks(page: str) -> list[Block]:
    """Return a page's blocks in order.

    Raises:
        ValueError: a fence is indented or never closed.
    """
    found: list[Block] = []
    lines = (DOCS / page).read_text(encoding="utf-8").splitlines()
    start, opening = 0, re.match(r"", "")
    for number, line in enumerate(lines, 1):
        if start and line == "```" and opening:
            note = _NOTE.match(lines[start - 2]) if start > 1 else None
            title = _TITLE.search(opening[2])
            found.append(
                Block(
                    page,
                    start,
                    opening[1] or "",
                    "".join(f"{text}\n" for text in lines[start : number - 1]),
                    title[1] if title else "",
                    note[1] if note else "",
                    note[2] if note else "",
                )
            )
            start = 0
        elif not start and (opening := _FENCE.match(line)):
            start = number
        elif not start and line.lstrip().startswith("```"):
            raise ValueError(f"docs/{page}:{number}: an indented fence is not tested")
    if start:
        raise ValueError(f"docs/{page}:{start}: the fence is never closed")
    return found


def commands(block: Block) -> list[Command]:
    """Return the commands of a `console` or `sh` block; a line that ends with a backslash goes on."""
    found: list[Command] = []
    lines = iter(enumerate(block.text.splitlines(), block.line + 1))
    for number, line in lines:
        if block.language == "console" and not line.startswith("$ "):
            if not found:
                raise ValueError(f"{block.place}: a console block begins with a command")
            said = (found[-1].expected or "") + f"{line}\n"
            found[-1] = Command(found[-1].text, found[-1].line, said)
            continue
        text = line.removeprefix("$ ") if block.language == "console" else line
        while text.endswith("\\"):
            text += "\n" + next(lines, (0, ""))[1]
        if text.strip() and not text.lstrip().startswith("#"):
            found.append(Command(text, number, None))
    return found


def inline_commands(page: str) -> list[str]:
    """Return the commands of ours that a page's prose names."""
    prose, inside = [], False
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            prose.append(line)
    spans = re.findall(r"`([^`]+)`", " ".join(prose))
    return [span for span in spans if is_ours(span)]


def is_ours(command: str) -> bool:
    """Tell whether a command starts rtlagent."""
    return bool(_PROGRAM.match(command))
