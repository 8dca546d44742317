"""Let a load take what a store before it has written, without going through the memory.

```
  store a[%i] = %x                        store a[%i] = %x
  %v = load a[%i]                  ->     use %x
  use %v
```

In a pipelined loop the store may belong to the iteration before; subscripts are then compared:

```
loop: %k = load x[%i]                    loop: %p = phi [before: 0, loop: %k]     (the element stored last)
      %v = load h[%k]                          %d = phi [before: 0, loop: %w]     (what was stored)
      %w = add %v, 1                           %s = phi [before: 0, loop: 1]      (whether one was stored)
      store h[%k] = %w                         %k = load x[%i]
                                               %o = load h[%k]
                                               %e = eq %k, %p; %m = and %e, %s
                                               %v = select %m, %d, %o
                                               %w = add %v, 1
                                               store h[%k] = %w
```

The load of an iteration need not wait for the store of the one before it: a read-modify-write loop gets an
initiation interval of one cycle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rtlagent.hls.analysis.cost import period_ns, timing
from rtlagent.hls.analysis.dependences import least_distances
from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Relation, Subscripts, index_bits, surely_in_range
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    LoopDirectives,
    Memory,
    Module,
    Op,
    Opcode,
    Phi,
    Return,
    Switch,
    Value,
    replace_uses,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .regions import Conditions
from .ssa import uses

SELECT_NS = 0.9
STORE_NS = 2.1
"""From a register's clock edge to its output, and from data to a memory's edge, its multiplexers included."""
LONGEST_CHAIN = 3.0
"""Cycles from a load to the store of its element up to which the stored value is passed to the next iteration."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Forward within blocks."""
    for function in module.functions:
        subscripts = Subscripts(Ranges(function))
        replacement: dict[Value, Value] = {}
        for block in function.blocks:
            _Forwarding(block, subscripts, replacement).run()
        replace_uses(function, replacement)


