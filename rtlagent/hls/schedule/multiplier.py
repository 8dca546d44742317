"""Multipliers: how wide a product really is, and how one that is too slow for a cycle is split over several.

```
%p = mul 32 %a, %b    limb 17: a = a1:a0, b = b1:b0
                      first cycle:  p00 <= a0 * b0;  p01 <= a0 * b1;  p10 <= a1 * b0     (registers, latency 1)
                      second cycle: p = p00 + (p01 << 17) + (p10 << 17)                  (a wire)
```
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.ir import Const, Op, Opcode, Value


@dataclass(frozen=True)
class PartialProduct:
    """One product of a limb of each operand, both read as unsigned."""

    left_low: int
    """Lowest bit of the left operand's limb."""
    left_width: int
    right_low: int
    right_width: int

    @property
    def shift(self) -> int:
        """By how much it is shifted in the sum."""
        return self.left_low + self.right_low


def partial_products(width: int, limb: int) -> tuple[PartialProduct, ...]:
    """Return the products whose shifted sum modulo 2**width is the product of two operands of `width` bits.

    This is what `Slot.limb` asks the emitter to write: all partial products are registered at the end of the issue
    cycle; their sum is computed behind these registers, and is registered latency - 1 times more. The low half
    of a product does not depend on signs, so that limbs are unsigned.
    """
    lows = range(0, width, limb)
    return tuple(
        PartialProduct(a, min(limb, width - a), b, min(limb, width - b)) for a in lows for b in lows if a + b < width
    )


def signed_bits(value: Value) -> int:
    """Return with how many bits, sign included, an operand can be written; extensions are looked through."""
    if isinstance(value, Const):
        number = value.signed
        return (number if number >= 0 else ~number).bit_length() + 1
    if isinstance(value, Op):
        if value.opcode is Opcode.SEXT:
            return signed_bits(value.args[0])
        if value.opcode is Opcode.ZEXT:
            return value.args[0].width + 1
        if value.opcode is Opcode.AND and isinstance(value.args[1], Const) and value.args[1].signed >= 0:
            return min(value.width, value.args[1].value.bit_length() + 1)
    return value.width


def shape(op: Op) -> tuple[int, int]:
    """Return the signed widths of a MUL's operands, the wider first; never more than the result needs."""
    a, b = (min(signed_bits(v), op.width) for v in op.args)
    return max(a, b), min(a, b)
