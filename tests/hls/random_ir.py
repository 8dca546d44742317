"""Random but defined programs for the property tests of the passes."""

import random

from rtlagent.hls.ir import (
    COMPARISONS,
    DIVISIONS,
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Return,
    Switch,
    Value,
)

_WIDTHS = (1, 3, 8, 16, 32, 32, 32, 64)
_BINARY = (
    *(Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.AND, Opcode.OR, Opcode.XOR) * 3,
    *(Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM),
)
_SHIFTS = (Opcode.SHL, Opcode.LSHR, Opcode.ASHR)


def random_module(seed: int, size: int = 25) -> Module:
    """Return a module of about `size` statements: arithmetic, memories, conditions, loops and a called function."""
    rng = random.Random(seed)
    memories = [
        Memory("a", rng.choice((8, 32)), (8,), MemoryKind.PARAM),
        Memory("b", 16, (4, 4), MemoryKind.PARAM),
        Memory("s", 32, (2,), MemoryKind.STATIC, init=(5, 0)),
        Memory("r", 16, (16,), MemoryKind.ROM, init=tuple(rng.randrange(200) for _ in range(16))),
        Memory("t", 32, (4,), MemoryKind.LOCAL),
    ]
    inner = Function("g", [Param("x", 16), Param("y", 8)], 16)
    _Writer(rng, inner, memories, None).write(4)
    top = Function("f", [Param("p", 32, signed=True), Param("q", 8), Param("c", 1), Param("w", 64)], 32)
    writer = _Writer(rng, top, memories, inner)
    for at in range(4):
        writer.put(Op(Opcode.STORE, 0, [writer.value(32), Const(at, 32)], memory=memories[4]))
    writer.write(size)
    return Module(top, [top, inner], memories)


