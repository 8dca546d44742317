"""List scheduling of a block with operator chaining: each operation as early as operands, ports and the clock allow."""

from __future__ import annotations

from rtlagent.hls.ir import DIVISIONS, Block, Branch, Op, Opcode, Return, Switch, Value

from .delays import Delays
from .order import orders
from .plan import BlockPlan, Slot
from .ports import Reservations


def schedule_block(block: Block, delays: Delays, budget_ns: float) -> BlockPlan:
    """Schedule a block that runs once from its first to its last cycle.

    Args:
        block: A CALL, or a division followed by a jump, is its last operation and waits.
        delays: Of the target.
        budget_ns: The part of the period that chained operations may fill.
    """
    plan = BlockPlan(block, 1)
    before: dict[Op, list[tuple[Op, int]]] = {}
    for order in orders(block.ops):
        before.setdefault(order.after, []).append((order.before, order.cycles))
    reserved = Reservations(delays.target)
    clock = delays.technology.register
    waiting = waiting_op(block)
    for op in block.ops:
        if op is waiting:
            continue
        cycle, start = 0, clock
        for value in op.operands():
            cycle, start = _later(plan, value, cycle, start, clock)
        for other, cycles in before.get(op, ()):
            least = plan.slots[other].cycle + cycles
            if least > cycle:
                cycle, start = least, clock
        plan.slots[op] = place(op, cycle, start, delays, budget_ns, reserved)
    plan.length = 1 + max((busy_until(op, slot) for op, slot in plan.slots.items()), default=0)
    _end(block, plan, delays, budget_ns, waiting)
    plan.ports = reserved.ports()
    return plan


def waiting_op(block: Block) -> Op | None:
    """Return the call or division at a block's end that its last cycle waits for."""
    if not block.ops:
        return None
    last = block.ops[-1]
    if last.opcode is Opcode.CALL or (
        last.opcode in DIVISIONS and not isinstance(block.terminator, Branch | Switch | Return)
    ):
        return last
    return None


def busy_until(op: Op, slot: Slot) -> int:
    """Return the last cycle in which an operation does something: a load's data must be waited for."""
    return slot.ready if op.width else slot.cycle


def place(op: Op, cycle: int, start: float, delays: Delays, budget: float, reserved: Reservations) -> Slot:
    """Find the first cycle from `cycle` on in which an operation fits, and reserve its port."""
    need = delays.before(op)
    clock = delays.technology.register
    if start + need > budget and start > clock:
        cycle, start = cycle + 1, clock
    while not reserved.fits(op, cycle):
        cycle, start = cycle + 1, clock
    reserved.take(op, cycle)
    latency = delays.latency(op)
    end = delays.after(op) if latency else start + need
    return Slot(cycle, start, end, latency)


def _later(plan: BlockPlan, value: Value, cycle: int, start: float, clock: float) -> tuple[int, float]:
    slot = plan.slots.get(value) if isinstance(value, Op) else None
    if slot is None:
        return cycle, start
    if slot.ready > cycle:
        return slot.ready, max(clock, slot.end_ns)
    if slot.ready == cycle:
        return cycle, max(start, slot.end_ns)
    return cycle, start


def _end(block: Block, plan: BlockPlan, delays: Delays, budget: float, waiting: Op | None) -> None:
    """Let the terminator's condition, and the operands of what is waited for, be there in the last cycle."""
    last = plan.length - 1
    margin = delays.technology.lut
    end = block.terminator
    used: list[Value] = []
    if isinstance(end, Branch):
        used.append(end.condition)
    elif isinstance(end, Switch):
        used.append(end.value)
    for value in used:
        slot = plan.slots.get(value) if isinstance(value, Op) else None
        if slot is not None and slot.ready == last and slot.end_ns + margin > budget:
            plan.length += 1
            break
    if waiting is not None:
        last = plan.length - 1
        late = [plan.slots[v] for v in waiting.operands() if isinstance(v, Op) and v in plan.slots]
        if any(s.ready == last and s.end_ns + 2 * margin > budget for s in late):
            plan.length += 1
        plan.slots[waiting] = Slot(plan.length - 1, delays.technology.register, 0.0, 0)
