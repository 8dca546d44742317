"""Make values and memories as narrow as they can be.

```
memory h 32 [16] local                  memory h 7 [16] local
loop:                                   loop:
  %i = phi 32 [entry: 0, loop: %j]        %i = phi 7 [entry: 0, loop: %j]
  %v = load 8 a[%i]                       %t = trunc 6 %i
  %w = zext 32 %v                         %v = load 8 a[%t]
  %x = lshr 32 %w, 1                      %x = lshr 8 %v, 1
  %y = and 32 %i, 15                      %y = trunc 4 %i
  store h[%y] = %x                        %z = trunc 7 %x
  %j = add 32 %i, 1                       store h[%y] = %z
  %c = slt 1 %j, 64                       %j = add 7 %i, 1
  branch %c, loop, exit                   %c = ult 1 %j, 64
                                          branch %c, loop, exit
```

Forward, by the values that each can have (analysis/facts.py); backward, by the bits that anybody needs
(analysis/demanded.py). An operation is changed in place, keeps its name, and is extended for users that need more bits:
wires only. Parameters and results of functions that are not the top become narrower too.
"""

from __future__ import annotations

from rtlagent.hls.analysis.demanded import Demand, index_bits
from rtlagent.hls.analysis.facts import Facts
from rtlagent.hls.ir import (
    COMPARISONS,
    Block,
    Branch,
    Const,
    Function,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Return,
    Switch,
    Value,
    replace_uses,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .dead_code import remove_dead_ops
from .known_folds import fold_known, split_sums
from .widths import LOW_BITS, Width, Widths

_CASTS = frozenset({Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC})
_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})
_EQUALITY = frozenset({Opcode.EQ, Opcode.NE})
_SIGNED = frozenset({Opcode.SLT, Opcode.SLE})


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Narrow the whole module."""
    _narrow(module, late=False)


def run_late(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Narrow the whole module, and turn sums without carries into OR: for after the loop passes."""
    _narrow(module, late=True)


def _narrow(module: Module, *, late: bool) -> None:
    for function in module.functions:
        remove_dead_ops(function)
    facts = Facts(module, narrows_locals=True)
    fold_known(module, facts)
    if late:
        split_sums(module, facts)
    widths = Widths(module, facts, Demand(module))
    for function in module.functions:
        _Narrowing(module, function, facts, widths).run()
    for memory in module.memories:
        narrower = widths.narrower.get(memory)
        if narrower is not None and memory.kind is not MemoryKind.PARAM:
            memory.width = narrower.width
            if memory.init is not None:
                memory.init = tuple(v & ((1 << memory.width) - 1) for v in memory.init)
    for function in module.functions:
        narrower = widths.narrower.get(function)
        function.width = narrower.width if narrower is not None else function.width
        remove_dead_ops(function)


