"""Natural loops of a function as a forest, their induction variables and trip counts.

```
entry: jump head                      loop head: blocks {head, body}, latch body, preheader entry,
head:  %i = phi [entry: 0, body: %n]             exits [(head, done)]
       %c = slt %i, 64                induction: %i from 0 in steps of 1
       branch %c, body, done          trip count: 64
body:  %n = add %i, 1
       jump head
done:  return
```

A cycle with several entries (a `goto` into a loop) is no natural loop and is not in the forest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rtlagent.hls.ir import Block, Branch, Const, Function, Op, Opcode, Phi, Value, predecessors, to_signed

from .dominators import Dominators
from .evaluate import evaluate

SIMULATED_STEPS = 1 << 12
"""How many iterations are tried one by one before a loop without a closed form counts as unknown."""


@dataclass(eq=False)
class Loop:
    """One natural loop: all back edges to one header."""

    header: Block
    blocks: list[Block]
    """The header first, then in the function's order; the blocks of inner loops are among them."""
    latches: list[Block]
    """The sources of the back edges."""
    exits: list[tuple[Block, Block]]
    """Edges (block inside, block outside), in block order."""
    entries: list[Block]
    """The predecessors of the header outside the loop."""
    preheader: Block | None = None
    """The only block outside that goes to the header, if it goes nowhere else."""
    parent: Loop | None = None
    children: list[Loop] = field(default_factory=list)
    depth: int = 1
    """1 for an outermost loop."""
    members: frozenset[Block] = frozenset()
    """The blocks, as a set."""

    @property
    def latch(self) -> Block | None:
        """The latch, if there is exactly one."""
        return self.latches[0] if len(self.latches) == 1 else None

    @property
    def is_innermost(self) -> bool:
        """True if there is no loop inside."""
        return not self.children

    @property
    def is_rotated(self) -> bool:
        """True if the loop can be left at its only latch: a do-while."""
        return self.latch is not None and any(inside is self.latch for inside, _ in self.exits)

    @property
    def is_single_block(self) -> bool:
        """True for a block that branches to itself and leaves in one direction."""
        return len(self.blocks) == 1 and len(self.exits) == 1

    def __contains__(self, block: Block) -> bool:
        return block in self.members

    def nest(self) -> Iterator[Loop]:
        """Yield the loops inside and then the loop itself, inner ones before outer ones."""
        for child in self.children:
            yield from child.nest()
        yield self

    def __repr__(self) -> str:
        return f"loop {self.header}"


@dataclass(eq=False)
class LoopForest:
    """The loops of one function."""

    function: Function
    roots: list[Loop]
    innermost: dict[Block, Loop]
    """The smallest loop around a block; blocks outside loops are absent."""

    def __iter__(self) -> Iterator[Loop]:
        """Yield every loop, inner ones before outer ones."""
        for root in self.roots:
            yield from root.nest()

    def depth(self, block: Block) -> int:
        """Return how many loops are around a block."""
        loop = self.innermost.get(block)
        return loop.depth if loop else 0

    def at(self, header: Block) -> Loop | None:
        """Return the loop with this header."""
        loop = self.innermost.get(header)
        while loop is not None and loop.header is not header:
            loop = loop.parent
        return loop


def find_loops(function: Function) -> LoopForest:
    """Find the natural loops of a function."""
    tree = Dominators.of(function)
    sources = predecessors(function)
    latches: dict[Block, list[Block]] = {}
    for block in function.blocks:
        for target in block.successors():
            if tree.dominates(target, block):
                latches.setdefault(target, []).append(block)
    position = {b: n for n, b in enumerate(function.blocks)}
    loops = [_natural_loop(header, ends, sources, position, tree) for header, ends in latches.items()]
    loops.sort(key=lambda loop: (len(loop.blocks), position[loop.header]))
    _nest(loops)
    innermost: dict[Block, Loop] = {}
    for loop in loops:
        for block in loop.blocks:
            innermost.setdefault(block, loop)
    for loop in reversed(loops):
        loop.depth = loop.parent.depth + 1 if loop.parent else 1
        loop.children.sort(key=lambda inner: position[inner.header])
    roots = sorted((loop for loop in loops if loop.parent is None), key=lambda loop: position[loop.header])
    return LoopForest(function, roots, innermost)


