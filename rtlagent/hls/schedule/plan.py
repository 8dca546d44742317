"""What scheduling decides: a cycle for each operation, an II for each pipelined loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import Block, Function, Op, Value


def division_latency(width: int) -> int:
    """Return the cycles that a division takes in a pipelined loop: two quotient bits a cycle, and one at each end."""
    return -(-max(width, 8) // 2) + 2


@dataclass(frozen=True)
class Slot:
    """When an operation runs, relative to its block's first cycle (or to its iteration's start)."""

    cycle: int
    start_ns: float = 0.0
    """Within `cycle`, after the clock edge, when its operands are there."""
    end_ns: float = 0.0
    """Within cycle + latency, when its result is there."""
    latency: int = 0
    """Cycles from issue to the cycle in which the result can be used as a wire: 0 combinational, 1 a memory read.

    A MUL of latency L >= 1 passes L registers: with `limb` 0 the product itself; else see `limb`. A division in a
    pipelined loop has `division_latency`, and a unit of its own that takes a new pair every so many cycles.
    """
    limb: int = 0
    """Of a MUL of latency >= 1. K: partial products of K-bit limbs (`multiplier.partial_products(width, K)`) are
    registered at the end of the issue cycle, summed up behind that register, and the sum is registered latency - 1
    times. 0: the product is computed in one piece."""

    @property
    def ready(self) -> int:
        """The cycle in which the result can first be used (as a wire); later uses take it from a register."""
        return self.cycle + self.latency


@dataclass
class BlockPlan:
    """The schedule of one block.

    A sequential block occupies `length` >= 1 states, left at the end of the last one; the terminator's operands are
    used in
    cycle length - 1, and so are the values that flow into the successors' phis.

    A pipelined loop (`ii` is set) is a block that branches to itself. Iteration n starts at cycle n * ii and takes
    `length` cycles. The
    branch condition is ready at a cycle <= ii - 1. A phi's value is a register: a use in cycle u of an iteration
    takes what the iteration before
    computed, so the next value v of each phi satisfies ready(v) + 1 <= u + ii for each use u of the phi (v is always
    an Op of the
    same block, or an invariant; a phi whose next value is another phi goes through a COPY). Values that flow out of
    the loop are those of its
    last iteration and are there at the end of its last cycle.

    A block that ends with a CALL or, if it is sequential, with a division waits in its last cycle until that is
    done. In that cycle nothing else becomes ready but what is computed from registers without a memory.
    """

    block: Block
    length: int
    slots: dict[Op, Slot] = field(default_factory=dict)
    ports: dict[Op, int] = field(default_factory=dict)
    """LOAD and STORE -> port number of their memory, from 0.

    No two accesses have the same port in the same cycle (modulo `ii`). Where reads and writes have ports of their own
    (lutram, block RAM of ice40), writes come first. Registers and one-element arguments have wires for each access
    and are not counted: always 0.
    """
    ii: int | None = None
    ii_minimum: int | None = None
    """The greatest lower bound found: recurrences and resources."""
    limited_by: str = ""
    """In the user's words, such as `port of a: 4 reads, 1 port: array_partition a cyclic 4`; empty if II is 1 or not
    pipelined."""


@dataclass
class FunctionPlan:
    """The schedule of one function."""

    function: Function
    blocks: dict[Block, BlockPlan] = field(default_factory=dict)

    def of(self, value: Value) -> Slot | None:
        """Return an operation's slot; None for what has none (constants, parameters, phis)."""
        if not isinstance(value, Op):
            return None
        for plan in self.blocks.values():
            if value in plan.slots:
                return plan.slots[value]
        return None
