"""Find the regions that ask for dataflow, and the parts that they consist of.

```
void top(..) {
#pragma HLS dataflow
  load(in, a);                          part `load`:    the blocks of the inlined call
  for (i = 0; i < 8; i++) b[i] = a[i];  part `loop_4`:  the loop
  *n = 3;                               part `line_5`:  accesses that stand alone
}
```

What is computed between the parts from scalars alone is no part: it stays in the controller, or is repeated in the
part that uses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.analysis.loops import Loop, LoopForest, find_loops, is_pure, trip_count
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Inlined,
    Jump,
    Memory,
    Module,
    Op,
    Opcode,
    Phi,
    Place,
    Return,
    Stream,
    Switch,
    Value,
)


class Refusal(Exception):
    """Why a region does not have the canonical form."""

    def __init__(self, reason: str, place: Place | None = None, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place
        self.hint = hint
        self.what = "a region"
        """Which one, for messages."""
        self.where: Place | None = place
        """Where it asks for dataflow."""
        self.array = ""
        """The one that should be left whole, where that may help."""


@dataclass(eq=False)
class Part:
    """What becomes a process: the blocks of a call or loop, or a few accesses."""

    name: str
    place: Place | None
    blocks: list[Block] = field(default_factory=list)
    """The one where it begins first; empty for accesses that stand alone."""
    after: Block | None = None
    """Where control goes from the blocks; its phis belong to the part."""
    ops: list[Op] = field(default_factory=list)
    """The accesses that stand alone, in order."""

    def all_ops(self) -> list[Op]:
        """Return the operations, with those of the functions that it calls."""
        found = [*self.ops, *(op for b in self.blocks for op in b.ops)]
        return found + [op for f in callees(found) for b in f.blocks for op in b.ops]

    def own_ops(self) -> list[Op]:
        """Return the operations without those of functions."""
        return [*self.ops, *(op for b in self.blocks for op in b.ops)]

    def phis(self) -> list[Phi]:
        """Return all phis."""
        return [p for b in self.blocks for p in b.phis] + (list(self.after.phis) if self.after and self.merges else [])

    @property
    def merges(self) -> bool:
        """Whether the block after it chooses values by the way on which the part was left."""
        return bool(self.after and self.after.phis and set(self.after.phis[0].incoming) <= set(self.blocks))

    def defines(self) -> set[Value]:
        """Return the values that it computes."""
        return {*self.own_ops(), *self.phis()}

    def uses(self) -> list[Value]:
        """Return the values that it takes from outside, each once, in order."""
        own = self.defines()
        found: dict[Value, None] = {}
        for op in self.own_ops():
            found.update(dict.fromkeys(op.operands()))
        for phi in self.phis():
            found.update(dict.fromkeys(phi.incoming.values()))
        for block in self.blocks:
            end = block.terminator
            if isinstance(end, Branch):
                found[end.condition] = None
            elif isinstance(end, Switch):
                found[end.value] = None
        return [v for v in found if not isinstance(v, Const) and v not in own]


@dataclass(eq=False)
class Region:
    """A stretch of a function whose parts are to run at the same time."""

    function: Function
    what: str
    """`loop` or `function`, for messages."""
    name: str
    place: Place | None
    parts: list[Part] = field(default_factory=list)
    glue: list[Op] = field(default_factory=list)
    """Pure operations between the parts."""
    blocks: list[Block] = field(default_factory=list)
    """All that the region consists of."""
    loop: Loop | None = None
    first: Block | None = None
    """Where a region that is no loop begins."""
    after: Block | None = None
    """Where it goes on; None: the function returns."""
    result: Value | None = None
    """That the function returns."""
    outer_loops: int = 0
    """How many loops are around it."""
    trips: tuple[int, int | None] = (1, 1)
    """How often the loop's body runs, at least and at most; None: not known."""


