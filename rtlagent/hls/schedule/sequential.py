"""List scheduling of a block with operator chaining: the longest way to the block's end goes first.

```
%a = load x[0]       cycle 0           %s = add %a, %b    cycle 1, from the data wire of x
%b = load x[1]       cycle 0           store y[0] = %s    cycle 1, chained
```
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from rtlagent.hls.ir import DIVISIONS, Block, Branch, Op, Opcode, Return, Switch, Value

from .delays import Delays
from .graph import Graph
from .plan import BlockPlan, Slot
from .reservations import PRODUCTS, Reservations

PRODUCTS_AT_ONCE = 4
"""Multiplications that begin in one cycle of sequential code, unless one more shortens the block."""
_EPSILON = 1e-9


def waiting_op(block: Block) -> Op | None:
    """Return the call or division at a block's end that its last cycle waits for."""
    if not block.ops:
        return None
    last = block.ops[-1]
    if last.opcode is Opcode.CALL:
        return last
    divides = last.opcode in DIVISIONS and not isinstance(block.terminator, Branch | Switch | Return)
    return last if divides else None


@dataclass
class Times:
    """When the operations of a graph run."""

    cycle: list[int]
    start: list[float]
    end: list[float]
    """In the cycle in which the result is ready."""


def schedule_block(
    graph: Graph, delays: Delays, used_outside: set[Value], *, products: int | None = None
) -> tuple[BlockPlan, Times]:
    """Schedule a block that runs once from its first to its last cycle.

    Args:
        graph: Of the block, without the operation that it waits for.
        delays: Of the target.
        used_outside: Values of the block that other blocks or the terminator use.
        products: Greatest number of multiplications at once that a pragma allows.
    """
    listing = _Listing(graph, delays, products)
    times = listing.run()
    block = graph.block
    plan = BlockPlan(block, 1)
    waiting = waiting_op(block)
    last = 0
    for n, op in enumerate(graph.ops):
        timing = graph.timing[n]
        ready = times.cycle[n] + timing.latency
        wanted = bool(op.width) and (bool(graph.data_out[n]) or op in used_outside or _uses(waiting, op))
        last = max(last, times.cycle[n], ready if wanted else 0)
        if waiting is not None and wanted and not is_stable(op, timing.latency):
            last = max(last, ready + 1)
    if waiting is not None:
        last = max(last, _wait(plan, graph, times, waiting, delays, last))
    plan.length = last + 1
    for n, op in enumerate(graph.ops):
        timing = graph.timing[n]
        plan.slots[op] = Slot(times.cycle[n], times.start[n], times.end[n], timing.latency, timing.limb)
    plan.ports = listing.reserved.ports(graph.ops)
    return plan, times


def is_stable(op: Op, latency: int) -> bool:
    """Tell whether a result stays the same while a block waits: computed from registers, and from no memory."""
    return not latency and op.memory is None and op.stream is None and op.opcode is not Opcode.CALL


def _uses(waiting: Op | None, op: Op) -> bool:
    return waiting is not None and any(v is op for v in waiting.operands())


def _wait(plan: BlockPlan, graph: Graph, times: Times, waiting: Op, delays: Delays, last: int) -> int:
    """Place the operation that is waited for; return its cycle."""
    timing = delays.timing(waiting, tail_ns=delays.technology.setup, waited_for=True)
    start = delays.start_ns
    for value in waiting.operands():
        n = graph.number.get(value) if isinstance(value, Op) else None
        if n is not None and times.cycle[n] + graph.timing[n].latency == last:
            start = max(start, times.end[n])
    if start > delays.start_ns and start + timing.need_ns > delays.budget_ns + _EPSILON:
        last, start = last + 1, delays.start_ns
    plan.slots[waiting] = Slot(last, start, 0.0, 0)
    return last


