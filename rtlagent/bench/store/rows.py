"""One result as one row, the same in every database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rtlagent.bench.result import Result
from rtlagent.types import Metrics, Status, Usage, from_json, to_json

COLUMNS: Mapping[str, str] = {
    "run_id": "TEXT NOT NULL",
    "problem": "TEXT NOT NULL",
    "sample": "INTEGER NOT NULL",
    "category": "TEXT NOT NULL",
    "status": "TEXT NOT NULL",
    "failure_class": "TEXT NOT NULL",
    "outcome": "TEXT NOT NULL",
    "own_verdict": "INTEGER",
    "grade": "TEXT NOT NULL",
    "syntax": "INTEGER",
    "simulation": "INTEGER",
    "synthesis": "INTEGER",
    "iterations": "INTEGER",
    "tokens_in": "BIGINT NOT NULL",
    "tokens_cached": "BIGINT NOT NULL",
    "tokens_out": "BIGINT NOT NULL",
    "tokens_estimated": "INTEGER NOT NULL",
    "cost_usd": "DOUBLE PRECISION",
    "metrics": "TEXT NOT NULL",
    "message": "TEXT NOT NULL",
    "answer_sha256": "TEXT NOT NULL",
    "model": "TEXT NOT NULL",
    "tool_versions": "TEXT NOT NULL",
    "generate_s": "DOUBLE PRECISION NOT NULL",
    "score_s": "DOUBLE PRECISION NOT NULL",
    "finished_at": "DOUBLE PRECISION NOT NULL",
    "host": "TEXT NOT NULL",
}
KEY = ("run_id", "problem", "sample")
_SAME = ("category", "failure_class", "outcome", "grade", "message", "answer_sha256", "model", "host")


def to_row(run_id: str, result: Result) -> dict[str, Any]:
    """Return the values by column."""
    usage = result.usage
    return {
        "run_id": run_id,
        "problem": result.problem,
        "sample": result.sample,
        "status": result.status.value,
        "own_verdict": _number(result.own_verdict),
        "syntax": _number(result.syntax),
        "simulation": _number(result.simulation),
        "synthesis": _number(result.synthesis),
        "iterations": result.iterations,
        "tokens_in": usage.tokens_in,
        "tokens_cached": usage.tokens_cached,
        "tokens_out": usage.tokens_out,
        "tokens_estimated": int(usage.estimated),
        "cost_usd": usage.cost_usd,
        "metrics": json.dumps({k: v for k, v in to_json(result.metrics).items() if v is not None}),
        "tool_versions": json.dumps(list(result.tool_versions)),
        "generate_s": result.generate_s,
        "score_s": result.score_s,
        "finished_at": result.finished_at,
        **{name: getattr(result, name) for name in _SAME},
    }


def from_row(values: Sequence[Any]) -> Result:
    """Return the result of a row whose values are in the order of COLUMNS.

    Raises:
        ValueError: the row was not written by us.
    """
    row = dict(zip(COLUMNS, values, strict=True))
    usage = Usage(
        row["tokens_in"], row["tokens_cached"], row["tokens_out"], row["cost_usd"], bool(row["tokens_estimated"])
    )
    return Result(
        problem=row["problem"],
        sample=row["sample"],
        status=Status(row["status"]),
        own_verdict=_truth(row["own_verdict"]),
        syntax=_truth(row["syntax"]),
        simulation=_truth(row["simulation"]),
        synthesis=_truth(row["synthesis"]),
        iterations=row["iterations"],
        usage=usage,
        metrics=from_json(Metrics, json.loads(row["metrics"])),
        tool_versions=tuple(json.loads(row["tool_versions"])),
        generate_s=row["generate_s"],
        score_s=row["score_s"],
        finished_at=row["finished_at"],
        **{name: row[name] for name in _SAME},
    )


def _number(truth: bool | None) -> int | None:
    return None if truth is None else int(truth)


def _truth(number: int | None) -> bool | None:
    return None if number is None else bool(number)
