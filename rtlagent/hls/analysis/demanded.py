"""Which bits of each value can change what the program does.

```
  %a = add 32 %x, %y      bits 0..7 are demanded: a sum's low bits depend on low bits only
  %b = and 32 %a, 255
  store m[0] = %b
```
"""

from __future__ import annotations

from rtlagent.hls.ir import (
    Branch,
    Const,
    Function,
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

Key = Value | Memory | Function


def index_bits(dim: int) -> int:
    """Return how many bits a subscript in range needs; at least 1."""
    return max(1, (dim - 1).bit_length())


class Demand:
    """The demanded bits of a module's values, memories and results of functions, as masks."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._masks: dict[Key, int] = {}
        self._work: list[Key] = []
        self._stores: dict[Memory, list[Value]] = {}
        self._arguments: dict[Param, list[Value]] = {}
        self._returned: dict[Function, list[Value]] = {}
        for function in module.functions:
            self._roots(function)
        for memory in module.memories:
            if memory.kind is MemoryKind.PARAM:
                self._need(memory, (1 << memory.width) - 1)
        self._need(module.top, (1 << module.top.width) - 1)
        while self._work:
            self._propagate(self._work.pop())

    def of(self, key: Key) -> int:
        """Return the mask of demanded bits; 0: it does not matter at all."""
        return self._masks.get(key, 0)

    def _need(self, key: Key, mask: int) -> None:
        if isinstance(key, Const):
            return
        old = self._masks.get(key, 0)
        if mask | old != old:
            self._masks[key] = mask | old
            self._work.append(key)

    def _all(self, value: Value) -> None:
        self._need(value, (1 << value.width) - 1)

    def _roots(self, function: Function) -> None:
        for block in function.blocks:
            for op in block.ops:
                if op.predicate is not None and op.opcode is not Opcode.LOAD:
                    self._all(op.predicate)
                if op.opcode is Opcode.STORE:
                    assert op.memory is not None
                    self._stores.setdefault(op.memory, []).append(op.args[0])
                    self._subscripts(op)
                elif op.opcode is Opcode.CALL:
                    assert op.callee is not None
                    for param, arg in zip(op.callee.params, op.args, strict=True):
                        self._arguments.setdefault(param, []).append(arg)
                elif op.opcode is Opcode.WRITE:
                    self._all(op.args[0])
            end = block.terminator
            if isinstance(end, Branch):
                self._all(end.condition)
            elif isinstance(end, Switch):
                self._all(end.value)
            elif isinstance(end, Return) and end.value is not None:
                self._returned.setdefault(function, []).append(end.value)

    def _subscripts(self, op: Op) -> None:
        assert op.memory is not None
        for value, dim in zip(op.subscripts, op.memory.dims, strict=True):
            self._need(value, ((1 << index_bits(dim)) - 1) & ((1 << value.width) - 1))

    def _propagate(self, key: Key) -> None:
        mask = self._masks[key]
        if isinstance(key, Memory):
            for data in self._stores.get(key, ()):
                self._need(data, mask)
        elif isinstance(key, Function):
            for value in self._returned.get(key, ()):
                self._need(value, mask)
        elif isinstance(key, Param):
            for arg in self._arguments.get(key, ()):
                self._need(arg, mask)
        elif isinstance(key, Phi):
            for value in key.incoming.values():
                self._need(value, mask)
        elif isinstance(key, Op):
            self._operation(key, mask)

    def _operation(self, op: Op, mask: int) -> None:
        if op.opcode is Opcode.LOAD:
            assert op.memory is not None
            self._need(op.memory, mask)
            self._subscripts(op)
            if op.predicate is not None:
                self._all(op.predicate)
        elif op.opcode is Opcode.CALL:
            assert op.callee is not None
            self._need(op.callee, mask)
        else:
            for arg, needed in zip(op.args, _operands(op, mask), strict=True):
                self._need(arg, needed)


def _operands(op: Op, mask: int) -> list[int]:
    """Return the bits of each operand that the demanded bits of a pure operation depend on."""
    low = (1 << mask.bit_length()) - 1
    opcode = op.opcode
    everything = [(1 << a.width) - 1 for a in op.args]
    if opcode in (Opcode.ADD, Opcode.SUB, Opcode.MUL):
        return [low, low]
    if opcode in (Opcode.AND, Opcode.OR):
        return [mask & _passing(op.opcode, b) for b in reversed(op.args)]
    if opcode is Opcode.XOR:
        return [mask, mask]
    if opcode is Opcode.COPY:
        return [mask]
    if opcode is Opcode.SELECT:
        return [1, mask, mask]
    if opcode in (Opcode.SHL, Opcode.LSHR, Opcode.ASHR):
        return [_shifted(op, mask) & everything[0], everything[1]]
    if opcode is Opcode.TRUNC:
        return [mask]
    if opcode is Opcode.ZEXT:
        return [mask & everything[0]]
    if opcode is Opcode.SEXT:
        sign = 1 << (op.args[0].width - 1)
        return [(mask & everything[0]) | (sign if mask >> op.args[0].width else 0)]
    if opcode is Opcode.SLT and isinstance(op.args[1], Const) and op.args[1].value == 0:
        return [1 << (op.args[0].width - 1), 0]
    return everything


def _passing(opcode: Opcode, other: Value) -> int:
    """Return the bits that the other operand of AND or OR lets through."""
    if not isinstance(other, Const):
        return -1
    return other.value if opcode is Opcode.AND else ~other.value


def _shifted(op: Op, mask: int) -> int:
    """Return the bits of a shift's first operand that its demanded bits depend on."""
    amount = op.args[1]
    lowest = mask & -mask
    if op.opcode is Opcode.SHL:
        return mask >> amount.value if isinstance(amount, Const) else (1 << mask.bit_length()) - 1
    if not isinstance(amount, Const):
        return -lowest
    if amount.value >= op.width:
        return -1
    needed = mask << amount.value
    if op.opcode is Opcode.ASHR and needed >> op.width:
        needed |= 1 << (op.width - 1)
    return needed
