"""Print what the compiler made of a C function: warnings, the loop table, estimated and measured totals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from rtlagent.printable import printable
from rtlagent.report.loops import LOOP_HEADER, TOTAL_HEADER, diagnostic_lines, loop_rows, total_rows
from rtlagent.types import Metrics, Requirements

if TYPE_CHECKING:
    from rich.console import Console

    from rtlagent.agent.report import HlsReport

_NUMBERS = frozenset({"line", "trip count", "II (target)", "depth", "latency", "estimated", "measured"})


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
