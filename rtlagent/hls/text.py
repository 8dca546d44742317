"""The IR as text, and text as IR: what `--dump-ir` prints and what the tests of the passes are written in.

```
module top=scale
memory a 32 [64] param
memory k 8 [4] rom init=[1,2,3,4]

function scale(%n 32 signed) 32 {
entry:
  jump loop
loop: label="fir" pipeline_ii=1
  %i.1 = phi 32 [entry: 0, loop: %i.3]
  %v.2 = load 32 a[%i.1] if %c.0
  store a[%i.1] = %v.2
  %i.3 = add 32 %i.1, 1
  %c.4 = slt 1 %i.3, 64
  branch %c.4, loop, exit
exit:
  return %i.3
}
```

Values are numbered in order, function by function. A constant is as wide as its place asks for; where nothing
asks, its width follows a colon (`7:4`); constant subscripts carry no width. Text after `#` is a comment; ` @12` at
the end of a line is a line of the source.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable

from .ir import (
    COMPARISONS,
    Block,
    Branch,
    Const,
    Function,
    Jump,
    LoopDirectives,
    Memory,
    Module,
    Op,
    Opcode,
    Phi,
    Return,
    Stream,
    Switch,
    Terminator,
    Value,
)
from .text_parser import parse

__all__ = ["describe", "dump", "parse"]

_SIGNED_FROM = 16
"""Constants at least so wide are printed with a sign if the upper half of their bits is ones."""


def dump(module: Module, *, places: bool = False) -> str:
    """Return the module as text; with `places`, each operation's source line too."""
    head = _attributes(module, skip={"top", "functions", "memories", "streams", "queues", "inlined"})
    lines = [f"module top={module.top.name}{head}"]
    lines += [_memory_text(m) for m in module.memories]
    lines += [_stream_text(s) for s in module.streams]
    for function in module.functions:
        lines += ["", *_FunctionText(function, places).lines()]
    return "\n".join(lines) + "\n"


def describe(op: Op | Phi | Terminator) -> str:
    """Return one operation, phi or terminator as text with global numbers, for messages."""
    writer = _FunctionText(None, places=False)
    if isinstance(op, Phi):
        return writer.phi(op)
    return writer.op(op) if isinstance(op, Op) else writer.terminator(op)


