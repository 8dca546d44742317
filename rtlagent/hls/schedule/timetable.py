"""What a user sees of when things happen: the operations of each loop's iteration, cycle by cycle.

```
loop sample, II 1, depth 4            cycle 0   1   2   3
  line 42  load x                           [====]
  line 46  mul x16                               [==]
  line 46  add x15                                  [===]
```
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rtlagent.hls.analysis.loops import Loop, find_loops
from rtlagent.hls.ir import Function, Module, Op, Opcode
from rtlagent.types import LoopSchedule, ScheduledOp

from .plan import FunctionPlan, Slot

_WIRES = frozenset({Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY})
"""They take no time and no hardware."""
MOST_OPS = 400
"""Rows of a loop that are kept: a picture of more says nothing."""


def timetables(module: Module, plans: Mapping[Function, FunctionPlan], clock_ns: float) -> tuple[LoopSchedule, ...]:
    """Return the timetable of each loop, in source order.

    Of a loop that is not pipelined, the blocks stand one after the other, also where only one of two is taken; inner
    loops have their own timetable and are left out.
    """
    found = [
        _timetable(loop, plans[function], clock_ns) for function in module.functions for loop in find_loops(function)
    ]
    return tuple(sorted(found, key=lambda t: (t.line, t.label)))


def _timetable(loop: Loop, plan: FunctionPlan, clock_ns: float) -> LoopSchedule:
    directives, header = loop.header.directives, plan.blocks[loop.header]
    inner = frozenset(b for child in loop.children for b in child.blocks)
    rows: dict[tuple[object, ...], ScheduledOp] = {}
    offset = 0
    for block in loop.blocks:
        if block in inner:
            continue
        for op, slot in _timed(plan.blocks[block].slots):
            row = _row(op, slot, offset)
            key = (row.what, row.line, row.cycle, row.latency, round(row.end_ns, 1))
            known = rows.get(key)
            rows[key] = row if known is None else replace(known, count=known.count + 1)
        offset += plan.blocks[block].length
    ops = sorted(rows.values(), key=lambda r: (r.cycle, r.start_ns, r.line, r.what))
    place = directives.place if directives is not None else None
    return LoopSchedule(
        label=directives.label if directives is not None and directives.label else loop.header.name,
        line=place.line if place is not None else 0,
        ii=header.ii if loop.is_single_block else None,
        depth=offset,
        clock_ns=clock_ns,
        ops=tuple(ops[:MOST_OPS]),
        left_out=sum(r.count for r in ops[MOST_OPS:]),
    )


def _timed(slots: Mapping[Op, Slot]) -> Iterator[tuple[Op, Slot]]:
    for op, slot in slots.items():
        if op.opcode not in _WIRES:
            yield op, slot


def _row(op: Op, slot: Slot, offset: int) -> ScheduledOp:
    what = op.opcode.value
    if op.memory is not None:
        what += f" {op.memory.argument or op.memory.name}"
    elif op.opcode is Opcode.CALL and op.callee is not None:
        what += f" {op.callee.name}"
    elif op.width > 1:
        what += f" {op.width}"
    return ScheduledOp(
        what,
        op.place.line if op.place is not None else 0,
        slot.cycle + offset,
        slot.latency,
        round(slot.start_ns, 2),
        round(slot.end_ns, 2),
    )
