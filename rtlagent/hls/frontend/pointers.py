"""Pointers while the IR is written, and their forms where the run decides them.

A pointer to a known object is a byte offset: a constant, an index times a unit, and further subscripts. Where only
the run knows, it takes one of three forms:

- `Form(thing, start)`: one object, one place: nothing to store.
- `Form(thing, start, unit)`: one object: an index; the byte offset is start + unit * index.
- `Form(None, 0, unit)`: one of several objects, or null: the object's number above `shift` bits of offset / unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rtlagent.hls.frontend.builder import Builder
from rtlagent.hls.frontend.llvm_text import Address
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.reach import Reach
from rtlagent.hls.ir import Const, Op, Opcode, Value

INDEX_BITS = 32
BYTES = 64
"""Bits of a pointer as an integer."""


@dataclass(frozen=True)
class Form:
    """How a pointer is held at run time."""

    thing: Object | None
    start: int = 0
    unit: int = 0


def form_of(targets: Mapping[Object, Reach]) -> Form:
    """Return the form for a set of targets."""
    if len(targets) == 1 and next(iter(targets)).is_place:
        thing, reach = next(iter(targets.items()))
        return Form(thing, reach.start, reach.unit)
    return Form(None, 0, math.gcd(*(math.gcd(r.start, r.unit) for r in targets.values())))


@dataclass(frozen=True)
class Pointer:
    """A pointer value."""

    targets: Mapping[Object, Reach]
    form: Form
    held: Value | None = None
    """In that form; None: a constant of it."""
    moved: int = 0
    """Constant bytes added since."""
    terms: tuple[tuple[int, Value], ...] = ()
    """(bytes, subscript) added since."""
    origin: Mapping[Object, Reach] = field(default_factory=dict)
    """Targets before anything was added."""

    @property
    def objects(self) -> list[Object]:
        """What it can be dereferenced to, in order of numbers."""
        return sorted((t for t in self.targets if t.is_place), key=lambda t: t.number)

    def plus(self, targets: Mapping[Object, Reach], moved: int, terms: tuple[tuple[int, Value], ...]) -> Pointer:
        """Return the pointer after more was added."""
        return replace(self, targets=targets, moved=self.moved + moved, terms=(*self.terms, *terms))


@dataclass(frozen=True)
class Address64:
    """The integer that a pointer was cast to."""

    pointer: Pointer


@dataclass(frozen=True)
class Difference:
    """One pointer minus another, in bytes."""

    first: Pointer
    second: Pointer


@dataclass(frozen=True)
class Numbering:
    """How pointers to one of several objects are numbers."""

    numbers: Mapping[str, int]
    """Global name -> number of its object."""
    shift: int
    """Bits of an offset."""
    tag_bits: int

    @property
    def full_bits(self) -> int:
        """Bits of a pointer to one of several objects."""
        return self.shift + self.tag_bits

    def stored_width(self, form: Form) -> int:
        """Return the bits of a form in a memory."""
        if form.thing is None:
            return self.full_bits
        if not form.unit:
            return 1
        return min(INDEX_BITS, (form.thing.size // form.unit + 1).bit_length() + 1)

    def encode(self, address: Address, form: Form) -> int:
        """Return a constant pointer in a form."""
        if form.thing is not None:
            return (address.offset - form.start) // form.unit if form.unit and address.name else 0
        number = self.numbers.get(address.name, 0) if address.name else 0
        return (number << self.shift) + (address.offset // form.unit if form.unit else 0)


class Pointers:
    """Converts pointers between their forms."""

    def __init__(self, builder: Builder, numbering: Numbering) -> None:
        self._b = builder
        self.shift = numbering.shift
        self.full_bits = numbering.full_bits

    def width(self, form: Form) -> int:
        """Return the bits of a form while it is computed with."""
        return self.full_bits if form.thing is None else INDEX_BITS

    def offset(self, pointer: Pointer, thing: Object, unit: int, width: int = INDEX_BITS, base: int = 0) -> Value:
        """Return (the byte offset within `thing` - base) / unit, given that it is a whole number."""
        b = self._b
        total: Value = Const(0, width)
        constant = pointer.moved - base
        form = pointer.form
        if form.thing is not None:
            constant += form.start
            if pointer.held is not None:
                total, constant = self._indexed(pointer.held, form, unit, constant, width)
        elif pointer.held is not None and form.unit:
            total, begin = self._low(pointer, thing, unit, width)
            constant += begin
        for stride, index in pointer.terms:
            total = b.sum(total, b.scaled(self.index(index, width), stride // unit))
        return b.sum(total, Const(constant // unit, width))

    def _indexed(self, held: Value, form: Form, unit: int, constant: int, width: int) -> tuple[Value, int]:
        """Return unit-sized steps of an index, and the constant bytes that are left."""
        b = self._b
        index = b.resize(held, width, signed=True)
        if form.unit % unit == 0:
            return b.scaled(index, form.unit // unit), constant
        grain = math.gcd(form.unit, unit, constant)
        total = b.sum(b.scaled(index, form.unit // grain), Const(constant // grain, width))
        return b.divided(total, unit // grain), 0

    def _low(self, pointer: Pointer, thing: Object, unit: int, width: int) -> tuple[Value, int]:
        """Return the offset of a pointer to one of several objects, over `unit`, and constant bytes to add."""
        b, held_unit = self._b, pointer.form.unit
        assert pointer.held is not None
        low = b.resize(pointer.held, self.shift)
        if held_unit % unit == 0:
            return b.scaled(b.resize(low, width), held_unit // unit), 0
        reach = pointer.origin[thing]
        if not reach.unit:
            return Const(0, width), reach.start
        if reach.start:
            low = b.op(Opcode.SUB, self.shift, [low, Const(reach.start // held_unit, self.shift)])
        index = b.resize(b.divided(low, reach.unit // held_unit), width)
        return b.scaled(index, reach.unit // unit), reach.start

    def index(self, value: Value, width: int) -> Value:
        """Return a subscript as `width` bits; a cast that only made it wider is undone."""
        while isinstance(value, Op) and value.opcode in (Opcode.SEXT, Opcode.ZEXT) and value.width >= width:
            inner = value.args[0]
            if inner.width < width:
                return self._b.resize(inner, width, signed=value.opcode is Opcode.SEXT)
            value = inner
        return self._b.resize(value, width, signed=True)

    def subscript(self, value: Value) -> Value:
        """Return a subscript without casts that only made it wider: it is in range."""
        while isinstance(value, Op) and value.opcode in (Opcode.SEXT, Opcode.ZEXT):
            value = value.args[0]
        return value

    def packed(self, pointer: Pointer, form: Form) -> Value:
        """Return a pointer in a form."""
        if form.thing is not None:
            if not form.unit:
                return Const(0, INDEX_BITS)
            return self.offset(pointer, form.thing, form.unit, base=form.start)
        return self._full(pointer, form.unit)

    def _full(self, pointer: Pointer, unit: int) -> Value:
        b, width = self._b, self.full_bits
        own = pointer.form
        if own.thing is not None:
            base = Const(own.thing.number << self.shift, width)
            return b.sum(self.offset(pointer, own.thing, unit, width), base) if unit else base
        held = pointer.held if pointer.held is not None else Const(0, width)
        exact = not unit or own.unit % unit == 0
        if exact and (own.unit in (0, unit) or not unit):
            return self._moved(pointer, held, unit)
        low = b.resize(b.resize(held, self.shift), width)
        high = b.op(Opcode.SUB, width, [held, low])
        if exact:
            return self._moved(pointer, b.sum(high, b.scaled(low, own.unit // unit)), unit)
        bytes_ = self._moved(pointer, b.scaled(low, own.unit), 1)
        return b.sum(high, b.divided(bytes_, unit))

    def _moved(self, pointer: Pointer, held: Value, unit: int) -> Value:
        b = self._b
        if not unit:
            return held
        for stride, index in pointer.terms:
            held = b.sum(held, b.scaled(self.index(index, held.width), stride // unit))
        return b.sum(held, Const(pointer.moved // unit, held.width))

    def as_integer(self, pointer: Pointer) -> Value:
        """Return a pointer as a 64-bit integer: the object's number and the offset in bytes."""
        return self._b.resize(self._full(pointer, 1), BYTES)

    def from_integer(self, value: Value, targets: Mapping[Object, Reach]) -> Pointer:
        """Return a pointer that an integer was cast to."""
        held = self._b.resize(value, self.full_bits)
        return Pointer(targets, Form(None, 0, 1), held, origin=targets)

    def unpacked(self, value: Value | None, form: Form, targets: Mapping[Object, Reach]) -> Pointer:
        """Return a pointer that is held in a form."""
        if value is not None:
            value = self._b.resize(value, self.width(form), signed=form.thing is not None)
        return Pointer(targets, form, value if form.unit or form.thing is None else None, origin=targets)

    def same(self, pointer: Pointer, thing: Object) -> Value:
        """Tell whether a pointer is to an object."""
        b, form = self._b, pointer.form
        if form.thing is not None or pointer.held is None:
            return Const(int(form.thing is thing), 1)
        tag = b.op(Opcode.LSHR, self.full_bits, [pointer.held, Const(self.shift, 8)])
        return b.op(Opcode.EQ, 1, [tag, Const(thing.number, self.full_bits)])

    def compared(self, opcode: Opcode, first: Pointer, second: Pointer) -> Value:
        """Return the comparison of two pointers; EQ, NE or unsigned."""
        b = self._b
        objects = {*first.targets, *second.targets}
        unit = math.gcd(_grain(first), _grain(second)) or 1
        if len(objects) == 1 and next(iter(objects)).is_place:
            thing = next(iter(objects))
            signed = {Opcode.ULT: Opcode.SLT, Opcode.ULE: Opcode.SLE}.get(opcode, opcode)
            sides: list[Value] = [self.offset(p, thing, unit) for p in (first, second)]
            return b.op(signed, 1, sides)
        apart = first.targets and second.targets and not set(first.targets) & set(second.targets)
        if apart and opcode in (Opcode.EQ, Opcode.NE):
            return Const(int(opcode is Opcode.NE), 1)
        return b.op(opcode, 1, [self._full(p, unit) for p in (first, second)])

    def difference(self, difference: Difference, divisor: int = 1) -> Value | None:
        """Return (first - second) / divisor as 64 bits; None if that has to be computed with addresses."""
        b = self._b
        first, second = difference.first, difference.second
        objects = {*first.targets, *second.targets}
        if len(objects) != 1 or not next(iter(objects)).is_place:
            return None
        thing = next(iter(objects))
        a, z = first.targets[thing], second.targets[thing]
        unit = math.gcd(a.unit, z.unit, a.start - z.start)
        if unit % divisor:
            return None
        step = unit or divisor
        apart = b.op(Opcode.SUB, INDEX_BITS, [self.offset(p, thing, step, base=z.start) for p in (first, second)])
        return b.scaled(b.resize(apart, BYTES, signed=True), step // divisor)


def _grain(pointer: Pointer) -> int:
    """Return what all parts of a pointer's offset are a multiple of."""
    form = pointer.form
    return math.gcd(form.start, form.unit, pointer.moved, *(stride for stride, _ in pointer.terms))
