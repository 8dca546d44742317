"""Debug information of a module's text: places in the source, names and C types of variables.

Only what is asked for is read: a module has far more metadata than instructions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rtlagent.hls.ir import Place

_LINE = re.compile(r"^!(\d+) = (?:distinct )?!(.*)$", re.M)
_FIELD = re.compile(r"(\w+): (\"[^\"]*\"|[^,()]+)")
_LOCATION = re.compile(r"!dbg !(\d+)")
_DECLARE = re.compile(r"^\s+#dbg_(?:declare|value)\(ptr %(\"[^\"]*\"|[-\w.$]+), !(\d+), ", re.M)
_MOST_STEPS = 50
_SHIMS = ("/hls_stream.h", "/ap_int.h")
"""Headers of our own."""


@dataclass(frozen=True)
class Basic:
    """The scalar at the bottom of a C type."""

    name: str
    size: int
    """Bytes."""
    signed: bool
    is_float: bool = False


@dataclass(frozen=True)
class Variable:
    """A variable of the source."""

    name: str
    function: str
    """C name of the function it belongs to; empty for a global."""
    type: int | None
    """Metadata number of its type."""
    place: Place | None = None
    """Of its declaration."""


@dataclass
class Node:
    """One piece of metadata."""

    kind: str
    """Such as `DILocation`; empty for a list."""
    fields: dict[str, str] = field(default_factory=dict)
    items: list[int | None] = field(default_factory=list)

    def text(self, name: str) -> str:
        """Return a field without its quotes."""
        return self.fields.get(name, "").strip('"')

    def number(self, name: str) -> int | None:
        """Return a field that names other metadata."""
        return _number(self.fields.get(name))

    def integer(self, name: str) -> int:
        """Return a numeric field; 0 if it is absent."""
        found = self.fields.get(name, "")
        return int(found) if found.lstrip("-").isdigit() else 0


class DebugInfo:
    """Answers questions about a module's source."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self._lines: dict[int, str] = {int(n): rest for n, rest in _LINE.findall(text)}
        self._nodes: dict[int, Node] = {}
        self._places: dict[int, Place | None] = {}
        self._files: dict[int, str] = {}
        self._functions: dict[str, Node] = {}

    def node(self, number: int | None) -> Node | None:
        """Return a piece of metadata."""
        if number is None or number not in self._lines:
            return None
        if number not in self._nodes:
            self._nodes[number] = _read(self._lines[number])
        return self._nodes[number]

    # --- places

    def place(self, instruction: str) -> Place | None:
        """Return where in the source an instruction's text comes from."""
        found = _LOCATION.search(instruction)
        return self.at(int(found[1])) if found else None

    def at(self, number: int) -> Place | None:
        """Return the place of a debug location."""
        if number not in self._places:
            self._places[number] = self._place_of(self.node(number))
        return self._places[number]

    def _place_of(self, node: Node | None) -> Place | None:
        if node is None or node.kind != "DILocation" or not node.integer("line"):
            return None
        path = self._file(node.number("scope"))
        outer = node.number("inlinedAt")
        if path.endswith(_SHIMS) and outer is not None:
            return self.at(outer)  # where the user calls it
        return Place(path, node.integer("line"), node.integer("column"))

    def _file(self, scope: int | None) -> str:
        if scope is None:
            return self.path
        if scope not in self._files:
            node = self.node(scope)
            file = self.node(node.number("file")) if node is not None else None
            if file is not None:
                self._files[scope] = file.text("filename") or self.path
            else:
                self._files[scope] = self._file(node.number("scope")) if node is not None else self.path
        return self._files[scope]

    def loop_start(self, number: int) -> Place | None:
        """Return where the loop with some `llvm.loop` metadata begins."""
        node = self.node(number)
        second = node.items[1] if node is not None and len(node.items) > 1 else None
        return self.at(second) if second is not None else None

    def loop_function(self, number: int) -> str:
        """Return the C name of the function where the loop with some `llvm.loop` metadata was written."""
        node = self.node(number)
        location = self.node(node.items[1]) if node is not None and len(node.items) > 1 else None
        return self._function_of(location.number("scope")) if location is not None else ""

    # --- variables

    def variable(self, number: int | None) -> Variable | None:
        """Return a variable."""
        node = self.node(number)
        if node is not None and node.kind == "DIGlobalVariableExpression":
            node = self.node(node.number("var"))
        if node is None or node.kind not in ("DILocalVariable", "DIGlobalVariable"):
            return None
        file = self.node(node.number("file"))
        path = (file.text("filename") if file is not None else "") or self.path
        place = Place(path, node.integer("line")) if node.integer("line") else None
        return Variable(node.text("name"), self._function_of(node.number("scope")), node.number("type"), place)

    def _function_of(self, scope: int | None) -> str:
        for _ in range(_MOST_STEPS):
            node = self.node(scope)
            if node is None:
                return ""
            if node.kind == "DISubprogram":
                return node.text("name")
            scope = node.number("scope")
        return ""

    def attached(self, text: str) -> Variable | None:
        """Return the variable that a global's text is attached to."""
        for found in _LOCATION.finditer(text):
            variable = self.variable(int(found[1]))
            if variable is not None:
                return variable
        return None

    def declared(self, function_text: str) -> dict[str, Variable]:
        """Return the variables that a function's pointers are the addresses of, by the pointers' names."""
        found: dict[str, Variable] = {}
        for name, number in _DECLARE.findall(function_text):
            variable = self.variable(int(number))
            if variable is not None:
                found.setdefault(name.strip('"'), variable)
        return found

    def c_name(self, linkage_name: str) -> str:
        """Return a function's name in the source."""
        node = self.function(linkage_name)
        return node.text("name") if node is not None else linkage_name

    def function_place(self, linkage_name: str) -> Place | None:
        """Return where a function is defined."""
        node = self.function(linkage_name)
        if node is None or not node.integer("line"):
            return None
        file = self.node(node.number("file"))
        return Place((file.text("filename") if file is not None else "") or self.path, node.integer("line"))

    def function(self, linkage_name: str) -> Node | None:
        """Return a function's description."""
        if not self._functions:
            for number, line in self._lines.items():
                if line.startswith("DISubprogram"):
                    node = self.node(number)
                    assert node is not None
                    self._functions.setdefault(node.text("linkageName") or node.text("name"), node)
        return self._functions.get(linkage_name)

    # --- types

    def argument_types(self, linkage_name: str) -> dict[int, int | None]:
        """Return the types of a function's parameters, counted from 1."""
        function = self.function(linkage_name)
        found: dict[int, int | None] = {}
        for number, line in self._lines.items():
            if line.startswith("DILocalVariable") and " arg: " in line:
                node = self.node(number)
                if node is not None and function is not None and self.node(node.number("scope")) is function:
                    found[node.integer("arg")] = node.number("type")
        return found

    def result_type(self, linkage_name: str) -> int | None:
        """Return the type of a function's result; None for void."""
        function = self.function(linkage_name)
        kind = self.node(function.number("type")) if function is not None else None
        types = self.node(kind.number("types")) if kind is not None else None
        return types.items[0] if types is not None and types.items else None

    def stripped(self, number: int | None) -> Node | None:
        """Return a type without typedefs and qualifiers."""
        for _ in range(_MOST_STEPS):
            node = self.node(number)
            if node is None:
                return None
            plain = node.kind != "DIDerivedType" or node.fields.get("tag") not in (
                "DW_TAG_typedef",
                "DW_TAG_const_type",
                "DW_TAG_volatile_type",
                "DW_TAG_restrict_type",
                "DW_TAG_atomic_type",
            )
            if plain:
                return node
            number = node.number("baseType")
        return None

    def size(self, number: int | None) -> int:
        """Return the bytes of a type; 0 if it is not known."""
        node = self.stripped(number)
        if node is None:
            return 0
        return -(-node.integer("size") // 8)

    def type_name(self, number: int | None) -> str:
        """Return a type as C writes it, where that is a name; else an empty string."""
        node = self.node(number)
        while node is not None and node.kind == "DIDerivedType" and node.text("tag") != "DW_TAG_typedef":
            node = self.node(node.number("baseType"))
        if node is None or not node.text("name"):
            return ""
        words = {"DW_TAG_structure_type": "struct ", "DW_TAG_union_type": "union ", "DW_TAG_enumeration_type": "enum "}
        return words.get(node.text("tag"), "") + node.text("name")

    def is_record(self, number: int | None) -> bool:
        """Tell whether a type is a structure, a union or a class."""
        node = self.stripped(number)
        return node is not None and node.fields.get("tag") in (
            "DW_TAG_structure_type",
            "DW_TAG_class_type",
            "DW_TAG_union_type",
        )

    def basic(self, number: int | None) -> Basic | None:
        """Follow typedefs, qualifiers, pointers and arrays down to a basic type."""
        for _ in range(_MOST_STEPS):
            node = self.node(number)
            if node is None:
                return None
            if node.kind == "DIBasicType":
                encoding = node.text("encoding")
                return Basic(
                    node.text("name"),
                    -(-node.integer("size") // 8) or 1,
                    encoding in ("DW_ATE_signed", "DW_ATE_signed_char"),
                    encoding == "DW_ATE_float",
                )
            if node.text("tag") == "DW_TAG_enumeration_type" and "baseType" not in node.fields:
                return Basic("unsigned int", 4, signed=False)
            number = node.number("baseType")
        return None

    def dims(self, number: int | None) -> tuple[int, ...]:
        """Return the dimensions of an array type."""
        found: list[int] = []
        node = self.stripped(number)
        while node is not None and node.text("tag") == "DW_TAG_array_type":
            ranges = self.node(node.number("elements"))
            for item in ranges.items if ranges is not None else []:
                one = self.node(item)
                found.append(one.integer("count") if one is not None else 0)
            node = self.stripped(node.number("baseType"))
        return tuple(found)

    def leaf(self, number: int | None, offset: int) -> tuple[tuple[str, ...], Basic | None]:
        """Return the names of the fields that lead to a byte of a type, and the scalar there."""
        names: list[str] = []
        while True:
            node = self.stripped(number)
            if node is None:
                return tuple(names), None
            tag = node.text("tag")
            if tag == "DW_TAG_array_type":
                number = node.number("baseType")
                size = self.size(number)
                offset = offset % size if size else offset
                continue
            if tag not in ("DW_TAG_structure_type", "DW_TAG_class_type"):
                return tuple(names), self.basic(number) if tag != "DW_TAG_pointer_type" else None
            member = self._member(node, offset)
            if member is None:
                return tuple(names), None
            if member.text("name"):
                names.append(member.text("name"))
            offset -= member.integer("offset") // 8
            number = member.number("baseType")

    def _member(self, record: Node, offset: int) -> Node | None:
        elements = self.node(record.number("elements"))
        for item in elements.items if elements is not None else []:
            node = self.node(item)
            if node is None or node.kind != "DIDerivedType" or node.fields.get("flags", "").find("Static") >= 0:
                continue
            first = node.integer("offset") // 8
            if first <= offset < max(first + 1, -(-(node.integer("offset") + node.integer("size")) // 8)):
                return node
        return None


def _read(line: str) -> Node:
    kind, _, rest = line.partition("(")
    if line.startswith("{"):
        parts = (part.strip() for part in line[1 : line.rindex("}")].split(","))
        return Node("", items=[_number(part) for part in parts] if line != "{}" else [])
    return Node(kind, dict(_FIELD.findall(rest)))


def _number(text: str | None) -> int | None:
    return int(text[1:]) if text and re.fullmatch(r"!\d+", text) else None
