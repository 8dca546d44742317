"""Comparisons: constants to the right, strict, of the narrowest operands.

`x u<= 7` -> `x u< 8`; `x u< 1` -> `x == 0`; `zext x s< 100` -> `x u< 100`; `x + 3 == 5` -> `x == 2`;
`(c ? 4 : 7) == 7` -> `!c`.
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Value, same_value, to_signed

from .rewriter import Rewriter, become, constant, operation

_REFLEXIVE = frozenset({Opcode.EQ, Opcode.ULE, Opcode.SLE})


def compare(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite any comparison."""
    a, b = op.args
    if same_value(a, b):
        return Const(1 if op.opcode in _REFLEXIVE else 0, 1)
    return _of_extensions(op, a, b)


def _of_extensions(op: Op, a: Value, b: Value) -> Value | None:
    """Both operands extended in the same way from the same width."""
    left, right = operation(a, Opcode.ZEXT, Opcode.SEXT), operation(b, Opcode.ZEXT, Opcode.SEXT)
    if left is None or right is None or left.opcode is not right.opcode or left.args[0].width != right.args[0].width:
        return None
    opcode = op.opcode
    if left.opcode is Opcode.ZEXT:
        opcode = {Opcode.SLT: Opcode.ULT, Opcode.SLE: Opcode.ULE}.get(opcode, opcode)
    return become(op, opcode, left.args[0], right.args[0])