class _Writer:
    """Writes statements; `scope` holds the values that may be used."""

    def __init__(self, rng: random.Random, function: Function, memories: list[Memory], callee: Function | None) -> None:
        self.rng = rng
        self.function = function
        self.memories = memories
        self.callee = callee
        self.scope: list[Value] = list(function.params)
        self.block = self.new_block("entry")

    def new_block(self, name: str) -> Block:
        block = Block(f"{name}{len(self.function.blocks)}" if name != "entry" else name)
        self.function.blocks.append(block)
        return block

    def write(self, size: int) -> None:
        self.statements(size, 0)
        self.block.terminator = Return(self.value(self.function.width))

    def put(self, op: Op) -> Op:
        self.block.ops.append(op)
        if op.width:
            self.scope.append(op)
        return op

    def value(self, width: int) -> Value:
        """Return a value of that width: a constant, one in scope, or one resized."""
        rng = self.rng
        if rng.random() < 0.2:
            return Const(rng.choice((0, 1, -1, 2, 7, 8, 255, rng.getrandbits(width), rng.randrange(100))), width)
        recent = self.scope[-12:] if rng.random() < 0.7 else self.scope
        same = [v for v in recent if v.width == width]
        if same and rng.random() < 0.8:
            return rng.choice(same)
        source = rng.choice(recent)
        if source.width == width:
            return source
        if source.width > width:
            return self.put(Op(Opcode.TRUNC, width, [source]))
        return self.put(Op(rng.choice((Opcode.ZEXT, Opcode.SEXT)), width, [source]))

    def subscript(self, dim: int) -> Value:
        """Return a value below dim (a power of two)."""
        value = self.value(32)
        return self.put(Op(Opcode.AND, 32, [value, Const(dim - 1, 32)]))

    def statements(self, count: int, depth: int) -> None:
        while count > 0:
            kind = self.rng.random()
            count -= 1
            if kind < 0.6 or depth > 2:
                self.simple()
            elif kind < 0.7:
                self.store()
            elif kind < 0.8:
                self.load()
            elif kind < 0.88:
                inside = self.rng.randrange(1, 6)
                self.condition(inside, depth)
                count -= inside
            elif kind < 0.96:
                inside = self.rng.randrange(1, 8)
                self.loop(inside, depth)
                count -= inside
            elif self.callee is not None:
                self.put(Op(Opcode.CALL, 16, [self.value(16), self.value(8)], callee=self.callee))

    def simple(self) -> None:
        rng = self.rng
        width = rng.choice(_WIDTHS)
        kind = rng.random()
        if kind < 0.5:
            opcode, a, b = rng.choice(_BINARY), self.value(width), self.value(width)
            if opcode in DIVISIONS and not (isinstance(b, Const) and b.value):
                # C leaves division by zero undefined, and passes may use that.
                b = self.put(Op(Opcode.OR, width, [b, Const(1, width)]))
            self.put(Op(opcode, width, [a, b]))
        elif kind < 0.65:
            amount = Const(rng.randrange(width + 2), 8) if rng.random() < 0.7 else self.value(rng.choice((3, 8, 32)))
            self.put(Op(rng.choice(_SHIFTS), width, [self.value(width), amount]))
        elif kind < 0.8:
            self.put(Op(rng.choice(sorted(COMPARISONS)), 1, [self.value(width), self.value(width)]))
        elif kind < 0.95:
            self.put(Op(Opcode.SELECT, width, [self.value(1), self.value(width), self.value(width)]))
        else:
            self.put(Op(Opcode.COPY, width, [self.value(width)]))

    def memory(self, *kinds: MemoryKind) -> Memory:
        return self.rng.choice([m for m in self.memories if m.kind in kinds])

    def guard(self) -> Value | None:
        return self.value(1) if self.rng.random() < 0.2 else None

    def store(self) -> None:
        memory = self.memory(MemoryKind.PARAM, MemoryKind.STATIC, MemoryKind.LOCAL)
        args = [self.value(memory.width), *(self.subscript(d) for d in memory.dims)]
        self.put(Op(Opcode.STORE, 0, args, memory=memory, predicate=self.guard()))

    def load(self) -> None:
        memory = self.memory(*MemoryKind)
        self.put(Op(Opcode.LOAD, memory.width, [self.subscript(d) for d in memory.dims], memory=memory))

    def condition(self, count: int, depth: int) -> None:
        outer, test = list(self.scope), self.value(1)
        if test not in outer and not isinstance(test, Const):
            outer.append(test)
        before, arms = self.block, []
        for n in range(self.rng.choice((2, 2, 3))):
            first = self.new_block("arm")
            self.block, self.scope = first, list(outer)
            self.statements(count // 2 + n, depth + 1)
            arms.append((first, self.block, self.scope[-6:]))
        join = self.new_block("join")
        phis: list[Value] = []
        for width in {v.width for v in arms[0][2]}:
            phi = Phi(width)
            for _, last, values in arms:
                options = [v for v in [*values, *outer] if v.width == width]
                phi.incoming[last] = self.rng.choice(options) if options else Const(3, width)
            join.phis.append(phi)
            phis.append(phi)
        for _, last, _ in arms:
            last.terminator = Jump(join)
        if len(arms) == 2:
            before.terminator = Branch(test, arms[0][0], arms[1][0])
        else:
            wide = Op(Opcode.ZEXT, 8, [test])
            before.ops.append(wide)
            before.terminator = Switch(wide, [(0, arms[0][0]), (1, arms[1][0])], arms[2][0])
        self.block, self.scope = join, outer + phis

    def loop(self, count: int, depth: int) -> None:
        """A counted loop, tested before or after its body, up or down, that carries some values."""
        rng, width = self.rng, self.rng.choice((8, 32))
        trips, step = rng.randrange(1, 6), rng.choice((1, 2, -1, 3))
        start = 0 if step > 0 else trips * -step
        carried = [(v, Phi(v.width)) for v in (self.value(rng.choice((8, 16, 32))) for _ in range(2))]
        counter = Phi(width, name="i")
        before, header = self.block, self.new_block("loop")
        before.terminator = Jump(header)
        header.phis = [counter, *(p for _, p in carried)]
        self.block, self.scope = header, [*self.scope, counter, *(p for _, p in carried)]
        outer = list(self.scope)
        tested_first = rng.random() < 0.5
        after: Block | None = None
        if tested_first:
            after, body = self.new_block("after"), self.new_block("body")
            test = self.put(Op(Opcode.NE if step == 3 else Opcode.SLT, 1, self._test(counter, start, trips, step)))
            header.terminator = Branch(test, body, after)
            self.block = body
        self.statements(count, depth + 1)
        counter_next = self.put(Op(Opcode.ADD, width, [counter, Const(step, width)]))
        nexts = [self.value(p.width) for _, p in carried]
        last = self.block
        if after is None:
            test = self.put(Op(Opcode.SLT, 1, self._test(counter_next, start, trips, step)))
            after = self.new_block("after")
            last.terminator = Branch(test, header, after)
            outer = list(self.scope) if last is header else outer
        else:
            last.terminator = Jump(header)
        for (value, phi), following in zip(carried, nexts, strict=True):
            phi.incoming = {before: value, last: following}
        counter.incoming = {before: Const(start, width), last: counter_next}
        self.block, self.scope = after, outer

    def _test(self, value: Value, start: int, trips: int, step: int) -> list[Value]:
        end = start + trips * step
        return [value, Const(end, value.width)] if step > 0 else [Const(end, value.width), value]
