"""What each memory is built of, and how many accesses a cycle that allows.

```
short t[4]          64 bits         registers: any number of accesses, each with wires of its own
int w[16]          512 bits         lutram: 2 reads at once, in the same cycle; 1 write
int b[256]        8192 bits         bram: 2 accesses, data in the next cycle
int *a (argument)                   ap_memory: as bram;  one element: ap_vld
```
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rtlagent.hls.ir import Const, Memory, MemoryKind, Module, Op
from rtlagent.hls.options import Remarks

from .technology import TECHNOLOGIES, Technology

REGISTER_BITS = 64
"""Memories of up to so many bits are registers."""
CONSTANT_REGISTER_BITS = 128
"""The same for memories that only constant subscripts reach."""


class StorageKind(Enum):
    """How a memory is reached."""

    REGISTERS = "register"
    LUTS = "lutram"
    BLOCK = "bram"
    PORT = "ap_memory"
    """Outside of the module, behind ports with the timing of a block RAM."""
    POINTER = "ap_vld"
    """A single element outside of the module."""

    @property
    def latency(self) -> int:
        """Cycles from a load's address to its data."""
        return int(self in (StorageKind.BLOCK, StorageKind.PORT))

    @property
    def own_wires(self) -> bool:
        """True if every access has wires of its own, so that there are no ports to run out of."""
        return self in (StorageKind.REGISTERS, StorageKind.POINTER)


@dataclass(frozen=True)
class Ports:
    """How many accesses a memory takes in a cycle."""

    total: int | None
    """Reads and writes together; None: as many of each as below say."""
    reads: int | None
    """None: any number."""
    writes: int | None


UNLIMITED = Ports(None, None, None)


def kind_of(memory: Memory) -> StorageKind:
    """Return how a memory is reached, once `choose_storage` has run."""
    if memory.kind is MemoryKind.PARAM:
        protocol = memory.interface or ("ap_vld" if memory.depth == 1 else "ap_memory")
        return StorageKind.PORT if protocol == "ap_memory" else StorageKind.POINTER
    if memory.built_of:
        return StorageKind(memory.built_of)
    return StorageKind(_plain_name(memory.storage) or "bram")


def storage_of(memory: Memory) -> str:
    """Return `register`, `lutram` or `bram` for a memory inside the module, the protocol for one outside."""
    return kind_of(memory).value


def ports_of(memory: Memory, technology: Technology) -> Ports:
    """Return a memory's limits."""
    kind = kind_of(memory)
    if kind.own_wires:
        return UNLIMITED
    if kind is StorageKind.LUTS:
        return Ports(None, max(2, memory.ports), 1)
    if kind is StorageKind.BLOCK and not technology.two_write_ports and memory.kind is not MemoryKind.ROM:
        return Ports(None, memory.ports, 1)
    return Ports(memory.ports, None, None)


def choose_storage(module: Module, target: str, remarks: Remarks) -> None:
    """Decide what each memory inside the module is built of; fills in `Memory.built_of` and `read_first`."""
    technology = TECHNOLOGIES[target]
    variable: set[Memory] = set()
    for function in module.functions:
        for block in function.blocks:
            variable.update(op.memory for op in block.ops if op.memory is not None and not _has_constant_place(op))
    for memory in module.memories:
        if memory.kind is MemoryKind.PARAM:
            continue
        asked = _plain_name(memory.storage)
        if asked == "lutram" and not technology.has_lutram and memory.kind is not MemoryKind.ROM:
            text = f"{technology.name} has no LUT RAM: {memory.name} is built of what suits its size"
            remarks.warn("BIND_STORAGE", text, memory.place)
            asked = memory.storage = None
        memory.built_of = asked or _by_size(memory, technology, constant=memory not in variable)
        memory.read_first = technology.read_first or memory.built_of != "bram"


def _has_constant_place(op: Op) -> bool:
    return all(isinstance(s, Const) for s in op.subscripts)


def _plain_name(storage: str | None) -> str | None:
    """Return our name for what a pragma calls a storage; None: no such wish."""
    if storage is None:
        return None
    name = storage.lower()
    if name in ("uram", "bram"):
        return "bram"
    if name in ("lutram", "srl"):
        return "lutram"
    return "register" if name in ("register", "registers") else None


def _by_size(memory: Memory, technology: Technology, *, constant: bool) -> str:
    bits = memory.depth * memory.width
    if memory.depth == 1 or bits <= (CONSTANT_REGISTER_BITS if constant else REGISTER_BITS):
        return "register"
    if memory.kind is MemoryKind.ROM:
        return "lutram" if bits <= technology.rom_bits else "bram"
    if bits <= technology.lutram_bits and memory.depth <= technology.lutram_depth:
        return "lutram"
    return "bram"
