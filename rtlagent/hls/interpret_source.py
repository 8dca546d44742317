"""The IR as Python source, for the interpreter.

```
loop:                                   while True:
  %s.1 = phi 8 [entry: 0, loop: %t.2]     if v2 >= 4: _range('load a in loop', (v2,))
  %x.2 = load 8 a[%s.1]                   v3 = m0[v2]
  ...                                     ...
  branch %c.3, loop, exit                 if v4:
                                            v1 = v3
                                            continue
                                          break
```

Blocks with one predecessor stand where it ends; the others are found by a binary search over their number.
"""

from __future__ import annotations

from .ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Memory,
    Module,
    Op,
    Opcode,
    Return,
    Switch,
    Value,
    predecessors,
)

_MAX_NESTING = 12
"""Blocks inlined into one another; CPython refuses more than 100 levels of indentation."""

_INFIX = {Opcode.AND: "&", Opcode.OR: "|", Opcode.XOR: "^"}
_MASKED = {Opcode.ADD: "+", Opcode.SUB: "-", Opcode.MUL: "*"}
_UNSIGNED = {Opcode.EQ: "==", Opcode.NE: "!=", Opcode.ULT: "<", Opcode.ULE: "<="}
_SIGNED = {Opcode.SLT: "<", Opcode.SLE: "<="}


