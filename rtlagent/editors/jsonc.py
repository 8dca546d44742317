"""Read JSON with comments, and change it at its places, so that comments and layout stay.

VS Code's own files are JSON with `//` and `/* */` comments and commas before a closing bracket. An edit here is an
insertion or a replacement in the text; what it does not name is kept to the letter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_BLANK = re.compile(r"(?:[\s\ufeff]|//[^\n]*|/\*.*?\*/)*", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_ATOM = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_MAX_DEPTH = 100


class JsoncError(ValueError):
    """The text is not JSON with comments.

    Attributes:
        line: From 1.
        column: From 1.
    """

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(message)
        self.line = text.count("\n", 0, position) + 1
        self.column = position - text.rfind("\n", 0, position)


@dataclass(frozen=True)
class Node:
    """A value and where it stands in the text."""

    start: int
    end: int
    value: Any
    """As `json.loads` would give it."""
    members: Mapping[str, Node]
    """Of an object."""
    items: tuple[Node, ...]
    """Of an array."""


def parse(text: str) -> Node:
    """Read a text.

    Raises:
        JsoncError: it is not JSON with comments, or too deep.
    """
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise JsoncError("something follows the end", text, end)
    return node


def add_item(text: str, array: Node, item: Any) -> str:
    """Append a value to an array."""
    return _append(text, array, [n.end for n in array.items], json.dumps(item, indent=_indent(text)))


def add_member(text: str, node: Node, key: str, value: Any) -> str:
    """Append a member to an object."""
    said = f"{json.dumps(key)}: {json.dumps(value, indent=_indent(text))}"
    return _append(text, node, [n.end for n in node.members.values()], said)


def replace_value(text: str, node: Node, value: Any) -> str:
    """Put another value in a value's place."""
    return (
        text[: node.start]
        + _shifted(json.dumps(value, indent=_indent(text)), _margin(text, node.start))
        + text[node.end :]
    )


def _append(text: str, node: Node, ends: Sequence[int], said: str) -> str:
    unit = _indent(text)
    step = unit if isinstance(unit, str) else " " * unit
    margin = _margin(text, node.start)
    inner = margin + step
    line = f"\n{inner}{_shifted(said, inner)}"
    close = node.end - 1
    if not ends:
        head = text[:close].rstrip()
        return f"{head}{line}\n{margin}{text[close:]}"
    last = max(ends)
    between = text[last:close]
    comma = _comma_in(between)
    # A comment that follows the last value on its line stays with it.
    tail = last + len(between.split("\n")[0].rstrip()) if "\n" in between else last
    if comma is not None:
        tail = max(tail, last + comma + 1)
        return f"{text[:tail]}{line}{_closing(text[tail:close], margin)}{text[close:]}"
    return f"{text[:last]},{text[last:tail]}{line}{_closing(text[tail:close], margin)}{text[close:]}"


def _closing(rest: str, margin: str) -> str:
    """Return what stands before the closing bracket: it goes on a line of its own."""
    return rest if "\n" in rest else f"{rest.rstrip()}\n{margin}"


def _comma_in(between: str) -> int | None:
    """Find the comma after the last value, if there is one, outside comments."""
    position = _skip(between, 0)
    return position if between[position : position + 1] == "," else None


def _skip(text: str, position: int) -> int:
    found = _BLANK.match(text, position)
    assert found is not None
    return found.end()


def _indent(text: str) -> int | str:
    """Return the step of indentation that the text uses."""
    found = re.search(r"\n([ \t]+)\S", text)
    if found is None:
        return 2
    return "\t" if found[1].startswith("\t") else len(found[1])


def _margin(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position) + 1
    found = re.match(r"[ \t]*", text[start:position])
    return found[0] if found else ""


def _shifted(said: str, margin: str) -> str:
    return said.replace("\n", f"\n{margin}")


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, position: int) -> int:
        position = _skip(self.text, position)
        if self.text.startswith("/*", position):
            raise JsoncError("a comment has no end", self.text, position)
        return position

    def value(self, position: int, depth: int) -> Node:
        if depth > _MAX_DEPTH:
            raise JsoncError("is nested too deep", self.text, position)
        first = self.text[position : position + 1]
        if first == "{":
            return self._object(position, depth)
        if first == "[":
            return self._array(position, depth)
        found = (_STRING if first == '"' else _ATOM).match(self.text, position)
        if found is None:
            raise JsoncError("a value is expected", self.text, position)
        return Node(position, found.end(), json.loads(found[0]), {}, ())

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Node] = {}
        for position in self._elements(start, "}"):
            found = _STRING.match(self.text, position)
            if found is None:
                raise JsoncError("a name in double quotes is expected", self.text, position)
            colon = self.skip(found.end())
            if self.text[colon : colon + 1] != ":":
                raise JsoncError("a colon is expected", self.text, colon)
            node = self.value(self.skip(colon + 1), depth + 1)
            members[json.loads(found[0])] = node
            self._next = node.end
        return Node(start, self._next, {k: n.value for k, n in members.items()}, members, ())

    def _array(self, start: int, depth: int) -> Node:
        items: list[Node] = []
        for position in self._elements(start, "]"):
            items.append(self.value(position, depth + 1))
            self._next = items[-1].end
        return Node(start, self._next, [n.value for n in items], {}, tuple(items))

    _next = 0
    """Where the last element ended; after the elements, where the whole ends."""

    def _elements(self, start: int, close: str) -> Iterator[int]:
        """Give the start of each element; its reader sets `_next` before it asks for another."""
        position = self.skip(start + 1)
        while self.text[position : position + 1] != close:
            if position >= len(self.text):
                raise JsoncError(f"a {close} is missing", self.text, position)
            yield position
            position = self.skip(self._next)
            if self.text[position : position + 1] == ",":
                position = self.skip(position + 1)
            elif self.text[position : position + 1] != close:
                raise JsoncError(f"a comma or {close} is expected", self.text, position)
        self._next = position + 1
