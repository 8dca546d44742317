"""A rough idea of time and size, for decisions that come before scheduling.

The scheduler has its own exact delays; these only have to rank two forms of the same code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rtlagent.hls.ir import (
    DIVISIONS,
    Block,
    Const,
    Memory,
    MemoryKind,
    Op,
    Opcode,
    Phi,
    Stream,
    Value,
)
from rtlagent.hls.options import HlsOptions

from .exclusive import groups

_FREE = frozenset({Opcode.ZEXT, Opcode.SEXT, Opcode.TRUNC, Opcode.COPY})
_CARRIES = frozenset({Opcode.ADD, Opcode.SUB, Opcode.ULT, Opcode.ULE, Opcode.SLT, Opcode.SLE})
_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})
_DISTRIBUTED_DEPTH = 32
_DISTRIBUTED_BITS = 1024
"""Up to these, the scheduler keeps an array of its own in LUT RAM."""
_MEMORY_OUT_NS = 4.4
"""From the clock edge to the data of a block RAM or an outside memory."""
_DISTRIBUTED_NS = 1.0
_DISTRIBUTED_STEP_NS = 0.5
"""Of reading LUT RAM: a constant, and for each bit of the address."""


def delay_ns(op: Op) -> float:
    """Return the rough delay of a pure operation other than a division."""
    width = max([op.width, *(a.width for a in op.args)])
    variable = [a for a in op.args if not isinstance(a, Const)]
    if op.opcode in _FREE or not variable:
        return 0.0
    if op.opcode in _CARRIES:
        return 1.2 + 0.045 * width
    if op.opcode in (Opcode.EQ, Opcode.NE):
        return 1.0 + 0.03 * width
    if op.opcode is Opcode.SELECT:
        return 0.9
    if op.opcode is Opcode.MUL:
        return (2.0 + 0.1 * width) if len(variable) == 1 else (2.5 + 0.16 * width)
    if op.opcode in _SHIFTS:
        return 0.0 if isinstance(op.args[1], Const) else 0.6 * max(1, (width - 1).bit_length())
    return 0.7


def weight(op: Op) -> int:
    """Return a rough size: 1 for an adder, 0 for wiring."""
    if op.opcode in DIVISIONS:
        return 40
    if op.opcode in (Opcode.LOAD, Opcode.STORE, Opcode.READ, Opcode.WRITE):
        return 2
    if op.opcode is Opcode.CALL:
        return 40
    if op.opcode is Opcode.MUL:
        return 6 if not any(isinstance(a, Const) for a in op.args) else 2
    return 1 if delay_ns(op) else 0


@dataclass(frozen=True)
class Timing:
    """Rough times of one block."""

    cycles: int
    """States it takes when run once."""
    ready: dict[Value, float]
    """Cycle, with its fraction, in which each value is there."""


def period_ns(options: HlsOptions) -> float:
    """Return the part of the clock period that logic may use."""
    return options.clock_ns * (1 - options.clock_margin)


def timing(ops: Iterable[Op], period: float, start: Mapping[Value, float] | None = None) -> Timing:
    """Place operations as soon as possible, chained within cycles, memories with any number of ports.

    Args:
        ops: In program order.
        period: In ns.
        start: When values from outside are there; those absent are there at 0. If given, an operation that depends on
            none of these is left out.
    """
    ready: dict[Value, float] = dict(start or {})
    last = 0.0
    for op in ops:
        known = [ready[a] for a in op.operands() if a in ready]
        if start is not None and not known:
            continue
        ready[op] = finish = _finish(op, max(known, default=0.0), period)
        last = max(last, finish)
    return Timing(max(1, int(-(-(last - 1e-9) // 1))), ready)


def _finish(op: Op, begin: float, period: float) -> float:
    cycle = int(begin)
    if op.opcode in (Opcode.LOAD, Opcode.READ):
        if op.memory is not None and not read_cycles(op.memory):
            part = (_DISTRIBUTED_NS + _DISTRIBUTED_STEP_NS * (op.memory.depth - 1).bit_length()) / period
            return begin + part if begin + part <= cycle + 1 else cycle + 1 + part
        # The address is registered at the end of its cycle.
        return cycle + 1 + _MEMORY_OUT_NS / period
    if op.opcode in (Opcode.STORE, Opcode.WRITE):
        return begin
    if op.opcode in DIVISIONS:
        return float(cycle + 1 + op.width)
    if op.opcode is Opcode.CALL:
        return float(cycle + 3)
    part = delay_ns(op) / period
    if part == 0 or begin + part <= cycle + 1:
        return begin + part
    return cycle + 1 + part


UNLIMITED_PORTS = 1 << 16


def ports(memory: Memory) -> int:
    """Return the accesses a cycle, over all the banks that are asked for."""
    if memory.storage == "register":
        return UNLIMITED_PORTS
    count = memory.ports if memory.dims else 1
    for partition in memory.partitions:
        dims = range(len(memory.dims)) if partition.dim < 0 else [partition.dim]
        for dim in dims:
            size = memory.dims[dim] if dim < len(memory.dims) else 1
            count *= size if partition.kind == "complete" else max(1, min(partition.factor, size))
    return count


def is_distributed(memory: Memory) -> bool:
    """Tell whether a memory is small enough to be read within the cycle (LUT RAM or registers)."""
    if memory.kind is MemoryKind.PARAM or memory.storage == "bram":
        return False
    small = memory.depth <= _DISTRIBUTED_DEPTH and memory.depth * memory.width <= _DISTRIBUTED_BITS
    return memory.storage is not None or small or memory.depth == 1


def read_cycles(memory: Memory | None) -> int:
    """Return the cycles from a load's issue to its value."""
    if memory is None:
        return 1
    if memory.kind is MemoryKind.PARAM and memory.depth == 1:
        return 0
    return 0 if is_distributed(memory) else 1


