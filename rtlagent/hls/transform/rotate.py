"""Turn loops with their test at the top into guarded do-while loops.

```
entry: jump head                          entry: branch (0 < %n), body, done      (folded if known)
head:  %i = phi [entry: 0, body: %k]      body:  %i = phi [entry: 0, body: %k]
       %c = slt %i, %n              ->           store a[%i] = 0
       branch %c, body, done                     %k = add %i, 1
body:  store a[%i] = 0                           %c = slt %k, %n
       %k = add %i, 1                            branch %c, body, done
       jump head                          done:
done:
```

The header's operations run as often as before: once before the loop and once at the end of each iteration.
"""

from __future__ import annotations

from rtlagent.hls.analysis.loops import Loop, exit_count, trip_count
from rtlagent.hls.ir import Block, Branch, Function, Jump, LoopDirectives, Module, Value, predecessors
from rtlagent.hls.options import HlsOptions, Remarks

from .cloning import clone_ops, clone_terminator, insert_block, retarget
from .loop_form import drop_edge, drop_unreachable, simplify, straighten
from .ssa import remove_trivial_phis, repair


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Rotate every loop of the module and note constant trip counts."""
    for function in module.functions:
        drop_unreachable(function)
        tried: set[Block] = set()
        while found := _independent(function, tried):
            for loop in found:
                tried.add(loop.header)
                rotate(function, loop)
            drop_unreachable(function)
        straighten(function)
        for loop in simplify(function):
            _note_trips(loop)


def _independent(function: Function, tried: set[Block]) -> list[Loop]:
    """Return loops to rotate, none inside another: what one rotation changes is outside of the other loops."""
    chosen: list[Loop] = []
    for loop in simplify(function):
        if loop.header in tried or loop.is_rotated or _exit_at_top(loop) is None:
            continue
        if not any(other.header in loop for other in chosen):
            chosen.append(loop)
    return chosen


def _exit_at_top(loop: Loop) -> tuple[Block, Block] | None:
    """Return (target inside, target outside) of a header that leaves the loop."""
    end = loop.header.terminator
    if not isinstance(end, Branch) or (end.then in loop) == (end.other in loop):
        return None
    return (end.then, end.other) if end.then in loop else (end.other, end.then)


def _note_trips(loop: Loop) -> None:
    trips = trip_count(loop)
    if trips is not None:
        if loop.header.directives is None:
            loop.header.directives = LoopDirectives()
        loop.header.directives.known_trips = trips


def rotate(function: Function, loop: Loop) -> None:
    """Rotate one simplified loop whose header leaves it and whose latch does not."""
    found = _exit_at_top(loop)
    assert found is not None and loop.preheader is not None
    body, outside = found
    header = loop.header
    trips = exit_count(loop, header)
    if len(predecessors(function)[body]) != 1:
        body = insert_block(function, f"{header.name}.body", [header], body)
        function.blocks.remove(body)
        function.blocks.insert(function.blocks.index(header) + 1, body)
    guard = _guard(function, loop, loop.preheader, outside, body)
    if trips is not None:
        kept, dropped = (body, outside) if trips else (outside, body)
        guard.block.terminator = Jump(kept)
        drop_edge(guard.block, dropped)
    repair(function, {v: {header: v, guard.block: twin} for v, twin in guard.values.items()})
    remove_trivial_phis(function, list(header.phis))
    body.directives, header.directives = header.directives, None
    # The old header now ends the body.
    function.blocks.remove(header)
    last = max(function.blocks.index(b) for b in loop.blocks if b is not header) if len(loop.blocks) > 1 else -1
    function.blocks.insert(max(last, function.blocks.index(body)) + 1, header)


class _Guard:
    """The copy of the header before the loop, and what stands there for each of its values."""

    def __init__(self, block: Block, values: dict[Value, Value]) -> None:
        self.block = block
        self.values = values


def _guard(function: Function, loop: Loop, before: Block, outside: Block, body: Block) -> _Guard:
    header = loop.header
    guard = Block(f"{header.name}.guard")
    values: dict[Value, Value] = {phi: phi.incoming[before] for phi in header.phis}
    guard.ops = clone_ops(header.ops, values)
    guard.terminator = clone_terminator(header.terminator, values, {})
    retarget(before, header, guard)
    for phi in header.phis:
        del phi.incoming[before]
    for target in (outside, body):
        for phi in target.phis:
            phi.incoming[guard] = values.get(phi.incoming[header], phi.incoming[header])
    function.blocks.insert(function.blocks.index(header), guard)
    return _Guard(guard, values)
