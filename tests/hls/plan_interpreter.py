"""Execute a schedule cycle by cycle: what the hardware will do, before there is any Verilog.

Every operation runs in the cycle of its slot, iterations of pipelined loops overlap, stores take effect at the end of
their cycle. A value that is used before it is ready, or a phi before the iteration before has written it, is an
error, and an access that a wrong dependence let pass another one shows in the results.
"""

from __future__ import annotations

from collections.abc import Mapping

from rtlagent.hls.analysis.evaluate import evaluate
from rtlagent.hls.interpret_source import pattern
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Return,
    Value,
)
from rtlagent.hls.schedule.plan import BlockPlan, FunctionPlan

MAX_CYCLES = 300_000


class PlanRun:
    """One call of the top function, executed by its plan."""

    def __init__(self, module: Module, plans: Mapping[Function, FunctionPlan]) -> None:
        self.module = module
        self.plans = plans
        self.contents: dict[Memory, list[int]] = {}
        self.cycles = 0

    def call(self, scalars: Mapping[str, int], memories: dict[str, list[int]]) -> int | None:
        """Run from power-up; the contents of PARAM memories are changed in place."""
        for memory in self.module.memories:
            if memory.kind is MemoryKind.PARAM:
                self.contents[memory] = memories[memory.name]
            elif memory.init is not None:
                self.contents[memory] = list(memory.init)
            else:
                self.contents[memory] = [pattern(memory.width)] * memory.depth
        top = self.module.top
        return self.function(top, [scalars[p.name] & ((1 << p.width) - 1) for p in top.params])

    def function(self, function: Function, args: list[int]) -> int | None:
        values: dict[Value, int] = dict(zip(function.params, args, strict=True))
        plan = self.plans[function]
        block: Block = function.entry
        before: Block | None = None
        while True:
            if before is not None:
                incoming = {phi: self.value(phi.incoming[before], values) for phi in block.phis}
                for phi, number in incoming.items():
                    values[phi] = number
            runner = Loop(self, plan.blocks[block], values) if plan.blocks[block].ii else None
            if runner is not None:
                block, before = runner.run(), block
                continue
            self.sequential(plan.blocks[block], values)
            end = block.terminator
            if isinstance(end, Return):
                return None if end.value is None else self.value(end.value, values)
            following: Block
            if isinstance(end, Jump):
                following = end.target
            elif isinstance(end, Branch):
                following = end.then if self.value(end.condition, values) else end.other
            else:
                asked = self.value(end.value, values)
                following = next((b for number, b in end.cases if number == asked), end.default)
            block, before = following, block

    def value(self, value: Value, values: Mapping[Value, int]) -> int:
        return value.value if isinstance(value, Const) else values[value]

    def sequential(self, plan: BlockPlan, values: dict[Value, int]) -> None:
        ready: dict[Op, int] = {}
        for cycle in range(plan.length):
            self.tick()
            stores: list[tuple[Memory, int, int]] = []
            for op in plan.block.ops:
                if plan.slots[op].cycle != cycle:
                    continue
                for value in op.operands():
                    assert value not in plan.slots or ready[value] <= cycle, f"{op} uses {value} in cycle {cycle}"
                if op.opcode is Opcode.CALL:
                    # The callee begins in the next cycle; a call is its block's last operation.
                    self.commit(stores)
                    stores = []
                result = self.execute(op, [self.value(v, values) for v in op.operands()], stores)
                ready[op] = plan.slots[op].ready
                if op.width:
                    values[op] = result
            self.commit(stores)

    def tick(self) -> None:
        self.cycles += 1
        if self.cycles > MAX_CYCLES:
            raise TimeoutError

    def execute(self, op: Op, operands: list[int], stores: list[tuple[Memory, int, int]]) -> int:
        if op.predicate is not None and not operands[-1]:
            return pattern(op.width) if op.width else 0
        if op.opcode is Opcode.CALL:
            assert op.callee is not None
            return self.function(op.callee, operands) or 0
        if op.memory is None:
            return evaluate(op.opcode, op.width, operands, [a.width for a in op.args])
        place = 0
        first = 1 if op.opcode is Opcode.STORE else 0
        for size, subscript in zip(op.memory.dims, operands[first : len(op.args)], strict=True):
            place = place * size + subscript
        if op.opcode is Opcode.STORE:
            stores.append((op.memory, place, operands[0]))
            return 0
        contents = self.contents[op.memory]
        # Speculated loads may be out of range; nobody uses what they bring.
        return contents[place] if place < len(contents) else pattern(op.width)

    def commit(self, stores: list[tuple[Memory, int, int]]) -> None:
        places = [(memory, place) for memory, place, _ in stores]
        assert len({(id(m), p) for m, p in places}) == len(places), "two stores to one element in one cycle"
        for memory, place, data in stores:
            self.contents[memory][place] = data


