"""What a loop nest would cost in this or that form, without making it.

For each loop the accesses of its body are known as linear forms. Unrolling puts numbers in the place of the induction
variable; equal elements are then loaded once, and elements that stay the same in the loop around are loaded before it.
What is left competes for the ports of its memory, and this bounds the initiation interval:

```
for i < 14: for k < 3: for l < 3: t += f[3 * k + l] * in[r + k][i + l]
    as it is, flattened:      14 * 3 * 3 iterations of one cycle: 126
    k and l unrolled:         9 loads of `in` (f stays in registers), 2 ports: 14 * 5 = 70 cycles
```
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from rtlagent.hls.analysis.cost import ports, timing, weight
from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Loop, inductions, trip_count
from rtlagent.hls.analysis.subscripts import Affine, Relation, Subscripts
from rtlagent.hls.ir import DIVISIONS, Block, Const, Memory, Op, Opcode, Phi, Value

from .regions import Straightener, topological

ASSUMED_TRIPS = 16
"""For loops whose trip count is not known."""
START_CYCLES = 4
"""From entering a pipelined loop to its first result, beyond its iterations."""
MOST_HOISTED = 20
"""Elements of one memory that may be kept in registers around a loop."""

_ASSOCIATIVE = frozenset({Opcode.ADD, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.MUL})


@dataclass(frozen=True)
class Access:
    """One access, with its subscripts as linear forms."""

    memory: Memory
    forms: tuple[Affine, ...]
    stores: bool
    opaque: bool = False
    """True if the element depends on more than induction variables and invariants."""
    certain: bool = True
    """False if not every iteration makes it."""

    @property
    def is_mergeable(self) -> bool:
        """True if it becomes one with equal accesses: it is made always, or can be (a constant is in range)."""
        return not self.opaque and (self.certain or all(form.is_constant for form in self.forms))

    def moves_with(self, changing: set[Value]) -> bool:
        """Tell whether its element depends on one of some values."""
        return any(v in changing for form in self.forms for v, _ in form.terms)


@dataclass
class Body:
    """A loop's body as straight code."""

    accesses: list[Access] = field(default_factory=list)
    weight: int = 0
    products: int = 0
    serial: float = 0.0
    """Cycles, with fraction, from one iteration's values to the next one's, reductions aside."""
    reduces: bool = False
    """True if sums or the like are carried along."""

    def and_then(self, other: Body, times: int = 1) -> Body:
        """Return this body followed by another one that was already copied."""
        return Body(
            [*self.accesses, *other.accesses],
            self.weight + other.weight,
            self.products + other.products,
            self.serial + other.serial * times,
            self.reduces or other.reduces,
        )


def own_body(loop: Loop, subscripts: Subscripts, tree: Dominators, period: float) -> Body | None:
    """Return the body of a loop without the loops inside; None if it can never be one block."""
    inside = {b for child in loop.children for b in child.blocks}
    blocks = [b for b in loop.blocks if b not in inside]
    ops = [op for b in blocks for op in b.ops]
    if any(op.opcode in (Opcode.CALL, Opcode.READ, Opcode.WRITE) for op in ops):
        return None
    body = Body()
    for block in blocks:
        certain = all(tree.dominates(block, latch) for latch in loop.latches)
        found = [_access(op, loop, subscripts) for op in block.ops if op.memory is not None and op.memory.dims]
        body.accesses += found if certain else [replace(access, certain=False) for access in found]
    body.weight = sum(map(weight, ops))
    body.products = sum(op.opcode is Opcode.MUL and not any(isinstance(a, Const) for a in op.args) for op in ops)
    if any(op.opcode in DIVISIONS for op in ops):
        body.products += 4
    if loop.is_innermost:
        straight = _straight(loop)
        if straight is None:
            return None
        body.serial, body.reduces = _serial(loop, *straight, period)
    return body


