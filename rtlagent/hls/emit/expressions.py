"""Operations as Verilog-2005 expressions whose widths agree exactly, so that no tool has to extend anything.

Every operand is an identifier or a sized literal; every expression is the right side of an assignment to
a net of the operation's width.
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Value

_INFIX = {
    Opcode.ADD: "+",
    Opcode.SUB: "-",
    Opcode.AND: "&",
    Opcode.OR: "|",
    Opcode.XOR: "^",
    Opcode.EQ: "==",
    Opcode.NE: "!=",
    Opcode.ULT: "<",
    Opcode.ULE: "<=",
}
_SIGNED_INFIX = {Opcode.SLT: "<", Opcode.SLE: "<="}


def literal(value: int, width: int) -> str:
    """Return a sized literal: decimal while it is short, else hexadecimal."""
    return f"{width}'d{value}" if value < 1 << 16 else f"{width}'h{value:x}"


def vector(width: int) -> str:
    """Return a declaration's range with a blank after it; empty for one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""


def bits(name: str, width: int, high: int, low: int) -> str:
    """Return the slice [high:low] of an identifier that is `width` bits wide."""
    if width == 1 or (high == width - 1 and low == 0):
        return name
    return f"{name}[{high}]" if high == low else f"{name}[{high}:{low}]"


def expression(op: Op, operands: list[str]) -> str:
    """Return the right side for a pure operation; `operands` are the texts of op.args.

    Raises:
        ValueError: the operation has no expression of its own (memory, call, division).
    """
    code, width = op.opcode, op.width
    if code in _INFIX:
        return f"{operands[0]} {_INFIX[code]} {operands[1]}"
    if code in _SIGNED_INFIX:
        return f"$signed({operands[0]}) {_SIGNED_INFIX[code]} $signed({operands[1]})"
    if code is Opcode.MUL:
        return f"$signed({operands[0]}) * $signed({operands[1]})"
    if code is Opcode.SELECT:
        return f"{operands[0]} ? {operands[1]} : {operands[2]}"
    if code is Opcode.COPY:
        return operands[0]
    if code in (Opcode.SHL, Opcode.LSHR, Opcode.ASHR):
        return _shift(op, operands)
    source = op.args[0]
    if code in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC) and isinstance(source, Const):
        return literal((source.signed if code is Opcode.SEXT else source.value) & ((1 << width) - 1), width)
    if code is Opcode.ZEXT:
        return f"{{{literal(0, width - source.width)}, {operands[0]}}}"
    if code is Opcode.SEXT:
        return _sign_extended(operands[0], source, width)
    if code is Opcode.TRUNC:
        return bits(operands[0], source.width, width - 1, 0)
    raise ValueError(f"{code} is not an expression")


def _sign_extended(text: str, source: Value, width: int) -> str:
    sign = bits(text, source.width, source.width - 1, source.width - 1)
    return f"{{{{{width - source.width}{{{sign}}}}}, {text}}}"


def _shift(op: Op, operands: list[str]) -> str:
    code, width = op.opcode, op.width
    source, amount = op.args
    if isinstance(source, Const) or not isinstance(amount, Const):
        if code is Opcode.ASHR:
            return f"$signed({operands[0]}) >>> {operands[1]}"
        return f"{operands[0]} {'<<' if code is Opcode.SHL else '>>'} {operands[1]}"
    by = amount.value
    text = operands[0]
    if by == 0:
        return text
    sign = bits(text, width, width - 1, width - 1)
    if by >= width:
        return f"{{{width}{{{sign}}}}}" if code is Opcode.ASHR else literal(0, width)
    if code is Opcode.SHL:
        return f"{{{bits(text, width, width - 1 - by, 0)}, {literal(0, by)}}}"
    kept = bits(text, width, width - 1, by)
    return f"{{{{{by}{{{sign}}}}}, {kept}}}" if code is Opcode.ASHR else f"{{{literal(0, by)}, {kept}}}"