def pattern(width: int) -> int:
    """Return the value of what must not be used."""
    return (0xAA << (width // 8 * 8) | int("AA" * (width // 8 or 1), 16)) & ((1 << width) - 1)


def module_source(module: Module, *, lenient: bool) -> str:
    """Return the source of `make(budget, lists, queues)`, which gives the functions by name."""
    lines = ["def make(_budget, _lists, _queues):"]
    memories = {m: f"m{n}" for n, m in enumerate(module.memories)}
    streams = {s.name: f"q{n}" for n, s in enumerate(module.streams)}
    functions = {f: f"f{n}" for n, f in enumerate(module.functions)}
    if memories:
        lines.append(f" {', '.join(memories.values())}, = _lists")
    if streams:
        lines.append(f" {', '.join(streams.values())}, = _queues")
    for function in module.functions:
        lines += _FunctionSource(function, memories, streams, functions, lenient).source()
    table = ", ".join(f"{f.name!r}: {name}" for f, name in functions.items())
    return "\n".join([*lines, f" return {{{table}}}", ""])


class _FunctionSource:
    """Translates one function."""

    def __init__(
        self,
        function: Function,
        memories: dict[Memory, str],
        streams: dict[str, str],
        functions: dict[Function, str],
        lenient: bool,
    ) -> None:
        self.function = function
        self.memories = memories
        self.streams = streams
        self.functions = functions
        self.lenient = lenient
        self.lines: list[str] = []
        self.names: dict[Value, str] = {p: f"p{n}" for n, p in enumerate(function.params)}
        sources = predecessors(function)
        self.single = {b for b in function.blocks[1:] if len(sources[b]) == 1 and sources[b][0] is not b}
        self.number: dict[Block, int] = {}
        for block in function.blocks:
            for value in [*block.phis, *block.ops]:
                self.names[value] = f"v{len(self.names)}"

    def source(self) -> list[str]:
        """Return the lines of the function."""
        params = ", ".join(self.names[p] for p in self.function.params)
        # A block deeper than the nesting limit gets a number of its own, hence the second round.
        while True:
            self.lines = [f" def {self.functions[self.function]}({params}):", "  b = 0", "  while True:"]
            wanted = [b for b in self.function.blocks if b not in self.single]
            self.number = {b: n for n, b in enumerate(wanted)}
            self.too_deep: set[Block] = set()
            self._search(wanted, 0, 3)
            if not self.too_deep:
                return self.lines
            self.single -= self.too_deep

    def _put(self, depth: int, text: str) -> None:
        self.lines.append(" " * depth + text)

    def _search(self, blocks: list[Block], first: int, depth: int) -> None:
        if len(blocks) == 1:
            self._leaf(blocks[0], depth)
            return
        half = len(blocks) // 2
        self._put(depth, f"if b < {first + half}:")
        self._search(blocks[:half], first, depth + 1)
        self._put(depth, "else:")
        self._search(blocks[half:], first + half, depth + 1)

    def _leaf(self, block: Block, depth: int) -> None:
        if block in block.successors():
            self._put(depth, "while True:")
            self._block(block, depth + 1, _MAX_NESTING, inside=block)
        else:
            self._block(block, depth, 0, inside=None)

    def _block(self, block: Block, depth: int, nesting: int, inside: Block | None) -> None:
        self._straight(block, depth)
        end = block.terminator
        while isinstance(end, Jump) and inside is None and end.target in self.single:
            self._phis(block, end.target, depth)
            block, end = end.target, end.target.terminator
            self._straight(block, depth)
        if isinstance(end, Return):
            self._put(depth, f"return {self._value(end.value) if end.value is not None else None}")
        elif isinstance(end, Jump):
            self._go(block, end.target, depth, nesting, inside)
        elif isinstance(end, Branch):
            self._put(depth, f"if {self._value(end.condition)}:")
            self._go(block, end.then, depth + 1, nesting + 1, inside)
            self._put(depth, "else:")
            self._go(block, end.other, depth + 1, nesting + 1, inside)
        else:
            self._switch(block, end, depth, nesting, inside)

    def _straight(self, block: Block, depth: int) -> None:
        self._put(depth, f"_budget[0] -= {len(block.ops) + 1}")
        where = f"{self.function.name}, {block.name}"
        self._put(depth, f"if _budget[0] < 0: _steps({where!r})")
        for op in block.ops:
            self._op(op, block, depth)

    def _phis(self, source: Block, target: Block, depth: int) -> None:
        if target.phis:
            names = [self.names[p] for p in target.phis]
            values = [self._value(p.incoming[source]) for p in target.phis]
            self._put(depth, f"{', '.join(names)} = {', '.join(values)}")

    def _switch(self, block: Block, end: Switch, depth: int, nesting: int, inside: Block | None) -> None:
        word = "if"
        for value, target in end.cases:
            self._put(depth, f"{word} {self._value(end.value)} == {value}:")
            self._go(block, target, depth + 1, nesting + 1, inside)
            word = "elif"
        self._put(depth, "else:" if end.cases else "if 1:")
        self._go(block, end.default, depth + 1, nesting + 1, inside)

    def _go(self, source: Block, target: Block, depth: int, nesting: int, inside: Block | None) -> None:
        """Write the edge's phis, then the target itself or the way to it."""
        self._phis(source, target, depth)
        if target is inside:
            self._put(depth, "continue")
            return
        if target in self.single and inside is None:
            if nesting < _MAX_NESTING:
                self._block(target, depth, nesting, inside)
                return
            self.too_deep.add(target)
        elif target in self.single:
            self.too_deep.add(target)
        self._put(depth, f"b = {self.number.get(target, 0)}")
        self._put(depth, "break" if inside is not None else "continue")

    def _value(self, value: Value) -> str:
        return str(value.value) if isinstance(value, Const) else self.names[value]

    def _op(self, op: Op, block: Block, depth: int) -> None:
        if op.opcode in (Opcode.LOAD, Opcode.STORE):
            self._access(op, block, depth)
        elif op.opcode in (Opcode.READ, Opcode.WRITE):
            self._channel(op, depth)
        elif op.opcode is Opcode.CALL:
            assert op.callee is not None
            args = ", ".join(self._value(a) for a in op.args)
            self._put(depth, f"{self.names[op]} = {self.functions[op.callee]}({args})")
        else:
            self._put(depth, f"{self.names[op]} = {self._expression(op)}")

    def _access(self, op: Op, block: Block, depth: int) -> None:
        memory = op.memory
        assert memory is not None
        result = self.names[op]
        is_load = op.opcode is Opcode.LOAD
        subscripts = [self._value(s) for s in op.subscripts]
        flat = "0"
        for text, dim in zip(subscripts, memory.dims, strict=True):
            flat = text if flat == "0" else f"({flat})*{dim}+{text}"
        outside = " or ".join(
            f"{t} >= {d}" for t, d, s in zip(subscripts, memory.dims, op.subscripts, strict=True) if not _fits(s, d)
        )
        if op.predicate is not None:
            if is_load:
                self._put(depth, f"{result} = {pattern(op.width)}")
            self._put(depth, f"if {self._value(op.predicate)}:")
            depth += 1
        if outside and not self.lenient:
            what = f"{op.opcode.value} {memory.name} in {self.function.name}, {block.name}"
            self._put(depth, f"if {outside}: _range({what!r}, ({', '.join(subscripts)},))")
        access = f"{self.memories[memory]}[{flat}]"
        if is_load:
            guard = f" if not ({outside}) else {pattern(op.width)}" if outside and self.lenient else ""
            self._put(depth, f"{result} = {access}{guard}")
        else:
            guard = f"if not ({outside}): " if outside and self.lenient else ""
            self._put(depth, f"{guard}{access} = {self._value(op.args[0])}")

    def _channel(self, op: Op, depth: int) -> None:
        assert op.stream is not None
        queue = self.streams[op.stream.name]
        if op.predicate is not None:
            if op.opcode is Opcode.READ:
                self._put(depth, f"{self.names[op]} = {pattern(op.width)}")
            self._put(depth, f"if {self._value(op.predicate)}:")
            depth += 1
        if op.opcode is Opcode.READ:
            self._put(depth, f"if not {queue}: _empty({op.stream.name!r})")
            self._put(depth, f"{self.names[op]} = {queue}.popleft()")
        else:
            self._put(depth, f"{queue}.append({self._value(op.args[0])})")

    def _expression(self, op: Op) -> str:  # noqa: PLR0912  one line an operation
        code, width = op.opcode, op.width
        mask, sign = (1 << width) - 1, 1 << (width - 1)
        args = [self._value(a) for a in op.args]
        a, b = args[0], args[1] if len(args) > 1 else ""
        if code in _MASKED:
            return f"({a} {_MASKED[code]} {b}) & {mask}"
        if code in _INFIX:
            return f"{a} {_INFIX[code]} {b}"
        if code in _UNSIGNED:
            return f"1 if {a} {_UNSIGNED[code]} {b} else 0"
        if code in _SIGNED:
            flip = 1 << (op.args[0].width - 1)
            return f"1 if ({a} ^ {flip}) {_SIGNED[code]} ({b} ^ {flip}) else 0"
        if code in (Opcode.ZEXT, Opcode.COPY):
            return a
        if code is Opcode.TRUNC:
            return f"{a} & {mask}"
        if code is Opcode.SEXT:
            flip = 1 << (op.args[0].width - 1)
            return f"(({a} ^ {flip}) - {flip}) & {mask}"
        if code is Opcode.SELECT:
            return f"{b} if {a} else {args[2]}"
        if code is Opcode.SHL:
            return f"({a} << {b}) & {mask} if {b} < {width} else 0"
        if code is Opcode.LSHR:
            return f"{a} >> {b} if {b} < {width} else 0"
        if code is Opcode.ASHR:
            return f"((({a} ^ {sign}) - {sign}) >> ({b} if {b} < {width} else {width})) & {mask}"
        if code is Opcode.UDIV:
            return f"{a} // {b} if {b} else {mask}"
        if code is Opcode.UREM:
            return f"{a} % {b} if {b} else {a}"
        name = "_sdiv" if code is Opcode.SDIV else "_srem"
        return f"{name}({a}, {b}, {width})"


def _fits(subscript: Value, dim: int) -> bool:
    """Tell whether a subscript is in range by its width or value alone."""
    if isinstance(subscript, Const):
        return subscript.value < dim
    return 1 << subscript.width <= dim
