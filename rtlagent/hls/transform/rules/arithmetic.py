"""Sums, differences, products and quotients.

`(x + 3) + 4` -> `x + 7`; `x - 5` -> `x + (-5)`; `(x + y) - y` -> `x`; `x * 8` -> `x << 3`; `x u/ 8` -> `x >> 3`.
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Value, same_value

from .rewriter import Rewriter, become, constant, operation


def add(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a sum."""
    a, b = op.args
    width = op.width
    if width == 1:
        return become(op, Opcode.XOR, a, b)
    if isinstance(a, Const):
        return become(op, Opcode.ADD, b, a)
    if isinstance(b, Const):
        return _add_constant(op, a, b)
    for x, y in ((a, b), (b, a)):
        difference = operation(y, Opcode.SUB)
        if difference is None:
            continue
        if constant(difference.args[0]) == 0:
            return become(op, Opcode.SUB, x, difference.args[1])
        if same_value(difference.args[1], x):
            return difference.args[0]
    if a is b:
        return become(op, Opcode.SHL, a, Const(1, width))
    return None


def _add_constant(op: Op, a: Value, b: Const) -> Value | None:
    if b.value == 0:
        return a
    inner = operation(a, Opcode.ADD, Opcode.SUB, Opcode.XOR)
    if inner is None:
        return None
    first, second = inner.args
    if inner.opcode is Opcode.ADD and isinstance(second, Const):
        return become(op, Opcode.ADD, first, Const(second.value + b.value, op.width))
    if inner.opcode is Opcode.SUB and isinstance(first, Const):
        return become(op, Opcode.SUB, Const(first.value + b.value, op.width), second)
    if inner.opcode is Opcode.XOR and constant(second) == b.value == 1 << (op.width - 1):
        # Adding the sign bit flips it: what is left of (x ^ 0x80) - 0x80.
        return first
    if inner.opcode is Opcode.XOR and isinstance(second, Const) and second.signed == -1:
        # ~x + c = (c - 1) - x
        return become(op, Opcode.SUB, Const(b.value - 1, op.width), first)
    return None


def subtract(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a difference."""
    a, b = op.args
    width = op.width
    if same_value(a, b):
        return Const(0, width)
    if width == 1:
        return become(op, Opcode.XOR, a, b)
    if isinstance(b, Const):
        return become(op, Opcode.ADD, a, Const(-b.value, width))
    if isinstance(a, Const) and a.signed == -1:
        return become(op, Opcode.XOR, b, a)
    right = operation(b, Opcode.ADD, Opcode.SUB)
    if right is not None and isinstance(a, Const):
        first, second = right.args
        if right.opcode is Opcode.ADD and isinstance(second, Const):
            return become(op, Opcode.SUB, Const(a.value - second.value, width), first)
        if right.opcode is Opcode.SUB and isinstance(first, Const):
            return become(op, Opcode.ADD, second, Const(a.value - first.value, width))
    if right is not None and right.opcode is Opcode.SUB and same_value(right.args[0], a):
        return right.args[1]
    if right is not None and right.opcode is Opcode.SUB and constant(right.args[0]) == 0:
        return become(op, Opcode.ADD, a, right.args[1])
    left = operation(a, Opcode.ADD)
    if left is not None:
        if same_value(left.args[0], b):
            return left.args[1]
        if same_value(left.args[1], b):
            return left.args[0]
    return None


def multiply(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a product."""
    a, b = op.args
    width = op.width
    if width == 1:
        return become(op, Opcode.AND, a, b)
    if isinstance(a, Const):
        return become(op, Opcode.MUL, b, a)
    if not isinstance(b, Const):
        return None
    if b.value == 0:
        return b
    if b.value == 1:
        return a
    if b.signed == -1:
        return become(op, Opcode.SUB, Const(0, width), a)
    if b.value & (b.value - 1) == 0:
        return become(op, Opcode.SHL, a, Const(b.value.bit_length() - 1, width))
    inner = operation(a, Opcode.MUL, Opcode.SHL)
    if inner is not None and isinstance(inner.args[1], Const):
        factor = inner.args[1].value
        if inner.opcode is Opcode.SHL:
            factor = 1 << factor if factor < width else 0
        return become(op, Opcode.MUL, inner.args[0], Const(b.value * factor, width))
    return None


def divide(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a quotient or a remainder by a constant; signed ones by powers of two are left to the strength pass."""
    a, b = op.args
    if not isinstance(b, Const):
        return None
    is_quotient = op.opcode in (Opcode.UDIV, Opcode.SDIV)
    if op.opcode in (Opcode.SDIV, Opcode.SREM):
        if b.signed == 1:
            return a if is_quotient else Const(0, op.width)
        if b.signed == -1:
            return become(op, Opcode.SUB, Const(0, op.width), a) if is_quotient else Const(0, op.width)
        return None
    if b.value == 0 or b.value & (b.value - 1):
        return None
    if is_quotient:
        return become(op, Opcode.LSHR, a, Const(b.value.bit_length() - 1, op.width))
    return become(op, Opcode.AND, a, Const(b.value - 1, op.width))
