"""How long the turns of processes take: each begins when what it needs is there, and what it fills is free.

```
load 10 cycles, store 12, two buffers, 3 turns:   load ends at 10 20 32, store at 22 34 46: 12 cycles a turn
```
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.dataflow.canonical import ArrayChannel
from rtlagent.hls.dataflow.outline import Outlined
from rtlagent.hls.dataflow.regions import Part
from rtlagent.hls.schedule.report import Bounds
from rtlagent.types import LoopReport

_START = 1
"""Cycles until the first process begins."""
_FIFO = 2
"""Cycles from the last write of a FIFO until it can be read."""
_EXACT_TURNS = 200
"""So many turns are followed one by one; from then on they repeat."""


@dataclass(frozen=True)
class _Edge:
    """Something that goes from a part to a later one."""

    source: Part
    sink: Part
    capacity: int
    """Turns that the source may be ahead."""
    stream: bool
    """The sink begins with the source, and may end before it when nothing comes."""
    delay: int = 0
    """Cycles after the source's end."""


@dataclass
class _Turns:
    ends: dict[Part, list[int]] = field(default_factory=dict)

    def of(self, part: Part, turn: int) -> int:
        """Return when a turn has ended; 0 before the first."""
        return self.ends[part][turn] if turn >= 0 else 0


def region_report(region: Outlined, bounds: list[Bounds]) -> tuple[Bounds, LoopReport | None]:
    """Return from when to when a region works, and the row of its loop.

    Args:
        region: The region.
        bounds: Cycles of a turn of each process, in order.
    """
    plan = region.plan
    parts = [p.part for p in region.processes]
    read = [c for c in plan.arrays if _is_read(region, c)]
    edges = [_Edge(c.source, c.sink, 2 if c.doubled else 1, stream=False) for c in read]
    edges += [_Edge(f.source, f.sink, 1 << 30, stream=True) for f in plan.fifos]
    home = {v: p for p in parts for v in p.defines()}
    edges += [_Edge(home[v], p, len(parts) + 1, stream=False) for p in parts for v in plan.inputs[p] if v in home]
    loop = plan.region.loop
    least_trips, most_trips = plan.region.trips
    least, most = [b[0] for b in bounds], [b[1] for b in bounds]
    shortest = None
    if all(n is not None for n in least):
        shortest = _last_end(parts, [n or 0 for n in least], edges, least_trips)
    longest = None
    if all(n is not None for n in most) and most_trips is not None:
        # A FIFO may make both its ends wait: at worst one part runs after the other.
        strict = [_Edge(e.source, e.sink, e.capacity, stream=False, delay=_FIFO * e.stream) for e in edges]
        longest = _last_end(parts, [n or 0 for n in most], strict, most_trips)
    # What the loop of the controller takes runs beside the processes.
    whole = (
        None if shortest is None else max(1, shortest - 4 * least_trips if loop is not None else shortest),
        longest,
    )
    return whole, _row(region, most, longest) if loop is not None else None


def _is_read(region: Outlined, channel: ArrayChannel) -> bool:
    """Tell whether the sink still reads an array, now that its module is optimised."""
    sink = next(p for p in region.processes if p.part is channel.sink)
    name = sink.memories[channel.memory].argument
    ops = (op for f in sink.module.functions for b in f.blocks for op in b.ops)
    return any(op.memory is not None and op.memory.argument == name for op in ops)


def _last_end(parts: list[Part], cycles: list[int], edges: list[_Edge], trips: int) -> int:
    """Return when the last turn has ended."""
    turns = _Turns({p: [] for p in parts})
    for turn in range(min(trips, _EXACT_TURNS)):
        for part, length in zip(parts, cycles, strict=True):
            begin = turns.of(part, turn - 1)
            for edge in edges:
                if edge.sink is part and not edge.stream:
                    begin = max(begin, turns.of(edge.source, turn) + edge.delay)
                elif edge.source is part and turn >= edge.capacity:
                    begin = max(begin, turns.of(edge.sink, turn - edge.capacity))
            turns.ends[part].append(begin + length)
    ends = [max(found[n] for found in turns.ends.values()) for n in range(min(trips, _EXACT_TURNS))]
    if not ends:
        return 1
    repeated = trips - len(ends)
    # With up to two turns between any two parts the pattern may repeat after two.
    period = max(ends[-1] - ends[-2], -(-(ends[-1] - ends[-3]) // 2)) if len(ends) > 2 else 0
    return _START + ends[-1] - 1 + repeated * period


def _row(region: Outlined, most: list[int | None], longest: int | None) -> LoopReport:
    plan = region.plan
    directives = plan.region.loop.header.directives if plan.region.loop is not None else None
    known = [(n, p.part.name) for n, p in zip(most, region.processes, strict=True) if n is not None]
    slowest = max(known) if len(known) == len(most) else None
    single = [c.memory.name for c in plan.arrays if not c.doubled]
    text = f"the turns of {slowest[1]}: {slowest[0]} cycles" if slowest else "the turns of its slowest part"
    if single:
        text += f"; one buffer only for {', '.join(single)}"
    return LoopReport(
        label=directives.label if directives is not None and directives.label else plan.region.name,
        line=0,
        trip_count=None,
        ii=None if slowest is None or single else slowest[0],
        target_ii=None,
        depth=sum(n for n, _ in known),
        latency_cycles=longest,
        limited_by=text,
    )
