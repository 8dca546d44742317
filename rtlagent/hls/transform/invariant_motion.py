"""Take out of loops what is the same in every iteration, if it is worth a register.

```
entry:                                  entry:
  jump loop                               %m = mul 32 %x, %y
loop:                                     jump loop
  %i = phi 32 [entry: 0, loop: %j]      loop:
  %m = mul 32 %x, %y                      %i = phi 32 [entry: 0, loop: %j]
  %v = load 32 a[%i]                      %v = load 32 a[%i]
  %s = mul 32 %v, %m                      %s = mul 32 %v, %m
  ...                                     ...
```

Worth it are products of variables, divisions, and loads of memories that the loop does not write (executed in every
iteration, or certainly in range), with the chains of cheap operations that feed them. A cheap operation alone
stays: a wire is better than a register that lives as long as the loop.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import Dominators
from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.ir import (
    DIVISIONS,
    Block,
    Const,
    Function,
    Jump,
    Memory,
    Module,
    Op,
    Opcode,
    Phi,
    Value,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .simplify_cfg import retarget

_NEVER = frozenset({Opcode.STORE, Opcode.CALL, Opcode.READ, Opcode.WRITE, Opcode.COPY})


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Move invariant operations out of every loop, from the innermost outwards."""
    written = {f: _written(f.blocks) for f in module.functions}
    for function in reversed(module.functions):
        # Callees stand after their callers.
        for block in function.blocks:
            for op in block.ops:
                if op.callee is not None:
                    written[function] |= written[op.callee]
    for function in module.functions:
        hoist(function, written)


def hoist(function: Function, written: dict[Function, set[Memory]]) -> None:
    """Move the invariant operations of one function's loops; `written` says what calls may store to."""
    forest = find_loops(function)
    inside_first = sorted(forest, key=lambda loop: -loop.depth)
    if not inside_first:
        return
    tree = Dominators.of(function)
    for loop in inside_first:
        _LoopMotion(function, loop, tree, written).run()


def _written(blocks: list[Block]) -> set[Memory]:
    return {op.memory for b in blocks for op in b.ops if op.opcode is Opcode.STORE and op.memory is not None}


class _LoopMotion:
    """Moves the operations of one loop."""

    def __init__(self, function: Function, loop: Loop, tree: Dominators, written: dict[Function, set[Memory]]) -> None:
        self.function = function
        self.loop = loop
        self.stored = _written(loop.blocks)
        for block in loop.blocks:
            for op in block.ops:
                if op.callee is not None:
                    self.stored |= written[op.callee]
        self.inside: set[Value] = {v for b in loop.blocks for v in (*b.phis, *b.ops)}
        self.always = self._executed_always(tree)

    def _executed_always(self, tree: Dominators) -> set[Block]:
        """Return the blocks that every entered iteration passes: those that dominate all latches and exits."""
        ends = [*self.loop.latches, *(source for source, _ in self.loop.exits)]
        return {b for b in self.loop.blocks if all(tree.dominates(b, e) for e in ends)}

    def run(self) -> None:
        """Find what is invariant, then move what is worth it with what it needs."""
        invariant: dict[Op, Block] = {}
        for block in self.loop.blocks:
            for op in block.ops:
                if self._is_invariant(op, block):
                    invariant[op] = block
                    self.inside.discard(op)
        wanted: set[Op] = set()
        work = [op for op in invariant if self._is_dear(op, invariant[op])]
        while work:
            op = work.pop()
            if op in wanted:
                continue
            wanted.add(op)
            work += [a for a in op.operands() if isinstance(a, Op) and a in invariant]
        if wanted:
            self._move([op for op in invariant if op in wanted], invariant)

    def _is_invariant(self, op: Op, block: Block) -> bool:
        if op.opcode in _NEVER or any(a in self.inside for a in op.operands()):
            return False
        if op.opcode is not Opcode.LOAD:
            return True
        assert op.memory is not None
        if op.memory in self.stored or op.predicate is not None:
            return False
        return block in self.always or _surely_in_range(op)

    def _is_dear(self, op: Op, block: Block) -> bool:
        """Tell whether an operation costs more than a register; a division takes time, so it must be needed too."""
        if op.opcode is Opcode.MUL:
            return not any(isinstance(a, Const) for a in op.args)
        return op.opcode is Opcode.LOAD or (op.opcode in DIVISIONS and block in self.always)

    def _move(self, ops: list[Op], home: dict[Op, Block]) -> None:
        """Move to the end of a block that goes to the header only; `ops` is in an order of execution."""
        moved = set(ops)
        for block in set(home.values()):
            block.ops = [op for op in block.ops if op not in moved]
        preheader(self.function, self.loop).ops += ops


def preheader(function: Function, loop: Loop) -> Block:
    """Return the block before a loop that goes nowhere else; make one if there is none."""
    header = loop.header
    if len(loop.entries) == 1 and loop.entries[0].successors() == [header]:
        return loop.entries[0]
    taken = {b.name for b in function.blocks}
    name = f"{header.name}_before"
    while name in taken:
        name += "_"
    before = Block(name)
    before.terminator = Jump(header)
    for phi in header.phis:
        values = {s: phi.incoming.pop(s) for s in loop.entries}
        if len(values) == 1:
            phi.incoming[before] = next(iter(values.values()))
            continue
        joined = Phi(phi.width, name=phi.name, place=phi.place)
        joined.incoming = values
        before.phis.append(joined)
        phi.incoming[before] = joined
    for source in loop.entries:
        retarget(source, header, before)
    function.blocks.insert(function.blocks.index(header), before)
    outer = loop.parent
    while outer is not None:
        outer.blocks.append(before)
        outer.members = outer.members | {before}
        outer = outer.parent
    loop.entries = [before]
    return before


def _surely_in_range(op: Op) -> bool:
    """Tell whether the subscripts of a load are in range whatever their values are."""
    assert op.memory is not None
    for value, dim in zip(op.subscripts, op.memory.dims, strict=True):
        if isinstance(value, Const):
            if value.value >= dim:
                return False
        elif 1 << value.width > dim:
            return False
    return True