def callees(ops: list[Op]) -> list[Function]:
    """Return the functions that operations call, directly or not, callers first."""
    found: dict[Function, None] = {}
    waiting = [op.callee for op in ops if op.callee is not None]
    while waiting:
        function = waiting.pop()
        found.pop(function, None)
        found[function] = None
        waiting += [op.callee for b in function.blocks for op in b.ops if op.callee is not None]
    return list(found)


def touched(ops: list[Op]) -> dict[Memory, set[Opcode]]:
    """Return which memories are loaded from and stored to."""
    found: dict[Memory, set[Opcode]] = {}
    for op in ops:
        if op.memory is not None:
            found.setdefault(op.memory, set()).add(op.opcode)
    return found


def streams_of(ops: list[Op]) -> set[Stream]:
    """Return the streams that operations transfer items of."""
    return {op.stream for op in ops if op.stream is not None}


def find_regions(module: Module) -> list[tuple[Region, Refusal | None]]:
    """Return the outermost regions that ask for dataflow; with each that cannot be had, why."""
    found: list[tuple[Region, Refusal | None]] = []
    taken: set[Block] = set()
    for function in module.functions:
        forest = find_loops(function)
        walker = _Walker(function, forest, [i for i in module.inlined if i.function is function])
        for region in walker.asked():
            if taken.intersection(region.blocks):
                continue
            try:
                walker.fill(region)
            except Refusal as refusal:
                found.append((region, refusal))
                continue
            taken.update(region.blocks)
            found.append((region, None))
    return found


def _trips(loop: Loop) -> tuple[int, int | None]:
    known, told = trip_count(loop), loop.header.directives
    if known is not None:
        return known, known
    return (told.trip_min or 0, told.trip_max) if told is not None else (0, None)


