"""memcpy, memmove and memset as moves of scalars: which ones, and in which loops.

A plan is made from the layouts of what is copied, once to see whether they fit, and again to write the operations.

```
int a[64], b[64];  memcpy(a, b, sizeof a);      ->      Loop(64, 4): Move(0, 4)
```
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rtlagent.hls.frontend.layout import Array, Node, Record, Scalar
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.reach import Kind, Reach, Stride

_STRAIGHT = 16
"""Scalars up to which array elements are moved without a loop."""
_BYTES = 64
"""Bytes up to which an irregular copy is written out."""


@dataclass(frozen=True)
class Move:
    """Bytes that are moved at once."""

    at: int
    size: int
    is_pointer: bool = False


@dataclass(frozen=True)
class Loop:
    """Moves that are repeated `count` times, `stride` bytes further each time."""

    count: int | None
    """None: only the run knows."""
    stride: int
    body: tuple[Item, ...]


Item = Move | Loop


@dataclass(frozen=True)
class Side:
    """One end of a copy: an object and where in it."""

    thing: Object
    reach: Reach


def plan(sides: list[Side], size: int | None, factor: int = 1) -> tuple[Item, ...]:
    """Return the moves of a copy.

    Args:
        sides: Every target and every source.
        size: Bytes; None: only the run knows.
        factor: What the size is a multiple of, if only the run knows it.
    """
    if size is None:
        grains = [_grain(side) for side in sides]
        unit = math.gcd(factor, *grains)
        unit = next(u for u in (8, 4, 2, 1) if unit % u == 0)
        return (Loop(None, unit, (Move(0, unit),)),)
    regions = [_region(side, size) for side in sides]
    known = [r for r in regions if r is not None]
    if known:
        node = min(known, key=_scalars)
        return tuple(_items(node, 0))
    if size <= _BYTES:
        parts = _even(size)
        return tuple(Move(at, length) for at, length in parts)
    unit = next(u for u in (8, 4, 2, 1) if math.gcd(size, *(_grain(s) for s in sides)) % u == 0)
    return (Loop(size // unit, unit, (Move(0, unit),)),)


def _even(size: int) -> Iterator[tuple[int, int]]:
    at = 0
    while at < size:
        length = next(u for u in (8, 4, 2, 1) if at % u == 0 and at + u <= size)
        yield at, length
        at += length


def _items(node: Node, at: int) -> Iterator[Item]:
    if isinstance(node, Scalar):
        yield Move(at, node.size, node.is_pointer)
    elif isinstance(node, Record):
        covered = 0
        for offset, part in node.fields:
            if node.is_union and offset > covered:
                yield from (Move(at + covered + k, n) for k, n in _even(offset - covered))
            yield from _items(part, at + offset)
            covered = offset + part.size
        if node.is_union and covered < node.size:
            yield from (Move(at + covered + k, n) for k, n in _even(node.size - covered))
    elif _scalars(node) <= _STRAIGHT:
        for k in range(node.count):
            yield from _items(node.element, at + k * node.element.size)
    else:
        yield Loop(node.count, node.element.size, tuple(_items(node.element, at)))


def _scalars(node: Node) -> int:
    if isinstance(node, Scalar):
        return 1
    if isinstance(node, Array):
        return node.count * _scalars(node.element)
    return sum(_scalars(part) for _, part in node.fields)


def _region(side: Side, size: int) -> Node | None:
    """Return the part of a layout that a copy covers exactly; None if it is no part."""
    node, at, strides = side.thing.tree, side.reach.start, side.reach.strides
    while True:
        if at == 0 and node.size == size and not any(s.bytes < size for s in strides):
            return node
        if isinstance(node, Array):
            step = node.element.size
            if at % step == 0 and size % step == 0 and size >= step:
                return Array(size // step, node.element) if size > step else node.element
            if at % step + size > step:
                return None
            at, node = at % step, node.element
        elif isinstance(node, Record):
            found = next(((o, p) for o, p in node.fields if o <= at and at + size <= o + p.size), None)
            if found is None:
                return None
            at, node = at - found[0], found[1]
        else:
            return None


def _grain(side: Side) -> int:
    """Return the size of the scalar where a copy begins."""
    node, at = side.thing.tree, side.reach.start
    while not isinstance(node, Scalar):
        if isinstance(node, Array):
            at, node = at % node.element.size, node.element
        else:
            found = next(((o, p) for o, p in node.fields if o <= at < o + p.size), None)
            if found is None:
                return 1
            at, node = at - found[0], found[1]
    return math.gcd(at, node.size)


def places(items: tuple[Item, ...], reach: Reach, extent: int = 0) -> Iterator[tuple[Reach, int]]:
    """Yield where the moves of a plan lead from one end, with their sizes."""
    for item in items:
        if isinstance(item, Move):
            yield reach.moved(item.at), item.size
        else:
            length = item.count * item.stride if item.count is not None else 0
            stride = Stride(item.stride, Kind.TYPED if length else Kind.WALK, length)
            yield from places(item.body, reach.with_stride(stride), extent)
