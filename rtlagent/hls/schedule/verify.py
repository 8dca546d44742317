"""Check a schedule against every rule, independently of how it was made.

Dependences are recomputed, delays are asked for again, ports are counted; nothing of the schedulers' own tables is
used.
"""

from __future__ import annotations

from rtlagent.hls.analysis.dependence import STREAM, WRITE_AFTER_READ, Dependence, Dependences
from rtlagent.hls.analysis.loops import LoopForest, find_loops
from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.subscripts import Subscripts
from rtlagent.hls.ir import Block, Branch, Function, Memory, Module, Op, Opcode, Phi, Return, Stream, Switch, Value
from rtlagent.hls.options import HlsOptions

from . import delays_of
from .delays import Delays, OpTiming
from .plan import BlockPlan, FunctionPlan
from .sequential import waiting_op
from .storage import kind_of, ports_of

_EPSILON = 1e-6


class PlanError(AssertionError):
    """A schedule breaks a rule: a fault of the engine, never of the user's program."""


def check_plan(module: Module, plans: dict[Function, FunctionPlan], options: HlsOptions) -> None:
    """Check the schedule of every block.

    Raises:
        PlanError: Naming the block and the operation.
    """
    delays = delays_of(module, options)
    for function in module.functions:
        forest = find_loops(function)
        dependences = Dependences(Subscripts(Ranges(function, forest)))
        for block in function.blocks:
            plan = plans[function].blocks.get(block)
            if plan is None:
                raise PlanError(f"{function.name}: block {block.name} has no schedule")
            _BlockCheck(function, forest, block, plan, delays, dependences).run()


