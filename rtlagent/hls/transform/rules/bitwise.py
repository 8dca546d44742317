"""And, or, exclusive or.

`(x & 12) & 6` -> `x & 4`; `x & 255` -> `zext(trunc8 x)`, which is wires; `!(a < b)` -> `b <= a`; `x | (x & y)` -> `x`.
"""

from __future__ import annotations

from rtlagent.hls.ir import COMPARISONS, Const, Op, Opcode, Value, same_value

from .rewriter import Rewriter, become, constant, operation

_OPPOSITE = {
    Opcode.EQ: (Opcode.NE, False),
    Opcode.NE: (Opcode.EQ, False),
    Opcode.ULT: (Opcode.ULE, True),
    Opcode.ULE: (Opcode.ULT, True),
    Opcode.SLT: (Opcode.SLE, True),
    Opcode.SLE: (Opcode.SLT, True),
}
"""Comparison -> (opposite comparison, operands exchanged)."""


def bitwise(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite what the three have in common."""
    a, b = op.args
    if isinstance(a, Const):
        return become(op, op.opcode, b, a)
    if same_value(a, b):
        return Const(0, op.width) if op.opcode is Opcode.XOR else a
    inner = operation(a, op.opcode)
    if isinstance(b, Const) and inner is not None and isinstance(inner.args[1], Const):
        x, y = inner.args[1].value, b.value
        folded = x & y if op.opcode is Opcode.AND else x | y if op.opcode is Opcode.OR else x ^ y
        return become(op, op.opcode, inner.args[0], Const(folded, op.width))
    return _through_extensions(op, rewriter) or _with_own_part(op)


def _through_extensions(op: Op, rewriter: Rewriter) -> Value | None:
    """`zext a & zext b` -> `zext (a & b)`, also with a constant for b."""
    a, b = op.args
    left = operation(a, Opcode.ZEXT, Opcode.SEXT)
    if left is None:
        return None
    source = left.args[0]
    narrow: Value
    if isinstance(b, Const):
        narrow = Const(b.value, source.width)
        high = b.value >> source.width
        all_high = (1 << (op.width - source.width)) - 1
        if left.opcode is Opcode.ZEXT and high and op.opcode is not Opcode.AND:
            return None
        if left.opcode is Opcode.SEXT and high != (all_high if narrow.value >> (source.width - 1) else 0):
            return None
    else:
        right = operation(b, left.opcode)
        if right is None or right.args[0].width != source.width:
            return None
        if not (rewriter.single_use(a) or rewriter.single_use(b)):
            return None
        narrow = right.args[0]
    return become(op, left.opcode, rewriter.build(op.opcode, source.width, source, narrow))


def _with_own_part(op: Op) -> Value | None:
    """`x & (x | y)` -> `x`; `x & (x & y)` -> `x & y`; `(x ^ y) ^ y` -> `x`; `x & ~x` -> 0."""
    ones = (1 << op.width) - 1
    for x, y in (op.args, reversed(op.args)):
        inner = operation(y, Opcode.AND, Opcode.OR, Opcode.XOR)
        if inner is None:
            continue
        at = 0 if same_value(inner.args[0], x) else 1 if same_value(inner.args[1], x) else -1
        if at < 0:
            continue
        if inner.opcode is Opcode.XOR and op.opcode is Opcode.XOR:
            return inner.args[1 - at]
        if inner.opcode is Opcode.XOR:
            if at == 0 and constant(inner.args[1]) == ones:
                return Const(0 if op.opcode is Opcode.AND else ones, op.width)
        elif op.opcode is not Opcode.XOR:
            return y if op.opcode is inner.opcode else x
    return None


def conjunction(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite x & c."""
    a, b = op.args
    if not isinstance(b, Const):
        return None
    mask = (1 << op.width) - 1
    if b.value == 0:
        return b
    if b.value == mask:
        return a
    if b.value & (b.value + 1) == 0:
        return become(op, Opcode.ZEXT, rewriter.build(Opcode.TRUNC, b.value.bit_length(), a))
    inner = operation(a, Opcode.OR)
    if inner is not None and isinstance(inner.args[1], Const):
        kept = inner.args[1].value & b.value
        if kept == b.value:
            return b
        if kept == 0:
            return become(op, Opcode.AND, inner.args[0], b)
    return None


def disjunction(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite x | c."""
    a, b = op.args
    if not isinstance(b, Const):
        return None
    if b.value == 0:
        return a
    if b.value == (1 << op.width) - 1:
        return b
    return None


def exclusive(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite x ^ c."""
    a, b = op.args
    if not isinstance(b, Const):
        return None
    if b.value == 0:
        return a
    inner = operation(a, *COMPARISONS)
    if op.width == 1 and inner is not None and rewriter.single_use(a):
        opcode, exchanged = _OPPOSITE[inner.opcode]
        x, y = inner.args
        return become(op, opcode, *((y, x) if exchanged else (x, y)))
    difference = operation(a, Opcode.SUB)
    if b.signed == -1 and difference is not None and isinstance(difference.args[0], Const):
        # ~(c - x) = x + (-c - 1)
        return become(op, Opcode.ADD, difference.args[1], Const(-difference.args[0].value - 1, op.width))
    total = operation(a, Opcode.ADD)
    if total is not None and constant(total.args[1]) == b.value == 1 << (op.width - 1):
        return total.args[0]
    if b.signed == -1 and total is not None and isinstance(total.args[1], Const):
        # ~(x + c) = (-c - 1) - x
        return become(op, Opcode.SUB, Const(-total.args[1].value - 1, op.width), total.args[0])
    return None
