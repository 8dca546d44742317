"""Orders that memory accesses and stream operations must keep: within a block, and between iterations of a loop.

```
loop:  %i = phi [.. 0, loop: %n]
       %p = sub %i, 2
       %v = load a[%p]         store a -> load a: read after write, 2 iterations later
       store a[%i] = %v        (load a -> store a never meet again: no dependence)
       %n = add %i, 1
```

Subscripts are linear forms (`subscripts`): two accesses of one iteration meet if their difference can be zero;
iterations d apart meet if it can be zero after d steps of the induction variables, which is solved exactly modulo
the power of two that covers the array. Where subscripts vary in another way the distance is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import sub

from rtlagent.hls.ir import Block, Memory, Op, Opcode, Phi, Stream, Value

from .exclusive import Literal, exclude, literals
from .loops import Loop, inductions, trip_count
from .subscripts import Affine, Subscripts

READ_AFTER_WRITE = "read after write"
WRITE_AFTER_READ = "write after read"
WRITE_AFTER_WRITE = "write after write"
STREAM = "stream order"
_DIRECTIONS = {"raw": READ_AFTER_WRITE, "war": WRITE_AFTER_READ, "waw": WRITE_AFTER_WRITE}

_Forms = tuple[Affine, ...]


@dataclass(frozen=True)
class Dependence:
    """`sink` of the iteration `distance` later must keep its order after `source`."""

    source: Op
    sink: Op
    distance: int
    """0: in the same iteration (or the same run of a block)."""
    kind: str


def kind_of(source: Op, sink: Op) -> str:
    """Return the kind of a dependence between two accesses of a memory."""
    if source.opcode is Opcode.LOAD:
        return WRITE_AFTER_READ
    return READ_AFTER_WRITE if sink.opcode is Opcode.LOAD else WRITE_AFTER_WRITE


class Dependences:
    """Finds the dependences of one function's blocks."""

    def __init__(self, subscripts: Subscripts) -> None:
        self._subscripts = subscripts
        self._literals: dict[Value, frozenset[Literal]] = {}
        self._meets: dict[tuple[object, ...], bool] = {}

    def of_block(self, block: Block) -> list[Dependence]:
        """Return the dependences within one run of a block, those that follow from others mostly left out."""
        distances = block.directives.distances if block.directives is not None else {}
        found: list[Dependence] = []
        for memory, accesses in _accesses(block).items():
            if _is_written(accesses):
                found += self._within(accesses, stores_are_final=distances.get(memory.name, 0) >= 1)
        return found + self._streams(block)

    def of_loop(self, loop: Loop) -> list[Dependence]:
        """Return the dependences of a single-block loop, within an iteration and between iterations."""
        block = loop.header
        found = self.of_block(block)
        directives = block.directives
        independent = set(directives.independent) if directives is not None else set()
        distances = directives.distances if directives is not None else {}
        trips = trip_count(loop)
        if trips is None and directives is not None:
            trips = directives.known_trips
        motion = _Motion(loop, None if trips is None else trips - 1)
        for memory, accesses in _accesses(block).items():
            absent = _said_absent(memory, independent)
            if _is_written(accesses) and len(absent) < len(_DIRECTIONS):
                across = self._across(accesses, motion, distances.get(memory.name, 1))
                found += [d for d in across if d.kind not in absent]
        return found + _streams_across(block)

    # One iteration

    def _within(self, accesses: list[Op], *, stores_are_final: bool) -> list[Dependence]:
        groups: dict[object, _Group] = {}
        found: list[Dependence] = []
        for op in accesses:
            forms = self._subscripts.of(op)
            key = tuple(f.terms for f in forms)
            constant = tuple(f.constant for f in forms)
            for other_key, group in groups.items():
                before = group.at(constant, op) if other_key == key else group.near(forms, op, self)
                for source in before:
                    if stores_are_final and source.opcode is Opcode.STORE:
                        continue
                    if not self._exclusive(source, op):
                        found.append(Dependence(source, op, 0, kind_of(source, op)))
            groups.setdefault(key, _Group(forms)).add(constant, op)
        return found

    def meets(self, a: _Forms, b: _Forms) -> bool:
        """Tell whether two accesses of the same iteration can reach the same element."""
        key = tuple(
            (x.terms, y.terms, (y.constant - x.constant) & ((1 << x.bits) - 1)) for x, y in zip(a, b, strict=True)
        )
        known = self._meets.get(key)
        if known is None:
            known = all(self._subscripts.may_be_zero(y.minus(x)) for x, y in zip(a, b, strict=True))
            self._meets[key] = known
        return known

    def _exclusive(self, a: Op, b: Op) -> bool:
        """Tell whether at most one of two guarded operations of an iteration happens."""
        sets = []
        for predicate in (a.predicate, b.predicate):
            if predicate is None:
                return False
            if predicate not in self._literals:
                self._literals[predicate] = literals(predicate)
            sets.append(self._literals[predicate])
        return exclude(*sets)

    # Several iterations

    def _across(self, accesses: list[Op], motion: _Motion, least: int) -> list[Dependence]:
        """Return the dependences between iterations; there are many pairs, so that each kind is solved once."""
        shapes: dict[object, int] = {}
        placed = []
        for op in accesses:
            forms = self._subscripts.of(op)
            number = shapes.setdefault(tuple(f.terms for f in forms), len(shapes))
            placed.append((op, op.opcode is Opcode.STORE, forms, number, tuple(f.constant for f in forms)))
        known: dict[tuple[int, int, tuple[int, ...]], int | None] = {}
        found = []
        for source, stores, forms, number, constants in placed:
            for sink, also_stores, other_forms, other_number, other_constants in placed:
                if source is sink or not (stores or also_stores):
                    continue
                key = (number, other_number, tuple(map(sub, other_constants, constants)))
                if key not in known:
                    known[key] = motion.distance(forms, other_forms, self._subscripts)
                distance = known[key]
                if distance is None:
                    continue
                if stores:
                    distance = max(distance, least)
                if motion.last is None or distance <= motion.last:
                    found.append(Dependence(source, sink, distance, kind_of(source, sink)))
        return found

    # Streams

    def _streams(self, block: Block) -> list[Dependence]:
        """Stream operations keep the program's order; those of other streams only within an iteration."""
        found = []
        before: list[Op] = []
        for op in block.ops:
            if op.stream is None:
                continue
            for source in reversed(before):
                if self._exclusive(source, op):
                    continue
                found.append(Dependence(source, op, 0, STREAM))
                if source.stream is op.stream and source.predicate is None:
                    break
            before.append(op)
        return found