def run_late(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Forward between iterations of pipelined loops, and note which dependences are left."""
    for function in module.functions:
        for loop in find_loops(function):
            if not loop.is_single_block:
                continue
            directives = loop.header.directives
            if directives is not None and directives.pipeline_ii is not None:
                for memory, depth in _blocking(loop.header, directives, period_ns(options)).items():
                    _forward_between_iterations(function, loop, memory, depth)
                    directives.distances[memory.name] = depth + 1


def note_distances(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Note the distances of memory dependences for the scheduler, on the final form of the loops."""
    names = {m.name for m in module.memories}
    for function in module.functions:
        for loop in find_loops(function):
            if not loop.is_single_block:
                continue
            if loop.header.directives is None:
                loop.header.directives = LoopDirectives()
            directives = loop.header.directives
            known = {m.name: d for m, d in _distances(function, loop).items()}
            kept = {name: d for name, d in directives.distances.items() if name in names}
            directives.distances = {name: max(known.get(name, 0), kept.get(name, 0)) for name in (*known, *kept)}


def _distances(function: Function, loop: Loop) -> dict[Memory, int]:
    """Return the least distances, from running the addresses or from their linear forms."""
    block = loop.header
    result = least_distances(block)
    groups: dict[Memory, list[Op]] = {}
    for op in block.ops:
        if op.memory is not None and op.memory not in result:
            groups.setdefault(op.memory, []).append(op)
    subscripts = Subscripts(Ranges(function))
    for memory, ops in groups.items():
        stores = [op for op in ops if op.opcode is Opcode.STORE]
        if stores:
            result[memory] = _by_forms(ops, stores, loop, subscripts)
    return {memory: d for memory, d in result.items() if d > 0}


def _by_forms(ops: list[Op], stores: list[Op], loop: Loop, subscripts: Subscripts) -> int:
    order = {op: n for n, op in enumerate(ops)}
    nearest = 1 << 30
    for store in stores:
        for later in ops:
            if order[later] > order[store] and subscripts.relation(store, later) is not Relation.DIFFERENT:
                return 0
            distance = subscripts.distance(loop, store, later) if later is not store else None
            nearest = min(nearest, distance if distance is not None else nearest)
    return nearest


@dataclass
class _Known:
    """An element whose value is known at this point of the block."""

    op: Op
    value: Value
    predicate: Value | None
    """The value holds when this does; None: always."""


class _Forwarding:
    """Forwards in one block."""

    def __init__(self, block: Block, subscripts: Subscripts, replacement: dict[Value, Value]) -> None:
        self.block = block
        self.subscripts = subscripts
        self.replacement = replacement
        self.known: dict[Memory, list[_Known]] = {}
        """In program order, back to the last store that may be to any element."""
        self.pending: dict[Memory, list[Op]] = {}
        """Stores that no access has needed yet."""
        self.dead: set[Op] = set()

    def run(self) -> None:
        """Forward, and drop loads and stores that are not needed."""
        for op in self.block.ops:
            if op.opcode is Opcode.CALL:
                self.known.clear()
                self.pending.clear()
            elif op.opcode is Opcode.LOAD:
                self._load(op)
            elif op.opcode is Opcode.STORE:
                self._store(op)
        self.block.ops = [op for op in self.block.ops if op not in self.dead]

    def _final(self, value: Value) -> Value:
        while value in self.replacement:
            value = self.replacement[value]
        return value

    def _load(self, op: Op) -> None:
        memory = op.memory
        assert memory is not None
        for entry in reversed(self.known.get(memory, [])):
            relation = self.subscripts.relation(entry.op, op)
            if relation is Relation.SAME and self._covers(entry, op):
                self.replacement[op] = self._final(entry.value)
                self.dead.add(op)
                return
            if entry.op.opcode is Opcode.STORE and relation is not Relation.DIFFERENT:
                break
        self._needs(memory, op)
        self.known.setdefault(memory, []).append(_Known(op, op, op.predicate))

    def _covers(self, entry: _Known, op: Op) -> bool:
        """Tell whether the entry's value holds whenever the load's result is used."""
        if _implied(op.predicate, entry.predicate):
            return True
        if entry.op.opcode is Opcode.LOAD and surely_in_range(entry.op, self.subscripts.ranges):
            # The earlier load may as well be done always.
            entry.op.predicate = entry.predicate = None
            return True
        return False

    def _needs(self, memory: Memory, op: Op) -> None:
        """Stores to the element, or perhaps to it, are not dead any more."""
        waiting = self.pending.get(memory, [])
        self.pending[memory] = [s for s in waiting if self.subscripts.relation(s, op) is Relation.DIFFERENT]

    def _store(self, op: Op) -> None:
        memory = op.memory
        assert memory is not None
        waiting = []
        for store in self.pending.get(memory, []):
            overwritten = self.subscripts.relation(store, op) is Relation.SAME
            if overwritten and _implied(store.predicate, op.predicate):
                self.dead.add(store)
            else:
                waiting.append(store)
        self.pending[memory] = [*waiting, op]
        kept = [e for e in self.known.get(memory, []) if self.subscripts.relation(e.op, op) is Relation.DIFFERENT]
        self.known[memory] = [*kept, _Known(op, op.args[0], op.predicate)]


def _implied(condition: Value | None, by: Value | None) -> bool:
    """Tell whether `by` holds whenever `condition` does; None is always true."""
    if by is None or condition is by:
        return True
    if isinstance(condition, Op) and condition.opcode is Opcode.AND:
        return any(_implied(part, by) for part in condition.args)
    return False


def _blocking(block: Block, directives: LoopDirectives, period: float) -> dict[Memory, int]:
    """Return memories whose store in one iteration may be loaded in the next, through a short chain.

    With each, how many iterations back stored values are needed for the chain alone to bound the initiation interval.
    """
    independent = {name.removesuffix(":raw") for name in directives.independent}
    if "*" in independent:
        return {}
    found: dict[Memory, int] = {}
    known: dict[Memory, int] | None = None
    for memory in dict.fromkeys(op.memory for op in block.ops if op.opcode is Opcode.STORE):
        assert memory is not None
        accesses = [op for op in block.ops if op.memory is memory]
        stores = [op for op in accesses if op.opcode is Opcode.STORE]
        loads = [op for op in accesses if op.opcode is Opcode.LOAD]
        if len(stores) != 1 or not loads or accesses[-1] is not stores[0] or memory.name in independent:
            continue
        if not memory.dims or memory.storage == "register":
            continue
        known = known if known is not None else least_distances(block)
        depth = _depth(block, loads, stores[0], period)
        if depth and known.get(memory, 1) <= depth:
            found[memory] = depth
    return found


def _depth(block: Block, loads: list[Op], store: Op, period: float) -> int:
    """Return how many iterations back values must be carried; 0: it does not help."""
    select = SELECT_NS / period
    loaded = timing(loads[:1], period).ready[loads[0]]
    whole = timing(block.ops, period, dict.fromkeys(loads, loaded + select)).ready
    chain = timing(block.ops, period, dict.fromkeys(loads, select)).ready
    data = store.args[0]
    if data not in whole or data in loads or chain[data] > LONGEST_CHAIN:
        return 0
    interval = max(1, math.ceil(chain[data] - 1e-9))
    # A load sees what was stored in an earlier cycle, so depth + 1 iterations must take longer than load to store.
    stored = int(whole[data] + STORE_NS / period)
    return math.ceil((stored + 1) / interval) - 1


def _forward_between_iterations(function: Function, loop: Loop, memory: Memory, depth: int) -> None:
    """Carry the elements stored last along and use them in the next iterations' loads."""
    block = loop.header
    store = next(op for op in block.ops if op.opcode is Opcode.STORE and op.memory is memory)
    loads = [op for op in block.ops if op.opcode is Opcode.LOAD and op.memory is memory]

    def carried(value: Value, name: str) -> Phi:
        phi = Phi(value.width, name=f"{memory.name}_{name}", place=store.place)
        nothing: Value = Const(0, value.width)
        phi.incoming = {**dict.fromkeys(loop.entries, nothing), block: value}
        block.phis.append(phi)
        return phi

    levels: list[_Stored] = []
    for _ in range(depth):
        last = levels[-1] if levels else None
        guard = store.predicate if store.predicate is not None else Const(1, 1)
        levels.append(
            _Stored(
                carried(last.data if last else store.args[0], "stored"),
                carried(last.valid if last else guard, "valid"),
                [carried(e, "element") for e in (last.element if last else store.subscripts)],
            )
        )
    replaced: dict[Value, Value] = {}
    kept: set[Op] = set()
    ops: list[Op] = []
    for op in block.ops:
        ops.append(op)
        if op in loads:
            before = len(ops)
            value: Value = op
            # What was stored last comes last: it is there last.
            for level in reversed(levels):
                hit: Value = level.valid
                for element, subscript, size in zip(level.element, op.subscripts, memory.dims, strict=True):
                    hit = Conditions(ops).both(hit, _equal(element, subscript, index_bits(size), ops))
                value = Conditions(ops).choose(op.width, hit, level.data, value, op.name, op.place)
            replaced[op] = value
            kept |= set(ops[before:])
    block.ops = ops
    _replace_but(function, replaced, kept)


@dataclass
class _Stored:
    """What was stored some iterations ago."""

    data: Phi
    valid: Phi
    element: list[Phi]


def _equal(a: Value, b: Value, bits: int, ops: list[Op]) -> Op:
    """Compare the low bits of two subscripts, which may have different widths."""
    sides = []
    for value in (a, b):
        side: Value = value
        if value.width > bits:
            side = Op(Opcode.TRUNC, bits, [value])
            ops.append(side)
        elif value.width < bits:
            side = Op(Opcode.ZEXT, bits, [value])
            ops.append(side)
        sides.append(side)
    result = Op(Opcode.EQ, 1, sides)
    ops.append(result)
    return result


def _replace_but(function: Function, replaced: dict[Value, Value], kept: set[Op]) -> None:
    """Replace loads everywhere but in the operations that replace them."""
    users = uses(function)
    for load, value in replaced.items():
        for at, user in users.get(load, []):
            if user in kept:
                continue
            if isinstance(user, Phi):
                user.incoming[at] = value
            elif isinstance(user, Op):
                user.args = [value if a is load else a for a in user.args]
                user.predicate = value if user.predicate is load else user.predicate
            else:
                _replace_in_terminator(at, load, value)


def _replace_in_terminator(block: Block, old: Value, new: Value) -> None:
    end = block.terminator
    if isinstance(end, Branch):
        end.condition = new if end.condition is old else end.condition
    elif isinstance(end, Switch | Return):
        end.value = new if end.value is old else end.value
