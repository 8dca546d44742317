"""What is known of an operation's result, from what is known of its operands.

Division by zero is undefined in C; results that only it could give are left out here.
"""

from __future__ import annotations

from collections.abc import Callable

from rtlagent.hls.ir import Op, Opcode

from .fact import Fact, anything, exactly, join, of_bits, of_range, of_signed, sharpened


def result(op: Op, args: list[Fact]) -> Fact | None:
    """Return the fact of a pure operation; None if there is no possible value."""
    rule = _RULES.get(op.opcode)
    if rule is None:
        return anything(op.width)
    return rule(op.width, args)


def _add(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return _sum(width, a, b.zeros, b.ones, 0, (b.lo, b.hi), (b.slo, b.shi))


def _sub(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return _sum(width, a, b.ones, b.zeros, 1, (-b.hi, -b.lo), (-b.shi, -b.slo))


def _sum(
    width: int, a: Fact, zeros: int, ones: int, carry: int, unsigned: tuple[int, int], signed: tuple[int, int]
) -> Fact | None:
    """Return a + b + carry, where b has the bits and, with the carry added, the ranges given."""
    half = 1 << (width - 1)
    mask = 2 * half - 1
    most = (~a.zeros & mask) + (~zeros & mask) + carry
    least = a.ones + ones + carry
    carry_known = ~(most ^ a.zeros ^ zeros) | (least ^ a.ones ^ ones)
    known = (a.zeros | a.ones) & (zeros | ones) & carry_known & mask
    lo, hi = _wrapped(a.lo + unsigned[0], a.hi + unsigned[1], 0, mask)
    slo, shi = _wrapped(a.slo + signed[0], a.shi + signed[1], -half, half - 1)
    return sharpened(width, ~most & known, least & known, lo, hi, slo, shi)


def _wrapped(lo: int, hi: int, least: int, greatest: int) -> tuple[int, int]:
    """Return a range modulo the number of values, or all of them if it does not stay in one piece."""
    size = greatest - least + 1
    turns = (lo - least) // size
    if turns != (hi - least) // size:
        return least, greatest
    return lo - turns * size, hi - turns * size


def _mul(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    half = 1 << (width - 1)
    mask = 2 * half - 1
    low_zeros = min(width, _low_zeros(a) + _low_zeros(b))
    lo, hi = a.lo * b.lo, a.hi * b.hi
    if hi > mask:
        lo, hi = 0, mask
    corners = (a.slo * b.slo, a.slo * b.shi, a.shi * b.slo, a.shi * b.shi)
    slo, shi = min(corners), max(corners)
    if slo < -half or shi >= half:
        slo, shi = -half, half - 1
    return sharpened(width, (1 << low_zeros) - 1, 0, lo, hi, slo, shi)


def _low_zeros(fact: Fact) -> int:
    unknown = ~fact.zeros & ((1 << fact.width) - 1)
    return (unknown & -unknown).bit_length() - 1 if unknown else fact.width


def _udiv(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return of_range(width, a.lo // max(b.hi, 1), a.hi // max(b.lo, 1))


def _urem(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    if a.hi < b.lo:
        return a
    return of_range(width, 0, min(a.hi, max(b.hi - 1, 0)))


def _sdiv(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    if a.slo >= 0 and b.slo >= 0:
        return _udiv(width, args)
    if b.slo == b.shi and b.slo > 0:
        return of_signed(width, _towards_zero(a.slo, b.slo), _towards_zero(a.shi, b.slo))
    greatest = max(abs(a.slo), abs(a.shi))
    return of_signed(width, -greatest, greatest)


def _towards_zero(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


def _srem(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    greatest = min(max(abs(a.slo), abs(a.shi)), max(abs(b.slo), abs(b.shi), 1) - 1)
    return of_signed(width, 0 if a.slo >= 0 else -greatest, 0 if a.shi <= 0 else greatest)


def _and(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return of_range(width, 0, min(a.hi, b.hi), a.zeros | b.zeros, a.ones & b.ones)


def _or(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return of_range(width, max(a.lo, b.lo), (1 << width) - 1, a.zeros & b.zeros, a.ones | b.ones)


def _xor(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    zeros = (a.zeros & b.zeros) | (a.ones & b.ones)
    fact = of_bits(width, zeros, (a.zeros & b.ones) | (a.ones & b.zeros))
    # Of two numbers that fit a signed width, so does the difference of their bits.
    bits = max(a.signed_bits, b.signed_bits)
    if fact is None or bits >= width:
        return fact
    half = 1 << (bits - 1)
    return sharpened(width, fact.zeros, fact.ones, fact.lo, fact.hi, max(fact.slo, -half), min(fact.shi, half - 1))


def _shl(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    mask = (1 << width) - 1
    if b.lo >= width:
        return exactly(0, width)
    low_zeros = min(width, _low_zeros(a) + b.lo)
    if b.is_constant:
        zeros = (a.zeros << b.lo & mask) | ((1 << b.lo) - 1)
        ones = a.ones << b.lo & mask
        slo, shi = a.slo << b.lo, a.shi << b.lo
        half = 1 << (width - 1)
        if slo < -half or shi >= half:
            slo, shi = -half, half - 1
        lo, hi = (a.lo << b.lo, a.hi << b.lo) if a.hi << b.lo <= mask else (0, mask)
        return sharpened(width, zeros, ones, lo, hi, slo, shi)
    lo, hi = 0, mask
    if b.hi < width and a.hi << b.hi <= mask:
        lo, hi = a.lo << b.lo, a.hi << b.hi
    return of_range(width, lo, hi, (1 << low_zeros) - 1)


def _lshr(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    if b.lo >= width:
        return exactly(0, width)
    hi = a.hi >> b.lo
    if b.is_constant:
        mask = (1 << width) - 1
        zeros = (a.zeros >> b.lo) | (mask >> (width - b.lo) << (width - b.lo))
        return of_range(width, a.lo >> b.lo, hi, zeros, a.ones >> b.lo)
    return of_range(width, a.lo >> b.hi if b.hi < width else 0, hi)


def _ashr(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    least, greatest = min(b.lo, width), min(b.hi, width)
    slo = a.slo >> (least if a.slo < 0 else greatest)
    shi = a.shi >> (greatest if a.shi < 0 else least)
    if b.is_constant and least < width:
        mask = (1 << width) - 1
        high = mask >> (width - least) << (width - least)
        zeros = a.zeros >> least | (high if a.zeros >> (width - 1) else 0)
        ones = a.ones >> least | (high if a.ones >> (width - 1) else 0)
        return of_signed(width, slo, shi, zeros, ones)
    return of_signed(width, slo, shi)


def _eq(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    if a.is_constant and b.is_constant:
        return exactly(1 if a.lo == b.lo else 0, 1)
    apart = a.hi < b.lo or b.hi < a.lo or a.shi < b.slo or b.shi < a.slo
    if apart or (a.ones & b.zeros) or (a.zeros & b.ones):
        return exactly(0, 1)
    return anything(1)


def _ne(width: int, args: list[Fact]) -> Fact | None:
    equal = _eq(width, args)
    return exactly(1 - equal.lo, 1) if equal is not None and equal.is_constant else equal


def _compared(is_less: bool, is_not_less: bool) -> Fact:
    return exactly(1, 1) if is_less else exactly(0, 1) if is_not_less else anything(1)


def _ult(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return _compared(a.hi < b.lo, a.lo >= b.hi)


def _ule(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return _compared(a.hi <= b.lo, a.lo > b.hi)


def _slt(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return _compared(a.shi < b.slo, a.slo >= b.shi)


def _sle(width: int, args: list[Fact]) -> Fact | None:
    a, b = args
    return _compared(a.shi <= b.slo, a.slo > b.shi)


def _select(width: int, args: list[Fact]) -> Fact | None:
    condition, a, b = args
    if condition.is_constant:
        return a if condition.lo else b
    return join(a, b)


def _zext(width: int, args: list[Fact]) -> Fact | None:
    a = args[0]
    high = (1 << width) - (1 << a.width)
    return Fact(width, a.zeros | high, a.ones, a.lo, a.hi, a.lo, a.hi)


def _sext(width: int, args: list[Fact]) -> Fact | None:
    a = args[0]
    high = (1 << width) - (1 << a.width)
    sign = a.width - 1
    zeros = a.zeros | (high if a.zeros >> sign else 0)
    ones = a.ones | (high if a.ones >> sign else 0)
    return of_signed(width, a.slo, a.shi, zeros, ones)


def _trunc(width: int, args: list[Fact]) -> Fact | None:
    a = args[0]
    half = 1 << (width - 1)
    mask = 2 * half - 1
    lo, hi = _wrapped(a.lo, a.hi, 0, mask)
    slo, shi = _wrapped(a.slo, a.shi, -half, half - 1)
    return sharpened(width, a.zeros & mask, a.ones & mask, lo, hi, slo, shi)


def _copy(width: int, args: list[Fact]) -> Fact | None:
    return args[0]


_RULES: dict[Opcode, Callable[[int, list[Fact]], Fact | None]] = {
    Opcode.ADD: _add,
    Opcode.SUB: _sub,
    Opcode.MUL: _mul,
    Opcode.UDIV: _udiv,
    Opcode.UREM: _urem,
    Opcode.SDIV: _sdiv,
    Opcode.SREM: _srem,
    Opcode.AND: _and,
    Opcode.OR: _or,
    Opcode.XOR: _xor,
    Opcode.SHL: _shl,
    Opcode.LSHR: _lshr,
    Opcode.ASHR: _ashr,
    Opcode.EQ: _eq,
    Opcode.NE: _ne,
    Opcode.ULT: _ult,
    Opcode.ULE: _ule,
    Opcode.SLT: _slt,
    Opcode.SLE: _sle,
    Opcode.SELECT: _select,
    Opcode.ZEXT: _zext,
    Opcode.SEXT: _sext,
    Opcode.TRUNC: _trunc,
    Opcode.COPY: _copy,
}
