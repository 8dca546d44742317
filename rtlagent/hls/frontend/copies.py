"""memcpy and memset: the type in whose scalars a region is copied."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rtlagent.hls.frontend.llvm_text import ArrayType, IntType, Type
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.points_to import Target


def common_type(sides: Iterable[Iterable[Target]], size: int | None) -> Type | None:
    """Return the type that every target has there, `size` bytes long; None if they differ or one is raw.

    With `size` None: the array element there.
    """
    found: Type | None = None
    for targets in sides:
        for thing, offset in targets:
            if thing.raw or offset < 0:
                return None
            here = _element(thing, offset) if size is None else thing.subtype(offset, size)
            if here is None or (found is not None and here != found):
                return None
            found = here
    return found


def _element(thing: Object, offset: int) -> Type | None:
    leaf = thing.leaves.get(offset)
    levels = thing.levels_at(offset)
    if leaf is None or not levels or levels[-1].stride != leaf.type.size:
        return None
    return leaf.type


def check_copy(sides: list[set[Target]], size: int | None) -> bool:
    """Make the objects of a copy raw, with one unit, unless they share a type; return whether anything changed."""
    if common_type(sides, size) is not None:
        return False
    things = {thing for targets in sides for thing, _ in targets}
    before = {thing: (thing.raw, thing.unit) for thing in things}
    for thing in things:
        thing.make_raw("it is copied in bytes that its type does not have")
        thing.touch(size if size is not None else 1)
    unit = 0
    for thing in things:
        unit = math.gcd(unit, thing.unit)
    for thing in things:
        thing.unit = unit
    return before != {thing: (thing.raw, thing.unit) for thing in things}


def copied_type(sides: list[frozenset[Target]], size: int | None) -> Type:
    """Return the type to copy in, after `check_copy` has settled it."""
    found = common_type(sides, size)
    if found is not None:
        return found
    unit = next(thing.unit for targets in sides for thing, _ in targets) or 1
    element = IntType(unit * 8)
    return element if size is None else ArrayType(size // unit, element)
