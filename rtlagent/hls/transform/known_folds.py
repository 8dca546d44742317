"""Fold what known bits and ranges decide.

```
  %a = zext 32 %x8                        ...
  %b = and 32 %a, 511                     (%a itself)
  %c = slt 1 %a, %y                       %c = ult 1 %a, %y      where %y is never negative
  %d = slt 1 %a, 256                      1
```
"""

from __future__ import annotations

from rtlagent.hls.analysis.facts import Facts
from rtlagent.hls.ir import Block, Branch, Const, Function, Module, Op, Opcode, Switch, Value, replace_uses

_UNSIGNED = {
    Opcode.SLT: Opcode.ULT,
    Opcode.SLE: Opcode.ULE,
    Opcode.SDIV: Opcode.UDIV,
    Opcode.SREM: Opcode.UREM,
}


def fold_known(module: Module, facts: Facts) -> None:
    """Fold in every function; what `facts` says stays true of all values."""
    for function in module.functions:
        _Folding(function, facts).run()


def split_sums(module: Module, facts: Facts) -> None:
    """Turn sums without carries (`2 * i + 1`) into OR: wires; analyses of counters and subscripts are over by then."""
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if op.opcode is Opcode.ADD and all(facts.is_reached(a) for a in op.args):
                    a, b = (facts.at(arg, block) for arg in op.args)
                    if (a.zeros | b.zeros) == (1 << op.width) - 1:
                        op.opcode = Opcode.OR


class _Folding:
    """Folds one function."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self.function = function
        self.facts = facts
        self.replaced: dict[Value, Value] = {}

    def run(self) -> None:
        """Fold phis, operations and terminators."""
        for block in self.function.blocks:
            for phi in block.phis:
                self._constant(phi)
            for op in block.ops:
                if not op.width or self._constant(op):
                    continue
                same = self._same(op, block)
                if same is not None:
                    self.replaced[op] = same
                else:
                    self._unsigned(op, block)
            for op in block.ops:
                op.args = [self._here(a, block) for a in op.args]
                if op.predicate is not None:
                    op.predicate = self._here(op.predicate, block)
            end = block.terminator
            if isinstance(end, Branch):
                end.condition = self._here(end.condition, block)
            elif isinstance(end, Switch):
                end.value = self._here(end.value, block)
        replace_uses(self.function, self.replaced)

    def _constant(self, value: Value) -> bool:
        """Replace a value that is always the same."""
        if not self.facts.is_reached(value):
            return False
        fact = self.facts.of(value)
        if fact.is_constant:
            self.replaced[value] = Const(fact.lo, value.width)
        return fact.is_constant

    def _here(self, value: Value, block: Block) -> Value:
        """Return a constant for a value that is always the same in this block."""
        if isinstance(value, Const) or not self.facts.is_reached(value):
            return value
        fact = self.facts.at(value, block)
        return Const(fact.lo, value.width) if fact.is_constant else value

    def _same(self, op: Op, block: Block) -> Value | None:
        """Return the operand that an operation does not change."""
        if op.opcode not in (Opcode.AND, Opcode.OR, Opcode.UREM):
            return None
        a, b = op.args
        fact = self.facts.at(a, block)
        if op.opcode is Opcode.UREM:
            return a if fact.hi < self.facts.at(b, block).lo else None
        if not isinstance(b, Const):
            return None
        mask = (1 << op.width) - 1
        if op.opcode is Opcode.AND:
            return a if ~b.value & mask & ~fact.zeros == 0 else None
        return a if b.value & ~fact.ones == 0 else None

    def _unsigned(self, op: Op, block: Block) -> None:
        """Make an operation unsigned where signs are known to be 0."""
        if op.opcode in _UNSIGNED:
            if all(self.facts.at(a, block).is_never_negative for a in op.args):
                op.opcode = _UNSIGNED[op.opcode]
        elif op.opcode is Opcode.SEXT and self.facts.at(op.args[0], block).is_never_negative:
            op.opcode = Opcode.ZEXT
        elif op.opcode is Opcode.ASHR and self.facts.at(op.args[0], block).is_never_negative:
            op.opcode = Opcode.LSHR
