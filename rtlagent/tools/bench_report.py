"""Read the JSON that our bench leaves; it comes out of a sandbox, so every field is checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtlagent.types import Port, Trace

_VALUE = re.compile(r"[01xzXZuUwWlLhH-]{1,8192}")
_MAX_ENTRIES = 256


class UnreadableReportError(Exception):
    """The report is not what the bench writes."""


@dataclass(frozen=True)
class Finding:
    """One mismatch, with values as binary text."""

    cycle: int
    time_ns: float
    signal: str
    expected: str
    """Binary; `-` where nothing was expected."""
    got: str
    stream: str = ""
    """Empty in cycle style."""
    item: int | None = None
    why: str = ""


@dataclass(frozen=True)
class WindowRow:
    """All outputs of one cycle, in binary."""

    cycle: int
    got: Mapping[str, str]


@dataclass(frozen=True)
class ScenarioFindings:
    """What the bench found in one scenario."""

    name: str
    finished: bool
    cycle: int | None
    """The last cycle that was begun."""
    checked: int
    wrong_cycles: int
    comparisons: Mapping[str, int]
    toggled: frozenset[str]
    """Outputs of which two different values were compared."""
    compared_bits: int
    mismatches: tuple[Finding, ...]
    failures: tuple[str, ...]
    """What is wrong beside single values, such as a missing item."""
    window: tuple[WindowRow, ...]
    unknown: tuple[str, ...]
    """Control-looking outputs that were X or Z just after reset."""
    latency_cycles: int | None


@dataclass(frozen=True)
class BenchReport:
    """Everything that the bench wrote."""

    finished: bool
    error: str
    """Traceback of the bench itself; empty normally."""
    port_problems: tuple[str, ...]
    scenarios: tuple[ScenarioFindings, ...]


def read_report(text: str, trace: Trace, ports: Sequence[Port]) -> BenchReport:
    """Return the report in `text`.

    Raises:
        UnreadableReportError: it is not JSON, or names a scenario or port that does not exist.
    """
    try:
        data = json.loads(text)
        reader = _Reader(trace, ports)
        return BenchReport(
            finished=data["finished"] is True,
            error=str(data["error"] or "")[:4000],
            port_problems=tuple(str(p["problem"])[:200] for p in data["ports"]),
            scenarios=tuple(reader.scenario(s) for s in data["scenarios"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableReportError(f"{type(error).__name__}: {error}"[:200]) from error


class _Reader:
    """Reads the parts of a report; what does not fit raises ValueError, KeyError or TypeError."""

    def __init__(self, trace: Trace, ports: Sequence[Port]) -> None:
        self.names = {s.name for s in trace.cycles} | {s.name for s in trace.streams}
        self.outputs = {p.name for p in ports if p.direction == "output"}

    def scenario(self, data: Any) -> ScenarioFindings:
        if data["name"] not in self.names:
            raise ValueError("unknown scenario")
        latency, cycle = data["latency_cycles"], data["cycle"]
        return ScenarioFindings(
            name=data["name"],
            finished=data["finished"] is True,
            cycle=None if cycle is None else int(cycle),
            checked=int(data["checked"]),
            wrong_cycles=int(data["wrong_cycles"]),
            comparisons={self.output(n): int(c) for n, c in data["comparisons"].items()},
            toggled=frozenset(self.output(n) for n in data["toggled"]),
            compared_bits=int(data["compared_bits"]),
            mismatches=tuple(self.finding(m) for m in data["mismatches"][:_MAX_ENTRIES]),
            failures=tuple(str(f)[:300] for f in data["failures"][:_MAX_ENTRIES]),
            window=tuple(self.row(r) for r in data["window"][:_MAX_ENTRIES]),
            unknown=tuple(self.output(n) for n in data["unknown"]),
            latency_cycles=None if latency is None else int(latency),
        )

    def finding(self, data: Any) -> Finding:
        where = data["where"]
        item = where.get("item")
        return Finding(
            cycle=int(data["cycle"]),
            time_ns=float(data["time_ns"]),
            signal=self.output(data["signal"]),
            expected=self.value(data["expected"]),
            got=self.value(data["got"]),
            stream=str(where.get("stream", ""))[:80],
            item=None if item is None else int(item),
            why=str(where.get("why", ""))[:100],
        )

    def row(self, data: Any) -> WindowRow:
        return WindowRow(int(data["cycle"]), {self.output(n): self.value(v) for n, v in data["got"].items()})

    def output(self, name: Any) -> str:
        if name not in self.outputs:
            raise ValueError("unknown output")
        return str(name)

    @staticmethod
    def value(text: Any) -> str:
        if not isinstance(text, str) or not _VALUE.fullmatch(text):
            raise ValueError("not a value")
        return text.lower()
