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
    # The coarsest layout says how all are copied.
    return tuple(_items(min(regions, key=_scalars), 0))


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


def _region(side: Side, size: int) -> Node:
    """Return the part of a layout that a copy covers."""
    node, at, strides = side.thing.tree, side.reach.start, side.reach.strides
    while not (at == 0 and node.size == size and not any(s.bytes < size for s in strides)):
        if isinstance(node, Array):
            step = node.element.size
            if at % step + size > step:
                return _range(node, at % step, size)
            at, node = at % step, node.element
        elif isinstance(node, Record):
            found = next(((o, p) for o, p in node.fields if o <= at and at + size <= o + p.size), None)
            if found is None:
                return _range(node, at, size)
            at, node = at - found[0], found[1]
        else:
            return _range(node, at, size)
    return node


def _range(node: Node, at: int, size: int) -> Node:
    """Return a record of what lies in some bytes of a layout."""
    parts = tuple(_parts(node, -at, size))
    if len(parts) == 1 and parts[0][0] == 0 and parts[0][1].size == size:
        return parts[0][1]
    return Record(parts, size)


def _parts(node: Node, at: int, size: int) -> Iterator[tuple[int, Node]]:
    """Yield what of a node that begins at `at` lies in the bytes from 0 to `size`."""
    if at >= size or at + node.size <= 0:
        return
    if at >= 0 and at + node.size <= size:
        yield at, node
    elif isinstance(node, Scalar):
        first, last = max(at, 0), min(at + node.size, size)
        yield from ((first + k, Scalar(n, 8 * n)) for k, n in _even(last - first))
    elif isinstance(node, Record):
        for offset, part in node.fields:
            yield from _parts(part, at + offset, size)
    else:
        step = node.element.size
        first, last = max(0, -(at // step)), min(node.count, (size - at) // step)
        if first > 0:
            yield from _parts(node.element, at + (first - 1) * step, size)
        if last > first:
            count = last - first
            yield at + first * step, Array(count, node.element) if count > 1 else node.element
        if first <= last < node.count:
            yield from _parts(node.element, at + last * step, size)


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
