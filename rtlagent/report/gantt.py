"""Draw a loop's timetable: a row a kind of operation, a column a cycle, and where the next iteration starts."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from rtlagent.report.svg import CHAR, element, fit, group, label, picture
from rtlagent.types import LoopSchedule, ScheduledOp

_ROW, _MOST_LABEL = 18, 190.0
_MOST_ROWS = 160
_LEAST_CELL, _MOST_CELL, _WIDEST = 14.0, 90.0, 1600.0
_MOST_CYCLES = 400
_HEAD = "line  operation"


def draw(schedule: LoopSchedule) -> Markup:
    """Return the picture of an iteration; of a pipelined loop with the start of each further one."""
    ops = [o for o in schedule.ops if o.cycle < _MOST_CYCLES][:_MOST_ROWS]
    depth = max(1, min(_MOST_CYCLES, schedule.depth, max((o.cycle + o.latency for o in ops), default=0) + 1))
    depth = max(depth, min(schedule.depth, _MOST_CYCLES))
    cell = max(_LEAST_CELL, min(_MOST_CELL, _WIDEST / depth))
    left = min(_MOST_LABEL, max(len(_HEAD), *(len(_name(o)) for o in ops), 0) * CHAR + 14)
    height = 30.0 + _ROW * len(ops) + 8
    parts = [*_axis(schedule, depth, left, cell, height)]
    for row, op in enumerate(ops):
        parts.append(_bar(op, schedule.clock_ns, 30.0 + _ROW * row, left, cell))
    pipelined = f"a new iteration every {schedule.ii} cycles" if schedule.ii else "not pipelined"
    return picture(parts, left + cell * depth + 10, height, f"Timetable of loop {schedule.label}: {pipelined}")


def hidden(schedule: LoopSchedule) -> int:
    """Return how many operations the picture leaves out."""
    shown = [o for o in schedule.ops if o.cycle < _MOST_CYCLES][:_MOST_ROWS]
    return schedule.left_out + sum(o.count for o in schedule.ops) - sum(o.count for o in shown)


def _axis(schedule: LoopSchedule, depth: int, left: float, cell: float, height: float) -> Iterator[str]:
    yield label(left - 8, 16, _HEAD, "axis", "end")
    every = max(1, int(len(str(depth)) * CHAR // cell) + 1)
    for cycle in range(depth + 1):
        x = left + cell * cycle
        starts = schedule.ii is not None and cycle > 0 and cycle % schedule.ii == 0 and cycle < depth
        yield element("line", x1=x, y1=22.0, x2=x, y2=height - 4, cls="next" if starts else "grid")
        if cycle < depth and cycle % every == 0:
            yield label(x + cell / 2, 16, str(cycle), "axis", "middle")


def _name(op: ScheduledOp) -> str:
    times = f" x{op.count}" if op.count > 1 else ""
    return f"{op.line or '-'}  {op.what}{times}"


def _bar(op: ScheduledOp, clock_ns: float, top: float, left: float, cell: float) -> str:
    period = max(clock_ns, 0.001)
    start = op.cycle + min(1.0, op.start_ns / period)
    end = op.cycle + op.latency + min(1.0, op.end_ns / period)
    x, width = left + cell * start, max(3.0, cell * (end - start))
    title = (
        f"line {op.line or '-'}: {op.what}, {op.count} of it, cycle {op.cycle} at {op.start_ns:g} ns "
        f"to cycle {op.cycle + op.latency} at {op.end_ns:g} ns"
    )
    colour = _CLASSES.get(op.what.partition(" ")[0], "logic")
    parts = [
        label(left - 8, top + 12, fit(_name(op), left - 12), "name", "end"),
        element("rect", x=x, y=top + 2.0, width=width, height=_ROW - 5.0, rx=2, cls=f"op {colour}"),
    ]
    return group(parts, title)


_CLASSES = {
    **dict.fromkeys(("load", "store", "read", "write"), "memory"),
    **dict.fromkeys(("mul", "udiv", "sdiv", "urem", "srem", "call"), "heavy"),
    **dict.fromkeys(("add", "sub"), "adder"),
}
