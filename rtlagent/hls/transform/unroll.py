"""Unroll loops: completely, or by a factor, with any body.

```
loop: %i = phi [entry: 0, loop: %n]       loop: %i = phi [entry: 0, loop: %n.1]
      store a[%i] = 0               ->          store a[%i] = 0
      %n = add %i, 1                            %n = add %i, 1
      %c = slt %n, 64                           store a[%n] = 0
      branch %c, loop, done                     %n.1 = add %n, 1
                                                %c.1 = slt %n.1, 64
                                                branch %c.1, loop, done
```

A factor that does not divide the trip count leaves one exit check between the copies, an unknown trip count leaves all
of them; if-conversion later makes predicates of these.
"""

from __future__ import annotations

from rtlagent.hls.analysis.loops import Loop, exit_count
from rtlagent.hls.ir import Block, Branch, Function, Jump, LoopDirectives, Module, Place, Value
from rtlagent.hls.options import HlsOptions, Remarks

from .cloning import clone_blocks, retarget
from .loop_form import close, drop_edge, drop_unreachable, exit_blocks, simplify, straighten
from .simplify import simplify_function
from .ssa import remove_trivial_phis

MAX_COPIED_OPS = 20_000
"""Operations that one loop may become; more would take minutes to compile and no device would hold it."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Unroll what the directives ask for, inner loops first."""
    for function in module.functions:
        unroll_function(function, remarks)


def unroll_function(function: Function, remarks: Remarks) -> None:
    """Unroll the loops of one function as their directives say."""
    waiting: dict[Block, str] = {}
    unrolled = False
    while True:
        loop = _next(function, waiting)
        if loop is not None:
            directives = loop.header.directives
            assert directives is not None and directives.unroll is not None
            reason = unroll(function, loop, directives.unroll)
            if reason:
                waiting[loop.header] = reason
            else:
                straighten(function)
                unrolled = True
        elif waiting and unrolled:
            # The bounds of an inner loop may be constants once the loop around it is unrolled.
            simplify_function(function)
            drop_unreachable(function)
            waiting, unrolled = {}, False
        else:
            break
    for loop in simplify(function):
        reason = waiting.get(loop.header, "")
        directives = loop.header.directives
        if reason and directives is not None:
            what = f"by {directives.unroll}" if directives.unroll else "completely"
            directives.unroll = None
            remarks.warn("unroll", f"the loop cannot be unrolled {what}: {reason}", loop_place(loop))


def _next(function: Function, waiting: dict[Block, str]) -> Loop | None:
    for loop in simplify(function):
        directives = loop.header.directives
        if directives is not None and directives.unroll not in (None, 1) and loop.header not in waiting:
            return loop
    return None


def loop_place(loop: Loop) -> Place | None:
    """Return where the loop stands in the source, for messages."""
    directives = loop.header.directives
    if directives is not None and directives.place is not None:
        return directives.place
    return next((op.place for block in loop.blocks for op in block.ops if op.place), None)


def size(loop: Loop) -> int:
    """Return the number of operations in a loop."""
    return sum(len(b.ops) for b in loop.blocks)


def unroll(function: Function, loop: Loop, factor: int) -> str:
    """Unroll a simplified loop; 0: completely. Return why it was not done, else an empty string."""
    latch = loop.latch
    assert latch is not None
    trips = exit_count(loop, latch)
    if factor == 0 or (trips is not None and factor >= trips):
        if trips is None:
            return "its trip count is not a constant"
        if trips * size(loop) > MAX_COPIED_OPS:
            return f"{trips} copies of {size(loop)} operations are too many"
        _copy(function, loop, trips, trips)
        return ""
    if factor * size(loop) > MAX_COPIED_OPS:
        return f"{factor} copies of {size(loop)} operations are too many"
    _copy(function, loop, factor, trips)
    return ""


def _copy(function: Function, loop: Loop, copies: int, trips: int | None) -> None:
    """Make `copies` of the body follow one another; with `copies` == `trips` the loop is gone."""
    latch, preheader, header = loop.latch, loop.preheader, loop.header
    assert latch is not None and preheader is not None
    close(function, loop)
    maps: list[dict[Value, Value]] = [{}]
    twins: list[dict[Block, Block]] = [{b: b for b in loop.blocks}]
    place = max(function.blocks.index(b) for b in loop.blocks) + 1
    for n in range(1, copies):
        values, blocks = _one_copy(loop, maps[-1], n)
        maps.append(values)
        twins.append(blocks)
        function.blocks[place:place] = [blocks[b] for b in loop.blocks]
        place += len(loop.blocks)
    _connect_exits(loop, maps, twins)
    for n in range(copies):
        following = twins[(n + 1) % copies][header]
        if n:
            retarget(twins[n][latch], twins[n][header], following)
        elif copies > 1:
            retarget(latch, header, following)
    for phi in header.phis:
        value = phi.incoming.pop(latch)
        phi.incoming[twins[-1][latch]] = maps[-1].get(value, value)
    if trips is not None:
        for n in range(copies):
            _settle(loop, twins, n, copies, trips)
    _set_directives(loop, copies, trips)
    drop_unreachable(function)
    remove_trivial_phis(function)


def _one_copy(loop: Loop, before: dict[Value, Value], n: int) -> tuple[dict[Value, Value], dict[Block, Block]]:
    """Copy the blocks once; the header's phis become what the copy before hands on."""
    latch, header = loop.latch, loop.header
    assert latch is not None
    values: dict[Value, Value] = {}
    blocks: dict[Block, Block] = {}
    handed: dict[Value, Value] = {}
    for phi in header.phis:
        handed[phi] = before.get(phi.incoming[latch], phi.incoming[latch])
    kept, header.phis = header.phis, []
    values.update(handed)
    clone_blocks(loop.blocks, values, blocks, f".{n}")
    header.phis = kept
    blocks[header].directives = None
    return values, blocks


def _connect_exits(loop: Loop, maps: list[dict[Value, Value]], twins: list[dict[Block, Block]]) -> None:
    for target in exit_blocks(loop):
        for phi in target.phis:
            for source, value in list(phi.incoming.items()):
                for values, blocks in zip(maps[1:], twins[1:], strict=True):
                    phi.incoming[blocks[source]] = values.get(value, value)


def _settle(loop: Loop, twins: list[dict[Block, Block]], n: int, copies: int, trips: int) -> None:
    """Decide the exit check at the end of copy `n` where the trip count tells it."""
    latch = loop.latch
    assert latch is not None
    block = twins[n][latch]
    end = block.terminator
    assert isinstance(end, Branch)
    following = twins[(n + 1) % copies][loop.header]
    outside = end.other if end.then is following else end.then
    if (n + 1 - trips) % copies:
        block.terminator = Jump(following)
        drop_edge(block, outside)
    elif copies >= trips:
        block.terminator = Jump(outside)
        drop_edge(block, following)


def _set_directives(loop: Loop, copies: int, trips: int | None) -> None:
    directives = loop.header.directives
    if trips is not None and copies >= trips:
        loop.header.directives = None
        return
    if directives is None:
        directives = loop.header.directives = LoopDirectives()
    directives.unroll = 1
    directives.trip_min = None if directives.trip_min is None else -(-directives.trip_min // copies)
    directives.trip_max = None if directives.trip_max is None else -(-directives.trip_max // copies)
    directives.known_trips = None if trips is None or len(loop.exits) != 1 else -(-trips // copies)
