"""Which objects a pointer can point to, and where in them (inclusion-based, after Andersen 1994).

Flow-insensitive; fields and array strides are told apart as far as `Reach` does. What pointers are stored in memory is
kept by place: two places of an object that can be the same become one.

```
int *rows[2] = {a, b};  p = rows[i];  q = p + k;      rows at 0, +8: {a: 0, b: 0}      q: {a: 0, +4}, {b: 0, +4}
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rtlagent.hls.frontend.bounds import IndexBounds
from rtlagent.hls.frontend.llvm_module import (
    Constant,
    Function,
    GlobalVariable,
    Instruction,
    Operand,
)
from rtlagent.hls.frontend.llvm_text import Reader, Type, UnreadableTextError
from rtlagent.hls.frontend.objects import NULL, NUMBER, Object
from rtlagent.hls.frontend.reach import Kind, Reach, Stride, dynamic, join
from rtlagent.hls.frontend.steps import Step, constant_of, reach_after, read_steps

Targets = dict[Object, Reach]
_NOWHERE: Targets = {}
_ANYWHERE = Reach(0, (Stride(1, Kind.DYNAMIC),))
_MERGES = frozenset({"phi", "select", "inttoptr", "insertvalue", "extractvalue"})
_ALIASES = frozenset({"freeze", "bitcast", "ptrtoint", "addrspacecast"})
_ARITHMETIC = frozenset({"add", "sub", "and", "or", "xor", "mul", "shl", "lshr", "ashr", "udiv", "sdiv"})
_COPIES = frozenset({"memcpy", "memmove"})


@dataclass(eq=False)
class Content:
    """Places of an object that hold pointers."""

    region: Reach
    holds: Targets = field(default_factory=dict)


@dataclass
class PointsTo:
    """The analysis and its result."""

    objects: dict[str, Object]
    """Global name -> object."""
    named: dict[str, Type]
    shared: Mapping[str, Function] = field(default_factory=dict)
    """Functions that stay functions, by name."""
    targets: dict[Operand, Targets] = field(default_factory=dict)
    steps: dict[Instruction, tuple[Step, ...]] = field(default_factory=dict)
    contents: dict[Object, list[Content]] = field(default_factory=dict)
    returned: dict[str, Targets] = field(default_factory=dict)
    changed: bool = False

    def run(self, functions: Sequence[Function]) -> None:
        """Solve the constraints of all instructions."""
        relevant = [i for f in functions for b in f.blocks for i in b.instructions if _is_relevant(i)]
        bounds = {f: IndexBounds(f).of for f in functions}
        for instruction in relevant:
            if instruction.opcode == "getelementptr":
                self.steps[instruction] = read_steps(instruction, self.named, bounds[instruction.function])
        self.changed = True
        while self.changed:
            while self.changed:
                self.changed = False
                for instruction in relevant:
                    self._apply(instruction)
            for instruction in relevant:
                self._apply_null(instruction)

    # --- constants

    def of(self, operand: Operand) -> Targets:
        """Return what an operand can point to."""
        if isinstance(operand, GlobalVariable):
            thing = self.objects.get(operand.name)
            return {thing: Reach()} if thing is not None else _NOWHERE
        if isinstance(operand, Constant):
            if operand not in self.targets:
                self.targets[operand] = self._of_constant(operand)
            return self.targets[operand]
        return self.targets.get(operand, _NOWHERE)

    def _of_constant(self, operand: Constant) -> Targets:
        kind, _, value = operand.text.partition(" ")
        try:
            if kind == "ptr":
                address = Reader(value, self.named).address()
            elif value.startswith("ptrtoint"):
                address = Reader(value, self.named).constant(Reader(kind, self.named).type()).pointers[0]
            else:
                return _NOWHERE
        except UnreadableTextError:
            return _NOWHERE
        if not address.name:
            return {NUMBER: Reach(address.offset)} if address.offset else {NULL: Reach()}
        thing = self.objects.get(address.name)
        return {thing: Reach(address.offset)} if thing is not None else _NOWHERE

    # --- contents of memory

    def content(self, thing: Object, place: Reach) -> Content:
        """Return what is stored at a place; places that overlap become one."""
        known = self.contents.setdefault(thing, [])
        found = [c for c in known if place.distance(c.region) == 0]
        if not found:
            made = Content(place if place.is_constant else dynamic(place))
            known.append(made)
            self._power_up(thing, made)
            self.changed = True
            return made
        first, *others = found
        for other in others:
            known.remove(other)
            for target, reach in other.holds.items():
                self._add(first.holds, target, reach)
            self._widen(thing, first, other.region)
        self._widen(thing, first, place)
        return first

    def _widen(self, thing: Object, content: Content, place: Reach) -> None:
        region = join(content.region, place) if content.region.start <= place.start else join(place, content.region)
        if region != content.region:
            content.region = region
            self._power_up(thing, content)
            self.changed = True

    def _power_up(self, thing: Object, content: Content) -> None:
        """Take the pointers of the object's initial value."""
        if thing.image is None:
            return
        unit = content.region.unit
        places = range(content.region.start, thing.size, unit) if unit else (content.region.start,)
        for at in places:
            address = thing.image.pointers.get(at)
            target = self.objects.get(address.name) if address is not None and address.name else NULL
            if target is not None:
                self._add(content.holds, target, Reach(address.offset if address else 0))

    def _add(self, known: Targets, thing: Object, reach: Reach) -> None:
        old = known.get(thing)
        new = (reach if reach.is_constant else dynamic(reach)) if old is None else join(old, reach)
        if new != old:
            known[thing] = new
            self.changed = True

    def _add_all(self, known: Targets, found: Targets) -> None:
        for thing, reach in found.items():
            self._add(known, thing, reach)

    # --- instructions

    def _apply(self, ins: Instruction) -> None:
        code = ins.opcode
        if code == "getelementptr":
            self._set(ins, {t: reach_after(r, self.steps[ins]) for t, r in self.of(ins.operands[0]).items()})
        elif code in _ALIASES:
            self._set(ins, self.of(ins.operands[0]))
        elif code in _MERGES:
            for operand in ins.operands[1:] if code == "select" else ins.operands:
                self._merge(ins, self.of(operand))
        elif code in _ARITHMETIC:
            for operand in ins.operands:
                self._merge(ins, dict.fromkeys(self.of(operand), _ANYWHERE))
        else:
            self._apply_effect(ins)

    def _apply_null(self, ins: Instruction) -> None:
        """Let what is loaded through null be null: the program never comes there."""
        if ins.opcode == "load" and not self.of(ins) and set(self.of(ins.operands[0])) == {NULL}:
            self._merge(ins, {NULL: Reach()})

    def _apply_effect(self, ins: Instruction) -> None:
        code = ins.opcode
        if code == "load":
            for thing, place in list(self.of(ins.operands[0]).items()):
                if thing.is_place:
                    self._merge(ins, self.content(thing, place).holds)
        elif code == "store":
            self._store(ins)
        elif code == "ret" and ins.operands:
            self._add_all(self.returned.setdefault(ins.function.name, {}), self.of(ins.operands[0]))
        elif code == "call":
            self._call(ins)

    def _set(self, ins: Instruction, found: Targets) -> None:
        if self.targets.get(ins, _NOWHERE) != found:
            self.targets[ins] = found
            self.changed = True

    def _merge(self, key: Operand, found: Targets) -> None:
        if found:
            self._add_all(self.targets.setdefault(key, {}), found)

    def _store(self, ins: Instruction) -> None:
        value, pointer = ins.operands
        found = self.of(value)
        if not found and value.type != "ptr":
            return
        for thing, place in list(self.of(pointer).items()):
            if thing.is_place:
                self._add_all(self.content(thing, place).holds, found)

    def _call(self, ins: Instruction) -> None:
        *arguments, callee = ins.operands
        name = callee.name.removeprefix("llvm.").split(".", 1)[0]
        if name in _COPIES:
            self._copy(self.of(arguments[0]), self.of(arguments[1]), constant_of(arguments[2]))
        elif name == "memset" and constant_of(arguments[1]) == 0:
            self._clear(self.of(arguments[0]), constant_of(arguments[2]))
        if name in ("memcpy", "memmove", "memset") and ins.type == "ptr":
            self._set(ins, self.of(arguments[0]))
        function = self.shared.get(callee.name)
        if function is None:
            return
        for parameter, argument in zip(function.arguments, arguments, strict=False):
            if _may_point(parameter):
                self._merge(parameter, self.of(argument))
        if _may_point(ins):
            self._merge(ins, self.returned.get(callee.name, _NOWHERE))

    def _copy(self, targets: Targets, sources: Targets, size: int | None) -> None:
        for source, start in list(sources.items()):
            for content in list(self.contents.get(source, ())):
                distance = start.distance(content.region)
                length = source.size if size is None else size
                if distance is None or distance >= length:
                    continue
                unit = content.region.unit
                for target, place in list(targets.items()):
                    at = place.moved(distance)
                    if unit and distance + unit < length:
                        at = join(at, at.moved(unit))
                    if target.is_place:
                        self._add_all(self.content(target, at).holds, content.holds)

    def _clear(self, targets: Targets, size: int | None) -> None:
        for target, start in targets.items():
            for content in self.contents.get(target, ()):
                distance = start.distance(content.region)
                if distance is not None and distance < (target.size if size is None else size):
                    self._add(content.holds, NULL, Reach())


def _may_point(operand: Operand) -> bool:
    return operand.type in ("ptr", "i64")


def _is_relevant(ins: Instruction) -> bool:
    code = ins.opcode
    if code in ("getelementptr", "store", "ptrtoint", "ret", "inttoptr", "insertvalue", "extractvalue"):
        return True
    if code == "call":
        return ins.operands[-1].name != "" and not ins.operands[-1].name.startswith("rtlagent_pragma_")
    return (code in _MERGES or code in _ALIASES or code in _ARITHMETIC or code == "load") and _may_point(ins)
