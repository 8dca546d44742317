"""Let values go from block to block as what is really stored, not as what wires make of it.

```
entry:                                  entry:
  %w = load 8 a[0]                        %w = load 8 a[0]
  %x = zext 32 %w                         jump next
  %y = shl 32 %x, 4                     next:
  jump next                               %x = zext 32 %w
next:                                     %y = shl 32 %x, 4
  store b[0] = %y                         store b[0] = %y
```

A value used in another block is a register. Extensions, truncations and shifts by constants are wires: a copy of
them in the block of use needs no register but that of their operand. A truncation moves only if its operand is kept
anyway.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import reverse_postorder
from rtlagent.hls.ir import Block, Branch, Const, Function, Module, Op, Opcode, Param, Phi, Return, Switch, Value
from rtlagent.hls.options import HlsOptions, Remarks

from .dead_code import remove_dead_ops

_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})
_EXTENSIONS = frozenset({Opcode.ZEXT, Opcode.SEXT})


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Copy wires to the blocks that use them; to be run after the last merging of equal operations."""
    for function in module.functions:
        sink_wires(function)


def sink_wires(function: Function) -> None:
    """Copy the wires of one function."""
    sinking = _Sinking(function)
    for block in reversed(reverse_postorder(function)):
        for op in reversed(list(block.ops)):
            sinking.sink(op, block)
    sinking.finish()
    remove_dead_ops(function)


class _Sinking:
    """Knows in which blocks each value is used; a phi uses its operands at the end of the block before."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._blocks: dict[Value, dict[Block, None]] = {}
        self._copies: dict[tuple[Value, Block], Op] = {}
        self._order: dict[Block, list[Op]] = {}
        for block in function.blocks:
            for phi in block.phis:
                for source, value in phi.incoming.items():
                    self._used(value, source)
            for op in block.ops:
                for value in op.operands():
                    self._used(value, block)
            end = block.terminator
            used = end.condition if isinstance(end, Branch) else end.value if isinstance(end, Switch | Return) else None
            if used is not None:
                self._used(used, block)

    def _used(self, value: Value, block: Block) -> None:
        if isinstance(value, Op | Phi | Param):
            self._blocks.setdefault(value, {})[block] = None

    def sink(self, op: Op, home: Block) -> None:
        """Copy an operation to the other blocks that use it, if that saves registers."""
        blocks = [b for b in self._blocks.get(op, {}) if b is not home]
        if not blocks or not _is_wire(op) or not self._pays(op, home):
            return
        for block in blocks:
            copy = Op(op.opcode, op.width, op.args, name=op.name, place=op.place)
            self._copies[op, block] = copy
            self._order.setdefault(block, []).append(copy)
            self._used(op.args[0], block)

    def _pays(self, op: Op, home: Block) -> bool:
        """Tell whether the operand is no wider than the result, or kept for later anyway."""
        source = op.args[0]
        if op.opcode in _EXTENSIONS or op.opcode is Opcode.SHL or isinstance(source, Param):
            return True
        return any(b is not home for b in self._blocks.get(source, {}))

    def finish(self) -> None:
        """Put the copies in, and let everything use those of its own block."""
        for block, copies in self._order.items():
            # Users were looked at before what they use.
            block.ops[:0] = reversed(copies)
        for block in self._function.blocks:
            for phi in block.phis:
                for source, value in phi.incoming.items():
                    phi.incoming[source] = self._in(value, source)
            for op in block.ops:
                op.args = [self._in(a, block) for a in op.args]
                if op.predicate is not None:
                    op.predicate = self._in(op.predicate, block)
            end = block.terminator
            if isinstance(end, Branch):
                end.condition = self._in(end.condition, block)
            elif isinstance(end, Switch):
                end.value = self._in(end.value, block)
            elif isinstance(end, Return):
                end.value = self._in(end.value, block) if end.value is not None else None

    def _in(self, value: Value, block: Block) -> Value:
        return self._copies.get((value, block), value)


def _is_wire(op: Op) -> bool:
    if op.opcode in _EXTENSIONS or op.opcode is Opcode.TRUNC:
        return True
    return op.opcode in _SHIFTS and isinstance(op.args[1], Const)
