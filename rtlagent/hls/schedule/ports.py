"""Memory ports and multipliers as resources of a cycle."""

from __future__ import annotations

from collections import Counter

from rtlagent.hls.ir import Memory, Op, Opcode

from .storage import port_limit


class Reservations:
    """Which accesses run in which cycle (modulo ii for a pipelined loop)."""

    def __init__(self, target: str, ii: int | None = None) -> None:
        self._target = target
        self._ii = ii
        self._count: Counter[tuple[Memory, int, Opcode]] = Counter()
        self._port: dict[tuple[Memory, int], dict[Op, int]] = {}

    def _slot(self, cycle: int) -> int:
        return cycle % self._ii if self._ii else cycle

    def fits(self, op: Op, cycle: int) -> bool:
        """Tell whether an access can run in a cycle."""
        memory = op.memory
        if memory is None:
            return True
        total, loads, stores = port_limit(memory, self._target)
        slot = self._slot(cycle)
        have_loads, have_stores = self._count[memory, slot, Opcode.LOAD], self._count[memory, slot, Opcode.STORE]
        if have_loads + have_stores >= total:
            return False
        return have_loads < loads if op.opcode is Opcode.LOAD else have_stores < stores

    def take(self, op: Op, cycle: int) -> None:
        """Reserve a port."""
        if op.memory is None:
            return
        slot = self._slot(cycle)
        self._count[op.memory, slot, op.opcode] += 1
        used = self._port.setdefault((op.memory, slot), {})
        port = 0
        while port in used.values():
            port += 1
        used[op] = port

    def release(self, op: Op, cycle: int) -> None:
        """Give a port back."""
        if op.memory is None:
            return
        slot = self._slot(cycle)
        self._count[op.memory, slot, op.opcode] -= 1
        del self._port[op.memory, slot][op]

    def ports(self) -> dict[Op, int]:
        """Return the port of every access."""
        return {op: port for used in self._port.values() for op, port in used.items()}


def least_ii(ops: list[Op], target: str) -> tuple[int, Memory | None]:
    """Return the least II that the memory ports allow, and the memory that decides it."""
    worst, which = 1, None
    loads: Counter[Memory] = Counter()
    stores: Counter[Memory] = Counter()
    for op in ops:
        if op.memory is not None:
            (loads if op.opcode is Opcode.LOAD else stores)[op.memory] += 1
    for memory in dict.fromkeys([*loads, *stores]):
        total, most_loads, most_stores = port_limit(memory, target)
        need = max(
            -(-(loads[memory] + stores[memory]) // total),
            -(-loads[memory] // most_loads),
            -(-stores[memory] // most_stores),
        )
        if need > worst:
            worst, which = need, memory
    return worst, which
