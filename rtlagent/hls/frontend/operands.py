"""Operands of LLVM instructions while a function is lowered: values, pointers, constants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from rtlagent.errors import CSourceError
from rtlagent.hls.frontend.access import Accesses, Memories
from rtlagent.hls.frontend.builder import Builder
from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.llvm_module import Constant, GlobalVariable, Instruction, Operand, Symbol
from rtlagent.hls.frontend.llvm_module import Function as LlvmFunction
from rtlagent.hls.frontend.llvm_text import FloatType, IntType, PtrType, Reader, StructType, Type, UnreadableTextError
from rtlagent.hls.frontend.objects import NULL
from rtlagent.hls.frontend.pointers import Address64, Difference, Form, Pointer, form_of
from rtlagent.hls.frontend.points_to import PointsTo
from rtlagent.hls.frontend.reach import Reach
from rtlagent.hls.frontend.settle import Accessed
from rtlagent.hls.ir import Const, Function, Opcode, Value
from rtlagent.hls.options import Remarks

Lowered = Value | Pointer | Address64 | Difference | tuple["Lowered", ...]

_GENERIC = re.compile(
    r"(add|sub|mul|inc|dec|conv|cmp|arrayidx|arraydecay|call|shl|shr|and|or|xor|rem|div|cond|idxprom|idx|tobool|lnot|land|lor"
    r"|retval|neg|not|frombool|spec|i|tmp|incdec|loadedv|storedv|bf|ret|lor|sext|zext|trunc|agg|coerce|this|ref|add\.ptr|sub\.ptr)?\d*$"
)
INTEGERS_HINT = "use integers, or fixed point such as `int` with a shift after each product"
CALL_HINT = "call it by name: use a switch over the choices"
OBJECT_HINT = "point it to an array or variable of this program before it is used"


@dataclass
class Scope:
    """What all functions of a module share while they are lowered."""

    info: DebugInfo
    points_to: PointsTo
    memories: Memories
    accessed: Accessed
    names: Mapping[tuple[str, str], str]
    """(function, value) -> C variable."""
    remarks: Remarks
    functions: dict[str, Function] = field(default_factory=dict)
    """Those that stay functions, by their LLVM names."""
    parameters: dict[str, list[Form | None]] = field(default_factory=dict)
    """Of those: how each parameter is handed over; None: an integer."""
    results: dict[str, Form] = field(default_factory=dict)
    """Of those that return a pointer."""
    types: dict[str, Type] = field(default_factory=dict)


class Operands:
    """What the values of one LLVM function became."""

    def __init__(self, scope: Scope, llvm: LlvmFunction, function: Function) -> None:
        self.scope = scope
        self.llvm = llvm
        self.name = llvm.name
        self.function = function
        self.values: dict[Operand, Lowered] = {}
        self.b = Builder(function)
        self.accesses = Accesses(self.b, scope.memories)
        self.pointers = self.accesses.pointers

    def fail(self, message: str, hint: str) -> NoReturn:
        """Refuse the source at the current place."""
        place = self.b.place
        where = f"{place.path}:{place.line}:{place.column}" if place else self.scope.info.path
        raise CSourceError(message, where=where, hint=hint)

    def kind(self, text: str) -> Type:
        """Read a type; each text once."""
        found = self.scope.types.get(text)
        if found is None:
            found = Reader(text, self.scope.points_to.named).type()
            self.scope.types[text] = found
        return found

    def width(self, text: str) -> int:
        """Return the bits of a scalar type.

        Raises:
            UnreadableTextError: it is none.
        """
        kind = self.kind(text)
        if isinstance(kind, IntType):
            return kind.width
        if isinstance(kind, PtrType | FloatType):
            return kind.size * 8
        raise UnreadableTextError(text)

    def value(self, operand: Operand) -> Value:
        """Return an operand as an integer."""
        found = self.lowered(operand)
        if isinstance(found, Value):
            return found
        if isinstance(found, Address64):
            return self.pointers.as_integer(found.pointer)
        if isinstance(found, Pointer):
            return self.pointers.as_integer(found)
        if isinstance(found, Difference):
            return self._difference(found)
        self.fail("a structure is used as a value here", "pass it by pointer")

    def _difference(self, found: Difference) -> Value:
        exact = self.pointers.difference(found)
        if exact is not None:
            return exact
        sides: list[Value] = [self.pointers.as_integer(p) for p in (found.first, found.second)]
        return self.b.op(Opcode.SUB, 64, sides)

    def pointer(self, operand: Operand) -> Pointer:
        """Return an operand as a pointer."""
        found = self.lowered(operand)
        if isinstance(found, Pointer):
            return found
        if isinstance(found, Address64):
            return found.pointer
        if isinstance(found, Value):
            return self.pointers.from_integer(found, self.scope.points_to.of(operand))
        self.fail("a structure is used as a pointer here", "pass it by pointer")

    def accessible(self, operand: Operand) -> Pointer | None:
        """Return an operand as a pointer that can be dereferenced; None for null: the program never comes there."""
        pointer = self.pointer(operand)
        if set(pointer.targets) == {NULL}:
            self.scope.remarks.warn("NULL", "only a null pointer is dereferenced here: left out", self.b.place)
            return None
        if not pointer.objects:
            self.fail("a pointer without a known object is used", OBJECT_HINT)
        return pointer

    def lowered(self, operand: Operand) -> Lowered:
        """Return what an operand became."""
        known = self.values.get(operand)
        if known is not None:
            return known
        if isinstance(operand, GlobalVariable):
            targets = self.scope.points_to.of(operand)
            if not targets:
                self.fail(f"{operand.name} cannot be used here", "declare it with a body in this file")
            return Pointer(targets, form_of(targets), origin=targets)
        if isinstance(operand, LlvmFunction | Symbol):
            self.fail(f"a pointer to the function {operand.name} cannot become hardware", CALL_HINT)
        assert isinstance(operand, Constant), operand
        made = self._constant(operand)
        self.values[operand] = made
        return made

    def _constant(self, operand: Constant) -> Lowered:
        reader = Reader(operand.text, self.scope.points_to.named)
        kind = reader.type()
        if isinstance(kind, PtrType):
            if not operand.text.startswith(("ptr null", "ptr undef", "ptr poison", "ptr zeroinitializer")):
                targets = self.scope.points_to.of(operand)
                if not targets:
                    self.fail("a pointer without a known object is used", OBJECT_HINT)
            return self._constant_pointer(operand)
        image = reader.constant(kind)
        if image.pointers:
            return Address64(self._constant_pointer(operand))
        return split_constant(kind, bytes(image.data))

    def _constant_pointer(self, operand: Constant) -> Pointer:
        targets = self.scope.points_to.of(operand)
        form = form_of(targets)
        # Null, or a number: no object's number is 0.
        moved = next(iter(targets.values())).start if form.thing is None and targets else 0
        return Pointer(targets, form if form.thing is not None else Form(None), moved=moved, origin=targets)

    def wish(self, ins: Instruction) -> str:
        """Return the C variable that an instruction computes; empty if none is known."""
        known = self.scope.names.get((self.name, ins.name))
        if known:
            return known
        base = re.sub(r"(\.(addr|i|lcssa|pre|\d+)\d*)+$", "", ins.name.split(".sroa.", 1)[0])
        return "" if _GENERIC.match(base) else re.sub(r"\W", "_", base)

    def set(self, ins: Instruction, value: Lowered) -> None:
        """Say what an instruction became."""
        self.values[ins] = value

    def moved(self, pointer: Pointer, by: int) -> Pointer:
        """Return a pointer moved by constant bytes."""
        return pointer.plus({t: r.moved(by) for t, r in pointer.targets.items()}, by, ())


def split_constant(kind: Type, data: bytes) -> Lowered:
    """Return a constant in memory as a value; a structure's fields one by one."""
    if isinstance(kind, StructType):
        parts = zip(kind.fields, kind.offsets, strict=True)
        return tuple(split_constant(part, data[at : at + part.size]) for part, at in parts)
    if isinstance(kind, IntType | FloatType):
        bits = kind.width if isinstance(kind, IntType) else kind.size * 8
        return Const(int.from_bytes(data[: kind.size], "little"), bits)
    if isinstance(kind, PtrType):
        return Pointer({NULL: Reach()}, Form(None), origin={NULL: Reach()})
    raise UnreadableTextError(f"constant of type {kind}")
