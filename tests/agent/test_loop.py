"""The loop on recorded replies: every tool is real, only the model's words come from a log."""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.agent import Continuation, RunReport, export, start_run, stored_config
from rtlagent.config import BudgetConfig, Config, ModelConfig, ToolConfig
from rtlagent.errors import ModelConfigError, RunError, UsageError
from rtlagent.spec import load_spec
from rtlagent.types import Grade, Status
from rtlagent.workspace import Run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(p.parent.name for p in EXAMPLES.glob("*/replies.jsonl"))
FIXTURES = Path(__file__).parent / "recordings"


def settings(tmp_path: Path, tools: ToolConfig, log: Path, **budget: float) -> Config:
    return Config(
        tools=tools,
        model=ModelConfig(name=f"replay:{log}"),
        budget=BudgetConfig(**budget),  # type: ignore[arg-type]
        runs_dir=tmp_path / "runs",
        mutants=0,
    )


def example(tmp_path: Path, tools: ToolConfig, name: str, **budget: float) -> tuple[Run, Config]:
    config = settings(tmp_path, tools, EXAMPLES / name / "replies.jsonl", **budget)
    return start_run(load_spec(EXAMPLES / name / "spec.md"), config), config


def inexact(run: Run) -> list[str]:
    """Name the replies that were recorded for another prompt than the one asked."""
    return [e["purpose"] for e in run.events() if e["event"] == "model" and e["kind"] == "inexact"]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "edge_detector" else pytest.mark.slow) for n in NAMES]
)
def test_every_example_replays_to_a_pass(name: str, tmp_path: Path, tool_config: ToolConfig) -> None:
    log = EXAMPLES / name / "replies.jsonl"
    config = replace(settings(tmp_path, tool_config, log), mutants=8)
    run = start_run(load_spec(EXAMPLES / name / "spec.md"), config)
    report = Continuation(run, config).go()
    assert report.passed, report.reason
    assert report.exit_code == 0
    assert inexact(run) == []
    verdict = report.verdict
    assert verdict is not None
    assert all(s.status is Status.PASS for s in verdict.steps)
    assert {"lint", "elaborate", "simulate", "synthesize"} <= {s.step for s in verdict.steps}
    assert verdict.grade in (Grade.MODERATE, Grade.STRONG)
    assert "mutants killed" in verdict.grade_reason
    assert report.evidence.checked_cycles > 100
    assert all(report.evidence.tool_versions.values())
    assert (run.folder / "tb" / "golden.py").is_file()
    assert json.loads((run.folder / "report.json").read_text())["record"]["exit_reason"] == "pass"
    copied = export(run, tmp_path / "out")
    assert sorted(p.name for p in copied) == sorted(Path(f).name for f in report.files)


def repaired() -> list[str]:
    """Return the examples whose recording holds a failure and its repair."""
    return [n for n in NAMES if '"purpose": "repair"' in (EXAMPLES / n / "replies.jsonl").read_text()]


def test_recordings_hold_genuine_repairs() -> None:
    assert len(repaired()) >= 2


def test_the_iteration_limit_keeps_the_best_and_resume_goes_on(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, repaired()[0], max_iterations=1)
    report = Continuation(run, config).go()
    assert (report.exit_code, report.record.exit_reason) == (3, "limit")
    assert report.verdict is not None
    assert not report.verdict.passed
    assert any((run.folder / "rtl").rglob("*.*v"))
    asked = len((run.folder / "model.jsonl").read_text().splitlines())
    kept = stored_config(Run(run.folder), replace(config, model=ModelConfig()), given=())
    assert kept.budget.max_iterations == 1
    assert kept.model.name == config.model.name
    more = replace(config, budget=BudgetConfig(max_iterations=8))
    again = Continuation(Run(run.folder), more).go()
    assert again.passed
    assert again.record.iterations >= 2
    assert len((run.folder / "model.jsonl").read_text().splitlines()) > asked


def test_an_existing_design_that_is_too_large_costs_nothing(tmp_path: Path, tool_config: ToolConfig) -> None:
    small = replace(tool_config, limits=replace(tool_config.limits, source_mb=0.0001))
    config = settings(tmp_path, small, EXAMPLES / "pwm_upgrade" / "replies.jsonl")
    with pytest.raises(UsageError, match="more than the limit"):
        start_run(load_spec(EXAMPLES / "pwm_upgrade" / "spec.md"), config)
    assert not (tmp_path / "runs").exists()


def test_a_broken_tool_is_told_without_places_of_this_machine(tmp_path: Path, tool_config: ToolConfig) -> None:
    blocked = tmp_path / "cache"
    blocked.write_text("a file in the way of Verilator's runtime")
    run, config = example(tmp_path, replace(tool_config, cache_dir=blocked), "edge_detector")
    report = Continuation(run, config).go()
    assert (report.exit_code, report.record.exit_reason) == (4, "tool")
    assert "cannot write to the cache" in report.reason
    text = (run.folder / "report.json").read_text()
    assert str(tmp_path) not in text
    assert '"/' not in text


