"""Bits taken out of a value that was put together from others.

`trunc8 (((zext32 a8) << 8 | zext32 b8) >> 8)` -> `a8`: a field of a struct that went by in a register.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.hls.ir import Const, Op, Opcode, Value

from .rewriter import Rewriter

_MAX_NODES = 48
_PASSED = frozenset({Opcode.OR, Opcode.XOR, Opcode.AND, Opcode.SHL, Opcode.ZEXT, Opcode.SEXT})
"""Operations that are left behind for good when a slice is found below them."""


@dataclass(frozen=True)
class _Slice:
    """`width` bits of `source` from bit `low` on, with zeros above; no source: zeros."""

    source: Value | None
    low: int = 0
    width: int = 0


_ZERO = _Slice(None)


def slice_of(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a truncation or a logical shift by a constant as bits of something further back."""
    if op.opcode is Opcode.TRUNC:
        search = _Search()
        found = search.find(op.args[0], 0, op.width)
    elif op.opcode is Opcode.LSHR and isinstance(op.args[1], Const) and op.args[1].value < op.width:
        amount = op.args[1].value
        search = _Search()
        found = search.find(op.args[0], amount, op.width - amount)
    else:
        return None
    if found is None or not search.has_passed:
        return None
    if found.source is None:
        return Const(0, op.width)
    return _built(found, op.width, rewriter)


def _built(found: _Slice, width: int, rewriter: Rewriter) -> Value:
    value = found.source
    assert value is not None
    if found.low:
        value = rewriter.build(Opcode.LSHR, value.width, value, Const(found.low, value.width))
    value = rewriter.resized(value, found.width, signed=False)
    return rewriter.resized(value, width, signed=False)


class _Search:
    """Looks for where bits come from."""

    def __init__(self) -> None:
        self.has_passed = False
        self._nodes = 0

    def find(self, value: Value, low: int, width: int) -> _Slice | None:
        """Return where the bits of a value come from: the value itself if nothing better is known."""
        self._nodes += 1
        own = _Slice(value, low, width)
        if isinstance(value, Const):
            # Constants other than 0 are left to the rules of their operations.
            return _ZERO if value.value >> low & ((1 << width) - 1) == 0 else own
        if not isinstance(value, Op) or self._nodes > _MAX_NODES:
            return own
        deeper = self._through(value, low, width)
        if deeper is None:
            return own
        if value.opcode in _PASSED:
            self.has_passed = True
        return deeper

    def _through(self, op: Op, low: int, width: int) -> _Slice | None:
        if op.opcode in (Opcode.OR, Opcode.XOR, Opcode.AND):
            return self._either(op, low, width)
        source = op.args[0] if op.args else None
        if source is None:
            return None
        if op.opcode is Opcode.TRUNC:
            return self.find(source, low, width)
        if op.opcode is Opcode.ZEXT:
            return _ZERO if low >= source.width else self.find(source, low, min(width, source.width - low))
        if op.opcode is Opcode.SEXT:
            return self.find(source, low, width) if low + width <= source.width else None
        if op.opcode not in (Opcode.SHL, Opcode.LSHR) or not isinstance(op.args[1], Const):
            return None
        amount = op.args[1].value
        if op.opcode is Opcode.LSHR:
            left = op.width - amount - low
            return _ZERO if left <= 0 else self.find(source, low + amount, min(width, left))
        if low + width <= amount:
            return _ZERO
        return self.find(source, low - amount, width) if low >= amount else None

    def _either(self, op: Op, low: int, width: int) -> _Slice | None:
        """Look at both operands: one must be 0 there, or all ones under AND."""
        before = self.has_passed
        first = self.find(op.args[0], low, width)
        second = self.find(op.args[1], low, width)
        for one, other, value in ((first, second, op.args[0]), (second, first, op.args[1])):
            if one is not None and one.source is None:
                return _ZERO if op.opcode is Opcode.AND else other
            ones = (1 << width) - 1
            if op.opcode is Opcode.AND and isinstance(value, Const) and value.value >> low & ones == ones:
                return other
        self.has_passed = before
        return None
