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

from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Loop, LoopForest, find_loops
from rtlagent.hls.ir import Block, Function, Op, Phi, Value, predecessors

from .cloning import insert_block
from .ssa import repair, uses


def simplify(function: Function) -> LoopForest:
    """Give every loop a preheader, one latch and exit blocks of its own; return the loops."""
    forest = find_loops(function)
    # One change can unmake what the analysis says of another loop, so they are made one at a time.
    while any(_simplify_once(function, loop) for loop in forest):
        forest = find_loops(function)
    return forest


def _simplify_once(function: Function, loop: Loop) -> bool:
    if loop.preheader is None:
        block = insert_block(function, f"{loop.header.name}.before", loop.entries, loop.header)
        assert block.directives is None
        return True
    if len(loop.latches) > 1:
        insert_block(function, f"{loop.header.name}.next", loop.latches, loop.header)
        _move_after(function, loop.latches[-1])
        return True
    sources = predecessors(function)
    for target in dict.fromkeys(outside for _, outside in loop.exits):
        inside = [s for s in sources[target] if s in loop]
        if len(inside) != len(sources[target]):
            insert_block(function, f"{loop.header.name}.left", inside, target)
            return True
    return False


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
                    phi.incoming = {s: value for s in sources[target]}
                    target.phis.append(phi)
                    made[target] = phi
            definitions[value] = made
    repair(function, definitions)
