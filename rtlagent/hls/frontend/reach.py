"""Where in an object a pointer can point: a first byte and the strides that run-time indices add.

`&a[i].v[j]` for `struct { int k; int v[4]; } a[8]` reaches byte 4, plus any multiple of 20 (typed, i), plus any of 4
(typed, j). What kind of stride it is says how far it can lead:

- `TYPED`: a subscript of an array type; stays within that array.
- `WALK`: an index added to a pointer; may lead over the rows of the array that it began in.
- `AGAIN`: a walk from a place that such an index had led to already, as in `&row[x]` moved by -WIDTH.
- `DYNAMIC`: the place itself is only known at run time, as of a pointer that a loop moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """How far a stride can lead; the greater, the farther."""

    TYPED = 0
    WALK = 1
    AGAIN = 2
    DYNAMIC = 3


@dataclass(frozen=True)
class Stride:
    """A multiple of `bytes` is added."""

    bytes: int
    kind: Kind
    extent: int = 0
    """Bytes of the array that the subscript stays in; 0: not known."""


@dataclass(frozen=True)
class Reach:
    """A set of byte offsets in an object."""

    start: int = 0
    strides: tuple[Stride, ...] = ()
    """In order of `bytes`, each once."""
    limit: int = 0
    """Bytes of the struct field that was chosen last; 0: none was."""

    @property
    def is_constant(self) -> bool:
        """True for a single place."""
        return not self.strides

    @property
    def unit(self) -> int:
        """What all offsets from `start` are a multiple of; 0 for a single place."""
        return math.gcd(*(s.bytes for s in self.strides)) if self.strides else 0

    def moved(self, by: int) -> Reach:
        """Return the reach moved by a constant."""
        return Reach(self.start + by, self.strides, self.limit) if by else self

    def field(self, offset: int, size: int) -> Reach:
        """Return the reach of a struct field."""
        return Reach(self.start + offset, self.strides, size)

    def with_stride(self, stride: Stride) -> Reach:
        """Return the reach with an index added."""
        kept = {s.bytes: s for s in self.strides}
        old = kept.get(stride.bytes)
        if old is not None:
            stride = Stride(stride.bytes, max(Kind.AGAIN, old.kind, stride.kind), 0)
        kept[stride.bytes] = stride
        return Reach(self.start, tuple(kept[b] for b in sorted(kept)), self.limit)

    def walked(self, bytes_: int) -> Reach:
        """Return the reach moved by a constant number of elements of a pointer that an index may have moved before."""
        strides = tuple(
            Stride(s.bytes, Kind.AGAIN) if s.bytes <= abs(bytes_) and s.kind is not Kind.DYNAMIC else s
            for s in self.strides
        )
        return Reach(self.start + bytes_, strides, self.limit)

    def distance(self, other: Reach) -> int | None:
        """Return the least number of bytes, from 0, by which `other` can lie after this; None if it cannot."""
        unit = math.gcd(self.unit, other.unit)
        apart = other.start - self.start
        if unit:
            return apart % unit
        return apart if apart >= 0 else None


def join(a: Reach, b: Reach) -> Reach:
    """Return the reach of a pointer that is one or the other: one place, or a first byte and one dynamic stride."""
    unit = math.gcd(a.unit, b.unit, a.start - b.start)
    if unit == 0:
        return Reach(a.start)
    # A pointer that moves up keeps the place where it began; others begin as low as they could.
    start = a.start if b.start >= a.start else b.start % unit
    return Reach(start, (Stride(unit, Kind.DYNAMIC),))


def dynamic(reach: Reach) -> Reach:
    """Return the reach of a pointer whose index is not known as a sum of subscripts any more."""
    return join(reach, reach)