def _natural_loop(
    header: Block,
    latches: list[Block],
    sources: dict[Block, list[Block]],
    position: dict[Block, int],
    tree: Dominators,
) -> Loop:
    inside = {header}
    work = [b for b in latches if b is not header]
    while work:
        block = work.pop()
        if block in inside:
            continue
        inside.add(block)
        work.extend(s for s in sources[block] if s not in inside and tree.reachable(s))
    blocks = [header, *sorted(inside - {header}, key=position.__getitem__)]
    exits = [(b, t) for b in blocks for t in b.successors() if t not in inside]
    entries = [s for s in sources[header] if s not in inside and tree.reachable(s)]
    preheader = entries[0] if len(entries) == 1 and entries[0].successors() == [header] else None
    return Loop(header, blocks, latches, exits, entries, preheader, members=frozenset(inside))


def _nest(loops: list[Loop]) -> None:
    """Set parents and children; `loops` is sorted by size."""
    for n, loop in enumerate(loops):
        for outer in loops[n + 1 :]:
            if outer is not loop and loop.header in outer and len(outer.blocks) >= len(loop.blocks):
                loop.parent = outer
                outer.children.append(loop)
                break


@dataclass(frozen=True)
class Induction:
    """A header phi that grows by a constant in each iteration."""

    phi: Phi
    init: Value
    """Its value in the first iteration."""
    step: int
    """Two's complement, so negative for a loop that counts down."""
    next: Op
    """The addition or subtraction that makes the next value."""


def inductions(loop: Loop) -> list[Induction]:
    """Return the induction variables of a loop with one latch and one entry."""
    if loop.latch is None or len(loop.entries) != 1:
        return []
    found = []
    for phi in loop.header.phis:
        following = phi.incoming[loop.latch]
        step = _step(phi, following)
        if step and isinstance(following, Op):
            found.append(Induction(phi, phi.incoming[loop.entries[0]], step, following))
    return found


def _step(phi: Phi, value: Value) -> int | None:
    """Return the constant by which `value` is more than the phi, following chains of additions."""
    total = 0
    while value is not phi:
        if not isinstance(value, Op):
            return None
        if value.opcode is Opcode.COPY:
            value = value.args[0]
            continue
        if value.opcode not in (Opcode.ADD, Opcode.SUB):
            return None
        left, right = value.args
        if isinstance(right, Const):
            total += right.value if value.opcode is Opcode.ADD else -right.value
            value = left
        elif isinstance(left, Const) and value.opcode is Opcode.ADD:
            total += left.value
            value = right
        else:
            return None
    return to_signed(total & ((1 << phi.width) - 1), phi.width)


def trip_count(loop: Loop) -> int | None:
    """Return how often the body runs per entry, if that is a known constant.

    For a rotated loop: the iterations up to the exit at the latch. For a loop with its test at the top: how often the
    latch is reached. None also for a loop with a second exit, whose count depends on data.
    """
    if len(loop.exits) != 1:
        return None
    return exit_count(loop, loop.exits[0][0])


def greatest_trip_count(loop: Loop) -> int | None:
    """Return a bound of the iterations of a loop with any number of exits, if one of them counts."""
    counts = [exit_count(loop, inside) for inside in dict.fromkeys(inside for inside, _ in loop.exits)]
    known = [c for c in counts if c is not None]
    return min(known) if known else None


def exit_count(loop: Loop, inside: Block) -> int | None:
    """Return how often the body has run when the loop leaves at block `inside`, all other exits ignored.

    Only blocks that every iteration passes are looked at: the header and the latch.
    """
    latch = loop.latch
    if latch is None or len(loop.entries) != 1 or not isinstance(inside.terminator, Branch):
        return None
    if inside is not latch and inside is not loop.header:
        return None
    end = inside.terminator
    if (end.then in loop) == (end.other in loop):
        return None
    leaves_on = 1 if end.then not in loop else 0
    passed = _first_exit(loop, end.condition, leaves_on)
    if passed is None:
        return None
    return passed + 1 if inside is latch else passed


def _first_exit(loop: Loop, condition: Value, leaves_on: int) -> int | None:
    """Return the number, from 0, of the iteration whose condition has the value `leaves_on`."""
    if isinstance(condition, Const):
        return 0 if condition.value == leaves_on else None
    closed = _closed_form(loop, condition, leaves_on)
    return closed if closed is not None else _simulated(loop, condition, leaves_on)


