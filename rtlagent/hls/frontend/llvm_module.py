"""A module of LLVM IR, read from its text once.

llvmlite can show instructions too, but prints the whole function to number the values of each one: that is quadratic.
The classes here answer the same questions under the same names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

_DEFINE = re.compile(r"^define [^@\n]*@(\"[^\"]*\"|[-\w.$]+)\(", re.M)
_GLOBAL = re.compile(r"^@(\"[^\"]*\"|[-\w.$]+) = .*\b(?:global|constant)\b.*$", re.M)
_RESULT = re.compile(r"^%(\"[^\"]*\"|[-\w.$]+) = ")
_LABEL = re.compile(r"^(\"[^\"]*\"|[-\w.$]+):")
_METADATA = re.compile(r"(?:, ![-\w.]+ ![^,]+)+$")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_CASTS = frozenset(
    {"zext", "sext", "trunc", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast"}
    | {"fptosi", "fptoui", "sitofp", "uitofp", "fptrunc", "fpext"}
)
_FLAGS = frozenset(
    {"nuw", "nsw", "exact", "disjoint", "samesign", "nneg", "inbounds", "nusw", "volatile", "atomic", "fast", "nnan"}
    | {"ninf", "nsz", "arcp", "contract", "afn", "reassoc", "tail", "musttail", "notail"}
)
_PREDICATES = frozenset({"eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"})
_ATTRIBUTE = re.compile(r"(?:align|dereferenceable\w*) \d+ |[a-z_]+\(|[a-z_]+ ")
_VALUE = re.compile(
    r"[-%@\d\[{<]|(?:true|false|null|undef|poison|none|zeroinitializer)\b|c\"|metadata |splat |asm "
    r"|(?:getelementptr|inttoptr|ptrtoint|bitcast|addrspacecast|add|sub|xor|trunc|blockaddress|dso_local_equivalent)\b"
)


@dataclass(eq=False)
class Constant:
    """A constant operand."""

    text: str
    """With its type, such as `i32 5`."""
    type: str
    name: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False)
class GlobalVariable:
    """A global variable; its text is the whole definition."""

    name: str
    text: str
    type: str = "ptr"

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False)
class Argument:
    """A parameter of a function."""

    name: str
    type: str
    text: str
    """With its attributes."""

    def __str__(self) -> str:
        return self.text


@dataclass(eq=False)
class Instruction:
    """One instruction."""

    function: Function
    name: str
    """Of its result; may be empty."""
    opcode: str
    text: str

    def __str__(self) -> str:
        return self.text

    @cached_property
    def _read(self) -> tuple[str, list[tuple[str, str]]]:
        body = _METADATA.sub("", self.text)
        body = _RESULT.sub("", body.lstrip())
        return _read_operands(self.opcode, body)

    @property
    def type(self) -> str:
        """Type of the result, as text."""
        return self._read[0]

    @cached_property
    def operands(self) -> list[Operand]:
        """In LLVM's own order: a call's callee last, a conditional branch's targets else before then."""
        return [self.function.operand(kind, value) for kind, value in self._read[1]]

    @cached_property
    def incoming_blocks(self) -> list[Block]:
        """Of a phi: where each operand comes from."""
        body = _METADATA.sub("", self.text)
        found = re.findall(r", %(\"[^\"]*\"|[-\w.$]+) \]", body)
        return [self.function.block(name.strip('"')) for name in found]


@dataclass(eq=False)
class Block:
    """A basic block."""

    name: str
    instructions: list[Instruction]
    type: str = "label"


