"""`rtlagent compare`: two runs side by side."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rtlagent.cli.completion import run_names

if TYPE_CHECKING:
    from rtlagent.agent.report import HlsReport
    from rtlagent.types import RunRecord, Verdict
    from rtlagent.workspace import Run

_NONE = "-"
_MOST_DIFF_LINES = 200
_MOST_TEXT_BYTES = 4 << 20


@dataclass(frozen=True)
class _Report:
    """What is compared of a report.json."""

    record: RunRecord
    reason: str
    verdict: Verdict | None
    hls: HlsReport | None
    assumptions: int


@dataclass(frozen=True)
class _Side:
    """One run, as far as it is finished."""

    run: Run
    report: _Report | None
    """None: it has not ended."""
    events: list[dict[str, Any]]
    settings: Mapping[str, Any]


RunName = Annotated[
    str,
    typer.Argument(
        help="The run's folder, or a part of its name that only it has.", show_default=False, autocompletion=run_names
    ),
]


def compare(
    a: RunName,
    b: RunName,
    diff: Annotated[bool, typer.Option("--diff", help="Show how the designs differ, too.")] = False,
    runs_dir: Annotated[
        Path | None, typer.Option("--runs-dir", help="Where run folders are (default: runs).", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Compare two runs: verdict, evidence, resources, clock, latency, cost, settings and designs.

    A run that has not ended is compared as far as it has come. `*` marks what differs.

    Exit codes: 0 compared, 2 there is no such run, or it is damaged.

    Such as:

      rtlagent compare 20260101-120000-fifo 20260102-090000-fifo --diff
    """
    from rtlagent.config import load_config
    from rtlagent.printable import printable

    folder = load_config(flags={"runs_dir": runs_dir}).runs_dir
    sides = (_read(folder, a), _read(folder, b))
    rows = _rows(*sides)
    changes = _changes(*sides)
    if as_json:
        print(
            json.dumps(
                {
                    "a": sides[0].run.id,
                    "b": sides[1].run.id,
                    "rows": [{"name": n, "a": x, "b": y, "same": x == y} for n, x, y in rows],
                    "designs": {"same": not changes, "diff": "\n".join(changes)},
                }
            )
        )
        return
    shown = [("", "A", "B"), *((n, _text(x), _text(y)) for n, x, y in rows)]
    widths = [max(len(row[k]) for row in shown) for k in range(3)]
    print(printable(f"A: {sides[0].run.folder}\nB: {sides[1].run.folder}\n"))
    for row in shown:
        mark = "*" if row[1] != row[2] and row[0] else " "
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(printable(f"{mark} {cells}".rstrip()))
    print(f"\nthe designs are {'the same' if not changes else 'different'}", end="")
    print("" if diff or not changes else "; --diff shows how")
    if diff and changes:
        print(printable("\n".join(changes[:_MOST_DIFF_LINES])))
        if len(changes) > _MOST_DIFF_LINES:
            print(f"... and {len(changes) - _MOST_DIFF_LINES} lines more")


def _read(runs_dir: Path, name: str) -> _Side:
    """Open a run.

    Raises:
        RunError: there is none, or it is damaged.
    """
    from rtlagent.workspace import Run

    run = Run.find(runs_dir, name)
    report = _report(run) if run.has("report.json") else None
    settings = run.read_json("settings.json") if run.has("settings.json") else {}
    return _Side(run, report, run.events(), settings if isinstance(settings, dict) else {})


