"""What the user sees of a schedule: a row for each loop, and the latency of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rtlagent.hls.analysis.loops import Loop, LoopForest, find_loops, trip_count
from rtlagent.hls.ir import Block, Function, Module, Opcode
from rtlagent.types import LoopReport

from .plan import BlockPlan, FunctionPlan

_NARROW_DIVIDER = 16
"""Greatest width of a divider that has no cycle of its own for the count."""

Bounds = tuple[int | None, int | None]
"""(least, most) cycles; None: not bounded."""


def report_loops(
    module: Module, plans: dict[Function, FunctionPlan], known: Mapping[Function, Bounds] | None = None
) -> tuple[list[LoopReport], int | None, int | None]:
    """Return a report for each loop in source order, and the least and greatest latency of the top in cycles.

    Args:
        module: What was scheduled.
        plans: The schedule.
        known: Latencies of functions that wait for something outside the module.
    """
    reports: list[LoopReport] = []
    latencies: dict[Function, Bounds] = {}
    for function in reversed(module.functions):
        found = _Latency(function, plans[function], latencies).function(reports)
        latencies[function] = (known or {}).get(function, found)
    reports.sort(key=lambda r: (r.line, r.label))
    least, most = latencies[module.top]
    return reports, least, most


class _Latency:
    def __init__(self, function: Function, plan: FunctionPlan, callees: dict[Function, Bounds]) -> None:
        self.function_ = function
        self.plan = plan
        self.callees = callees
        self.forest: LoopForest = find_loops(function)
        self.loops: dict[Block, Bounds] = {}

    def function(self, reports: list[LoopReport]) -> Bounds:
        """Return the latency of the function; adds its loops' reports."""
        for loop in sorted(self.forest, key=lambda found: -found.depth):
            bounds = self._loop(loop)
            self.loops[loop.header] = bounds
            reports.append(self._report(loop, bounds))
        return self._paths(self.function_.entry, lambda b: b.successors(), None)

    def _report(self, loop: Loop, bounds: Bounds) -> LoopReport:
        directives = loop.header.directives
        plan = self.plan.blocks[loop.header]
        trips = _trips(loop)
        iteration = self._iteration(loop)
        place = directives.place if directives is not None else None
        wanted = directives.pipeline_ii if directives is not None else None
        return LoopReport(
            label=directives.label if directives is not None and directives.label else loop.header.name,
            line=place.line if place is not None else 0,
            trip_count=trips,
            ii=plan.ii if loop.is_single_block else None,
            target_ii=None if wanted is None else max(1, wanted),
            depth=(plan.length if plan.ii is not None else iteration[1] or plan.length),
            latency_cycles=bounds[1],
            limited_by=plan.limited_by,
        )

    def _loop(self, loop: Loop) -> Bounds:
        directives = loop.header.directives
        trips = _trips(loop)
        told = (directives.trip_min, directives.trip_max) if directives is not None else (None, None)
        # A loop that is entered runs its first iteration, at least up to the first test.
        least_trips = trips if trips is not None else max(1, told[0] or 1)
        most_trips = trips if trips is not None else told[1]
        plan = self.plan.blocks[loop.header]
        if plan.ii is not None:
            return _pipelined(plan, least_trips), _pipelined(plan, most_trips)
        least, most = self._iteration(loop)
        if trips is None and told[0] is None and not loop.is_rotated:
            least = self._block(loop.header)[0]
        return (
            None if least is None else least * max(1, least_trips),
            None if most is None or most_trips is None else most * max(1, most_trips),
        )

    def _iteration(self, loop: Loop) -> Bounds:
        return self._paths(
            loop.header, lambda b: [s for s in b.successors() if s in loop and s is not loop.header], loop
        )

    def _paths(self, start: Block, following: Callable[[Block], list[Block]], inside: Loop | None) -> Bounds:
        """Return the shortest and longest way from `start`, with inner loops as one step."""
        known: dict[Block, Bounds] = {}
        order: list[Block] = []
        seen: set[Block] = set()

        def steps(block: Block) -> tuple[list[Block], Bounds]:
            loop = self._outermost(block, inside)
            if loop is None:
                return following(block), self._block(block)
            after = [target for _, target in loop.exits]
            if inside is not None:
                after = [t for t in after if t in inside and t is not inside.header]
            return list(dict.fromkeys(after)), self.loops[loop.header]

        stack = [(start, iter(steps(start)[0]))]
        seen.add(start)
        while stack:
            block, waiting = stack[-1]
            for target in waiting:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(steps(target)[0])))
                    break
            else:
                order.append(block)
                stack.pop()
        for block in order:
            targets, (least, most) = steps(block)
            after = [known[t] for t in targets if t in known]
            shortest = _least([a for a, _ in after]) if after else 0
            # A target that is not known yet closes a cycle that is no natural loop.
            endless = any(b is None for _, b in after) or len(after) < len(targets)
            longest = None if endless else max((b for _, b in after if b is not None), default=0)
            known[block] = (
                None if least is None or shortest is None else least + shortest,
                None if most is None or longest is None else most + longest,
            )
        return known[start]

    def _outermost(self, block: Block, inside: Loop | None) -> Loop | None:
        """Return the loop around `block` that is directly below `inside`."""
        loop = self.forest.innermost.get(block)
        found = None
        while loop is not None and loop is not inside:
            found = loop
            loop = loop.parent
        return found

    def _block(self, block: Block) -> Bounds:
        length = self.plan.blocks[block].length
        last = block.ops[-1] if block.ops else None
        if last is None:
            return length, length
        if last.opcode is Opcode.CALL and last.callee is not None:
            least, most = self.callees[last.callee]
            return None if least is None else length + least, None if most is None else length + most
        if last.opcode in (Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM) and last not in self._fixed(block):
            # A narrow unit begins at once, a wide one counts leading zeros first.
            return length + (2 if last.width <= _NARROW_DIVIDER else 3), length + 4 + last.width
        return length, length

    def _fixed(self, block: Block) -> set[object]:
        plan: BlockPlan = self.plan.blocks[block]
        return {op for op, slot in plan.slots.items() if slot.latency > 1}


def _least(values: list[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return min(known) if known else None


def _pipelined(plan: BlockPlan, trips: int | None) -> int | None:
    assert plan.ii is not None
    return None if trips is None else plan.ii * max(0, trips - 1) + max(plan.length, plan.ii)


def _trips(loop: Loop) -> int | None:
    known = trip_count(loop)
    if known is not None:
        return known
    directives = loop.header.directives
    return directives.known_trips if directives is not None else None
