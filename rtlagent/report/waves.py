"""Waveforms as pictures: from a recorded trace and the bench's report, or from a dump of a simulation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from rtlagent.errors import RtlagentError
from rtlagent.report.folder import RunFolder
from rtlagent.report.iterations import Iteration
from rtlagent.report.wave_drawing import Lane, Wave
from rtlagent.types import CycleScenario, Port, Spec, Status, TestResult, Trace
from rtlagent.waveform import Samples, Signal, format_value, list_signals, samples

_BEFORE, _AFTER = 6, 5
"""Cycles shown beside the first wrong one."""
_MOST_LANES = 40
_MOST_DUMPED = 24
_MOST_DUMP_BYTES = 256 << 20
_END_NS = 1e15
"""Later than any dump reaches."""
_MOST_SCANNED = 300
"""Cycles of a scenario among which a window is chosen."""


# -- from the recorded trace ---------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """What the oracle asked and expected, and what the bench saw."""

    trace: Trace
    spec: Spec
    seen: Mapping[str, Any] = field(default_factory=dict)
    """The bench's report of a failing design: scenario -> its entry."""

    def scenario(self, name: str) -> CycleScenario | None:
        """Return a cycle-accurate scenario."""
        return next((s for s in self.trace.cycles if s.name == name), None)

    def wave(self, name: str, cycle: int, *, passed: bool) -> Wave | None:
        """Return the window around a cycle; None: it is not a cycle-accurate scenario.

        Of a design that passed, the outputs are those that were expected: each of them was compared.
        """
        scenario = self.scenario(name)
        if scenario is None or not scenario.inputs:
            return None
        first = max(0, min(cycle - _BEFORE, len(scenario.inputs) - _BEFORE - _AFTER - 1))
        columns = range(first, min(len(scenario.inputs), first + _BEFORE + _AFTER + 1))
        got = {} if passed else self._got(name)
        lanes = self._inputs(scenario, columns)
        for port in self._outputs(scenario):
            lanes += _output_lanes(port, scenario, columns, got)
        title = f"{name}, cycles {columns[0]} to {columns[-1]}"
        said = "the recorded trace" if passed else "the recorded trace, and what the bench saw"
        mark = cycle - first if not passed and 0 <= cycle - first < len(columns) else None
        return Wave(title, said, tuple(str(c) for c in columns), tuple(lanes[:_MOST_LANES]), mark)

    def busiest(self, names: Collection[str]) -> tuple[str, int] | None:
        """Return the scenario among `names`, and the cycle in it, around which most outputs change."""
        best: tuple[int, str, int] | None = None
        for scenario in self.trace.cycles:
            if scenario.name not in names:
                continue
            rows = scenario.expected[:_MOST_SCANNED]
            moved = [sum(v is not None and v != b.get(n) for n, v in a.items()) for b, a in pairwise(rows)]
            for cycle in range(_BEFORE, max(_BEFORE + 1, len(rows) - _AFTER)):
                found = sum(moved[cycle - _BEFORE : cycle + _AFTER])
                if best is None or found > best[0]:
                    best = (found, scenario.name, cycle)
        return (best[1], best[2]) if best is not None else None

    def _got(self, name: str) -> dict[int, Mapping[str, str]]:
        found: dict[int, Mapping[str, str]] = {}
        with suppress(KeyError, TypeError, ValueError):
            for row in self.seen[name]["window"]:
                found[int(row["cycle"])] = {str(k): str(v) for k, v in row["got"].items()}
        return found

    def _width(self, name: str) -> int:
        """Return a port's width: as declared, else as the bench saw it, else as its greatest value needs."""
        port = next((p for p in self.spec.ports if p.name == name), None)
        if port is not None and port.width is not None:
            return port.width
        seen = (len(row.get(name, "")) for scenario in self.seen for row in self._got(scenario).values())
        rows = chain.from_iterable((*s.inputs, *s.expected) for s in self.trace.cycles)
        needed = ((row.get(name) or 0).bit_length() for row in rows)
        return max(1, max(seen, default=0) or max(needed, default=1))

    def _ordered(self, names: Iterable[str]) -> list[str]:
        """Put signals in the order of the ports."""
        places = {p.name: k for k, p in enumerate(self.spec.ports)}
        return sorted(names, key=lambda n: places.get(n, len(places)))

    def _inputs(self, scenario: CycleScenario, columns: range) -> list[Lane]:
        held: dict[str, int] = dict(self.trace.idle)
        rows: list[dict[str, int]] = []
        for step in scenario.inputs[: columns[-1] + 1]:
            held = {**held, **step}
            rows.append(held)
        names = dict.fromkeys(n for row in rows for n in row)
        lanes = []
        for name in self._ordered(names):
            values = [row.get(name) for row in rows]
            width = self._width(name)
            lanes.append(Lane(name, width, tuple(_value(values[c], width) for c in columns), "input"))
        return lanes

    def _outputs(self, scenario: CycleScenario) -> list[Port]:
        names = dict.fromkeys(n for row in scenario.expected for n, v in row.items() if v is not None)
        return [Port(n, "output", self._width(n)) for n in self._ordered(names)]


