"""Flatten loop nests: the inner loop and the code around it become one loop of one block.

```
outer: %i = phi [entry: 0, post: %m]          flat:  %i = phi [entry: 0, flat: %i.1]
       jump inner                                    %j = phi [entry: 0, flat: %j.1]
inner: %j = phi [outer: 0, inner: %n]                %s = phi [entry: 0, flat: %s.1]
       %s = phi [outer: 0, inner: %t]                %v = load a[%i][%j]
       %v = load a[%i][%j]                           %t = add %s, %v
       %t = add %s, %v                               %n = add %j, 1
       %n = add %j, 1                    ->          %c = ne %j, 7
       %c = ne %n, 8                                 %last = xor %c, 1
       branch %c, inner, post                        store y[%i] = %t if %last
post:  store y[%i] = %t                              %m = add %i, 1
       %m = add %i, 1                                %d = ne %i, 15
       %d = ne %m, 16                                %i.1 = select %last, %m, %i    (and so on)
       branch %d, outer, done                        %again = or %c, %d
                                                     branch %again, flat, done
```

The pipeline then is filled and drained once, not once for each iteration of the outer loop.
"""

from __future__ import annotations

from rtlagent.hls.analysis.cost import delay_ns, period_ns, port_ii, read_cycles, recurrence_ii, timing
from rtlagent.hls.analysis.dependences import least_distances
from rtlagent.hls.analysis.loops import Loop, is_pure, trip_count
from rtlagent.hls.ir import (
    SIDE_EFFECTS,
    Block,
    Branch,
    Function,
    Jump,
    LoopDirectives,
    Module,
    Op,
    Opcode,
    Phi,
    Value,
    replace_uses,
    same_value,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .cloning import clone_op, retarget
from .loop_form import simplify, straighten
from .regions import GUARDED, TRUE, Conditions
from .ssa import remove_trivial_phis, uses

LIKELY_TRIPS = 8
"""Assumed for inner loops whose trip count is not known."""
RECOMPUTED_NS = 3.5
"""Delay up to which a value of the outer loop is computed anew in each iteration and not carried in a register."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Flatten nests from the inside."""
    for function in module.functions:
        refused: set[Block] = set()
        while (nest := _next(function, refused)) is not None:
            outer, inner = nest
            reason = _Flattening(function, outer, inner).run(options)
            if reason:
                refused.add(outer.header)
                _report(outer, inner, reason, remarks)


def _report(outer: Loop, inner: Loop, reason: str, remarks: Remarks) -> None:
    for loop in (inner, outer):
        directives = loop.header.directives
        if directives is not None and directives.flatten:
            remarks.warn("loop-flatten", f"the loops are not flattened: {reason}", directives.place)
            return
        if directives is not None:
            remarks.note("loop-flatten", f"the loop stays nested: {reason}", directives.place)
            return


def _next(function: Function, refused: set[Block]) -> tuple[Loop, Loop] | None:
    """Find an outer loop of three blocks around a single-block loop."""
    simplify(function)
    straighten(function)
    remove_trivial_phis(function)
    for outer in simplify(function):
        if len(outer.children) != 1 or outer.header in refused or not outer.is_rotated or len(outer.exits) != 1:
            continue
        inner = outer.children[0]
        if inner.is_single_block and _parts(outer, inner) and _allowed(outer) and _allowed(inner):
            return outer, inner
    return None


def _allowed(loop: Loop) -> bool:
    directives = loop.header.directives
    if directives is None:
        return True
    return directives.flatten is not False and not directives.pipeline_off and not directives.dataflow


def _chain(first: Block, last: Block) -> list[Block] | None:
    """Return the blocks from `first` to `last` if nothing branches between them."""
    blocks = [first]
    while blocks[-1] is not last:
        end = blocks[-1].terminator
        if not isinstance(end, Jump) or len(blocks) > 8:
            return None
        blocks.append(end.target)
    return blocks


def _parts(outer: Loop, inner: Loop) -> tuple[list[Block], list[Block]] | None:
    """Return the straight blocks before and after the inner loop."""
    latch, preheader = outer.latch, inner.preheader
    if latch is None or preheader is None or preheader not in outer:
        return None
    before = _chain(outer.header, preheader)
    after = _chain(inner.exits[0][1], latch)
    if before is None or after is None or len(before) + len(after) + 1 != len(outer.blocks):
        return None
    ops = [op for block in outer.blocks for op in block.ops]
    if any(op.opcode is Opcode.CALL for op in ops) or any(block.phis for block in [*before[1:], *after]):
        return None
    return before, after


class _Flattening:
    """Builds the flat block beside the nest, judges it, and puts it in the nest's place."""

    def __init__(self, function: Function, outer: Loop, inner: Loop) -> None:
        parts = _parts(outer, inner)
        assert parts is not None and outer.latch is not None and outer.preheader is not None
        self.function = function
        self.outer, self.inner = outer, inner
        self.before = [op for block in parts[0] for op in block.ops]
        self.body = inner.header.ops
        self.after = [op for block in parts[1] for op in block.ops]
        self.inner_entry = parts[0][-1]
        self.start = Block(f"{outer.header.name}.start")
        self.flat = Block(inner.header.name)
        self.first: dict[Value, Value] = {}
        """What stands for values of the outer loop in its first iteration."""
        self.now: dict[Value, Value] = {}
        """... in the present iteration."""
        self.then: dict[Value, Value] = {}
        """... in the next iteration of the outer loop."""
        self.carried: dict[Value, Phi] = {}

    def run(self, options: HlsOptions) -> str:
        """Flatten; return why it was not done, else an empty string."""
        if any(op.opcode in SIDE_EFFECTS and op.opcode is not Opcode.STORE for op in self.before + self.after):
            return "the code around the inner loop reads or writes a stream"
        inner, outer = ((loop.header.directives or LoopDirectives()).independent for loop in (self.inner, self.outer))
        if not all(_covered(name, outer) for name in inner):
            # From one iteration of the outer loop to the next there may well be dependences.
            return "the dependence pragma speaks of the inner loop alone"
        condition = self._build()
        worse = self._worse(options, condition)
        if worse:
            return worse
        self._commit()
        return ""

    def _build(self) -> Value:
        outer, inner, flat = self.outer, self.inner, self.flat
        latch, entry = outer.latch, outer.preheader
        assert latch is not None and entry is not None
        for phi in outer.header.phis:
            self.first[phi] = phi.incoming[entry]
            self._carry(phi, phi.incoming[entry])
        for op in self.before:
            self.start.ops.append(clone_op(op, self.first))
        self._bring_values_of_before()
        for phi in inner.header.phis:
            self._carry(phi, self._at_first(phi.incoming[self.inner_entry]))
        for op in self.body:
            flat.ops.append(clone_op(op, self.now))
        made = Conditions(flat.ops)
        inner_again = self._again(inner.header, inner.header, made)
        leaves = made.negated(inner_again)
        self._guarded(self.after, self.now, leaves, made)
        outer_again = self._again(latch, outer.header, made)
        restarts = made.both(leaves, outer_again)
        for phi in outer.header.phis:
            self.then[phi] = self._at_now(phi.incoming[latch])
        self._guarded(self.before, self.then, restarts, made)
        for value, phi in self.carried.items():
            phi.incoming[flat] = self._next_value(value, phi, leaves, made)
        again = made.either(inner_again, outer_again)
        flat.terminator = Branch(again, flat, outer.exits[0][1])
        self.start.terminator = Jump(flat)
        return again

    def _again(self, block: Block, stay: Block, made: Conditions) -> Value:
        end = block.terminator
        assert isinstance(end, Branch)
        condition = self._at_now(end.condition)
        return condition if end.then is stay else made.negated(condition)

    def _at_first(self, value: Value) -> Value:
        return self.first.get(value, value)

    def _at_now(self, value: Value) -> Value:
        return self.now.get(value, value)

    def _carry(self, value: Phi | Op, first: Value) -> None:
        phi = Phi(value.width, name=value.name, place=value.place)
        phi.incoming[self.start] = first
        self.flat.phis.append(phi)
        self.now[value] = self.carried[value] = phi

    def _bring_values_of_before(self) -> None:
        """Make the values computed before the inner loop available in it: anew, or carried along."""
        inside = {*self.body, *self.after}
        users = uses(self.function)
        own = set(self.before)
        arrival: dict[Value, float] = {}
        needed: set[Value] = set()
        for op in reversed(self.before):
            # A use as the start value of an inner phi is served by the copies for the next outer iteration.
            outside = any(user not in own and not self._is_start_value(user, at) for at, user in users.get(op, []))
            if outside or any(user in inside for _, user in users.get(op, [])):
                needed.add(op)
        for op in self.before:
            arrival[op] = delay_ns(op) + max((arrival.get(a, 0.0) for a in op.args), default=0.0)
        cheap = {
            op for op in self.before if is_pure(op) and arrival[op] <= RECOMPUTED_NS and op.opcode is not Opcode.MUL
        }
        cheap = self._closed(cheap)
        for op in self.before:
            if op in needed and op not in cheap:
                self._carry(op, self.first[op])
        wanted = self._with_operands(needed & cheap, cheap)
        for op in self.before:
            if op in wanted and op in cheap:
                self.flat.ops.append(clone_op(op, self.now))

    def _closed(self, cheap: set[Op]) -> set[Op]:
        """Drop operations with an operand from before the inner loop that is not cheap."""
        own = set(self.before)
        kept: set[Op] = set()
        for op in self.before:
            if op in cheap and all(a not in own or a in kept for a in op.args):
                kept.add(op)
        return kept

    def _with_operands(self, values: set[Value], cheap: set[Op]) -> set[Value]:
        result = set(values)
        for op in reversed(self.before):
            if op in result and op in cheap:
                result.update(op.args)
        return result

    def _is_start_value(self, user: Op | Phi | None, at: Block) -> bool:
        return isinstance(user, Phi) and user in self.inner.header.phis and at is self.inner_entry

    def _guarded(self, ops: list[Op], values: dict[Value, Value], guard: Value, made: Conditions) -> None:
        for op in ops:
            predicate = op.predicate
            twin = clone_op(op, values)
            if op.opcode in GUARDED:
                own = guard if predicate is None else made.both(guard, values.get(predicate, predicate))
                twin.predicate = own
            self.flat.ops.append(twin)

    def _next_value(self, value: Value, phi: Phi, leaves: Value, made: Conditions) -> Value:
        following: Value
        if isinstance(value, Phi) and value in self.inner.header.phis:
            start = value.incoming[self.inner_entry]
            following = self._at_now(value.incoming[self.inner.header])
            begun = self.then.get(start, start)
        else:
            following, begun = phi, self.then[value]
        if begun is following or _already(following, begun, leaves):
            return following
        return made.choose(phi.width, leaves, begun, following, phi.name, phi.place)

    def _worse(self, options: HlsOptions, condition: Value) -> str:
        """Compare the cycles of one iteration of the outer loop before and after; say why not if it takes more."""
        period = period_ns(options)
        directives = self.inner.header.directives
        trips = trip_count(self.inner) or (directives.known_trips if directives else None) or LIKELY_TRIPS
        nested_ii = self._interval(
            self.inner.header, {p: p.incoming[self.inner.header] for p in self.inner.header.phis}, period
        )
        nested = trips * nested_ii + timing(self.body, period).cycles - nested_ii
        nested += sum(timing(ops, period).cycles for ops in (self.before, self.after) if ops)
        flat_ii = self._interval(self.flat, {p: p.incoming[self.flat] for p in self.flat.phis}, period)
        asked = directives.pipeline_ii if directives else None
        if trips * flat_ii > nested and not (directives is not None and directives.flatten):
            return f"an iteration would take {flat_ii} cycles instead of {nested_ii}"
        if asked and asked < flat_ii and asked >= nested_ii:
            return f"the initiation interval asked for is {asked}, flattened it would be {flat_ii}"
        return ""

    def _interval(self, block: Block, carried: dict[Phi, Value], period: float) -> int:
        end = block.terminator
        assert isinstance(end, Branch)
        return max(
            port_ii(block.ops),
            recurrence_ii(block.ops, carried, end.condition, period),
            memory_ii(block, period),
        )

    def _commit(self) -> None:
        function, outer, flat = self.function, self.outer, self.flat
        entry, latch, outside = outer.preheader, outer.latch, outer.exits[0][1]
        assert entry is not None and latch is not None
        position = function.blocks.index(outer.header)
        gone = outer.members
        function.blocks = [b for b in function.blocks if b not in gone]
        position = min(position, len(function.blocks))
        function.blocks[position:position] = [self.start, flat]
        retarget(entry, outer.header, self.start)
        for phi in outside.phis:
            phi.incoming[flat] = phi.incoming.pop(latch)
        replace_uses(function, {v: now for v, now in self.now.items() if v is not now})
        flat.directives = _joined(outer, self.inner)


def _already(following: Value, begun: Value, leaves: Value) -> bool:
    """Tell whether `following` is a select that gives `begun` whenever the inner loop is left."""
    if not isinstance(following, Op) or following.opcode is not Opcode.SELECT:
        return False
    condition, yes, no = following.args
    return (same_value(no, begun) and _implies(condition, leaves, negated=True)) or (
        same_value(yes, begun) and _implies(condition, leaves, negated=False)
    )


def _implies(condition: Value, leaves: Value, *, negated: bool) -> bool:
    """Tell whether leaving implies the condition, or its negation."""
    if negated:
        # leaves = !(a | b | ...), and the condition is one of these.
        if isinstance(leaves, Op) and leaves.opcode is Opcode.XOR and same_value(leaves.args[1], TRUE):
            return _among(condition, leaves.args[0], Opcode.OR)
        return False
    return _among(condition, leaves, Opcode.AND)


def _among(wanted: Value, value: Value, opcode: Opcode) -> bool:
    if value is wanted:
        return True
    return isinstance(value, Op) and value.opcode is opcode and any(_among(wanted, a, opcode) for a in value.args)


def memory_ii(block: Block, period: float) -> int:
    """Return the initiation interval that loads of what earlier iterations stored allow."""
    least = 1
    stored = {op.memory for op in block.ops if op.opcode is Opcode.STORE}
    read = {op.memory for op in block.ops if op.opcode is Opcode.LOAD} & stored
    if not read:
        return 1
    known = least_distances(block)
    for memory in read:
        assert memory is not None
        distance = max(1, known.get(memory, 1))
        for load in block.ops:
            if load.opcode is not Opcode.LOAD or load.memory is not memory:
                continue
            ready = timing(block.ops, period, {load: float(read_cycles(memory))}).ready
            stores = [ready[s] for s in block.ops if s.opcode is Opcode.STORE and s.memory is memory and s in ready]
            if stores:
                least = max(least, -(-(int(max(stores)) + 1) // distance))
    return least


def _covered(said: str, by: tuple[str, ...]) -> bool:
    """Tell whether what a dependence pragma says of one loop is said of another, too."""
    name, _, direction = said.partition(":")
    return not {said, name, "*", f"*:{direction}"}.isdisjoint(by)


def _joined(outer: Loop, inner: Loop) -> LoopDirectives:
    """Return the directives of the flat loop."""
    a = outer.header.directives or LoopDirectives()
    b = inner.header.directives or LoopDirectives()
    trips = [d.known_trips if d.known_trips is not None else trip_count(loop) for d, loop in ((a, outer), (b, inner))]

    def times(x: int | None, y: int | None) -> int | None:
        return None if x is None or y is None else x * y

    label = "_".join(d.label for d in (a, b) if d.label)
    return LoopDirectives(
        label=label,
        place=a.place or b.place,
        pipeline_ii=b.pipeline_ii if b.pipeline_ii is not None else a.pipeline_ii,
        unroll=1,
        flatten=a.flatten,
        trip_min=times(
            a.trip_min if a.trip_min is not None else trips[0], b.trip_min if b.trip_min is not None else trips[1]
        ),
        trip_max=times(
            a.trip_max if a.trip_max is not None else trips[0], b.trip_max if b.trip_max is not None else trips[1]
        ),
        independent=tuple(n for n in b.independent if _covered(n, a.independent)),
        latency_min=a.latency_min,
        latency_max=a.latency_max,
        known_trips=times(trips[0], trips[1]),
    )
