"""Known bits and ranges of every value of a module: a fixed point over blocks, memories and calls.

```
loop:                                   %i: 0..60, multiple of 4
  %i = phi 32 [entry: 0, loop: %j]
  %v = load 32 t[%i]                    what the ROM t holds, or what is stored to t anywhere
  %j = add 32 %i, 4                     %j: 4..64
  %c = slt 1 %j, 64
  branch %c, loop, exit
```

Optimistic (values start without any possible pattern) with widening at the phis of loops towards the constants that
comparisons mention (after Cousot and Cousot 1976), then a walk that takes back what widening gave too much. Conditions
of branches hold in the blocks that they guard. Sums carried around a loop of known trip count are bounded by it.

Quotients by zero are taken to be anything convenient, and elements of local arrays that were never written to be 0.
Since the hardware may hold anything there, what is known of such an array is only that its elements are extensions of
so many bits: true of whatever it holds once it is made that narrow, which is up to the caller (see `narrows_locals`).
"""

from __future__ import annotations

import heapq

from rtlagent.hls.ir import (
    Block,
    Const,
    Function,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Phi,
    Return,
    Value,
)

from .accumulation import Accumulations
from .conditions import Conditions, selected, selected_from
from .dominators import Dominators
from .fact import Fact, anything, exactly, join, meet, of_range, of_signed, sharpened
from .transfer import result
from .widening import Thresholds, widened

_CHANGES_BEFORE_WIDENING = 2
_CHANGES_BEFORE_GIVING_UP = 60

Key = Value | Memory | Function
"""What a fact may be about: a value, the elements of a memory, the result of a function."""
Node = Op | Phi | Block
"""What is evaluated: an operation, a phi, or a block that returns."""


