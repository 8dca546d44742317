"""Modulo scheduling of single-block loops (Rau 1994, with iterative delaying in place of eviction).

Every operation starts at its earliest time; whenever a constraint (an operand, a port, the order of accesses, a
recurrence
through a phi) asks for a later one it is moved there, until nothing moves. Times only grow, so that this ends: in a
schedule, or
past a bound, which shows that the II is too small.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import Block, Branch, Memory, Op, Opcode, Phi, Value

from .delays import Delays
from .order import orders
from .plan import BlockPlan, Slot
from .ports import Reservations, least_ii
from .sequential import busy_until, place

_NEVER = 1 << 20


@dataclass
class _Problem:
    block: Block
    ii: int
    delays: Delays
    budget: float
    inside: dict[Op, list[tuple[Op, int]]] = field(default_factory=dict)
    """op -> (earlier op, cycles), within an iteration."""
    across: dict[Op, list[tuple[Op, int]]] = field(default_factory=dict)
    """op -> (op of an earlier iteration, least distance of cycles; may be negative)."""


def schedule_loop(block: Block, delays: Delays, budget_ns: float, sequential_length: int) -> BlockPlan | None:
    """Pipeline a loop that is one block; None if no II below the sequential length works."""
    directives = block.directives
    wanted = directives.pipeline_ii if directives is not None and directives.pipeline_ii else 0
    by_ports, memory = least_ii(block.ops, delays.target)
    by_division = _division_ii(block, delays)
    ii = max(by_ports, by_division, wanted, 1)
    limit = max(sequential_length, wanted + 1)
    minimum = ii
    reason = _PORTS if by_ports >= max(by_division, wanted, 2) else ""
    blocked: Op | Phi | None = None
    while ii < limit or ii == wanted:
        problem = _problem(block, ii, delays, budget_ns)
        plan, stuck = _solve(problem)
        if plan is not None:
            plan.ii_minimum = minimum
            plan.limited_by = _limited_by(plan, wanted, reason, memory, blocked, block, delays)
            return plan
        blocked = stuck
        reason = _RECURRENCE
        ii += 1
    return None


_PORTS = "ports"
_RECURRENCE = "recurrence"


def _limited_by(
    plan: BlockPlan,
    wanted: int,
    reason: str,
    memory: Memory | None,
    blocked: Op | Phi | None,
    block: Block,
    delays: Delays,
) -> str:
    assert plan.ii is not None
    if plan.ii <= max(1, wanted):
        return "target II" if wanted > 1 else ""
    if reason == _PORTS and memory is not None:
        loads = sum(op.memory is memory and op.opcode is Opcode.LOAD for op in block.ops)
        stores = sum(op.memory is memory and op.opcode is Opcode.STORE for op in block.ops)
        what = " and ".join(
            f"{n} {word}{'s' if n > 1 else ''}" for n, word in ((loads, "read"), (stores, "write")) if n
        )
        base = memory.argument or memory.name
        ports = f"{memory.ports} port{'s' if memory.ports > 1 else ''}"
        return f"port of {base}: {what}, {ports}: array_partition {base} cyclic {loads + stores}"
    if isinstance(blocked, Op) and blocked.memory is not None:
        return f"recurrence on {blocked.memory.argument or blocked.memory.name}: {plan.ii} cycles"
    if blocked is not None and blocked.name:
        return f"recurrence on {blocked.name}: {plan.ii} cycles"
    if reason == _RECURRENCE:
        return f"recurrence of {plan.ii} cycles"
    return f"division: {plan.ii} cycles each"


def _division_ii(block: Block, delays: Delays) -> int:
    """A division's unit takes the next one only when it is done."""
    return max((delays.latency(op) for op in block.ops if op.opcode in _DIVIDES), default=1)


_DIVIDES = frozenset({Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM})


