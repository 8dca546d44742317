"""Where an array lives: registers, LUT RAM (read within the cycle) or block RAM (read in the next one)."""

from __future__ import annotations

from rtlagent.hls.ir import Memory, MemoryKind

_LUTRAM_BITS = 1024
_LUTRAM_DEPTH = 64


def storage_of(memory: Memory) -> str:
    """Return `register`, `lutram`, `bram`, or `port` for an array outside the module."""
    if memory.kind is MemoryKind.PARAM:
        return "port"
    if memory.storage is not None:
        return memory.storage
    if memory.depth == 1:
        return "register"
    if memory.depth <= _LUTRAM_DEPTH and memory.depth * memory.width <= _LUTRAM_BITS:
        return "lutram"
    return "bram"


def is_register_port(memory: Memory) -> bool:
    """Tell whether an outside memory is a register behind a pointer, which is read at once."""
    return memory.kind is MemoryKind.PARAM and (
        memory.interface in ("ap_vld", "ap_none") or (memory.interface is None and memory.depth == 1)
    )


def read_latency(memory: Memory) -> int:
    """Return the cycles from a load to its data."""
    if is_register_port(memory):
        return 0
    if memory.storage_latency is not None and storage_of(memory) == "bram":
        return max(1, memory.storage_latency)
    return 0 if storage_of(memory) in ("register", "lutram") else 1


def port_limit(memory: Memory, target: str) -> tuple[int, int, int]:
    """Return how many accesses, loads and stores a cycle allows."""
    kind = storage_of(memory)
    many = 1 << 30
    if kind == "register" or is_register_port(memory):
        return many, many, many
    if kind == "lutram":
        return 3, 2, 1
    if kind == "bram" and target == "ice40":
        return 2, 1, 1
    return memory.ports, memory.ports, memory.ports
