"""What was recorded of a C program's calls, and the file that sim/cosim/record.c writes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtlagent.errors import ToolError
from rtlagent.types import Diagnostic, Status

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument

_PAGE = 4096
_HEADER = struct.Struct("<4Q")
_EVENT = struct.Struct("<4Q")


@dataclass(frozen=True)
class Call:
    """One call of the function."""

    before: tuple[bytes, ...]
    """Of each argument: a scalar's value, an object's bytes."""
    after: tuple[bytes, ...]
    """The same after the call; a scalar's is empty."""
    result: int
    """What the result registers held (rax, then rdx), unsigned; only the result's width of it means something."""
    addresses: tuple[int, ...] = ()
    """Of each object; 0 for a scalar and for a null pointer."""
    usable: tuple[int, ...] = ()
    """Bytes of each object that the caller has; what lies beyond belongs to something else."""
    blocks: int | None = None
    """Basic blocks that the C ran through: a measure of work. None: not counted."""
    unstable: tuple[frozenset[int], ...] = ()
    """Of each argument: offsets of the bytes that came out otherwise in a second build of the same C."""
    unstable_result: bool = False
    read: tuple[tuple[bytes, ...], ...] = ()
    """Of each argument that is a stream, the items that the function took from it."""
    written: tuple[tuple[bytes, ...], ...] = ()
    """The items that it put into it."""


@dataclass(frozen=True)
class CallRecord:
    """The calls of one function, in order, from the first."""

    top: str
    arguments: tuple[Argument, ...]
    result_width: int
    result_signed: bool
    calls: tuple[Call, ...]
    origin: str
    """`testbench` (the user's main called the function), `generated`, or `main` (the function is main)."""
    status: Status = Status.PASS
    """FAIL: the C itself failed (its main returned non-zero, it crashed); TIMEOUT: it did not end."""
    problem: str = ""
    """Why the status is not PASS, in one line."""
    calls_made: int = 0
    """Also those that were not recorded."""
    dropped: tuple[str, ...] = ()
    """Why each generated stimulus that was not used was dropped."""
    exit_status: int | None = None
    """Of the user's main; None: it did not return."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Warnings, such as undefined behaviour."""
    log: str = field(default="", repr=False)
    """What the program printed, bounded."""
    wall_s: float = 0.0


@dataclass(frozen=True)
class Recording:
    """The contents of one record file."""

    calls: tuple[Call, ...]
    begun: int
    ended: int
    exit_status: int | None
    stimuli: tuple[int, ...]
    """Number of the stimulus of each call."""
    dropped: tuple[tuple[int, int], ...]
    """Stimulus and reason."""
    missing_files: tuple[str, ...]


def read_recording(data: bytes, argument_count: int, *, counted: bool) -> Recording:
    """Read a record file; `counted` says whether the program counted its basic blocks.

    Raises:
        ToolError: it is cut short or not a record.
    """
    if len(data) < _PAGE:
        raise ToolError("the C program left no record of its calls")
    begun, ended, exited, status = _HEADER.unpack_from(data)
    calls: list[Call] = []
    stimuli: list[int] = []
    dropped: list[tuple[int, int]] = []
    missing: dict[str, None] = {}
    current = _OpenCall(argument_count)
    for tag, first, second, payload in _events(data):
        match tag:
            case "B":
                current = _OpenCall(argument_count)
            case "a":
                current.before[first], current.addresses[first] = payload, second
            case "v":
                current.usable[first] = second
            case "r":
                current.read[first].append(payload)
            case "w":
                current.written[first].append(payload)
            case "E":
                current.result = int.from_bytes(payload[:16], "little")
                current.blocks = second if counted else None
                current.awaited = sum(1 for u in current.usable if u is not None)
                calls += current.close()
            case "z":
                current.after[first] = payload
                current.awaited -= 1
                calls += current.close()
            case "S":
                stimuli.append(first)
            case "D":
                dropped.append((first, second))
            case "F":
                missing[payload.decode(errors="replace")] = None
    return Recording(
        tuple(calls), begun, ended, status & 0xFF if exited else None, tuple(stimuli), tuple(dropped), tuple(missing)
    )


class _OpenCall:
    """A call whose events are being read."""

    def __init__(self, count: int) -> None:
        self.before = [b""] * count
        self.after = [b""] * count
        self.read: list[list[bytes]] = [[] for _ in range(count)]
        self.written: list[list[bytes]] = [[] for _ in range(count)]
        self.addresses = [0] * count
        self.usable: list[int | None] = [None] * count
        self.result = 0
        self.blocks: int | None = None
        self.awaited = 0

    def close(self) -> list[Call]:
        """Return the call if all that comes after it was read."""
        if self.awaited:
            return []
        usable = tuple(len(b) if u is None else u for u, b in zip(self.usable, self.before, strict=True))
        return [
            Call(
                tuple(self.before),
                tuple(self.after),
                self.result,
                tuple(self.addresses),
                usable,
                self.blocks,
                read=tuple(map(tuple, self.read)),
                written=tuple(map(tuple, self.written)),
            )
        ]


def _events(data: bytes) -> Iterator[tuple[str, int, int, bytes]]:
    """Yield the complete events: a program that crashed leaves the last one unfinished."""
    position = _PAGE
    while position + _EVENT.size <= len(data):
        tag, size, first, second = _EVENT.unpack_from(data, position)
        position += _EVENT.size
        if not 0 < tag < 128 or size > len(data) - position:
            return
        yield chr(tag), first, second, data[position : position + size]
        position += size
