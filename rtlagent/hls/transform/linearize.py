"""Give every access one subscript, row-major: the address.

```
memory a 32 [8][8]                      memory a 32 [64] shape=[8,8]
memory b 32 [8][10]                     memory b 32 [80] shape=[8,10]
  %v = load a[%i][%j]                     %i.1 = shl 6 %i, 3
                                          %k.1 = or 6 %i.1, %j
                                          %v = load a[%k.1]
  %w = load b[%i][%j]                     %i.2 = shl 7 %i, 3;  %i.3 = shl 7 %i, 1;  %i.4 = add 7 %i.2, %i.3
                                          %k.2 = add 7 %i.4, %j
                                          %w = load b[%k.2]
```

A dimension whose size is a power of two costs no logic. Subscripts are in range wherever the program is defined, so
their
higher bits are cut off.
"""

from __future__ import annotations

from rtlagent.hls.analysis.subscripts import index_bits
from rtlagent.hls.ir import Const, Memory, Module, Op, Opcode, Place, Value
from rtlagent.hls.options import HlsOptions, Remarks

_MOST_DIGITS = 4
"""Non-zero digits of a row length up to which shifts and additions take the place of a multiplier."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Linearize every memory with several dimensions."""
    several = {m for m in module.memories if len(m.dims) > 1}
    if not several:
        return
    for function in module.functions:
        for block in function.blocks:
            ops: list[Op] = []
            for op in block.ops:
                if op.memory in several:
                    address = _Address(op.memory, ops, op.place).of(op.subscripts)
                    op.args = [*op.args[: len(op.args) - len(op.subscripts)], address]
                ops.append(op)
            block.ops = ops
    for memory in several:
        memory.shape = memory.shape or memory.dims
        memory.dims = (memory.depth,)


class _Address:
    """Computes addresses of one memory, appending operations."""

    def __init__(self, memory: Memory, ops: list[Op], place: Place | None) -> None:
        self.dims = memory.dims
        self.width = index_bits(memory.depth)
        self.ops = ops
        self.place = place

    def of(self, subscripts: list[Value]) -> Value:
        """Return the address of an element (Horner's rule)."""
        total: Value = Const(0, self.width)
        for subscript, size in zip(subscripts, self.dims, strict=True):
            row = self._times(total, size)
            # Behind a whole power of two the low bits are free.
            join = Opcode.OR if size & (size - 1) == 0 else Opcode.ADD
            total = self._binary(join, row, self._fit(subscript, size))
        return total

    def _fit(self, value: Value, size: int) -> Value:
        """Return a subscript with the address's width, without bits that an element in range does not have."""
        if size == 1:
            return Const(0, self.width)
        if isinstance(value, Const):
            return Const(value.value, self.width)
        bits = min(index_bits(size), self.width)
        if value.width > bits:
            value = self._add(Op(Opcode.TRUNC, bits, [value], place=self.place))
        if value.width < self.width:
            value = self._add(Op(Opcode.ZEXT, self.width, [value], place=self.place))
        return value

    def _times(self, value: Value, factor: int) -> Value:
        if isinstance(value, Const):
            return Const(value.value * factor, self.width)
        digits = _digits(factor)
        if len(digits) > _MOST_DIGITS:
            return self._add(Op(Opcode.MUL, self.width, [value, Const(factor, self.width)], place=self.place))
        total: Value = Const(0, self.width)
        for shift, sign in reversed(digits):
            amount = Const(shift, max(1, shift.bit_length()))
            term = value if shift == 0 else self._add(Op(Opcode.SHL, self.width, [value, amount], place=self.place))
            total = self._binary(Opcode.ADD if sign > 0 else Opcode.SUB, total, term)
        return total

    def _binary(self, opcode: Opcode, a: Value, b: Value) -> Value:
        if isinstance(a, Const) and a.value == 0 and opcode is not Opcode.SUB:
            return b
        if isinstance(b, Const) and b.value == 0:
            return a
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(a.value + b.value if opcode is Opcode.ADD else a.value | b.value, self.width)
        return self._add(Op(opcode, self.width, [a, b], place=self.place))

    def _add(self, op: Op) -> Op:
        self.ops.append(op)
        return op


def _digits(factor: int) -> list[tuple[int, int]]:
    """Return (shift, sign) of the canonical signed digits of a positive number, from the lowest (Reitwieser 1960)."""
    digits = []
    shift = 0
    while factor:
        if factor & 1:
            sign = -1 if factor & 3 == 3 else 1
            digits.append((shift, sign))
            factor -= sign
        factor >>= 1
        shift += 1
    return digits
