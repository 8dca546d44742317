"""What the branches on the way to a block say of the values compared.

```
entry:
  %c = ult 1 %x, 10
  branch %c, small, great         in `small` and what it dominates %x is 0..9, in `great` 10 and more
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rtlagent.hls.ir import (
    COMPARISONS,
    Block,
    Branch,
    Const,
    Function,
    Op,
    Opcode,
    Switch,
    Value,
    predecessors,
)

from .dominators import Dominators
from .fact import Fact, join, meet, sharpened
from .transfer import result

Lookup = Callable[[Value], Fact | None]

_CASTS = (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC)
_MAX_DEPTH = 4


@dataclass(frozen=True, eq=False)
class Assumption:
    """`value` compares with `other` in a known way."""

    value: Value
    opcode: Opcode
    other: Value
    value_first: bool
    truth: bool

    def refine(self, fact: Fact, other: Fact) -> Fact | None:
        """Return what is known of the value, given what was known and what is of the other; None: impossible."""
        opcode, truth = self.opcode, self.truth
        if opcode in (Opcode.EQ, Opcode.NE):
            if truth == (opcode is Opcode.EQ):
                return meet(fact, other)
            return _without(fact, other.lo) if other.is_constant else fact
        # value < other, value <= other, or the same the other way round
        below = self.value_first == truth
        strict = (opcode in (Opcode.ULT, Opcode.SLT)) == truth
        lo, hi, slo, shi = fact.lo, fact.hi, fact.slo, fact.shi
        if opcode in (Opcode.ULT, Opcode.ULE):
            lo, hi = (lo, min(hi, other.hi - strict)) if below else (max(lo, other.lo + strict), hi)
        else:
            slo, shi = (slo, min(shi, other.shi - strict)) if below else (max(slo, other.slo + strict), shi)
        if lo > hi or slo > shi:
            return None
        return sharpened(fact.width, fact.zeros, fact.ones, lo, hi, slo, shi)


def _without(fact: Fact, value: int) -> Fact | None:
    """Return the fact without one unsigned value, if that is at an end of a range."""
    signed = value - (1 << fact.width) if value >> (fact.width - 1) else value
    return sharpened(
        fact.width,
        fact.zeros,
        fact.ones,
        fact.lo + (fact.lo == value),
        fact.hi - (fact.hi == value),
        fact.slo + (fact.slo == signed),
        fact.shi - (fact.shi == signed),
    )


def assumptions(condition: Value, truth: bool, depth: int = 0) -> list[Assumption]:
    """Return what a condition of width 1 says when it is known."""
    found = []
    if not isinstance(condition, Const):
        found.append(Assumption(condition, Opcode.EQ, Const(int(truth), 1), True, True))
    if not isinstance(condition, Op) or depth > _MAX_DEPTH:
        return found
    if condition.opcode in COMPARISONS:
        a, b = condition.args
        if not isinstance(a, Const):
            found.append(Assumption(a, condition.opcode, b, True, truth))
        if not isinstance(b, Const):
            found.append(Assumption(b, condition.opcode, a, False, truth))
    elif condition.opcode is (Opcode.AND if truth else Opcode.OR):
        for part in condition.args:
            found += assumptions(part, truth, depth + 1)
    elif condition.opcode is Opcode.XOR and isinstance(condition.args[1], Const) and condition.args[1].value:
        found += assumptions(condition.args[0], not truth, depth + 1)
    return found


class Conditions:
    """The assumptions that hold in the blocks and along the edges of one function."""

    def __init__(self, function: Function, tree: Dominators) -> None:
        self.tree = tree
        self._holding: dict[Value, list[tuple[Block, Assumption]]] = {}
        self._edges: dict[tuple[Block, Block], list[Assumption]] = {}
        self._bounds: dict[Value, list[Value]] = {}
        sources = predecessors(function)
        for block in tree.order:
            for target, found in _outgoing(block):
                self._edges[block, target] = found
                for one in found:
                    if not isinstance(one.other, Const):
                        self._bounds.setdefault(one.value, []).append(one.other)
                    if len(sources[target]) == 1:
                        self._holding.setdefault(one.value, []).append((target, one))

    def inside(self, value: Value, fact: Fact, block: Block, lookup: Lookup, depth: int = 0) -> Fact | None:
        """Return what is known of a value in a block; None if the block cannot be reached."""
        known: Fact | None = fact
        if value not in self._holding:
            return known
        for home, one in self._holding[value]:
            if known is not None and self.tree.dominates(home, block):
                known = self._refined(known, one, block, lookup, depth)
        return known

    def along(self, value: Value, fact: Fact, source: Block, target: Block, lookup: Lookup) -> Fact | None:
        """Return what is known of a value on an edge."""
        known: Fact | None = fact
        for one in self._edges.get((source, target), ()):
            if one.value is value and known is not None:
                known = self._refined(known, one, source, lookup, 0)
        return known

    def _refined(self, fact: Fact, one: Assumption, block: Block, lookup: Lookup, depth: int) -> Fact | None:
        other = lookup(one.other)
        if other is not None and depth == 0 and one.other in self._holding:
            other = self.inside(one.other, other, block, lookup, 1)
        return one.refine(fact, other) if other is not None else fact

    def bounds_of(self, value: Value) -> set[Value]:
        """Return the variables that what is known of a value depends on, besides itself."""
        near = set(self._bounds.get(value, ()))
        return near.union(*(self._bounds.get(other, ()) for other in near))


def _refined(fact: Fact, one: Assumption, lookup: Lookup) -> Fact | None:
    other = lookup(one.other)
    return one.refine(fact, other) if other is not None else fact


def _outgoing(block: Block) -> list[tuple[Block, list[Assumption]]]:
    end = block.terminator
    if isinstance(end, Branch) and end.then is not end.other:
        return [(end.then, assumptions(end.condition, True)), (end.other, assumptions(end.condition, False))]
    if isinstance(end, Switch) and not isinstance(end.value, Const):
        found = []
        for number, target in end.cases:
            if target is not end.default and sum(t is target for _, t in end.cases) == 1:
                case = Const(number, end.value.width)
                found.append((target, [Assumption(end.value, Opcode.EQ, case, True, True)]))
        return found
    return []


def selected(op: Op, lookup: Lookup) -> Fact | None:
    """Return what is known of a SELECT whose arms are looked at under its condition, such as those that clamp."""
    return _under(op, [], lookup, 0)


def _under(value: Value, given: list[Assumption], lookup: Lookup, depth: int) -> Fact | None:
    """Return what is known of a value while assumptions hold; None: it has none."""
    if isinstance(value, Op) and value.opcode is Opcode.SELECT and depth < _MAX_DEPTH:
        condition = lookup(value.args[0])
        if condition is None:
            return None
        arms: list[Fact | None] = []
        for truth, arm in ((True, value.args[1]), (False, value.args[2])):
            if condition.is_constant and bool(condition.lo) != truth:
                continue
            arms.append(_under(arm, given + assumptions(value.args[0], truth), lookup, depth + 1))
        fact = arms[0]
        for arm_fact in arms[1:]:
            fact = join(fact, arm_fact)
    elif isinstance(value, Op) and value.opcode in _CASTS and 0 < depth < _MAX_DEPTH:
        source = _under(value.args[0], given, lookup, depth + 1)
        fact = result(value, [source]) if source is not None else None
    else:
        fact = lookup(value)
    for one in given:
        if one.value is value and fact is not None:
            fact = _refined(fact, one, lookup)
    return fact


def selected_from(op: Op) -> list[Value]:
    """Return the values that `selected` looks at."""
    found: list[Value] = []
    work: list[tuple[Value, int]] = [(op, 0)]
    while work:
        value, depth = work.pop()
        found.append(value)
        if not isinstance(value, Op) or depth >= _MAX_DEPTH:
            continue
        if value.opcode is Opcode.SELECT:
            work += [(a, depth + 1) for a in value.args]
            for truth in (True, False):
                found += [one.other for one in assumptions(value.args[0], truth)]
        elif value.opcode in _CASTS:
            work.append((value.args[0], depth + 1))
    return found
