"""Iterative modulo scheduling of single-block loops (Rau 1994, with exact chaining).

```
II 1:  load a[i]  0        iteration 0   load  mul   add
       mul        1        iteration 1         load  mul   add
       add acc    2        iteration 2               load  mul   add
```

Operations that share something (a port, a stream, multipliers) are placed one by one, each at the first free cycle
from its earliest on; everything else follows from these by relaxation. One that finds no free cycle takes
the place of another, which is placed again. The number of such displacements is bounded; then the next II is tried.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from rtlagent.hls.ir import Op, Value

from .delays import Delays
from .graph import Graph
from .plan import BlockPlan, Slot
from .relaxation import Conflict, Relaxation
from .reservations import Reservations, Resource
from .sequential import Times
from .sinking import sink

_BUDGET = 6
"""Placements per shared operation before an II is given up."""


def schedule_loop(
    graph: Graph, delays: Delays, ii: int, *, products: int | None, used_outside: set[Value]
) -> BlockPlan | None:
    """Schedule a loop at an II; None if no schedule was found.

    Args:
        graph: Of the loop, pipelined.
        delays: Of the target.
        ii: Wanted.
        products: Greatest number of multiplications at once; None: any.
        used_outside: Values that are used behind the loop.
    """
    search = _Search(graph, delays, ii, Reservations(delays.technology, ii, products))
    try:
        if not search.run():
            return None
    except Conflict:
        return None
    times = search.relaxation.times
    plan = _plan(graph, times, search.reserved, ii, used_outside)
    asked = {graph.ops[n] for n in (graph.condition,) if n is not None}
    sink(graph, plan, times, delays, used_outside=used_outside | asked, held=set())
    return plan


def _plan(graph: Graph, times: Times, reserved: Reservations, ii: int, used_outside: set[Value]) -> BlockPlan:
    plan = BlockPlan(graph.block, 1, ii=ii)
    for n, op in enumerate(graph.ops):
        timing = graph.timing[n]
        plan.slots[op] = Slot(times.cycle[n], times.start[n], times.end[n], timing.latency, timing.limb)
        last = times.cycle[n]
        if op.width and (graph.data_out[n] or op in used_outside or _feeds_phi(graph, op)):
            last += timing.latency
        plan.length = max(plan.length, last + 1)
    plan.ports = reserved.ports(graph.ops)
    return plan


def _feeds_phi(graph: Graph, op: Op) -> bool:
    return any(phi.incoming.get(graph.block) is op for phi in graph.block.phis)


@dataclass
class _Search:
    graph: Graph
    delays: Delays
    ii: int
    reserved: Reservations
    relaxation: Relaxation = field(init=False)
    _shared: dict[int, Resource] = field(default_factory=dict)
    _fixed: set[int] = field(default_factory=set)
    _last: dict[int, int] = field(default_factory=dict)
    """Where an operation was placed the last time."""

    def __post_init__(self) -> None:
        self.relaxation = Relaxation(self.graph, self.delays, self.ii)
        for n, op in enumerate(self.graph.ops):
            resource = self.reserved.resource(op)
            if resource is not None:
                self._shared[n] = resource

    def run(self) -> bool:
        """Find places for all shared operations; return whether that worked.

        Raises:
            Conflict: a recurrence is too long.
        """
        self.relaxation.solve()
        urgency = self._urgency()
        cycle = self.relaxation.times.cycle
        work = [(cycle[n] - urgency[n], n) for n in self._shared]
        heapq.heapify(work)
        budget = _BUDGET * len(self._shared) + 8
        while work:
            _, n = heapq.heappop(work)
            if n in self._fixed:
                continue
            budget -= 1
            if budget < 0:
                return False
            at = self._find(n)
            moved = self._take_by_force(n) if at is None else self._fix(n, *at)
            if moved is None:
                return False
            for other in moved:
                heapq.heappush(work, (cycle[other] - urgency[other], other))
        return True

    def _urgency(self) -> list[int]:
        """Return by how many cycles operations of recurrences and of the exit condition go first."""
        graph = self.graph
        first = set(_ancestors(graph, [c for c in (graph.condition, graph.condition_next) if c is not None]))
        first |= _in_recurrences(graph)
        ahead = 4 * self.ii + 64
        return [ahead if n in first else 0 for n in range(len(graph.ops))]

    def _find(self, n: int) -> tuple[int, int] | None:
        """Return the first cycle and port that are free, no later than an II after the earliest."""
        op, resource = self.graph.ops[n], self._shared[n]
        earliest = self.relaxation.times.cycle[n]
        for cycle in range(earliest, earliest + self.ii):
            port = self.reserved.free(op, resource, cycle)
            if port is not None:
                return cycle, port
        return None

    def _fix(self, n: int, cycle: int, port: int) -> list[int] | None:
        """Place an operation; return those that have to be placed again because of it, None if nothing works."""
        self.reserved.take(self.graph.ops[n], self._shared[n], cycle, port)
        self._fixed.add(n)
        self._last[n] = cycle
        try:
            changed = self.relaxation.raise_floor(n, cycle)
        except Conflict:
            return None
        return self._dislodge(changed)

    def _dislodge(self, changed: list[int]) -> list[int]:
        """Take the places of fixed operations that were pushed away from them."""
        moved = []
        for other in changed:
            if other in self._fixed and self.relaxation.times.cycle[other] > self._last[other]:
                self._loosen(other)
                moved.append(other)
        return moved

    def _loosen(self, n: int) -> None:
        self.reserved.release(self.graph.ops[n])
        self._fixed.discard(n)
        self.relaxation.floor[n] = 0

    def _take_by_force(self, n: int) -> list[int] | None:
        """Take the port of another operation at the first cycle where this one was not placed before."""
        op, resource = self.graph.ops[n], self._shared[n]
        cycle = max(self.relaxation.times.cycle[n], self._last.get(n, -1) + 1)
        choices = self.reserved.choices(op, resource)
        if not choices:
            return None
        port = choices[cycle % len(choices)]
        holder = self.reserved.holder(resource, cycle, port)
        moved = []
        if holder is not None:
            other = self.graph.number[holder]
            self._loosen(other)
            moved.append(other)
            # What the other one had pushed may come earlier again.
            try:
                self.relaxation.solve()
            except Conflict:
                return None
        more = self._fix(n, cycle, port)
        return None if more is None else moved + more


def _ancestors(graph: Graph, roots: list[int]) -> set[int]:
    found = set(roots)
    work = list(roots)
    while work:
        n = work.pop()
        for source in [s for s, _ in graph.data_in[n]] + [s for s, _, distance, _ in graph.order_in[n] if not distance]:
            if source not in found:
                found.add(source)
                work.append(source)
    return found


def _in_recurrences(graph: Graph) -> set[int]:
    """Return the operations on some cycle of constraints (Tarjan 1972, without recursion)."""
    count = len(graph.ops)
    index = [-1] * count
    low = [0] * count
    on_stack = [False] * count
    stack: list[int] = []
    found: set[int] = set()
    clock = 0
    for root in range(count):
        if index[root] >= 0:
            continue
        work = [(root, iter((*graph.data_out[root], *graph.order_out[root])))]
        index[root] = low[root] = clock
        clock += 1
        stack.append(root)
        on_stack[root] = True
        while work:
            n, outs = work[-1]
            for out in outs:
                if index[out] < 0:
                    index[out] = low[out] = clock
                    clock += 1
                    stack.append(out)
                    on_stack[out] = True
                    work.append((out, iter((*graph.data_out[out], *graph.order_out[out]))))
                    break
                if on_stack[out]:
                    low[n] = min(low[n], index[out])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[n])
                if low[n] == index[n]:
                    members = []
                    while True:
                        member = stack.pop()
                        on_stack[member] = False
                        members.append(member)
                        if member == n:
                            break
                    if len(members) > 1:
                        found.update(members)
    return found
