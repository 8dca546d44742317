"""Move operations later where that saves registers.

```
%w = sext 32 %a      cycle 0 -> 3      with the product that uses it: `a` is kept, not its extension
%p = mul %w, %k      cycle 3
```

A list schedule runs everything as early as possible, so that results wait in registers. An operation without a
resource goes to the cycle of its first use if its operands that have to live longer for it are no wider than its
result.
"""

from __future__ import annotations

import heapq

from rtlagent.hls.ir import Op, Phi, Value

from .delays import Delays
from .graph import Graph
from .plan import BlockPlan, Slot
from .reservations import is_product
from .sequential import Times, is_stable

_EPSILON = 1e-9


def sink(
    graph: Graph, plan: BlockPlan, times: Times, delays: Delays, *, used_outside: set[Value], held: set[Value]
) -> None:
    """Move what can be moved, last operations first; changes `plan` and `times`.

    Args:
        graph: Of the block.
        plan: Its schedule.
        times: The same by number.
        delays: Of the target.
        used_outside: Values that are used behind the block.
        held: Operands of what the block waits for: they come no later than they do.
    """
    pinned = {graph.number[value] for value in held if isinstance(value, Op) and value in graph.number}
    last_use = _last_uses(graph, plan, times, used_outside)
    for n in range(len(graph.ops) - 1, -1, -1):
        op, timing = graph.ops[n], graph.timing[n]
        if (
            is_product(op)
            or op in used_outside
            or op in held
            or not graph.data_out[n]
            or graph.order_out[n]
            or not is_stable(op, timing.latency)
        ):
            continue
        first = min(times.cycle[out] for out in graph.data_out[n])
        if first <= times.cycle[n]:
            continue
        # In a pipeline phis move on as well, and what gains nothing stays.
        cost = _costs(graph, n, first, last_use) + (1 + _phi_bits(graph, op) if plan.ii is not None else 0)
        if cost > op.width:
            continue
        for cycle in range(first, times.cycle[n], -1):
            start = _start(graph, times, n, cycle, delays)
            starts = None if start is None else _pushed(graph, times, n, cycle, start, delays)
            if starts is not None and not pinned.isdisjoint(starts):
                continue
            if starts is not None:
                times.cycle[n] = cycle
                for moved, begin in starts.items():
                    _set(graph, plan, times, moved, begin)
                for source, _ in graph.data_in[n]:
                    last_use[source] = max(last_use[source], cycle)
                break


def _last_uses(graph: Graph, plan: BlockPlan, times: Times, used_outside: set[Value]) -> list[int]:
    """Return the last cycle in which each result is needed; the block's end for what is used behind it."""
    result = []
    for n, op in enumerate(graph.ops):
        uses = [times.cycle[out] for out in graph.data_out[n]]
        if op in used_outside:
            uses.append(plan.length)
        result.append(max(uses, default=times.cycle[n]))
    return result


def _costs(graph: Graph, n: int, cycle: int, last_use: list[int]) -> int:
    """Return how many bits of operands would have to be kept longer."""
    cost = 0
    for source in dict.fromkeys(s for s, _ in graph.data_in[n]):
        if last_use[source] < cycle:
            cost += graph.ops[source].width
    return cost


def _phi_bits(graph: Graph, op: Op) -> int:
    return sum(
        value.width for value in dict.fromkeys(op.operands()) if isinstance(value, Phi) and value in graph.block.phis
    )


def _start(graph: Graph, times: Times, n: int, cycle: int, delays: Delays) -> float | None:
    start = delays.start_ns
    for source, offset in graph.data_in[n]:
        at = times.cycle[source] + graph.timing[source].latency
        if at > cycle:
            return None
        if at == cycle:
            start = max(start, times.end[source] + offset)
    if start > delays.start_ns and start + graph.timing[n].need_ns > delays.budget_ns + _EPSILON:
        return None
    return start


def _pushed(graph: Graph, times: Times, n: int, cycle: int, start: float, delays: Delays) -> dict[int, float] | None:
    """Return the new start of the operation and of all that are chained behind it; None if one no longer fits."""
    starts = {n: start}
    work = [n]
    while work:
        at = heapq.heappop(work)
        timing = graph.timing[at]
        if starts[at] + timing.need_ns > delays.budget_ns + _EPSILON and starts[at] > delays.start_ns:
            return None
        if timing.latency:
            continue
        end = starts[at] + timing.out_ns
        for out in graph.data_out[at]:
            if times.cycle[out] != cycle:
                continue
            offset = max(offset for source, offset in graph.data_in[out] if source == at)
            if end + offset > starts.get(out, times.start[out]) + _EPSILON:
                if out not in work:
                    heapq.heappush(work, out)
                starts[out] = end + offset
    return starts


def _set(graph: Graph, plan: BlockPlan, times: Times, n: int, start: float) -> None:
    timing = graph.timing[n]
    times.start[n] = start
    if not timing.latency:
        times.end[n] = start + timing.out_ns
    plan.slots[graph.ops[n]] = Slot(times.cycle[n], start, times.end[n], timing.latency, timing.limb)