def _output_lanes(
    port: Port, scenario: CycleScenario, columns: range, got: Mapping[int, Mapping[str, str]]
) -> list[Lane]:
    """Return what the output was, and beside it what it should have been where that differs."""
    width = port.width or 1
    wanted = [_value(scenario.expected[c].get(port.name), width) for c in columns]
    seen = [format_value(got[c][port.name], width) if port.name in got.get(c, {}) else "" for c in columns]
    first = min(got, default=None)
    # Before the first wrong cycle every compared output was as expected.
    shown = [w if not s and (first is None or c < first) else s for w, s, c in zip(wanted, seen, columns, strict=True)]
    wrong = frozenset(k for k, (w, s) in enumerate(zip(wanted, shown, strict=True)) if w and s and w != s)
    lanes = [Lane(port.name, width, tuple(shown), "output", wrong)]
    if wrong:
        lanes.append(Lane(f"{port.name} (expected)", width, tuple(wanted), "expected"))
    return lanes


def _value(value: int | None, width: int) -> str:
    return "" if value is None or value < 0 else format_value(f"{value:b}", max(width, value.bit_length()))


def read_recorded(folder: RunFolder, oracle_sha: str, spec: Spec, iteration: Iteration | None) -> Recorded | None:
    """Return the oracle's trace, with what the bench saw of an attempt; None: there is no trace."""
    if not oracle_sha.isalnum():
        return None
    trace = folder.record(Trace, folder.json_of(f"store/{oracle_sha}.trace.json"), "the recorded trace")
    if trace is None:
        return None
    failing = iteration.failing if iteration is not None else None
    seen: dict[str, Any] = {}
    if failing is not None and failing.log_path:
        report = folder.json_of(f"{failing.log_path.rpartition('/')[0]}/scoreboard.json")
        with suppress(KeyError, TypeError):
            seen = {str(s["name"]): s for s in report["scenarios"]}
    return Recorded(trace, spec, seen)


# -- from a dump ---------------------------------------------------------------------------------


def dumped_wave(folder: RunFolder, test: TestResult, spec: Spec | None) -> Wave | None:
    """Return the window of a failing test's dump around its first fault; None: there is no dump to draw."""
    path = folder.inside(test.wave_path) if test.wave_path else None
    if path is None or not folder.holds(test.wave_path or ""):
        return None
    if path.stat().st_size > _MOST_DUMP_BYTES:
        folder.note(f"{test.wave_path} is larger than {_MOST_DUMP_BYTES >> 20} MiB and was not drawn")
        return None
    clock, edge = (spec.clock.port, spec.clock.edge) if spec is not None and spec.clock else ("ap_clk", "posedge")
    at_ns = test.mismatches[0].time_ns if test.mismatches else _END_NS
    try:
        known = list_signals(path)
        used = clock if any(_tail(s.name) == clock for s in known) else None
        names = _interesting(spec, known, [m.signal for m in test.mismatches], used)
        cut = samples(path, names, around_ns=at_ns, cycles=_BEFORE + _AFTER, clock=used, edge=edge)
    except (RtlagentError, OSError) as error:
        folder.note(f"{test.wave_path}: {error.message if isinstance(error, RtlagentError) else error}")
        return None
    outputs = {p.name for p in spec.ports if p.direction == "output"} if spec is not None else set()
    lanes = [
        Lane(
            _tail(signal.name),
            signal.width,
            tuple(format_value(row[k], signal.width) if row[k] else "" for row in cut.bits),
            "output" if _tail(signal.name) in outputs else "input",
            _wrong_columns(cut, _tail(signal.name), test),
        )
        for k, signal in enumerate(cut.signals)
    ]
    said = f"{test.wave_path}, values {'just before each edge of ' + used if used else 'after each change'}, time in ns"
    mark = cut.mark if test.mismatches else None
    title = f"{test.name}, around {cut.times_ns[cut.mark]:g} ns"
    return Wave(title, said, tuple(f"{t:g}" for t in cut.times_ns), tuple(lanes), mark)


def _tail(name: str) -> str:
    return name.rpartition(".")[2]


def _wrong_columns(cut: Samples, signal: str, test: TestResult) -> frozenset[int]:
    """Return the columns at which a signal was found wrong: those nearest to the times of its mismatches."""
    times = [m.time_ns for m in test.mismatches if m.signal == signal]
    last = max(cut.times_ns)
    return frozenset(
        min(range(len(cut.times_ns)), key=lambda k: abs(cut.times_ns[k] - t)) for t in times if t <= last + 1
    )


def _interesting(spec: Spec | None, known: Sequence[Signal], wrong: Sequence[str], clock: str | None) -> list[str]:
    """Choose what to draw: the ports, the wrong signals, and what else is highest in the hierarchy."""
    ports = [p.name for p in spec.ports] if spec is not None else []
    highest: dict[str, str] = {}
    for signal in sorted(known, key=lambda s: s.depth):
        if signal.kind not in ("parameter", "localparam", "real"):
            highest.setdefault(_tail(signal.name), signal.name)
    wanted = [n for n in dict.fromkeys([*ports, *wrong]) if n in highest and n != clock]
    others = [n for n in highest if n not in wanted and n != clock and not n.startswith("_")]
    return [highest[n] for n in [*wanted[:_MOST_LANES], *others[: max(0, _MOST_DUMPED - len(wanted))]]]


def first_failing(iteration: Iteration | None) -> TestResult | None:
    """Return the first test that an attempt did not pass."""
    if iteration is None:
        return None
    tests = [t for s in iteration.steps for t in s.tests]
    bad = (Status.FAIL, Status.TIMEOUT, Status.ERROR, Status.UNPROVEN)
    return next((t for t in tests if t.status in bad), None)
