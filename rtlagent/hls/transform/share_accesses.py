"""Accesses that exclude one another share a port.

```
  %v = load a[%i] if %p                 %k = select %p, %i, %j
  %w = load a[%j] if %q        ->       %c = or %p, %q          (%p and %q never hold together)
  store b[0] = %x if %p                 %v = load a[%k] if %c
  store b[%j] = %y if %q                ...
```

Done in blocks with more accesses to a memory than it has ports: there it saves cycles, elsewhere it would only cost
multiplexers.
"""

from __future__ import annotations

import heapq

from rtlagent.hls.analysis.cost import ports
from rtlagent.hls.analysis.exclusive import exclude, groups, literals
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Relation, Subscripts
from rtlagent.hls.ir import SIDE_EFFECTS, Block, Function, Memory, Module, Op, Opcode, Value, replace_uses
from rtlagent.hls.options import HlsOptions, Remarks

from .regions import Conditions

MOST_ACCESSES = 200
"""Of a block in which accesses are shared: the time that takes grows with their square."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Share accesses in every block."""
    for function in module.functions:
        for block in function.blocks:
            counts: dict[Memory, list[Op]] = {}
            for op in block.ops:
                if op.memory is not None and op.memory.dims:
                    counts.setdefault(op.memory, []).append(op)
            if sum(map(len, counts.values())) > MOST_ACCESSES:
                continue
            for memory, ops in counts.items():
                if len(ops) > ports(memory):
                    _share(function, block, memory, ops)


def _share(function: Function, block: Block, memory: Memory, ops: list[Op]) -> None:
    """Merge groups of exclusive accesses while that lowers the cycles that the ports need."""
    wanted = [g for g in groups(ops) if len(g) > 1]
    left = sum(len(g) - 1 for g in wanted)
    if -(-(len(ops) - left) // ports(memory)) == -(-len(ops) // ports(memory)):
        return
    for group in wanted:
        first = group[0]
        for other in group[1:]:
            first = _merge(function, block, first, other) or first


def _merge(function: Function, block: Block, a: Op, b: Op) -> Op | None:
    """Merge two accesses into one; None if what they depend on does not allow it."""
    order = _Order(function, block)
    if not order.may_merge(a, b):
        return None
    assert a.predicate is not None and b.predicate is not None
    made: list[Op] = []
    conditions = Conditions(made)
    conditions.place = a.place
    args: list[Value] = []
    for x, y in zip(a.args, b.args, strict=True):
        wide = max(x.width, y.width)
        pair = [_extended(v, wide, made) for v in (x, y)]
        args.append(conditions.choose(wide, a.predicate, pair[0], pair[1], a.name, a.place))
    either = conditions.either(a.predicate, b.predicate)
    merged = Op(a.opcode, a.width, args, memory=a.memory, predicate=either, name=a.name, place=a.place)
    made.append(merged)
    at = block.ops.index(b)
    block.ops[at : at + 1] = made
    block.ops.remove(a)
    if a.opcode is Opcode.LOAD:
        replace_uses(function, {a: merged, b: merged})
    order.restore(a, b, merged)
    return merged


def _extended(value: Value, width: int, made: list[Op]) -> Value:
    if value.width == width:
        return value
    op = Op(Opcode.ZEXT, width, [value])
    made.append(op)
    return op


class _Order:
    """The order in which the operations of a block must stay."""

    def __init__(self, function: Function, block: Block) -> None:
        self.block = block
        self.subscripts = Subscripts(Ranges(function))
        self.number = {op: n for n, op in enumerate(block.ops)}
        self.before: dict[Op, list[Op]] = {op: self._memory_order(op) for op in block.ops}

    def _memory_order(self, op: Op) -> list[Op]:
        """Return earlier operations that must stay before one, values aside."""
        if op.memory is None and not op.has_side_effect:
            return []
        return [other for other in self.block.ops[: self.number[op]] if self._conflict(other, op)]

    def _conflict(self, a: Op, b: Op) -> bool:
        if a.memory is None or b.memory is None:
            return (a.opcode in SIDE_EFFECTS and b.opcode in SIDE_EFFECTS) or Opcode.CALL in (a.opcode, b.opcode)
        if a.memory is not b.memory or Opcode.STORE not in (a.opcode, b.opcode):
            return False
        guards = a.predicate, b.predicate
        if guards[0] is not None and guards[1] is not None and exclude(literals(guards[0]), literals(guards[1])):
            return False
        return self.subscripts.relation(a, b) is not Relation.DIFFERENT

    def _needs(self, op: Op) -> list[Op]:
        return [*(v for v in op.operands() if isinstance(v, Op) and v in self.number), *self.before[op]]

    def may_merge(self, a: Op, b: Op) -> bool:
        """Tell whether neither of two operations must come after something that must come after the other."""
        for first, last in ((a, b), (b, a)):
            seen: set[Op] = set()
            work = self._needs(last)
            while work:
                op = work.pop()
                if op is first:
                    return False
                if op not in seen and self.number[op] > self.number[first]:
                    seen.add(op)
                    work += self._needs(op)
        return True

    def restore(self, a: Op, b: Op, merged: Op) -> None:
        """Sort the operations of the block, keeping their order where possible."""
        block = self.block
        rank = {op: n for n, op in enumerate(block.ops)}
        stands = {a: merged, b: merged}
        before = {op: {stands.get(x, x) for x in self.before.get(op, [])} for op in block.ops}
        before[merged] = {x for x in (*self.before[a], *self.before[b]) if x not in stands}
        waiting: dict[Op, int] = {}
        users: dict[Op, list[Op]] = {}
        for op in block.ops:
            needs = {v for v in op.operands() if isinstance(v, Op) and v in rank} | (before[op] - {op})
            waiting[op] = len(needs)
            for need in needs:
                users.setdefault(need, []).append(op)
        ready = [rank[op] for op in block.ops if not waiting[op]]
        heapq.heapify(ready)
        ordered: list[Op] = []
        while ready:
            op = block.ops[heapq.heappop(ready)]
            ordered.append(op)
            for user in users.get(op, []):
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, rank[user])
        assert len(ordered) == len(block.ops)
        block.ops = ordered
