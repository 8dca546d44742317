"""Write a run out: JSON (everything), CSV (a row a task), Markdown (what people quote), HTML (for a browser).

Two runs of one recording give the same bytes but for their times; `times=False` leaves those out. What differs
between machines and says nothing about the result, ids, places and host names, is never in it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtlagent.bench.metrics import Figures, figures
from rtlagent.bench.record import Record
from rtlagent.bench.report_text import figure_rows, percent, record_lines, spending_rows
from rtlagent.bench.result import Result
from rtlagent.bench.tasks import Plan
from rtlagent.types import to_json

FORMAT = 1
_RESULT_TIMES = ("generate_s", "score_s", "finished_at")
_SPENDING_TIMES = ("answering_s", "scoring_s", "wall_per_problem_s", "wall_per_solved_s")


@dataclass(frozen=True)
class Finished:
    """A run as far as it is finished."""

    plan: Plan
    record: Record
    results: tuple[Result, ...]
    """By sample and problem."""

    @property
    def figures(self) -> Figures:
        """Their sums."""
        return figures(self.results, tasks=self.plan.samples * len(self.plan.problems))


def as_json(run: Finished, *, times: bool = True) -> str:
    """Return everything as one JSON object."""
    summed = to_json(run.figures)
    for name in () if times else _SPENDING_TIMES:
        del summed["spending"][name]
    document = {
        "format": FORMAT,
        "plan": to_json(run.plan),
        "plan_sha256": run.plan.sha256,
        "record": to_json(run.record),
        "figures": summed,
        "results": [_fields(r, times=times) for r in run.results],
    }
    return json.dumps(document, indent=1) + "\n"


def as_csv(run: Finished, *, times: bool = True) -> str:
    """Return a row a task; an empty cell is something that was not measured."""
    rows = [_flat(_fields(r, times=times)) for r in run.results]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["problem", "sample"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: _cell(v) for k, v in row.items()} for row in rows)
    return out.getvalue()


def as_markdown(run: Finished, *, times: bool = True) -> str:
    """Return the figures as tables, and every problem with its outcome."""
    summed, plan = run.figures, run.plan
    spending = [row for row in spending_rows(summed) if times or row[0] != "time"]
    parts = [
        f"# {plan.suite}: {plan.model or 'no model'}, mode {plan.mode}",
        f"{summed.finished} of {summed.tasks} tasks finished; {plan.samples} a problem.",
        _table(("figure", "value", "meaning"), figure_rows(summed)),
        _table(("spent", "in all", "a problem", "a solved problem"), spending),
    ]
    if summed.failures:
        parts.append(_table(("failure", "tasks"), [(name, str(count)) for name, count in summed.failures]))
    if len(summed.categories) > 1:
        rows = [(c.name or "-", f"{c.solved} of {c.problems}", percent(c.pass_at_1)) for c in summed.categories]
        parts.append(_table(("category", "solved", "pass@1"), rows))
    parts.append(_table(("problem", "passed", "failures"), _problem_rows(run.results)))
    parts.append("\n".join(f"- {line}" for line in record_lines(plan, run.record, summed)))
    return "\n\n".join(parts) + "\n"


def as_html(run: Finished, *, times: bool = True) -> str:
    """Return the report as one HTML file."""
    from rtlagent.bench.html import html_text

    return html_text(run, times=times)


FORMATS: Mapping[str, Callable[..., str]] = {"json": as_json, "csv": as_csv, "markdown": as_markdown, "html": as_html}


def _fields(result: Result, *, times: bool) -> dict[str, Any]:
    fields: dict[str, Any] = to_json(result)
    for name in ("host", *(() if times else _RESULT_TIMES)):
        del fields[name]
    return fields


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Put the inner fields of usage and metrics beside the others."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            flat |= {f"usage_{k}" if k == "estimated" else k: v for k, v in value.items()}
        else:
            flat[name] = "; ".join(value) if isinstance(value, list) else value
    return flat


def _cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: answers of a model end up in them."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value


def _problem_rows(results: Sequence[Result]) -> list[tuple[str, str, str]]:
    by_problem: dict[str, list[Result]] = {}
    for result in results:
        by_problem.setdefault(result.problem, []).append(result)
    rows = []
    for name, found in sorted(by_problem.items()):
        classes = sorted({r.failure_class for r in found if r.failure_class})
        rows.append((name, f"{sum(r.passed for r in found)} of {len(found)}", ", ".join(classes)))
    return rows


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_plain(cell) for cell in line)} |" for line in lines)


def _plain(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
