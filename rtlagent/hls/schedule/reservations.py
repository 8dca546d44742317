"""Memory ports, streams and multipliers as resources of a cycle (modulo the II of a pipelined loop)."""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.ir import Const, Memory, Op, Opcode, Stream

from .storage import Ports, ports_of
from .technology import Technology

PRODUCTS = "mul"
Resource = Memory | Stream | str


@dataclass
class Reservations:
    """Who has what in which cycle."""

    technology: Technology
    ii: int | None = None
    products: int | None = None
    """Greatest number of multiplications that begin in one cycle; None: any."""
    _ports: dict[Memory, Ports] = field(default_factory=dict)
    _taken: dict[tuple[Resource, int], dict[int, Op]] = field(default_factory=dict)
    """(resource, cycle) -> port -> operation."""
    _at: dict[Op, tuple[Resource, int, int]] = field(default_factory=dict)

    def resource(self, op: Op) -> Resource | None:
        """Return what an operation shares with others; None: nothing that could run out."""
        if op.memory is not None:
            ports = self._limits(op.memory)
            return None if ports.total is None and ports.reads is None else op.memory
        if op.stream is not None:
            return op.stream
        if self.products is not None and is_product(op):
            return PRODUCTS
        return None

    def _limits(self, memory: Memory) -> Ports:
        found = self._ports.get(memory)
        if found is None:
            found = self._ports[memory] = ports_of(memory, self.technology)
        return found

    def choices(self, op: Op, resource: Resource) -> range:
        """Return the port numbers that an operation can use."""
        if isinstance(resource, Memory):
            ports = self._limits(resource)
            if ports.total is not None:
                return range(ports.total)
            reads, writes = ports.reads or 0, ports.writes or 0
            return range(writes) if op.opcode is Opcode.STORE else range(writes, writes + reads)
        return range(1) if isinstance(resource, Stream) else range(self.products or 0)

    def key(self, resource: Resource, cycle: int) -> tuple[Resource, int]:
        """Return the place of a cycle in the table."""
        return resource, cycle % self.ii if self.ii else cycle

    def free(self, op: Op, resource: Resource, cycle: int) -> int | None:
        """Return the first free port, or None."""
        taken = self._taken.get(self.key(resource, cycle))
        choices = self.choices(op, resource)
        if not taken:
            return choices[0] if choices else None
        return next((p for p in choices if p not in taken), None)

    def take(self, op: Op, resource: Resource, cycle: int, port: int) -> None:
        """Reserve a port."""
        key = self.key(resource, cycle)
        self._taken.setdefault(key, {})[port] = op
        self._at[op] = (*key, port)

    def release(self, op: Op) -> None:
        """Give back what an operation has."""
        resource, cycle, port = self._at.pop(op)
        del self._taken[resource, cycle][port]

    def holder(self, resource: Resource, cycle: int, port: int) -> Op | None:
        """Return who has a port."""
        return self._taken.get(self.key(resource, cycle), {}).get(port)

    def ports(self, ops: list[Op]) -> dict[Op, int]:
        """Return the port of every access among `ops`; 0 where there is nothing to choose."""
        return {op: self._at[op][2] if op in self._at else 0 for op in ops if op.memory is not None}


def is_product(op: Op) -> bool:
    """Tell whether an operation takes a multiplier that others could share."""
    return op.opcode is Opcode.MUL and not any(isinstance(a, Const) for a in op.args)


def least_ii(
    ops: list[Op], technology: Technology, products: int | None, latencies: list[int]
) -> tuple[int, Resource | Op | None]:
    """Return the least II that resources allow, and which one decides it: a memory, a stream, products, a division."""
    worst: int = 1
    which: Resource | Op | None = None
    table = Reservations(technology, products=products)
    kinds: dict[tuple[Resource, range], int] = {}
    for n, op in enumerate(ops):
        need: int = 1
        what: Resource | Op | None = None
        resource = table.resource(op)
        if resource is not None:
            choices = table.choices(op, resource)
            kinds[resource, choices] = kinds.get((resource, choices), 0) + 1
            need, what = -(-kinds[resource, choices] // max(1, len(choices))), resource
        elif op.opcode.value.endswith(("div", "rem")):
            need, what = latencies[n], op
        if need > worst:
            worst, which = need, what
    return worst, which
