"""Selections.

`c ? 1 : 0` -> `zext c`; `!c ? x : y` -> `c ? y : x`; `c ? (c ? x : y) : z` -> `c ? x : z`; of bits:
`c ? x : 0` -> `c & x`.
"""

from __future__ import annotations

from rtlagent.hls.ir import Const, Op, Opcode, Value, same_value

from .rewriter import Rewriter, become, constant, operation


def select(op: Op, rewriter: Rewriter) -> Value | None:
    """Rewrite a selection."""
    condition, x, y = op.args
    if isinstance(condition, Const):
        return x if condition.value else y
    if same_value(x, y):
        return x
    opposite = operation(condition, Opcode.XOR)
    if opposite is not None and constant(opposite.args[1]) == 1:
        return become(op, Opcode.SELECT, opposite.args[0], y, x)
    if op.width == 1:
        return _bit(op, condition, x, y, rewriter)
    return _constants(op, condition, x, y, rewriter) or _structure(op, condition, x, y, rewriter)


def _bit(op: Op, condition: Value, x: Value, y: Value, rewriter: Rewriter) -> Value | None:
    if isinstance(x, Const) and isinstance(y, Const):
        return condition if x.value else rewriter.negated(condition)
    if isinstance(x, Const):
        if x.value:
            return become(op, Opcode.OR, condition, y)
        return become(op, Opcode.AND, rewriter.negated(condition), y)
    if isinstance(y, Const):
        if y.value:
            return become(op, Opcode.OR, rewriter.negated(condition), x)
        return become(op, Opcode.AND, condition, x)
    if x is condition:
        return become(op, Opcode.OR, condition, y)
    if y is condition:
        return become(op, Opcode.AND, condition, x)
    return _structure(op, condition, x, y, rewriter)


def _constants(op: Op, condition: Value, x: Value, y: Value, rewriter: Rewriter) -> Value | None:
    """`c ? 1 : 0`, `c ? -1 : 0` and their opposites."""
    if not (isinstance(x, Const) and isinstance(y, Const)):
        return None
    if y.value == 0 and x.value == 1:
        return become(op, Opcode.ZEXT, condition)
    if y.value == 0 and x.signed == -1:
        return become(op, Opcode.SEXT, condition)
    if x.value == 0 and y.value == 1:
        return become(op, Opcode.ZEXT, rewriter.negated(condition))
    if x.value == 0 and y.signed == -1:
        return become(op, Opcode.SEXT, rewriter.negated(condition))
    return None


def _structure(op: Op, condition: Value, x: Value, y: Value, rewriter: Rewriter) -> Value | None:
    inner = operation(x, Opcode.SELECT)
    if inner is not None and inner.args[0] is condition:
        return become(op, Opcode.SELECT, condition, inner.args[1], y)
    inner = operation(y, Opcode.SELECT)
    if inner is not None and inner.args[0] is condition:
        return become(op, Opcode.SELECT, condition, x, inner.args[2])
    test = operation(condition, Opcode.EQ, Opcode.NE)
    if test is not None:
        # x == y ? x : y is y whatever x is
        equal, other = (x, y) if test.opcode is Opcode.EQ else (y, x)
        p, q = test.args
        if (same_value(p, equal) and same_value(q, other)) or (same_value(q, equal) and same_value(p, other)):
            return other
    return _through_extensions(op, condition, x, y, rewriter)


def _through_extensions(op: Op, condition: Value, x: Value, y: Value, rewriter: Rewriter) -> Value | None:
    """`c ? zext a : zext b` -> `zext (c ? a : b)`, also with a constant that fits."""
    cast = operation(x, Opcode.ZEXT, Opcode.SEXT) or operation(y, Opcode.ZEXT, Opcode.SEXT)
    if cast is None:
        return None
    width = cast.args[0].width
    arms: list[Value] = []
    for arm in (x, y):
        same = operation(arm, cast.opcode)
        if same is not None and same.args[0].width == width and rewriter.single_use(arm):
            arms.append(same.args[0])
        elif isinstance(arm, Const) and _survives(arm, width, signed=cast.opcode is Opcode.SEXT):
            arms.append(Const(arm.value, width))
        else:
            return None
    return become(op, cast.opcode, rewriter.build(Opcode.SELECT, width, condition, *arms))


def _survives(value: Const, width: int, *, signed: bool) -> bool:
    """Tell whether a constant is the extension of its low bits."""
    low = Const(value.value, width)
    return (low.signed == value.signed) if signed else (low.value == value.value)