def test_a_token_limit_ends_the_run_before_it_is_exceeded(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector", max_tokens=2500)
    report = Continuation(run, config).go()
    assert report.exit_code == 3
    assert "token limit" in report.reason
    assert report.verdict is None
    assert report.record.usage.tokens_in + report.record.usage.tokens_out <= 2500


def test_a_finished_run_reports_the_same_again_without_asking(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector")
    first = Continuation(run, config).go()
    log = (run.folder / "model.jsonl").read_bytes()
    second = Continuation(Run(run.folder), config).go()
    assert essence(second) == essence(first)
    assert (run.folder / "model.jsonl").read_bytes() == log


def essence(report: RunReport) -> tuple[object, ...]:
    """Return what may not differ between two replays of one log."""
    return (report.record.exit_reason, report.attempts, report.verdict, report.evidence, report.files, report.rulings)


def test_an_unreachable_requirement_is_a_fail_with_the_measured_number(tmp_path: Path, tool_config: ToolConfig) -> None:
    folder = FIXTURES / "unreachable"
    config = settings(tmp_path, tool_config, folder / "replies.jsonl")
    run = start_run(load_spec(folder / "spec.md"), config)
    report = Continuation(run, config).go()
    assert (report.exit_code, report.record.exit_reason) == (1, "fail")
    assert report.verdict is not None
    assert not report.verdict.passed
    (unmet,) = report.verdict.unmet
    assert (unmet.name, unmet.limit) == ("max_luts", 8.0)
    assert unmet.measured is not None
    assert unmet.measured > 8
    assert report.files


def replay_fault(name: str, tmp_path: Path, tools: ToolConfig) -> tuple[Run, RunReport]:
    config = settings(tmp_path, tools, FIXTURES / name / "replies.jsonl")
    run = start_run(load_spec(FIXTURES / name / "spec.md"), config)
    return run, Continuation(run, config).go()


@pytest.mark.slow
def test_a_fault_in_the_design_is_found_and_repaired(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, report = replay_fault("design_fault", tmp_path, tool_config)
    assert report.passed, report.reason
    assert inexact(run) == []
    assert [a["step"] for a in report.attempts] == ["simulate", ""]
    assert report.rulings == ()
    asked = [json.loads(line) for line in (run.folder / "model.jsonl").read_text().splitlines()]
    (repair,) = [a["request"]["messages"][-1]["content"] for a in asked if a["purpose"] == "repair"]
    for part in ("## Failing tests", "## What was observed", "## Lines that drive", "## Waveform of related signals"):
        assert part in repair


@pytest.mark.slow
def test_a_fault_in_the_golden_model_is_ruled_against_and_mended(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, report = replay_fault("golden_fault", tmp_path, tool_config)
    assert report.passed, report.reason
    ((_, wrong, reason),) = report.rulings
    assert wrong == "golden"
    assert "before the edge" in reason
    first, last = report.attempts
    assert (first["step"], last["step"]) == ("simulate", "")
    assert first["sha"] == last["sha"]
    events = [e for e in run.events() if e["event"] in ("dispute", "ruling", "oracle")]
    assert [e["event"] for e in events] == ["oracle", "dispute", "ruling", "oracle"]


def test_a_changed_test_or_spec_in_the_run_folder_is_refused(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector")
    spec = run.folder / "spec.json"
    spec.write_text(spec.read_text().replace("rising edge", "falling edge"))
    with pytest.raises(RunError, match="was changed"):
        Continuation(run, config).go()


def test_an_answer_to_an_assumption_reaches_the_model(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector")
    report = Continuation(run, config, ask_user=lambda assumption: "as I say").go()
    assert report.assumptions
    assert all(answer == "as I say" for _, answer in report.decisions)
    requests = [json.loads(line) for line in (run.folder / "model.jsonl").read_text().splitlines()]
    assert "as I say" not in str(requests[0]["request"])
    assert all("as I say" in str(r["request"]) for r in requests[1:])


def test_the_oracle_is_made_without_sight_of_the_design(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector")
    report = Continuation(run, config).go()
    rtl = (run.folder / "rtl" / Path(report.files[0]).name).read_text().strip()
    requests = [json.loads(line) for line in (run.folder / "model.jsonl").read_text().splitlines()]
    for recorded in requests:
        if recorded["purpose"].startswith("oracle"):
            assert rtl not in str(recorded["request"]["messages"])
            assert "module " not in str(recorded["request"]["messages"][2:])


def test_prompts_share_a_prefix_that_only_grows(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, repaired()[0])
    Continuation(run, config).go()
    talks = [json.loads(line)["request"]["messages"] for line in (run.folder / "model.jsonl").read_text().splitlines()]
    design = [t for t in talks if t[-1]["content"].startswith(("# Task: generate", "# Task: repair"))]
    for before, after in itertools.pairwise(design):
        assert after[: len(before)] == before
    assert all(t[:2] == talks[0][:2] for t in talks)


def test_a_damaged_checkpoint_is_named(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector")
    (run.folder / "checkpoint.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(RunError, match=r"checkpoint.*damaged"):
        Continuation(run, config).go()


def test_a_missing_log_is_said_before_anything_is_made(tmp_path: Path, tool_config: ToolConfig) -> None:
    run, config = example(tmp_path, tool_config, "edge_detector")
    shutil.rmtree(run.folder / "logs")
    gone = replace(config, model=ModelConfig(name="replay:gone.jsonl"))
    with pytest.raises(ModelConfigError):
        Continuation(run, gone).go()