class _Walker:
    def __init__(self, function: Function, forest: LoopForest, inlined: list[Inlined]) -> None:
        self.function = function
        self.forest = forest
        self.inlined = inlined
        self._places: dict[Block, Place | None] = {}

    def asked(self) -> list[Region]:
        """Return the regions as asked for, outer ones first, without their parts."""
        function, regions = self.function, []
        if function.dataflow:
            regions.append(
                Region(
                    function, "function", function.name, function.place,
                    blocks=list(function.blocks), first=function.entry,
                )
            )  # fmt: skip
        for call in self.inlined:
            if call.dataflow is not None and call.first in function.blocks:
                blocks = self._between(call.first, call.after)
                depth = self.forest.depth(call.first)
                regions.append(
                    Region(
                        function, "function", call.callee, call.dataflow,
                        blocks=blocks, first=call.first, after=call.after, outer_loops=depth,
                    )
                )  # fmt: skip
        for loop in self.forest:
            directives = loop.header.directives
            if directives is not None and directives.dataflow:
                name = directives.label or loop.header.name
                place = directives.place
                regions.append(
                    Region(function, "loop", name, place, blocks=list(loop.blocks), loop=loop, outer_loops=loop.depth)
                )
        return sorted(regions, key=lambda r: -len(r.blocks))

    def _between(self, first: Block, after: Block) -> list[Block]:
        seen = {first: None}
        waiting = [first]
        while waiting:
            for target in waiting.pop().successors():
                if target is not after and target not in seen:
                    seen[target] = None
                    waiting.append(target)
        return [first, *(b for b in self.function.blocks if b in seen and b is not first)]

    def fill(self, region: Region) -> None:
        """Find the parts.

        Raises:
            Refusal: it is not a straight sequence of calls, loops and accesses.
        """
        if region.loop is not None:
            region.trips = _trips(region.loop)
            self._walk(region, *self._loop_body(region, region.loop))
        else:
            assert region.first is not None
            self._walk(region, region.first, region.after)
        names: set[str] = set()
        for part in region.parts:
            wish, number = part.name, 2
            while part.name in names:
                part.name, number = f"{wish}_{number}", number + 1
            names.add(part.name)

    def _loop_body(self, region: Region, loop: Loop) -> tuple[Block, Block]:
        header = loop.header
        end = header.terminator
        if any(inside is not header for inside, _ in loop.exits):
            block = next(inside for inside, _ in loop.exits if inside is not header)
            raise Refusal("the loop is left from inside (break, return or a test at its end)", self._place(block))
        if not isinstance(end, Branch) or len(loop.exits) != 1:
            raise Refusal("the loop has no test at its top", region.place, "write it as a for loop")
        if loop.latch is None or len(loop.entries) != 1 or loop.preheader is None:
            raise Refusal("the loop goes back from several places (continue)", region.place)
        if any(not is_pure(op) for op in header.ops):
            raise Refusal("the loop's test reads an array or calls a function", region.place, "use scalars in it")
        start = end.then if end.then in loop else end.other
        if start is header:
            raise Refusal("the loop is empty", region.place)
        region.glue += header.ops
        return start, header

    def _walk(self, region: Region, start: Block, stop: Block | None) -> None:
        block, seen = start, set[Block]()
        fresh = True
        while block is not stop:
            if block in seen:
                raise Refusal("it has a loop that is left nowhere", self._place(block))
            seen.add(block)
            part = self._call(region, block) or self._loop(region, block)
            if part is not None:
                region.parts.append(part)
                assert part.after is not None
                block, fresh = part.after, True
                continue
            known = {p for part in region.parts[-1:] for p in part.phis()}
            if any(p not in known for p in block.phis):
                raise Refusal("a value depends on the way that control took", self._place(block))
            fresh = self._straight(region, block, fresh=fresh)
            end = block.terminator
            if isinstance(end, Return) and stop is None:
                region.result = end.value
                return
            if not isinstance(end, Jump):
                place = self._place(block)
                raise Refusal("a part depends on a condition", place, "put the condition into the function")
            block = end.target

    def _straight(self, region: Region, block: Block, *, fresh: bool) -> bool:
        for op in block.ops:
            if is_pure(op):
                region.glue.append(op)
                continue
            if op.opcode is Opcode.CALL and op.callee is not None:
                region.parts += [Part(op.callee.name, op.place, ops=[op])]
                fresh = True
                continue
            if fresh:
                region.parts.append(Part(f"line_{op.place.line}" if op.place else "line", op.place))
            region.parts[-1].ops.append(op)
            fresh = False
        return fresh

    def _call(self, region: Region, block: Block) -> Part | None:
        for call in self.inlined:
            if call.first is block and (call.first, call.after) != (region.first, region.after):
                blocks = self._between(call.first, call.after)
                inside = set(blocks)
                if any(isinstance(b.terminator, Return) for b in blocks):
                    raise Refusal(f"{call.callee} ends the whole function", call.place)
                ways = {t for b in blocks for t in b.successors() if t not in inside}
                if ways != {call.after}:
                    raise Refusal(f"{call.callee} does not return on every way", call.place)
                return Part(call.callee, call.place, blocks, call.after)
        return None

    def _loop(self, region: Region, block: Block) -> Part | None:
        loop = self.forest.at(block)
        if loop is None or loop is region.loop:
            return None
        targets = {t for _, t in loop.exits}
        directives = block.directives
        place = directives.place if directives is not None else self._place(block)
        if len(targets) != 1 or len(loop.entries) != 1:
            raise Refusal("a loop is left in several ways", place, "put the loop into a function of its own")
        (after,) = targets
        inside = set(loop.blocks)
        if any(b not in inside for p in after.phis for b in p.incoming):
            raise Refusal("a loop depends on a condition", place, "put the condition into a function")
        name = directives.label if directives is not None and directives.label else block.name
        return Part(name, place, list(loop.blocks), after)

    def _place(self, block: Block) -> Place | None:
        """Return where a block ends in the source."""
        end = block.terminator
        value = end.condition if isinstance(end, Branch) else end.value if isinstance(end, Switch) else None
        if isinstance(value, Op) and value.place is not None:
            return value.place
        places = [op.place for op in block.ops if op.place is not None]
        return places[-1] if places else None
