"""Parameters and results of the functions that are made."""

from __future__ import annotations

import re
from collections.abc import Callable

from rtlagent.errors import CSourceError
from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.instructions import FunctionLowering
from rtlagent.hls.frontend.layout import Array, Node, Scalar
from rtlagent.hls.frontend.llvm_text import FloatType, IntType, PtrType, StructType, UnreadableTextError, VoidType
from rtlagent.hls.frontend.pointers import Form, Pointer, form_of
from rtlagent.hls.frontend.signature import Parameter
from rtlagent.hls.ir import Const, Opcode, Param, Place, Value

Entry = Callable[[], None]
"""Writes what a function has to do first."""


def declare_top(lowering: FunctionLowering, parameters: list[Parameter], info: DebugInfo, place: Place | None) -> None:
    """Declare the top function.

    Raises:
        CSourceError: its result or a parameter cannot be a port.
    """
    function = lowering.function
    function.place = place
    where = f"{place.path}:{place.line}" if place else info.path
    try:
        width, is_pointer = _result(lowering)
        if is_pointer:
            hint = "return an index into the array"
            raise CSourceError(f"{function.name} returns a pointer", where=where, hint=hint)
        entries = [_declare_parameter(lowering, p, info) for p in parameters]
    except UnreadableTextError as error:
        hint = "use integers, arrays, and structures of them"
        raise CSourceError(
            f"{function.name} has a result or parameter of type {error}", where=where, hint=hint
        ) from error
    result = info.result_type(lowering.name)
    basic = info.basic(result)
    size = info.size(result) * 8
    function.width = min(width, size) if width > 64 and size else width
    function.signed = bool(basic and basic.signed) and not info.is_record(result)

    def entry() -> None:
        for one in entries:
            one()

    lowering.entry = entry


def _result(lowering: FunctionLowering) -> tuple[int, bool]:
    """Return the bits of a function's result, and whether it is a pointer."""
    text, name = str(lowering.llvm), lowering.name
    before = text.split(f"@{name}(" if f"@{name}(" in text else '@"', 1)[0].rstrip()
    kind = lowering.kind(before[before.rindex(" ", 0, _type_start(before)) + 1 :])
    if isinstance(kind, VoidType):
        return 0, False
    if isinstance(kind, StructType):
        if not all(isinstance(part, IntType) for part in kind.fields):
            raise UnreadableTextError("structure with pointers or floating point")
        return 64 * len(kind.fields), False
    if isinstance(kind, IntType):
        return kind.width, False
    if isinstance(kind, PtrType | FloatType):
        return kind.size * 8, isinstance(kind, PtrType)
    raise UnreadableTextError(str(kind))


def _type_start(before: str) -> int:
    """Return where the type at the end of a function's header begins."""
    if not before.endswith(("}", "]", ">")):
        return len(before)
    depth = 0
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] in "}]>") - (before[at] in "{[<")
        if depth == 0:
            return at
    return 0


def _declare_parameter(lowering: FunctionLowering, parameter: Parameter, info: DebugInfo) -> Entry:
    """Declare a parameter of the top: an array is a memory, a structure by value one wide input."""
    thing, first = parameter.thing, parameter.parts[0]
    if thing is not None:
        targets = lowering.scope.points_to.targets[first]
        lowering.values[first] = Pointer(targets, form_of(targets), origin=targets)
        if not parameter.by_value:
            return lambda: None
    basic = info.basic(parameter.type)
    widths = [lowering.width(part.type) for part in parameter.parts] if thing is None else []
    record = thing is not None or info.is_record(parameter.type)
    width = parameter.size * 8 if record else widths[0]
    signed = bool(basic and basic.signed) and not record
    param = Param(parameter.name, width, signed=signed, place=parameter.place)
    lowering.function.params.append(param)
    if thing is None:
        return lambda: _take_apart(lowering, parameter, param, widths)
    return lambda: _store_structure(lowering, parameter, param)


def _take_apart(lowering: FunctionLowering, parameter: Parameter, param: Param, widths: list[int]) -> None:
    for number, (part, bits) in enumerate(zip(parameter.parts, widths, strict=True)):
        lowering.values[part] = _slice(lowering, param, 64 * number, bits)


def _store_structure(lowering: FunctionLowering, parameter: Parameter, param: Param) -> None:
    """Store a structure by value where the function finds it, as its own copy."""
    assert parameter.thing is not None
    pointer = lowering.pointer(parameter.parts[0])
    for at, size in _scalar_places(parameter.thing.tree):
        lowering.accesses.store(lowering.moved(pointer, at), _slice(lowering, param, 8 * at, 8 * size))


def _slice(lowering: FunctionLowering, param: Param, at: int, bits: int) -> Value:
    b = lowering.b
    wide = param if at == 0 else b.op(Opcode.LSHR, param.width, [param, Const(at, 16)])
    return b.resize(wide, bits)


def _scalar_places(node: Node, at: int = 0) -> list[tuple[int, int]]:
    if isinstance(node, Scalar):
        return [(at, node.size)]
    if isinstance(node, Array):
        return [p for k in range(node.count) for p in _scalar_places(node.element, at + k * node.element.size)]
    return [p for offset, part in node.fields for p in _scalar_places(part, at + offset)]


def declare(lowering: FunctionLowering) -> None:
    """Declare a function that stays a function; a pointer that can only lead to one place is no parameter."""
    function, scope, llvm = lowering.function, lowering.scope, lowering.llvm
    function.place = scope.info.function_place(llvm.name)
    forms: list[Form | None] = []
    for number, argument in enumerate(llvm.arguments):
        name = re.sub(r"\W", "_", argument.name) or f"p{number}"
        if argument.type == "ptr":
            targets = scope.points_to.targets.get(argument, {})
            form = form_of(targets)
            forms.append(form)
            held = None
            if form.thing is None or form.unit:
                held = Param(name, lowering.pointers.width(form))
                function.params.append(held)
            lowering.values[argument] = lowering.pointers.unpacked(held, form, targets)
        else:
            forms.append(None)
            param = Param(name, lowering.width(argument.type))
            function.params.append(param)
            lowering.values[argument] = param
    scope.parameters[llvm.name] = forms
    width, is_pointer = _result(lowering)
    if is_pointer:
        form = form_of(scope.points_to.returned.get(llvm.name, {}))
        scope.results[llvm.name] = form
        width = lowering.pointers.width(form) if form.thing is None or form.unit else 0
    function.width = width
