"""Bounds of what a loop of known trip count adds up.

```
loop:                                   64 iterations, %bit 0..1
  %n = phi 32 [entry: 0, loop: %m]        -> %n 0..63
  %m = add 32 %n, %bit
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rtlagent.hls.ir import Block, Const, Function, Op, Opcode, Phi, Value

from .fact import Fact, anything, exactly, join, of_range, of_signed
from .loops import Loop, exit_count, find_loops

_MAX_DEPTH = 12

LookupAt = Callable[[Value, Block], Fact | None]


@dataclass(frozen=True, eq=False)
class _Step:
    """How the value changes in an iteration: one of several ways, each a sum of values (negative if `-1`)."""

    ways: tuple[tuple[tuple[int, Value, Block], ...], ...]


@dataclass(frozen=True, eq=False)
class _Accumulator:
    phi: Phi
    starts: tuple[tuple[Value, Block], ...]
    step: _Step
    steps: int
    """How often the step is taken at most before the phi is read."""


class Accumulations:
    """The accumulating phis of one function."""

    def __init__(self, function: Function) -> None:
        self._found: dict[Phi, _Accumulator] = {}
        home = {op: block for block in function.blocks for op in block.ops}
        for loop in find_loops(function):
            if loop.latch is None:
                continue
            growing: dict[Phi, list[_Way]] = {}
            for phi in loop.header.phis:
                ways = _ways(phi.incoming[loop.latch], phi, loop, home, 0)
                # Counters are bounded by the comparisons that end their loops.
                if ways is not None and any(not isinstance(v, Const) for way in ways for _, v, _ in way):
                    growing[phi] = ways
            steps = _greatest_steps(loop) if growing else None
            if steps is None:
                continue
            for phi, ways in growing.items():
                starts = tuple((phi.incoming[b], b) for b in loop.entries)
                self._found[phi] = _Accumulator(phi, starts, _Step(tuple(ways)), steps)

    def needed(self) -> list[tuple[Phi, list[Value]]]:
        """Return each accumulating phi with the values that its bound depends on."""
        result = []
        for phi, one in self._found.items():
            values = [v for v, _ in one.starts] + [v for way in one.step.ways for _, v, _ in way]
            result.append((phi, values))
        return result

    def bound(self, phi: Phi, lookup: LookupAt) -> Fact | None:
        """Return what a phi can be; None if nothing is known."""
        one = self._found.get(phi)
        if one is None:
            return None
        start: Fact | None = None
        for value, block in one.starts:
            start = join(start, lookup(value, block))
        if start is None:
            return None
        low, high, rise, is_growing = 0, 0, 0, True
        for way in one.step.ways:
            way_low, way_high, way_rise = 0, 0, 0
            for sign, value, block in way:
                fact = exactly(value.value, value.width) if isinstance(value, Const) else lookup(value, block)
                if fact is None:
                    return None
                way_low += fact.slo if sign > 0 else -fact.shi
                way_high += fact.shi if sign > 0 else -fact.slo
                way_rise += fact.hi
                is_growing &= sign > 0
            low, high, rise = min(low, way_low), max(high, way_high), max(rise, way_rise)
        return _bounded(start, one.steps * low, one.steps * high, one.steps * rise if is_growing else None)


def _bounded(start: Fact, low: int, high: int, rise: int | None) -> Fact | None:
    """Return the values from `low` below to `high` above the start, if no sum on the way can wrap."""
    width = start.width
    half = 1 << (width - 1)
    if start.slo + low >= -half and start.shi + high < half:
        return of_signed(width, start.slo + low, start.shi + high)
    if rise is not None and start.hi + rise < 2 * half:
        return of_range(width, start.lo, start.hi + rise)
    return anything(width)


def _greatest_steps(loop: Loop) -> int | None:
    """Return how often the latch is passed at most before the header's phis are read for the last time."""
    best: int | None = None
    for inside in dict.fromkeys(inside for inside, _ in loop.exits):
        count = exit_count(loop, inside)
        if count is not None:
            steps = max(0, count - 1) if inside is loop.latch else count
            best = steps if best is None else min(best, steps)
    return best


_Way = tuple[tuple[int, Value, Block], ...]


def _ways(value: Value, phi: Phi, loop: Loop, home: dict[Op, Block], depth: int) -> list[_Way] | None:
    """Return the sums by which `value` may differ from the phi; None if it is something else."""
    if value is phi:
        return [()]
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, Phi):
        if not any(value in block.phis for block in loop.blocks) or value in loop.header.phis:
            return None
        return _joined(list(value.incoming.values()), phi, loop, home, depth)
    if not isinstance(value, Op) or value not in home or home[value] not in loop.members:
        return None
    if value.opcode is Opcode.COPY:
        return _ways(value.args[0], phi, loop, home, depth + 1)
    if value.opcode is Opcode.SELECT:
        return _joined(value.args[1:], phi, loop, home, depth)
    if value.opcode not in (Opcode.ADD, Opcode.SUB):
        return None
    a, b = value.args
    block = home[value]
    left = _ways(a, phi, loop, home, depth + 1)
    if left is not None:
        sign = 1 if value.opcode is Opcode.ADD else -1
        return [(*way, (sign, b, block)) for way in left]
    if value.opcode is Opcode.ADD:
        right = _ways(b, phi, loop, home, depth + 1)
        if right is not None:
            return [(*way, (1, a, block)) for way in right]
    return None


def _joined(values: list[Value], phi: Phi, loop: Loop, home: dict[Op, Block], depth: int) -> list[_Way] | None:
    found: list[_Way] = []
    for value in values:
        ways = _ways(value, phi, loop, home, depth + 1)
        if ways is None or len(found) + len(ways) > 16:
            return None
        found += ways
    return found
