"""Read the text form of the IR (hls/text.py describes it)."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

from .ir import (
    COMPARISONS,
    Block,
    Branch,
    Const,
    Function,
    Jump,
    LoopDirectives,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Partition,
    Phi,
    Place,
    Return,
    Stream,
    Switch,
    Value,
)

SUBSCRIPT_WIDTH = 32
"""Of constant subscripts in text."""

_OPCODES = frozenset(opcode.value for opcode in Opcode)
_FUNCTION = re.compile(r"function (\S+?)\((.*?)\)(?: (\d+))?((?: .*)?) \{")
_ASSIGNMENT = re.compile(r"(%[\w.$]+) = (\w+) (\d+) ?(.*)")
_ATTRIBUTE = re.compile(r" *(\w+)(=?)")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ACCESS = re.compile(r"([\w.$]+)((?:\[[^\]]*\])*)")


class TextError(ValueError):
    """A line that is not IR text."""


def parse(text: str) -> Module:
    """Return the module that the text describes.

    Raises:
        TextError: A line does not follow the form, or names something unknown.
    """
    return _ModuleParser(text).module()


class _ModuleParser:
    """Two passes over the lines: the first makes every named object, the second fills in the operands."""

    def __init__(self, text: str) -> None:
        self.lines = [stripped for line in text.splitlines() if (stripped := _COMMENT.sub("", line).strip())]
        self.memories: dict[str, Memory] = {}
        self.streams: dict[str, Stream] = {}
        self.functions: dict[str, Function] = {}

    def module(self) -> Module:
        top, attributes, bodies = "", "", []
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            at += 1
            word = line.split(" ", 1)[0]
            if word == "module":
                match = re.match(r"module top=(\S+)(.*)", line)
                if match is None:
                    raise TextError(line)
                top, attributes = match[1], match[2]
            elif word == "memory":
                self._memory(line)
            elif word == "stream":
                self._stream(line)
            elif word == "function":
                if "}" not in self.lines[at:]:
                    raise TextError(f"no end: {line}")
                end = self.lines.index("}", at)
                bodies.append((self._function(line), self.lines[at:end]))
                at = end + 1
            else:
                raise TextError(line)
        if not bodies:
            raise TextError("no function")
        for function, body in bodies:
            _BodyParser(self, function).read(body)
        functions = [f for f, _ in bodies]
        result = Module(
            self.functions[top] if top else functions[0],
            functions,
            list(self.memories.values()),
            list(self.streams.values()),
        )
        _set_attributes(result, attributes)
        return result

    def _memory(self, line: str) -> None:
        match = re.match(r"memory (\S+) (\d+) ((?:\[\d*\])*) (\w+)(.*)", line)
        if match is None:
            raise TextError(line)
        dims = tuple(int(d) for d in re.findall(r"\d+", match[3]))
        memory = Memory(match[1], int(match[2]), dims, MemoryKind(match[4]))
        _set_attributes(memory, match[5])
        if memory.init is not None:
            memory.init = tuple(v & ((1 << memory.width) - 1) for v in memory.init)
        self.memories[memory.name] = memory

    def _stream(self, line: str) -> None:
        match = re.match(r"stream (\S+) (\d+) (\w+)(.*)", line)
        if match is None:
            raise TextError(line)
        stream = Stream(match[1], int(match[2]), kind=match[3])
        _set_attributes(stream, match[4])
        self.streams[stream.name] = stream

    def _function(self, line: str) -> Function:
        match = _FUNCTION.fullmatch(line)
        if match is None:
            raise TextError(line)
        params = []
        for item in _split(match[2]):
            name, width, *rest = item.split()
            params.append(Param(name.removeprefix("%"), int(width), signed="signed" in rest))
        function = Function(match[1], params, int(match[3] or 0))
        _set_attributes(function, match[4])
        self.functions[function.name] = function
        return function


class _BodyParser:
    """Reads the blocks of one function."""

    def __init__(self, owner: _ModuleParser, function: Function) -> None:
        self.owner = owner
        self.function = function
        self.values: dict[str, Value] = {f"%{p.name}": p for p in function.params}
        self.blocks: dict[str, Block] = {}

    def read(self, lines: list[str]) -> None:
        """Fill the function with what the lines say."""
        pending: list[tuple[Block, str, Op | Phi | None]] = []
        block: Block | None = None
        for line in lines:
            head = re.fullmatch(r"([\w.$]+):( .*)?", line)
            if head is not None:
                block = Block(head[1])
                if block.name in self.blocks:
                    raise TextError(f"two blocks called {block.name}")
                self.blocks[block.name] = block
                self.function.blocks.append(block)
                self._directives(block, head[2] or "")
                continue
            if block is None:
                raise TextError(f"not in a block: {line}")
            pending.append((block, *self._declare(line)))
        for owner, text, value in pending:
            if isinstance(value, Phi):
                self._phi(owner, value, text)
            elif isinstance(value, Op):
                self._op(owner, value, text)
            else:
                self._terminator(owner, text)

    def _directives(self, block: Block, text: str) -> None:
        if text:
            block.directives = LoopDirectives()
            _set_attributes(block.directives, text.replace(" loop", "", 1) if text.strip() == "loop" else text)

    def _declare(self, line: str) -> tuple[str, Op | Phi | None]:
        """Make the object that a line defines; return the text of its operands with it."""
        place = None
        at = re.search(r" @(\d+)$", line)
        if at is not None:
            place, line = Place("", int(at[1])), line[: at.start()]
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            word, _, rest = line.partition(" ")
            if word in ("jump", "branch", "switch", "return"):
                return line, None
            if word not in ("store", "write", "call"):
                raise TextError(line)
            return rest, Op(Opcode(word), 0, place=place)
        if match[1] in self.values:
            raise TextError(f"defined twice: {line}")
        stem, _, number = match[1][1:].rpartition(".")
        name = stem if stem and number.isdigit() else match[1][1:]
        name = "" if name == "v" else name
        value: Op | Phi
        if match[2] == "phi":
            value = Phi(int(match[3]), name=name, place=place)
        elif match[2] in _OPCODES:
            value = Op(Opcode(match[2]), int(match[3]), name=name, place=place)
        else:
            raise TextError(f"no such operation: {line}")
        self.values[match[1]] = value
        return match[4], value

    def _operand(self, text: str, asked: int | None) -> Value:
        text = text.strip()
        if text.startswith("%"):
            if text not in self.values:
                raise TextError(f"unknown value {text} in {self.function.name}")
            return self.values[text]
        number, _, width = text.partition(":")
        if not width and asked is None:
            raise TextError(f"the width of the constant {text} is not known")
        try:
            return Const(int(number, 0), int(width) if width else asked or 1)
        except ValueError as error:
            raise TextError(f"no operand: {text!r}") from error

    def _block(self, name: str) -> Block:
        try:
            return self.blocks[name.strip()]
        except KeyError:
            raise TextError(f"unknown block {name.strip()} in {self.function.name}") from None

    def _phi(self, block: Block, phi: Phi, text: str) -> None:
        for item in _split(text.strip()[1:-1]):
            source, _, value = item.partition(":")
            phi.incoming[self._block(source)] = self._operand(value, phi.width)
        block.phis.append(phi)

    def _op(self, block: Block, op: Op, text: str) -> None:
        text, guard, predicate = text.partition(" if ")
        if guard:
            op.predicate = self._operand(predicate, 1)
        if op.opcode is Opcode.LOAD:
            op.memory, op.args = self._access(text)
        elif op.opcode is Opcode.STORE:
            access, _, data = text.partition(" = ")
            op.memory, subscripts = self._access(access)
            op.args = [self._operand(data, op.memory.width), *subscripts]
        elif op.opcode is Opcode.CALL:
            match = re.fullmatch(r"(?:\d+ )?([\w.$]+)\((.*)\)", text.strip())
            if match is None or match[1] not in self.owner.functions:
                raise TextError(f"call {text}")
            op.callee = self.owner.functions[match[1]]
            pairs = zip(_split(match[2]), op.callee.params, strict=True)
            op.args = [self._operand(a, p.width) for a, p in pairs]
        elif op.opcode in (Opcode.READ, Opcode.WRITE):
            name, _, data = text.partition(",")
            op.stream = self.owner.streams[name.strip()]
            op.args = [self._operand(data, op.stream.width)] if data else []
        else:
            op.args = self._plain(op, _split(text))
        block.ops.append(op)

    def _plain(self, op: Op, texts: list[str]) -> list[Value]:
        asked: list[int | None] = [op.width] * len(texts)
        if op.opcode in COMPARISONS:
            named = [self.values[t].width for t in texts if t in self.values]
            asked = [named[0] if named else None] * len(texts)
        elif op.opcode is Opcode.SELECT:
            asked[0] = 1
        elif op.opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
            asked = [None] * len(texts)
        return [self._operand(t, w) for t, w in zip(texts, asked, strict=True)]

    def _access(self, text: str) -> tuple[Memory, list[Value]]:
        match = _ACCESS.fullmatch(text.strip())
        if match is None or match[1] not in self.owner.memories:
            raise TextError(f"no access to a memory: {text}")
        subscripts: list[Value] = []
        for item in re.findall(r"\[([^\]]+)\]", match[2]):
            wide_enough = SUBSCRIPT_WIDTH
            if item.isdigit():
                wide_enough = max(SUBSCRIPT_WIDTH, int(item).bit_length())
            subscripts.append(self._operand(item, wide_enough))
        return self.owner.memories[match[1]], subscripts

    def _terminator(self, block: Block, text: str) -> None:
        word, _, rest = text.partition(" ")
        if word == "jump":
            block.terminator = Jump(self._block(rest))
        elif word == "branch":
            condition, then, other = _split(rest)
            block.terminator = Branch(self._operand(condition, 1), self._block(then), self._block(other))
        elif word == "switch":
            match = re.fullmatch(r"(\S+) \[(.*)\], (\S+)", rest)
            if match is None:
                raise TextError(text)
            pairs = [item.partition(":") for item in _split(match[2])]
            cases = [(int(number), self._block(target)) for number, _, target in pairs]
            block.terminator = Switch(self._operand(match[1], None), cases, self._block(match[3]))
        else:
            block.terminator = Return(self._operand(rest, self.function.width or None) if rest else None)


def _split(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _set_attributes(item: object, text: str) -> None:
    """Set the fields given as `key`, `key=json` or `key=word`."""
    known = {entry.name for entry in dataclasses.fields(item)}  # type: ignore[arg-type]
    at = 0
    while (match := _ATTRIBUTE.match(text, at)) is not None:
        key, at = match[1], match.end()
        if key not in known:
            raise TextError(f"no field {key} in {type(item).__name__}")
        value: Any = True
        if match[2]:
            try:
                value, at = json.JSONDecoder().raw_decode(text, at)
            except ValueError:
                word = text[at:].split(" ", 1)[0]
                value, at = word, at + len(word)
        setattr(item, key, _attribute(key, value))
    if text[at:].strip():
        raise TextError(text)


def _attribute(key: str, value: Any) -> object:
    if key == "partitions":
        return [Partition(*entry) for entry in value]
    if key == "bind_ops":
        return {name: (impl, latency) for name, (impl, latency) in value.items()}
    return tuple(value) if isinstance(value, list) else value
