"""If-conversion: branches become predicates and selects.

```
loop:  %v = load a[%i]                     loop:  %v = load a[%i]
       %c = slt %v, 0                             %c = slt %v, 0
       branch %c, neg, next                       %m = sub 0, %v
neg:   %m = sub 0, %v                      ->     %x = select %c, %m, %v
       jump next                                  store b[%i] = %x
next:  %x = phi [loop: %v, neg: %m]               %n = add %i, 1
       store b[%i] = %x                           %d = ne %n, 64
       %n = add %i, 1                             branch %d, loop, done
       %d = ne %n, 64
       branch %d, loop, done
```

An innermost loop becomes one block if that can be pipelined with profit; a loop with several exits then leaves in one
place, and code behind it finds out by which exit. Elsewhere only small branches are converted.
"""

from __future__ import annotations

from rtlagent.hls.analysis.cost import path_cycles, period_ns, port_ii, recurrence_ii, weight
from rtlagent.hls.analysis.dominators import Dominators, reverse_postorder
from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.ir import (
    DIVISIONS,
    Block,
    Branch,
    Function,
    Jump,
    Module,
    Op,
    Opcode,
    Value,
    predecessors,
    replace_uses,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .loop_form import drop_unreachable, simplify, straighten
from .regions import TRUE, Conditions, Straightened, Straightener, merge, topological

SMALL = 16
"""Weight of all arms of a branch outside pipelined loops up to which it is converted."""
LARGE = 800
"""Weight of an innermost loop's body up to which it may become one block by default."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Convert the branches of every function."""
    for function in module.functions:
        drop_unreachable(function)
        straighten(function)
        tried: set[Block] = set()
        while (loop := _next_innermost(function, tried)) is not None:
            tried.add(loop.header)
            convert_loop(function, loop, options)
        while _convert_branches(function):
            straighten(function)


def _next_innermost(function: Function, tried: set[Block]) -> Loop | None:
    for loop in simplify(function):
        if loop.is_innermost and loop.header not in tried and (len(loop.blocks) > 1 or len(loop.exits) > 1):
            return loop
    return None


def convert_loop(function: Function, loop: Loop, options: HlsOptions) -> bool:
    """Make one block of an innermost, simplified loop if possible and worth it."""
    directives = loop.header.directives
    asked = directives is not None and directives.pipeline_ii is not None
    if not loop.exits or any(op.opcode is Opcode.CALL for block in loop.blocks for op in block.ops):
        return False
    if not asked and (not options.auto_pipeline or (directives is not None and directives.pipeline_off)):
        return False
    order = topological(loop.header, set(loop.blocks))
    if order is None:
        return False
    straight = Straightener(order).run()
    if not asked and not _worth_it(order, loop, straight, options):
        return False
    _replace_loop(function, loop, straight)
    return True


def _worth_it(order: list[Block], loop: Loop, straight: Straightened, options: HlsOptions) -> bool:
    if sum(map(weight, straight.ops)) > LARGE:
        return False
    always = {op for op in loop.header.ops if op.opcode in DIVISIONS}
    if any(op.opcode in DIVISIONS and op not in always for block in order for op in block.ops):
        return False
    period = period_ns(options)
    latch = loop.latch
    assert latch is not None
    carried = {p: straight.values.get(p.incoming[latch], p.incoming[latch]) for p in loop.header.phis}
    condition = straight.edges[latch, loop.header]
    interval = max(port_ii(straight.ops), recurrence_ii(straight.ops, carried, condition, period))
    return interval <= path_cycles(order, period) + 0.5


def _replace_loop(function: Function, loop: Loop, straight: Straightened) -> None:
    header, latch = loop.header, loop.latch
    assert latch is not None
    again = straight.edges[latch, header]
    exits = {edge: condition for edge, condition in straight.edges.items() if edge[1] is not header}
    if len(exits) == 1:
        ((inside, outside),) = exits
        leave = next(iter(exits.values()))
        flipped = isinstance(again, Op) and again.opcode is Opcode.XOR and again.args[0] is leave
        _finish_loop(function, loop, straight, again)
        header.terminator = Branch(leave, outside, header) if flipped else Branch(again, header, outside)
        for phi in outside.phis:
            phi.incoming[header] = phi.incoming.pop(inside)
    else:
        behind = Block(f"{header.name}.exit")
        _finish_loop(function, loop, straight, again)
        header.terminator = Branch(again, header, behind)
        function.blocks.insert(function.blocks.index(header) + 1, behind)
        _dispatch(function, behind, exits)
    replace_uses(function, straight.values)


def _finish_loop(function: Function, loop: Loop, straight: Straightened, again: Value) -> None:
    header, latch = loop.header, loop.latch
    assert latch is not None
    header.ops = straight.ops
    for phi in header.phis:
        phi.incoming[header] = phi.incoming.pop(latch)
    gone = loop.members - {header}
    function.blocks = [b for b in function.blocks if b not in gone]


def _dispatch(function: Function, behind: Block, exits: dict[tuple[Block, Block], Value]) -> None:
    """Go from `behind` to the exit that was taken."""
    targets: dict[Block, list[tuple[Block, Value]]] = {}
    for (inside, outside), condition in exits.items():
        targets.setdefault(outside, []).append((inside, condition))
    # The most natural exit comes last: it needs no condition.
    ways = list(targets.items())
    ways.sort(key=lambda way: -len(way[1]))
    block = behind
    made = Conditions(behind.ops)
    for n, (target, edges) in enumerate(ways):
        condition = made.any_of([c for _, c in edges]) if n + 1 < len(ways) else TRUE
        choices = Conditions(block.ops)
        for phi in target.phis:
            arrivals = [(c, phi.incoming.pop(inside)) for inside, c in edges]
            phi.incoming[block] = merge(arrivals, phi, choices)
        if n + 1 == len(ways):
            block.terminator = Jump(target)
            break
        following = Block(f"{behind.name}.{n + 1}")
        function.blocks.insert(function.blocks.index(block) + 1, following)
        block.terminator = Branch(condition, target, following)
        block = following


def _convert_branches(function: Function) -> bool:
    """Convert small branches, inner ones first; tell whether there was one."""
    forest = find_loops(function)
    headers = {loop.header for loop in forest}
    behind = _postdominators(function)
    tree = Dominators.of(function)
    found = False
    # What an inner conversion changes lies between its top and its join, so the analyses stay true for outer ones.
    for top in reversed(tree.order):
        join = behind.get(top)
        if len(top.successors()) < 2 or join is None or join in headers or join is top:
            continue
        if forest.innermost.get(top) is not forest.innermost.get(join):
            continue
        region = _between(top, join)
        if region is None or not _small(region, top, headers, tree):
            continue
        order = topological(top, {top, *region})
        if order is not None:
            _replace_branch(function, order, join)
            found = True
    return found


def _between(top: Block, join: Block) -> set[Block] | None:
    """Return the blocks on the ways from `top` to `join`; None if they are many."""
    found: set[Block] = set()
    work = top.successors()
    while work:
        block = work.pop()
        if block is join or block in found:
            continue
        if block is top or len(found) > 40:
            return None
        found.add(block)
        work += block.successors()
    return found


def _small(region: set[Block], top: Block, headers: set[Block], tree: Dominators) -> bool:
    total = 0
    for block in region:
        if block in headers or not tree.dominates(top, block):
            return False
        for op in block.ops:
            if op.opcode in DIVISIONS or op.opcode in (Opcode.CALL, Opcode.READ, Opcode.WRITE):
                return False
            total += weight(op)
    return total <= SMALL


def _replace_branch(function: Function, order: list[Block], join: Block) -> None:
    top = order[0]
    straight = Straightener(order).run()
    sources = [b for b in predecessors(function)[join] if b in set(order)]
    made = Conditions(straight.ops)
    for phi in join.phis:
        arrivals = []
        for source in sources:
            value = phi.incoming.pop(source)
            arrivals.append((straight.edges[source, join], straight.values.get(value, value)))
        phi.incoming[top] = merge(arrivals, phi, made)
    top.ops = straight.ops
    top.terminator = Jump(join)
    gone = set(order[1:])
    function.blocks = [b for b in function.blocks if b not in gone]
    replace_uses(function, straight.values)


def _postdominators(function: Function) -> dict[Block, Block]:
    """Map each block to its immediate post-dominator; blocks with none but the end of the function are absent."""
    order = list(reversed(reverse_postorder(function)))
    number = {b: n for n, b in enumerate(order)}
    above: dict[Block, Block | None] = {}
    end: dict[Block, bool] = {b: not b.successors() for b in order}
    changed = True
    known: set[Block] = set()
    while changed:
        changed = False
        for block in order:
            if end[block]:
                best: Block | None = None
            else:
                ready = [t for t in block.successors() if t in known]
                if not ready:
                    continue
                best = ready[0]
                for target in ready[1:]:
                    best = _meet(above, number, best, target)
            if block not in known or above[block] is not best:
                known.add(block)
                above[block] = best
                changed = True
    return {b: a for b, a in above.items() if a is not None}


def _meet(above: dict[Block, Block | None], number: dict[Block, int], a: Block | None, b: Block | None) -> Block | None:
    while a is not b:
        if a is None or b is None:
            return None
        if number[a] > number[b]:
            a = above[a]
        else:
            b = above[b]
    return a
