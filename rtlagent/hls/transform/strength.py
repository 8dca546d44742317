"""Multiply and divide by constants with shifts, additions and products.

```
  %a = mul 32 %x, 10                      %s = shl 32 %x, 3; %t = shl 32 %x, 1; %a = add 32 %s, %t
  %q = udiv 8 %y, 10                      %w = zext 16 %y; %p = mul 16 %w, 205; %h = lshr 16 %p, 11; %q = trunc 8 %h
  %r = urem 8 %y, 10                      %r = y - q * 10
  %d = sdiv 8 %z, 4                       (z + (z < 0 ? 3 : 0)) s>> 2
```

A product stays a multiplication if its constant has more than two non-zero digits in canonical signed digit form
(Reitwieser 1960).
Quotients follow Granlund and Montgomery 1994, "Division by invariant integers using multiplication", with the smallest
factor that is exact for the operation's own width; hardware has products of any width, so that no fix-up is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.ir import DIVISIONS, Const, Function, Module, Op, Opcode, Value, replace_uses
from rtlagent.hls.options import HlsOptions, Remarks

_MAX_DIGITS = 2
_MAX_DIVISION_WIDTH = 40
"""Wider quotients stay divisions: a product of twice the width costs more than a divider that takes its time."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Replace products and quotients by constants where it pays."""
    for function in module.functions:
        reduce_strength(function)


def reduce_strength(function: Function) -> bool:
    """Replace the products and quotients of one function; tell whether there were any."""
    replaced: dict[Value, Value] = {}
    for block in function.blocks:
        ops: list[Op] = []
        for op in block.ops:
            made = _Maker(op)
            value = _reduced(op, made)
            if value is None:
                ops.append(op)
                continue
            ops += made.ops
            if isinstance(value, Op) and made.ops and value is made.ops[-1]:
                value.name = op.name
            replaced[op] = value
        block.ops = ops
    replace_uses(function, replaced)
    return bool(replaced)


@dataclass
class _Maker:
    """Collects the operations that stand for one."""

    origin: Op

    def __post_init__(self) -> None:
        self.ops: list[Op] = []

    def make(self, opcode: Opcode, width: int, *args: Value) -> Value:
        op = Op(opcode, width, args, place=self.origin.place)
        self.ops.append(op)
        return op

    def shifted(self, value: Value, amount: int) -> Value:
        if amount == 0:
            return value
        return self.make(Opcode.SHL, value.width, value, Const(amount, value.width))


def _reduced(op: Op, made: _Maker) -> Value | None:
    if op.opcode is Opcode.MUL:
        a, b = op.args
        if isinstance(a, Const):
            a, b = b, a
        return _product(a, b.value, made) if isinstance(b, Const) and not isinstance(a, Const) else None
    if op.opcode not in DIVISIONS or not isinstance(op.args[1], Const) or isinstance(op.args[0], Const):
        return None
    dividend, divisor = op.args[0], op.args[1]
    if divisor.value == 0:
        return None
    if op.opcode in (Opcode.UDIV, Opcode.UREM):
        quotient = unsigned_quotient(dividend, divisor.value, made)
    else:
        quotient = signed_quotient(dividend, divisor.signed, made)
    if quotient is None:
        return None
    if op.opcode in (Opcode.UDIV, Opcode.SDIV):
        return quotient
    return made.make(Opcode.SUB, op.width, dividend, _product_or_mul(quotient, divisor.value, made))


def signed_digits(value: int) -> list[tuple[int, int]]:
    """Return the canonical signed digits of a number as (position, 1 or -1), the lowest first."""
    digits = []
    position = 0
    while value:
        if value & 1:
            digit = 2 - (value & 3)
            digits.append((position, digit))
            value -= digit
        value >>= 1
        position += 1
    return digits