def constant_text(value: Const, asked: int | None) -> str:
    """Return a constant; its width is left out where `asked` is the same."""
    shown = value.value
    if value.width >= _SIGNED_FROM and value.signed < 0 and value.signed >= -(1 << value.width // 2):
        shown = value.signed
    return f"{shown}" if asked == value.width else f"{shown}:{value.width}"


def _attributes(item: object, skip: Iterable[str]) -> str:
    """Return the fields of a dataclass that differ from their defaults as ` key=json`."""
    left_out = {*skip, "place"}
    text = ""
    for entry in dataclasses.fields(item):  # type: ignore[arg-type]
        if entry.name in left_out:
            continue
        value = getattr(item, entry.name)
        default = entry.default_factory() if entry.default_factory is not dataclasses.MISSING else entry.default
        if value == default:
            continue
        if value is True:
            text += f" {entry.name}"
            continue
        if entry.name == "partitions":
            value = [[p.dim, p.kind, p.factor] for p in value]
        text += f" {entry.name}={json.dumps(value, separators=(',', ':'))}"
    return text


def _memory_text(memory: Memory) -> str:
    dims = "".join(f"[{d}]" for d in memory.dims) or "[]"
    extra = _attributes(memory, skip={"name", "width", "dims", "kind"})
    return f"memory {memory.name} {memory.width} {dims} {memory.kind.value}{extra}"


def _stream_text(stream: Stream) -> str:
    return f"stream {stream.name} {stream.width} {stream.kind}{_attributes(stream, skip={'name', 'width', 'kind'})}"


class _FunctionText:
    """Writes one function; without one, single operations with their global numbers."""

    def __init__(self, function: Function | None, places: bool) -> None:
        self.function = function
        self.places = places
        self.names: dict[Value, str] = {}
        self.block_names: dict[Block, str] = {}
        if function is None:
            return
        taken: set[str] = set()
        for block in function.blocks:
            name, n = block.name, 1
            while name in taken:
                n += 1
                name = f"{block.name}.{n}"
            taken.add(name)
            self.block_names[block] = name
            valued: list[Phi | Op] = [*block.phis, *(op for op in block.ops if op.width)]
            for value in valued:
                self.names[value] = f"%{value.name or 'v'}.{len(self.names) + 1}"

    def lines(self) -> list[str]:
        """Return the function's lines."""
        function = self.function
        assert function is not None
        params = ", ".join(f"%{p.name} {p.width}{' signed' if p.signed else ''}" for p in function.params)
        result = f" {function.width}" if function.width else ""
        extra = _attributes(function, skip={"name", "params", "width", "blocks"})
        lines = [f"function {function.name}({params}){result}{extra} {{"]
        for block in function.blocks:
            lines.append(f"{self.block_names[block]}:{self.directives(block.directives)}")
            lines += [f"  {self.phi(phi)}{self.place(phi)}" for phi in block.phis]
            lines += [f"  {self.op(op)}{self.place(op)}" for op in block.ops]
            lines.append(f"  {self.terminator(block.terminator)}")
        return [*lines, "}"]

    def place(self, value: Phi | Op) -> str:
        return f" @{value.place.line}" if self.places and value.place else ""

    def directives(self, directives: LoopDirectives | None) -> str:
        if directives is None:
            return ""
        return _attributes(directives, skip=()) or " loop"

    def operand(self, value: Value, asked: int | None) -> str:
        if isinstance(value, Const):
            return constant_text(value, asked)
        return self.names.get(value, repr(value))

    def target(self, block: Block) -> str:
        return self.block_names.get(block, f"{block.name}?" if self.function else block.name)

    def phi(self, phi: Phi) -> str:
        incoming = ", ".join(f"{self.target(b)}: {self.operand(v, phi.width)}" for b, v in phi.incoming.items())
        return f"{self.names.get(phi, repr(phi))} = phi {phi.width} [{incoming}]"

    def op(self, op: Op) -> str:
        body = self._body(op)
        result = f"{self.names.get(op, repr(op))} = " if op.width else ""
        guard = f" if {self.operand(op.predicate, 1)}" if op.predicate is not None else ""
        return f"{result}{body}{guard}"

    def _body(self, op: Op) -> str:
        name = op.opcode.value
        if op.opcode in (Opcode.LOAD, Opcode.STORE):
            place = op.memory.name if op.memory else "?"
            for value in op.subscripts:
                place += f"[{value.value if isinstance(value, Const) else self.operand(value, None)}]"
            if op.opcode is Opcode.LOAD:
                return f"{name} {op.width} {place}"
            return f"{name} {place} = {self.operand(op.args[0], op.memory.width if op.memory else None)}"
        if op.opcode is Opcode.CALL:
            params = op.callee.params if op.callee else []
            asked: list[int | None] = [p.width for p in params]
            asked += [None] * (len(op.args) - len(asked))
            args = ", ".join(self.operand(a, w) for a, w in zip(op.args, asked, strict=False))
            width = f"{op.width} " if op.width else ""
            return f"{name} {width}{op.callee}({args})"
        if op.opcode is Opcode.READ:
            return f"{name} {op.width} {op.stream.name if op.stream else '?'}"
        if op.opcode is Opcode.WRITE:
            width_asked = op.stream.width if op.stream else None
            return f"{name} {op.stream.name if op.stream else '?'}, {self.operand(op.args[0], width_asked)}"
        args = ", ".join(self.operand(a, w) for a, w in zip(op.args, widths_asked(op), strict=True))
        return f"{name} {op.width} {args}"

    def terminator(self, end: Terminator) -> str:
        if isinstance(end, Jump):
            return f"jump {self.target(end.target)}"
        if isinstance(end, Branch):
            return f"branch {self.operand(end.condition, 1)}, {self.target(end.then)}, {self.target(end.other)}"
        if isinstance(end, Switch):
            cases = ", ".join(f"{value}: {self.target(block)}" for value, block in end.cases)
            return f"switch {self.operand(end.value, None)} [{cases}], {self.target(end.default)}"
        assert isinstance(end, Return)
        if end.value is None:
            return "return"
        return f"return {self.operand(end.value, self.function.width if self.function else None)}"


def widths_asked(op: Op) -> list[int | None]:
    """Return, for each operand of a plain operation, the width that a constant there has without saying so."""
    if op.opcode in COMPARISONS:
        known = [None if isinstance(a, Const) else a.width for a in op.args]
        return list(reversed(known)) if len(known) == 2 else known
    if op.opcode is Opcode.SELECT:
        return [1, op.width, op.width][: len(op.args)] + [None] * (len(op.args) - 3)
    if op.opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
        return [None] * len(op.args)
    return [op.width] * len(op.args)
