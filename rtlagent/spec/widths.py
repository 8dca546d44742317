"""Work out how many bits `[W-1:0]` or `$clog2(DEPTH)` are, where the parameters say so."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from rtlagent.spec.fields import as_integer

_MAX_CHARS = 80
_MAX_VALUE = 1 << 40
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


class WidthError(ValueError):
    """A width that cannot be understood."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class _Unknown(Exception):
    """The value depends on a parameter without a known default."""


def width_of(written: str, parameters: Mapping[str, int | None]) -> int | None:
    """Return the value of a width; None if it depends on a parameter without a known default.

    Raises:
        WidthError: it is no expression of numbers and parameters.
    """
    if len(written) > _MAX_CHARS:
        raise WidthError("the width is too long an expression")
    number = as_integer(written.strip())
    if number is not None:
        return number
    try:
        tree = ast.parse(written.replace("$clog2", "clog2").strip(), mode="eval")
        return _value(tree.body, parameters)
    except _Unknown:
        return None
    except (SyntaxError, ValueError, ZeroDivisionError, MemoryError, RecursionError) as error:
        if isinstance(error, WidthError):
            raise
        raise WidthError(f"cannot read the width {written!r}", "write a number, or [7:0]") from None


def range_bits(written: str, parameters: Mapping[str, int | None]) -> int | None:
    """Return the bits of a packed range such as `[7:0]`; None if a parameter decides.

    Raises:
        WidthError: it is no range.
    """
    left, colon, right = written.strip("[]").partition(":")
    if not colon:
        raise WidthError(f"cannot read the range {written!r}", "a range is written [7:0]")
    known = re.fullmatch(r"\s*([^<]*[\w)])\s*-\s*1\s*", left)
    if known and right.strip() == "0":
        # [N-1:0] is N bits; asking for N gives the better message when N is 0 or negative.
        return width_of(known[1], parameters)
    first, last = width_of(left, parameters), width_of(right, parameters)
    return None if first is None or last is None else abs(first - last) + 1


def _value(node: ast.expr, parameters: Mapping[str, int | None]) -> int:
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            result = number
        case ast.Name(id=name):
            if name not in parameters:
                if not parameters and name.isupper():
                    # The spec lists no parameters, so its prose may define this one.
                    raise _Unknown
                hint = "list it under parameters: with its default"
                raise WidthError(f"the width uses {name!r}, which is not a parameter of the spec", hint)
            default = parameters[name]
            if default is None:
                raise _Unknown
            result = default
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            result = -_value(operand, parameters)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            result = _OPERATORS[type(op)](_value(left, parameters), _value(right, parameters))
        case ast.BinOp(left=left, op=ast.Pow() | ast.LShift() as op, right=right):
            base, exponent = _value(left, parameters), _value(right, parameters)
            if not (0 <= exponent <= 40 and abs(base) <= 1024):
                raise WidthError("the width is too large")
            result = base**exponent if isinstance(op, ast.Pow) else base << exponent
        case ast.Call(func=ast.Name(id="clog2"), args=[argument], keywords=[]):
            result = max(_value(argument, parameters) - 1, 0).bit_length()
        case _:
            raise WidthError("cannot read the width", "write a number, or [7:0]")
    if abs(result) > _MAX_VALUE:
        raise WidthError("the width is too large")
    return result
