"""What a getelementptr adds to a pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rtlagent.hls.frontend.llvm_module import Constant, Instruction, Operand
from rtlagent.hls.frontend.llvm_text import ArrayType, IntType, Reader, StructType, Type, UnreadableTextError
from rtlagent.hls.frontend.reach import Kind, Reach, Stride


@dataclass(frozen=True)
class Walk:
    """A number of elements, from the first index."""

    bytes: int


@dataclass(frozen=True)
class Field:
    """A struct field."""

    offset: int
    size: int


@dataclass(frozen=True)
class Elements:
    """A constant array subscript, in bytes."""

    bytes: int


@dataclass(frozen=True)
class Index:
    """A subscript that the run decides."""

    stride: Stride
    operand: Operand


Step = Walk | Field | Elements | Index
BoundsOf = Callable[[Operand, Instruction], tuple[int, int] | None]
"""(index, instruction that uses it) -> least and greatest value, if that is plain."""


def read_steps(instruction: Instruction, named: dict[str, Type], bounds: BoundsOf) -> tuple[Step, ...]:
    """Return the steps of a getelementptr instruction, outermost first.

    A walk whose index has plain bounds becomes a subscript of an array of that length.

    Raises:
        UnreadableTextError: its type is none that this front-end knows.
    """
    source = _source_type(instruction.text.split("getelementptr", 1)[1].split(", ptr ", 1)[0], _Types(named))
    found = _steps(source, instruction.operands[1:])
    for number, step in enumerate(found):
        if isinstance(step, Index) and step.stride.kind is Kind.WALK:
            known = bounds(step.operand, instruction)
            if known is not None and known[0] >= 0:
                size = step.stride.bytes
                found[number] = Index(Stride(size, Kind.TYPED, (known[1] + 1) * size), step.operand)
    return tuple(found)


class _Types:
    """Named types, hashable by identity for the cache."""

    def __init__(self, named: dict[str, Type]) -> None:
        self.named = named

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Types) and self.named is other.named

    def __hash__(self) -> int:
        return id(self.named)


@lru_cache(maxsize=4096)
def _source_type(text: str, types: _Types) -> Type:
    reader = Reader(text, types.named)
    reader.skip_flags()
    return reader.type()


def _steps(source: Type, indices: Sequence[Operand]) -> list[Step]:
    found: list[Step] = []
    first = constant_of(indices[0])
    if first is None:
        found.append(Index(Stride(source.size, Kind.WALK), indices[0]))
    elif first:
        found.append(Walk(first * source.size))
    kind = source
    for operand in indices[1:]:
        value = constant_of(operand)
        if isinstance(kind, StructType):
            assert value is not None
            part = kind.fields[value]
            found.append(Field(kind.offsets[value], part.size))
            kind = part
        elif isinstance(kind, ArrayType):
            count, kind = kind.count, kind.element
            if value is None:
                walk = Kind.TYPED if count else Kind.WALK
                found.append(Index(Stride(kind.size, walk, count * kind.size), operand))
            elif value:
                found.append(Elements(value * kind.size))
        else:
            raise UnreadableTextError(f"index into {kind}")
    return [s for s in found if not isinstance(s, Index) or s.stride.bytes]


def constant_of(operand: Operand) -> int | None:
    """Return an operand's value if it is an integer constant."""
    if not isinstance(operand, Constant):
        return None
    kind, _, value = operand.text.partition(" ")
    if value in ("true", "false"):
        return int(value == "true")
    if value in ("undef", "poison", "zeroinitializer"):
        return 0
    return int(value) if kind.startswith("i") and value.lstrip("-").isdigit() else None


def reach_after(reach: Reach, steps: Sequence[Step]) -> Reach:
    """Return where a pointer leads after steps."""
    for step in steps:
        if isinstance(step, Walk):
            reach = reach.walked(step.bytes)
        elif isinstance(step, Field):
            reach = reach.field(step.offset, step.size)
        elif isinstance(step, Elements):
            reach = reach.moved(step.bytes)
        else:
            reach = reach.with_stride(step.stride)
    return reach


__all__ = ["Elements", "Field", "Index", "IntType", "Step", "Walk", "constant_of", "reach_after", "read_steps"]