def _access(op: Op, loop: Loop, subscripts: Subscripts) -> Access:
    assert op.memory is not None
    forms = subscripts.of(op)
    steps = {v.phi for v in inductions(loop)}
    inside = {v for b in loop.blocks for v in (*b.phis, *b.ops)}
    outer: set[Value] = set()
    above = loop.parent
    while above is not None:
        outer.update(v.phi for v in inductions(above))
        inside |= {v for b in above.blocks for v in (*b.phis, *b.ops)}
        above = above.parent
    opaque = any(v in inside and v not in steps and v not in outer for form in forms for v, _ in form.terms)
    return Access(op.memory, forms, op.opcode is Opcode.STORE, opaque)


def _straight(loop: Loop) -> tuple[list[Op], dict[Value, Value]] | None:
    if loop.is_single_block:
        return loop.header.ops, {}
    order = topological(loop.header, set(loop.blocks))
    if order is None:
        return None
    result = Straightener(order).run()
    return result.ops, result.values


def _serial(loop: Loop, ops: list[Op], values: dict[Value, Value], period: float) -> tuple[float, bool]:
    """Return the longest way from a carried value to its successor, and whether there are reductions."""
    latch = loop.latch
    if latch is None:
        return math.inf, False
    counters = {v.phi for v in inductions(loop)}
    longest, reduces = 0.0, False
    for phi in loop.header.phis:
        if phi in counters:
            continue
        following = phi.incoming[latch]
        following = values.get(following, following)
        if following is phi:
            continue
        if _is_reduction(phi, following, ops):
            reduces = True
            continue
        ready = timing(ops, period, {phi: 0.0}).ready
        longest = max(longest, ready.get(following, 0.0))
    return longest, reduces


def _is_reduction(phi: Phi, following: Value, ops: list[Op]) -> bool:
    """Tell whether the phi only goes through one kind of associative operation, perhaps on a condition."""
    kinds: set[Opcode] = set()
    value = following
    while value is not phi:
        if not isinstance(value, Op):
            return False
        if value.opcode is Opcode.SELECT:
            arms = [a for a in value.args[1:] if a is not phi]
            if len(arms) != 1:
                return False
            value = arms[0]
            continue
        if value.opcode not in _ASSOCIATIVE:
            return False
        kinds.add(value.opcode)
        before = [a for a in value.args if a is phi or (isinstance(a, Op) and _depends(a, phi))]
        if len(before) != 1:
            return False
        value = before[0]
    users = sum(phi in op.args for op in ops)
    return len(kinds) == 1 and users <= 2


def _depends(value: Value, phi: Phi) -> bool:
    seen: set[Value] = set()
    work = [value]
    while work:
        at = work.pop()
        if at is phi:
            return True
        if isinstance(at, Op) and at not in seen:
            seen.add(at)
            work += at.args
    return False


def copies(body: Body, loop: Loop, count: int) -> Body:
    """Return the body of `count` iterations in a row, with numbers for the induction variables if they are known."""
    known = {v.phi: v for v in inductions(loop)}
    result = Body(weight=body.weight * count, products=body.products * count, reduces=body.reduces)
    result.serial = body.serial * count
    for n in range(count):
        for access in body.accesses:
            forms = access.forms
            if access.opaque:
                result.accesses.append(access)
                continue
            moved = []
            for form in forms:
                constant = form.constant
                terms = []
                for value, factor in form.terms:
                    variable = known.get(value) if isinstance(value, Phi) else None
                    if variable is None:
                        terms.append((value, factor))
                    elif isinstance(variable.init, Const):
                        constant += factor * (variable.init.value + n * variable.step)
                    else:
                        constant += factor * n * variable.step
                        terms.append((value, factor))
                moved.append(Affine(tuple(terms), constant % (1 << form.bits), form.bits))
            result.accesses.append(replace(access, forms=tuple(moved)))
    return result