def equality(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite == and !=."""
    a, b = op.args
    if isinstance(a, Const):
        return become(op, op.opcode, b, a)
    is_equal = op.opcode is Opcode.EQ
    if a.width == 1:
        value = rewriter.build(Opcode.XOR, 1, a, b)
        return rewriter.negated(value) if is_equal else value
    if not isinstance(b, Const):
        return None
    if not isinstance(a, Op):
        return None
    return _equality_with_constant(op, a, b, is_equal, rewriter)


def _equality_with_constant(op: Op, a: Op, b: Const, is_equal: bool, rewriter: Rewriter) -> Value | None:
    never = Const(0 if is_equal else 1, 1)
    width = b.width
    first = a.args[0] if a.args else None
    second = a.args[1] if len(a.args) > 1 else None
    if a.opcode in (Opcode.ZEXT, Opcode.SEXT):
        assert first is not None
        narrow = Const(b.value, first.width)
        back = narrow.value if a.opcode is Opcode.ZEXT else narrow.signed & ((1 << width) - 1)
        return become(op, op.opcode, first, narrow) if back == b.value else never
    if a.opcode is Opcode.SELECT:
        return _of_select(a, b, is_equal, rewriter)
    if a.opcode is Opcode.SUB and b.value == 0 and second is not None:
        return become(op, op.opcode, a.args[0], second)
    if a.opcode is Opcode.XOR and b.value == 0 and not isinstance(second, Const):
        return become(op, op.opcode, *a.args)
    if a.opcode is Opcode.OR and isinstance(second, Const) and second.value & ~b.value:
        return never
    if not isinstance(second, Const) or first is None:
        if a.opcode is Opcode.SUB and isinstance(first, Const) and second is not None:
            return become(op, op.opcode, second, Const(first.value - b.value, width))
        return None
    if a.opcode is Opcode.ADD:
        return become(op, op.opcode, first, Const(b.value - second.value, width))
    if a.opcode is Opcode.XOR:
        return become(op, op.opcode, first, Const(b.value ^ second.value, width))
    if a.opcode is Opcode.AND and b.value & ~second.value:
        return never
    if a.opcode is Opcode.AND and second.value & (second.value - 1) == 0:
        return _of_bit(a, second.value, (b.value != 0) == is_equal, rewriter)
    return None


def _of_bit(a: Op, mask: int, wanted: bool, rewriter: Rewriter) -> Value:
    """`(x & 8) != 0` -> `trunc1 (x >> 3)`: a wire."""
    shifted = rewriter.build(Opcode.LSHR, a.width, a.args[0], Const(mask.bit_length() - 1, a.width))
    bit = rewriter.resized(shifted, 1, signed=False)
    return bit if wanted else rewriter.negated(bit)


def _of_select(a: Op, b: Const, is_equal: bool, rewriter: Rewriter) -> Value | None:
    condition = a.args[0]
    x, y = constant(a.args[1]), constant(a.args[2])
    if x is None or y is None or x == y:
        return None
    if b.value not in (x, y):
        return Const(0 if is_equal else 1, 1)
    return condition if (x == b.value) == is_equal else rewriter.negated(condition)


def order(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite < and <= with a constant."""
    a, b = op.args
    signed = op.opcode in (Opcode.SLT, Opcode.SLE)
    strict = Opcode.SLT if signed else Opcode.ULT
    width = a.width
    least = -(1 << (width - 1)) if signed else 0
    greatest = least + (1 << width) - 1
    if isinstance(b, Const):
        bound = b.signed if signed else b.value
        if op.opcode is not strict:
            return Const(1, 1) if bound == greatest else become(op, strict, a, Const(bound + 1, width))
        return _below(op, a, bound, least, greatest) or _below_extension(op, a, bound, signed)
    if isinstance(a, Const):
        bound = a.signed if signed else a.value
        if op.opcode is not strict:
            return Const(1, 1) if bound == least else become(op, strict, Const(bound - 1, width), b)
        return _above(op, b, bound, least, greatest) or _above_extension(op, b, bound, signed)
    return None


def _below(op: Op, a: Value, bound: int, least: int, greatest: int) -> Value | None:
    """`a < bound` at the ends of the range."""
    if bound == least:
        return Const(0, 1)
    if bound == least + 1:
        return become(op, Opcode.EQ, a, Const(least, a.width))
    if bound == greatest:
        return become(op, Opcode.NE, a, Const(greatest, a.width))
    return None


def _above(op: Op, b: Value, bound: int, least: int, greatest: int) -> Value | None:
    """`bound < b` at the ends of the range."""
    if bound == greatest:
        return Const(0, 1)
    if bound == greatest - 1:
        return become(op, Opcode.EQ, b, Const(greatest, b.width))
    if bound == least:
        return become(op, Opcode.NE, b, Const(least, b.width))
    return None


def _extension(value: Value, signed: bool) -> tuple[Value, int, int, Opcode] | None:
    """Return the source of an extension, its least and greatest value, and how it is compared in its own width."""
    cast = operation(value, Opcode.ZEXT, Opcode.SEXT) if signed else operation(value, Opcode.ZEXT)
    if cast is None:
        return None
    source = cast.args[0]
    if cast.opcode is Opcode.ZEXT:
        return source, 0, (1 << source.width) - 1, Opcode.ULT
    half = 1 << (source.width - 1)
    return source, -half, half - 1, Opcode.SLT


def _below_extension(op: Op, a: Value, bound: int, signed: bool) -> Value | None:
    found = _extension(a, signed)
    if found is None:
        return None
    source, least, greatest, opcode = found
    if bound <= least:
        return Const(0, 1)
    if bound > greatest:
        return Const(1, 1)
    return become(op, opcode, source, Const(bound, source.width))


def _above_extension(op: Op, b: Value, bound: int, signed: bool) -> Value | None:
    found = _extension(b, signed)
    if found is None:
        return None
    source, least, greatest, opcode = found
    if bound >= greatest:
        return Const(0, 1)
    if bound < least:
        return Const(1, 1)
    return become(op, opcode, Const(bound, source.width), source)


def order_of_sign(op: Op, rewriter: Rewriter) -> Value | None:
    """`(x s>> 31) s< 0` -> `x s< 0`."""
    a, b = op.args
    if op.opcode is not Opcode.SLT or constant(b) != 0:
        return None
    inner = operation(a, Opcode.ASHR)
    if inner is not None and isinstance(inner.args[1], Const):
        return become(op, Opcode.SLT, inner.args[0], Const(to_signed(0, b.width), b.width))
    return None