class Loop:
    """A pipelined loop from its first to its last cycle."""

    def __init__(self, run: PlanRun, plan: BlockPlan, values: dict[Value, int]) -> None:
        self.run_ = run
        self.plan = plan
        self.values = values
        assert plan.ii is not None
        self.ii = plan.ii
        self.by_cycle: dict[int, list[Op]] = {}
        for op in plan.block.ops:
            self.by_cycle.setdefault(plan.slots[op].cycle, []).append(op)
        self.iterations: list[dict[Value, int]] = []

    def run(self) -> Block:
        """Run it; leaves the last iteration's values behind and returns the block that follows."""
        plan, block = self.plan, self.plan.block
        end = block.terminator
        assert isinstance(end, Branch)
        last: int | None = None
        cycle = 0
        while last is None or cycle < last * self.ii + max(plan.length, self.ii):
            self.run_.tick()
            if cycle % self.ii == 0 and last is None:
                self.iterations.append({})
            stores: list[tuple[Memory, int, int]] = []
            for n in range(max(0, (cycle - plan.length) // self.ii), len(self.iterations)):
                for op in self.by_cycle.get(cycle - n * self.ii, ()):
                    result = self.run_.execute(op, [self.operand(v, n, cycle) for v in op.operands()], stores)
                    self.iterations[n][op] = result
            if last is None and cycle % self.ii == self.ii - 1:
                n = cycle // self.ii
                again = bool(self.operand(end.condition, n, cycle)) is (end.then is block)
                if not again:
                    last = n
            self.run_.commit(stores)
            cycle += 1
        assert last is not None
        for phi in block.phis:
            self.values[phi] = self.phi(phi, last)
        self.values.update(self.iterations[last])
        return end.other if end.then is block else end.then

    def operand(self, value: Value, n: int, cycle: int) -> int:
        if isinstance(value, Op) and value in self.plan.slots:
            ready = n * self.ii + self.plan.slots[value].ready
            assert ready <= cycle, f"iteration {n}: {value} is used in cycle {cycle}, ready in {ready}"
            return self.iterations[n][value]
        if isinstance(value, Phi) and self.plan.block in value.incoming:
            following = value.incoming[self.plan.block]
            if n and isinstance(following, Op) and following in self.plan.slots:
                written = (n - 1) * self.ii + self.plan.slots[following].ready
                assert written < cycle, f"iteration {n}: {value} is used in cycle {cycle}, written in {written}"
            return self.phi(value, n)
        assert isinstance(value, Const | Param | Op | Phi)
        return self.run_.value(value, self.values)

    def phi(self, phi: Phi, n: int) -> int:
        """Return a phi's value in iteration n."""
        if phi not in self.plan.block.phis:
            return self.values[phi]
        if n == 0:
            return self.values[phi]
        following = phi.incoming[self.plan.block]
        if isinstance(following, Op) and following in self.plan.slots:
            return self.iterations[n - 1][following]
        if isinstance(following, Phi):
            assert following is phi or following not in self.plan.block.phis
            return self.values[following]
        return self.run_.value(following, self.values)
