"""Cut a Markdown file into its YAML front matter and its prose, and read the YAML safely.

Only plain data are accepted: no tags, anchors or aliases, so that no text can build objects or grow
on expansion. The tree is built from the parser's events without recursion. Scalars keep the text
that was written, so that a port named `on` stays a name and `010` stays ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from rtlagent.spec.problems import Place, Problems, shown

MAX_YAML_CHARS = 256 * 1024
MAX_DEPTH = 16
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True)
class Scalar:
    """A piece of text, as written."""

    place: Place
    text: str
    plain: bool
    """False when it was quoted or a block, so that it is text whatever it looks like."""

    @property
    def is_null(self) -> bool:
        """True for an empty value, `~` and `null`."""
        return self.plain and self.text in _NULLS


@dataclass(frozen=True)
class Sequence:
    """A list."""

    place: Place
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Mapping:
    """Keys and values in the order written, duplicates dropped."""

    place: Place
    entries: tuple[tuple[Scalar, Node], ...]

    def get(self, key: str) -> Node | None:
        """Return the value of `key`; None if it is absent or null."""
        for name, value in self.entries:
            if name.text == key:
                return None if isinstance(value, Scalar) and value.is_null else value
        return None


Node = Scalar | Sequence | Mapping


@dataclass(frozen=True)
class Document:
    """A spec file in two pieces."""

    yaml: str | None
    """Text between the `---` lines; None if there is no front matter."""
    prose: str
    prose_line: int
    """Line of the file at which the prose begins."""


def split(text: str, problems: Problems) -> Document:
    """Cut `text` at its `---` lines; the closing line may also be `...`."""
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line.strip()), None)
    if start is None or lines[start].rstrip() != "---":
        return Document(None, text.strip(), (start or 0) + 1)
    for end in range(start + 1, len(lines)):
        if lines[end].rstrip() in ("---", "..."):
            # Blank lines in front keep the line numbers of the YAML those of the file.
            yaml_text = "\n" * (start + 1) + "\n".join(lines[start + 1 : end])
            return Document(yaml_text, "\n".join(lines[end + 1 :]).strip(), end + 2)
    problems.add(Place(start + 1, 1), "the front matter is not closed", "end it with a line `---`")
    return Document(None, text, start + 1)


def parse(text: str, problems: Problems) -> Mapping | None:
    """Read the YAML of a front matter; None if it is empty or wrong (and then noted)."""
    if len(text) > MAX_YAML_CHARS:
        problems.add(Place(1, 1), f"the front matter is longer than {MAX_YAML_CHARS // 1024} KiB")
        return None
    try:
        root = _build(yaml.parse(text, Loader=yaml.SafeLoader), problems)
    except yaml.MarkedYAMLError as error:
        problems.add(_place(error.problem_mark or error.context_mark), *_explain(error))
        return None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = Place(before.count("\n") + 1, error.position - before.rfind("\n"))
        problems.add(place, "the front matter has a character that YAML does not allow", "remove it, or escape it")
        return None
    except (ValueError, OverflowError):
        # PyYAML lets these out for escapes beyond Unicode and absurd %YAML versions.
        problems.add(Place(1, 1), "the front matter has an escape or a number that YAML does not allow")
        return None
    if root is None or isinstance(root, Mapping):
        return root
    if not (isinstance(root, Scalar) and root.is_null):
        problems.add(root.place, "the front matter is not a list of keys", "write lines such as `top: fifo`")
    return None


class _Stop(Exception):
    """What follows cannot be read; the reason has been noted."""


@dataclass
class _Open:
    place: Place
    is_mapping: bool
    nodes: list[Node]


def _build(events: Iterator[yaml.Event], problems: Problems) -> Node | None:
    """Turn parser events into a tree, or note why that is refused."""
    root: list[Node] = []
    stack: list[_Open] = []
    try:
        for event in events:
            node = _step(event, stack, problems)
            if node is not None:
                (stack[-1].nodes if stack else root).append(node)
    except _Stop:
        return None
    return root[0] if root else None


def _step(event: yaml.Event, stack: list[_Open], problems: Problems) -> Node | None:
    """Take one event; return the node that it completes."""
    place = _place(event.start_mark)
    if isinstance(event, yaml.NodeEvent):
        _refuse_cleverness(event, place, problems)
    if isinstance(event, yaml.ScalarEvent):
        _refuse_control_characters(event.value, place, problems)
        return Scalar(place, event.value, plain=event.style is None)
    if isinstance(event, yaml.CollectionStartEvent):
        if len(stack) >= MAX_DEPTH:
            problems.add(place, f"the front matter is nested more than {MAX_DEPTH} levels deep")
            raise _Stop
        stack.append(_Open(place, isinstance(event, yaml.MappingStartEvent), []))
    elif isinstance(event, yaml.CollectionEndEvent):
        opened = stack.pop()
        if opened.is_mapping:
            return Mapping(opened.place, _pairs(opened.nodes, problems))
        return Sequence(opened.place, tuple(opened.nodes))
    return None


def _refuse_cleverness(event: yaml.NodeEvent, place: Place, problems: Problems) -> None:
    if isinstance(event, yaml.AliasEvent):
        problems.add(place, f"YAML aliases are not accepted: *{event.anchor}", "write the value out")
        raise _Stop
    if event.anchor is not None:
        problems.add(place, f"YAML anchors are not accepted: &{event.anchor}", "write the value out")
        raise _Stop
    tag = getattr(event, "tag", None)  # an alias has none
    if tag is not None:
        problems.add(place, f"YAML tags are not accepted: {shown(str(tag))}", "write a plain value, or quote it")
        raise _Stop


def _refuse_control_characters(text: str, place: Place, problems: Problems) -> None:
    if any((ord(c) < 32 and c not in "\t\n") or 0xD800 <= ord(c) <= 0xDFFF for c in text):
        problems.add(place, "a value has a control character or half a surrogate pair", "remove it")
        raise _Stop


def _pairs(nodes: list[Node], problems: Problems) -> tuple[tuple[Scalar, Node], ...]:
    pairs: dict[str, tuple[Scalar, Node]] = {}
    for key, value in zip(nodes[::2], nodes[1::2], strict=True):
        if not isinstance(key, Scalar):
            problems.add(key.place, "a key must be a plain name")
        elif key.text in pairs:
            first = pairs[key.text][0].place.line
            problems.add(key.place, f"key {shown(key.text)} is given twice", f"the first is in line {first}")
        else:
            pairs[key.text] = (key, value)
    return tuple(pairs.values())


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def _explain(error: yaml.MarkedYAMLError) -> tuple[str, str]:
    said = error.problem or error.context or "not YAML"
    if "\\t" in said:
        return "the front matter is indented with a tab", "YAML is indented with spaces"
    if "mapping values" in said:
        return f"the front matter is not YAML: {said}", "put a text that has a colon in it into quotes"
    if error.context and error.context != said:
        said = f"{said} {error.context}"
    return (
        f"the front matter is not YAML: {said}",
        "put texts that begin with a bracket or a special character into quotes",
    )
