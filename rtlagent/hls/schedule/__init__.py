"""Scheduling: which operation in which cycle."""

from __future__ import annotations

from dataclasses import replace

from rtlagent.hls.analysis.dependence import Dependences
from rtlagent.hls.analysis.loops import Loop, LoopForest, find_loops, trip_count
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Subscripts
from rtlagent.hls.ir import Block, Function, Memory, Module, Op, Opcode, Phi, Return, Value
from rtlagent.hls.options import HlsOptions, Remarks

from . import modulo, relaxation, reservations
from .bound_ops import bound_latencies
from .delays import Delays
from .graph import asked_value, build
from .limits import TARGET, port_limit, recurrence_limit
from .plan import BlockPlan, FunctionPlan, Slot
from .reservations import is_product
from .sequential import schedule_block, waiting_op
from .sinking import sink
from .storage import choose_storage, kind_of, ports_of

__all__ = ["BlockPlan", "FunctionPlan", "Slot", "delays_of", "schedule"]

_MOST_TRIES = 12
"""IIs above the minimum that are tried before a loop counts as not pipelined."""


def schedule(module: Module, options: HlsOptions, remarks: Remarks) -> dict[Function, FunctionPlan]:
    """Schedule every block of every function; fills in `Memory.built_of` of the memories inside the module.

    Args:
        module: After all transformations; only COPY operations are added, between phis of pipelined loops.
        options: Target and clock.
        remarks: Gets a warning for each loop that could not be pipelined as asked.
    """
    choose_storage(module, options.target, remarks)
    for function in module.functions:
        for block in function.blocks:
            if _wants_pipeline(block):
                _keep_phis_apart(block)
    delays = delays_of(module, options)
    delays.latencies = bound_latencies(module, delays, remarks)
    return {f: _Scheduler(f, delays, remarks).run() for f in module.functions}


