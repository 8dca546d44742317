"""When an operation runs, and from which wire or register a use takes a value.

A block's execution is a token that walks through its cycles: `token(block, t)` is 1 while an execution (an iteration,
for a
pipelined loop) of the block is at cycle t. Several tokens walk through a pipelined loop at once, ii cycles apart.

A value that is ready in cycle r is a wire there. In a sequential block, a use in a later cycle or another block reads
the
register that was written in cycle r. In a pipelined loop the next iteration writes that register again at r + ii,
so that a use at cycle u reads stage ceil((u - r) / ii) of a chain of registers; other blocks read stage 1, which the
last
iteration wrote. A phi is a register written by the entering edges and, in a pipelined loop, by the
iteration before in the cycle in which the next value is ready; its own later uses read a chain in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import Block, Function, Op, Phi, Value
from rtlagent.hls.schedule.plan import BlockPlan, FunctionPlan, Slot
from rtlagent.hls.schedule.sequential import waiting_op


@dataclass(frozen=True)
class Source:
    """Where a use takes a value from."""

    value: Value
    stage: int
    """0: the wire; 1 and more: that register of the value's chain."""


@dataclass
class Timing:
    """Looks up slots and decides on registers; collects which registers are needed."""

    plans: dict[Function, FunctionPlan]
    stages: dict[Value, int] = field(default_factory=dict)
    """Op or Phi -> number of registers in its chain (a phi has always one)."""
    _lengths: dict[Block, int] = field(default_factory=dict)
    _home: dict[Value, Block] = field(default_factory=dict)
    _plan: dict[Block, BlockPlan] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for function, plan in self.plans.items():
            for block in function.blocks:
                self._plan[block] = plan.blocks[block]
                for value in (*block.phis, *block.ops):
                    self._home[value] = block

    def plan(self, block: Block) -> BlockPlan:
        """Return a block's plan."""
        return self._plan[block]

    def home(self, value: Value) -> Block:
        """Return the block that defines an operation or a phi."""
        return self._home[value]

    def slot(self, op: Op) -> Slot:
        """Return an operation's slot."""
        return self._plan[self._home[op]].slots[op]

    def length(self, block: Block) -> int:
        """Return the number of cycles through which a token walks."""
        plan = self._plan[block]
        return max(plan.length, plan.ii or 1, self._lengths.get(block, 1))

    def lengthen(self, block: Block, cycles: int) -> None:
        """Let a block take at least `cycles` cycles."""
        self._lengths[block] = cycles

    def written(self, phi: Phi) -> int:
        """Return the cycle in which an iteration of a pipelined loop writes a phi for the next one."""
        block = self._home[phi]
        plan = self._plan[block]
        following = phi.incoming[block]
        if isinstance(following, Op) and self._home[following] is block:
            return plan.slots[following].ready
        assert plan.ii is not None
        return plan.ii - 1

    def source(self, value: Value, block: Block, cycle: int) -> Source:
        """Say where a use of an operation or phi in `cycle` of `block` takes it from, and note the need.

        Raises:
            ScheduleError: the value is not there yet.
        """
        home = self._home[value]
        plan = self._plan[home]
        if isinstance(value, Phi):
            stage = self._phi_stage(value, home, plan, block, cycle)
        else:
            assert isinstance(value, Op)
            stage = self._op_stage(value, home, plan, block, cycle)
        self.stages[value] = max(self.stages.get(value, 0), stage)
        return Source(value, stage)

    def _op_stage(self, op: Op, home: Block, plan: BlockPlan, block: Block, cycle: int) -> int:
        if block is not home:
            return 1
        if waits(op, plan):
            return 0  # only the edge that leaves the block can use it
        late = cycle - plan.slots[op].ready
        if late < 0:
            raise ScheduleError(f"{op} of {block} is used in cycle {cycle}, but ready in {plan.slots[op].ready}")
        if late == 0:
            return 0
        return 1 if plan.ii is None else -(-late // plan.ii)

    def _phi_stage(self, phi: Phi, home: Block, plan: BlockPlan, block: Block, cycle: int) -> int:
        if plan.ii is None:
            return 1
        if block is not home:
            return 2  # stage 1 already holds what an iteration that never comes would have read
        stage = -(-(cycle - self.written(phi) + plan.ii) // plan.ii)
        if stage < 1:
            raise ScheduleError(f"{phi} of {block} is used in cycle {cycle}, before the last iteration wrote it")
        return stage


class ScheduleError(AssertionError):
    """The schedule breaks a rule; a fault of ours, never of the user's."""


def waits(op: Op, plan: BlockPlan) -> bool:
    """Tell whether an operation holds its block's end until somebody is done: a call or a sequential division."""
    return plan.ii is None and op is waiting_op(plan.block)
