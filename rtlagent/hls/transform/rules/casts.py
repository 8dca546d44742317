"""Extensions and truncations: wires, but they hide what other rules look for.

`trunc8 (zext32 x8)` -> `x8`; `sext (zext x)` -> `zext x`; `trunc8 (x + 300)` -> `trunc8 x + 44`.
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Value

from .rewriter import Rewriter, become, operation

_LOW_BITS = frozenset({Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.ADD, Opcode.SUB, Opcode.MUL})
"""The low bits of the result depend on the low bits of the operands only."""


def extend(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite an extension."""
    inner = operation(op.args[0], Opcode.ZEXT, Opcode.SEXT)
    if inner is None:
        return None
    if inner.opcode is op.opcode:
        return become(op, op.opcode, inner.args[0])
    if op.opcode is Opcode.SEXT:
        return become(op, Opcode.ZEXT, inner.args[0])
    return None


def truncate(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a truncation."""
    a = op.args[0]
    if not isinstance(a, Op):
        return None
    if a.opcode is Opcode.TRUNC:
        return become(op, Opcode.TRUNC, a.args[0])
    if a.opcode in (Opcode.ZEXT, Opcode.SEXT):
        source = a.args[0]
        if source.width == op.width:
            return source
        return become(op, Opcode.TRUNC if source.width > op.width else a.opcode, source)
    if a.opcode is Opcode.SELECT:
        arms = a.args[1:]
        if not rewriter.single_use(a):
            return None
        if all(_is_free(arm) for arm in arms) and any(isinstance(arm, Const) for arm in arms):
            x, y = (rewriter.resized(arm, op.width, signed=False) for arm in arms)
            return become(op, Opcode.SELECT, a.args[0], x, y)
        return None
    if a.opcode in _LOW_BITS and isinstance(a.args[1], Const) and rewriter.single_use(a):
        low = rewriter.resized(a.args[0], op.width, signed=False)
        return become(op, a.opcode, low, Const(a.args[1].value, op.width))
    return None


def _is_free(value: Value) -> bool:
    """Tell whether a truncation of the value costs nothing and vanishes."""
    return isinstance(value, Const) or operation(value, Opcode.ZEXT, Opcode.SEXT) is not None