def delays_of(module: Module, options: HlsOptions) -> Delays:
    """Return the delay model of a module whose storage is decided."""
    delays = Delays(options)
    counts: dict[Memory, int] = {}
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if op.memory is not None:
                    counts[op.memory] = counts.get(op.memory, 0) + 1
                delays.products += is_product(op)
    for memory, count in counts.items():
        ports = ports_of(memory, delays.technology)
        delays.accesses[memory] = 1 if kind_of(memory).own_wires else -(-count // (ports.total or 2))
    return delays


def _wants_pipeline(block: Block) -> bool:
    directives = block.directives
    calls = bool(block.ops) and block.ops[-1].opcode is Opcode.CALL
    return (
        directives is not None
        and directives.pipeline_ii is not None
        and not directives.pipeline_off
        and block in block.successors()
        and len(block.successors()) > 1
        and not calls
    )


def _keep_phis_apart(block: Block) -> None:
    """Let a phi whose next value is another phi of the block take a COPY of it, which has a cycle of its own."""
    copies: dict[Phi, Op] = {}
    for phi in block.phis:
        following = phi.incoming[block]
        if isinstance(following, Phi) and following is not phi and following in block.phis:
            if following not in copies:
                copies[following] = Op(Opcode.COPY, following.width, [following], name=following.name, place=phi.place)
                block.ops.insert(0, copies[following])
            phi.incoming[block] = copies[following]


class _Scheduler:
    def __init__(self, function: Function, delays: Delays, remarks: Remarks) -> None:
        self.function = function
        self.delays = delays
        self.remarks = remarks
        self.forest: LoopForest = find_loops(function)
        self.dependences = Dependences(Subscripts(Ranges(function, self.forest)))
        self.outside, self.leaving = _uses(function)
        self.products: int | None = function.allocation.get("mul")

    def run(self) -> FunctionPlan:
        """Schedule every block."""
        plan = FunctionPlan(self.function)
        for block in self.function.blocks:
            plan.blocks[block] = self._block(block)
        return plan

    def _block(self, block: Block) -> BlockPlan:
        plan = self._shortest(block)
        directives = block.directives
        if directives is not None and directives.latency_min is not None and block in block.successors():
            plan.length = max(plan.length, directives.latency_min)
            waiting = waiting_op(block) if plan.ii is None else None
            if waiting is not None:
                plan.slots[waiting] = replace(plan.slots[waiting], cycle=plan.length - 1)
        return plan

    def _shortest(self, block: Block) -> BlockPlan:
        sequential = self._sequential(block)
        if not _wants_pipeline(block):
            return sequential
        loop = self.forest.at(block)
        if loop is None or not loop.is_single_block:
            return sequential
        pipelined = self._pipelined(loop, sequential)
        if pipelined is not None and self._gains(loop, pipelined, sequential):
            return pipelined
        return self._not_pipelined(block, sequential, pipelined)

    def _sequential(self, block: Block) -> BlockPlan:
        waiting = waiting_op(block)
        graph = build(block, self.dependences.of_block(block), self.delays, pipelined=False, skip=waiting)
        used = self.outside[block] | self.leaving[block]
        plan, times = schedule_block(graph, self.delays, used, products=self.products)
        held = set(waiting.operands()) if waiting is not None else set()
        sink(graph, plan, times, self.delays, used_outside=used, held=held)
        return plan

    def _pipelined(self, loop: Loop, sequential: BlockPlan) -> BlockPlan | None:
        block = loop.header
        assert block.directives is not None
        wanted = block.directives.pipeline_ii or 0
        graph = build(block, self.dependences.of_loop(loop), self.delays, pipelined=True, skip=None)
        technology = self.delays.technology
        latencies = [t.latency for t in graph.timing]
        by_resource, resource = reservations.least_ii(graph.ops, technology, self.products, latencies)
        most = max(sequential.length - 1, wanted)
        minimum, conflict = relaxation.least_ii(graph, self.delays, by_resource, most)
        used = self.outside[block]
        for ii in range(max(minimum, wanted, 1), min(most, max(minimum, wanted) + _MOST_TRIES) + 1):
            plan = modulo.schedule_loop(graph, self.delays, ii, products=self.products, used_outside=used)
            if plan is None:
                continue
            plan.ii_minimum = minimum
            if ii <= max(1, wanted):
                plan.limited_by = TARGET if wanted > max(1, minimum) else ""
            elif conflict is not None:
                plan.limited_by = recurrence_limit(conflict, ii)
            elif resource is not None:
                plan.limited_by = port_limit(graph.ops, resource, ii, technology)
            else:
                plan.limited_by = f"recurrences and ports together: {ii} cycles"
            return plan
        # Kept for the message: what stands against it.
        if conflict is not None:
            sequential.limited_by = recurrence_limit(conflict, minimum)
        elif resource is not None:
            sequential.limited_by = port_limit(graph.ops, resource, minimum, technology)
        return None

    def _gains(self, loop: Loop, pipelined: BlockPlan, sequential: BlockPlan) -> bool:
        assert pipelined.ii is not None
        trips = trip_count(loop)
        if trips is None:
            return pipelined.ii < sequential.length
        return (trips - 1) * pipelined.ii + max(pipelined.length, pipelined.ii) < trips * sequential.length

    def _not_pipelined(self, block: Block, sequential: BlockPlan, pipelined: BlockPlan | None) -> BlockPlan:
        why = sequential.limited_by or (pipelined.limited_by if pipelined is not None else "")
        gain = f"not pipelined: an iteration takes {sequential.length} cycle{'s' * (sequential.length > 1)} in any case"
        sequential.limited_by = f"{gain} ({why})" if why and why != TARGET else gain
        directives = block.directives
        if directives is not None and directives.pipeline_ii and directives.pipeline_ii < sequential.length:
            self.remarks.warn("PIPELINE_II", f"{directives.label}: {sequential.limited_by}", directives.place)
        if sequential.length == 1:
            sequential.limited_by = ""
        return sequential


def _uses(function: Function) -> tuple[dict[Block, set[Value]], dict[Block, set[Value]]]:
    """Return for each block its values that other blocks use, and those that its terminator and its own phis take."""
    home: dict[Value, Block] = {op: block for block in function.blocks for op in block.ops}
    outside: dict[Block, set[Value]] = {b: set() for b in function.blocks}
    leaving: dict[Block, set[Value]] = {b: set() for b in function.blocks}
    for block in function.blocks:
        for op in block.ops:
            for value in op.operands():
                source = home.get(value)
                if source is not None and source is not block:
                    outside[source].add(value)
        for phi in block.phis:
            for before, value in phi.incoming.items():
                source = home.get(value)
                if source is None:
                    continue
                if source is block and before is block:
                    leaving[source].add(value)
                else:
                    outside[source].add(value)
        end = block.terminator
        value_asked = end.value if isinstance(end, Return) else asked_value(block)
        if value_asked is not None and value_asked in home:
            source = home[value_asked]
            (leaving if source is block else outside)[source].add(value_asked)
    return outside, leaving
