"""Turn chains of one associative operation into trees, the value carried by a loop last.

```
loop: %s = phi [entry: 0, loop: %s.4]     loop: %s = phi [entry: 0, loop: %s.4]
      %s.1 = add %s, %a                         %t.1 = add %a, %b
      %s.2 = add %s.1, %b              ->       %t.2 = add %c, %d
      %s.3 = add %s.2, %c                       %t.3 = add %t.1, %t.2
      %s.4 = add %s.3, %d                       %s.4 = add %s, %t.3
```

Two's complement addition and multiplication, bit operations, minimum and maximum are associative, so any order gives
the
same bits. A step that is taken only if a condition holds (`select %c, (add %s, %a), %s`) becomes one that always is,
with the neutral element otherwise. In the loop above only one addition is left between one iteration and the next.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from rtlagent.hls.analysis.cost import period_ns, timing
from rtlagent.hls.ir import Block, Const, Function, Module, Op, Opcode, Phi, Place, Value, replace_uses
from rtlagent.hls.options import HlsOptions, Remarks

from .ssa import uses

_ASSOCIATIVE = frozenset({Opcode.ADD, Opcode.MUL, Opcode.AND, Opcode.OR, Opcode.XOR})
Users = dict[Value, list[tuple[Block, Op | Phi | None]]]
_ORDERED = frozenset({Opcode.SLT, Opcode.SLE, Opcode.ULT, Opcode.ULE})


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Rebalance the chains of every block."""
    for function in module.functions:
        # The counts are those of each block's own operations, which changes of other blocks leave alone.
        users = uses(function)
        for block in function.blocks:
            if _unconditional_steps(function, block, users):
                users = uses(function)
            _rebalance(function, block, users, period_ns(options))


@dataclass(frozen=True)
class _Kind:
    """An associative operation: an opcode, or a minimum or maximum by a comparison."""

    opcode: Opcode
    compare: Opcode | None = None
    greatest: bool = False

    def make(self, a: Value, b: Value, ops: list[Op], name: str, place: Place | None) -> Op:
        """Append the operations that combine two values."""
        if self.compare is None:
            result = Op(self.opcode, a.width, [a, b], name=name, place=place)
        else:
            less = Op(self.compare, 1, [a, b], place=place)
            ops.append(less)
            chosen = [less, b, a] if self.greatest else [less, a, b]
            result = Op(Opcode.SELECT, a.width, chosen, name=name, place=place)
        ops.append(result)
        return result


def _kind(op: Value) -> tuple[_Kind, list[Value], list[Op]] | None:
    """Return (kind, the two operands, operations that only serve it) of an associative operation."""
    if not isinstance(op, Op):
        return None
    if op.opcode in _ASSOCIATIVE:
        return _Kind(op.opcode), op.args, []
    if op.opcode is not Opcode.SELECT or not isinstance(op.args[0], Op):
        return None
    condition, yes, no = op.args
    assert isinstance(condition, Op)
    if condition.opcode not in _ORDERED:
        return None
    a, b = condition.args
    strict = Opcode.SLT if condition.opcode in (Opcode.SLT, Opcode.SLE) else Opcode.ULT
    # Of two equal values either is the minimum, so <= serves as well as <.
    if yes is a and no is b:
        return _Kind(Opcode.SELECT, strict), [a, b], [condition]
    if yes is b and no is a:
        return _Kind(Opcode.SELECT, strict, greatest=True), [a, b], [condition]
    return None


def _rebalance(function: Function, block: Block, users: Users, period: float) -> None:
    inside = set(block.ops)
    count = {op: len(users.get(op, [])) for op in block.ops}
    inner: set[Op] = set()
    chains: list[tuple[Op, _Kind, list[Value], set[Op]]] = []
    for op in reversed(block.ops):
        found = _kind(op)
        if found is None or op in inner:
            continue
        kind = found[0]
        leaves: list[Value] = []
        members: set[Op] = set()
        _collect(op, kind, inside, count, leaves, members, root=True)
        inner |= members - {op}
        if len(leaves) >= 3:
            chains.append((op, kind, leaves, members))
    carried: set[Value] = set(block.phis) if block in block.successors() else set()
    ready = timing(block.ops, period).ready if chains else {}
    replaced: dict[Value, Value] = {}
    for root, kind, leaves, members in reversed(chains):
        if _is_chain(leaves, members, carried):
            # The root of one chain may be a leaf of a later one.
            current = [replaced.get(leaf, leaf) for leaf in leaves]
            replaced[root] = made = _replace(function, block, root, kind, current, ready, carried)
            ready[made] = ready[root]