def port_cycles(memory: Memory | Stream, ops: list[Op]) -> int:
    """Return the cycles that a memory's ports need for some accesses."""
    needed = len(groups(ops)) if len(ops) > 2 else len(ops)
    if isinstance(memory, Stream):
        return needed
    if is_distributed(memory) and memory.storage != "register" and not memory.partitions:
        stores = sum(op.opcode is Opcode.STORE for op in ops)
        return max(stores, -(-(len(ops) - stores) // 2), 1)
    return -(-needed // ports(memory))


def port_ii(ops: Iterable[Op]) -> int:
    """Return the initiation interval that memory ports allow."""
    targets: dict[Memory | Stream, list[Op]] = {}
    for op in ops:
        target = op.memory or op.stream
        if target is not None:
            targets.setdefault(target, []).append(op)
    return max((port_cycles(target, accesses) for target, accesses in targets.items()), default=1)


def recurrence_ii(ops: list[Op], carried: Mapping[Phi, Value], condition: Value | None, period: float) -> int:
    """Return the initiation interval that values carried to the next iteration allow.

    Args:
        ops: The body.
        carried: Each phi's next value.
        condition: The exit condition; it is needed within the interval.
        period: In ns.
    """
    least = 1
    inside = set(ops)
    depends: dict[Value, int] = {phi: 1 << n for n, phi in enumerate(carried)}
    for op in ops:
        depends[op] = 0
        for value in op.operands():
            depends[op] |= depends.get(value, 0)
    for phi, following in carried.items():
        bit = depends[phi]
        if following not in inside or not depends[following] & bit:
            continue
        ready = timing([op for op in ops if depends[op] & bit], period, {phi: 0.0}).ready
        if following in ready:
            least = max(least, int(-(-(ready[following] - 1e-9) // 1)))
    if condition in inside:
        ready = timing(ops, period).ready
        assert condition is not None
        least = max(least, int(ready[condition] - 1e-9) + 1)
    return least


def path_cycles(order: list[Block], period: float) -> float:
    """Return how many states one pass through an acyclic region takes, each way of a branch as likely as the other."""
    likely: dict[Block, float] = dict.fromkeys(order, 0.0)
    likely[order[0]] = 1.0
    total = 0.0
    for block in order:
        total += likely[block] * timing(block.ops, period).cycles
        targets = block.successors()
        for target in targets:
            if target in likely and target is not order[0]:
                likely[target] += likely[block] / len(targets)
    return total
