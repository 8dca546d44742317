"""What is known of a value: bits, an unsigned and a signed range, each made as sharp as the others allow."""

from __future__ import annotations


class Fact:
    """A set of bit patterns of one width.

    Those whose bits in `zeros` are 0 and in `ones` are 1, which as unsigned numbers lie in [lo, hi] and as two's
    complement in [slo, shi].
    """

    __slots__ = ("hi", "lo", "ones", "shi", "slo", "width", "zeros")

    def __init__(self, width: int, zeros: int, ones: int, lo: int, hi: int, slo: int, shi: int) -> None:
        self.width = width
        self.zeros = zeros
        self.ones = ones
        self.lo = lo
        self.hi = hi
        self.slo = slo
        self.shi = shi

    def same(self, other: Fact) -> bool:
        """Tell whether the two say the same."""
        return (
            self.lo == other.lo
            and self.hi == other.hi
            and self.slo == other.slo
            and self.shi == other.shi
            and self.zeros == other.zeros
            and self.ones == other.ones
        )

    @property
    def is_constant(self) -> bool:
        """True if only one value is left: `lo`."""
        return self.lo == self.hi

    @property
    def unsigned_bits(self) -> int:
        """The least width whose zero extension gives every value; at least 1."""
        return max(1, self.hi.bit_length())

    @property
    def signed_bits(self) -> int:
        """The least width whose sign extension gives every value."""
        low = self.slo if self.slo >= 0 else ~self.slo
        high = self.shi if self.shi >= 0 else ~self.shi
        return max(low, high).bit_length() + 1

    @property
    def is_never_negative(self) -> bool:
        """True if the sign bit is 0."""
        return self.slo >= 0

    def __repr__(self) -> str:
        return f"<{self.width}: {self.lo}..{self.hi} {self.slo}..{self.shi} 0s {self.zeros:x} 1s {self.ones:x}>"


def anything(width: int) -> Fact:
    """Return the fact that says nothing."""
    half = 1 << (width - 1)
    return Fact(width, 0, 0, 0, 2 * half - 1, -half, half - 1)


def exactly(value: int, width: int) -> Fact:
    """Return the fact of a constant."""
    mask = (1 << width) - 1
    value &= mask
    signed = value - (1 << width) if value >> (width - 1) else value
    return Fact(width, mask ^ value, value, value, value, signed, signed)


def of_bits(width: int, zeros: int, ones: int) -> Fact | None:
    """Return the fact that some bits are known."""
    half = 1 << (width - 1)
    return sharpened(width, zeros, ones, 0, 2 * half - 1, -half, half - 1)


def of_range(width: int, lo: int, hi: int, zeros: int = 0, ones: int = 0) -> Fact | None:
    """Return the fact of an unsigned range, and perhaps of bits."""
    half = 1 << (width - 1)
    return sharpened(width, zeros, ones, max(lo, 0), min(hi, 2 * half - 1), -half, half - 1)


def of_signed(width: int, slo: int, shi: int, zeros: int = 0, ones: int = 0) -> Fact | None:
    """Return the fact of a signed range, and perhaps of bits."""
    half = 1 << (width - 1)
    return sharpened(width, zeros, ones, 0, 2 * half - 1, max(slo, -half), min(shi, half - 1))


def sharpened(width: int, zeros: int, ones: int, lo: int, hi: int, slo: int, shi: int) -> Fact | None:
    """Return the fact with everything that each part says of the others; None if they contradict each other."""
    half = 1 << (width - 1)
    full = half << 1
    mask = full - 1
    for _ in range(2):
        if zeros & ones:
            return None
        before = zeros, ones, lo, hi, slo, shi
        lo = max(lo, ones)
        hi = min(hi, mask ^ zeros)
        if slo >= 0:
            lo, hi = max(lo, slo), min(hi, shi)
        elif shi < 0:
            lo, hi = max(lo, slo + full), min(hi, shi + full)
        if hi < half:
            slo, shi = max(slo, lo), min(shi, hi)
        elif lo >= half:
            slo, shi = max(slo, lo - full), min(shi, hi - full)
        if lo > hi or slo > shi:
            return None
        different = (lo ^ hi).bit_length()
        high = mask >> different << different
        zeros |= ~lo & high
        ones |= lo & high
        low_zeros = ((~zeros & mask) & -(~zeros & mask)).bit_length() - 1
        if low_zeros > 0:
            lo = -(-lo >> low_zeros) << low_zeros
            hi = hi >> low_zeros << low_zeros
            slo = -(-slo >> low_zeros) << low_zeros
            shi = shi >> low_zeros << low_zeros
        if before == (zeros, ones, lo, hi, slo, shi):
            break
    if lo > hi or slo > shi or zeros & ones:
        return None
    return Fact(width, zeros, ones, lo, hi, slo, shi)


def join(a: Fact | None, b: Fact | None) -> Fact | None:
    """Return what holds of a value that is one or the other; None stands for no value at all."""
    if a is None or b is None:
        return b if a is None else a
    return Fact(
        a.width,
        a.zeros & b.zeros,
        a.ones & b.ones,
        min(a.lo, b.lo),
        max(a.hi, b.hi),
        min(a.slo, b.slo),
        max(a.shi, b.shi),
    )


def meet(a: Fact, b: Fact) -> Fact | None:
    """Return what holds of a value of which both are true; None if there is no such value."""
    return sharpened(
        a.width,
        a.zeros | b.zeros,
        a.ones | b.ones,
        max(a.lo, b.lo),
        min(a.hi, b.hi),
        max(a.slo, b.slo),
        min(a.shi, b.shi),
    )