def _problem(block: Block, ii: int, delays: Delays, budget: float) -> _Problem:
    problem = _Problem(block, ii, delays, budget)
    for order in orders(block.ops):
        problem.inside.setdefault(order.after, []).append((order.before, order.cycles))
    streams: dict[object, list[Op]] = {}
    for op in block.ops:
        if op.stream is not None:
            streams.setdefault(op.stream, []).append(op)
    for ops in streams.values():
        problem.across.setdefault(ops[0], []).append((ops[-1], 1 - ii))
    directives = block.directives
    independent = directives.independent if directives is not None else ()
    distances = directives.distances if directives is not None else {}
    accesses: dict[Memory, list[Op]] = {}
    for op in block.ops:
        if op.memory is not None:
            accesses.setdefault(op.memory, []).append(op)
    for memory, ops in accesses.items():
        if "*" in independent or memory.name in independent or memory.argument in independent:
            continue
        distance = max(1, distances.get(memory.name, 1))
        for source in ops:
            for sink in ops:
                if source is sink or (source.opcode is Opcode.LOAD and sink.opcode is Opcode.LOAD):
                    continue
                cycles = 0 if source.opcode is Opcode.LOAD else 1
                # A write after a read cannot be nearer than the next iteration, whatever was measured for read after
                # write.
                apart = distance if source.opcode is Opcode.STORE else 1
                if apart * ii < _NEVER:
                    problem.across.setdefault(sink, []).append((source, cycles - apart * ii))
    return problem


def _solve(problem: _Problem) -> tuple[BlockPlan | None, Op | Phi | None]:
    """Return a schedule, or None and what kept moving."""
    block, ii = problem.block, problem.ii
    plan = BlockPlan(block, 1, ii=ii)
    reserved = Reservations(problem.delays.target, ii)
    slots = plan.slots
    bound = sum(1 + problem.delays.latency(op) for op in block.ops) + 4 * ii + 8
    condition = block.terminator.condition if isinstance(block.terminator, Branch) else None
    moved: Op | Phi | None = None
    for _ in range(4 * len(block.ops) + 16):
        moved = None
        for op in block.ops:
            cycle, start, why = _earliest(problem, slots, op)
            known = slots.get(op)
            if known is not None and (cycle, start) <= (known.cycle, known.start_ns):
                continue
            if known is not None:
                reserved.release(op, known.cycle)
            found = _place(op, cycle, start, problem, reserved)
            if found is None:
                return None, op
            slots[op] = found
            if known is None or found.cycle != known.cycle or found.start_ns != known.start_ns:
                moved = why if why is not None else op
            if found.cycle > bound:
                return None, moved
        if isinstance(condition, Op) and condition in slots and slots[condition].ready > ii - 1:
            return None, condition
        if moved is None:
            plan.ports = reserved.ports()
            plan.length = 1 + max((busy_until(op, slot) for op, slot in slots.items()), default=0)
            return plan, None
    return None, moved


def _place(op: Op, cycle: int, start: float, problem: _Problem, reserved: Reservations) -> Slot | None:
    if op.memory is not None and not any(reserved.fits(op, cycle + k) for k in range(problem.ii)):
        return None
    return place(op, cycle, start, problem.delays, problem.budget, reserved)


def _earliest(problem: _Problem, slots: dict[Op, Slot], op: Op) -> tuple[int, float, Op | Phi | None]:
    """Return the earliest cycle and time by everything placed so far, and the recurrence that decides it."""
    clock = problem.delays.technology.register
    cycle, start = 0, clock
    why: Op | Phi | None = None
    for value in op.operands():
        at, when, reason = _ready(problem, slots, value, clock)
        if at > cycle:
            cycle, start, why = at, when, reason
        elif at == cycle:
            start = max(start, when)
    for other, cycles in problem.inside.get(op, ()):
        slot = slots.get(other)
        if slot is not None and slot.cycle + cycles > cycle:
            cycle, start, why = slot.cycle + cycles, clock, None
    for other, cycles in problem.across.get(op, ()):
        slot = slots.get(other)
        if slot is not None and slot.cycle + cycles > cycle:
            cycle, start, why = slot.cycle + cycles, clock, other
    return cycle, start, why


def _ready(problem: _Problem, slots: dict[Op, Slot], value: Value, clock: float) -> tuple[int, float, Op | Phi | None]:
    if isinstance(value, Op):
        slot = slots.get(value)
        return (slot.ready, max(clock, slot.end_ns), None) if slot is not None else (0, clock, None)
    if isinstance(value, Phi) and problem.block in value.incoming:
        following = value.incoming[problem.block]
        slot = slots.get(following) if isinstance(following, Op) else None
        if slot is not None:
            return slot.ready + 1 - problem.ii, clock, value
    return 0, clock, None
