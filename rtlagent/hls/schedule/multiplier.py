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
class Limb:
    """Some bits of an operand."""

    low: int
    width: int
    signed: bool = False


@dataclass(frozen=True)
class PartialProduct:
    """One product of a limb of each operand."""

    left: Limb
    right: Limb

    @property
    def shift(self) -> int:
        """By how much it is shifted in the sum."""
        return self.left.low + self.right.low

    @property
    def width(self) -> int:
        """Bits of the product."""
        return self.left.width + self.right.width


def partial_products(width: int, limb: int, bits: tuple[int, int] | None = None) -> tuple[PartialProduct, ...]:
    """Return the products whose shifted sum modulo 2**width is the product of two operands of `width` bits.

    This is what `Slot.limb` asks the emitter to write: all partial products are registered at the end of the issue
    cycle; their sum is computed behind these registers, and is registered latency - 1 times more.

    Args:
        width: Of operands and result.
        limb: Bits of an unsigned limb; a signed one may have a bit more.
        bits: With how many bits, sign included, each operand can be written.
    """
    left, right = (_limbs(b, width, limb) for b in bits or (width, width))
    return tuple(PartialProduct(a, b) for a in left for b in right if a.low + b.low < width)


def _limbs(bits: int, width: int, limb: int) -> list[Limb]:
    """Cut an operand; where it fills the width the low half of the product does not depend on its sign."""
    signed = bits < width
    found = []
    low = 0
    while low < bits:
        last = bits - low <= limb + signed
        size = bits - low if last else limb
        found.append(Limb(low, size, signed=signed and last))
        low += size
    return found


def operand_bits(op: Op) -> tuple[int, int]:
    """Return with how many bits, sign included, the operands of a MUL can be written; at most its width."""
    left, right = (min(signed_bits(v), op.width) for v in op.args)
    return left, right


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
    a, b = operand_bits(op)
    return max(a, b), min(a, b)
