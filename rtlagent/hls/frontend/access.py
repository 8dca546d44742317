"""Loads and stores through pointers, as accesses of memories.

An access becomes one load or store of the memory that it can reach; several, where it covers several scalars; and one
after the other with predicates, where it can reach several objects:

```
p = c ? a : b;  *p = 5;      ->      store a[...] = 5 if object == 1;  store b[...] = 5 if object == 2
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rtlagent.hls.frontend.builder import Builder
from rtlagent.hls.frontend.layout import Piece, Spot, pieces
from rtlagent.hls.frontend.objects import Object, leaf_of, make_memory
from rtlagent.hls.frontend.pointers import Form, Numbering, Pointer, Pointers, form_of
from rtlagent.hls.frontend.points_to import PointsTo
from rtlagent.hls.frontend.reach import Reach, join
from rtlagent.hls.ir import Const, Memory, Opcode, Value

FieldNames = Callable[[Object, int], tuple[str, ...]]
"""(object, key of a scalar) -> C names of the fields that lead there."""


@dataclass
class Memories:
    """The memories of all objects, made when they are first accessed."""

    points_to: PointsTo
    numbering: Numbering
    field_names: FieldNames
    taken: set[str] = field(default_factory=set)
    _forms: dict[tuple[Object, int], tuple[Form, Mapping[Object, Reach]]] = field(default_factory=dict)

    def form(self, thing: Object, key: int) -> Form:
        """Return how pointers are held in a scalar of an object."""
        if (thing, key) not in self._forms:
            leaf = leaf_of(thing, key)
            place = Reach(key)
            for stride, count in zip(leaf.strides, leaf.counts, strict=True):
                place = join(place, Reach(key + stride)) if count > 1 else place
            held: dict[Object, Reach] = {}
            for content in self.points_to.contents.get(thing, ()):
                if place.distance(content.region) == 0:
                    for target, reach in content.holds.items():
                        held[target] = join(held[target], reach) if target in held else reach
            self._forms[thing, key] = form_of(held), held
        return self._forms[thing, key][0]

    def held(self, thing: Object, key: int) -> Mapping[Object, Reach]:
        """Return what pointers in a scalar of an object can point to."""
        self.form(thing, key)
        return self._forms[thing, key][1]

    def of(self, thing: Object, spot: Spot) -> Memory:
        """Return the memory of a scalar."""
        known = thing.memories.get(spot.key)
        if known is None:
            scalar, key = spot.scalar, spot.key
            form = self.form(thing, key) if scalar.is_pointer else Form(None, 0, 1)
            width = self.numbering.stored_width(form) if scalar.is_pointer else scalar.bits
            path = self.field_names(thing, key)
            known = thing.memories[key] = make_memory(
                thing,
                key,
                name=self.unique("_".join((thing.name, *path))),
                width=width,
                encode=lambda address: self.numbering.encode(address, form),
                path=path,
            )
        return known

    def unique(self, wish: str) -> str:
        """Return a name that no other memory has."""
        name, number = wish, 2
        while name in self.taken:
            name = f"{wish}_{number}"
            number += 1
        self.taken.add(name)
        return name


class Accesses:
    """Writes loads and stores."""

    def __init__(self, builder: Builder, memories: Memories) -> None:
        self._b = builder
        self._memories = memories
        self.pointers = Pointers(builder, memories.numbering)

    # --- integers

    def load(self, pointer: Pointer, bits: int, name: str = "") -> Value:
        """Load an integer."""
        result: Value | None = None
        for thing, here in self._choices(pointer):
            part = self._load(pointer, thing, bits, here, name)
            result = part if result is None or here is None else self._b.op(Opcode.SELECT, bits, [here, part, result])
        assert result is not None
        return result

    def store(self, pointer: Pointer, data: Value) -> None:
        """Store an integer."""
        for thing, here in self._choices(pointer):
            self._store(pointer, thing, data, here)

    def _choices(self, pointer: Pointer) -> list[tuple[Object, Value | None]]:
        """Return the objects that a pointer can reach, each with the condition that it is that one."""
        objects = pointer.objects
        if len(objects) == 1:
            return [(objects[0], None)]
        return [(thing, self.pointers.same(pointer, thing)) for thing in objects]

    def _pieces(self, pointer: Pointer, thing: Object, size: int) -> list[Piece]:
        return list(pieces(thing.tree, pointer.targets[thing], size))

    def _load(self, pointer: Pointer, thing: Object, bits: int, here: Value | None, name: str) -> Value:
        b = self._b
        parts = self._pieces(pointer, thing, -(-bits // 8))
        if len(parts) == 1 and parts[0].spot is not None and not parts[0].spot.within:
            return b.resize(self._read(pointer, thing, parts[0].spot, here, name), bits)
        width = max(bits, *(8 * (p.at + p.size) for p in parts))
        whole: Value = Const(0, width)
        for part in parts:
            if part.spot is None:
                continue
            value = self._read(pointer, thing, part.spot, here, "")
            if part.spot.within:
                value = b.op(Opcode.LSHR, value.width, [value, Const(8 * part.spot.within, 16)])
            value = b.resize(b.resize(value, min(value.width, 8 * part.size)), width)
            moved = b.op(Opcode.SHL, width, [value, Const(8 * part.at, 16)])
            whole = b.op(Opcode.OR, width, [moved, whole])
        return b.resize(whole, bits)

    def _read(self, pointer: Pointer, thing: Object, spot: Spot, here: Value | None, name: str) -> Value:
        """Load a scalar as an integer."""
        memory = self._memories.of(thing, spot)
        loaded = self._b.load(memory, self._subscripts(pointer, thing, spot), here, name)
        if not spot.scalar.is_pointer:
            return loaded
        form = self._memories.form(thing, spot.key)
        return self.pointers.as_integer(self.pointers.unpacked(loaded, form, self._memories.held(thing, spot.key)))

    def _store(self, pointer: Pointer, thing: Object, data: Value, here: Value | None) -> None:
        b = self._b
        parts = self._pieces(pointer, thing, -(-data.width // 8))
        for part in parts:
            if part.spot is None:
                continue
            value = data
            if part.at:
                value = b.op(Opcode.LSHR, data.width, [data, Const(8 * part.at, 16)])
            self._write(pointer, thing, part, value, here)

    def _write(self, pointer: Pointer, thing: Object, part: Piece, value: Value, here: Value | None) -> None:
        """Store the low bytes of a value into a scalar or a part of it."""
        b, spot = self._b, part.spot
        assert spot is not None
        memory = self._memories.of(thing, spot)
        subscripts = self._subscripts(pointer, thing, spot)
        if spot.scalar.is_pointer:
            held = self._memories.held(thing, spot.key)
            form = self._memories.form(thing, spot.key)
            if part.size == spot.scalar.size:
                made = self.pointers.from_integer(b.resize(value, 64), held)
                b.store(memory, b.resize(self.pointers.packed(made, form), memory.width), subscripts, here)
                return
            old = self._read(pointer, thing, spot, here, "")
            merged = self._merged(old, value, part)
            made = self.pointers.from_integer(merged, held)
            b.store(memory, b.resize(self.pointers.packed(made, form), memory.width), subscripts, here)
            return
        if part.size < spot.scalar.size:
            value = self._merged(b.load(memory, subscripts, here), value, part)
        b.store(memory, b.resize(value, memory.width), subscripts, here)

    def _merged(self, old: Value, value: Value, part: Piece) -> Value:
        """Return `old` with some bytes replaced."""
        b, width = self._b, old.width
        assert part.spot is not None
        low = 8 * part.spot.within
        mask = ((1 << 8 * part.size) - 1) << low
        kept = b.op(Opcode.AND, width, [old, Const(~mask, width)])
        wide = b.resize(b.resize(value, min(value.width, 8 * part.size)), width)
        return b.op(Opcode.OR, width, [kept, b.op(Opcode.SHL, width, [wide, Const(low, 16)])])

    # --- pointers

    def load_pointer(self, pointer: Pointer, targets: Mapping[Object, Reach]) -> Pointer:
        """Load a pointer that can have some targets."""
        form = form_of(targets)
        if form.thing is not None and not form.unit:
            return Pointer(targets, form, origin=targets)
        choices = self._choices(pointer)
        if len(choices) == 1:
            spot = self._pointer_spot(pointer, choices[0][0])
            if spot is not None:
                loaded = self._b.load(
                    self._memories.of(choices[0][0], spot), self._subscripts(pointer, choices[0][0], spot)
                )
                return self.pointers.unpacked(loaded, self._memories.form(choices[0][0], spot.key), targets)
        result: Value | None = None
        for thing, here in choices:
            part = self._load_form(pointer, thing, targets, form, here)
            result = (
                part if result is None or here is None else self._b.op(Opcode.SELECT, part.width, [here, part, result])
            )
        assert result is not None
        return self.pointers.unpacked(result, form, targets)

    def _pointer_spot(self, pointer: Pointer, thing: Object) -> Spot | None:
        """Return the scalar where a pointer lies; None if it lies in pieces or as an integer."""
        parts = self._pieces(pointer, thing, 8)
        spot = parts[0].spot
        return spot if len(parts) == 1 and spot is not None and spot.scalar.is_pointer else None

    def _load_form(
        self, pointer: Pointer, thing: Object, targets: Mapping[Object, Reach], form: Form, here: Value | None
    ) -> Value:
        spot = self._pointer_spot(pointer, thing)
        if spot is None:
            whole = self._load(pointer, thing, 64, here, "")
            return self.pointers.packed(self.pointers.from_integer(whole, targets), form)
        loaded = self._b.load(self._memories.of(thing, spot), self._subscripts(pointer, thing, spot), here)
        found = self.pointers.unpacked(
            loaded, self._memories.form(thing, spot.key), self._memories.held(thing, spot.key)
        )
        return self.pointers.packed(found, form)

    def store_pointer(self, pointer: Pointer, data: Pointer) -> None:
        """Store a pointer."""
        b = self._b
        for thing, here in self._choices(pointer):
            spot = self._pointer_spot(pointer, thing)
            if spot is None:
                self._store(pointer, thing, self.pointers.as_integer(data), here)
                continue
            memory = self._memories.of(thing, spot)
            value = b.resize(self.pointers.packed(data, self._memories.form(thing, spot.key)), memory.width)
            b.store(memory, value, self._subscripts(pointer, thing, spot), here)

    # --- subscripts

    def _subscripts(self, pointer: Pointer, thing: Object, spot: Spot) -> list[Value]:
        """Return one subscript for each dimension of a scalar's memory."""
        levels = spot.levels
        if not levels:
            return [Const(0, 1)]
        given: list[list[tuple[int, Value]]] = [[] for _ in levels]
        for stride, index in self._terms(pointer, thing):
            number = next((n for n, level in enumerate(levels) if stride % level.stride == 0), None)
            if number is not None:
                given[number].append((stride // levels[number].stride, index))
        return [self._sum(level.index, parts) for level, parts in zip(levels, given, strict=True)]

    def _terms(self, pointer: Pointer, thing: Object) -> Sequence[tuple[int, Value]]:
        """Return what is added to the constant part of the offset."""
        origin = pointer.origin.get(thing)
        if origin is None or pointer.held is None or not origin.unit:
            return pointer.terms
        base = Pointer(pointer.origin, pointer.form, pointer.held, origin=pointer.origin)
        return [(origin.unit, self.pointers.offset(base, thing, origin.unit, base=origin.start)), *pointer.terms]

    def _sum(self, constant: int, parts: list[tuple[int, Value]]) -> Value:
        b = self._b
        if len(parts) == 1 and not constant and parts[0][0] == 1:
            return self.pointers.subscript(parts[0][1])
        total: Value = Const(0, 32)
        for factor, index in parts:
            total = b.sum(total, b.scaled(self.pointers.index(index, 32), factor))
        return b.sum(total, Const(constant, 32))
