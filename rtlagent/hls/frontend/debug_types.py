"""LLVM types from debug information, for what has no type in the text: references, hidden declarations."""

from __future__ import annotations

from rtlagent.hls.frontend.debug_info import DebugInfo, Node
from rtlagent.hls.frontend.llvm_text import ArrayType, FloatType, IntType, PtrType, StructType, Type

_POINTERS = frozenset({"DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type"})
_RECORDS = frozenset({"DW_TAG_structure_type", "DW_TAG_class_type"})
_FLOATS = {2: "half", 4: "float", 8: "double"}


def pointed_type(info: DebugInfo, number: int | None) -> Type | None:
    """Return the type that a pointer or reference leads to; None if it is not known."""
    node = info.stripped(number)
    if node is None or node.text("tag") not in _POINTERS:
        return None
    return read_type(info, node.number("baseType"))


def read_type(info: DebugInfo, number: int | None) -> Type | None:
    """Return a C type as an LLVM type of the same layout; None if it is not known."""
    node = info.stripped(number)
    if node is None:
        return None
    tag, size = node.text("tag"), -(-node.integer("size") // 8)
    if node.kind == "DIBasicType":
        if node.text("encoding") == "DW_ATE_float":
            return FloatType(_FLOATS.get(size, "fp128"))
        return IntType(8 * size)
    if tag == "DW_TAG_enumeration_type":
        return IntType(8 * size)
    if tag in _POINTERS:
        return PtrType()
    if tag == "DW_TAG_array_type":
        return _array(info, node)
    if tag in _RECORDS:
        return _record(info, node, size)
    if tag == "DW_TAG_union_type":
        return _union(info, node, size)
    return None


def _array(info: DebugInfo, node: Node) -> Type | None:
    kind = read_type(info, node.number("baseType"))
    ranges = info.node(node.number("elements"))
    for item in reversed(ranges.items if ranges is not None else []):
        one = info.node(item)
        if kind is None or one is None:
            return None
        kind = ArrayType(max(0, one.integer("count")), kind)
    return kind


def _members(info: DebugInfo, record: Node) -> list[Node]:
    elements = info.node(record.number("elements"))
    found = (info.node(item) for item in (elements.items if elements is not None else []))
    return [
        m
        for m in found
        if m is not None
        and m.text("tag") in ("DW_TAG_member", "DW_TAG_inheritance")
        and "Static" not in m.fields.get("flags", "")
    ]


def _record(info: DebugInfo, record: Node, size: int) -> Type | None:
    """Return a packed structure with its padding spelled out; bit-fields are bytes."""
    fields: list[Type] = []
    at = 0
    for member in sorted(_members(info, record), key=lambda m: m.integer("offset")):
        first = member.integer("offset") // 8
        if "BitField" in member.fields.get("flags", ""):
            last = -(-(member.integer("offset") + member.integer("size")) // 8)
            kind: Type | None = ArrayType(last - max(first, at), IntType(8)) if last > at else None
            first = max(first, at)
            if kind is None:
                continue
        else:
            kind = read_type(info, member.number("baseType"))
            if kind is None:
                return None
        if first < at or not kind.size:
            continue
        if first > at:
            fields.append(ArrayType(first - at, IntType(8)))
        fields.append(kind)
        at = first + kind.size
    if size > at:
        fields.append(ArrayType(size - at, IntType(8)))
    return StructType(tuple(fields), packed=True)


def _union(info: DebugInfo, union: Node, size: int) -> Type | None:
    kinds = [read_type(info, m.number("baseType")) for m in _members(info, union)]
    known = [k for k in kinds if k is not None]
    if not known or len(known) < len(kinds):
        return None
    greatest = max(known, key=lambda k: k.size)
    rest = (ArrayType(size - greatest.size, IntType(8)),) if size > greatest.size else ()
    return StructType((greatest, *rest), packed=True, is_union=True)