def shifted(body: Body, loop: Loop, count: int) -> Body:
    """Return the body of `count` iterations in a row whose induction variable goes on (unrolling by a factor)."""
    steps = {v.phi: v.step for v in inductions(loop)}
    result = Body(weight=body.weight * count, products=body.products * count, reduces=body.reduces)
    result.serial = body.serial * count
    for n in range(count):
        for access in body.accesses:
            moved = []
            for form in access.forms:
                more = sum(factor * n * steps[v] for v, factor in form.terms if isinstance(v, Phi) and v in steps)
                moved.append(Affine(form.terms, (form.constant + more) % (1 << form.bits), form.bits))
            result.accesses.append(replace(access, forms=tuple(moved)))
    return result


@dataclass(frozen=True)
class Pressure:
    """What a body asks of the memories in one iteration of a loop."""

    interval: int
    before: int
    """Cycles for loads before the loop and stores after it, of elements kept in registers meanwhile."""
    conflicts: frozenset[Memory]
    """Memories of which a load may have to wait for a store, because it is not known which elements meet."""


def pressure(body: Body, loop: Loop, subscripts: Subscripts) -> Pressure:
    """Return the port pressure of a body that is pipelined as the body of `loop`."""
    changing = {v for b in loop.blocks for v in (*b.phis, *b.ops)}
    groups: dict[Memory, list[Access]] = {}
    for access in body.accesses:
        groups.setdefault(access.memory, []).append(access)
    interval, before = 1, 0
    conflicts: set[Memory] = set()
    for memory, group in groups.items():
        stores = [a for a in group if a.stores]
        fixed = all(a.is_mergeable and not a.moves_with(changing) for a in group)
        elements = {a.forms for a in group}
        if fixed and len(elements) <= MOST_HOISTED and _all_known(group, subscripts):
            before += -(-len(elements) // ports(memory)) * (2 if stores else 1)
            continue
        count = _distinct(group, changing, hoisting=not stores)
        interval = max(interval, -(-count // ports(memory)))
        if stores and len(group) > 1 and not (_all_known(group, subscripts) and _apart(group, loop)):
            conflicts.add(memory)
    return Pressure(interval, before, frozenset(conflicts))


def _distinct(group: list[Access], changing: set[Value], *, hoisting: bool) -> int:
    count = 0
    seen: set[tuple[bool, tuple[Affine, ...]]] = set()
    for access in group:
        if not access.is_mergeable:
            count += 1
            continue
        if (access.stores, access.forms) in seen:
            continue
        seen.add((access.stores, access.forms))
        if hoisting and not access.moves_with(changing):
            continue
        count += 1
    return count


def _all_known(group: list[Access], subscripts: Subscripts) -> bool:
    """Tell whether each store is at a known place relative to all other accesses."""
    return all(
        a is b or (not a.opaque and not b.opaque and subscripts.compare(a.forms, b.forms) is not Relation.UNKNOWN)
        for a in group
        if a.stores
        for b in group
    )


def _apart(group: list[Access], loop: Loop) -> bool:
    """Tell whether no load meets a store of the few iterations before."""
    steps = {v.phi: v.step for v in inductions(loop)}
    for store in (a for a in group if a.stores):
        for load in (a for a in group if not a.stores):
            for distance in range(1, 4):
                if all(
                    (
                        s.constant
                        - t.constant
                        + distance * sum(-f * steps.get(v, 0) for v, f in t.terms if isinstance(v, Phi))
                    )
                    % (1 << s.bits)
                    == 0
                    and s.terms == t.terms
                    for s, t in zip(store.forms, load.forms, strict=True)
                ):
                    return False
    return True


def iterations(loop: Loop) -> int:
    """Return the trip count, or what is assumed."""
    return trip_count(loop) or ASSUMED_TRIPS


def blocks_outside_children(loop: Loop) -> list[Block]:
    """Return the loop's blocks that are in no loop inside."""
    inside = {b for child in loop.children for b in child.blocks}
    return [b for b in loop.blocks if b not in inside]
