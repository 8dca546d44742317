"""How many items a part puts into a stream or takes from it, where that can be told."""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Loop, LoopForest, inductions, trip_count
from rtlagent.hls.dataflow.regions import Part
from rtlagent.hls.ir import Block, Branch, Const, Function, Memory, Op, Opcode, Value

Factor = tuple[object, ...]
"""A trip count that is no constant, comparable with that of another loop."""
Count = tuple[int, tuple[Factor, ...]] | None
"""(constant, further factors); None: not known."""


def count_items(function: Function, forest: LoopForest, part: Part, items: Memory) -> Count:
    """Return how many accesses of `items` a part makes; each is one item."""
    tree = Dominators.of(function)
    inside = set(part.blocks)
    total: Count = None
    amounts: list[Count] = [(1, ()) for op in part.ops if op.memory is items]
    if any(op.memory is items for op in part.all_ops() if op not in set(part.own_ops())):
        return None
    for block in part.blocks:
        number = sum(op.memory is items for op in block.ops)
        if number:
            amounts.append(_times(block, number, inside, part, forest, tree))
    for amount in amounts:
        if amount is None:
            return None
        if total is None:
            total = amount
        elif total[1] == amount[1]:
            total = (total[0] + amount[0], total[1])
        else:
            return None
    return total if total is not None else (0, ())


def _times(block: Block, number: int, inside: set[Block], part: Part, forest: LoopForest, tree: Dominators) -> Count:
    """Return `number` times the runs of a block, which must run in every iteration of the loops around it."""
    factors: list[Factor] = []
    loop = forest.innermost.get(block)
    runs = block
    while loop is not None and loop.header in inside and set(loop.blocks) <= inside:
        if loop.latch is None or not tree.dominates(runs, loop.latch):
            return None
        constant = trip_count(loop)
        if constant is not None:
            number *= constant
        else:
            factor = _factor(loop)
            if factor is None:
                return None
            factors.append(factor)
        runs, loop = loop.header, loop.parent
    if part.after is not None and not tree.dominates(runs, part.after):
        return None
    return number, tuple(sorted(factors, key=repr))


def _factor(loop: Loop) -> Factor | None:
    """Return what tells the trip count of a loop with its test at the top: its start, step and bound."""
    end = loop.header.terminator
    if len(loop.exits) != 1 or loop.exits[0][0] is not loop.header or not isinstance(end, Branch):
        return None
    condition = end.condition
    if not isinstance(condition, Op) or condition.opcode not in (Opcode.SLT, Opcode.ULT, Opcode.NE):
        return None
    inside = {v for b in loop.blocks for v in (*b.phis, *b.ops)}
    for variable in inductions(loop):
        bound = condition.args[1]
        if condition.args[0] is variable.phi and bound not in inside and end.then in loop:
            return (str(condition.opcode), variable.step, _key(variable.init), _key(bound))
    return None


def _key(value: Value) -> tuple[object, ...]:
    """Return what two equal values have in common; casts and the like are looked through."""
    if isinstance(value, Const):
        return ("constant", value.width, value.value)
    if isinstance(value, Op) and value.memory is None and value.callee is None and value.stream is None:
        return (str(value.opcode), value.width, *(_key(a) for a in value.args))
    return ("value", id(value))


def equal(a: Count, b: Count) -> bool:
    """Tell whether two counts are surely the same."""
    return a is not None and b is not None and a == b