class Function:
    """A defined function; its body is read when somebody asks."""

    def __init__(self, module: LlvmModule, name: str, text: str) -> None:
        self.module = module
        self.name = name
        self.type = "ptr"
        self._text = text

    def __str__(self) -> str:
        return self._text

    @cached_property
    def arguments(self) -> list[Argument]:
        """Its parameters."""
        header = self._text.split("\n", 1)[0]
        start = header.index("(", header.index(f"@{self.name}") if f"@{self.name}" in header else header.index('@"'))
        found = []
        for part in _split(header[start + 1 : _closing(header, start)]):
            if part == "...":
                continue
            kind, rest = _take_type(part)
            name = rest.rsplit("%", 1)[1].strip('"') if "%" in rest else ""
            found.append(Argument(name, kind, part))
        return found

    @cached_property
    def blocks(self) -> list[Block]:
        """Its blocks, the entry first."""
        blocks: list[Block] = []
        lines = iter(self._text.split("\n")[1:])
        for line in lines:
            if line == "}":
                break
            label = _LABEL.match(line)
            if label:
                blocks.append(Block(label[1].strip('"'), []))
                continue
            text = line.strip()
            if not text or text.startswith((";", "#dbg")):
                continue
            if not blocks:
                blocks.append(Block("entry", []))
            if text.endswith("["):
                text = _joined(text, lines)
            blocks[-1].instructions.append(self._instruction(text))
        return blocks

    def _instruction(self, text: str) -> Instruction:
        result = _RESULT.match(text)
        rest = text[result.end() :] if result else text
        words = rest.replace(",", " ").split(" ", 2)
        opcode = words[1] if words[0] in ("tail", "musttail", "notail") else words[0]
        return Instruction(self, result[1].strip('"') if result else "", opcode, text)

    @cached_property
    def _locals(self) -> dict[str, Argument | Instruction]:
        found: dict[str, Argument | Instruction] = {a.name: a for a in self.arguments if a.name}
        found.update({i.name: i for b in self.blocks for i in b.instructions if i.name})
        return found

    @cached_property
    def _by_name(self) -> dict[str, Block]:
        return {b.name: b for b in self.blocks}

    def block(self, name: str) -> Block:
        """Return a block by name."""
        return self._by_name[name]

    def named(self, name: str) -> Operand | None:
        """Return what a name such as `%x` or `@table` stands for; None if it is gone."""
        if name.startswith("@"):
            return self.module.symbol(name[1:].strip('"'))
        return self._locals.get(name[1:].strip('"'))

    def operand(self, kind: str, value: str) -> Operand:
        """Return what an operand's text names."""
        if value.startswith("%"):
            name = value[1:].strip('"')
            return self._by_name[name] if kind == "label" else self._locals[name]
        if value.startswith("@"):
            return self.module.symbol(value[1:].strip('"'))
        return Constant(f"{kind} {value}", kind)


@dataclass(eq=False)
class Symbol:
    """A function that is only declared, or whatever else a name stands for."""

    name: str
    type: str = "ptr"

    def __str__(self) -> str:
        return f"@{self.name}"


Operand = Constant | GlobalVariable | Argument | Instruction | Block | Function | Symbol


class LlvmModule:
    """A module."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    @cached_property
    def functions(self) -> list[Function]:
        """The defined functions."""
        found = []
        for start in _DEFINE.finditer(self._text):
            end = self._text.index("\n}", start.end())
            found.append(Function(self, start[1].strip('"'), self._text[start.start() : end + 2]))
        return found

    @cached_property
    def global_variables(self) -> list[GlobalVariable]:
        """The global variables."""
        return [GlobalVariable(found[1].strip('"'), found[0]) for found in _GLOBAL.finditer(self._text)]

    @cached_property
    def _symbols(self) -> dict[str, Function | GlobalVariable | Symbol]:
        found: dict[str, Function | GlobalVariable | Symbol] = {f.name: f for f in self.functions}
        found.update({g.name: g for g in self.global_variables})
        return found

    def symbol(self, name: str) -> Function | GlobalVariable | Symbol:
        """Return what a global name stands for."""
        found = self._symbols.get(name)
        if found is None:
            found = self._symbols[name] = Symbol(name)
        return found


def _joined(text: str, lines: Iterator[str]) -> str:
    """Return a switch with the lines of its cases."""
    parts = [text]
    for line in lines:
        parts.append(line)
        if line.strip().startswith("]"):
            break
    return "\n".join(parts)


def _closing(text: str, at: int) -> int:
    """Return where the bracket at `at` is closed."""
    depth = 0
    quoted = False
    for k in range(at, len(text)):
        char = text[k]
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
            if depth == 0:
                return k
    raise ValueError(text)


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets and strings."""
    if not any(bracket in text for bracket in '([{<"'):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts, start, depth, quoted = [], 0, 0, False
    for k, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _take_type(text: str) -> tuple[str, str]:
    """Split a type from what follows it."""
    if text[0] in "[{<":
        end = _closing(text, 0) + 1
    elif text.startswith('%"'):
        end = text.index('"', 2) + 1
    else:
        space = text.find(" ")
        end = space if space >= 0 else len(text)
    rest = text[end:].lstrip()
    if rest.startswith("addrspace("):
        rest = rest[rest.index(")") + 1 :].lstrip()
    return text[:end], rest


def _typed(text: str) -> tuple[str, str]:
    """Read `type attributes value`."""
    kind, rest = _take_type(text)
    while rest and not _VALUE.match(rest):
        attribute = _ATTRIBUTE.match(rest)
        if not attribute:
            break
        end = _closing(rest, attribute.end() - 1) + 1 if attribute[0].endswith("(") else attribute.end()
        rest = rest[end:].lstrip()
    return kind, rest


