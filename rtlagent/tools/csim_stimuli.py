"""Stimuli for a C function that no testbench calls: corners first, then seeded random values.

Scalars are often sizes or counts and arrays often hold indices, so both climb from small values to the
full range; numbers that stand in the C are tried too. What is undefined behaviour is found by trying and
left out, and what takes a new way through the code is preferred (sim/cosim/drive.c).
"""

from __future__ import annotations

import random
import re
import struct
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtlagent.tools.csim_layout import is_bool

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument

_UNIFORM = (1, 0, 2, 3, 5, 8)
_MAX_BYTES = 8 << 20
_MAX_WORDS = 1000
_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TEXT = b"the quick brown fox jumps over the lazy dog 0123456789 AAAABBBB,.;-+\n"
# A table's numbers are many and decide little.
_PASSED_OVER = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|=\s*\{[^;]*\}\s*;', re.S)
_NUMBER = re.compile(r"(?<![\w.])(?:0[xX][0-9a-fA-F]+|[0-9]+)(?=[uUlL]*\b(?!\.))|'([^'\\\n])'")


@dataclass(frozen=True)
class Budget:
    """How many stimuli are made and how much work they may be, in basic blocks."""

    wanted: int = 24
    """Further ones must take a new way through the code; at most as many again."""
    soft_limit: int = 100_000
    """Of one call; the first three may be longer."""
    hard_limit: int = 5_000_000
    total_limit: int = 250_000
    attempts: int = 1000
    """Changed copies of good stimuli that are tried; fewer if nothing new comes of them."""


@dataclass(frozen=True)
class Stimuli:
    """A stimulus file's text and how many stimuli it holds."""

    data: bytes
    count: int


def numbers_in(texts: Iterable[str]) -> tuple[int, ...]:
    """Return the numbers and characters that stand in C texts, in ascending order."""
    found: set[int] = set()
    for text in texts:
        for match in _NUMBER.finditer(_PASSED_OVER.sub(" ", text)):
            digits = match.group()
            value = ord(match[1]) if match[1] else int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits)
            if value < 1 << 63:
                found.add(value)
    return tuple(sorted(found)[:_MAX_WORDS])


