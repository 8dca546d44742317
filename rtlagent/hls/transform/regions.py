"""Straight code from an acyclic region with one entry: the machinery of if-conversion.

```
top:   branch %c, one, join               top:  %v = load a[%i] if %c
one:   %v = load a[%i]             ->           store b[%i] = %v if %c
       store b[%i] = %v                         %x = select %c, %v, 0
       jump join                                jump after
join:  %x = phi [top: 0, one: %v]
       jump after
```

Nothing of the function is changed until the caller puts the result in place, so that its cost can be judged first.
After Allen et al. 1983 ("Conversion of control dependence to data dependence"), with conditions relative to the
immediate dominator, so that a value chosen in an inner branch does not wait for the outer conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import Block, Branch, Const, Jump, Op, Opcode, Phi, Place, Switch, Value, same_value

from .cloning import clone_op

GUARDED = frozenset({Opcode.LOAD, Opcode.STORE, Opcode.READ, Opcode.WRITE})
TRUE = Const(1, 1)
FALSE = Const(0, 1)


class Conditions:
    """Makes operations of width 1, each once, folding constants."""

    def __init__(self, ops: list[Op]) -> None:
        self._ops = ops
        self._made: dict[tuple[Opcode, Value, Value], Value] = {}
        self._negation: dict[Value, Value] = {}
        self.place: Place | None = None

    def both(self, a: Value, b: Value) -> Value:
        """Return a & b."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const):
                return y if x.value else FALSE
        if a is b:
            return a
        if self._negation.get(a) is b:
            return FALSE
        return self._binary(Opcode.AND, a, b)

    def either(self, a: Value, b: Value) -> Value:
        """Return a | b."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Const):
                return TRUE if x.value else y
        if a is b:
            return a
        if self._negation.get(a) is b:
            return TRUE
        return self._binary(Opcode.OR, a, b)

    def negated(self, a: Value) -> Value:
        """Return !a."""
        if isinstance(a, Const):
            return FALSE if a.value else TRUE
        if a not in self._negation:
            result = self._add(Op(Opcode.XOR, 1, [a, TRUE], place=self.place))
            self._negation[a] = result
            self._negation[result] = a
        return self._negation[a]

    def equal(self, value: Value, number: int) -> Value:
        """Return value == number."""
        if isinstance(value, Const):
            return TRUE if value.value == number else FALSE
        return self._add(Op(Opcode.EQ, 1, [value, Const(number, value.width)], place=self.place))

    def any_of(self, values: list[Value]) -> Value:
        """Return the disjunction, as a balanced tree."""
        if not values:
            return FALSE
        while len(values) > 1:
            pairs = [values[n : n + 2] for n in range(0, len(values), 2)]
            values = [self.either(*p) if len(p) == 2 else p[0] for p in pairs]
        return values[0]

    def choose(self, width: int, condition: Value, yes: Value, no: Value, name: str, place: Place | None) -> Value:
        """Return condition ? yes : no."""
        if isinstance(condition, Const):
            return yes if condition.value else no
        if same_value(yes, no):
            return yes
        return self._add(Op(Opcode.SELECT, width, [condition, yes, no], name=name, place=place))

    def _binary(self, opcode: Opcode, a: Value, b: Value) -> Value:
        key = (opcode, a, b)
        if key not in self._made:
            self._made[key] = self._made[opcode, b, a] = self._add(Op(opcode, 1, [a, b], place=self.place))
        return self._made[key]

    def _add(self, op: Op) -> Op:
        self._ops.append(op)
        return op


def topological(entry: Block, blocks: set[Block]) -> list[Block] | None:
    """Order the blocks of a region, edges to `entry` aside; None if it has a cycle or cannot be reached whole."""
    order: list[Block] = []
    done: set[Block] = {entry}
    stack = [(entry, iter(entry.successors()))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target in blocks and target not in done:
                done.add(target)
                stack.append((target, iter(target.successors())))
                break
        else:
            order.append(block)
            stack.pop()
    order.reverse()
    number = {b: n for n, b in enumerate(order)}
    if len(order) != len(blocks):
        return None
    for block in order:
        for target in block.successors():
            if target in number and target is not entry and number[target] <= number[block]:
                return None
    return order


@dataclass
class Straightened:
    """The straight form of a region."""

    ops: list[Op] = field(default_factory=list)
    values: dict[Value, Value] = field(default_factory=dict)
    """What replaces the phis (but the entry's) and operations of the region."""
    edges: dict[tuple[Block, Block], Value] = field(default_factory=dict)
    """For each edge out of the region or back to its entry, the condition under which it is taken."""


class Straightener:
    """Straightens one region; `order` is topological, its first block the only entry."""

    def __init__(self, order: list[Block]) -> None:
        self._order = order
        self._entry = order[0]
        self._inside = set(order)
        self._sources: dict[Block, list[Block]] = {b: [] for b in order}
        for block in order:
            for target in block.successors():
                if target in self._inside and target is not self._entry:
                    self._sources[target].append(block)
        self._depth: dict[Block, int] = {self._entry: 0}
        self._above: dict[Block, Block] = {}
        self._find_dominators()
        self._always = self._find_postdominators()
        self._local: dict[Block, Value] = {}
        self._taken: dict[tuple[Block, Block], Value] = {}
        self.result = Straightened()
        self._conditions = Conditions(self.result.ops)

    def _find_dominators(self) -> None:
        for block in self._order[1:]:
            above: Block | None = None
            for source in self._sources[block]:
                above = source if above is None else self._meet(above, source)
            assert above is not None
            self._above[block] = above
            self._depth[block] = self._depth[above] + 1

    def _meet(self, a: Block, b: Block) -> Block:
        while a is not b:
            if self._depth[a] >= self._depth[b]:
                a = self._above[a]
            else:
                b = self._above[b]
        return a

    def _find_postdominators(self) -> set[Block]:
        """Return the blocks that post-dominate their immediate dominator."""
        behind: dict[Block, set[Block]] = {}
        for block in reversed(self._order):
            common: set[Block] | None = None
            for target in block.successors():
                if target not in self._inside or target is self._entry:
                    common = set()
                    break
                common = set(behind[target]) if common is None else common & behind[target]
            behind[block] = (common or set()) | {block}
        return {b for b, above in self._above.items() if b in behind[above]}

    def run(self) -> Straightened:
        """Straighten the region."""
        for block in self._order:
            self._conditions.place = next((op.place for op in block.ops if op.place), self._conditions.place)
            if block is not self._entry:
                for phi in block.phis:
                    self.result.values[phi] = self._merge(phi, block)
            self._copy(block)
        for block in self._order:
            for target in block.successors():
                if target not in self._inside or target is self._entry:
                    reached = self._conditions.both(self.reached(block), self.edge(block, target))
                    self.result.edges[block, target] = reached
        return self.result

    def _copy(self, block: Block) -> None:
        reached: Value | None = None
        values = self.result.values
        for op in block.ops:
            if op.opcode not in GUARDED:
                self.result.ops.append(clone_op(op, values))
                continue
            if reached is None:
                reached = self.reached(block)
            condition = reached
            if op.predicate is not None:
                condition = self._conditions.both(reached, values.get(op.predicate, op.predicate))
            twin = clone_op(op, values)
            twin.predicate = None if condition is TRUE else condition
            self.result.ops.append(twin)

    def edge(self, block: Block, target: Block) -> Value:
        """Return the condition under which `block`, when it runs, goes to `target`."""
        key = (block, target)
        if key not in self._taken:
            self._taken[key] = self._edge(block, target)
        return self._taken[key]

    def _edge(self, block: Block, target: Block) -> Value:
        end, made = block.terminator, self._conditions
        if isinstance(end, Branch):
            if end.then is end.other:
                return TRUE
            condition = self.result.values.get(end.condition, end.condition)
            return condition if end.then is target else made.negated(condition)
        if isinstance(end, Switch):
            value = self.result.values.get(end.value, end.value)
            if target is end.default:
                others = [made.equal(value, n) for n, b in end.cases if b is not target]
                return made.negated(made.any_of(others))
            return made.any_of([made.equal(value, n) for n, b in end.cases if b is target])
        assert isinstance(end, Jump)
        return TRUE

    def local(self, block: Block) -> Value:
        """Return the condition under which `block` runs when its immediate dominator does."""
        if block is self._entry or block in self._always:
            return TRUE
        if block not in self._local:
            above = self._above[block]
            self._local[block] = self._conditions.any_of(
                [self._arrives(source, block, above) for source in self._sources[block]]
            )
        return self._local[block]

    def _arrives(self, source: Block, block: Block, above: Block) -> Value:
        """Return the condition of the edge, given that `above` runs, which dominates `source`."""
        condition = self.edge(source, block)
        while source is not above:
            condition = self._conditions.both(self.local(source), condition)
            source = self._above[source]
        return condition

    def reached(self, block: Block) -> Value:
        """Return the condition under which `block` runs when the region is entered."""
        chain = []
        while block is not self._entry:
            chain.append(block)
            block = self._above[block]
        condition: Value = TRUE
        for passed in reversed(chain):
            condition = self._conditions.both(condition, self.local(passed))
        return condition

    def _merge(self, phi: Phi, block: Block) -> Value:
        above = self._above[block]
        arrivals = [(self._arrives(s, block, above), self._value(phi.incoming[s])) for s in self._sources[block]]
        return merge(arrivals, phi, self._conditions)

    def _value(self, value: Value) -> Value:
        return self.result.values.get(value, value)


def merge(arrivals: list[tuple[Value, Value]], phi: Phi, made: Conditions) -> Value:
    """Choose among values of which exactly one's condition holds: a balanced tree of selects."""
    groups: list[tuple[list[Value], Value]] = []
    for condition, value in arrivals:
        for conditions, known in groups:
            if same_value(known, value):
                conditions.append(condition)
                break
        else:
            groups.append(([condition], value))
    # The group with the most edges needs no condition if it comes last.
    groups.sort(key=lambda group: (len(group[0]), not isinstance(group[0][0], Const)))
    joined = [(made.any_of(conditions) if n + 1 < len(groups) else TRUE, v) for n, (conditions, v) in enumerate(groups)]
    return _tree(joined, phi, made)


def _tree(joined: list[tuple[Value, Value]], phi: Phi, made: Conditions) -> Value:
    if len(joined) == 1:
        return joined[0][1]
    if len(joined) <= 3:
        condition, value = joined[0]
        return made.choose(phi.width, condition, value, _tree(joined[1:], phi, made), phi.name, phi.place)
    half = len(joined) // 2
    left, right = _tree(joined[:half], phi, made), _tree(joined[half:], phi, made)
    condition = made.any_of([c for c, _ in joined[:half]])
    return made.choose(phi.width, condition, left, right, phi.name, phi.place)
