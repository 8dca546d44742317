"""What pragmas speak about: which memories a variable's name means, and which loops a marker stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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


def read_markers(
    text: str, functions: Mapping[str, TextFunction], pragmas: Iterable[Pragma], info: DebugInfo
) -> dict[int, Marked]:
    """Return where each pragma's marker stands in the text before anything was inlined."""
    by_number = {p.number: p for p in pragmas}
    found: dict[int, Marked] = {}
    if not by_number:
        return found
    for function in LlvmModule(text).functions:
        if not functions[function.name].markers:
            continue
        described = info.function(function.name)
        name = described.text("name") if described is not None else function.name
        cyclic = _on_cycles(function)
        for block in function.blocks:
            for ins in block.instructions:
                callee = ins.operands[-1].name if ins.opcode == "call" else ""
                if callee.startswith(MARKER):
                    number = int(callee.removeprefix(MARKER))
                    found[number] = Marked(by_number[number], name, block in cyclic)
    return found


def _on_cycles(function: Function) -> set[Block]:
    """Return the blocks that can be reached from themselves."""
    following = {b: [o for o in b.instructions[-1].operands if isinstance(o, Block)] for b in function.blocks}
    cyclic: set[Block] = set()
    for start in function.blocks:
        seen: set[Block] = set()
        waiting = list(following[start])
        while waiting:
            block = waiting.pop()
            if block not in seen:
                seen.add(block)
                waiting += following[block]
        if start in seen:
            cyclic.add(start)
    return cyclic