def generate(
    arguments: Sequence[Argument], *, seed: int, budget: Budget | None = None, numbers: Sequence[int] = ()
) -> Stimuli:
    """Return a file of stimuli (drive.c reads it), more than are wanted: some will be dropped.

    Args:
        arguments: Of the function, and its globals.
        seed: Of everything random.
        budget: How many, and how long.
        numbers: Values that may decide something.
    """
    budget = budget or Budget()
    size = sum(1 + a.size_bytes for a in arguments)
    wanted = budget.wanted if any(not a.is_scalar for a in arguments) else 2 * budget.wanted
    count = max(4, min(4 * wanted, _MAX_BYTES // max(1, size)))
    sizes = [a.size_bytes // max(1, a.element_bytes) for a in arguments if not a.is_scalar]
    maker = _Maker(random.Random(seed), tuple(numbers), min((s for s in sizes if s > 1), default=16))
    body = b"".join(maker.stimulus(arguments, index) for index in range(count)) or bytes(count)
    limits = budget.soft_limit, budget.hard_limit, wanted, 2 * wanted, budget.total_limit, budget.attempts
    head = struct.pack(f"<9Q{len(numbers)}Q", count, *limits, seed, len(numbers), *numbers)
    return Stimuli(head + body, count)


class _Maker:
    """Makes one stimulus after the other.

    Args:
        chooser: The source of chance.
        numbers: Values that may decide something.
        length: Elements of the shortest array.
    """

    def __init__(self, chooser: random.Random, numbers: tuple[int, ...], length: int) -> None:
        self._chooser, self._numbers, self._length = chooser, numbers, length

    def stimulus(self, arguments: Sequence[Argument], index: int) -> bytes:
        """Return stimulus number `index`."""
        parts: list[bytes] = []
        for a in arguments:
            # The first call, and now and then a later one, finds globals as the C leaves them.
            keep = a.is_global and index % 4 == 0
            single = a.is_scalar or a.size_bytes == a.element_bytes
            parts += [b"\0" if keep else b"\1", self._single(a, index) if single else self._array(a, index)]
        return b"".join(parts)

    def _single(self, a: Argument, index: int) -> bytes:
        bits = 8 * a.size_bytes
        if a.is_float and a.size_bytes in (4, 8):
            value = (0.0, 1.0, -1.0, 0.5)[index] if index < 4 else self._chooser.uniform(-1000.0, 1000.0)
            return struct.pack("<f" if a.size_bytes == 4 else "<d", value)
        if is_bool(a):
            return self._chooser.randrange(2).to_bytes(a.size_bytes, "little")
        return (self._scalar(index, bits) & ((1 << bits) - 1)).to_bytes(a.size_bytes, "little")

    def _scalar(self, index: int, bits: int) -> int:
        if index < len(_UNIFORM):
            return _UNIFORM[index]
        chooser, length = self._chooser, self._length
        kind = chooser.choices(("tiny", "length", "small", "corner", "number", "any"), (4, 4, 2, 3, 2, 4))[0]
        match kind:
            case "tiny":
                return chooser.randrange(4)
            case "length":
                return chooser.choice((length, length - 1, length // 2, chooser.randint(0, length)))
            case "small":
                return chooser.randint(0, 64)
            case "corner":
                return chooser.choice(_corners(bits))
            case "number" if self._numbers:
                return chooser.choice(self._numbers) + chooser.randint(-1, 1)
        value = chooser.getrandbits(chooser.randint(1, bits))
        return -value if chooser.random() < 0.3 else value

    def _array(self, a: Argument, index: int) -> bytes:
        chooser, width = self._chooser, a.element_bytes
        count, rest = divmod(a.size_bytes, width)
        bits = 8 * width
        if a.is_float and width in (4, 8):
            form = "<f" if width == 4 else "<d"
            return b"".join(struct.pack(form, chooser.uniform(-100.0, 100.0)) for _ in range(count)) + bytes(rest)
        if is_bool(a):
            return bytes(chooser.choices((0, 1), k=a.size_bytes))
        filled = _constant_fill(index, bits)
        if filled is not None:
            return filled.to_bytes(width, "little") * count + bytes(rest)
        is_text = width == 1 and "char" in a.c_type
        modes = ["full", "full", "small", "index", "sorted", "ramp", *(["text"] * 3 if is_text else [])]
        mode = chooser.choice([*modes, *(["numbers"] if self._numbers else [])])
        if mode == "full":
            return chooser.randbytes(a.size_bytes)
        if mode == "text":
            return bytes(chooser.choices(_TEXT, k=a.size_bytes - 1)) + b"\0"
        return _packed(self._values(mode, count, bits), width) + bytes(rest)

    def _values(self, mode: str, count: int, bits: int) -> Sequence[int]:
        if mode == "ramp":
            return range(count)
        if mode == "numbers":
            return self._chooser.choices(self._numbers, k=count)
        top = 15 if mode == "small" else max(1, min(self._length, count) - 1)
        values = self._chooser.choices(range(min(top, (1 << (bits - 1)) - 1) + 1), k=count)
        return sorted(values) if mode == "sorted" else values


def _packed(values: Iterable[int], width: int) -> bytes:
    mask = (1 << (8 * width)) - 1
    if width not in _CODES:
        return b"".join((v & mask).to_bytes(width, "little") for v in values)
    return array(_CODES[width], [v & mask for v in values]).tobytes()


def _corners(bits: int) -> tuple[int, ...]:
    alternating = int.from_bytes(b"\x55" * (bits // 8), "little")
    return 0, 1, -1, 1 << (bits - 1), (1 << (bits - 1)) - 1, alternating, alternating << 1, 2, -2


def _constant_fill(index: int, bits: int) -> int | None:
    """Return what the directed stimuli fill arrays with; None for the others."""
    ones = (1 << bits) - 1
    alternating = int.from_bytes(b"\x55" * (bits // 8), "little")
    fills = {2: 0, 4: ones, 6: 1 << (bits - 1), 8: ones >> 1, 10: alternating, 12: ones - alternating, 14: 1}
    return fills.get(index)
