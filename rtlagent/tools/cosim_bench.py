"""The files of a co-simulation: a Verilog testbench for an interface, and the recorded inputs as memory images.

Only what goes into the hardware is written, never what should come out: a design that reads the files of
its simulation learns nothing that helps it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jinja2

from rtlagent.config import resource_dir
from rtlagent.errors import UsageError
from rtlagent.tools.csim_record import Call, CallRecord
from rtlagent.types import SourceFile

if TYPE_CHECKING:
    from rtlagent.hls.interface import ArrayPort, Interface, ScalarPort, StreamPort

REPORT = "rtlagent_report.txt"
_ANY_BITS = 512
"""Widest input that the template can fill with anything."""


@dataclass(frozen=True)
class Bench:
    """What is laid beside the design."""

    module: str
    testbench: SourceFile
    data: tuple[SourceFile, ...]
    nonce: str


@dataclass(frozen=True)
class _Scalar:
    name: str
    width: int
    low: int
    number: int
    on_bus: bool


@dataclass(frozen=True)
class _BusScalar:
    number: int
    """Of the scalar."""
    width: int
    words: int
    offset: int


@dataclass(frozen=True)
class _Bus:
    """The AXI4-Lite slave of the design."""

    control: bool
    address_width: int
    scalars: tuple[_BusScalar, ...]


@dataclass(frozen=True)
class _Pointer:
    id: str
    number: int
    name: str
    width: int
    low: int
    reads: bool
    writes: bool


@dataclass(frozen=True)
class _Memory:
    id: str
    number: int
    name: str
    width: int
    depth: int
    address_width: int
    reads: bool
    writes: bool
    ports: tuple[int, ...]


@dataclass(frozen=True)
class _Stream:
    id: str
    number: int
    name: str
    width: int
    is_input: bool
    capacity: int
    """Items that one call can take or give."""


def element_bytes(port: ArrayPort) -> int:
    """Return how many bytes of the object one element of a port reaches into."""
    return -(-(port.bit_offset + port.width) // 8)


def element(port: ArrayPort, index: int, data: bytes) -> int:
    """Return an element's value in an object's bytes, unsigned."""
    start = port.byte_offsets[index]
    word = int.from_bytes(data[start : start + element_bytes(port)], "little")
    return word >> port.bit_offset & ((1 << port.width) - 1)


def is_usable(port: ArrayPort, index: int, usable: int) -> bool:
    """Say whether an element lies in the part of the object that the caller has."""
    start = port.byte_offsets[index]
    return start >= 0 and start + element_bytes(port) <= usable


def make_bench(
    interface: Interface, record: CallRecord, *, nonce: str, timeout_cycles: int, clock_ns: float, seed: int
) -> Bench:
    """Generate the testbench and its data.

    Raises:
        UsageError: the interface has what the testbench cannot drive, or does not fit the record.
    """
    _check(interface, record)
    scalars, pointers, memories, bits = _plan(interface)
    streams = _streams(interface, record)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource_dir("sim") / "cosim"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    module = f"rtlagent_bench_{nonce}"
    text = environment.get_template("testbench.v.j2").render(
        bench=module,
        nonce=nonce,
        report=REPORT,
        module=interface.module,
        calls=len(record.calls),
        timeout_cycles=timeout_cycles,
        half_ns=f"{clock_ns / 2:.3f}",
        seed=seed,
        result_width=interface.result_width,
        value_bits=bits,
        scalars=scalars,
        pointers=pointers,
        memories=memories,
        streams=streams,
        bus=_bus(interface),
    )
    data: list[SourceFile] = []
    if bits:
        data.append(SourceFile("values.bin", _values(interface, record, bits)))
    for memory in memories:
        data += _images(memory.id, interface.arrays[memory.number], record)
    for stream in streams:
        data += _items(stream, record, interface.streams[stream.number].argument)
    return Bench(module, SourceFile(f"rtlagent_{nonce}.v", text), tuple(data), nonce)


def _check(interface: Interface, record: CallRecord) -> None:
    # A bus without a register map is one that nobody knows how to use.
    on_bus = interface.control == "s_axilite" and interface.registers
    if interface.control != "ap_ctrl_hs" and not on_bus:
        raise UsageError(f"co-simulation cannot drive {interface.control} control", hint="use ap_ctrl_hs")
    known = {a.name for a in record.arguments}
    ports: list[ScalarPort | ArrayPort | StreamPort] = [*interface.scalars, *interface.arrays, *interface.streams]
    for port in ports:
        if port.argument not in known:
            raise UsageError(f"port {port.name} belongs to {port.argument}, which was not recorded")
        if port.width > _ANY_BITS:
            raise UsageError(f"port {port.name} is {port.width} bits wide, more than co-simulation can drive")


def _plan(
    interface: Interface,
) -> tuple[tuple[_Scalar, ...], tuple[_Pointer, ...], tuple[_Memory, ...], int]:
    """Give the ports their numbers and the single values their place in one word."""
    low = 0
    scalars: list[_Scalar] = []
    for number, s in enumerate(interface.scalars):
        scalars.append(_Scalar(s.name, s.width, low, number, s.protocol == "s_axilite"))
        low += s.width
    pointers: list[_Pointer] = []
    memories: list[_Memory] = []
    for number, a in enumerate(interface.arrays):
        if a.protocol == "ap_vld":
            pointers.append(_Pointer(f"p{number}", number, a.name, a.width, low, a.reads, a.writes))
            low += a.width
        elif a.protocol == "ap_memory":
            ports = tuple(range(a.ports))
            memories.append(
                _Memory(f"m{number}", number, a.name, a.width, a.depth, a.address_width, a.reads, a.writes, ports)
            )
        else:
            raise UsageError(f"co-simulation cannot drive port {a.name} of protocol {a.protocol}")
    return tuple(scalars), tuple(pointers), tuple(memories), low


def _bus(interface: Interface) -> _Bus | None:
    """Return what has to go over the bus; None if there is none."""
    if not interface.registers:
        return None
    offsets = {r.name: r.offset for r in interface.registers if r.argument}
    scalars = tuple(
        _BusScalar(number, s.width, -(-s.width // 32), offsets[s.name])
        for number, s in enumerate(interface.scalars)
        if s.protocol == "s_axilite"
    )
    return _Bus(interface.control == "s_axilite", interface.bus_address_width, scalars)


def _streams(interface: Interface, record: CallRecord) -> tuple[_Stream, ...]:
    index = {a.name: i for i, a in enumerate(record.arguments)}
    found: list[_Stream] = []
    for number, s in enumerate(interface.streams):
        items = [(c.read if s.is_input else c.written)[index[s.argument]] for c in record.calls]
        # A design that writes too many items is to be seen, and more than one of them.
        capacity = 2 * max(map(len, items), default=0) + 8
        found.append(_Stream(f"f{number}", number, s.name, s.width, s.is_input, capacity))
    return tuple(found)


def _items(stream: _Stream, record: CallRecord, argument: str) -> list[SourceFile]:
    """Return what each call can take from an input stream, and how much that is."""
    index = next(i for i, a in enumerate(record.arguments) if a.name == argument)
    calls = [c.read[index] if stream.is_input else () for c in record.calls]
    mask = (1 << stream.width) - 1
    files = [
        SourceFile(
            f"{stream.id}_{n}.hex",
            _lines(f"{int.from_bytes(item, 'little') & mask:0{-(-stream.width // 4)}x}" for item in items),
        )
        for n, items in enumerate(calls)
        if items
    ]
    return [*files, SourceFile(f"{stream.id}_lengths.hex", _lines(f"{len(items):x}" for items in calls))]


def _values(interface: Interface, record: CallRecord, bits: int) -> str:
    """Return one line a call: the scalars and the pointers' values, the first one lowest."""
    index = {a.name: i for i, a in enumerate(record.arguments)}
    pointers = [a for a in interface.arrays if a.protocol == "ap_vld"]
    lines: list[str] = []
    for call in record.calls:
        fields = [_scalar_bits(s, call.before[index[s.argument]]) for s in interface.scalars]
        for p in pointers:
            i = index[p.argument]
            known = is_usable(p, 0, call.usable[i])
            fields.append(f"{element(p, 0, call.before[i]):0{p.width}b}" if known else "x" * p.width)
        line = "".join(reversed(fields))
        assert len(line) == bits
        lines.append(line)
    return "\n".join(lines) + "\n"


