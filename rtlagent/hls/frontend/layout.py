"""How an object's bytes fall into scalars: a tree that follows its C type, changed where accesses do not follow it.

Each access is followed down the tree. Where that fails, the tree is changed and all accesses are tried again:

```
int m[4][6];  p = &m[0][0];  p[i]              [4 x [6 x 32 bits]]    ->  [24 x 32 bits]
union { unsigned w; unsigned char b[4]; } u;
u.b[i]                                          {32 bits}              ->  {[4 x 8 bits]}
```

A constant place within a scalar (`u.b[2]`) and an access of several scalars at once need no change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rtlagent.hls.frontend.llvm_text import ArrayType, IntType, PtrType, StructType, Type
from rtlagent.hls.frontend.reach import Kind, Reach, Stride


@dataclass(frozen=True)
class Scalar:
    """Something that is loaded and stored as one value."""

    size: int
    bits: int
    is_pointer: bool = False


@dataclass(frozen=True)
class Array:
    """`count` equal elements, one after the other."""

    count: int
    element: Node

    @property
    def size(self) -> int:
        """Bytes."""
        return self.count * self.element.size


@dataclass(frozen=True)
class Record:
    """Fields at offsets; bytes between them are padding."""

    fields: tuple[tuple[int, Node], ...]
    size: int
    is_union: bool = False
    """Its padding can be part of another member."""


Node = Scalar | Array | Record


@dataclass(frozen=True)
class Level:
    """An array dimension on the way to a scalar."""

    stride: int
    count: int
    index: int
    """The constant part of the subscript."""


@dataclass(frozen=True)
class Spot:
    """The scalar in which a byte lies."""

    scalar: Scalar
    key: int
    """Sum of the field offsets on the way: names the scalar within the object."""
    within: int
    """Bytes from the scalar's first."""
    levels: tuple[Level, ...]
    """Those of more than one element, from outermost to innermost."""


@dataclass(frozen=True)
class Padding:
    """Bytes that no field has."""

    size: int
    """To the next field or the end."""


@dataclass
class Conflict(Exception):
    """An access does not follow the tree: what has to change."""

    path: tuple[int, ...]
    """Field numbers (arrays: 0) from the root to the node."""
    unit: int
    """0: merge the array with the array in it; else: make the node an array of integers of so many bytes."""


def node_of(kind: Type) -> Node:
    """Return the tree of an LLVM type."""
    if isinstance(kind, ArrayType):
        return Array(kind.count, node_of(kind.element))
    if isinstance(kind, StructType):
        parts = zip(kind.offsets, kind.fields, strict=True)
        return Record(tuple((at, node_of(part)) for at, part in parts if part.size), kind.size, kind.is_union)
    if isinstance(kind, IntType):
        return Scalar(kind.size, kind.width if kind.size <= 8 else kind.size * 8)
    return Scalar(kind.size, kind.size * 8, isinstance(kind, PtrType))