class Facts:
    """The facts of a module's values; look them up with `at` (where used) or `of` (everywhere)."""

    def __init__(self, module: Module, *, narrows_locals: bool = False) -> None:
        """Analyse a module.

        Args:
            module: What to analyse.
            narrows_locals: The caller makes local arrays as narrow as is found here; else they may hold anything.
        """
        self.module = module
        self._narrows_locals = narrows_locals
        self._known: dict[Key, Fact] = {}
        self._conditions: dict[Block, Conditions] = {}
        self._accumulations: dict[Block, Accumulations] = {}
        self._home: dict[Node, tuple[Function, Block]] = {}
        self._position: dict[Node, int] = {}
        self._order: list[Node] = []
        self._users: dict[Key, list[Node]] = {}
        self._thresholds: dict[Key, Thresholds] = {}
        self._changes: dict[Key, int] = {}
        self._was_widened = False
        for function in module.functions:
            self._index(function)
        self._solve()
        if self._was_widened:
            self._sharpen()

    def of(self, key: Key) -> Fact:
        """Return what is known of a value, a memory's elements or a function's result."""
        if isinstance(key, Const):
            return exactly(key.value, key.width)
        return self._known.get(key) or anything(key.width)

    def at(self, value: Value, block: Block) -> Fact:
        """Return what is known of a value where it is used in a block."""
        return self._at(value, block) or self.of(value)

    def along(self, value: Value, source: Block, target: Block) -> Fact:
        """Return what is known of a value that flows into a phi."""
        return self._along(value, source, target) or self.of(value)

    def is_reached(self, key: Key) -> bool:
        """Tell whether there is any possible pattern, as far as is known."""
        return isinstance(key, Const) or key in self._known

    # How things hang together

    def _index(self, function: Function) -> None:
        tree = Dominators.of(function)
        conditions = Conditions(function, tree)
        accumulations = Accumulations(function)
        users: dict[Value, list[Node]] = {}
        for block in tree.order:
            self._conditions[block] = conditions
            self._accumulations[block] = accumulations
            self._index_block(function, block, users)
        for phi, values in accumulations.needed():
            for value in values:
                users.setdefault(value, []).append(phi)
        for value, nodes in users.items():
            self._users.setdefault(value, []).extend(nodes)
            # What holds of a value under a condition changes with what it is compared with.
            for other in conditions.bounds_of(value):
                self._users.setdefault(other, []).extend(nodes)
        number = {b: n for n, b in enumerate(tree.order)}
        for header in {t for b in tree.order for t in b.successors() if number[t] <= number[b]}:
            for phi in header.phis:
                self._thresholds[phi] = Thresholds.of_phi(phi, users)

    def _index_block(self, function: Function, block: Block, users: dict[Value, list[Node]]) -> None:
        nodes: list[tuple[Node, list[Value]]] = [(phi, list(phi.incoming.values())) for phi in block.phis]
        for op in block.ops:
            nodes.append((op, selected_from(op) if op.opcode is Opcode.SELECT else op.args))
            if op.opcode is Opcode.LOAD and op.memory is not None:
                self._users.setdefault(op.memory, []).append(op)
            elif op.callee is not None:
                self._users.setdefault(op.callee, []).append(op)
        if isinstance(block.terminator, Return) and block.terminator.value is not None:
            nodes.append((block, [block.terminator.value]))
        for node, values in nodes:
            self._home[node] = (function, block)
            self._position[node] = len(self._order)
            self._order.append(node)
            for value in values:
                users.setdefault(value, []).append(node)

    # Lookups; None: no pattern is possible (yet)

    def _base(self, value: Value) -> Fact | None:
        fact = self._known.get(value)
        if fact is None and isinstance(value, Const):
            fact = self._known[value] = exactly(value.value, value.width)
        return fact

    def _at(self, value: Value, block: Block) -> Fact | None:
        fact = self._base(value)
        if fact is None or isinstance(value, Const) or block not in self._conditions:
            return fact
        return self._conditions[block].inside(value, fact, block, self._base)

    def _along(self, value: Value, source: Block, target: Block) -> Fact | None:
        fact = self._at(value, source)
        if fact is None or source not in self._conditions:
            return fact
        return self._conditions[source].along(value, fact, source, target, self._base)

    # The fixed point

    def _solve(self) -> None:
        for memory in self.module.memories:
            start = self._contents(memory)
            if start is not None:
                self._known[memory] = start
            self._thresholds[memory] = Thresholds.of_width(memory.width)
        for param in self.module.top.params:
            self._known[param] = anything(param.width)
        self._work = list(range(len(self._order)))
        self._waiting = set(self._work)
        while self._work:
            at = heapq.heappop(self._work)
            self._waiting.discard(at)
            node = self._order[at]
            for key, fact in self._effects(node):
                self._raise(key, fact)

    def _effects(self, node: Node) -> list[tuple[Key, Fact | None]]:
        """Return what follows from a node: facts that the keys' own must cover."""
        function, block = self._home[node]
        if isinstance(node, Block):
            assert isinstance(node.terminator, Return)
            assert node.terminator.value is not None
            return [(function, self._at(node.terminator.value, block))]
        if isinstance(node, Phi):
            return [(node, self._phi(node, block))]
        if node.opcode is Opcode.STORE:
            assert node.memory is not None
            return [(node.memory, self._at(node.args[0], block))]
        if node.opcode is Opcode.CALL:
            assert node.callee is not None
            found: list[tuple[Key, Fact | None]] = [
                (param, self._at(arg, block)) for param, arg in zip(node.callee.params, node.args, strict=True)
            ]
            return [*found, (node, self._known.get(node.callee))]
        return [(node, self._value(node, block))]

    def _value(self, op: Op, block: Block) -> Fact | None:
        if op.opcode is Opcode.LOAD:
            assert op.memory is not None
            return self._known.get(op.memory)
        if op.opcode is Opcode.READ:
            return anything(op.width)
        if op.opcode is Opcode.WRITE:
            return None
        if op.opcode is Opcode.SELECT:
            return selected(op, lambda value: self._at(value, block))
        args = []
        for arg in op.args:
            fact = self._at(arg, block)
            if fact is None:
                return None
            args.append(fact)
        return result(op, args)

    def _phi(self, phi: Phi, block: Block) -> Fact | None:
        fact: Fact | None = None
        for source, value in phi.incoming.items():
            if source in self._conditions:
                fact = join(fact, self._along(value, source, block))
        if fact is None:
            return None
        bound = self._accumulations[block].bound(phi, self._at)
        return (meet(fact, bound) or fact) if bound is not None else fact

    def _raise(self, key: Key, new: Fact | None) -> None:
        """Let what is known of a key cover `new` too; if it did not, look at its users again."""
        if new is None or (isinstance(key, Memory) and key.kind is MemoryKind.PARAM):
            return
        if isinstance(key, Memory):
            new = _stored(key, new)
        old = self._known.get(key)
        fact: Fact = new
        if old is not None:
            joined = join(old, new)
            assert joined is not None
            if joined.same(old):
                return
            fact = self._widened(key, old, joined)
        self._known[key] = fact
        for node in self._users.get(key, ()):
            at = self._position[node]
            if at not in self._waiting:
                self._waiting.add(at)
                heapq.heappush(self._work, at)

    def _widened(self, key: Key, old: Fact, joined: Fact) -> Fact:
        count = self._changes[key] = self._changes.get(key, 0) + 1
        if count > _CHANGES_BEFORE_GIVING_UP:
            return anything(joined.width)
        thresholds = self._thresholds.get(key)
        if thresholds is None or count <= _CHANGES_BEFORE_WIDENING:
            return joined
        self._was_widened = True
        wide = widened(old, joined, thresholds)
        fact = sharpened(wide.width, wide.zeros, wide.ones, wide.lo, wide.hi, wide.slo, wide.shi) or wide
        if isinstance(key, Phi):
            bound = self._accumulations[self._home[key][1]].bound(key, self._at)
            if bound is not None:
                fact = join(joined, meet(fact, bound)) or joined
        return fact

    def _sharpen(self) -> None:
        """Walk once more, now downwards: what follows from facts that hold, holds too."""
        joined: dict[Key, Fact] = {}
        for memory in self.module.memories:
            start = self._contents(memory)
            if start is not None:
                joined[memory] = start
        for node in self._order:
            for key, fact in self._effects(node):
                if fact is None:
                    continue
                if key is node:
                    self._lower(key, fact)
                else:
                    both = join(joined.get(key), fact)
                    assert both is not None
                    joined[key] = both
        for key, fact in joined.items():
            self._lower(key, _stored(key, fact) if isinstance(key, Memory) else fact)

    def _lower(self, key: Key, fact: Fact) -> None:
        old = self._known.get(key)
        if old is not None and not fact.same(old):
            self._known[key] = meet(old, fact) or old

    def _contents(self, memory: Memory) -> Fact | None:
        """Return what is known of a memory's elements before anything is stored."""
        if memory.init is None:
            is_free = memory.kind is MemoryKind.LOCAL and self._narrows_locals
            return exactly(0, memory.width) if is_free else anything(memory.width)
        if memory.kind is MemoryKind.PARAM:
            return anything(memory.width)
        fact: Fact | None = None
        for value in set(memory.init):
            fact = join(fact, exactly(value, memory.width))
        return fact


def _stored(memory: Memory, fact: Fact) -> Fact:
    """Return what is known of a memory to which something is stored."""
    if memory.init is not None:
        return fact
    if fact.is_never_negative or fact.unsigned_bits <= fact.signed_bits:
        return of_range(fact.width, 0, (1 << fact.unsigned_bits) - 1) or fact
    half = 1 << (fact.signed_bits - 1)
    return of_signed(fact.width, -half, half - 1) or fact
