"""What the compiler made of a C function, as rows for a table: loops, and totals estimated and measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rtlagent.spec import ROUTED_TARGETS
from rtlagent.types import Diagnostic, LoopReport, Metrics, Requirements, Severity

LOOP_HEADER = ("loop", "line", "trip count", "II (target)", "depth", "latency", "limited by")
TOTAL_HEADER = ("total", "estimated", "measured", "limit")
_SHOWN_IN_TABLE = frozenset({"auto-pipeline"})
_FIGURES = (
    ("LUT", "luts", "max_luts"),
    ("FF", "ffs", "max_ffs"),
    ("BRAM", "brams", "max_brams"),
    ("DSP", "dsps", "max_dsps"),
)


class CompilerReport(Protocol):
    """What a table needs of a compilation."""

    @property
    def target(self) -> str:
        """Whose primitives it was compiled for."""
        ...

    @property
    def loops(self) -> tuple[LoopReport, ...]:
        """In source order."""
        ...

    @property
    def latency_min_cycles(self) -> int | None:
        """None: not bounded."""
        ...

    @property
    def latency_max_cycles(self) -> int | None:
        """None: not bounded."""
        ...

    @property
    def estimate(self) -> Metrics:
        """Before synthesis."""
        ...


def loop_rows(loops: Iterable[LoopReport]) -> list[tuple[str, ...]]:
    """Return a row a loop, in source order; `-` is what is not known or does not apply."""
    return [
        (
            loop.label,
            _number(loop.line or None),
            _number(loop.trip_count),
            _ii(loop),
            str(loop.depth),
            _number(loop.latency_cycles),
            loop.limited_by or "-",
        )
        for loop in loops
    ]


def total_rows(report: CompilerReport, measured: Metrics | None, needs: Requirements) -> list[tuple[str, ...]]:
    """Return the latency, the area and the clock: estimated, measured (None: nothing was), and the limit."""
    found = measured or Metrics()
    rows: list[tuple[str, ...]] = [
        (
            "latency (cycles)",
            latency_text(report.latency_min_cycles, report.latency_max_cycles),
            _number(found.latency_cycles),
            _limit("max", needs.max_latency_cycles),
        )
    ]
    if needs.max_ii is not None:
        slowest = max((loop.ii for loop in report.loops if loop.ii is not None), default=None)
        rows.append(("II", _number(slowest), _number(found.ii), _limit("max", needs.max_ii)))
    for title, name, limit in _FIGURES:
        values = _number(getattr(report.estimate, name)), _number(getattr(found, name))
        rows.append((title, *values, _limit("max", getattr(needs, limit))))
    fmax = "-" if found.fmax_mhz is None else f"{found.fmax_mhz:.1f}"
    if measured is not None and report.target not in ROUTED_TARGETS:
        fmax = "no place and route"
    rows.append(("clock (MHz)", "-", fmax, "-" if needs.min_fmax_mhz is None else f"min {needs.min_fmax_mhz:.1f}"))
    return rows


def latency_text(least: int | None, most: int | None) -> str:
    """Spell a latency: `40`, `12 to 40`, `12 or more`, `unknown`."""
    if most is None:
        return "unknown" if least is None else f"{least} or more"
    return str(most) if least is None or least == most else f"{least} to {most}"


def diagnostic_lines(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Return warnings and notes as `path:line:col: warning: message [code]`, each with its hint."""
    lines = []
    for entry in diagnostics:
        if entry.severity is Severity.NOTE and entry.code in _SHOWN_IN_TABLE:
            continue
        lines.append(str(entry))
        if entry.hint:
            lines.append(f"  hint: {entry.hint}")
    return lines


def _ii(loop: LoopReport) -> str:
    if loop.ii is None:
        return "-" if loop.target_ii is None else f"- ({loop.target_ii})"
    return str(loop.ii) if loop.target_ii is None else f"{loop.ii} ({loop.target_ii})"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _limit(word: str, value: float | None) -> str:
    return "-" if value is None else f"{word} {value:g}"
