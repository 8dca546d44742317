"""Decide how wide each value and memory has to be: by the values it can have, and by the bits that anybody needs."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.analysis.demanded import Demand, Key
from rtlagent.hls.analysis.fact import Fact
from rtlagent.hls.analysis.facts import Facts
from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.ir import Block, Const, Function, Memory, MemoryKind, Module, Op, Opcode, Phi, Value

LOW_BITS = frozenset(
    {
        Opcode.ADD,
        Opcode.SUB,
        Opcode.MUL,
        Opcode.AND,
        Opcode.OR,
        Opcode.XOR,
        Opcode.SHL,
        Opcode.SELECT,
        Opcode.COPY,
    }
)
"""The low bits of the result depend only on the low bits of what is added, selected, shifted left ..."""

_MAX_WIDENING = 2
"""Bits that a counter may gain to be as wide as its next value."""


@dataclass(frozen=True)
class Width:
    """A value is computed in `width` bits; whoever needs more extends it."""

    width: int
    signed: bool
    """Extended with its sign bit, else with zeros."""


class Widths:
    """The widths of what becomes narrower; other values are absent."""

    def __init__(self, module: Module, facts: Facts, demand: Demand) -> None:
        self.narrower: dict[Key, Width] = {}
        self._facts = facts
        self._demand = demand
        for memory in module.memories:
            if memory.kind is not MemoryKind.PARAM:
                self._decide(memory, memory.width)
        for function in module.functions:
            if function is not module.top:
                self._function(function)
        for function in module.functions:
            for block in function.blocks:
                for phi in block.phis:
                    self._decide(phi, phi.width)
                for op in block.ops:
                    self._operation(op, block)
            self._counters(function)

    def _function(self, function: Function) -> None:
        for param in function.params:
            self._decide(param, param.width)
        if function.width:
            self._decide(function, function.width)

    def _decide(self, key: Key, width: int) -> None:
        needed = self._demand.of(key).bit_length()
        if needed and self._facts.is_reached(key):
            fit = fitting(self._facts.of(key))
            self._set(key, Width(needed, False) if needed < fit.width else fit, width)

    def _set(self, key: Key, wanted: Width, width: int) -> None:
        if wanted.width < width:
            self.narrower[key] = wanted

    def _operation(self, op: Op, block: Block) -> None:
        opcode = op.opcode
        if opcode is Opcode.LOAD:
            self._same(op, op.memory)
        elif opcode is Opcode.CALL:
            self._same(op, op.callee)
        needed = self._demand.of(op).bit_length()
        if not op.width or not needed:
            return
        if opcode in LOW_BITS:
            self._decide(op, op.width)
        elif opcode in (Opcode.LSHR, Opcode.ASHR):
            fact = self._facts.at(op.args[0], block)
            signed = opcode is Opcode.ASHR
            width = fact.signed_bits if signed else fact.unsigned_bits
            if isinstance(op.args[1], Const):
                width = min(width, op.args[1].value + needed)
            self._set(op, Width(width, signed), op.width)
        elif opcode in (Opcode.UDIV, Opcode.UREM):
            a, b = (self._facts.at(arg, block) for arg in op.args)
            self._set(op, Width(max(a.unsigned_bits, b.unsigned_bits), False), op.width)
        elif opcode in (Opcode.SDIV, Opcode.SREM):
            a, b = (self._facts.at(arg, block) for arg in op.args)
            width = max(a.signed_bits, b.signed_bits)
            if opcode is Opcode.SDIV and a.slo == -(1 << (width - 1)) and b.slo < 0:
                # The least value divided by -1 needs a bit more.
                width += 1
            self._set(op, Width(width, True), op.width)

    def _same(self, op: Op, source: Memory | Function | None) -> None:
        assert source is not None
        if source in self.narrower:
            self.narrower[op] = self.narrower[source]

    def _counters(self, function: Function) -> None:
        """Give the phi of a counter and its next value one width, so that the next iteration's is a plain sum."""
        for loop in find_loops(function):
            for phi in loop.header.phis:
                for latch in loop.latches:
                    following = phi.incoming[latch]
                    if isinstance(following, Op) and following.opcode in (Opcode.ADD, Opcode.SUB):
                        a, b = following.args
                        if a is phi and isinstance(b, Const):
                            self._unify(phi, following)

    def _unify(self, phi: Phi, following: Op) -> None:
        pair: tuple[Value, Value] = phi, following
        chosen = [self.narrower.get(v, Width(v.width, False)) for v in pair]
        if chosen[0] == chosen[1]:
            return
        signed = any(c.signed for c in chosen)
        width = 0
        for value, choice in zip(pair, chosen, strict=True):
            fact = self._facts.of(value)
            fit = fact.signed_bits if signed else fact.unsigned_bits
            width = max(width, min(fit, self._demand.of(value).bit_length() or value.width), choice.width)
        if width - min(c.width for c in chosen) > _MAX_WIDENING:
            return
        for value in pair:
            self.narrower.pop(value, None)
            self._set(value, Width(width, signed), phi.width)


def fitting(fact: Fact) -> Width:
    """Return the least width that has all the values."""
    if fact.unsigned_bits <= fact.signed_bits:
        return Width(fact.unsigned_bits, False)
    return Width(fact.signed_bits, True)