def _said_absent(memory: Memory, independent: set[str]) -> set[str]:
    """Return the kinds of dependence between iterations that a pragma rules out for a memory."""
    names = {"*", memory.name, memory.argument}
    if independent & names:
        return set(_DIRECTIONS.values())
    return {kind for said, kind in _DIRECTIONS.items() if any(f"{name}:{said}" in independent for name in names)}


def _accesses(block: Block) -> dict[Memory, list[Op]]:
    result: dict[Memory, list[Op]] = {}
    for op in block.ops:
        if op.memory is not None:
            result.setdefault(op.memory, []).append(op)
    return result


def _is_written(accesses: list[Op]) -> bool:
    return len(accesses) > 1 and any(op.opcode is Opcode.STORE for op in accesses)


def _streams_across(block: Block) -> list[Dependence]:
    by_stream: dict[Stream, list[Op]] = {}
    for op in block.ops:
        if op.stream is not None:
            by_stream.setdefault(op.stream, []).append(op)
    return [Dependence(a, b, 1, STREAM) for ops in by_stream.values() for a in ops for b in ops if a is not b]


class _Group:
    """The accesses whose subscripts differ by constants only, by constant and in program order."""

    def __init__(self, forms: _Forms) -> None:
        self._forms = forms
        self._by_constant: dict[tuple[int, ...], list[Op]] = {}

    def add(self, constant: tuple[int, ...], op: Op) -> None:
        """Note an access."""
        self._by_constant.setdefault(constant, []).append(op)

    def at(self, constant: tuple[int, ...], op: Op) -> list[Op]:
        """Return the earlier accesses of one element that a later access must wait for."""
        return _conflicts(self._by_constant.get(constant, []), op)

    def near(self, forms: _Forms, op: Op, judge: Dependences) -> list[Op]:
        """Return those of any element that an access with other subscripts can meet."""
        found: list[Op] = []
        for constant, ops in self._by_constant.items():
            mine = tuple(Affine(f.terms, c, f.bits) for f, c in zip(self._forms, constant, strict=True))
            before = _conflicts(ops, op)
            if before and judge.meets(mine, forms):
                found += before
        return found