class _Narrowing:
    """Rewrites one function; callees' parameters and memories change their widths when all are done."""

    def __init__(self, module: Module, function: Function, facts: Facts, widths: Widths) -> None:
        self.module = module
        self.function = function
        self.facts = facts
        self.narrower = widths.narrower
        self.casts: dict[tuple[Value, int], Op] = {}
        self.after: dict[Value, list[Op]] = {}
        """Casts to stand right after the definition of a value."""
        self.replaced: dict[Value, Value] = {}
        self.original: dict[Value, int] = {}
        self.sources: dict[Value, Value] = {}
        """Extension or truncation -> what it was made from, before anything changed."""

    def run(self) -> None:
        """Rewrite every operand, then put the casts in."""
        for block in self.function.blocks:
            self.sources.update((op, op.args[0]) for op in block.ops if op.opcode in _CASTS)
        for value in self._narrowed_values():
            self.original[value] = value.width
            value.width = self.narrower[value].width
        for block in self.function.blocks:
            for phi in block.phis:
                for source, value in phi.incoming.items():
                    phi.incoming[source] = self._want(value, phi.width)
            for op in block.ops:
                self._op(op, block)
                if op.predicate is not None:
                    op.predicate = self._want(op.predicate, 1)
            self._terminator(block)
        self._place_casts()
        replace_uses(self.function, self.replaced)

    def _narrowed_values(self) -> list[Value]:
        values: list[Value] = []
        if self.function is not self.module.top:
            values += self.function.params
        for block in self.function.blocks:
            values += block.phis
            values += block.ops
        return [v for v in values if v in self.narrower]

    # Operands

    def _want(self, value: Value, width: int) -> Value:
        """Return the low `width` bits of what a value was, `width` at most its original width."""
        if isinstance(value, Const):
            return Const(value.value, width)
        source = self.sources.get(value)
        if source is not None and width <= self._width_before(source):
            return self._want(source, width)
        if width == value.width:
            return value
        known = self.casts.get((value, width))
        if known is None:
            known = self._cast(value, width)
            self.casts[value, width] = known
            self.after.setdefault(value, []).append(known)
        return known

    def _width_before(self, value: Value) -> int:
        return self.original.get(value, value.width)

    def _cast(self, value: Value, width: int) -> Op:
        place = value.place if isinstance(value, Op | Phi) else None
        if width < value.width:
            return Op(Opcode.TRUNC, width, [value], place=place)
        signed = self.narrower[value].signed
        return Op(Opcode.SEXT if signed else Opcode.ZEXT, width, [value], place=place)

    # Users

    def _op(self, op: Op, block: Block) -> None:
        opcode, args = op.opcode, op.args
        if opcode is Opcode.SELECT:
            op.args = [self._want(args[0], 1), self._want(args[1], op.width), self._want(args[2], op.width)]
        elif opcode in _SHIFTS:
            op.args = [self._want(args[0], op.width), self._amount(args[1], block)]
        elif opcode in COMPARISONS:
            width = self._comparison_width(op, block)
            op.args = [self._want(a, width) for a in args]
        elif opcode in (Opcode.ZEXT, Opcode.SEXT):
            self._extension(op)
        elif opcode is Opcode.TRUNC:
            self.replaced[op] = self._want(args[0], op.width)
        elif opcode in (Opcode.LOAD, Opcode.STORE):
            self._access(op)
        elif opcode is Opcode.CALL:
            assert op.callee is not None
            op.args = [self._want(a, self._param_width(p)) for a, p in zip(args, op.callee.params, strict=True)]
        elif opcode is Opcode.WRITE:
            op.args = [self._want(args[0], self._width_before(args[0]))]
        else:
            assert opcode in LOW_BITS or opcode is Opcode.READ or len(args) == 2
            op.args = [self._want(a, op.width) for a in args]

    def _param_width(self, param: Param) -> int:
        narrower = self.narrower.get(param)
        return narrower.width if narrower is not None else param.width

    def _amount(self, amount: Value, block: Block) -> Value:
        """Return a shift amount with as many bits as it can have."""
        if isinstance(amount, Const):
            return amount
        width = min(self._width_before(amount), self.facts.at(amount, block).unsigned_bits)
        return self._want(amount, width)

    def _comparison_width(self, op: Op, block: Block) -> int:
        """Return the least width in which two values compare as they do now."""
        facts = [self.facts.at(a, block) for a in op.args]
        unsigned = max(f.unsigned_bits for f in facts)
        signed = max(f.signed_bits for f in facts)
        if op.opcode in _EQUALITY:
            return min(unsigned, signed)
        return signed if op.opcode in _SIGNED else unsigned

    def _extension(self, op: Op) -> None:
        """Extend what is left of the source."""
        source = op.args[0]
        before = self._width_before(source)
        narrower = self.narrower.get(source) if before > source.width else None
        if narrower is None or isinstance(source, Const):
            op.args = [self._want(source, before)]
        elif narrower.signed == (op.opcode is Opcode.SEXT):
            op.args = [source]
        elif not narrower.signed:
            # The source fits with zeros in front: its old sign bit is 0.
            op.opcode = Opcode.ZEXT
            op.args = [source]
        else:
            op.args = [self._want(source, before)]

    def _access(self, op: Op) -> None:
        memory = op.memory
        assert memory is not None
        subscripts = [
            self._want(s, min(index_bits(d), self._width_before(s)))
            for s, d in zip(op.subscripts, memory.dims, strict=True)
        ]
        if op.opcode is Opcode.LOAD:
            op.args = subscripts
            return
        narrower = self.narrower.get(memory, Width(memory.width, False))
        op.args = [self._want(op.args[0], narrower.width), *subscripts]

    def _terminator(self, block: Block) -> None:
        end = block.terminator
        if isinstance(end, Branch):
            end.condition = self._want(end.condition, 1)
        elif isinstance(end, Switch):
            width = max([self.facts.at(end.value, block).unsigned_bits, *(n.bit_length() for n, _ in end.cases)])
            end.value = self._want(end.value, min(width, self._width_before(end.value)))
        elif isinstance(end, Return) and end.value is not None:
            narrower = self.narrower.get(self.function, Width(self.function.width, False))
            end.value = self._want(end.value, narrower.width)

    def _place_casts(self) -> None:
        for block in self.function.blocks:
            ops: list[Op] = []
            if block is self.function.entry:
                for param in self.function.params:
                    ops += self.after.get(param, [])
            for phi in block.phis:
                ops += self.after.get(phi, [])
            for op in block.ops:
                ops.append(op)
                ops += self.after.get(op, [])
            block.ops = ops