def _closed_form(loop: Loop, condition: Value, leaves_on: int) -> int | None:
    """Count for `compare (induction + constant), constant` without wrapping."""
    if not isinstance(condition, Op) or len(condition.args) != 2:
        return None
    for variable in inductions(loop):
        if not isinstance(variable.init, Const):
            continue
        for side in (0, 1):
            value, bound = condition.args[side], condition.args[1 - side]
            offset = _step(variable.phi, value) if value is not variable.phi else 0
            if offset is None or not isinstance(bound, Const):
                continue
            start = variable.init.value + offset
            return _count(condition.opcode, side, start, variable.step, bound, leaves_on)
    return None


def _count(opcode: Opcode, side: int, start: int, step: int, bound: Const, leaves_on: int) -> int | None:
    width = bound.width
    signed = opcode in (Opcode.SLT, Opcode.SLE)
    first = start & ((1 << width) - 1)
    limit = bound.value
    if signed:
        first, limit = to_signed(first, width), bound.signed
    lowest, highest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)

    def leaves(value: int) -> bool:
        a, b = (value, limit) if side == 0 else (limit, value)
        wrapped = [v & ((1 << width) - 1) for v in (a, b)]
        return evaluate(opcode, 1, wrapped, [width, width]) == leaves_on

    if leaves(first):
        return 0
    distance = limit - first
    guess = distance // step
    for n in range(max(0, guess - 1), guess + 3):
        value = first + n * step
        if not lowest <= value <= highest:
            return None
        if leaves(value):
            return n if n == 0 or not leaves(value - step) else None
    return None


def _simulated(loop: Loop, condition: Value, leaves_on: int) -> int | None:
    """Count by running the phis that the condition depends on."""
    latch, entry = loop.latch, loop.entries[0]
    assert latch is not None
    order = slice_of(loop, [condition])
    if order is None:
        return None
    phis = [v for v in order if isinstance(v, Phi)]
    ops = [v for v in order if isinstance(v, Op)]
    if any(not isinstance(p.incoming[entry], Const) for p in phis):
        return None
    state = {p: _constant(p.incoming[entry]) for p in phis}
    seen: set[tuple[int, ...]] = set()
    for n in range(SIMULATED_STEPS):
        values: dict[Value, int] = {}
        values.update(state.items())
        for op in ops:
            args = [a.value if isinstance(a, Const) else values[a] for a in op.args]
            values[op] = evaluate(op.opcode, op.width, args, [a.width for a in op.args])
        if (condition.value if isinstance(condition, Const) else values[condition]) == leaves_on:
            return n
        state = {p: _value(p.incoming[latch], values) for p in phis}
        key = tuple(state.values())
        if key in seen:
            return None
        seen.add(key)
    return None


def _constant(value: Value) -> int:
    assert isinstance(value, Const)
    return value.value


def _value(value: Value, values: dict[Value, int]) -> int:
    return value.value if isinstance(value, Const) else values[value]


def slice_of(loop: Loop, wanted: list[Value]) -> list[Value] | None:
    """Return the header phis and pure operations that `wanted` depends on over any number of iterations.

    Operations come in an order in which they can be computed. None if something else takes part: a parameter, a load,
    a value from outside or the phi of another block.
    """
    latch = loop.latch
    if latch is None:
        return None
    header = set(loop.header.phis)
    inside = {op for block in loop.blocks for op in block.ops}
    order: list[Value] = []
    done: set[Value] = set()
    roots = list(wanted)
    while roots:
        stack: list[tuple[Value, bool]] = [(roots.pop(), False)]
        while stack:
            value, ready = stack.pop()
            if ready:
                order.append(value)
                continue
            if isinstance(value, Const) or value in done:
                continue
            done.add(value)
            if isinstance(value, Phi) and value in header:
                order.append(value)
                roots.append(value.incoming[latch])
                continue
            if not isinstance(value, Op) or value not in inside or not is_pure(value):
                return None
            stack.append((value, True))
            stack.extend((a, False) for a in value.args)
    return order


def is_pure(op: Op) -> bool:
    """Tell whether an operation depends on its operands alone and changes nothing."""
    return op.opcode is not Opcode.LOAD and not op.has_side_effect
