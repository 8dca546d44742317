"""Runs for the tests of the report: a real one with a fault and its repair, and what may become of its folder."""

from __future__ import annotations

import json
from pathlib import Path

from rtlagent.agent import Continuation, start_run
from rtlagent.config import Config, ModelConfig, ToolConfig
from rtlagent.spec import load_spec
from rtlagent.workspace import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "edge_detector"
RIGHT = "seen <= (seen & ~clear) | rise_now | fall_now;"
WRONG = "seen <= (seen | rise_now | fall_now) & ~clear;"
"""An edge is lost when it comes with a clear."""


def repaired_run(folder: Path, tools: ToolConfig, *, mutants: int = 4) -> Run:
    """Run the edge detector: the first design loses events, the second one is right."""
    records = [json.loads(line) for line in (EXAMPLE / "replies.jsonl").read_text().splitlines()]
    good = next(r for r in records if r["purpose"] == "generate")
    assert RIGHT in good["reply"]["content"]
    bad = {**good, "reply": {**good["reply"], "content": good["reply"]["content"].replace(RIGHT, WRONG)}}
    log = folder / "replies.jsonl"
    others = [r for r in records if r["purpose"] != "generate"]
    log.write_text("\n".join(json.dumps(r) for r in [*others, bad, {**good, "purpose": "repair"}]) + "\n")
    config = Config(
        tools=tools, model=ModelConfig(name=f"replay:{log}"), runs_dir=folder / "runs", mutants=mutants
    )  # fmt: skip
    run = start_run(load_spec(EXAMPLE / "spec.md"), config)
    report = Continuation(run, config).go()
    assert report.passed, report.reason
    return run