def _product(value: Value, factor: int, made: _Maker) -> Value | None:
    """Return value * factor (modulo 2**width) as a sum of at most two shifted values."""
    width = value.width
    factor &= (1 << width) - 1
    forms = [signed_digits(factor), signed_digits(factor - (1 << width))]
    digits = min(([d for d in form if d[0] < width] for form in forms), key=len)
    if not digits:
        return Const(0, width)
    if len(digits) > _MAX_DIGITS:
        return None
    positive = [p for p, digit in digits if digit > 0]
    negative = [p for p, digit in digits if digit < 0]
    if len(digits) == 1:
        term = made.shifted(value, digits[0][0])
        return term if positive else made.make(Opcode.SUB, width, Const(0, width), term)
    terms = [made.shifted(value, p) for p in (*positive, *negative)]
    if len(negative) == 2:
        total = made.make(Opcode.ADD, width, terms[0], terms[1])
        return made.make(Opcode.SUB, width, Const(0, width), total)
    return made.make(Opcode.SUB if negative else Opcode.ADD, width, terms[0], terms[1])


def _product_or_mul(value: Value, factor: int, made: _Maker) -> Value:
    return _product(value, factor, made) or made.make(Opcode.MUL, value.width, value, Const(factor, value.width))


def magic(divisor: int, bits: int, *, strictly: bool) -> tuple[int, int]:
    """Return (m, s) with n * m >> s = n // divisor for all 0 <= n < 2**bits, m as small as can be.

    Args:
        divisor: At least 1.
        bits: Of the dividend's magnitude.
        strictly: Ask for m * divisor > 2**s, and take n = 2**bits in too: what rounding towards zero needs.
    """
    shift = 0
    while True:
        power = 1 << shift
        factor = power // divisor + 1 if strictly else -(-power // divisor)
        error = factor * divisor - power
        if error << bits <= power:
            return factor, shift
        shift += 1


def unsigned_quotient(value: Value, divisor: int, made: _Maker) -> Value | None:
    """Return value u/ divisor."""
    width = value.width
    zeros = (divisor & -divisor).bit_length() - 1
    if zeros:
        value = made.make(Opcode.LSHR, width, value, Const(zeros, width))
        divisor >>= zeros
    if divisor == 1:
        return value
    bits = width - zeros
    if bits > _MAX_DIVISION_WIDTH:
        return None
    factor, shift = magic(divisor, bits, strictly=False)
    wide = bits + factor.bit_length()
    narrow = made.make(Opcode.TRUNC, bits, value) if zeros else value
    extended = made.make(Opcode.ZEXT, wide, narrow)
    product = _product_or_mul(extended, factor, made)
    high = made.make(Opcode.LSHR, wide, product, Const(shift, wide))
    if wide == width:
        return high
    return made.make(Opcode.TRUNC if wide > width else Opcode.ZEXT, width, high)


def signed_quotient(value: Value, divisor: int, made: _Maker) -> Value | None:
    """Return value s/ divisor, rounded towards zero."""
    width = value.width
    magnitude = abs(divisor)
    if width == 1 or magnitude == 1:
        return None
    if magnitude == 1 << (width - 1):
        same = made.make(Opcode.EQ, 1, value, Const(divisor, width))
        return made.make(Opcode.ZEXT, width, same)
    if magnitude & (magnitude - 1) == 0:
        quotient = _signed_power(value, magnitude.bit_length() - 1, made)
    elif width > _MAX_DIVISION_WIDTH:
        return None
    else:
        factor, shift = magic(magnitude, width - 1, strictly=True)
        wide = width + factor.bit_length()
        extended = made.make(Opcode.SEXT, wide, value)
        product = _product_or_mul(extended, factor, made)
        high = made.make(Opcode.ASHR, wide, product, Const(shift, wide))
        rounded_down = made.make(Opcode.TRUNC, width, high)
        negative = made.make(Opcode.SLT, 1, value, Const(0, width))
        quotient = made.make(Opcode.ADD, width, rounded_down, made.make(Opcode.ZEXT, width, negative))
    if divisor < 0:
        return made.make(Opcode.SUB, width, Const(0, width), quotient)
    return quotient


def _signed_power(value: Value, exponent: int, made: _Maker) -> Value:
    """Return value s/ 2**exponent: negative values get 2**exponent - 1 added before the shift."""
    width = value.width
    sign = made.make(Opcode.ASHR, width, value, Const(width - 1, width))
    bias = made.make(Opcode.LSHR, width, sign, Const(width - exponent, width))
    biased = made.make(Opcode.ADD, width, value, bias)
    return made.make(Opcode.ASHR, width, biased, Const(exponent, width))