def _report(run: Run) -> _Report:
    from rtlagent.agent.report import HlsReport
    from rtlagent.errors import RunError
    from rtlagent.types import RunRecord, Verdict, from_json

    data = run.read_json("report.json")
    try:
        return _Report(
            from_json(RunRecord, data["record"]),
            str(data["reason"]),
            from_json(Verdict, data["verdict"]) if data["verdict"] is not None else None,
            from_json(HlsReport, data["hls"]) if data.get("hls") is not None else None,
            len(data["assumptions"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        hint = "`rtlagent resume` writes it again"
        raise RunError(f"the report is damaged: {error}", where=f"{run.folder}/report.json", hint=hint) from error


def _rows(a: _Side, b: _Side) -> list[tuple[str, Any, Any]]:
    """Return (what, of a, of b); what neither has is left out."""
    questions: list[tuple[str, Callable[[_Side], Any]]] = [
        ("outcome", lambda s: s.report.record.exit_reason if s.report else "not ended"),
        ("reason", lambda s: s.report.reason if s.report else None),
        ("spec", lambda s: s.report.record.spec_sha[:12] if s.report else None),
        ("model", lambda s: next((e.get("model") for e in s.events if e["event"] == "started"), None)),
        ("grade", lambda s: s.report.verdict.grade.value if s.report and s.report.verdict else None),
        ("grade rests on", lambda s: s.report.verdict.grade_reason if s.report and s.report.verdict else None),
    ]
    rows = [(name, ask(a), ask(b)) for name, ask in questions]
    gates = [_gates(s) for s in (a, b)]
    rows += [(f"gate {n}", gates[0].get(n), gates[1].get(n)) for n in {**gates[0], **gates[1]}]
    metrics = [_metrics(s) for s in (a, b)]
    rows += [(n, metrics[0].get(n), metrics[1].get(n)) for n in {**metrics[0], **metrics[1]}]
    loops = [_loops(s) for s in (a, b)]
    rows += [(f"loop {n}", loops[0].get(n), loops[1].get(n)) for n in {**loops[0], **loops[1]}]
    spent: list[tuple[str, Callable[[_Report], Any]]] = [
        ("attempts", lambda r: r.record.iterations),
        ("tokens in", lambda r: r.record.usage.tokens_in),
        ("tokens out", lambda r: r.record.usage.tokens_out),
        ("cost, US dollars", lambda r: r.record.usage.cost_usd),
        ("seed", lambda r: r.record.seed),
        ("assumptions", lambda r: r.assumptions),
    ]
    rows += [(n, ask(a.report) if a.report else None, ask(b.report) if b.report else None) for n, ask in spent]
    rows.append(("seconds", _seconds(a), _seconds(b)))
    settings = [_flat(s.settings) for s in (a, b)]
    differing = [n for n in {**settings[0], **settings[1]} if settings[0].get(n) != settings[1].get(n)]
    rows += [(f"setting {n}", settings[0].get(n), settings[1].get(n)) for n in differing]
    return [(name, x, y) for name, x, y in rows if x not in (None, "") or y not in (None, "")]


def _gates(side: _Side) -> dict[str, str]:
    verdict = side.report.verdict if side.report else None
    return {s.step: s.status.value for s in verdict.steps} if verdict else {}


def _metrics(side: _Side) -> dict[str, Any]:
    verdict = side.report.verdict if side.report else None
    if verdict is None:
        return {}
    return {f.name: getattr(verdict.metrics, f.name) for f in fields(verdict.metrics)}


def _loops(side: _Side) -> dict[str, str]:
    hls = side.report.hls if side.report else None
    return {r.label: f"II {r.ii if r.ii is not None else _NONE}, depth {r.depth}" for r in hls.loops} if hls else {}


def _seconds(side: _Side) -> float | None:
    """Return how long the run worked: pauses between a stop and a resumption do not count."""
    total, before = 0.0, None
    for event in side.events:
        if event["event"] != "started" and before is not None:
            total += event["time"] - before
        before = event["time"]
    return round(total, 1) if side.events else None


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, entry in value.items():
        found |= _flat(entry, f"{prefix}{name}.") if isinstance(entry, dict) else {f"{prefix}{name}": entry}
    return found


def _changes(a: _Side, b: _Side) -> list[str]:
    """Return a unified diff of the best candidates."""
    first, second = _design(a), _design(b)
    lines: list[str] = []
    for name in sorted({*first, *second}):
        old, new = first.get(name, ""), second.get(name, "")
        lines += difflib.unified_diff(old.splitlines(), new.splitlines(), f"A/{name}", f"B/{name}", n=2, lineterm="")
    return lines


def _design(side: _Side) -> dict[str, str]:
    root = side.run.folder / "rtl"
    found = [p for p in sorted(root.rglob("*")) if p.is_file() and p.stat().st_size <= _MOST_TEXT_BYTES]
    return {p.relative_to(root).as_posix(): p.read_text(errors="replace") for p in found}


def _text(value: Any) -> str:
    if value is None or value == "":
        return _NONE
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
