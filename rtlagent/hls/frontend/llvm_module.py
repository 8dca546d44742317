"""A module of LLVM IR, read from its text once.

llvmlite can show instructions too, but prints the whole function to number the values of each one: that is quadratic.
The classes here answer the same questions under the same names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rtlagent.hls.frontend.instruction_text import closing, read_operands, split_commas, take_type

_DEFINE = re.compile(r"^define [^@\n]*@(\"[^\"]*\"|[-\w.$]+)\(", re.M)
_GLOBAL = re.compile(r"^@(\"[^\"]*\"|[-\w.$]+) = .*\b(?:global|constant)\b.*$", re.M)
_RESULT = re.compile(r"^%(\"[^\"]*\"|[-\w.$]+) = ")
_LABEL = re.compile(r"^(\"[^\"]*\"|[-\w.$]+):")
_METADATA = re.compile(r"(?:, ![-\w.]+ ![^,]+)+$")


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
        return read_operands(self.opcode, body)

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
        for part in split_commas(header[start + 1 : closing(header, start)]):
            if part == "...":
                continue
            kind, rest = take_type(part)
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