def _conflicts(ops: list[Op], op: Op) -> list[Op]:
    """Return the accesses that conflict with a later one, back to the last store that is always executed."""
    loads = op.opcode is Opcode.LOAD
    found = []
    for before in reversed(ops):
        stores = before.opcode is Opcode.STORE
        if stores or not loads:
            found.append(before)
        if stores and before.predicate is None:
            break
    return found


class _Motion:
    """How subscripts move from one iteration to the next."""

    def __init__(self, loop: Loop, last: int | None) -> None:
        self.last = last
        """The greatest distance of two iterations; None: unknown."""
        self._variables = {v.phi: v for v in inductions(loop)}
        self._steps: dict[Value, int] = {phi: v.step for phi, v in self._variables.items()}
        self._inside: set[Value] = {v for block in loop.blocks for v in (*block.phis, *block.ops)}

    def distance(self, a: _Forms, b: _Forms, subscripts: Subscripts) -> int | None:
        """Return the least distance >= 1 at which `b` can meet the element of `a`; None: never."""
        least = 1
        for x, y in zip(a, b, strict=True):
            found = self._one(x, y, subscripts)
            if found is None:
                return None
            # Dimensions meet together only at a common distance: the greatest is a lower bound of it.
            least = max(least, found)
        return least

    def _one(self, a: Affine, b: Affine, subscripts: Subscripts) -> int | None:
        modulus = 1 << a.bits
        values = {v for v, _ in (*a.terms, *b.terms)}
        varying = any(v in self._inside and not self._is_straight(v, a.bits, subscripts) for v in values)
        moved = any(v in self._steps and a.factor(v) != b.factor(v) for v in values)
        difference = b.minus(a)
        if varying or moved:
            # Each varying value is another unknown in either iteration.
            gcd = math.gcd(modulus, *(f for _, f in (*a.terms, *b.terms)))
            return 1 if (b.constant - a.constant) % gcd == 0 else None
        step = sum(b.factor(v) * s for v, s in self._steps.items()) % modulus
        if not difference.is_constant:
            if step == 0 and not subscripts.may_be_zero(difference):
                return None
            gcd = math.gcd(modulus, step, *(f for _, f in difference.terms))
            return 1 if difference.constant % gcd == 0 else None
        if step == 0:
            return 1 if difference.constant == 0 else None
        # constant + step * distance = 0 modulo a power of two.
        gcd = math.gcd(step, modulus)
        if difference.constant % gcd:
            return None
        smaller = modulus // gcd
        distance = (-difference.constant // gcd) * pow(step // gcd, -1, smaller) % smaller
        return distance or smaller

    def _is_straight(self, value: Value, bits: int, subscripts: Subscripts) -> bool:
        """Tell whether a value grows by its step in each iteration, modulo 2**bits: a narrower one must not wrap."""
        if value not in self._steps:
            return False
        if value.width >= bits:
            return True
        if self.last is None or not isinstance(value, Phi):
            return False
        way = self._steps[value] * self.last
        least, most = subscripts.ranges.of(self._variables[value].init)
        return least + min(way, 0) >= 0 and most + max(way, 0) < 1 << value.width


__all__ = ["STREAM", "Dependence", "Dependences", "kind_of"]
