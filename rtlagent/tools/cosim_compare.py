"""Compare what the hardware did in each call with what the C did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtlagent.tools.cosim_bench import element, element_bytes, is_usable
from rtlagent.tools.cosim_report import CallResult
from rtlagent.tools.cosim_values import decode, shown_expected, shown_got
from rtlagent.tools.csim_record import Call, CallRecord
from rtlagent.types import Mismatch

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument, ArrayPort, Interface

MAX_SHOWN = 10
_PADDING_BYTES = 7


@dataclass
class Comparison:
    """What was compared so far."""

    mismatches: list[Mismatch]
    """The first few."""
    mismatch_count: int = 0
    outputs: int = 0
    """Results, and elements of arrays that the hardware can write; of calls that are alike, those of the first."""
    repeated: int = 0
    """Outputs of calls whose inputs and outputs are those of an earlier one: compared, and no further evidence."""
    undefined: int = 0
    """Outputs that differ, but whose value C leaves undefined."""
    aliased: tuple[str, ...] = ()
    """Arguments that overlap in the first call with a mismatch."""


class Comparer:
    """Compares call by call; what depends only on the interface is prepared once."""

    def __init__(self, interface: Interface, record: CallRecord) -> None:
        self._interface, self._record = interface, record
        index = {a.name: i for i, a in enumerate(record.arguments)}
        self._argument_of = [index[p.argument] for p in interface.arrays]
        self._index = index
        self._streams = frozenset(s.argument for s in interface.streams)
        self._gaps: dict[int, tuple[range, ...]] = {}
        self._output_counts: dict[tuple[int, int], int] = {}
        self._seen: set[int] = set()
        self.found = Comparison([])

    def call(self, number: int, done: CallResult) -> None:
        """Compare one call."""
        call = self._record.calls[number]
        before, outputs = self.found.mismatch_count, self.found.outputs
        self._compare_result(number, call, done)
        self._compare_streams(number, call, done)
        written: dict[int, list[tuple[int, int]]] = {}
        for place in done.written:
            written.setdefault(self._argument_of[place[0]], []).append(place)
        for i, a in enumerate(self._record.arguments):
            if a.is_scalar or a.name in self._streams:
                continue
            self.found.outputs += self._output_count(i, call.usable[i])
            if not self._agrees(call, done, i, written.get(i, [])):
                self._compare_elements(number, call, done, i)
                self._compare_gaps(number, call, done, i)
        if self.found.mismatch_count > before and not self.found.aliased:
            self.found.aliased = _overlapping(call, self._record.arguments)
        width = self._interface.result_width
        alike = hash((call.before, call.read, call.after, call.written, call.result & ((1 << width) - 1)))
        if alike in self._seen:
            self.found.repeated += self.found.outputs - outputs
            self.found.outputs = outputs
        self._seen.add(alike)

    def _compare_result(self, number: int, call: Call, done: CallResult) -> None:
        width = self._interface.result_width
        if not width:
            return
        expected = call.result & ((1 << width) - 1)
        same = decode(done.result, width) == expected
        if not same and call.unstable_result:
            self.found.undefined += 1
            return
        self.found.outputs += 1
        if not same:
            self._add(number, done, "return value", expected, done.result, width, self._interface.result_signed)

    def _compare_streams(self, number: int, call: Call, done: CallResult) -> None:
        for n, stream in enumerate(self._interface.streams):
            argument = self._index[stream.argument]
            signed = self._record.arguments[argument].signed
            if stream.is_input:
                wanted, taken = len(call.read[argument]), done.taken.get(n, 0)
                if wanted != taken:
                    self._add(number, done, f"items read from {stream.name}", wanted, f"{taken:x}", 32, False)
                continue
            expected = [int.from_bytes(i, "little") & ((1 << stream.width) - 1) for i in call.written[argument]]
            got = done.items.get(n, [])
            self.found.outputs += len(expected)
            if len(expected) != len(got):
                self._add(number, done, f"items written to {stream.name}", len(expected), f"{len(got):x}", 32, False)
            for i, (value, text) in enumerate(zip(expected, got, strict=False)):
                if decode(text, stream.width) != value:
                    self._add(number, done, f"item {i} of {stream.name}", value, text, stream.width, signed)

    def _output_count(self, argument: int, usable: int) -> int:
        """Return how many elements of an object the hardware can write."""
        key = argument, usable
        if key not in self._output_counts:
            ports = [p for p, a in zip(self._interface.arrays, self._argument_of, strict=True) if a == argument]
            self._output_counts[key] = sum(
                sum(is_usable(p, i, usable) for i in range(p.depth)) for p in ports if p.writes
            )
        return self._output_counts[key]

    def _agrees(self, call: Call, done: CallResult, argument: int, written: list[tuple[int, int]]) -> bool:
        """Say whether the object's bytes, with what the hardware wrote, are those that the C left.

        A difference may still be none: bytes that no port reaches, or that C leaves undefined.
        """
        got = bytearray(call.before[argument])
        for place in written:
            port = self._interface.arrays[place[0]]
            value = decode(done.written[place], port.width)
            if value is None or not is_usable(port, place[1], call.usable[argument]):
                return False
            start, size = port.byte_offsets[place[1]], element_bytes(port)
            word = int.from_bytes(got[start : start + size], "little")
            mask = ((1 << port.width) - 1) << port.bit_offset
            got[start : start + size] = (word & ~mask | value << port.bit_offset).to_bytes(size, "little")
        usable = call.usable[argument]
        return got[:usable] == call.after[argument][:usable]

    def _compare_elements(self, number: int, call: Call, done: CallResult, argument: int) -> None:
        after, usable = call.after[argument], call.usable[argument]
        unstable = call.unstable[argument] if call.unstable else frozenset()
        a = self._record.arguments[argument]
        for n, port in enumerate(self._interface.arrays):
            if self._argument_of[n] != argument:
                continue
            signed = port.signed or (a.signed and port.width == 8 * a.element_bytes)
            for index in range(port.depth):
                text = done.written.get((n, index))
                if not is_usable(port, index, usable):
                    if text is not None:
                        self._add(number, done, self._name(port, index), None, text, port.width, signed)
                    continue
                start = port.byte_offsets[index]
                expected = element(port, index, after)
                value = element(port, index, call.before[argument]) if text is None else decode(text, port.width)
                if value == expected:
                    continue
                if not unstable.isdisjoint(range(start, start + element_bytes(port))):
                    self.found.undefined += 1
                    self.found.outputs -= port.writes
                    continue
                got = f"{value:x}" if text is None else text
                self._add(number, done, self._name(port, index), expected, got, port.width, signed)

    def _compare_gaps(self, number: int, call: Call, done: CallResult, argument: int) -> None:
        """Find what the C changed where no port reaches."""
        a, before, after = self._record.arguments[argument], call.before[argument], call.after[argument]
        unstable = call.unstable[argument] if call.unstable else frozenset()
        if argument not in self._gaps:
            ports = [p for p in self._interface.arrays if p.argument == a.name]
            self._gaps[argument] = _unreached(ports, a.size_bytes)
        for gap in self._gaps[argument]:
            for i in gap:
                if i >= call.usable[argument]:
                    break
                if before[i] != after[i] and i not in unstable:
                    size = max(1, a.element_bytes)
                    start = i // size * size
                    expected, got = (int.from_bytes(x[start : start + size], "little") for x in (after, before))
                    name = f"{element_name(a, start)} (the module has no port for it)"
                    self.found.outputs += 1
                    self._add(number, done, name, expected, f"{got:x}", 8 * size, a.signed)
                    break

    def _name(self, port: ArrayPort, index: int) -> str:
        argument = next(a for a in self._record.arguments if a.name == port.argument)
        return port_element_name(port, argument, index)

    def _add(
        self, number: int, done: CallResult, name: str, expected: int | None, got: str, width: int, signed: bool
    ) -> None:
        self.found.mismatch_count += 1
        if len(self.found.mismatches) >= MAX_SHOWN:
            return
        beyond = "not written: beyond the caller's object"
        wanted = beyond if expected is None else shown_expected(expected, width, signed)
        shown = shown_got(got, width, signed)
        inputs = self._inputs(self._record.calls[number])
        self.found.mismatches.append(
            Mismatch(f"call {number}", done.latency, done.time_ns, name, wanted, shown, inputs)
        )

    def _inputs(self, call: Call) -> dict[str, str]:
        return {
            a.name: str(int.from_bytes(call.before[i], "little", signed=a.signed))
            for i, a in enumerate(self._record.arguments)
            if a.is_scalar
        }


def port_element_name(port: ArrayPort, argument: Argument, index: int) -> str:
    """Return an element's name in C, such as `A[3][5]`; a field or a part of one is named by its port."""
    offset = port.byte_offsets[index]
    whole = port.bit_offset == 0 and port.width == 8 * argument.element_bytes
    if whole and offset >= 0 and offset % argument.element_bytes == 0:
        return element_name(argument, offset)
    place = f"{port.name}[{index}]" if port.depth > 1 else port.name
    return f"{place} (byte {offset} of {argument.name})" if offset >= 0 else place


