"""Simplify: constants, identities and conditions that are known.

```
entry:                                  entry:
  %a = add 32 %x, 3                       %b = add 32 %x, 7
  %b = add 32 %a, 4                       jump yes
  %c = ult 1 %b, 0                      yes:
  branch %c, no, yes                      return %b
no:
  return 0
yes:
  return %b
```

Runs the rules of `rules/` in the order of the blocks until nothing changes.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dominators import reverse_postorder
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Module,
    Op,
    Opcode,
    Return,
    Switch,
    Value,
    replace_uses,
    same_value,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .dead_code import remove_unreachable
from .rules import arithmetic, bitwise, casts, comparisons, concatenation, evaluate, selects, shifts, slices
from .rules.rewriter import Rewriter, Rule, constant, operation

_MAX_ROUNDS = 8

_DIVIDE: tuple[Rule, ...] = (evaluate.fold, arithmetic.divide)
_SHIFT: tuple[Rule, ...] = (evaluate.fold, shifts.shift)
_EQUALITY: tuple[Rule, ...] = (evaluate.fold, comparisons.compare, comparisons.equality)
_ORDER: tuple[Rule, ...] = (evaluate.fold, comparisons.compare, comparisons.order, comparisons.order_of_sign)

RULES: dict[Opcode, tuple[Rule, ...]] = {
    Opcode.ADD: (evaluate.fold, arithmetic.add),
    Opcode.SUB: (evaluate.fold, arithmetic.subtract),
    Opcode.MUL: (evaluate.fold, arithmetic.multiply),
    Opcode.UDIV: _DIVIDE,
    Opcode.SDIV: _DIVIDE,
    Opcode.UREM: _DIVIDE,
    Opcode.SREM: _DIVIDE,
    Opcode.AND: (evaluate.fold, bitwise.bitwise, bitwise.conjunction),
    Opcode.OR: (evaluate.fold, bitwise.bitwise, bitwise.disjunction, concatenation.join_pieces),
    Opcode.XOR: (evaluate.fold, bitwise.bitwise, bitwise.exclusive),
    Opcode.SHL: _SHIFT,
    Opcode.LSHR: (*_SHIFT, slices.slice_of),
    Opcode.ASHR: _SHIFT,
    Opcode.EQ: _EQUALITY,
    Opcode.NE: _EQUALITY,
    Opcode.ULT: _ORDER,
    Opcode.ULE: _ORDER,
    Opcode.SLT: _ORDER,
    Opcode.SLE: _ORDER,
    Opcode.SELECT: (evaluate.fold, selects.select),
    Opcode.ZEXT: (evaluate.fold, casts.extend),
    Opcode.SEXT: (evaluate.fold, casts.extend),
    Opcode.TRUNC: (evaluate.fold, casts.truncate, slices.slice_of),
}


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Simplify every function."""
    for function in module.functions:
        simplify_function(function)


def simplify_function(function: Function) -> bool:
    """Simplify until nothing changes; tell whether anything did."""
    changed = False
    for _ in range(_MAX_ROUNDS):
        if not _Round(function).run():
            break
        changed = True
    return changed


def count_uses(function: Function) -> dict[Value, int]:
    """Return how often each value is used."""
    uses: dict[Value, int] = {}
    for block in function.blocks:
        for phi in block.phis:
            for value in phi.incoming.values():
                uses[value] = uses.get(value, 0) + 1
        for op in block.ops:
            for value in op.operands():
                uses[value] = uses.get(value, 0) + 1
        end = block.terminator
        used = end.condition if isinstance(end, Branch) else end.value if isinstance(end, Switch | Return) else None
        if used is not None:
            uses[used] = uses.get(used, 0) + 1
    return uses


def _pass_name_on(op: Op, value: Value, made: list[Op]) -> None:
    """Give an operation's name to the new one that computes it now, perhaps without a final cast."""
    while isinstance(value, Op) and value.opcode in (Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC):
        value = value.args[0]
    if isinstance(value, Op) and value in made and not value.name:
        value.name = op.name


class _Round:
    """One walk over the function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.replaced: dict[Value, Value] = {}
        self.rewriter = Rewriter(RULES, count_uses(function))
        self.changed = False

    def run(self) -> bool:
        """Walk; tell whether anything changed."""
        removed_edge = False
        for block in reverse_postorder(self.function):
            self._phis(block)
            self._ops(block)
            removed_edge |= self._terminator(block)
        replace_uses(self.function, self.replaced)
        if removed_edge:
            remove_unreachable(self.function)
        return self.changed or self.rewriter.changed or bool(self.replaced)

    def _final(self, value: Value) -> Value:
        while value in self.replaced:
            value = self.replaced[value]
        return value

    def _phis(self, block: Block) -> None:
        kept = []
        for phi in block.phis:
            values = [v for v in map(self._final, phi.incoming.values()) if v is not phi]
            if values and all(same_value(values[0], v) for v in values[1:]):
                self.replaced[phi] = values[0]
            else:
                kept.append(phi)
        block.phis = kept

    def _ops(self, block: Block) -> None:
        rewriter = self.rewriter
        ops: list[Op] = []
        for op in block.ops:
            op.args = [self._final(a) for a in op.args]
            if op.predicate is not None and not self._predicate(op):
                continue
            rewriter.made = []
            value = rewriter.simplify(op)
            ops += rewriter.made
            if value is op:
                ops.append(op)
            else:
                self.replaced[op] = value
            _pass_name_on(op, value, rewriter.made)
        block.ops = ops

    def _predicate(self, op: Op) -> bool:
        """Drop a predicate that is 1; tell whether the operation stays: one that is 0 takes it away."""
        assert op.predicate is not None
        op.predicate = self._final(op.predicate)
        if not isinstance(op.predicate, Const):
            return True
        self.changed = True
        if op.predicate.value:
            op.predicate = None
            return True
        if op.width:
            self.replaced[op] = Const(0, op.width)
        return False

    def _terminator(self, block: Block) -> bool:
        """Follow conditions that are known; tell whether an edge went."""
        end = block.terminator
        if isinstance(end, Branch):
            end.condition = self._final(end.condition)
            opposite = operation(end.condition, Opcode.XOR)
            if opposite is not None and constant(opposite.args[1]) == 1:
                end.condition, end.then, end.other = opposite.args[0], end.other, end.then
                self.changed = True
            known = constant(end.condition)
            target = end.then if known else end.other
            if known is None and end.then is not end.other:
                return False
        elif isinstance(end, Switch):
            end.value = self._final(end.value)
            known = constant(end.value)
            if known is None:
                self._switch(end)
                return False
            target = dict(end.cases).get(known, end.default)
        else:
            if isinstance(end, Return) and end.value is not None:
                end.value = self._final(end.value)
            return False
        self._jump(block, target)
        return True

    def _switch(self, end: Switch) -> None:
        """Take the value before its extension."""
        cast = operation(end.value, Opcode.ZEXT)
        if cast is None:
            return
        narrow = cast.args[0]
        if all(number >> narrow.width == 0 for number, _ in end.cases):
            end.value = narrow
            self.changed = True

    def _jump(self, block: Block, target: Block) -> None:
        for other in block.successors():
            if other is not target:
                for phi in other.phis:
                    phi.incoming.pop(block, None)
        block.terminator = Jump(target)
        self.changed = True
