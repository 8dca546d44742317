"""Random single-block loops that stress dependences: few elements, near subscripts, guards, carried values."""

import random

from rtlagent.hls.ir import (
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
    Phi,
    Return,
    Value,
)

_ARITHMETIC = (Opcode.ADD, Opcode.SUB, Opcode.XOR, Opcode.AND, Opcode.MUL)


def random_loop(seed: int) -> Module:
    """Return a module whose top consists of a loop over small arrays with mostly linear subscripts."""
    return _Writer(random.Random(seed)).module()


class _Writer:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.memories = [
            Memory("a", 16, (16,), MemoryKind.PARAM, ports=rng.choice((1, 2))),
            Memory("b", 16, (8,), MemoryKind.PARAM),
            Memory("t", 16, (rng.choice((4, 16, 64, 128)),), MemoryKind.LOCAL),
        ]
        self.memories[2].kind, self.memories[2].init = MemoryKind.STATIC, (7,) * self.memories[2].depth
        self.param = Param("p", 16)
        self.loop = Block("loop")
        self.counter = Phi(8, name="i")
        self.carried = [Phi(16, name=f"x{n}") for n in range(rng.randrange(3))]
        self.pool: list[Value] = [self.param, *self.carried]

    def put(self, op: Op) -> Op:
        self.loop.ops.append(op)
        return op

    def value(self) -> Value:
        return self.rng.choice([*self.pool, self.rng.choice(self.pool), Const(self.rng.randrange(9), 16)])

    def bit(self) -> Op:
        code = self.rng.choice((Opcode.ULT, Opcode.EQ, Opcode.NE, Opcode.SLE))
        return self.put(Op(code, 1, [self.value(), self.value()]))

    def subscript(self, memory: Memory) -> Value:
        bits = (memory.depth - 1).bit_length()
        kind = self.rng.randrange(8)
        if kind == 0:
            return Const(self.rng.randrange(memory.depth), bits)
        if kind == 1:
            return self.put(Op(Opcode.TRUNC, bits, [self.value()]))
        place: Value = self.counter
        if kind == 2:
            place = self.put(Op(Opcode.MUL, 8, [place, Const(self.rng.choice((2, 3, 4)), 8)]))
        if kind > 4:
            code = self.rng.choice((Opcode.ADD, Opcode.SUB))
            place = self.put(Op(code, 8, [place, Const(self.rng.randrange(4), 8)]))
        return self.put(Op(Opcode.TRUNC, bits, [place]))

    def statement(self) -> None:
        kind = self.rng.randrange(9)
        memory = self.rng.choice(self.memories)
        guard = self.bit() if self.rng.randrange(4) == 0 else None
        if kind < 3:
            # A guarded load gives an unspecified value; here it is always wanted.
            self.pool.append(self.put(Op(Opcode.LOAD, 16, [self.subscript(memory)], memory=memory)))
        elif kind < 5:
            data = self.value()
            self.put(Op(Opcode.STORE, 0, [data, self.subscript(memory)], memory=memory, predicate=guard))
        elif kind == 5:
            self.pool.append(self.put(Op(Opcode.SELECT, 16, [self.bit(), self.value(), self.value()])))
        else:
            code = self.rng.choice(_ARITHMETIC)
            if self.rng.randrange(25) == 0:
                code = self.rng.choice((Opcode.UDIV, Opcode.SREM))
            self.pool.append(self.put(Op(code, 16, [self.value(), self.value()])))

    def module(self) -> Module:
        rng, loop = self.rng, self.loop
        entry, done = Block("entry"), Block("exit")
        for _ in range(rng.randrange(3, 16)):
            self.statement()
        trips = rng.choice((1, 2, 3, 7, 12, 16))
        following = self.put(Op(Opcode.ADD, 8, [self.counter, Const(1, 8)]))
        condition: Value = self.put(Op(Opcode.ULT, 1, [following, Const(trips, 8)]))
        if rng.randrange(4) == 0:
            condition = self.put(Op(Opcode.AND, 1, [condition, self.bit()]))
        self.counter.incoming = {entry: Const(0, 8), loop: following}
        inside: list[Value] = [v for v in self.pool if isinstance(v, Op)] or [self.param]
        for phi in self.carried:
            phi.incoming = {entry: Const(rng.randrange(5), 16), loop: rng.choice([*inside, *self.carried, self.param])}
        loop.phis = [self.counter, *self.carried]
        loop.terminator = Branch(condition, loop, done)
        loop.directives = LoopDirectives(label="loop", pipeline_ii=rng.choice((0, 0, 1, 2, 3)))
        entry.terminator = Jump(loop)
        result = rng.choice([*inside, *self.carried])
        done.ops.append(Op(Opcode.STORE, 0, [result, Const(0, 3)], memory=self.memories[1]))
        done.terminator = Return(rng.choice([*inside, *self.carried, Const(3, 16)]))
        top = Function("f", [self.param], 16, blocks=[entry, loop, done])
        return Module(top, [top], self.memories)
