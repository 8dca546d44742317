"""Cut Verilog text into tokens, fast and without a library that hostile text could crash.

What the simulators might read differently is not guessed at: it becomes a token of kind `bad`,
and whoever judges an answer refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rtlagent.tools.policy_text import words
from rtlagent.types import SourceFile


class Token(NamedTuple):
    """A word of the text; comments and blanks are none."""

    kind: str
    """`name`, `escaped`, `system`, `directive`, `string`, `number`, `mark` or `bad`."""
    text: str
    """As written; of an escaped name without the backslash."""
    start: int
    """Offset in the text that was cut."""
    end: int


_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n]+|//[^\n]*|/\*.*?\*/)
    |(?P<name>[A-Za-z_][A-Za-z0-9_$]*)
    |(?P<bad>\"\"\"|/\*|[^\x20-\x7e])
    |(?P<string>"(?:[^"\\\n\x00-\x08\x0b-\x1f]|\\[^\n])*")
    |(?P<number>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?|'[sS]?[bodhBODH][ \t]*[0-9a-fA-FxXzZ?_]+|'[01xXzZ])
    |(?P<system>\$[A-Za-z0-9_$]+)
    |(?P<directive>`[A-Za-z_][A-Za-z0-9_$]*)
    |\\(?P<escaped>[\x21-\x7e]+)
    |(?P<mark>[\x21-\x7e])""",
    re.S | re.X,
)
_DECLARES = words(
    "module macromodule primitive package interface program class checker config covergroup property sequence"
)
_BODIES = {
    "module": "endmodule",
    "macromodule": "endmodule",
    "primitive": "endprimitive",
    "package": "endpackage",
    "interface": "endinterface",
    "program": "endprogram",
}
MODULES = frozenset({"module", "macromodule"})
OPENERS = frozenset(_BODIES)
"""Keywords that begin an outermost part of a source file."""
_MODIFIERS = frozenset({"automatic", "static", "void", "virtual"})


def normal(text: str) -> str:
    """Return `text` with line ends as the simulators agree on them, and without a byte order mark."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


@lru_cache(maxsize=512)
def tokens(text: str) -> tuple[Token, ...]:
    """Cut `text`, which `normal` has gone over."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        assert kind is not None
        if kind != "blank":
            found.append(Token(kind, match[kind], match.start(), match.end()))
    return tuple(found)


def without_comments(text: str) -> str:
    """Return `text` with blanks for comments; lines and columns stay."""
    kept: list[str] = []
    place = 0
    for token in tokens(text):
        kept += [re.sub(r"[^\n]", " ", text[place : token.start]), text[token.start : token.end]]
        place = token.end
    return "".join([*kept, re.sub(r"[^\n]", " ", text[place:])])


class Unit(NamedTuple):
    """A module, package or the like, or what stands between two of them."""

    kind: str
    """`module`, `package`...; empty between two."""
    name: str
    tokens: tuple[Token, ...]


def units(found: tuple[Token, ...]) -> tuple[Unit, ...]:
    """Split tokens into the outermost modules, packages and so on, and what stands between."""
    result: list[Unit] = []
    start = 0
    depth: list[str] = []
    opened = 0
    for index, token in enumerate(found):
        if token.kind != "name":
            continue
        if depth and token.text == depth[-1]:
            depth.pop()
            if not depth:
                body = found[opened : index + 1]
                result.append(Unit(body[0].text, _declared_name(body), body))
                start = index + 1
        elif token.text in _BODIES and not _refers(found, index):
            if not depth:
                opened = index
                if start < index:
                    result.append(Unit("", "", found[start:index]))
            depth.append(_BODIES[token.text])
    rest = opened if depth else start
    if rest < len(found):
        body = found[rest:]
        result.append(Unit(body[0].text, _declared_name(body), body) if depth else Unit("", "", body))
    return tuple(result)


def _refers(found: tuple[Token, ...], index: int) -> bool:
    """Say whether a keyword is part of another declaration: `virtual interface`, `extern module`, an import."""
    return index > 0 and found[index - 1].text in ("virtual", "extern")


def _declared_name(body: tuple[Token, ...]) -> str:
    for token in body[1:4]:
        if token.kind in ("name", "escaped") and token.text not in _MODIFIERS:
            return token.text
    return ""


def declared(found: Iterable[Token]) -> Iterator[str]:
    """Name every module, package, class and so on that is declared."""
    pending = False
    for token in found:
        if token.kind == "name" and token.text in _DECLARES:
            pending = True
        elif pending and token.text not in _MODIFIERS:
            pending = False
            if token.kind in ("name", "escaped"):
                yield token.text


def routines(found: tuple[Token, ...]) -> Iterator[str]:
    """Name every task, function and named block that is declared."""
    for index, token in enumerate(found):
        if token.kind != "name":
            continue
        after = [t.text for t in found[index + 1 : index + 3]]
        if token.text in ("begin", "fork") and after[:1] == [":"] and len(after) > 1:
            yield after[1]
        elif token.text in ("task", "function"):
            # The name is the last word before the arguments or the semicolon.
            last = ""
            for ahead in found[index + 1 : index + 40]:
                if ahead.text in ("(", ";"):
                    break
                if ahead.kind in ("name", "escaped"):
                    last = ahead.text
            if last:
                yield last


def names(found: Iterable[Token]) -> frozenset[str]:
    """Return every plain or escaped name, keywords included."""
    return frozenset(t.text for t in found if t.kind in ("name", "escaped"))


def closing(found: tuple[Token, ...], index: int) -> int | None:
    """Return the index of the parenthesis that closes the one at `index`; None: there is none."""
    depth = 0
    for place in range(index, len(found)):
        token = found[place]
        if token.kind == "mark":
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
            if depth == 0:
                return place
    return None


def line_of(text: str, offset: int) -> int:
    """Return the line, from 1, of an offset."""
    return text.count("\n", 0, offset) + 1


def is_verilog(file: SourceFile) -> bool:
    """Say whether a file is to be compiled or included as Verilog."""
    return file.path.lower().endswith((".v", ".sv", ".vh", ".svh", ".verilog"))


def renamed(text: str, old: str, new: str) -> str:
    """Return `text` with the name `old` replaced by `new` wherever it is a word of its own."""
    kept: list[str] = []
    place = 0
    for token in tokens(text):
        if token.kind == "name" and token.text == old:
            kept += [text[place : token.start], new]
            place = token.end
    return "".join([*kept, text[place:]])
