"""C objects: globals, arrays of functions and arguments, and how they fall apart into memories.

An object whose accesses all fit its type becomes one memory for each scalar leaf of its structs; array dimensions
above a leaf become
dimensions of the memory. An object that is accessed against its type (a union, a byte-wise copy) becomes one memory
of units: the greatest number of bytes that divides every access.

```
struct { short x; int y[4]; } s[8];   ->   memory s_x 16 [8],  memory s_y 32 [8][4]       (typed)
                                      ->   memory s 16 [80]                               (raw, 2-byte units)
```
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rtlagent.hls.frontend.llvm_text import Address, ArrayType, FloatType, Image, IntType, PtrType, StructType, Type
from rtlagent.hls.ir import Memory, MemoryKind, Place

TAG_BITS = 16
OFFSET_BITS = 32


@dataclass(frozen=True)
class Level:
    """An array dimension above a leaf."""

    stride: int
    """Bytes between neighbours."""
    count: int


@dataclass(frozen=True)
class Leaf:
    """A scalar within an object, once for all elements of the arrays around it."""

    offset: int
    """Sum of the struct field offsets on the way to it."""
    type: Type
    levels: tuple[Level, ...]
    """From outermost to innermost."""
    path: tuple[int, ...]
    """Field numbers on the way."""


@dataclass(eq=False)
class Object:
    """Something with an address."""

    name: str
    type: Type
    kind: MemoryKind
    number: int
    """Its tag in pointers; from 1."""
    image: Image | None = None
    place: Place | None = None
    argument: str = ""
    """The argument or global that a PARAM stands for."""
    signed: bool = False
    raw: bool = False
    flat: bool = False
    """Neighbouring dimensions are merged: pointers walk across rows."""
    unit: int = 0
    """Of a raw object: greatest common divisor of what is accessed, in bytes."""
    why_raw: str = ""
    leaves: dict[int, Leaf] = field(default_factory=dict)
    memories: dict[int, Memory] = field(default_factory=dict)
    """Leaf offset -> memory; -1 for a raw object's."""
    written: bool = False

    @property
    def size(self) -> int:
        """Bytes."""
        return self.type.size

    def make_raw(self, why: str) -> None:
        """Give up the object's type."""
        if not self.raw:
            self.raw = True
            self.why_raw = why

    def touch(self, *sizes: int) -> None:
        """Note sizes, strides or offsets that units must divide."""
        for size in sizes:
            self.unit = math.gcd(self.unit, abs(size))

    def find_leaves(self) -> None:
        """List the leaves of its type."""
        self.leaves = {leaf.offset: leaf for leaf in _leaves(self.type, 0, (), ())}

    def leaf_at(self, offset: int) -> Leaf | None:
        """Return the leaf whose first byte is at a normalised offset, with merged dimensions if the object is flat."""
        leaf = self.leaves.get(offset)
        if leaf is None or not self.flat:
            return leaf
        merged: list[Level] = []
        for level in leaf.levels:
            if merged and merged[-1].stride == level.stride * level.count:
                merged[-1] = Level(level.stride, merged[-1].count * level.count)
            else:
                merged.append(level)
        return Leaf(leaf.offset, leaf.type, tuple(merged), leaf.path)

    def levels_at(self, offset: int) -> tuple[Level, ...]:
        """Return the array dimensions around a normalised offset, which may be that of a struct or an array."""
        levels: list[Level] = []
        kind, rest = self.type, offset
        while True:
            if isinstance(kind, ArrayType):
                levels.append(Level(kind.element.size, kind.count))
                kind = kind.element
            elif isinstance(kind, StructType):
                index = _field_at(kind, rest)
                if index is None:
                    return tuple(levels)
                rest -= kind.offsets[index]
                kind = kind.fields[index]
            else:
                return tuple(levels)

    def resolve(self, offset: int) -> tuple[int, list[tuple[int, int]]] | None:
        """Split a byte offset from the object's start into a normalised offset and constant subscripts (stride, index).

        Returns None if there is padding, or if it lies outside.
        """
        kind, rest = self.type, offset
        normal, indices = 0, []
        while True:
            if isinstance(kind, ArrayType):
                size = kind.element.size
                if size == 0:
                    return None
                if rest // size:
                    indices.append((size, rest // size))
                rest %= size
                kind = kind.element
            elif isinstance(kind, StructType):
                index = _field_at(kind, rest)
                if index is None:
                    return None
                normal += kind.offsets[index]
                rest -= kind.offsets[index]
                kind = kind.fields[index]
            else:
                return (normal, indices) if rest == 0 else None

    def subtype(self, offset: int, size: int) -> Type | None:
        """Return the part of the type that begins at a normalised offset and is `size` bytes long."""
        kind, rest = self.type, offset
        while True:
            if rest == 0 and kind.size == size:
                return kind
            if isinstance(kind, ArrayType):
                element = kind.element.size
                if rest == 0 and element and size % element == 0 and size < kind.size:
                    return ArrayType(size // element, kind.element)
                kind = kind.element
            elif isinstance(kind, StructType):
                index = _field_at(kind, rest)
                if index is None:
                    return None
                rest -= kind.offsets[index]
                kind = kind.fields[index]
            else:
                return None

    def memory(self, offset: int, tags: dict[str, int]) -> Memory:
        """Return the memory of the leaf at a normalised offset (or of the whole raw object), made on first use."""
        key = -1 if self.raw else offset
        if key not in self.memories:
            self.memories[key] = self._raw_memory(tags) if self.raw else self._leaf_memory(offset, tags)
        return self.memories[key]

    def _raw_memory(self, tags: dict[str, int]) -> Memory:
        unit = self.unit or 1
        count = max(1, self.size // unit)
        init = None
        if self.image is not None:
            data = _with_pointers(self.image, tags)
            init = tuple(int.from_bytes(data[i * unit : (i + 1) * unit], "little") for i in range(count))
        return Memory(
            self.name,
            unit * 8,
            (count,),
            self.kind,
            init=init,
            place=self.place,
            argument=self.argument,
            byte_strides=(unit,) if self.kind is MemoryKind.PARAM else (),
        )

    def _leaf_memory(self, offset: int, tags: dict[str, int]) -> Memory:
        leaf = self.leaf_at(offset)
        assert leaf is not None
        width = scalar_width(leaf.type)
        suffix = "".join(f"_{k}" for k in leaf.path)
        init = None
        if self.image is not None:
            init = self._elements(leaf, width, tags)
        outside = self.kind is MemoryKind.PARAM
        return Memory(
            self.name + suffix,
            width,
            tuple(level.count for level in leaf.levels),
            self.kind,
            init=init,
            signed=self.signed,
            place=self.place,
            argument=self.argument,
            field_path=tuple(f"field {k}" for k in leaf.path),
            byte_offset=offset if outside else 0,
            byte_strides=tuple(level.stride for level in leaf.levels) if outside else (),
        )

    def _elements(self, leaf: Leaf, width: int, tags: dict[str, int]) -> tuple[int, ...]:
        assert self.image is not None
        data = _with_pointers(self.image, tags)
        places = [leaf.offset]
        for level in leaf.levels:
            places = [p + level.stride * i for p in places for i in range(level.count)]
        size = -(-width // 8)
        mask = (1 << width) - 1
        return tuple(int.from_bytes(data[p : p + size], "little") & mask for p in places)


def scalar_width(kind: Type) -> int:
    """Return the bits of a scalar as it is loaded and stored."""
    if isinstance(kind, IntType):
        return kind.width
    return kind.size * 8


def encode(address: Address, tags: dict[str, int]) -> int:
    """Return a constant pointer as a 64-bit tag and offset; null is 0."""
    tag = tags.get(address.name, 0) if address.name else 0
    return tag << OFFSET_BITS | (address.offset & ((1 << OFFSET_BITS) - 1))


def _with_pointers(image: Image, tags: dict[str, int]) -> bytes:
    data = bytearray(image.data)
    for at, address in image.pointers.items():
        data[at : at + 8] = encode(address, tags).to_bytes(8, "little")
    return bytes(data)


def _leaves(kind: Type, offset: int, levels: tuple[Level, ...], path: tuple[int, ...]) -> list[Leaf]:
    if isinstance(kind, ArrayType):
        return _leaves(kind.element, offset, (*levels, Level(kind.element.size, kind.count)), path)
    if isinstance(kind, StructType):
        found = []
        for number, (part, at) in enumerate(zip(kind.fields, kind.offsets, strict=True)):
            found += _leaves(part, offset + at, levels, (*path, number))
        return found
    if isinstance(kind, IntType | PtrType | FloatType):
        return [Leaf(offset, kind, levels, path)]
    return []


def _field_at(kind: StructType, offset: int) -> int | None:
    for number, (part, at) in enumerate(zip(kind.fields, kind.offsets, strict=True)):
        if at <= offset < at + max(part.size, 1) and part.size:
            return number
    return None
