"""One operation on constants: the meaning of every pure opcode, as Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rtlagent.hls.interpret import signed_quotient, signed_remainder
from rtlagent.hls.ir import Const, Op, Opcode, to_signed

_BINARY: dict[Opcode, Callable[[int, int], int]] = {
    Opcode.ADD: lambda a, b: a + b,
    Opcode.SUB: lambda a, b: a - b,
    Opcode.MUL: lambda a, b: a * b,
    Opcode.AND: lambda a, b: a & b,
    Opcode.OR: lambda a, b: a | b,
    Opcode.XOR: lambda a, b: a ^ b,
    Opcode.EQ: lambda a, b: a == b,
    Opcode.NE: lambda a, b: a != b,
    Opcode.ULT: lambda a, b: a < b,
    Opcode.ULE: lambda a, b: a <= b,
}


def evaluate(opcode: Opcode, width: int, args: Sequence[int], widths: Sequence[int]) -> int:
    """Return the result, unsigned, of a pure operation of `width` bits on unsigned operands of `widths` bits."""
    mask = (1 << width) - 1
    a = args[0]
    if opcode in _BINARY:
        return int(_BINARY[opcode](a, args[1])) & mask
    if opcode in (Opcode.SLT, Opcode.SLE):
        x, y = to_signed(a, widths[0]), to_signed(args[1], widths[1])
        return int(x < y if opcode is Opcode.SLT else x <= y)
    if opcode is Opcode.SELECT:
        return args[1] if a else args[2]
    if opcode in (Opcode.ZEXT, Opcode.COPY, Opcode.TRUNC):
        return a & mask
    if opcode is Opcode.SEXT:
        return to_signed(a, widths[0]) & mask
    if opcode is Opcode.SHL:
        return (a << args[1]) & mask if args[1] < width else 0
    if opcode is Opcode.LSHR:
        return a >> args[1] if args[1] < width else 0
    if opcode is Opcode.ASHR:
        return (to_signed(a, width) >> min(args[1], width)) & mask
    if opcode is Opcode.UDIV:
        return a // args[1] if args[1] else mask
    if opcode is Opcode.UREM:
        return a % args[1] if args[1] else a
    if opcode is Opcode.SDIV:
        return signed_quotient(a, args[1], width)
    if opcode is Opcode.SREM:
        return signed_remainder(a, args[1], width)
    raise ValueError(f"{opcode.value} has no value of its own")


def folded(op: Op) -> Const | None:
    """Return the constant that a pure operation on constants computes; None if an operand is no constant."""
    values = [a.value for a in op.args if isinstance(a, Const)]
    if len(values) != len(op.args) or not values or op.opcode is Opcode.LOAD or op.has_side_effect:
        return None
    return Const(evaluate(op.opcode, op.width, values, [a.width for a in op.args]), op.width)
