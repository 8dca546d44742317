"""Make one scalar of neighbours in a structure that are always accessed together.

LLVM writes the initial value of a structure with bit-fields byte by byte, and so its type; the program loads and stores
whole words:

```
{8 bits, 8 bits, 8 bits, [5 x 8 bits]}, always loaded as 64 bits     ->     {64 bits}
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rtlagent.hls.frontend.layout import Array, Node, Record, Scalar
from rtlagent.hls.frontend.reach import Reach

_WIDEST = 8
Span = tuple[int, int]
"""First byte and the one after the last."""
Path = tuple[int, ...]


def merged(root: Node, accesses: Iterable[tuple[Reach, int]]) -> Node:
    """Return a layout with such scalars merged.

    Args:
        root: Follows the accesses already.
        accesses: All of the object, with their sizes.
    """
    spans: dict[Path, set[tuple[Span, bool]]] = {}
    for reach, size in accesses:
        for path, span, is_fixed in _records(root, reach, size):
            spans.setdefault(path, set()).add((span, is_fixed))
    # Inner records first: what is outside stays as it was when they change.
    for path in sorted(spans, key=len, reverse=True):
        root = _changed(root, path, spans[path])
    return root


def _records(root: Node, reach: Reach, size: int) -> Iterator[tuple[Path, Span, bool]]:
    """Yield the records that an access goes through, the bytes there, and whether their place is constant there."""
    node, at, strides = root, reach.start, list(reach.strides)
    path: list[int] = []
    while not isinstance(node, Scalar):
        if isinstance(node, Array):
            step = node.element.size
            strides = [s for s in strides if s.bytes % step]
            at, node = at % step, node.element
            path.append(0)
            continue
        extent = max((s.extent for s in strides), default=0)
        span = (at, at + size) if not strides else (at, at + max(extent, size))
        yield tuple(path), span, not strides
        found = next((n for n, (o, part) in enumerate(node.fields) if o <= at < o + part.size), None)
        if found is None:
            return
        offset, part = node.fields[found]
        if strides and not extent:
            yield tuple(path), (offset, offset + part.size), False
        at, node = at - offset, part
        path.append(found)


def _changed(node: Node, path: Path, spans: set[tuple[Span, bool]]) -> Node:
    if not path:
        assert isinstance(node, Record)
        return _merge(node, spans)
    if isinstance(node, Array):
        return replace(node, element=_changed(node.element, path[1:], spans))
    assert isinstance(node, Record)
    fields = list(node.fields)
    offset, part = fields[path[0]]
    fields[path[0]] = (offset, _changed(part, path[1:], spans))
    return replace(node, fields=tuple(fields))


def _merge(record: Record, spans: set[tuple[Span, bool]]) -> Record:
    fields = list(record.fields)
    for (first, last), is_fixed in spans:
        touching = [(s, f) for s, f in spans if s[0] < last and first < s[1]]
        together = is_fixed and all(f and s[0] <= first and last <= s[1] for s, f in touching)
        inside = [(o, p) for o, p in fields if first <= o and o + p.size <= last]
        whole = sum(1 for o, p in fields if o < last and first < o + p.size) == len(inside)
        plain = all(isinstance(s, Scalar) and not s.is_pointer for _, p in inside for s in _leaves(p))
        count = sum(len(list(_leaves(p))) for _, p in inside)
        if together and whole and plain and count > 1 and last - first <= _WIDEST:
            kept = [(o, p) for o, p in fields if (o, p) not in inside]
            fields = sorted([*kept, (first, Scalar(last - first, 8 * (last - first)))], key=lambda field: field[0])
    return replace(record, fields=tuple(fields))


def _leaves(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, Array):
        for _ in range(node.count):
            yield from _leaves(node.element)
    else:
        for _, part in node.fields:
            yield from _leaves(part)
