"""Dominators of a function's blocks (Cooper, Harvey and Kennedy 2001, "A simple, fast dominance algorithm")."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.ir import Block, Function, predecessors


def reverse_postorder(function: Function) -> list[Block]:
    """Return the blocks that the entry reaches, each before its successors but for back edges."""
    order: list[Block] = []
    seen = {function.entry}
    stack = [(function.entry, iter(function.entry.successors()))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(target.successors())))
                break
        else:
            order.append(block)
            stack.pop()
    order.reverse()
    return order


@dataclass
class Dominators:
    """The dominator tree of the reachable blocks."""

    order: list[Block]
    """Reverse postorder."""
    parent: dict[Block, Block | None]
    """The immediate dominator; None for the entry."""
    children: dict[Block, list[Block]]
    _enter: dict[Block, int]
    _leave: dict[Block, int]

    @classmethod
    def of(cls, function: Function) -> Dominators:
        """Build the tree."""
        order = reverse_postorder(function)
        parent = _immediate(function, order)
        children: dict[Block, list[Block]] = {b: [] for b in order}
        for block in order:
            above = parent[block]
            if above is not None:
                children[above].append(block)
        enter: dict[Block, int] = {}
        leave: dict[Block, int] = {}
        clock = 0
        stack = [(order[0], False)]
        while stack:
            block, done = stack.pop()
            clock += 1
            if done:
                leave[block] = clock
                continue
            enter[block] = clock
            stack.append((block, True))
            stack.extend((c, False) for c in reversed(children[block]))
        return cls(order, parent, children, enter, leave)

    def reachable(self, block: Block) -> bool:
        """Tell whether the entry reaches the block."""
        return block in self._enter

    def dominates(self, above: Block, below: Block) -> bool:
        """Tell whether every way from the entry to `below` passes `above` (a block dominates itself)."""
        if above not in self._enter or below not in self._enter:
            return False
        return self._enter[above] <= self._enter[below] and self._leave[below] <= self._leave[above]

    def preorder(self) -> list[Block]:
        """Return the blocks, each after its dominators."""
        return sorted(self._enter, key=self._enter.__getitem__)


def _immediate(function: Function, order: list[Block]) -> dict[Block, Block | None]:
    number = {b: n for n, b in enumerate(order)}
    sources = predecessors(function)
    above: list[int] = [-1] * len(order)
    above[0] = 0
    changed = True
    while changed:
        changed = False
        for n in range(1, len(order)):
            best = -1
            for source in sources[order[n]]:
                at = number.get(source, -1)
                if at < 0 or above[at] < 0:
                    continue
                best = at if best < 0 else _meet(above, at, best)
            if best != above[n]:
                above[n] = best
                changed = True
    return {b: (order[above[n]] if n else None) for n, b in enumerate(order)}


def _meet(above: list[int], a: int, b: int) -> int:
    while a != b:
        while a > b:
            a = above[a]
        while b > a:
            b = above[b]
    return a
