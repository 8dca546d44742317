"""What the bench found, as the JSON that tools/scoreboard.py reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rtlagent_bench_pins import Pins

MAX_MISMATCHES = 8
_CONTROL_WORDS = ("valid", "ready", "full", "empty", "busy", "done", "irq", "interrupt", "ack", "err", "en", "req")


class ScenarioReport:
    """The findings of one scenario."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.finished = False
        self.cycle: int | None = None
        self.checked = 0
        self.wrong_cycles = 0
        self.comparisons: dict[str, int] = {}
        self.compared_bits = 0
        self.toggled: list[str] = []
        self.mismatches: list[dict[str, Any]] = []
        self.failures: list[str] = []
        self.window: list[dict[str, Any]] = []
        self.unknown: list[str] = []
        self.latency_cycles: int | None = None

    @property
    def failed(self) -> bool:
        """Whether the design was wrong."""
        return bool(self.mismatches or self.failures)

    def add_wrong_cycle(self, cycle: int, time_ns: float, wrong: Sequence[tuple[str, str, str]]) -> None:
        """Add the (signal, expected, got) of one cycle; only the first few are kept."""
        self.wrong_cycles += 1
        for signal, expected, got in wrong:
            self.add_mismatch(cycle, time_ns, signal, (expected, got))

    def add_mismatch(
        self, cycle: int, time_ns: float, signal: str, values: tuple[str, str], **where: int | str
    ) -> None:
        """Add one mismatch; `values` are expected and got as binary text, `-` where nothing was expected."""
        # All signals of the first wrong cycle matter: they tell which one is the cause.
        if len(self.mismatches) >= MAX_MISMATCHES and cycle != self.mismatches[0]["cycle"]:
            return
        expected, got = values
        self.mismatches.append(
            {"cycle": cycle, "time_ns": time_ns, "signal": signal, "expected": expected, "got": got, "where": where}
        )

    def note_unknown(self, pins: Pins) -> None:
        """Note control-looking outputs that are X or Z just after reset, expected or not."""
        for name, pin in pins.outputs.items():
            words = name.lower().split("_")
            control = pin.width == 1 and any(w in _CONTROL_WORDS or w.rstrip("n") in _CONTROL_WORDS for w in words)
            if control and pin.read() not in ("0", "1"):
                self.unknown.append(name)

    def count_comparisons(self, expected: Iterable[Mapping[str, int | None]], widths: Mapping[str, int]) -> None:
        """Count what was compared, once the scenario is over; values that pass are the expected ones."""
        first: dict[str, int] = {}
        for wanted in expected:
            for name, value in wanted.items():
                if value is not None:
                    self.comparisons[name] = self.comparisons.get(name, 0) + 1
                    self.compared_bits += widths[name]
                    if first.setdefault(name, value) != value and name not in self.toggled:
                        self.toggled.append(name)

    def as_json(self) -> dict[str, Any]:
        """Return all fields, for json.dumps."""
        return vars(self)


class BenchReport:
    """All findings; written after every scenario, so that a simulation that dies leaves something."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished = False
        self.error: str | None = None
        self.ports: list[dict[str, str]] = []
        self.scenarios: list[ScenarioReport] = []

    def begin(self, name: str) -> ScenarioReport:
        """Start a scenario."""
        scenario = ScenarioReport(name)
        self.scenarios.append(scenario)
        self.write()
        return scenario

    def write(self) -> None:
        """Write everything found so far."""
        data = {
            "finished": self.finished,
            "error": self.error,
            "ports": self.ports,
            "scenarios": [s.as_json() for s in self.scenarios],
        }
        self.path.write_text(json.dumps(data))
