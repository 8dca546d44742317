"""Shifts.

`(x << 3) << 4` -> `x << 7`; `(x >> 4) << 4` -> `x & ~15`; `(x << 24) s>> 24` -> `sext (trunc8 x)`;
`zext x >> 3` -> `zext (x >> 3)`.
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Value

from .rewriter import Rewriter, become, constant, operation


def shift(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite any shift."""
    a, amount = op.args
    extended = operation(amount, Opcode.ZEXT)
    if extended is not None:
        return become(op, op.opcode, a, extended.args[0])
    if constant(a) == 0:
        return a
    if not isinstance(amount, Const):
        return None
    if amount.value == 0:
        return a
    if amount.value >= op.width:
        if op.opcode is not Opcode.ASHR:
            return Const(0, op.width)
        return become(op, Opcode.ASHR, a, _amount(op.width - 1, op.width))
    if amount.width != op.width:
        return become(op, op.opcode, a, _amount(amount.value, op.width))
    inner = operation(a, op.opcode)
    if inner is not None and isinstance(inner.args[1], Const):
        return become(op, op.opcode, inner.args[0], _amount(inner.args[1].value + amount.value, op.width))
    if op.opcode is Opcode.SHL:
        return _left(op, a, amount.value)
    return _right(op, a, amount.value, rewriter)


def _amount(value: int, width: int) -> Const:
    """Return a shift amount; one that does not fit the width is as good as any that is too great."""
    return Const(value, max(width, value.bit_length()))


def _left(op: Op, a: Value, amount: int) -> Value | None:
    mask = (1 << op.width) - 1
    right = operation(a, Opcode.LSHR, Opcode.ASHR)
    if right is not None and constant(right.args[1]) == amount:
        return become(op, Opcode.AND, right.args[0], Const(mask << amount, op.width))
    return None


def _right(op: Op, a: Value, amount: int, rewriter: Rewriter) -> Value | None:
    left = operation(a, Opcode.SHL)
    if left is not None and constant(left.args[1]) == amount:
        low = rewriter.build(Opcode.TRUNC, op.width - amount, left.args[0])
        return become(op, Opcode.ZEXT if op.opcode is Opcode.LSHR else Opcode.SEXT, low)
    cast = operation(a, Opcode.ZEXT, Opcode.SEXT)
    if cast is None:
        return None
    source = cast.args[0]
    if cast.opcode is Opcode.ZEXT:
        if amount >= source.width:
            return Const(0, op.width)
        return become(op, Opcode.ZEXT, rewriter.build(Opcode.LSHR, source.width, source, Const(amount, op.width)))
    if op.opcode is Opcode.ASHR:
        return become(op, Opcode.SEXT, rewriter.build(Opcode.ASHR, source.width, source, Const(amount, op.width)))
    return None
