"""Subscripts as linear forms, and what follows: same element, different element, distance between iterations.

```
%k = add 32 %i, 3          a[%k] with 64 elements: i + 3 (mod 64)
%s = shl 32 %i, 2          a[%s]:                  4 i   (mod 64)
                           a[%s] and a[%s + 1] are different, whatever i is
```

A subscript in range is known by its low bits, as many as the greatest one has; modulo that power of two additions,
subtractions, products by constants, and casts from at least as many bits are all linear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from rtlagent.hls.ir import Const, Memory, Op, Opcode, Param, Phi, Value, to_signed

from .exclusive import says_differ
from .loops import Loop, inductions
from .ranges import Ranges

_MAX_DISTANCE = 4096


@dataclass(frozen=True)
class Affine:
    """The sum of `factor * value` over the terms, plus a constant, modulo 2**bits."""

    terms: tuple[tuple[Value, int], ...]
    """Factors from 1 to 2**bits - 1; no value twice."""
    constant: int
    bits: int

    @property
    def is_constant(self) -> bool:
        """True if no value takes part."""
        return not self.terms

    def factor(self, value: Value) -> int:
        """Return the factor of a value as two's complement; 0 if it does not take part."""
        return next((to_signed(f, self.bits) for v, f in self.terms if v is value), 0)

    def minus(self, other: Affine) -> Affine:
        """Return the difference."""
        return _combine(self, other, -1)


def _make(terms: dict[Value, int], constant: int, bits: int) -> Affine:
    mask = (1 << bits) - 1
    kept = [(v, f & mask) for v, f in terms.items() if f & mask]
    kept.sort(key=lambda term: _order(term[0]))
    return Affine(tuple(kept), constant & mask, bits)


def _order(value: Value) -> tuple[int, str]:
    if isinstance(value, Op | Phi):
        return value.serial, ""
    return 0, value.name if isinstance(value, Param) else ""


def _combine(a: Affine, b: Affine, sign: int) -> Affine:
    terms = dict(a.terms)
    for value, factor in b.terms:
        terms[value] = terms.get(value, 0) + sign * factor
    return _make(terms, a.constant + sign * b.constant, a.bits)


class Relation(Enum):
    """How the elements of two accesses are to one another."""

    SAME = "same"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