def _collect(
    op: Op, kind: _Kind, inside: set[Op], count: dict[Op, int], leaves: list[Value], members: set[Op], *, root: bool
) -> None:
    """Gather the operands of a tree of equal operations whose inner results have no other user."""
    found = _kind(op)
    assert found is not None
    members.add(op)
    for value in found[1]:
        below = _kind(value)
        # A comparison and its select both use the operand of a minimum.
        allowed = 2 if kind.compare is not None else 1
        if (
            below is not None
            and below[0] == kind
            and isinstance(value, Op)
            and value in inside
            and value.width == op.width
            and count[value] == allowed
        ):
            _collect(value, kind, inside, count, leaves, members, root=False)
        else:
            leaves.append(value)


def _is_chain(leaves: list[Value], members: set[Op], carried: set[Value]) -> bool:
    """Tell whether a tree would be shallower than what is there, or free a carried value."""
    depth: dict[Value, int] = {}

    def of(value: Value) -> int:
        if not isinstance(value, Op) or value not in members:
            return 0
        if value not in depth:
            found = _kind(value)
            assert found is not None
            depth[value] = 1 + max(of(v) for v in found[1])
        return depth[value]

    deepest = max(of(m) for m in members)
    return deepest > (len(leaves) - 1).bit_length() or any(v in carried for v in leaves)


def _replace(
    function: Function,
    block: Block,
    root: Op,
    kind: _Kind,
    leaves: list[Value],
    ready: dict[Value, float],
    carried: set[Value],
) -> Op:
    """Combine the values that are there first, first (Huffman 1952, with the later of two as weight)."""
    last = [v for v in leaves if v in carried]
    heap = [(ready.get(v, 0.0), n, v) for n, v in enumerate(leaves) if v not in carried]
    heapq.heapify(heap)
    made: list[Op] = []
    number = len(leaves)
    while len(heap) > 1:
        _, _, a = heapq.heappop(heap)
        time, _, b = heapq.heappop(heap)
        result = kind.make(a, b, made, root.name, root.place)
        heapq.heappush(heap, (time + 0.3, number, result))
        number += 1
    value: Value | None = heap[0][2] if heap else None
    for carried_value in last:
        value = carried_value if value is None else kind.make(carried_value, value, made, root.name, root.place)
    assert isinstance(value, Op)
    at = block.ops.index(root)
    block.ops[at : at + 1] = made
    replace_uses(function, {root: value})
    return value


def _unconditional_steps(function: Function, block: Block, users: Users) -> bool:
    """Rewrite select(c, op(s, a), s) as op(s, select(c, a, neutral)) where it is a step of a longer chain."""
    replaced: dict[Value, Value] = {}
    ops: list[Op] = []
    chains = _chained_selects(block)
    here = set(block.ops)
    for op in block.ops:
        step = _conditional_step(op, users) if op in chains else None
        if step is None or step[0] not in here:
            ops.append(op)
            continue
        inner, base, other, condition, inverted = step
        neutral = Const(1, op.width) if inner.opcode is Opcode.MUL else Const(0, op.width)
        if inner.opcode is Opcode.AND:
            neutral = Const(-1, op.width)
        choices = [condition, neutral, other] if inverted else [condition, other, neutral]
        guarded = Op(Opcode.SELECT, op.width, choices, place=op.place)
        result = Op(inner.opcode, op.width, [base, guarded], name=op.name, place=op.place)
        # Nobody else used it; left there, it would count as a user of the chain.
        ops.remove(inner)
        ops += [guarded, result]
        replaced[op] = result
    if replaced:
        block.ops = ops
        replace_uses(function, replaced)
    return bool(replaced)


def _chained_selects(block: Block) -> set[Op]:
    """Return the selects that stand between associative operations, or between one and a carried value."""
    carried = {v for phi in block.phis for source, v in phi.incoming.items() if source is block}
    found: set[Op] = set()
    for op in block.ops:
        for value in op.args:
            if isinstance(value, Op) and value.opcode is Opcode.SELECT and op.opcode in _ASSOCIATIVE:
                found.add(value)
            if op.opcode is Opcode.SELECT and isinstance(value, Op) and value.opcode is Opcode.SELECT:
                found |= {op, value}
    return found | {v for v in carried if isinstance(v, Op) and v.opcode is Opcode.SELECT}


def _conditional_step(op: Op, users: Users) -> tuple[Op, Value, Value, Value, bool] | None:
    """Match select(c, op(s, a), s); return (inner operation, s, a, c, whether the arms are the other way round)."""
    if op.opcode is not Opcode.SELECT:
        return None
    condition, yes, no = op.args
    for inner, base, inverted in ((yes, no, False), (no, yes, True)):
        if not isinstance(inner, Op) or inner.opcode not in _ASSOCIATIVE or len(users.get(inner, [])) != 1:
            continue
        if inner.args[0] is base:
            return inner, base, inner.args[1], condition, inverted
        if inner.args[1] is base:
            return inner, base, inner.args[0], condition, inverted
    return None
