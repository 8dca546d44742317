"""Earliest times of a pipelined loop: the least solution of all constraints but the shared resources.

Each operation has a label (cycle, ns); a constraint can only raise it. Labels are raised until none is violated: then
they are the earliest schedule, or one of them was raised more often than there are recurrences, which shows that a
recurrence is longer than the II allows. Chaining is exact: an operation that no longer fits into a cycle goes to the
next, and a recurrence counts the registers that its phi really needs.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from .delays import Delays
from .graph import Graph, Reason
from .sequential import Times

_EPSILON = 1e-9
_MOST_RAISES = 64


@dataclass
class Conflict(Exception):
    """The constraints cannot all hold at this II."""

    operation: int
    reasons: list[Reason] = field(default_factory=list)
    """What the recurrence goes through; empty: the exit condition comes too late."""


class Relaxation:
    """Labels of one loop at one II, with lower bounds for operations whose cycle is fixed."""

    def __init__(self, graph: Graph, delays: Delays, ii: int) -> None:
        self.graph = graph
        self.ii = ii
        self._budget = delays.budget_ns + _EPSILON
        self._begin = delays.start_ns
        count = len(graph.ops)
        self.times = Times([-1] * count, [0.0] * count, [0.0] * count)
        self.floor = [0] * count
        """The cycle of each fixed operation; 0 for the others."""
        self._cause: list[tuple[int, Reason]] = [(-1, None)] * count
        self._raises = [0] * count
        self._most_raises = min(graph.back_edges, _MOST_RAISES) + 4

    def solve(self) -> None:
        """Compute all labels from the floors.

        Raises:
            Conflict: there are none.
        """
        count = len(self.graph.ops)
        self.times.cycle[:] = [-1] * count
        self._raises = [0] * count
        self._run(list(range(count)))

    def raise_floor(self, n: int, cycle: int) -> list[int]:
        """Fix an operation at a cycle; return all operations whose label changed.

        Raises:
            Conflict: no labels fulfil that.
        """
        self.floor[n] = cycle
        self._raises = [0] * len(self.graph.ops)
        return self._run([n])

    def _run(self, work: list[int]) -> list[int]:
        graph, times = self.graph, self.times
        queued = set(work)
        changed: dict[int, None] = {}
        latest = self.ii - 1
        while work:
            n = heapq.heappop(work)
            queued.discard(n)
            cycle, start, cause = self._earliest(n)
            if (cycle, start) <= (times.cycle[n], times.start[n] + _EPSILON):
                continue
            self._raises[n] += 1
            self._cause[n] = cause
            if self._raises[n] > self._most_raises:
                raise Conflict(n, self._recurrence(n))
            timing = graph.timing[n]
            times.cycle[n], times.start[n] = cycle, start
            times.end[n] = timing.out_ns if timing.latency else start + timing.out_ns
            ready = cycle + timing.latency
            if (n == graph.condition and ready > latest) or (
                n == graph.condition_next and ready > latest + self.ii - 1
            ):
                raise Conflict(n)
            changed[n] = None
            for out in graph.data_out[n]:
                if out not in queued:
                    queued.add(out)
                    heapq.heappush(work, out)
            for out in graph.order_out[n]:
                if out not in queued:
                    queued.add(out)
                    heapq.heappush(work, out)
        return list(changed)

    def _earliest(self, n: int) -> tuple[int, float, tuple[int, Reason]]:
        graph, times, begin = self.graph, self.times, self._begin
        cycle, start = self.floor[n], begin
        cause: tuple[int, Reason] = (-1, None)
        for source, offset in graph.data_in[n]:
            at = times.cycle[source] + graph.timing[source].latency
            if at > cycle:
                cycle, start, cause = at, max(begin, times.end[source] + offset), (source, None)
            elif at == cycle and times.end[source] + offset > start:
                start, cause = times.end[source] + offset, (source, None)
        for source, cycles, distance, reason in graph.order_in[n]:
            if times.cycle[source] < 0:
                continue
            at = times.cycle[source] + cycles - distance * self.ii
            if at > cycle:
                cycle, start, cause = at, begin, (source, reason if distance else None)
        if start > begin and start + graph.timing[n].need_ns > self._budget:
            return cycle + 1, begin, cause
        return cycle, start, cause

    def _recurrence(self, n: int) -> list[Reason]:
        """Follow the causes back to the cycle that raised a label for ever."""
        seen: dict[int, int] = {}
        path: list[tuple[int, Reason]] = []
        while n >= 0 and n not in seen:
            seen[n] = len(path)
            path.append(self._cause[n])
            n = self._cause[n][0]
        inside = path[seen[n] :] if n in seen else path
        return list(dict.fromkeys(reason for _, reason in inside if reason is not None))


def least_ii(graph: Graph, delays: Delays, least: int, most: int) -> tuple[int, Conflict | None]:
    """Return the least II from `least` to `most` that recurrences allow, and the conflict just below it.

    `most + 1`: none of them does.
    """
    conflict: Conflict | None = None

    def works(ii: int) -> bool:
        nonlocal conflict
        try:
            Relaxation(graph, delays, ii).solve()
        except Conflict as found:
            conflict = found
            return False
        return True

    if least > most:
        return most + 1, None
    if works(least):
        return least, None
    low, high = least, most + 1  # low does not work; high does, or is too much
    step = 1
    while low + step < high:
        if works(low + step):
            high = low + step
            break
        low, step = low + step, 2 * step
    kept = conflict
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle):
            high = middle
        else:
            low, kept = middle, conflict
    return high, kept