@dataclass
class _Descent:
    """One walk from the root to a byte."""

    reach: Reach
    path: list[int] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """Of the nodes on the path, the root first."""
    key: int = 0

    def locate(self, root: Node) -> Spot | Padding:
        node, at, strides = root, self.reach.start, list(self.reach.strides)
        above: Array | None = None
        in_union = False
        while True:
            self.sizes.append(node.size)
            if isinstance(node, Array):
                at, strides = self._enter_array(node, above, at, strides)
                above, node = node, node.element
                self.path.append(0)
            elif isinstance(node, Record):
                in_union = in_union or node.is_union
                number = _field_at(node, at)
                if number is None:
                    return self._padding(node, at, strides, in_union)
                offset, part = node.fields[number]
                if any(s.extent > part.size or s.bytes > part.size for s in strides):
                    raise self._raw(strides)
                self.key += offset
                at -= offset
                above, node = None, part
                self.path.append(number)
            else:
                if strides:
                    raise self._raw(strides)
                if not 0 <= at < node.size:
                    return Padding(1)
                return Spot(node, self.key, at, tuple(self.levels))

    def _enter_array(
        self, node: Array, above: Array | None, at: int, strides: list[Stride]
    ) -> tuple[int, list[Stride]]:
        size = node.element.size
        here = [s for s in strides if s.bytes % size == 0]
        inner = [s for s in strides if s.bytes % size]
        index, rest = at // size, at % size
        if any(s.bytes > size for s in inner):
            raise self._raw(strides)
        outer_counts = above is not None and above.count > 1
        if outer_counts and any(s.kind is Kind.AGAIN or (s.kind is Kind.WALK and index) for s in here):
            raise Conflict(tuple(self.path[:-1]), 0)
        if node.count > 1:
            # A pointer into a field stays in the field, any other may go on into the next element.
            free = self.reach.limit == 0 or self.reach.limit > size
            leads_out = any(
                s.kind is Kind.DYNAMIC or (s.kind is Kind.WALK and free) or (s.extent and rest + s.extent > size)
                for s in inner
            )
            if leads_out:
                if isinstance(node.element, Array):
                    raise Conflict(tuple(self.path), 0)
                raise Conflict(tuple(self.path), _unit(inner, size, rest))
            self.levels.append(Level(size, node.count, index))
        return rest, inner

    def _padding(self, node: Record, at: int, strides: list[Stride], in_union: bool) -> Padding:
        if in_union or strides:
            raise self._raw(strides)
        later = [offset for offset, _ in node.fields if offset > at]
        return Padding(max(1, min([*later, node.size]) - at))

    def _raw(self, strides: list[Stride]) -> Conflict:
        """Say which node must become an array of units: the smallest that all of the walk stays in."""
        extent = max((s.extent for s in strides), default=0)
        if any(s.extent == 0 for s in strides):
            extent = self.reach.limit or self.sizes[0]
        depth = next((d for d in range(len(self.sizes) - 1, 0, -1) if self.sizes[d] >= extent and d), 0)
        if not strides:
            depth = max(0, len(self.sizes) - 1)
        return Conflict(tuple(self.path[:depth]), _unit(strides, self.sizes[depth], 0))


def _unit(strides: list[Stride], size: int, rest: int) -> int:
    return math.gcd(8, size, rest, *(s.bytes for s in strides)) if strides else math.gcd(1, size)


def _field_at(node: Record, at: int) -> int | None:
    for number, (offset, part) in enumerate(node.fields):
        if offset <= at < offset + part.size:
            return number
    return None


def locate(root: Node, reach: Reach) -> Spot | Padding:
    """Return the scalar in which the first byte of an access lies.

    Raises:
        Conflict: the tree has to change first.
    """
    return _Descent(reach).locate(root)


@dataclass(frozen=True)
class Piece:
    """A part of an access: some bytes of one scalar, or of padding."""

    at: int
    """Bytes from the access's first."""
    size: int
    spot: Spot | None
    """None: padding."""


def pieces(root: Node, reach: Reach, size: int) -> Iterator[Piece]:
    """Split an access into what lies in different scalars.

    Raises:
        Conflict: the tree has to change first.
    """
    at = 0
    while at < size:
        spot = locate(root, reach.moved(at))
        if isinstance(spot, Padding):
            length = min(spot.size, size - at)
            yield Piece(at, length, None)
        else:
            length = min(spot.scalar.size - spot.within, size - at)
            yield Piece(at, length, spot)
        at += length


def changed(root: Node, conflict: Conflict) -> Node:
    """Return the tree after a change."""
    return _changed(root, conflict.path, conflict.unit)


def _changed(node: Node, path: tuple[int, ...], unit: int) -> Node:
    if not path:
        if unit:
            return Array(node.size // unit, Scalar(unit, unit * 8))
        assert isinstance(node, Array) and isinstance(node.element, Array)
        return Array(node.count * node.element.count, node.element.element)
    if isinstance(node, Array):
        return replace(node, element=_changed(node.element, path[1:], unit))
    assert isinstance(node, Record)
    fields = list(node.fields)
    offset, part = fields[path[0]]
    fields[path[0]] = (offset, _changed(part, path[1:], unit))
    return replace(node, fields=tuple(fields))


def scalars(node: Node, offset: int = 0) -> Iterator[tuple[int, Scalar]]:
    """Yield the scalars with their keys, arrays' elements once."""
    if isinstance(node, Scalar):
        yield offset, node
    elif isinstance(node, Array):
        yield from scalars(node.element, offset)
    else:
        for at, part in node.fields:
            yield from scalars(part, offset + at)
