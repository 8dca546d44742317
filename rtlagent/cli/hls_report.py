"""Print what the compiler made of a C function: warnings, the loop table, estimated and measured totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from rtlagent.printable import printable
from rtlagent.spec import ROUTED_TARGETS
from rtlagent.types import Diagnostic, LoopReport, Metrics, Requirements, Severity

if TYPE_CHECKING:
    from rich.console import Console

    from rtlagent.agent.report import HlsReport

LOOP_HEADER = ("loop", "line", "trip count", "II (target)", "depth", "latency", "limited by")
TOTAL_HEADER = ("total", "estimated", "measured", "limit")
_NUMBERS = frozenset({"line", "trip count", "II (target)", "depth", "latency", "estimated", "measured"})
_SHOWN_IN_TABLE = frozenset({"auto-pipeline"})
_FIGURES = (
    ("LUT", "luts", "max_luts"),
    ("FF", "ffs", "max_ffs"),
    ("BRAM", "brams", "max_brams"),
    ("DSP", "dsps", "max_dsps"),
)


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


def total_rows(report: HlsReport, measured: Metrics | None, needs: Requirements) -> list[tuple[str, ...]]:
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


def print_hls(
    report: HlsReport, measured: Metrics | None, needs: Requirements, stream: TextIO, *, plain: bool = False
) -> None:
    """Print warnings, loops and totals: as tables in a terminal, as aligned text elsewhere."""
    lines = diagnostic_lines(report.diagnostics)
    loops, totals = loop_rows(report.loops), total_rows(report, measured, needs)
    head = f"{report.function}: {report.source} for {report.target}, clock {report.clock_ns:g} ns"
    if plain or not stream.isatty():
        lines += ["", head]
        lines += _aligned(LOOP_HEADER, loops) if loops else ["no loop is left"]
        lines += ["", *_aligned(TOTAL_HEADER, totals)]
        print(printable("\n".join(lines).lstrip("\n")), file=stream, flush=True)
        return
    from rich.console import Console

    console = Console(file=stream, highlight=False)
    for line in lines:
        console.print(printable(line), markup=False, style="yellow")
    console.print(printable(head), markup=False, style="bold")
    if loops:
        _print_table(console, LOOP_HEADER, loops)
    else:
        console.print("no loop is left", markup=False)
    _print_table(console, TOTAL_HEADER, totals)


def _print_table(console: Console, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold", pad_edge=False)
    for name in header:
        table.add_column(name, justify="right" if name in _NUMBERS else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(table)


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    everything = [header, *rows]
    widths = [max(len(r[k]) for r in everything) for k in range(len(header))]
    return [
        "  ".join(
            cell.rjust(w) if name in _NUMBERS else cell.ljust(w)
            for cell, w, name in zip(row, widths, header, strict=True)
        ).rstrip()
        for row in everything
    ]


def _ii(loop: LoopReport) -> str:
    if loop.ii is None:
        return "-" if loop.target_ii is None else f"- ({loop.target_ii})"
    return str(loop.ii) if loop.target_ii is None else f"{loop.ii} ({loop.target_ii})"


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _limit(word: str, value: float | None) -> str:
    return "-" if value is None else f"{word} {value:g}"
