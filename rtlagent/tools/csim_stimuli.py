"""Stimuli for a C function that no testbench calls: corners first, then seeded random values.

Scalars are often sizes or counts and arrays often hold indices, so both climb from small values to the
full range; what is undefined behaviour is found by trying and left out (csim.py).
"""

from __future__ import annotations

import random
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument

_UNIFORM = (1, 0, 2, 3, 5, 8)
_MAX_BYTES = 8 << 20
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TEXT = b"the quick brown fox jumps over the lazy dog 0123456789 AAAABBBB,.;-+\n"


@dataclass(frozen=True)
class Budget:
    """How many stimuli are made and how much work they may be, in basic blocks."""

    wanted: int = 24
    soft_limit: int = 100_000
    """Of one call; the first three may be longer."""
    hard_limit: int = 5_000_000
    total_limit: int = 250_000


@dataclass(frozen=True)
class Stimuli:
    """A stimulus file's text and how many stimuli it holds."""

    data: bytes
    count: int


def generate(arguments: Sequence[Argument], *, seed: int, budget: Budget | None = None) -> Stimuli:
    """Return a file of stimuli (drive.c reads it), more than are wanted: some will be dropped."""
    budget = budget or Budget()
    size = sum(1 + a.size_bytes for a in arguments)
    wanted = budget.wanted if any(not a.is_scalar for a in arguments) else 2 * budget.wanted
    count = max(4, min(4 * wanted, _MAX_BYTES // max(1, size)))
    chooser = random.Random(seed)
    body = b"".join(_stimulus(arguments, index, chooser) for index in range(count))
    head = struct.pack("<5Q", count, budget.soft_limit, budget.hard_limit, wanted, budget.total_limit)
    return Stimuli(head + body, count)


def _stimulus(arguments: Sequence[Argument], index: int, chooser: random.Random) -> bytes:
    sizes = [a.size_bytes // max(1, a.element_bytes) for a in arguments if not a.is_scalar]
    length = min((s for s in sizes if s > 1), default=16)
    parts: list[bytes] = []
    for a in arguments:
        # The first call, and now and then a later one, finds globals as the C leaves them.
        keep = a.is_global and index % 4 == 0
        if a.is_scalar or a.size_bytes == a.element_bytes:
            data = _scalar_bytes(a, index, length, chooser)
        else:
            data = _array_bytes(a, index, length, chooser)
        parts += [b"\0" if keep else b"\1", data]
    return b"".join(parts)


def _scalar_bytes(a: Argument, index: int, length: int, chooser: random.Random) -> bytes:
    bits = 8 * a.size_bytes
    if a.is_float and a.size_bytes in (4, 8):
        value = (0.0, 1.0, -1.0, 0.5)[index] if index < 4 else chooser.uniform(-1000.0, 1000.0)
        return struct.pack("<f" if a.size_bytes == 4 else "<d", value)
    if _is_bool(a):
        return chooser.randrange(2).to_bytes(a.size_bytes, "little")
    return (_scalar(index, bits, length, chooser) & ((1 << bits) - 1)).to_bytes(a.size_bytes, "little")


def _scalar(index: int, bits: int, length: int, chooser: random.Random) -> int:
    if index < len(_UNIFORM):
        return _UNIFORM[index]
    match index % 4:
        case 0:
            return chooser.choice((length, length - 1, length // 2, chooser.randint(0, length)))
        case 1:
            return chooser.choice(_corners(bits))
        case 2:
            return chooser.randint(0, 64)
    value = chooser.getrandbits(chooser.randint(1, bits))
    return -value if chooser.random() < 0.3 else value


def _corners(bits: int) -> tuple[int, ...]:
    alternating = int.from_bytes(b"\x55" * (bits // 8), "little")
    return 0, 1, -1, 1 << (bits - 1), (1 << (bits - 1)) - 1, alternating, alternating << 1, 2, -2


def _array_bytes(a: Argument, index: int, length: int, chooser: random.Random) -> bytes:
    width = a.element_bytes
    count, rest = divmod(a.size_bytes, width)
    bits = 8 * width
    if a.is_float and width in (4, 8):
        form = "<f" if width == 4 else "<d"
        return b"".join(struct.pack(form, chooser.uniform(-100.0, 100.0)) for _ in range(count)) + bytes(rest)
    if _is_bool(a):
        return bytes(chooser.choices((0, 1), k=a.size_bytes))
    filled = _constant_fill(index, bits)
    if filled is not None:
        return filled.to_bytes(width, "little") * count + bytes(rest)
    is_text = width == 1 and "char" in a.c_type
    mode = chooser.choice(("full", "full", "small", "index", "sorted", "ramp", *(("text",) * 3 if is_text else ())))
    if mode == "full":
        return chooser.randbytes(a.size_bytes)
    if mode == "text":
        return bytes(chooser.choices(_TEXT, k=a.size_bytes - 1)) + b"\0"
    top = {"small": 15, "ramp": 0}.get(mode, max(1, min(length, count) - 1))
    top = min(top, (1 << (bits - 1)) - 1)
    values = list(range(count)) if mode == "ramp" else chooser.choices(range(top + 1), k=count)
    if mode == "sorted":
        values.sort()
    if width not in _CODES:
        return b"".join(v.to_bytes(width, "little") for v in values) + bytes(rest)
    mask = (1 << bits) - 1
    return array(_CODES[width], [v & mask for v in values]).tobytes() + bytes(rest)


def _constant_fill(index: int, bits: int) -> int | None:
    """Return what the directed stimuli fill arrays with; None for the others."""
    ones = (1 << bits) - 1
    alternating = int.from_bytes(b"\x55" * (bits // 8), "little")
    fills = {2: 0, 4: ones, 6: 1 << (bits - 1), 8: ones >> 1, 10: alternating, 12: ones - alternating, 14: 1}
    return fills.get(index)


def _is_bool(a: Argument) -> bool:
    return a.c_type.split()[-1:] in (["_Bool"], ["bool"])