class Subscripts:
    """Linear forms of one function's subscripts, computed when asked for; later changes are not seen."""

    def __init__(self, ranges: Ranges) -> None:
        self.ranges = ranges
        self._known: dict[tuple[Value, int], Affine] = {}

    def form(self, value: Value, bits: int) -> Affine:
        """Return the linear form of a value modulo 2**bits."""
        if isinstance(value, Const):
            return _make({}, value.value, bits)
        key = (value, bits)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._compute(value, bits)
        return found

    def _compute(self, value: Value, bits: int) -> Affine:
        itself = _make({value: 1}, 0, bits)
        if not isinstance(value, Op):
            return itself
        code = value.opcode
        if code is Opcode.COPY:
            return self.form(value.args[0], bits)
        if code in (Opcode.TRUNC, Opcode.ZEXT, Opcode.SEXT):
            return self._cast(value, bits)
        if code is Opcode.OR:
            return self._disjoint(value, bits) or itself
        if code not in (Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.SHL):
            return itself
        if value.width < bits and not self._exact(value):
            return itself
        a, b = value.args
        if code is Opcode.ADD:
            return _combine(self.form(a, bits), self.form(b, bits), 1)
        if code is Opcode.SUB:
            return _combine(self.form(a, bits), self.form(b, bits), -1)
        return self._scaled(value, bits) or itself

    def _cast(self, value: Op, bits: int) -> Affine:
        source = value.args[0]
        itself = _make({value: 1}, 0, bits)
        if value.opcode is Opcode.TRUNC:
            if value.width >= bits or self.ranges.of(source)[1] < 1 << value.width:
                return self.form(source, bits)
            return itself
        if source.width >= bits or value.opcode is Opcode.ZEXT:
            return self.form(source, bits)
        if self.ranges.of(source)[1] < 1 << (source.width - 1):
            return self.form(source, bits)
        return itself

    def _exact(self, value: Op) -> bool:
        """Tell whether an operation narrower than the modulus gives the result over the integers."""
        a, b = (self.ranges.of(x) for x in value.args)
        if value.opcode is Opcode.ADD:
            return a[1] + b[1] < 1 << value.width
        if value.opcode is Opcode.SUB:
            return a[0] >= b[1]
        if value.opcode is Opcode.MUL:
            return a[1] * b[1] < 1 << value.width
        return b[1] < 64 and a[1] << b[1] < 1 << value.width

    def _scaled(self, value: Op, bits: int) -> Affine | None:
        a, b = value.args
        if isinstance(a, Const) and value.opcode is Opcode.MUL:
            a, b = b, a
        if not isinstance(b, Const):
            return None
        factor = b.value if value.opcode is Opcode.MUL else 1 << min(b.value, bits)
        form = self.form(a, bits)
        return _make({v: f * factor for v, f in form.terms}, form.constant * factor, bits)

    def _disjoint(self, value: Op, bits: int) -> Affine | None:
        """An OR of values without common bits is their sum."""
        for low, high in (value.args, reversed(value.args)):
            if self.ranges.of(low)[1] < 1 << self.zeros(high):
                return _combine(self.form(low, bits), self.form(high, bits), 1)
        return None

    def zeros(self, value: Value) -> int:
        """Return how many low bits of a value are certainly 0."""
        form = self.form(value, value.width) if not isinstance(value, Op) or value.opcode is not Opcode.OR else None
        if form is None:
            assert isinstance(value, Op)
            return min(self.zeros(a) for a in value.args)
        size = 1 << value.width
        parts = [f << self._counted_zeros(v) for v, f in form.terms]
        return math.gcd(form.constant, *parts, size).bit_length() - 1

    def _counted_zeros(self, value: Value) -> int:
        """Return how many low bits of a loop's counter are 0: those of its start and of its step."""
        found = self.ranges.induction(value)
        if found is None or not isinstance(found.init, Const):
            return 0
        return math.gcd(found.init.value, found.step, 1 << value.width).bit_length() - 1

    def of(self, op: Op) -> tuple[Affine, ...]:
        """Return the forms of the subscripts of a LOAD or STORE."""
        assert op.memory is not None
        return tuple(self.form(s, index_bits(d)) for s, d in zip(op.subscripts, op.memory.dims, strict=True))

    def relation(self, a: Op, b: Op) -> Relation:
        """Compare the elements of two accesses to one memory that are both in range, at the same time."""
        if a.memory is not b.memory or _apart_by_predicate(a, b):
            return Relation.DIFFERENT
        return self.compare(self.of(a), self.of(b))

    def compare(self, a: tuple[Affine, ...], b: tuple[Affine, ...]) -> Relation:
        """Compare two elements by their forms."""
        same = True
        for x, y in zip(a, b, strict=True):
            difference = x.minus(y)
            if difference.is_constant and difference.constant == 0:
                continue
            same = False
            if not self.may_be_zero(difference):
                return Relation.DIFFERENT
        return Relation.SAME if same else Relation.UNKNOWN

    def may_be_zero(self, form: Affine) -> bool:
        """Tell whether a form can be 0 modulo its power of two."""
        if form.is_constant:
            return form.constant == 0
        gcd = math.gcd(*(f for _, f in form.terms), 1 << form.bits)
        if form.constant % gcd:
            return False
        least = most = form.constant
        for value, _ in form.terms:
            factor = form.factor(value)
            low, high = self.ranges.of(value)
            least += factor * (low if factor > 0 else high)
            most += factor * (high if factor > 0 else low)
        modulus = 1 << form.bits
        return most // modulus * modulus >= least

    def distance(self, loop: Loop, first: Op, second: Op) -> int | None:
        """Return after how many iterations (at least 1) `second` can meet the element of `first`; None: never.

        Both run in `loop`. Values that vary in another way than induction variables make it 1.
        """
        steps = {v.phi: v.step for v in inductions(loop)}
        invariant = _invariance(loop)
        moved: list[tuple[Affine, int]] = []
        for a, b in zip(self.of(first), self.of(second), strict=True):
            difference = b.minus(a)
            if any(v not in steps and not invariant(v) for v, _ in (*a.terms, *b.terms)):
                return 1
            if not difference.is_constant:
                if not self.may_be_zero(difference):
                    # A difference of invariants only holds in every iteration.
                    return None if all(v not in steps for v, _ in (*a.terms, *b.terms)) else 1
                return 1
            moved.append((difference, sum(b.factor(v) * step for v, step in steps.items())))
        for distance in range(1, _MAX_DISTANCE):
            if all((d.constant + step * distance) % (1 << d.bits) == 0 for d, step in moved):
                return distance
        return None if all(d.bits <= 11 for d, _ in moved) else _MAX_DISTANCE


def _apart_by_predicate(a: Op, b: Op) -> bool:
    """Tell whether one of the accesses only happens if a subscript differs from the other's."""
    for op in (a, b):
        if op.predicate is None:
            continue
        for x, y in zip(a.subscripts, b.subscripts, strict=True):
            if says_differ(op.predicate, x, y):
                return True
    return False


def _invariance(loop: Loop) -> _Invariance:
    return _Invariance({v for block in loop.blocks for v in (*block.phis, *block.ops)})


@dataclass(frozen=True)
class _Invariance:
    inside: set[Value]

    def __call__(self, value: Value) -> bool:
        return value not in self.inside


def index_bits(dimension: int) -> int:
    """Return how many bits a subscript of a dimension needs; at least 1."""
    return max(1, (dimension - 1).bit_length())


def surely_in_range(op: Op, ranges: Ranges) -> bool:
    """Tell whether an access is in range whenever its operands are what they are."""
    memory: Memory | None = op.memory
    assert memory is not None
    return all(ranges.of(s)[1] < d for s, d in zip(op.subscripts, memory.dims, strict=True))