@dataclass
class _Listing:
    graph: Graph
    delays: Delays
    asked_products: int | None
    reserved: Reservations = field(init=False)

    def __post_init__(self) -> None:
        limit = self.asked_products or PRODUCTS_AT_ONCE
        self.reserved = Reservations(self.delays.technology, products=limit)

    def run(self) -> Times:
        """Place every operation."""
        graph, count = self.graph, len(self.graph.ops)
        rank = self._rank()
        tail_cycles = self._tail_cycles()
        times = Times([0] * count, [0.0] * count, [0.0] * count)
        waits_for = [len(graph.data_in[n]) + len(graph.order_in[n]) for n in range(count)]
        heap: list[tuple[int, float, int]] = []
        starts: dict[int, float] = {}
        longest = self._least_length() - 1

        def arrive(n: int) -> None:
            cycle, start = earliest(graph, self.delays, times, n, 0)
            starts[n] = start
            heapq.heappush(heap, (cycle, -rank[n], n))

        for n in range(count):
            if not waits_for[n]:
                arrive(n)
        while heap:
            cycle, negative, n = heapq.heappop(heap)
            op = graph.ops[n]
            resource = self.reserved.resource(op)
            if resource is not None:
                port = self.reserved.free(op, resource, cycle)
                if port is None and resource == PRODUCTS and not self.asked_products:
                    # One more at once is worth it on the longest way only.
                    port = -1 if cycle + tail_cycles[n] >= longest else None
                if port is None:
                    starts[n] = self.delays.start_ns
                    heapq.heappush(heap, (cycle + 1, negative, n))
                    continue
                if port >= 0:
                    self.reserved.take(op, resource, cycle, port)
            _set(graph, times, n, cycle, starts.pop(n))
            longest = max(longest, cycle + tail_cycles[n])
            for out in (*graph.data_out[n], *graph.order_out[n]):
                waits_for[out] -= 1
                if not waits_for[out]:
                    arrive(out)
        return times

    def _least_length(self) -> int:
        """Return how many cycles the ports alone take."""
        counts: dict[tuple[object, range], int] = {}
        for op in self.graph.ops:
            resource = self.reserved.resource(op)
            if resource is not None and resource != PRODUCTS:
                key = (resource, self.reserved.choices(op, resource))
                counts[key] = counts.get(key, 0) + 1
        return max((-(-count // max(1, len(choices))) for (_, choices), count in counts.items()), default=1)

    def _rank(self) -> list[float]:
        """Return the longest way in ns from each operation's start to the end."""
        graph, budget = self.graph, self.delays.budget_ns
        rank = [0.0] * len(graph.ops)
        for n in range(len(graph.ops) - 1, -1, -1):
            timing = graph.timing[n]
            own = timing.out_ns if not timing.latency else timing.latency * budget + timing.out_ns
            rank[n] = own + max((rank[out] for out in graph.data_out[n]), default=0.0)
            for out in graph.order_out[n]:
                rank[n] = max(rank[n], rank[out] + 0.5 * budget)
        return rank

    def _tail_cycles(self) -> list[int]:
        """Return the least number of cycles from each operation's own to the block's last."""
        graph, start, budget = self.graph, self.delays.start_ns, self.delays.budget_ns
        count = len(graph.ops)
        whole = [0] * count
        left = [0.0] * count  # by how many ns before the end of its own cycle each must begin
        for n in range(count - 1, -1, -1):
            timing = graph.timing[n]
            cycles, ns = 0, timing.need_ns
            for out in graph.data_out[n]:
                behind, before = whole[out], left[out]
                if timing.latency:
                    late = timing.out_ns + before > budget
                    cycles_here, ns_here = behind + timing.latency + late, timing.need_ns
                elif timing.out_ns + before + start > budget:
                    cycles_here, ns_here = behind + 1, timing.need_ns
                else:
                    cycles_here, ns_here = behind, max(timing.need_ns, timing.out_ns + before)
                cycles, ns = max((cycles, ns), (cycles_here, ns_here))
            whole[n], left[n] = cycles, ns
        return whole


def earliest(graph: Graph, delays: Delays, times: Times, n: int, ii: int) -> tuple[int, float]:
    """Return the first cycle, and the time in it, that an operation's operands and orders allow."""
    begin = delays.start_ns
    cycle, start = 0, begin
    for source, offset in graph.data_in[n]:
        at = times.cycle[source] + graph.timing[source].latency
        if at > cycle:
            cycle, start = at, max(begin, times.end[source] + offset)
        elif at == cycle:
            start = max(start, times.end[source] + offset)
    for source, cycles, distance, _ in graph.order_in[n]:
        at = times.cycle[source] + cycles - distance * ii
        if at > cycle:
            cycle, start = at, begin
    if start > begin and start + graph.timing[n].need_ns > delays.budget_ns + _EPSILON:
        return cycle + 1, begin
    return cycle, start


def _set(graph: Graph, times: Times, n: int, cycle: int, start: float) -> None:
    timing = graph.timing[n]
    times.cycle[n] = cycle
    times.start[n] = start
    times.end[n] = timing.out_ns if timing.latency else start + timing.out_ns
