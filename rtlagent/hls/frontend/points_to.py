"""Which objects a pointer can point to, and which objects are accessed against their types.

The analysis is flow-insensitive and takes the contents of an object as one (Andersen 1994).

A target is (object, normalised offset): the sum of struct field offsets, with array subscripts left out, or -1 where
the place within the object is not known, which makes the object raw.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rtlagent.hls.frontend.llvm import names_global
from rtlagent.hls.frontend.llvm_text import (
    ArrayType,
    IntType,
    PtrType,
    Reader,
    StructType,
    Type,
    UnreadableTextError,
)
from rtlagent.hls.frontend.objects import Object, scalar_width

Target = tuple[Object, int]
Key = tuple[str, str]
"""(function, value)."""


@dataclass(frozen=True)
class Step:
    """What a getelementptr adds."""

    field: int
    """Struct field offsets."""
    terms: tuple[tuple[int, Any], ...]
    """(stride, index operand or constant) of array subscripts; zero constants are left out."""
    first_stride: int
    """Stride of the first index if it is not 0, else 0: a walk of a pointer rather than a subscript."""
    byte: bool = False
    """A constant number of bytes, whatever the type."""


@dataclass
class PointsTo:
    """The analysis and its result."""

    objects: dict[str, Object]
    """Global name -> object."""
    types: dict[str, Type]
    named: dict[str, Type]
    tops: dict[Key, set[Target]] = field(default_factory=dict)
    """Pointer value -> targets."""
    contents: dict[Object, set[Target]] = field(default_factory=dict)
    steps: dict[Key, Step] = field(default_factory=dict)
    returned: dict[str, set[Target]] = field(default_factory=dict)
    allocas: dict[Key, Object] = field(default_factory=dict)
    changed: bool = False

    def seed(self) -> None:
        """Take the pointers in initial values."""
        for thing in list(self.objects.values()):
            if thing.image is None:
                continue
            for address in thing.image.pointers.values():
                if address.name in self.objects:
                    self._add_contents(thing, self.constant_targets(address.name, address.offset))

    def constant_targets(self, name: str, offset: int) -> set[Target]:
        """Return the target of a constant address."""
        if not name or name not in self.objects:
            return set()
        thing = self.objects[name]
        thing.touch(offset)
        found = thing.resolve(offset)
        if found is None:
            # One past the end is an address too, never accessed.
            return {(thing, 0 if offset == thing.size and not isinstance(thing.type, StructType) else -1)}
        return {(thing, _partial(thing, offset))}

    def targets(self, function: str, operand: Any) -> set[Target]:
        """Return what an operand can point to."""
        if names_global(operand):
            return self.constant_targets(operand.name, 0)
        if operand.name:
            return self.tops.get((function, operand.name), set())
        text = str(operand).strip()
        if text.startswith(("ptr getelementptr", "ptr @", "ptr null", "ptr inttoptr", "ptr undef", "ptr poison")):
            address = Reader(text[4:], self.named).address()
            return self.constant_targets(address.name, address.offset)
        return set()

    def visit(self, function: Any, shared: dict[str, Any]) -> None:
        """Apply the constraints of every instruction once; `changed` says whether anything grew."""
        name = function.name
        for block in function.blocks:
            for ins in block.instructions:
                self._instruction(name, ins, shared)

    def _instruction(self, function: str, ins: Any, shared: dict[str, Any]) -> None:
        code = ins.opcode
        operands = list(ins.operands)
        key = (function, ins.name)
        is_pointer = str(ins.type) == "ptr"
        if code == "alloca":
            self._add(key, {(self.allocas[key], 0)})
        elif code == "getelementptr":
            self._add(key, self._stepped(key, ins, self.targets(function, operands[0])))
        elif code in ("phi", "select", "freeze") and is_pointer:
            for operand in operands[1:] if code == "select" else operands:
                self._add(key, self.targets(function, operand))
        elif code == "load" and (is_pointer or str(ins.type) == "i64"):
            for thing, _ in self.targets(function, operands[0]):
                self._add(key, self.contents.get(thing, set()))
        elif code == "store" and str(operands[0].type) in ("ptr", "i64"):
            value = self.targets(function, operands[0])
            if value:
                for thing, _ in self.targets(function, operands[1]):
                    self._add_contents(thing, value)
        elif code in ("ptrtoint", "inttoptr", "add", "sub", "and", "or"):
            if code != "ptrtoint" and not is_pointer and str(ins.type) != "i64":
                return
            for operand in operands:
                self._add(key, self.targets(function, operand))
        elif code == "ret" and operands and str(operands[0].type) == "ptr":
            self._add_returned(function, self.targets(function, operands[0]))
        elif code == "call":
            self._call(function, key, ins, operands, shared)

    def _call(self, function: str, key: Key, ins: Any, operands: list[Any], shared: dict[str, Any]) -> None:
        callee = operands[-1].name
        if callee.startswith(("llvm.memcpy", "llvm.memmove")):
            for source, _ in self.targets(function, operands[1]):
                for target, _ in self.targets(function, operands[0]):
                    self._add_contents(target, self.contents.get(source, set()))
        elif callee in shared:
            for parameter, operand in zip(shared[callee].arguments, operands[:-1], strict=False):
                if str(parameter.type) == "ptr":
                    self._add((callee, parameter.name), self.targets(function, operand))
            if str(ins.type) == "ptr":
                self._add(key, self.returned.get(callee, set()))
        elif str(ins.type) == "ptr" and callee in ("memcpy", "memset", "memmove"):
            self._add(key, self.targets(function, operands[0]))

    def _stepped(self, key: Key, ins: Any, base: set[Target]) -> set[Target]:
        if key not in self.steps:
            self.steps[key] = read_step(str(ins), list(ins.operands)[1:], self.named)
        step = self.steps[key]
        found: set[Target] = set()
        for thing, offset in base:
            thing.touch(step.field, *(s * i if isinstance(i, int) else s for s, i in step.terms))
            if offset < 0:
                found.add((thing, -1))
                continue
            if step.byte:
                found.add((thing, self._moved(thing, offset, step)))
                continue
            self._check_terms(thing, offset, step)
            inner = offset + step.field
            if step.field and not any(leaf_offset >= inner for leaf_offset in thing.leaves):
                thing.make_raw("an address outside it is taken")
            found.add((thing, inner))
        return found

    def _moved(self, thing: Object, offset: int, step: Step) -> int:
        """Move by constant bytes; returns -1 if that leads to no leaf."""
        by = step.terms[0][1]
        resolved = thing.resolve(offset + by)
        if resolved is None:
            thing.make_raw("it is addressed by bytes")
            return -1
        if resolved[1]:
            thing.flat = True
        return resolved[0]

    def _check_terms(self, thing: Object, offset: int, step: Step) -> None:
        levels = thing.levels_at(offset)
        strides = [level.stride for level in levels]
        inner = thing.levels_at(offset + step.field)
        for stride, _ in step.terms:
            if not any(s and stride % s == 0 for s in (*strides, *(level.stride for level in inner))):
                thing.make_raw("a pointer walks through it in steps that its type does not have")
        if step.first_stride and strides:
            matching = [k for k, s in enumerate(strides) if s == step.first_stride]
            if not matching:
                thing.flat = True
                if not any(s and step.first_stride % s == 0 for s in strides):
                    thing.make_raw("a pointer walks through it in steps that its type does not have")
            elif matching[0] > 0:
                thing.flat = True

    def _add(self, key: Key, targets: Iterable[Target]) -> None:
        known = self.tops.setdefault(key, set())
        before = len(known)
        known.update(targets)
        self.changed |= len(known) != before

    def _add_contents(self, thing: Object, targets: Iterable[Target]) -> None:
        known = self.contents.setdefault(thing, set())
        before = len(known)
        known.update(targets)
        self.changed |= len(known) != before

    def _add_returned(self, function: str, targets: Iterable[Target]) -> None:
        known = self.returned.setdefault(function, set())
        before = len(known)
        known.update(targets)
        self.changed |= len(known) != before


def _partial(thing: Object, offset: int) -> int:
    """Return the normalised offset of a constant address, down to the innermost field that begins there."""
    found = thing.resolve(offset)
    assert found is not None
    return found[0]


def read_step(text: str, indices: list[Any], named: dict[str, Type]) -> Step:
    """Read what a getelementptr instruction adds to its base."""
    reader = Reader(text.split("getelementptr", 1)[1].split(", !", maxsplit=1)[0], named)
    reader.skip_flags()
    source = reader.type()
    terms: list[tuple[int, Any]] = []
    field_offset = 0
    first = _index(indices[0])
    stride = source.size
    if isinstance(source, IntType) and source.width == 8 and isinstance(first, int) and len(indices) == 1:
        return Step(0, ((1, first),), 0, byte=True)
    if first != 0:
        terms.append((stride, first))
    kind: Type = source
    for operand in indices[1:]:
        index = _index(operand)
        if isinstance(kind, StructType):
            assert isinstance(index, int)
            field_offset += kind.offsets[index]
            kind = kind.fields[index]
        elif isinstance(kind, ArrayType):
            kind = kind.element
            if index != 0:
                terms.append((kind.size, index))
        else:
            raise UnreadableTextError(text)
    return Step(field_offset, tuple(terms), stride if first != 0 else 0)


def _index(operand: Any) -> Any:
    """Return a constant index as a number, else the operand."""
    text = str(operand).split(" ")
    if len(text) == 2 and text[0].startswith("i") and (text[1].lstrip("-").isdigit()):
        return int(text[1])
    return operand


def check_access(targets: set[Target], kind: Type, what: str) -> None:
    """Make every target raw whose type does not have exactly this scalar at that place."""
    by_object: dict[Object, set[int]] = {}
    for thing, offset in targets:
        by_object.setdefault(thing, set()).add(offset)
    for thing, offsets in by_object.items():
        thing.touch(kind.size if not isinstance(kind, IntType) else -(-kind.width // 8))
        for offset in offsets:
            leaf = thing.leaves.get(offset)
            if (
                leaf is None
                or scalar_width(leaf.type) != scalar_width(kind)
                or (isinstance(leaf.type, PtrType) != isinstance(kind, PtrType) and scalar_width(kind) != 64)
            ):
                thing.make_raw(what)
        if len(offsets) > 1:
            thing.make_raw("one pointer can reach several of its fields")