class _BlockCheck:
    def __init__(
        self,
        function: Function,
        forest: LoopForest,
        block: Block,
        plan: BlockPlan,
        delays: Delays,
        dependences: Dependences,
    ) -> None:
        self.function = function
        self.forest = forest
        self.block = block
        self.plan = plan
        self.delays = delays
        self.dependences = dependences
        self.waiting = None if plan.ii is not None else waiting_op(block)

    def fail(self, op: object, reason: str) -> PlanError:
        return PlanError(f"{self.function.name}, block {self.block.name}, {op}: {reason}")

    def run(self) -> None:
        """Check everything."""
        if self.plan.length < 1:
            raise self.fail("length", "below 1")
        self._slots()
        self._operands()
        self._orders()
        self._ports()
        self._end()
        if self.plan.ii is not None:
            self._loop()

    def _slots(self) -> None:
        if set(self.plan.slots) != set(self.block.ops):
            raise self.fail("slots", "not those of the block's operations")
        for op, slot in self.plan.slots.items():
            if slot.cycle < 0 or slot.cycle >= self.plan.length:
                raise self.fail(op, f"in cycle {slot.cycle} of {self.plan.length}")
            if op is self.waiting:
                continue
            timing = self._timing(op)
            # A product whose result has further to go than to a register may have got a stage more.
            if slot.latency < timing.latency or (slot.latency > timing.latency and op.opcode is not Opcode.MUL):
                raise self.fail(op, f"latency {slot.latency}, not {timing.latency}")
            late = slot.start_ns + timing.need_ns > self.delays.budget_ns + _EPSILON
            if late and slot.start_ns > self.delays.start_ns + _EPSILON:
                raise self.fail(op, f"starts at {slot.start_ns:.2f} ns and needs {timing.need_ns:.2f} ns")

    def _timing(self, op: Op) -> OpTiming:
        return self.delays.timing(op, tail_ns=self.delays.technology.setup)

    def _operands(self) -> None:
        for op in self.block.ops:
            slot = self.plan.slots[op]
            for position, value in enumerate(op.operands()):
                source = self.plan.slots.get(value) if isinstance(value, Op) else None
                if source is None:
                    continue
                assert isinstance(value, Op)
                if source.ready > slot.cycle:
                    raise self.fail(op, f"in cycle {slot.cycle} uses {value}, ready in {source.ready}")
                arrives = source.end_ns + self.delays.edge(value, op, position)
                if source.ready == slot.cycle and slot.start_ns < arrives - _EPSILON:
                    raise self.fail(op, f"starts at {slot.start_ns:.2f} ns, {value} ends at {source.end_ns:.2f} ns")

    def _all_dependences(self) -> list[Dependence]:
        loop = self.forest.at(self.block)
        if self.plan.ii is None or loop is None:
            return self.dependences.of_block(self.block)
        return self.dependences.of_loop(loop)

    def _orders(self) -> None:
        for dependence in self._all_dependences():
            if dependence.distance and self.plan.ii is None:
                continue
            before, after = self.plan.slots[dependence.source], self.plan.slots[dependence.sink]
            other_stream = dependence.kind == STREAM and dependence.source.stream is not dependence.sink.stream
            memory = dependence.source.memory
            undisturbed = dependence.kind == WRITE_AFTER_READ and memory is not None and memory.read_first
            least = 0 if undisturbed or other_stream else 1
            if after.cycle + dependence.distance * (self.plan.ii or 0) < before.cycle + least:
                raise self.fail(dependence.sink, f"too early after {dependence.source} ({dependence.kind})")

    def _ports(self) -> None:
        taken: dict[tuple[Memory | Stream, int, int], Op] = {}
        counts: dict[tuple[Memory, int], list[Op]] = {}
        for op in self.block.ops:
            shared: Memory | Stream | None = op.memory or op.stream
            if shared is None or (op.memory is not None and kind_of(op.memory).own_wires):
                continue
            cycle = self.plan.slots[op].cycle
            cycle = cycle % self.plan.ii if self.plan.ii else cycle
            key = (shared, cycle, self.plan.ports[op] if op.memory is not None else 0)
            if key in taken:
                raise self.fail(op, f"has port {key[2]} of {shared} in the cycle of {taken[key]}")
            taken[key] = op
            if op.memory is not None:
                counts.setdefault((op.memory, cycle), []).append(op)
        for (memory, _), ops in counts.items():
            ports = ports_of(memory, self.delays.technology)
            writes = sum(op.opcode is Opcode.STORE for op in ops)
            reads = len(ops) - writes
            for have, most in ((len(ops), ports.total), (reads, ports.reads), (writes, ports.writes)):
                if most is not None and have > most:
                    raise self.fail(ops[0], f"{have} accesses to {memory} at once, {most} allowed")

    def _end(self) -> None:
        last = self.plan.length - 1
        used: set[Value] = set()
        end = self.block.terminator
        if self.plan.ii is None:
            if isinstance(end, Branch):
                used.add(end.condition)
            elif isinstance(end, Switch | Return) and end.value is not None:
                used.add(end.value)
        for block in self.function.blocks:
            if block is not self.block:
                for op in block.ops:
                    used.update(op.operands())
            for phi in block.phis:
                used.update(value for source, value in phi.incoming.items() if source is self.block)
        for op, slot in self.plan.slots.items():
            if op in used and op is not self.waiting and slot.ready > last:
                raise self.fail(op, f"ready in {slot.ready}, used behind the last cycle {last}")
        self._waiting(used)

    def _waiting(self, used: set[Value]) -> None:
        waiting, last = self.waiting, self.plan.length - 1
        if waiting is None:
            return
        if self.plan.slots[waiting].cycle != last:
            raise self.fail(waiting, "is waited for, but not in the last cycle")
        used = used | set(waiting.operands())
        for op, slot in self.plan.slots.items():
            moves = slot.latency or op.memory is not None or op.stream is not None
            if op is not waiting and op in used and moves and slot.ready >= last:
                raise self.fail(op, "may change while the block waits")

    def _loop(self) -> None:
        ii, end = self.plan.ii, self.block.terminator
        assert ii is not None
        if not isinstance(end, Branch) or self.block not in self.block.successors():
            raise self.fail("loop", "is pipelined, but does not branch to itself")
        condition = end.condition
        slot = self.plan.slots.get(condition) if isinstance(condition, Op) else None
        if slot is not None and slot.ready > ii - 1:
            raise self.fail(condition, f"condition ready in {slot.ready} at II {ii}")
        uses: dict[Phi, list[int]] = {phi: [] for phi in self.block.phis}
        for op in self.block.ops:
            for value in op.operands():
                if isinstance(value, Phi) and value in uses:
                    uses[value].append(self.plan.slots[op].cycle)
        if isinstance(condition, Phi) and condition in uses:
            uses[condition].append(ii - 1)
        for phi, cycles in uses.items():
            following = phi.incoming[self.block]
            if isinstance(following, Phi) and following is not phi and following in uses:
                raise self.fail(phi, "takes another phi of its block without a copy")
            ready = self.plan.slots[following].ready if following in self.plan.slots else None
            for cycle in cycles:
                if ready is not None and ready + 1 > cycle + ii:
                    raise self.fail(phi, f"is used in cycle {cycle}, its next value is ready in {ready} at II {ii}")
