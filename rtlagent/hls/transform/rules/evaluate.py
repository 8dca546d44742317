"""The value of an operation whose operands are constants."""

from __future__ import annotations

from rtlagent.hls.interpret import signed_quotient, signed_remainder
from rtlagent.hls.ir import Const, Op, Opcode, Value, to_signed

from .rewriter import Rewriter


def fold(op: Op, rewriter: Rewriter) -> Value | None:
    """Compute an operation on constants."""
    values: list[int] = []
    for arg in op.args:
        if not isinstance(arg, Const):
            return None
        values.append(arg.value)
    return Const(evaluate(op.opcode, op.width, values, op.args[0].width), op.width)


def evaluate(opcode: Opcode, width: int, values: list[int], source_width: int) -> int:
    """Return the bit pattern (perhaps too wide) that an operation gives.

    Args:
        opcode: Any but loads, stores, calls and streams.
        width: Of the result.
        values: The operands' bit patterns.
        source_width: Of the first operand.
    """
    a = values[0]
    if opcode in (Opcode.ZEXT, Opcode.TRUNC, Opcode.COPY):
        return a
    if opcode is Opcode.SEXT:
        return to_signed(a, source_width)
    b = values[1]
    if opcode is Opcode.SELECT:
        return b if a else values[2]
    if opcode in _BINARY:
        return _BINARY[opcode](a, b)
    if opcode in (Opcode.SLT, Opcode.SLE):
        x, y = to_signed(a, source_width), to_signed(b, source_width)
        return int(x < y if opcode is Opcode.SLT else x <= y)
    if opcode in (Opcode.SHL, Opcode.LSHR, Opcode.ASHR):
        return _shift(opcode, a, b, width)
    if opcode is Opcode.UDIV:
        return a // b if b else -1
    if opcode is Opcode.UREM:
        return a % b if b else a
    return signed_quotient(a, b, width) if opcode is Opcode.SDIV else signed_remainder(a, b, width)


_BINARY = {
    Opcode.ADD: lambda a, b: a + b,
    Opcode.SUB: lambda a, b: a - b,
    Opcode.MUL: lambda a, b: a * b,
    Opcode.AND: lambda a, b: a & b,
    Opcode.OR: lambda a, b: a | b,
    Opcode.XOR: lambda a, b: a ^ b,
    Opcode.EQ: lambda a, b: int(a == b),
    Opcode.NE: lambda a, b: int(a != b),
    Opcode.ULT: lambda a, b: int(a < b),
    Opcode.ULE: lambda a, b: int(a <= b),
}


def _shift(opcode: Opcode, a: int, amount: int, width: int) -> int:
    if opcode is Opcode.ASHR:
        return to_signed(a, width) >> min(amount, width)
    if amount >= width:
        return 0
    return a << amount if opcode is Opcode.SHL else a >> amount
