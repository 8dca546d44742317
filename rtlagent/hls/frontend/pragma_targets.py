"""What pragmas speak about: which memories a variable's name means, and which loops a marker stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.directives import Marked
from rtlagent.hls.frontend.llvm import TextFunction
from rtlagent.hls.frontend.llvm_module import Block, Function, LlvmModule
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.points_to import PointsTo
from rtlagent.hls.ir import Memory
from rtlagent.hls.pragmas import MARKER, Pragma

_RECORD = re.compile(r"^\s+#dbg_(?:declare|value)\((?:ptr|\S+) ([%@](?:\"[^\"]*\"|[-\w.$]+))?.*?!(\d+), !DIExpr", re.M)


class Variables:
    """Finds the memories that a C variable became."""

    def __init__(
        self, things: Iterable[Object], points_to: PointsTo, functions: Iterable[Function], info: DebugInfo
    ) -> None:
        self._things = list(things)
        self._parameters: dict[tuple[str, str], set[Object]] = {}
        """(C function, variable) -> what a pointer of that name leads to."""
        for function in functions:
            for name, number in _RECORD.findall(str(function)):
                variable = info.variable(int(number))
                if variable is None:
                    continue
                found = self._parameters.setdefault((variable.function, variable.name), set())
                operand = function.named(name) if name else None
                if operand is not None and operand.type == "ptr":
                    found |= {t for t in points_to.of(operand) if t.is_place}

    @property
    def names(self) -> list[str]:
        """C names of all arrays."""
        return sorted({t.c_name for t in self._things if t.memories})

    def memories(self, expression: str, function: str) -> list[Memory] | None:
        """Return the memories of a variable, or of a field of it, as named in a C function.

        Returns None if there is no such variable; an empty list if nothing of it is left in memory.
        """
        base = re.match(r"[&*(\s]*(\w+)", expression)
        fields = tuple(re.findall(r"(?:\.|->)\s*(\w+)", expression))
        things = self._named(base[1], function) if base else None
        if things is None:
            return None
        return [
            memory
            for thing in sorted(things, key=lambda t: t.number)
            for memory in thing.memories.values()
            if memory.field_path[: len(fields)] == fields
        ]

    def _named(self, name: str, function: str) -> set[Object] | None:
        own = {t for t in self._things if t.c_name == name and t.function == function}
        led_to = self._parameters.get((function, name))
        if own or led_to:
            return own | (led_to or set())
        outer = {t for t in self._things if t.c_name == name and not t.function}
        if outer:
            return outer
        return set() if led_to is not None else None


@dataclass
class Markers:
    """The markers in the text before anything was inlined."""

    marked: dict[int, Marked] = field(default_factory=dict)
    """By the pragmas' numbers."""
    pipelined: set[str] = field(default_factory=set)
    """Functions that are called in loops, or from functions, that a pragma pipelines."""


def read_markers(
    text: str, functions: Mapping[str, TextFunction], pragmas: Iterable[Pragma], info: DebugInfo
) -> Markers:
    """Read where each pragma's marker stands."""
    by_number = {p.number: p for p in pragmas}
    found = Markers()
    if not by_number:
        return found
    for function in LlvmModule(text).functions:
        if functions[function.name].markers:
            _read_function(found, function, by_number, info)
    return found


def _read_function(found: Markers, function: Function, pragmas: Mapping[int, Pragma], info: DebugInfo) -> None:
    cycles = _cycles(function)
    for block in function.blocks:
        for callee in _callees(block):
            if not callee.startswith(MARKER):
                continue
            pragma = pragmas[int(callee.removeprefix(MARKER))]
            found.marked[pragma.number] = Marked(pragma, info.c_name(function.name), block in cycles[block])
            if pragma.kind == "pipeline" and "off" not in pragma.options:
                inside = cycles[block] or set(function.blocks)
                found.pipelined |= {name for b in inside for name in _callees(b)}


def _callees(block: Block) -> list[str]:
    return [ins.operands[-1].name for ins in block.instructions if ins.opcode == "call"]


def _cycles(function: Function) -> dict[Block, set[Block]]:
    """Return for each block the blocks that are on a cycle with it."""
    following = {b: [o for o in b.instructions[-1].operands if isinstance(o, Block)] for b in function.blocks}
    reached: dict[Block, set[Block]] = {}
    for start in function.blocks:
        seen: set[Block] = set()
        waiting = list(following[start])
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                waiting += following[block]
        reached[start] = seen
    return {b: {o for o in seen if b in reached[o]} for b, seen in reached.items()}
