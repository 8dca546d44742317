"""Keep calls apart that inlining would melt into their callers, where `#pragma HLS dataflow` speaks about them.

```
call void @load(ptr %a)     ->     call void @rtlagent_enter_0()
                                   call void @load(ptr %a)
                                   call void @rtlagent_leave_0()
```

The markers stay around what the call becomes; the lowering begins a block at each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.llvm import TextFunction
from rtlagent.hls.frontend.pragma_targets import Markers
from rtlagent.hls.ir import Block, Function, Inlined, Place

BRACKET = re.compile(r"rtlagent_(enter|leave)_(\d+)")
_DEFINE = re.compile(r"^define [^@\n]*@(\"[^\"]*\"|[\w.$]+)\(")
_CALL = re.compile(r"^  (?:%[-\w.$]+ = )?(?:tail |notail |musttail )?call [^@\n]*?@(\"[^\"]*\"|[\w.$]+)\(")
_LOCATION = re.compile(r"!dbg !(\d+)")


@dataclass
class Brackets:
    """The calls that have markers around them."""

    callees: list[str] = field(default_factory=list)
    """C names, by number."""
    places: list[Place | None] = field(default_factory=list)
    asked: list[Place | None] = field(default_factory=list)
    """Where the callee asks for dataflow, by number."""


def dataflow_functions(functions: Mapping[str, TextFunction], markers: Markers) -> dict[str, Place | None]:
    """Return the functions with a dataflow pragma: its place if the function as a whole asks, None if a loop does."""
    found: dict[str, Place | None] = {}
    for name, function in functions.items():
        for number in sorted(function.markers):
            marked = markers.marked.get(number)
            if marked is not None and marked.pragma.kind == "dataflow":
                found[name] = found.get(name) if marked.in_loop else marked.pragma.place
    return found


def bracketed(
    text: str, functions: Mapping[str, TextFunction], wanted: Mapping[str, Place | None], info: DebugInfo
) -> tuple[str, Brackets]:
    """Return the unoptimised text with markers around the calls in functions with dataflow, and of such functions."""
    brackets = Brackets()
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        header = _DEFINE.match(line)
        if header:
            inside = header[1].strip('"') in wanted
        call = _CALL.match(line)
        callee = call[1].strip('"') if call else ""
        if callee not in functions or not (inside or wanted.get(callee)):
            lines.append(line)
            continue
        number = len(brackets.callees)
        location = _LOCATION.search(line)
        brackets.callees.append(info.c_name(callee))
        brackets.places.append(info.at(int(location[1])) if location else None)
        brackets.asked.append(wanted.get(callee))
        tail = f", {location[0]}" if location else ""
        lines += [
            f"  call void @rtlagent_enter_{number}(){tail}",
            line,
            f"  call void @rtlagent_leave_{number}(){tail}",
        ]
    for number in range(len(brackets.callees)):
        lines += [f"declare void @rtlagent_enter_{number}()", f"declare void @rtlagent_leave_{number}()"]
    return "\n".join(lines) + "\n", brackets


def inlined_calls(function: Function, marks: list[tuple[str, int, Block]], brackets: Brackets) -> list[Inlined]:
    """Return the calls in a function, from the blocks at their markers."""
    found = []
    leaves = {(number, block) for kind, number, block in marks if kind == "leave"}
    for kind, number, first in marks:
        if kind != "enter":
            continue
        waiting, seen = [first], {first}
        after = None
        while waiting and after is None:
            block = waiting.pop()
            after = block if (number, block) in leaves else None
            following = [t for t in block.successors() if t not in seen]
            seen.update(following)
            waiting += following
        if after is not None:
            found.append(
                Inlined(
                    brackets.callees[number], function, first, after, brackets.places[number], brackets.asked[number]
                )
            )
    return found
