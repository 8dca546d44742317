"""Binding: which hardware unit runs which operation.

Multipliers cost DSP blocks, so that sequential code shares them; adders, comparisons and logic get hardware of their
own, because on an FPGA the multiplexers in front of a shared adder cost more than the adder. A sequential division
always shares one unit per width, since only one runs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import DIVISIONS, Block, Const, Function, Memory, MemoryKind, Module, Op, Opcode
from rtlagent.hls.schedule.multiplier import shape
from rtlagent.hls.schedule.plan import FunctionPlan
from rtlagent.hls.schedule.sequential import waiting_op

_FREE_MULTIPLIERS = 8
"""So many multiplications keep a unit of their own before sharing begins."""
_DSP_BITS = 18


@dataclass(frozen=True)
class MultiplierUnit:
    """A multiplier used by several operations, never twice in a cycle."""

    width: int
    latency: int
    ops: tuple[Op, ...]
    limb: int = 0
    """See `Slot.limb`."""


@dataclass(frozen=True)
class DividerUnit:
    """A divider."""

    width: int
    latency: int
    """Of the fixed-latency kind in a pipelined loop; 0: the sequential kind that says when it is done."""
    ops: tuple[Op, ...]


@dataclass
class Binding:
    """All shared units, and the memory port of each access."""

    multipliers: list[MultiplierUnit] = field(default_factory=list)
    dividers: list[DividerUnit] = field(default_factory=list)
    ports: dict[Op, int] = field(default_factory=dict)
    unit_of: dict[Op, MultiplierUnit | DividerUnit] = field(default_factory=dict)


def bind(module: Module, plans: dict[Function, FunctionPlan]) -> Binding:
    """Choose units for multiplications and divisions, and ports for memory accesses."""
    binding = Binding()
    _bind_dividers(module, plans, binding)
    _bind_multipliers(module, plans, binding)
    _bind_ports(module, plans, binding)
    units: tuple[MultiplierUnit | DividerUnit, ...] = (*binding.multipliers, *binding.dividers)
    for unit in units:
        for op in unit.ops:
            binding.unit_of[op] = unit
    return binding


def _bind_dividers(module: Module, plans: dict[Function, FunctionPlan], binding: Binding) -> None:
    shared: dict[int, list[Op]] = {}
    for function in module.functions:
        for block in function.blocks:
            plan = plans[function].blocks[block]
            for op in block.ops:
                if op.opcode not in DIVISIONS:
                    continue
                width = max(8, -(-op.width // 8) * 8)
                if plan.ii is None and op is waiting_op(block):
                    shared.setdefault(width, []).append(op)
                else:
                    binding.dividers.append(
                        DividerUnit(op.width if op.width >= 8 else 8, plan.slots[op].latency, (op,))
                    )
    for width, ops in sorted(shared.items()):
        binding.dividers.append(DividerUnit(width, 0, tuple(ops)))


def _bind_multipliers(module: Module, plans: dict[Function, FunctionPlan], binding: Binding) -> None:
    """Share by first fit: operations of one shape and latency that never issue in the same cycle."""
    groups: dict[tuple[int, ...], list[tuple[Op, Block, int]]] = {}
    limit = min((f.allocation["mul"] for f in module.functions if "mul" in f.allocation), default=None)
    for function in module.functions:
        for block in function.blocks:
            plan = plans[function].blocks[block]
            for op in block.ops:
                if op.opcode is Opcode.MUL and not any(isinstance(a, Const) for a in op.args):
                    slot = plan.slots[op]
                    cycle = slot.cycle % plan.ii if plan.ii else slot.cycle
                    groups.setdefault((op.width, slot.latency, slot.limb, *_dsps(op)), []).append((op, block, cycle))
    for (width, latency, limb, *_), members in groups.items():
        if limit is None and len(members) <= _FREE_MULTIPLIERS:
            continue
        units: list[tuple[list[Op], set[tuple[Block, int]]]] = []
        for op, block, cycle in members:
            time = (block, cycle)
            free = [u for u in units if time not in u[1]]
            # Without a limit the first multiplications spread over units of their own: fewer multiplexers.
            spread = limit is None and len(units) < _FREE_MULTIPLIERS
            if spread or not free:
                units.append(([op], {time}))
            else:
                unit = min(free, key=lambda u: len(u[0]))
                unit[0].append(op)
                unit[1].add(time)
        binding.multipliers += [MultiplierUnit(width, latency, tuple(ops), limb) for ops, _ in units if len(ops) > 1]


def _dsps(op: Op) -> tuple[int, int]:
    """Return by how many DSPs a product is covered, along each operand: a wider one would cost a small one dear."""
    a, b = shape(op)
    return -(-a // _DSP_BITS), -(-b // _DSP_BITS)


def _bind_ports(module: Module, plans: dict[Function, FunctionPlan], binding: Binding) -> None:
    """Take the scheduler's ports; inside memories with one read and one write a cycle get one port for each."""
    accesses: dict[Memory, list[tuple[Op, tuple[Block, int], int]]] = {}
    for function in module.functions:
        for block in function.blocks:
            plan = plans[function].blocks[block]
            for op in block.ops:
                if op.memory is not None:
                    slot = plan.slots[op]
                    time = (block, slot.cycle % plan.ii if plan.ii else slot.cycle)
                    accesses.setdefault(op.memory, []).append((op, time, plan.ports.get(op, 0)))
    for memory, members in accesses.items():
        by_time: dict[tuple[tuple[Block, int], Opcode], int] = {}
        for op, time, _ in members:
            by_time[time, op.opcode] = by_time.get((time, op.opcode), 0) + 1
        split = memory.kind is not MemoryKind.PARAM and max(by_time.values()) == 1
        for op, _, port in members:
            binding.ports[op] = int(op.opcode is Opcode.STORE) if split else port