def _scalar_bits(port: ScalarPort, data: bytes) -> str:
    value = int.from_bytes(data, "little", signed=port.signed)
    return f"{value & ((1 << port.width) - 1):0{port.width}b}"


def _images(name: str, port: ArrayPort, record: CallRecord) -> list[SourceFile]:
    """Return a memory's images, each content once, and the list of which call has which."""
    argument = next(i for i, a in enumerate(record.arguments) if a.name == port.argument)
    numbers: dict[str, int] = {}
    chosen: list[int] = []
    of_bytes: dict[tuple[bytes, int], int] = {}
    for call in record.calls:
        key = call.before[argument], call.usable[argument]
        if key not in of_bytes:
            of_bytes[key] = numbers.setdefault(_image(port, call, argument), len(numbers))
        chosen.append(of_bytes[key])
    files = [SourceFile(f"{name}_{n}.hex", text) for text, n in numbers.items()]
    return [*files, SourceFile(f"{name}_files.hex", _lines(f"{n:x}" for n in chosen))]


def _image(port: ArrayPort, call: Call, argument: int) -> str:
    data, usable = call.before[argument], call.usable[argument]
    digits = -(-port.width // 4)
    plain = _plain_words(port, data, usable)
    if plain is not None:
        return plain
    unknown = "x" * digits
    return _lines(
        f"{element(port, i, data):0{digits}x}" if is_usable(port, i, usable) else unknown for i in range(port.depth)
    )


def _plain_words(port: ArrayPort, data: bytes, usable: int) -> str | None:
    """Return the image of an array of whole bytes without gaps, which needs no look at each element."""
    size = port.width // 8
    offsets = port.byte_offsets
    if port.bit_offset or port.width % 8 or not offsets or port.depth != len(offsets):
        return None
    first, end = offsets[0], offsets[-1] + size
    dense = first >= 0 and end - first == size * port.depth and offsets == tuple(range(first, end, size))
    if not dense or end > usable:
        return None
    # The bytes backwards are the elements backwards, each with its most significant byte first.
    text = data[first:end][::-1].hex()
    step = 2 * size
    return _lines(text[i : i + step] for i in range(len(text) - step, -1, -step))


def _lines(words: Iterable[str]) -> str:
    return "\n".join(words) + "\n"
