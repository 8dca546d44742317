"""The ports of a spec: `input [7:0] a`, `a: input 8`, `{name: a, direction: input, width: 8}`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping as Named
from dataclasses import dataclass, replace

from rtlagent.spec.fields import boolean, choice, entries, identifier, identifier_hint, items, kind_of, text
from rtlagent.spec.front_matter import Mapping, Node, Scalar
from rtlagent.spec.interface import description
from rtlagent.spec.names import why_not_identifier
from rtlagent.spec.problems import Place, Problems, shown, suggestion
from rtlagent.spec.widths import WidthError, range_bits, width_of
from rtlagent.types import Port

MAX_WIDTH = 8192
DIRECTIONS = {"input": "input", "in": "input", "output": "output", "out": "output", "inout": "inout"}
_WRONG = -(1 << 50)
"""Stands for a width that was noted as wrong; no expression can have this value."""
_KEYS = ("name", "direction", "width", "signed", "description")
_FORMS = "such as `input [7:0] a`, `a: input 8` or `{name: a, direction: input, width: 8}`"
_NET_TYPES = frozenset({"wire", "reg", "logic", "bit", "var", "tri", "uwire", "unsigned"})
_TOKEN = re.compile(r"\s*(\[[^\[\]]*\]|[0-9]+[ -]?bits?\b|[A-Za-z_$][\w$]*|[0-9]\w*|\S)")


@dataclass(frozen=True)
class PlacedPort:
    """A port and where it is declared."""

    port: Port
    place: Place


def read_ports(node: Node, parameters: Named[str, int | None], problems: Problems) -> tuple[Port, ...]:
    """Read a list, a mapping or a block text of ports; note doubles."""
    found: list[PlacedPort] = []
    for item in _declarations(node):
        found += _Reader(parameters, problems).read(item)
    seen: dict[str, PlacedPort] = {}
    for placed in found:
        name = placed.port.name
        first = seen.setdefault(name, placed)
        if first is placed:
            continue
        same = (first.port.direction, first.port.width) == (placed.port.direction, placed.port.width)
        message = f"port {name!r} is declared twice" if same else f"port {name!r} contradicts its first declaration"
        problems.add(placed.place, message, f"the first is in line {first.place.line}")
    return tuple(p.port for p in seen.values())


def _declarations(node: Node) -> tuple[Node, ...]:
    """Split whatever holds the ports into one node a declaration."""
    if isinstance(node, Mapping) and not {"name", "direction"} & {k.text for k, _ in node.entries}:
        return tuple(Mapping(key.place, ((key, value),)) for key, value in node.entries)
    if isinstance(node, Scalar) and not node.plain and "\n" in node.text:
        # A block text starts in the line after its `|`.
        lines = enumerate(node.text.split("\n"), start=node.place.line + 1)
        return tuple(Scalar(Place(i, 1), line.strip(), plain=True) for i, line in lines if _is_code(line))
    return items(node)


def _is_code(line: str) -> bool:
    return bool(line.partition("//")[0].strip(" \t,;"))


class _Reader:
    """Reads one declaration."""

    def __init__(self, parameters: Named[str, int | None], problems: Problems) -> None:
        self.parameters = parameters
        self.problems = problems

    def read(self, node: Node) -> list[PlacedPort]:
        """Return the declared ports; none if something is wrong, which is then noted."""
        if isinstance(node, Scalar) and not node.is_null:
            return self._verilog(node.text, node.place, "")
        if not isinstance(node, Mapping) or not node.entries:
            self.problems.add(node.place, f"a port cannot be {kind_of(node)}", f"write it {_FORMS}")
            return []
        if len(node.entries) > 1 or node.entries[0][0].text in _KEYS[1:]:
            return self._long(node)
        key, value = node.entries[0]
        if key.text == "name" and not (isinstance(value, Scalar) and self._words(value.text)[0] in DIRECTIONS):
            return self._long(node)
        return self._short(key, value)

    def _short(self, key: Scalar, value: Node) -> list[PlacedPort]:
        """Read `a: input 8`, `a: {direction: input}`, or `input [7:0] a: what it is for`."""
        if isinstance(value, Mapping):
            return self._long(Mapping(key.place, ((Scalar(key.place, "name", True), key), *value.entries)))
        if not isinstance(value, Scalar):
            self.problems.add(value.place, f"port {shown(key.text)} cannot be {kind_of(value)}", f"write it {_FORMS}")
            return []
        if len(self._words(key.text)) > 1:
            return self._verilog(key.text, key.place, value.text.strip())
        name = identifier(key, "port", self.problems)
        shape, _, comment = value.text.partition("//")
        return self._declared([name], shape, value.place, comment.strip()) if name else []

    def _verilog(self, line: str, place: Place, about: str) -> list[PlacedPort]:
        """Read `input [7:0] a, b // what they are for`."""
        code, _, comment = line.partition("//")
        code = code.strip().rstrip(",;").strip()
        head = re.fullmatch(r"(?P<shape>.*?[\s\]])(?P<names>[^\s,\[\]]+(?:\s*,\s*[^\s,\[\]]+)*)", code, re.DOTALL)
        if head is None or self._words(code)[0] not in DIRECTIONS:
            self.problems.add(place, f"cannot read the port {shown(code)}", self._reason(code))
            return []
        names = [n.strip() for n in head["names"].split(",")]
        return self._declared(names, head["shape"], place, about or comment.strip())

    def _reason(self, code: str) -> str:
        if re.search(r"\w\s*\[[^\[\]]*\]$", code):
            return "unpacked dimensions are not possible at a port; use one wide vector, such as `input [31:0] a`"
        first = self._words(code)[0]
        near = suggestion(first, DIRECTIONS)
        return near if near.startswith("did you mean") else f"write it {_FORMS}"

    def _declared(self, names: list[str], shape: str, place: Place, about: str) -> list[PlacedPort]:
        """Read what stands before the names in Verilog, or after the name in the short form."""
        direction = ""
        signed = False
        sizes: list[int | None] = []
        for word in self._words(shape):
            lower = word.lower()
            if lower in DIRECTIONS and not direction:
                direction = DIRECTIONS[lower]
            elif lower == "signed":
                signed = True
            elif lower not in _NET_TYPES and word != ",":
                size = self._size(word, place, f"port {shown(names[0])}: ")
                if size == _WRONG:
                    return []
                sizes.append(size)
        if not direction:
            self.problems.add(place, f"port {shown(names[0])} has no direction", f"write it {_FORMS}")
            return []
        known = [s for s in sizes if s is not None]
        width = math.prod(known) if len(known) == len(sizes) else None
        return self._made(names, Port("", direction, width, signed, about), place)

    def _size(self, word: str, place: Place, owner: str = "") -> int | None:
        """Return a range's or number's bits; _WRONG after noting that it is neither."""
        try:
            if word.startswith("["):
                return range_bits(word, self.parameters)
            return width_of(re.sub(r"[ -]?bits?$", "", word), self.parameters)
        except WidthError as error:
            self.problems.add(place, f"{owner}{error}", error.hint)
            return _WRONG

    def _made(self, names: list[str], model: Port, place: Place) -> list[PlacedPort]:
        if model.width is not None and not 1 <= model.width <= MAX_WIDTH:
            message = f"port {shown(names[0])} is {model.width} bits wide; 1 to {MAX_WIDTH} are possible"
            self.problems.add(place, message)
            return []
        made = []
        for name in names:
            reason = why_not_identifier(name)
            if reason:
                self.problems.add(place, f"port {shown(name)} {reason}", identifier_hint(name))
            else:
                made.append(PlacedPort(replace(model, name=name), place))
        return made

    def _long(self, node: Mapping) -> list[PlacedPort]:
        """Read `{name: a, direction: input, width: 8, signed: true, description: ...}`."""
        keys = entries(node, "a port", _KEYS, self.problems)
        for needed in ("name", "direction"):
            if needed not in keys:
                self.problems.add(node.place, f"a port has no {needed}", f"write it {_FORMS}")
        name = identifier(keys["name"], "port", self.problems) if "name" in keys else None
        direction = None
        if "direction" in keys:
            direction = choice(keys["direction"], "direction", tuple(DIRECTIONS), self.problems)
        signed = boolean(keys["signed"], "signed", self.problems) if "signed" in keys else False
        width: int | None = 1
        if "width" in keys:
            written = text(keys["width"], "width", self.problems)
            width = self._size(written, keys["width"].place) if written else _WRONG
        about = description(keys, self.problems)
        if name is None or direction is None or signed is None or width == _WRONG:
            return []
        return self._made([name], Port("", DIRECTIONS[direction], width, signed, about), node.place)

    def _words(self, code: str) -> list[str]:
        return _TOKEN.findall(code) or [""]
