"""Pointers while the IR is written, and accesses through them.

A pointer is a base (an object, or a tag and a byte offset where only the run decides), struct field offsets, and
array terms (stride,
subscript). An access becomes a load or store of the one memory it can reach, or a chain over all it can reach:

```
p = c ? a : b;  *p = 5;      ->      store a[...] = 5 if tag == 1;  store b[...] = 5 if tag == 2
```
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rtlagent.hls.frontend.builder import Builder
from rtlagent.hls.frontend.llvm_text import ArrayType, IntType, PtrType, StructType, Type
from rtlagent.hls.frontend.objects import OFFSET_BITS, TAG_BITS, Level, Object, scalar_width
from rtlagent.hls.frontend.points_to import Target
from rtlagent.hls.ir import Branch, Const, Opcode, Value

_STRAIGHT = 16
"""Scalars up to which a copy is written out instead of as a loop."""


@dataclass(frozen=True)
class Pointer:
    """A pointer value."""

    targets: frozenset[Target]
    base: Object | None = None
    """None: `tag` and `offset` say."""
    tag: Value | None = None
    offset: Value | None = None
    """Byte offset where the run decides; None: 0."""
    field: int = 0
    terms: tuple[tuple[int, Value], ...] = ()

    def objects(self) -> list[Object]:
        """Return what it can point to, in order of tags."""
        return sorted({thing for thing, _ in self.targets}, key=lambda o: o.number)


class Accesses:
    """Writes loads, stores and copies through pointers."""

    def __init__(self, builder: Builder, tags: dict[str, int]) -> None:
        self._b = builder
        self._tags = tags

    def tag_of(self, pointer: Pointer) -> Value:
        """Return the pointer's tag."""
        if pointer.base is not None:
            return Const(pointer.base.number, TAG_BITS)
        return pointer.tag if pointer.tag is not None else Const(0, TAG_BITS)

    def offset_of(self, pointer: Pointer) -> Value:
        """Return the pointer's byte offset within its object."""
        b = self._b
        total: Value = Const(pointer.field, OFFSET_BITS)
        for stride, index in pointer.terms:
            total = b.sum(b.scaled(b.resize(index, OFFSET_BITS, signed=True), stride), total)
        if pointer.offset is not None:
            total = b.sum(pointer.offset, total)
        return total

    def pack(self, pointer: Pointer) -> Value:
        """Return the pointer as 64 bits, as it lies in memory."""
        b = self._b
        high = b.op(Opcode.SHL, 64, [b.resize(self.tag_of(pointer), 64), Const(OFFSET_BITS, 6)])
        return b.op(Opcode.OR, 64, [high, b.resize(self.offset_of(pointer), 64)])

    def unpack(self, value: Value, targets: frozenset[Target]) -> Pointer:
        """Return 64 bits from memory as a pointer."""
        b = self._b
        high = b.op(Opcode.LSHR, 64, [value, Const(OFFSET_BITS, 6)])
        return Pointer(targets, None, b.resize(high, TAG_BITS), b.resize(value, OFFSET_BITS))

    def load(self, pointer: Pointer, kind: Type, name: str = "") -> Value:
        """Load a scalar."""
        things = pointer.objects()
        width = scalar_width(kind)
        result: Value | None = None
        for thing in things:
            here = None if len(things) == 1 else self._is(pointer, thing)
            part = self._load_from(pointer, thing, kind, here, name)
            result = part if result is None or here is None else self._b.op(Opcode.SELECT, width, [here, part, result])
        assert result is not None
        return result

    def store(self, pointer: Pointer, kind: Type, data: Value) -> None:
        """Store a scalar."""
        things = pointer.objects()
        for thing in things:
            here = None if len(things) == 1 else self._is(pointer, thing)
            self._store_to(pointer, thing, kind, data, here)

    def _is(self, pointer: Pointer, thing: Object) -> Value:
        return self._b.op(Opcode.EQ, 1, [self.tag_of(pointer), Const(thing.number, TAG_BITS)])

    def _load_from(self, pointer: Pointer, thing: Object, kind: Type, here: Value | None, name: str) -> Value:
        b = self._b
        if not thing.raw:
            offset = self._leaf_offset(pointer, thing)
            memory = thing.memory(offset, self._tags)
            return b.load(memory, self._subscripts(pointer, thing, offset), here, name)
        memory = thing.memory(-1, self._tags)
        width = scalar_width(kind)
        pieces = -(-width // memory.width)
        first = self._unit_index(pointer, thing)
        whole: Value = Const(0, pieces * memory.width)
        for k in range(pieces):
            part = b.load(memory, [b.sum(first, Const(k, OFFSET_BITS))], here, name if pieces == 1 else "")
            wide = b.resize(part, pieces * memory.width)
            moved = b.op(Opcode.SHL, wide.width, [wide, Const(k * memory.width, 16)])
            whole = b.op(Opcode.OR, wide.width, [moved, whole])
        return b.resize(whole, width)

    def _store_to(self, pointer: Pointer, thing: Object, kind: Type, data: Value, here: Value | None) -> None:
        b = self._b
        thing.written = True
        if not thing.raw:
            offset = self._leaf_offset(pointer, thing)
            b.store(thing.memory(offset, self._tags), data, self._subscripts(pointer, thing, offset), here)
            return
        memory = thing.memory(-1, self._tags)
        pieces = -(-scalar_width(kind) // memory.width)
        wide = b.resize(data, pieces * memory.width)
        first = self._unit_index(pointer, thing)
        for k in range(pieces):
            moved = b.op(Opcode.LSHR, wide.width, [wide, Const(k * memory.width, 16)])
            b.store(memory, b.resize(moved, memory.width), [b.sum(first, Const(k, OFFSET_BITS))], here)

    def _leaf_offset(self, pointer: Pointer, thing: Object) -> int:
        return next(offset for t, offset in pointer.targets if t is thing)

    def _unit_index(self, pointer: Pointer, thing: Object) -> Value:
        b = self._b
        unit = thing.unit or 1
        total: Value = Const(pointer.field // unit, OFFSET_BITS)
        for stride, index in pointer.terms:
            total = b.sum(b.scaled(b.resize(index, OFFSET_BITS, signed=True), stride // unit), total)
        if pointer.offset is not None:
            total = b.sum(b.divided(pointer.offset, unit), total)
        return total

    def _subscripts(self, pointer: Pointer, thing: Object, offset: int) -> list[Value]:
        leaf = thing.leaf_at(offset)
        assert leaf is not None
        if not leaf.levels:
            return []
        if pointer.offset is not None:
            return self._divided_subscripts(pointer, leaf.offset, leaf.levels)
        b = self._b
        subscripts: list[Value] = [Const(0, OFFSET_BITS) for _ in leaf.levels]
        for stride, index in pointer.terms:
            level = _level_of(stride, leaf.levels)
            scaled = b.scaled(b.resize(index, OFFSET_BITS, signed=True), stride // leaf.levels[level].stride)
            subscripts[level] = b.sum(scaled, subscripts[level])
        return subscripts

    def _divided_subscripts(self, pointer: Pointer, leaf_offset: int, levels: tuple[Level, ...]) -> list[Value]:
        b = self._b
        rest = self.offset_of(pointer)
        if leaf_offset and any(level.stride & (level.stride - 1) for level in levels):
            rest = b.op(Opcode.SUB, OFFSET_BITS, [rest, Const(leaf_offset, OFFSET_BITS)])
            leaf_offset = 0
        subscripts = []
        for number, level in enumerate(levels):
            subscripts.append(b.divided(rest, level.stride))
            if number + 1 < len(levels):
                rest = b.remainder(rest, level.stride)
        return subscripts

    def moved(self, pointer: Pointer, by: int) -> Pointer:
        """Return the pointer moved by constant bytes, with its targets."""
        if by == 0:
            return pointer
        targets = set()
        terms: tuple[tuple[int, Value], ...] = ()
        extra = by
        for thing, offset in pointer.targets:
            found = thing.resolve(offset + by) if offset >= 0 else None
            targets.add((thing, found[0] if found else -1))
            if found and not thing.raw and len(pointer.objects()) == 1:
                terms = tuple((stride, Const(index, OFFSET_BITS)) for stride, index in found[1])
                extra = by - sum(stride * index for stride, index in found[1])
        return replace(pointer, targets=frozenset(targets), field=pointer.field + extra, terms=(*pointer.terms, *terms))

    def walked(self, pointer: Pointer, stride: int, index: Value) -> Pointer:
        """Return the pointer moved by `index` array elements of `stride` bytes."""
        return replace(pointer, terms=(*pointer.terms, (stride, index)))

    def copy(self, target: Pointer, source: Pointer, kind: Type) -> None:
        """Copy a value of a type, scalar by scalar."""
        self._each(kind, [target, source], lambda part, at: self.store(at[0], part, self.load(at[1], part)))

    def fill(self, target: Pointer, kind: Type, byte: Value) -> None:
        """Set every byte of a value of a type."""

        def one(part: Type, at: list[Pointer]) -> None:
            width = scalar_width(part)
            self.store(at[0], part, self._replicated(byte, width))

        self._each(kind, [target], one)

    def _replicated(self, byte: Value, width: int) -> Value:
        b = self._b
        if isinstance(byte, Const):
            return Const(int.from_bytes(bytes([byte.value & 255]) * (-(-width // 8)), "little"), width)
        size = max(8, width)
        result = b.resize(byte, size)
        have = 8
        while have < size:
            result = b.op(Opcode.OR, size, [b.op(Opcode.SHL, size, [result, Const(have, 16)]), result])
            have *= 2
        return b.resize(result, width)

    def _each(self, kind: Type, at: list[Pointer], act) -> None:  # type: ignore[no-untyped-def]
        if isinstance(kind, IntType | PtrType) or not isinstance(kind, ArrayType | StructType):
            act(kind, at)
        elif isinstance(kind, StructType):
            for part, offset in zip(kind.fields, kind.offsets, strict=True):
                if part.size:
                    self._each(part, [self.moved(p, offset) for p in at], act)
        elif _scalars(kind) <= _STRAIGHT:
            for index in range(kind.count):
                stride = kind.element.size
                self._each(kind.element, [self.walked(p, stride, Const(index, OFFSET_BITS)) for p in at], act)
        else:
            self.loop(
                kind.count, lambda i: self._each(kind.element, [self.walked(p, kind.element.size, i) for p in at], act)
            )

    def loop(self, count: int | Value, body) -> None:  # type: ignore[no-untyped-def]
        """Write a loop that runs `body(index)` for 0 to count - 1."""
        b = self._b
        bound = Const(count, OFFSET_BITS) if isinstance(count, int) else count
        before = b.block
        head, inner, after = b.new_block("copy"), b.new_block("copy_body"), b.new_block("copied")
        from rtlagent.hls.frontend.builder import phi_of
        from rtlagent.hls.ir import LoopDirectives

        line = b.place.line if b.place else 0
        head.directives = LoopDirectives(label=f"copy_{line}", place=b.place)
        b.jump(head)
        index = phi_of(head, OFFSET_BITS, "i")
        more = b.op(Opcode.ULT, 1, [index, bound])
        head.terminator = Branch(more, inner, after)
        b.enter(inner)
        body(index)
        following = b.sum(index, Const(1, OFFSET_BITS))
        last = b.block
        b.jump(head)
        index.incoming = {before: Const(0, OFFSET_BITS), last: following}
        b.enter(after)


def _level_of(stride: int, levels: tuple[Level, ...]) -> int:
    for number, level in enumerate(levels):
        if level.stride == stride:
            return number
    for number, level in enumerate(levels):
        if level.stride and stride % level.stride == 0:
            return number
    return len(levels) - 1


def _scalars(kind: Type) -> int:
    if isinstance(kind, ArrayType):
        return kind.count * _scalars(kind.element)
    if isinstance(kind, StructType):
        return sum(_scalars(f) for f in kind.fields)
    return 1
