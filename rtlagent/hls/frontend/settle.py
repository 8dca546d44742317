"""Gather all accesses of all objects, and change the objects' layouts until every access follows its layout."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rtlagent.hls.frontend.copies import Item, Side, places, plan
from rtlagent.hls.frontend.layout import Array, Conflict, Scalar, changed, pieces
from rtlagent.hls.frontend.llvm_module import Constant, Function, Instruction, Operand
from rtlagent.hls.frontend.llvm_text import FloatType, IntType, PtrType, Reader, StructType, Type, UnreadableTextError
from rtlagent.hls.frontend.merge import merged
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.points_to import PointsTo, Targets
from rtlagent.hls.frontend.reach import Reach
from rtlagent.hls.frontend.steps import constant_of
from rtlagent.hls.ir import MemoryKind

COPIES = frozenset({"memcpy", "memmove", "memset"})


@dataclass(frozen=True)
class Access:
    """A load or store of one scalar."""

    thing: Object
    reach: Reach
    size: int


@dataclass(eq=False)
class Copy:
    """A call of memcpy, memmove or memset."""

    sides: list[Side]
    size: int | None
    factor: int

    def plan(self) -> tuple[Item, ...]:
        """Return its moves under the present layouts."""
        return plan(self.sides, self.size, self.factor)


@dataclass
class Accessed:
    """Everything that touches objects."""

    accesses: dict[Access, Instruction] = field(default_factory=dict)
    """With the first instruction that does it."""
    copies: dict[Instruction, Copy] = field(default_factory=dict)


def gather(points_to: PointsTo, functions: Iterable[Function], named: Mapping[str, Type]) -> Accessed:
    """List the accesses of functions."""
    found = Accessed()
    for function in functions:
        for block in function.blocks:
            for ins in block.instructions:
                if ins.opcode in ("load", "store"):
                    _access(found, points_to, ins, named)
                elif ins.opcode == "call":
                    _copy(found, points_to, ins)
    return found


def _access(found: Accessed, points_to: PointsTo, ins: Instruction, named: Mapping[str, Type]) -> None:
    pointer = ins.operands[0] if ins.opcode == "load" else ins.operands[1]
    text = ins.type if ins.opcode == "load" else ins.operands[0].type
    try:
        kind = Reader(text, dict(named)).type() if text.startswith(("%", "{", "[", "<")) else _scalar(text)
    except UnreadableTextError:
        return
    for thing, reach in points_to.of(pointer).items():
        if thing.is_place:
            for offset, size in scalars_of(kind):
                found.accesses.setdefault(Access(thing, reach.moved(offset), size), ins)


def _scalar(text: str) -> Type:
    if text == "ptr":
        return PtrType()
    return IntType(int(text[1:])) if text[1:].isdigit() else Reader(text, {}).type()


def scalars_of(kind: Type) -> list[tuple[int, int]]:
    """Return (offset, bytes) of what a value of a type consists of."""
    if isinstance(kind, StructType):
        parts = zip(kind.offsets, kind.fields, strict=True)
        return [(at + inner, size) for at, part in parts for inner, size in scalars_of(part)]
    if isinstance(kind, IntType):
        return [(0, -(-kind.width // 8))]
    return [(0, kind.size)] if isinstance(kind, PtrType | FloatType) else []


def copy_name(callee: Operand) -> str:
    """Return `memcpy`, `memmove` or `memset` for a function or intrinsic of that kind, else an empty string."""
    name = callee.name.removeprefix("llvm.").split(".", 1)[0]
    return name if name in COPIES else ""


def _copy(found: Accessed, points_to: PointsTo, ins: Instruction) -> None:
    name = copy_name(ins.operands[-1])
    if not name:
        return
    ends: list[Targets] = [points_to.of(ins.operands[0])]
    if name != "memset":
        ends.append(points_to.of(ins.operands[1]))
    sides = [Side(thing, reach) for end in ends for thing, reach in end.items() if thing.is_place]
    size = constant_of(ins.operands[2])
    if sides and size != 0:
        found.copies[ins] = Copy(sides, size, known_factor(ins.operands[2]))


def known_factor(operand: Operand) -> int:
    """Return a power of two that a number is known to be a multiple of, up to 8."""
    if isinstance(operand, Constant):
        return 8
    if not isinstance(operand, Instruction):
        return 1
    code = operand.opcode
    if code in ("zext", "sext"):
        return known_factor(operand.operands[0])
    if code == "mul":
        factors = [_power_in(o) for o in operand.operands]
        return min(8, factors[0] * factors[1])
    if code == "shl":
        amount = constant_of(operand.operands[1])
        return min(8, known_factor(operand.operands[0]) << amount) if amount is not None else 1
    if code in ("add", "sub"):
        return min(_power_in(o) for o in operand.operands)
    return 1


def _power_in(operand: Operand) -> int:
    value = constant_of(operand)
    if value is None:
        return known_factor(operand)
    return min(8, value & -value) if value else 8


def settle(found: Accessed) -> None:
    """Change layouts until every access follows them."""
    _widen(found)
    _follow_all(found)
    by_object: dict[Object, list[tuple[Reach, int]]] = {}
    for access in found.accesses:
        by_object.setdefault(access.thing, []).append((access.reach, access.size))
    for thing, accesses in by_object.items():
        if not isinstance(thing.tree, Scalar):
            thing.tree = merged(thing.tree, accesses)
    _follow_all(found)


def _follow_all(found: Accessed) -> None:
    waiting: Sequence[Access] = list(found.accesses)
    while True:
        touched: set[Object] = set()
        for access in waiting:
            _follow(access, touched)
        for copy in found.copies.values():
            for side in copy.sides:
                for reach, size in list(places(copy.plan(), side.reach)):
                    _follow(Access(side.thing, reach, size), touched)
        if not touched:
            return
        waiting = [a for a in found.accesses if a.thing in touched]


def _widen(found: Accessed) -> None:
    """Make words of local arrays of bytes that are only accessed by words."""
    grains: dict[Object, int] = {}

    def note(thing: Object, reach: Reach, size: int) -> None:
        tree = thing.tree
        if thing.kind is MemoryKind.LOCAL and isinstance(tree, Array) and tree.element == Scalar(1, 8):
            grains[thing] = math.gcd(grains.get(thing, math.gcd(8, thing.size)), reach.start, reach.unit, size)

    for access in found.accesses:
        note(access.thing, access.reach, access.size)
    for copy in found.copies.values():
        for side in copy.sides:
            for reach, size in places(copy.plan(), side.reach):
                note(side.thing, reach, size)
    for thing, grain in grains.items():
        if grain > 1:
            thing.tree = Array(thing.size // grain, Scalar(grain, 8 * grain))


def _follow(access: Access, touched: set[Object]) -> None:
    while True:
        try:
            for _ in pieces(access.thing.tree, access.reach, access.size):
                pass
        except Conflict as conflict:
            access.thing.tree = changed(access.thing.tree, conflict)
            touched.add(access.thing)
        else:
            return
