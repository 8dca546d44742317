"""A trace as JSON, checked when it comes back, and what it covers.

The JSON is `types.to_json(trace)`. Text that comes from a sandbox or a cache is untrusted: every
name, shape and value is checked against the ports before it becomes a Trace.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtlagent.errors import ToolError
from rtlagent.types import CycleScenario, Port, StreamPort, StreamScenario, Trace, from_json, to_json

_NAME = re.compile(r"[\w.@+-]{1,80}")


@dataclass(frozen=True)
class OutputCoverage:
    """What a trace demands of one output."""

    port: str
    compared: int
    """Values compared over all scenarios."""
    distinct: int
    """Different values among them."""


@dataclass(frozen=True)
class InputCoverage:
    """How a trace moves one input."""

    port: str
    width: int
    bits_toggled: int
    """Bits that are driven to 0 at some time and to 1 at another."""


@dataclass(frozen=True)
class Coverage:
    """What a trace exercises and compares."""

    inputs: tuple[InputCoverage, ...]
    outputs: tuple[OutputCoverage, ...]

    @property
    def compared(self) -> int:
        """Values compared, over all outputs."""
        return sum(o.compared for o in self.outputs)


def trace_to_json(trace: Trace) -> str:
    """Return the trace as JSON text."""
    return json.dumps(to_json(trace), separators=(",", ":"))


def trace_from_json(text: str, *, ports: Sequence[Port]) -> Trace:
    """Return the trace in `text`, checked against `ports`.

    Raises:
        ToolError: the text is not a trace of a design with these ports.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError("a recorded trace is not JSON") from error
    return trace_from_data(data, ports=ports)


def trace_from_data(data: object, *, ports: Sequence[Port]) -> Trace:
    """Return the trace in parsed JSON, checked against `ports`.

    Raises:
        ToolError: the data are not a trace of a design with these ports.
    """
    try:
        trace = from_json(Trace, data)
    except (ValueError, RecursionError) as error:
        raise ToolError("a recorded trace has the wrong shape") from error
    _Checker(ports).check(trace)
    return trace


def measure_coverage(trace: Trace, *, ports: Sequence[Port]) -> Coverage:
    """Count which values the trace compares and which input bits it toggles."""
    seen: dict[str, set[int]] = {p.name: set() for p in ports if p.direction == "output"}
    compared = dict.fromkeys(seen, 0)
    ones: dict[str, int] = {p.name: 0 for p in ports if p.direction == "input"}
    zeros = dict(ones)
    widths = {p.name: p.width or 0 for p in ports}

    def drive(values: Mapping[str, int]) -> None:
        for name, value in values.items():
            ones[name] |= value
            zeros[name] |= ~value & ((1 << widths[name]) - 1)

    def expect(values: Mapping[str, int | None]) -> None:
        for name, value in values.items():
            if value is not None:
                seen[name].add(value)
                compared[name] += 1

    for scenario in trace.cycles:
        for step, wanted in zip(scenario.inputs, scenario.expected, strict=True):
            drive(step)
            expect(wanted)
    for stream in trace.streams:
        drive(stream.settings)
        for items in stream.inputs.values():
            for item in items:
                drive(item)
        for wanted_items in stream.expected.values():
            for wanted in wanted_items:
                expect(wanted)
    driven = _driven_by_bench(trace)
    return Coverage(
        tuple(
            InputCoverage(n, widths[n], (ones[n] & zeros[n]).bit_count())
            for n in ones
            if n not in driven and (ones[n] | zeros[n])
        ),
        tuple(OutputCoverage(n, compared[n], len(values)) for n, values in seen.items() if n not in driven),
    )


def _driven_by_bench(trace: Trace) -> set[str]:
    """Return the handshake, clock and reset ports that the bench itself drives or checks."""
    handshakes = {(s.valid or "").lstrip("!") for s in trace.stream_ports}
    handshakes |= {(s.ready or "").lstrip("!") for s in trace.stream_ports}
    handshakes |= {c.port for c in trace.clocks} | {r.port for r in trace.resets}
    in_cycles = {name for s in trace.cycles for step in s.expected[:1] for name in step}
    return handshakes - in_cycles


class _Checker:
    """Refuses a trace that does not fit the ports."""

    def __init__(self, ports: Iterable[Port]) -> None:
        self.widths = {d: {p.name: p.width or 0 for p in ports if p.direction == d} for d in ("input", "output")}

    def check(self, trace: Trace) -> None:
        for stream_port in trace.stream_ports:
            self.stream_port(stream_port)
        streams = {d: {s.name for s in trace.stream_ports if s.direction == d} for d in ("input", "output")}
        for scenario in trace.cycles:
            self.cycle_scenario(scenario)
        for stream in trace.streams:
            self.stream_scenario(stream, streams)
        for clock in trace.clocks:
            self.port("input", clock.port)
            _require(clock.edge in ("posedge", "negedge") and 0.01 <= clock.period_ns <= 1e6, "a wrong clock")
        for reset in trace.resets:
            self.port("input", reset.port)
            _require(reset.active in ("high", "low"), "a wrong reset")
        self.values("input", trace.idle)
        latency = trace.max_latency_cycles
        numbers = (trace.seed, trace.timeout_cycles, 1 if latency is None else latency)
        _require(all(not isinstance(n, bool) for n in numbers), "a number that is none")
        _require(1 <= trace.timeout_cycles <= 1_000_000, "a wrong timeout")

    def cycle_scenario(self, scenario: CycleScenario) -> None:
        _require(_NAME.fullmatch(scenario.name) is not None, "a scenario with a wrong name")
        _require(len(scenario.inputs) == len(scenario.expected), "not as many expectations as input cycles")
        for step in scenario.inputs:
            self.values("input", step)
        for wanted in scenario.expected:
            self.values("output", wanted)

    def stream_scenario(self, scenario: StreamScenario, streams: Mapping[str, set[str]]) -> None:
        _require(_NAME.fullmatch(scenario.name) is not None, "a scenario with a wrong name")
        _require(scenario.inputs.keys() <= streams["input"], "items for an unknown input stream")
        _require(scenario.expected.keys() <= streams["output"], "items for an unknown output stream")
        _require(0 <= scenario.gap_percent <= 95, "a gap outside 0 to 95 percent")
        self.values("input", scenario.settings)
        for direction, sides in (("input", scenario.inputs), ("output", scenario.expected)):
            for items in sides.values():
                for item in items:
                    self.values(direction, item)

    def stream_port(self, port: StreamPort) -> None:
        _require(_NAME.fullmatch(port.name) is not None, "a stream with a wrong name")
        _require(port.direction in ("input", "output"), "a stream without direction")
        for name in (*port.data, port.valid.removeprefix("!")):
            self.port(port.direction, name)
        if port.ready is not None:
            self.port("output" if port.direction == "input" else "input", port.ready.removeprefix("!"))
        if port.clock is not None:
            self.port("input", port.clock)
        _require(0 <= port.data_delay <= 64, "a wrong data delay")

    def values(self, direction: str, values: Mapping[str, int | None]) -> None:
        widths = self.widths[direction]
        for name, value in values.items():
            if name not in widths:
                self.port(direction, name)
            if value is None and direction == "output":
                continue
            fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0 and not value >> widths[name]
            _require(fits, f"a value that does not fit port {name}")

    def port(self, direction: str, name: str) -> None:
        _require(name in self.widths[direction], f"an unknown {direction} port")


def _require(fits: bool, what: str) -> None:
    if not fits:
        raise ToolError(f"a recorded trace has {what}")