def _without_flags(text: str) -> str:
    while True:
        word, _, rest = text.partition(" ")
        if word not in _FLAGS and not word.startswith(("samesign", "inrange")):
            return text
        text = rest


Found = tuple[str, list[tuple[str, str]]]


def _read_operands(opcode: str, body: str) -> Found:
    """Return the result's type and the operands as (type, value)."""
    if opcode == "call":
        return _read_call(body)
    rest = _without_flags(body[len(opcode) :].lstrip())
    reader = _READERS.get(opcode)
    if reader is not None:
        return reader(rest)
    if opcode in _CASTS:
        value, _, kind = rest.rpartition(" to ")
        return kind, [_typed(value)]
    parts = _split(rest)
    if not parts:
        return "void", []
    kind, first = _typed(parts[0])
    return kind, [(kind, first), *((kind, part) for part in parts[1:])]


def _read_call(body: str) -> Found:
    rest = _without_flags(body)
    rest = rest.removeprefix("call ")
    callee = re.search(r"(?:^| )(@\"[^\"]*\"|[@%][-\w.$]+|asm .*?)\(", rest)
    while callee and callee[1].startswith("%") and callee[1][1:].startswith(("struct.", "union.", "class.")):
        callee = re.compile(r" (@\"[^\"]*\"|[@%][-\w.$]+|asm .*?)\(").search(rest, callee.end())
    if not callee:
        return "void", [("ptr", "null")]
    before = rest[: callee.start()].strip()
    if before.endswith(")"):
        before = before[: before.rindex("(")].strip() if "(" in before else before
    result = _result_type(before)
    opening = callee.end() - 1
    given = [_typed(part) for part in _split(rest[opening + 1 : _closing(rest, opening)])]
    name = callee[1] if not callee[1].startswith("asm") else "null"
    return result, [*given, ("ptr", name)]


def _result_type(before: str) -> str:
    """Return the type at the end of `attributes type`."""
    if before.endswith(("}", "]", ">")):
        for k in range(len(before)):
            if before[k] in "[{<" and _closing(before, k) == len(before) - 1:
                return before[k:]
    return before.rsplit(" ", 1)[-1]


def _read_br(rest: str) -> Found:
    parts = [_typed(p) for p in _split(rest)]
    return "void", parts if len(parts) == 1 else [parts[0], parts[2], parts[1]]


def _read_switch(rest: str) -> Found:
    head, _, cases = rest.partition("[")
    value, default = _split(head)
    targets = re.findall(r", label (%\"[^\"]*\"|%[-\w.$]+)", cases)
    return "void", [_typed(value), _typed(default), *(("label", target) for target in targets)]


def _read_phi(rest: str) -> Found:
    kind, pairs = _take_type(rest)
    return kind, [(kind, _split(pair[1:-1])[0]) for pair in _split(pairs)]


def _read_select(rest: str) -> Found:
    parts = [_typed(p) for p in _split(rest)]
    return parts[1][0], parts


def _read_load(rest: str) -> Found:
    parts = _split(rest)
    return parts[0], [_typed(parts[1])]


def _read_store(rest: str) -> Found:
    parts = _split(rest)
    return "void", [_typed(parts[0]), _typed(parts[1])]


def _read_getelementptr(rest: str) -> Found:
    return "ptr", [_typed(p) for p in _split(rest)[1:]]


def _read_alloca(rest: str) -> Found:
    parts = _split(rest)
    return "ptr", [_typed(p) for p in parts[1:] if not p.startswith(("align", "addrspace"))]


def _read_comparison(rest: str) -> Found:
    first, second = _split(rest.split(" ", 1)[1])
    kind, value = _typed(first)
    return "i1", [(kind, value), (kind, second)]


def _read_ret(rest: str) -> Found:
    return "void", [] if rest == "void" else [_typed(rest)]


def _read_extractvalue(rest: str) -> Found:
    kind, value = _typed(_split(rest)[0])
    return "", [(kind, value)]


def _read_insertvalue(rest: str) -> Found:
    whole, part = (_typed(p) for p in _split(rest)[:2])
    return whole[0], [whole, part]


_READERS: dict[str, Callable[[str], Found]] = {
    "br": _read_br,
    "switch": _read_switch,
    "phi": _read_phi,
    "select": _read_select,
    "load": _read_load,
    "store": _read_store,
    "getelementptr": _read_getelementptr,
    "alloca": _read_alloca,
    "icmp": _read_comparison,
    "fcmp": _read_comparison,
    "ret": _read_ret,
    "extractvalue": _read_extractvalue,
    "insertvalue": _read_insertvalue,
}
