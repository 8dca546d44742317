"""LLVM's integer intrinsics as operations."""

from __future__ import annotations

from typing import Any

from rtlagent.hls.frontend.builder import Builder
from rtlagent.hls.ir import Const, Opcode, Value

_EXTREMES = {"smax": Opcode.SLT, "smin": Opcode.SLT, "umax": Opcode.ULT, "umin": Opcode.ULT}
INTRINSICS = frozenset(
    {
        "abs",
        "ctpop",
        "ctlz",
        "cttz",
        "bswap",
        "bitreverse",
        "fshl",
        "fshr",
        "expect",
        "is",
        "sadd",
        "uadd",
        "ssub",
        "usub",
    }
    | {"umul", "smul"}
    | set(_EXTREMES)
)


def lower_intrinsic(b: Builder, full_name: str, args: list[Value]) -> Any:
    """Return the result of an intrinsic; a tuple for those that also tell an overflow."""
    name = full_name.split(".", maxsplit=1)[0]
    first = args[0]
    width = first.width
    if full_name.startswith("is.constant"):
        return Const(0, 1)
    if ".sat." in full_name:
        return _saturated(b, name, args)
    if name == "expect":
        return first
    if name == "abs":
        negative = b.op(Opcode.SLT, 1, [first, Const(0, width)])
        return b.op(Opcode.SELECT, width, [negative, b.op(Opcode.SUB, width, [Const(0, width), first]), first])
    if name in _EXTREMES:
        less = b.op(_EXTREMES[name], 1, [first, args[1]])
        yes, no = (args[1], first) if name.endswith("max") else (first, args[1])
        return b.op(Opcode.SELECT, width, [less, yes, no])
    if name in ("fshl", "fshr"):
        return _funnel(b, name, args)
    if name in ("sadd", "uadd", "ssub", "usub", "smul", "umul"):
        return _with_overflow(b, name, args)
    if name == "ctpop":
        return _population(b, first)
    if name == "ctlz":
        return _leading_zeros(b, first)
    if name == "cttz":
        return _leading_zeros(b, _reversed(b, first, 1))
    if name == "bswap":
        return _reversed(b, first, 8)
    if name == "bitreverse":
        return _reversed(b, first, 1)
    raise ValueError(name)


def _bit(b: Builder, value: Value, low: int, width: int) -> Value:
    return b.resize(b.op(Opcode.LSHR, value.width, [value, Const(low, 8)]), width)


def _reversed(b: Builder, value: Value, group: int) -> Value:
    width = value.width
    result: Value = Const(0, width)
    for k in range(width // group):
        part = b.resize(_bit(b, value, k * group, group), width)
        moved = b.op(Opcode.SHL, width, [part, Const(width - (k + 1) * group, 8)])
        result = b.op(Opcode.OR, width, [moved, result])
    return result


def _population(b: Builder, value: Value) -> Value:
    width = value.width
    parts = [b.resize(_bit(b, value, k, 1), width) for k in range(width)]
    while len(parts) > 1:
        sums = [b.sum(x, y) for x, y in zip(parts[::2], parts[1::2], strict=False)]
        parts = sums + ([parts[-1]] if len(parts) % 2 else [])
    return parts[0]


def _leading_zeros(b: Builder, value: Value) -> Value:
    width = value.width
    result: Value = Const(width, width)
    for k in range(width):
        result = b.op(Opcode.SELECT, width, [_bit(b, value, k, 1), Const(width - 1 - k, width), result])
    return result


def _funnel(b: Builder, name: str, args: list[Value]) -> Value:
    high, low, amount = args
    width = high.width
    by = b.remainder(amount, width)
    rest = b.op(Opcode.SUB, width, [Const(width, width), by])
    if name == "fshl":
        return b.op(Opcode.OR, width, [b.op(Opcode.SHL, width, [high, by]), b.op(Opcode.LSHR, width, [low, rest])])
    return b.op(Opcode.OR, width, [b.op(Opcode.LSHR, width, [low, by]), b.op(Opcode.SHL, width, [high, rest])])


def _saturated(b: Builder, name: str, args: list[Value]) -> Value:
    """Return a sum or difference that stops at the ends of its type's range."""
    signed = name.startswith("s")
    width = args[0].width
    exact = b.op(
        Opcode.ADD if name.endswith("add") else Opcode.SUB,
        width + 2,
        [b.resize(a, width + 2, signed=signed) for a in args],
    )
    least = -(1 << (width - 1)) if signed else 0
    greatest = (1 << (width - 1)) - 1 if signed else (1 << width) - 1
    for bound, below in ((least, True), (greatest, False)):
        end = Const(bound, width + 2)
        outside = b.op(Opcode.SLT, 1, [exact, end] if below else [end, exact])
        exact = b.op(Opcode.SELECT, width + 2, [outside, end, exact])
    return b.resize(exact, width)


def _with_overflow(b: Builder, name: str, args: list[Value]) -> tuple[Value, Value]:
    signed = name.startswith("s")
    width = args[0].width
    wide = 2 * width if name.endswith("mul") else width + 2
    opcode = {"add": Opcode.ADD, "sub": Opcode.SUB, "mul": Opcode.MUL}[name[1:]]
    exact = b.op(opcode, wide, [b.resize(a, wide, signed=signed) for a in args])
    result = b.resize(exact, width)
    back = b.resize(result, wide, signed=signed)
    return result, b.op(Opcode.NE, 1, [exact, back])
