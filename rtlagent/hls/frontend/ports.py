"""The arguments of the hardware as the test bench sees them."""

from __future__ import annotations

from collections.abc import Mapping

from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.layout import Array, Node, Record
from rtlagent.hls.frontend.llvm_text import ArrayType, Type
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.signature import Parameter
from rtlagent.hls.interface import Argument
from rtlagent.hls.ir import MemoryKind


def describe(parameters: list[Parameter], objects: Mapping[str, Object], info: DebugInfo) -> tuple[Argument, ...]:
    """Return the arguments: in the order of the C declaration, then the globals that are ports."""
    found = [_by_value(p, info) if p.by_value else _by_address(p, info) for p in parameters]
    found += [_global(n, t, info) for n, t in objects.items() if t.kind is MemoryKind.PARAM and t.memories]
    return tuple(found)


def _by_value(parameter: Parameter, info: DebugInfo) -> Argument:
    basic = info.basic(parameter.type)
    record = info.is_record(parameter.type)
    return Argument(
        parameter.name,
        parameter.size,
        True,
        signed=bool(basic and basic.signed) and not record,
        c_type=info.type_name(parameter.type) if record else basic.name if basic else "",
        element_bytes=basic.size if basic else 1,
        is_float=bool(basic and basic.is_float) and not record,
    )


def _by_address(parameter: Parameter, info: DebugInfo) -> Argument:
    assert parameter.thing is not None
    basic = info.basic(parameter.type)
    return Argument(
        parameter.name,
        parameter.thing.size,
        False,
        signed=bool(basic and basic.signed),
        c_type=basic.name if basic else "",
        element_bytes=basic.size if basic else _smallest(parameter.thing.tree),
        is_float=bool(basic and basic.is_float),
        dims=_dims(parameter.thing),
    )


def _global(name: str, thing: Object, info: DebugInfo) -> Argument:
    basic = info.basic(thing.debug_type)
    return Argument(
        name,
        thing.size,
        False,
        is_global=True,
        signed=thing.signed,
        c_type=basic.name if basic else "",
        element_bytes=basic.size if basic else _smallest(thing.tree),
        is_float=bool(basic and basic.is_float),
        dims=_dims(thing),
    )


def _dims(thing: Object) -> tuple[int, ...]:
    """Return the dimensions as declared."""
    found = []
    kind: Type = thing.type
    while isinstance(kind, ArrayType):
        found.append(kind.count)
        kind = kind.element
    return tuple(found)


def _smallest(node: Node) -> int:
    """Return the bytes of the smallest scalar in a layout."""
    if isinstance(node, Array):
        return _smallest(node.element)
    if isinstance(node, Record):
        return min((_smallest(part) for _, part in node.fields), default=1)
    return max(1, node.size)
