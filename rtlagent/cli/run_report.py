"""Print a run's outcome: verdict, requirements, evidence, and where everything is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rtlagent.console import requirement_rows, usage_text
from rtlagent.printable import printable
from rtlagent.report import REPORT_NAME
from rtlagent.report.gates import gate_summary
from rtlagent.types import Severity, Verdict

if TYPE_CHECKING:
    from rtlagent.agent import RunReport

_ENDED = {
    "pass": "PASS",
    "fail": "FAIL",
    "limit": "STOPPED at a limit",
    "tool": "ERROR: a tool broke",
    "model": "ERROR: the model failed",
}
_MAX_DETAIL = 40
_MAX_WARNINGS = 10


def print_report(report: RunReport, folder: Path, copied: Sequence[Path], stream: TextIO) -> None:
    """Print the report as plain text, widest facts last."""
    lines = [""]
    verdict = report.verdict
    lines += _gate_lines(verdict) if verdict else ["no candidate was judged"]
    if verdict:
        rows = requirement_rows(report.requirements, verdict)
        if rows:
            lines += ["", *_table([("requirement", "limit", "measured", ""), *rows])]
    if report.rulings:
        lines += ["", "rulings:", *(f"  - {r[1]} was wrong: {r[2]}" for r in report.rulings)]
    lines += ["", f"{_ENDED[report.record.exit_reason]}: {_headline(report)}"]
    if report.reason:
        lines.append(f"reason: {report.reason}")
    if report.hls is not None and verdict:
        lines += [*_failure_lines(verdict), *_warning_lines(verdict)]
    if report.hls is None:
        lines.append(f"model: {usage_text(report.record.usage)}; iterations: {report.record.iterations}")
    elif len(report.attempts) > 1:
        lines += ["attempts:", *(f"  {a['iteration']}: {a['note']}" for a in report.attempts)]
    lines.append(f"run:   {folder}")
    if (folder / REPORT_NAME).is_file():
        lines.append(f"report: {folder / REPORT_NAME}")
    if report.files:
        what = "design" if report.passed else f"{_candidate(report).removeprefix('the ')} (it did NOT pass)"
        lines.append(f"{what}: {', '.join(str(folder / 'rtl' / f.removeprefix('rtl/')) for f in report.files)}")
    if copied:
        lines.append(f"copied to: {', '.join(str(p) for p in copied)}")
    if report.assumptions:
        lines.append(f"assumed: {len(report.assumptions)} things, listed above and in {folder / 'report.json'}")
    if report.record.exit_reason in ("limit", "tool", "model"):
        raised = " and a higher limit" if report.record.exit_reason == "limit" else ""
        lines.append(f"go on with: rtlagent resume {folder}{raised}")
    print(printable("\n".join(lines)), file=stream, flush=True)


def _headline(report: RunReport) -> str:
    name = report.top or report.name
    verdict = report.verdict
    if verdict is None:
        return name
    if report.passed:
        return f"{name}, evidence {verdict.grade} ({verdict.grade_reason})"
    failing = verdict.failing
    if failing is None:
        return f"{name}, unmet: {', '.join(u.name for u in verdict.unmet) or '-'}"
    return f"{name}, {_candidate(report)} fails at {failing.step}"


def _candidate(report: RunReport) -> str:
    return "the design" if report.hls is not None else "the best candidate"


def _failure_lines(verdict: Verdict) -> list[str]:
    """Quote what the failing gate said; no model reads it here."""
    failing = verdict.failing
    if failing is None:
        return []
    lines = failing.detail.splitlines() or [str(d) for d in failing.diagnostics if d.severity is Severity.ERROR]
    more = [f"... {len(lines) - _MAX_DETAIL} lines more in report.json"] if len(lines) > _MAX_DETAIL else []
    hints = dict.fromkeys(d.hint for d in failing.diagnostics if d.severity is Severity.ERROR and d.hint)
    return [f"  {line}".rstrip() for line in [*lines[:_MAX_DETAIL], *more]] + [f"hint: {h}" for h in hints]


def _warning_lines(verdict: Verdict) -> list[str]:
    """Quote the warnings about the C itself; those about the Verilog are the compiler's concern."""
    found = [d for s in verdict.steps if s.step in ("csim", "cosim") for d in s.diagnostics]
    warnings = [d for d in found if d.severity is Severity.WARNING]
    more = (
        [f"... {len(warnings) - _MAX_WARNINGS} warnings more in report.json"] if len(warnings) > _MAX_WARNINGS else []
    )
    places = [f"{d.path}:{d.line}" if d.line else d.path for d in warnings[:_MAX_WARNINGS]]
    return [*(f"{p}: warning: {d.message}" for p, d in zip(places, warnings, strict=False)), *more]


def _gate_lines(verdict: Verdict) -> list[str]:
    rows = [("gate", "status", "what", "tool")]
    rows += [(s.step, s.status.value, gate_summary(s), s.tool_version) for s in verdict.steps]
    return _table(rows)


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    return ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
