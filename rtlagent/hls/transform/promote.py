"""Keep one memory element in a value while control is in a region: the machinery of scalar replacement.

```
before: jump loop                        before: %y.0 = load y[3]
loop:   %v = load y[3]                           jump loop
        %w = add %v, %a                  loop:   %y.1 = phi [before: %y.0, loop: %w]
        store y[3] = %w                          %w = add %y.1, %a
        branch %c, loop, left                    branch %c, loop, left
left:                                    left:   store y[3] = %w
```
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import Block, Const, Function, Op, Opcode, Phi, Value, predecessors, replace_uses

from .ssa import Reader, remove_trivial_phis


@dataclass
class Element:
    """One memory element and the accesses of it that are to be replaced."""

    accesses: list[Op]
    name: str = ""
    """Of the values, for people who read the output."""
    first: Value = field(default_factory=lambda: Const(0, 1))
    """Its value when the region is entered."""

    @property
    def stored(self) -> bool:
        """True if the element is written in the region."""
        return any(op.opcode is Opcode.STORE for op in self.accesses)


def promote(
    function: Function,
    blocks: list[Block],
    elements: list[Element],
    entered: Block,
    exits: list[Block],
) -> list[dict[Block, Value]]:
    """Replace the accesses of some elements in `blocks` by values; return each one's value at the start of the exits.

    Args:
        function: Its blocks and edges stay as they are.
        blocks: The region.
        elements: With all their accesses in the region; no other access there may meet one of them.
        entered: The block from which the region is entered; at its end the elements have their first values.
        exits: Blocks outside, reached from the region only, where the values are wanted.
    """
    owner = {op: n for n, element in enumerate(elements) for op in element.accesses}
    values: dict[Value, Value] = {}
    starts: list[dict[Block, Phi]] = [{} for _ in elements]
    ends: list[dict[Block, Value]] = [{entered: element.first} for element in elements]
    for block in blocks:
        if any(op in owner for op in block.ops):
            _rewrite(block, owner, elements, starts, ends, values)
    made: list[tuple[Block, Phi]] = []
    sources = predecessors(function)
    results: list[dict[Block, Value]] = []
    for n, element in enumerate(elements):
        marker = Phi(element.first.width, name=element.name, place=element.accesses[0].place)
        reader = Reader(marker, ends[n], sources, made)
        for block, start in starts[n].items():
            values[start] = reader.start(block)
        results.append({block: reader.start(block) for block in exits})
    replace_uses(function, values)
    _follow(results, values)
    _follow(results, remove_trivial_phis(function, [phi for _, phi in made]))
    return results


def _follow(results: list[dict[Block, Value]], replacement: dict[Value, Value]) -> None:
    """Let values that are not used yet go along with a replacement."""
    for result in results:
        for block in result:
            while result[block] in replacement:
                result[block] = replacement[result[block]]


def _rewrite(
    block: Block,
    owner: dict[Op, int],
    elements: list[Element],
    starts: list[dict[Block, Phi]],
    ends: list[dict[Block, Value]],
    values: dict[Value, Value],
) -> None:
    """Drop the accesses from a block, noting the elements' values at its start and end."""
    current: dict[int, Value] = {}
    ops: list[Op] = []
    for op in block.ops:
        n = owner.get(op)
        if n is None:
            ops.append(op)
            continue
        if n not in current:
            current[n] = starts[n][block] = Phi(elements[n].first.width)
        if op.opcode is Opcode.LOAD:
            values[op] = current[n]
            continue
        if op.predicate is None:
            current[n] = op.args[0]
        else:
            choice = [op.predicate, op.args[0], current[n]]
            chosen = Op(Opcode.SELECT, op.args[0].width, choice, name=elements[n].name, place=op.place)
            ops.append(chosen)
            current[n] = chosen
        ends[n][block] = current[n]
    block.ops = ops


def unknown(width: int) -> Const:
    """Return what stands for a value that the program must not use."""
    return Const(0, width)
