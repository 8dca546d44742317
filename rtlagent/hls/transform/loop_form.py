"""The form in which the loop passes want a loop.

A preheader (one block outside goes to the header, and nowhere else), one latch, exit blocks that are reached from the
loop only, and (closed) no use outside of a value from inside except in the phis of the exit blocks.

```
entry: branch %p, loop, done             entry: branch %p, ready, done
loop:  %i = phi [entry: 0, loop: %n]     ready: jump loop
       %n = add %i, 1                    loop:  %i = phi [ready: 0, loop: %n]
       branch %c, loop, done                    %n = add %i, 1
done:  %r = phi [entry: 0, loop: %n]            branch %c, loop, left
                                         left:  %n.1 = phi [loop: %n]
                                                jump done
                                         done:  %r = phi [entry: 0, left: %n.1]
```
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import Dominators, reverse_postorder
from rtlagent.hls.analysis.loops import Loop, LoopForest, find_loops
from rtlagent.hls.ir import Block, Function, Jump, Op, Phi, Value, predecessors, replace_uses

from .cloning import clone_op, insert_block, rename_incoming
from .ssa import remove_trivial_phis, repair, uses


def simplify(function: Function) -> LoopForest:
    """Give every loop a preheader, one latch and exit blocks of its own; return the loops."""
    forest = find_loops(function)
    # Edges into headers are each loop's own, so that one analysis serves for all of them.
    changed = False
    for loop in forest:
        if loop.preheader is None:
            insert_block(function, f"{loop.header.name}.before", loop.entries, loop.header)
            changed = True
        if len(loop.latches) > 1:
            insert_block(function, f"{loop.header.name}.next", loop.latches, loop.header)
            _move_after(function, loop.latches[-1])
            changed = True
    if changed:
        forest = find_loops(function)
    while _separate_exits(function, forest):
        forest = find_loops(function)
    return forest


def _separate_exits(function: Function, forest: LoopForest) -> bool:
    """Give loops exit blocks of their own; tell whether there may be more to do."""
    sources = predecessors(function)
    changed: list[Loop] = []
    for loop in forest:
        # An edge may leave several loops at once: of nested ones only one at a time.
        if any(other.header in loop or loop.header in other for other in changed):
            continue
        for target in exit_blocks(loop):
            inside = [s for s in sources[target] if s in loop]
            if len(inside) != len(sources[target]):
                insert_block(function, f"{loop.header.name}.left", inside, target)
                changed.append(loop)
    return bool(changed)


def _move_after(function: Function, place: Block) -> None:
    """Let the block just inserted stand after the last latch, so that blocks stay in reading order."""
    new = place.successors()[0]
    function.blocks.remove(new)
    function.blocks.insert(function.blocks.index(place) + 1, new)


def exit_blocks(loop: Loop) -> list[Block]:
    """Return the blocks outside to which the loop goes, each once."""
    return list(dict.fromkeys(outside for _, outside in loop.exits))


def close(function: Function, loop: Loop) -> None:
    """Let values of a simplified loop be used outside only by phis of its exit blocks (LCSSA form)."""
    tree = Dominators.of(function)
    sources = predecessors(function)
    targets = exit_blocks(loop)
    used = uses(function)
    definitions: dict[Value, dict[Block, Value]] = {}
    for block in loop.blocks:
        values: list[Phi | Op] = [*block.phis, *block.ops]
        for value in values:
            outside = [user for at, user in used.get(value, []) if at not in loop]
            if not outside:
                continue
            made: dict[Block, Value] = {block: value}
            # An exit that the definition does not dominate leads to no use without passing the definition again.
            for target in targets:
                if tree.dominates(block, target):
                    phi = Phi(value.width, name=value.name, place=value.place)
                    phi.incoming = dict.fromkeys(sources[target], value)
                    target.phis.append(phi)
                    made[target] = phi
            definitions[value] = made
    repair(function, definitions)


def drop_unreachable(function: Function) -> None:
    """Remove the blocks that the entry does not reach, and their edges in phis."""
    reached = set(reverse_postorder(function))
    if len(reached) == len(function.blocks):
        return
    function.blocks = [b for b in function.blocks if b in reached]
    for block in function.blocks:
        for phi in block.phis:
            phi.incoming = {s: v for s, v in phi.incoming.items() if s in reached}
    remove_trivial_phis(function)


def drop_edge(source: Block, target: Block) -> None:
    """Forget the edge in the phis of `target`; the terminator is the caller's."""
    for phi in target.phis:
        phi.incoming.pop(source, None)


def straighten(function: Function) -> None:
    """Merge each block into its only predecessor where that goes nowhere else."""
    sources = predecessors(function)
    gone: set[Block] = set()
    replacement: dict[Value, Value] = {}
    for block in function.blocks:
        if block in gone:
            continue
        while isinstance(block.terminator, Jump):
            target = block.terminator.target
            if len(sources[target]) != 1 or target is block or target is function.entry or target.directives:
                break
            for phi in target.phis:
                replacement[phi] = phi.incoming[block]
            block.ops += target.ops
            block.terminator = target.terminator
            for after in target.successors():
                rename_incoming(after, target, block)
                sources[after] = [block if s is target else s for s in sources[after]]
            gone.add(target)
    if gone:
        function.blocks = [b for b in function.blocks if b not in gone]
        replace_uses(function, replacement)


def values_inside(loop: Loop) -> set[Value]:
    """Return the phis and operations of a loop."""
    return {v for block in loop.blocks for v in (*block.phis, *block.ops)}


def bring_out(value: Value, inside: set[Value], block: Block, made: dict[Value, Value]) -> Value:
    """Compute a value of a loop at the end of `block`, which is before it.

    Args:
        value: Pure, from values outside and from those that `made` has.
        inside: The values of the loop.
        block: Gets copies of operations.
        made: What stands outside for values of the loop; the copies are entered.
    """
    if value in made or not isinstance(value, Op) or value not in inside:
        return made.get(value, value)
    for operand in value.args:
        bring_out(operand, inside, block, made)
    block.ops.append(clone_op(value, made))
    return made[value]
