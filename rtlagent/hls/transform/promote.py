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

from dataclasses import dataclass

from rtlagent.hls.ir import Block, Const, Function, Op, Opcode, Phi, Value, predecessors, replace_uses

from .ssa import Reader, remove_trivial_phis


@dataclass
class Element:
    """One memory element and the accesses of it that are to be replaced."""

    accesses: list[Op]
    name: str = ""
    """Of the values, for people who read the output."""

    @property
    def stored(self) -> bool:
        """True if the element is written in the region."""
        return any(op.opcode is Opcode.STORE for op in self.accesses)


def promote(
    function: Function,
    blocks: list[Block],
    element: Element,
    first: tuple[Block, Value],
    exits: list[Block],
) -> dict[Block, Value]:
    """Replace the accesses of one element in `blocks` by values; return the value at the start of each exit block.

    Args:
        function: Its blocks and edges stay as they are.
        blocks: The region.
        element: All accesses of it in the region; none of another element there may meet it.
        first: The block in which the region is entered, and the value of the element at its end.
        exits: Blocks outside, reached from the region only, where the value is wanted.
    """
    replaced = set(element.accesses)
    width = next(op.memory.width for op in element.accesses if op.memory is not None)
    marker = Phi(width, name=element.name, place=element.accesses[0].place)
    starts: dict[Block, Phi] = {}
    values: dict[Value, Value] = {}
    ends: dict[Block, Value] = {first[0]: first[1]}
    for block in blocks:
        if not any(op in replaced for op in block.ops):
            continue
        starts[block] = Phi(width)
        end = _rewrite(block, replaced, starts[block], values, element.name)
        if end is not starts[block]:
            ends[block] = end
    made: list[tuple[Block, Phi]] = []
    reader = Reader(marker, ends, predecessors(function), made)
    for block, start in starts.items():
        values[start] = reader.start(block)
    result: dict[Block, Value] = {block: reader.start(block) for block in exits}
    kept = _Anchor(result)
    replace_uses(function, values)
    kept.follow(values)
    remaining = remove_trivial_phis(function, [phi for _, phi in made])
    kept.follow(remaining)
    return kept.values


@dataclass
class _Anchor:
    """Values that must survive replacements without being used yet."""

    values: dict[Block, Value]

    def follow(self, replacement: dict[Value, Value]) -> None:
        """Go along with a replacement."""
        for block in self.values:
            while self.values[block] in replacement:
                self.values[block] = replacement[self.values[block]]


def _rewrite(block: Block, replaced: set[Op], start: Phi, values: dict[Value, Value], name: str) -> Value:
    """Drop the accesses from a block; return the element's value at its end."""
    current: Value = start
    ops: list[Op] = []
    for op in block.ops:
        if op not in replaced:
            ops.append(op)
        elif op.opcode is Opcode.LOAD:
            values[op] = current
        elif op.predicate is None:
            current = op.args[0]
        else:
            current = Op(
                Opcode.SELECT, op.args[0].width, [op.predicate, op.args[0], current], name=name, place=op.place
            )
            ops.append(current)
    block.ops = ops
    return current


def unknown(width: int) -> Const:
    """Return what stands for a value that the program must not use."""
    return Const(0, width)