def element_name(argument: Argument, offset: int) -> str:
    """Return the name of the element at a byte offset."""
    index = offset // max(1, argument.element_bytes)
    if argument.size_bytes == argument.element_bytes:
        return argument.name if argument.is_global else f"*{argument.name}"
    subscripts: list[int] = []
    for size in reversed(argument.dims[1:]):
        index, rest = divmod(index, size)
        subscripts.insert(0, rest)
    return argument.name + "".join(f"[{i}]" for i in (index, *subscripts))


def _unreached(ports: Sequence[ArrayPort], size: int) -> tuple[range, ...]:
    """Return the byte ranges of an object that no port reaches; short ones are a struct's padding."""
    if not ports:
        return (range(size),)
    reached = bytearray(size)
    for port in ports:
        width = element_bytes(port)
        for start in port.byte_offsets:
            if start >= 0:
                reached[start : start + width] = b"\1" * width
    found = [range(m.start(), m.end()) for m in re.finditer(rb"\0+", bytes(reached[:size]))]
    return tuple(gap for gap in found if len(gap) > _PADDING_BYTES)


def _overlapping(call: Call, arguments: Sequence[Argument]) -> tuple[str, ...]:
    """Return two objects of a call that share memory, of which the C changed one."""
    objects = [
        (call.addresses[i], call.addresses[i] + call.usable[i], a.name, call.before[i] != call.after[i])
        for i, a in enumerate(arguments)
        if call.addresses[i] and call.usable[i]
    ]
    for n, (start, end, name, changed) in enumerate(objects):
        for other_start, other_end, other_name, other_changed in objects[n + 1 :]:
            if start < other_end and other_start < end and (changed or other_changed):
                return name, other_name
    return ()
