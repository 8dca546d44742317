"""Print what a tool said: for people, or as one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rtlagent.errors import EXIT_FAIL, EXIT_LIMIT, EXIT_PASS, EXIT_TOOL
from rtlagent.printable import printable
from rtlagent.tools.diagnostics import count, excerpt, ordered
from rtlagent.types import Metrics, Requirements, Severity, SourceFile, Status, StepResult, TestResult, to_json

EXIT_CODES = {
    Status.PASS: EXIT_PASS,
    Status.FAIL: EXIT_FAIL,
    Status.UNPROVEN: EXIT_FAIL,
    Status.TIMEOUT: EXIT_LIMIT,
    Status.ERROR: EXIT_TOOL,
    Status.SKIPPED: EXIT_TOOL,
}
_STYLES: Mapping[Severity | Status, str] = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "yellow",
    Severity.NOTE: "cyan",
    Status.PASS: "bold green",
    Status.FAIL: "bold red",
    Status.ERROR: "bold red",
    Status.TIMEOUT: "bold red",
    Status.UNPROVEN: "yellow",
    Status.SKIPPED: "dim",
}
_FIGURES = (
    *(("luts", "LUTs", ""), ("ffs", "flip-flops", ""), ("brams", "block RAMs", ""), ("dsps", "DSPs", "")),
    *(("latches", "latches", ""), ("fmax_mhz", "fmax", " MHz"), ("wns_ns", "worst slack", " ns")),
    ("latency_cycles", "latency", " cycles"),
)
_LIMITS = {"luts": "max_luts", "ffs": "max_ffs", "brams": "max_brams", "dsps": "max_dsps", "fmax_mhz": "min_fmax_mhz"}
_CELL_CHARS = 70
_BELOW = "see below"

Line = tuple[str, str]
"""A text, and the style it has in a terminal."""


def show(
    result: StepResult,
    files: Sequence[SourceFile] = (),
    *,
    as_json: bool,
    keep_dir: Path | None = None,
    needs: Requirements | None = None,
) -> int:
    """Print a result on standard output and return the exit code that it means.

    Args:
        result: What the tool said.
        files: The sources, for quoting the lines that diagnostics are about.
        as_json: One JSON object and nothing else.
        keep_dir: Where logs and waveforms were put.
        needs: Limits to show beside the figures.
    """
    if as_json:
        print(json.dumps(to_json(result), indent=2))
    else:
        print_lines(_lines(result, files, keep_dir, needs or Requirements()))
    return EXIT_CODES[result.status]


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines, in colour when standard output is a terminal."""
    if not sys.stdout.isatty():
        for text, _ in lines:
            print(printable(text))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    for text, style in lines:
        console.print(Text(printable(text), style))


def _lines(
    result: StepResult, files: Sequence[SourceFile], keep_dir: Path | None, needs: Requirements
) -> Iterator[Line]:
    for diagnostic in ordered(result.diagnostics):
        yield str(diagnostic), _STYLES[diagnostic.severity]
        quote = excerpt(diagnostic, files)
        if quote:
            yield quote, ""
        if diagnostic.hint:
            yield f"    hint: {diagnostic.hint}", ""
    rows = metric_rows(result.metrics, needs)
    limited = any(bound for *_, bound in rows)
    if result.tests and result.step != "equiv":
        yield from _test_lines(result, keep_dir)
    elif result.detail and result.step != "lint":  # lint's detail repeats the diagnostics
        yield _without_figures(result.detail) if limited and result.step == "synthesize" else result.detail, ""
    # The detail of synthesis and routing has all figures; the limits are not in it.
    if rows and (not result.detail or limited):
        yield "", ""
        yield from ((row, "") for row in table(rows))
    if result.log_path and keep_dir is not None:
        yield f"log: {keep_dir / result.log_path}", ""
    yield _summary(result), _STYLES[result.status]


def _without_figures(detail: str) -> str:
    """Keep the target and the cells of what synthesis tells: its figures come with their limits."""
    head, gap, cells = detail.partition("\n\n")
    return head.splitlines()[0] + gap + cells


def _summary(result: StepResult) -> str:
    found = f" ({count(result.diagnostics)})" if result.diagnostics else ""
    passed = sum(t.status is Status.PASS for t in result.tests)
    tests = f", {passed} of {len(result.tests)} tests passed" if result.tests else ""
    version = f" [{result.tool_version}]" if result.tool_version else ""
    return f"{result.step}: {result.status}{tests}{found} in {result.wall_s:.2f} s{version}"


def _test_lines(result: StepResult, keep_dir: Path | None) -> Iterator[Line]:
    """Put each test in a row, and below the table what does not fit there; nothing is said twice."""
    tests = result.tests
    header = ("test", "result", "seed", "checked", "fails at", "message")
    said = {str(d) for d in result.diagnostics}
    cells = ["as above" if t.message.strip() in said else _cell(t.message) for t in tests]
    rows = [header, *((*_test_row(t), cell) for t, cell in zip(tests, cells, strict=True))]
    for text, test in zip(table(rows), (None, *tests), strict=True):
        yield text, _STYLES[test.status] if test else "bold"
    for test, cell in zip(tests, cells, strict=True):
        if cell == _BELOW:
            yield f"\n{test.name}:\n{test.message.rstrip()}", ""
        if test.wave_path and keep_dir is not None and test.status is not Status.PASS:
            yield f"{test.name}: waveform in {keep_dir / test.wave_path}", ""


def _test_row(test: TestResult) -> tuple[str, ...]:
    numbers = (test.seed, test.checked_cycles, test.cycle)
    return (test.name, str(test.status), *("-" if n is None else str(n) for n in numbers))


def _cell(text: str) -> str:
    """Return a text that fits a cell, or where it is told instead."""
    text = text.strip()
    return text if len(text) <= _CELL_CHARS and "\n" not in text else _BELOW


def metric_rows(metrics: Metrics, needs: Requirements) -> list[tuple[str, str, str]]:
    """Return a row a figure that was measured or is limited: name, figure, limit."""
    rows = []
    for name, title, unit in _FIGURES:
        value = getattr(metrics, name)
        limit = getattr(needs, _LIMITS[name]) if name in _LIMITS else None
        if value is None and limit is None:
            continue
        measured = "not measured" if value is None else f"{round(value, 2):.10g}{unit}"
        bound = "" if limit is None else f"({_LIMITS[name][:3]}. {limit:g}{unit})"
        rows.append((title, measured, bound))
    return rows


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the columns of `rows`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
