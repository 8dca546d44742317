"""The runner's parts alone: shares of a budget, folders of tasks, prompts, views."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from test_metrics_figures import result
from test_store_bases import PLAN

from rtlagent.bench.allotment import Allotment
from rtlagent.bench.executors.blindness import require_blind
from rtlagent.bench.problem import DESIGN, TOOL, Problem, Score
from rtlagent.bench.progress import LiveBenchView, PlainBenchView, Tally, duration_text
from rtlagent.bench.record import Record
from rtlagent.bench.result import Result
from rtlagent.bench.run_folder import RunFolder
from rtlagent.bench.store.base import Brief
from rtlagent.bench.tasks import FinalAnswer, GenerateJob, ScoreJob, Task, TaskLimits, folder_of, tasks_of
from rtlagent.bench.tasks.final_answer import forget, keep_answer, keep_score, kept_answer, kept_score, spent_in
from rtlagent.bench.tasks.problem_spec import spec_of
from rtlagent.config import BudgetConfig, Config, ModelConfig, ToolConfig
from rtlagent.errors import RunError, UsageError
from rtlagent.types import Metrics, SourceFile, Status, Usage

A, B, C = Task("a", 0), Task("b", 0), Task("c", 0)
FILES = (SourceFile("rtl/a.v", "module a; endmodule\n"),)


def allotment(limits: BudgetConfig, own: TaskLimits | None = None) -> Allotment:
    return Allotment(limits, own or TaskLimits(), spent=Usage(), elapsed_s=0.0, clock=lambda: 0.0)


def test_shares_together_never_exceed_the_budget() -> None:
    shares = allotment(BudgetConfig(max_tokens=1000))
    first, second = shares.take(A, 2), shares.take(B, 1)
    assert first is not None and second is not None
    assert (first.max_tokens, second.max_tokens) == (500, 500)
    assert shares.take(C, 1) is None
    shares.settle(A, Usage(60, 0, 40, 0.0), final=True)
    third = shares.take(C, 1)
    assert third is not None
    assert third.max_tokens == 400
    shares.settle(B, Usage(500, 0, 0, 0.0), final=True)
    shares.settle(C, Usage(400, 0, 0, 0.0), final=True)
    assert shares.take(Task("d", 0), 1) is None
    assert "1000 of 1000 tokens" in shares.used_up()


def test_a_stopped_task_goes_on_only_with_clearly_more() -> None:
    shares = allotment(BudgetConfig(max_tokens=1000))
    assert shares.take(A, 2) is not None
    shares.settle(A, Usage(100, 0, 0, 0.0), final=False)
    assert shares.take(A, 2) is None  # 450 are not more than 500
    again = shares.take(A, 1)
    assert again is not None
    assert again.max_tokens == 900 + 100  # counted from the task's beginning
    shares.settle(A, Usage(300, 0, 0, 0.0), final=True)
    assert shares.spent.tokens_in == 300


def test_an_unknown_price_ends_a_run_with_a_limit_on_cost() -> None:
    shares = allotment(BudgetConfig(max_cost_usd=1.0))
    assert shares.take(A, 1) is not None
    shares.settle(A, Usage(1, 0, 1, None), final=True)
    assert shares.take(B, 1) is None
    assert "unknown" in shares.used_up()


def test_a_tasks_own_limits_hold_where_they_are_smaller() -> None:
    shares = allotment(BudgetConfig(max_tokens=1000, max_time_s=50), TaskLimits(300, 0.5, 99.0, 4))
    limits = shares.take(A, 1)
    assert limits == BudgetConfig(300, 0.5, 4, 50.0)


def test_without_limits_nothing_is_shared() -> None:
    shares = allotment(BudgetConfig(max_iterations=None))
    assert not shares.is_limited
    assert shares.take(A, 1) == BudgetConfig(None, None, 8, None)


def test_every_task_has_a_folder_of_its_own(tmp_path: Path) -> None:
    names = ["ok", "../up", "a/b", "a_b", "a b", "", ".", "..", "x" * 300, "ä"]
    folders = {folder_of(tmp_path, Task(n, 0)) for n in names}
    assert len(folders) == len(names)
    assert all(f.resolve().is_relative_to(tmp_path / "tasks") for f in folders)
    for folder in folders:
        folder.mkdir(parents=True)


def test_early_tasks_cover_the_suite() -> None:
    assert tasks_of(PLAN) == (Task("a", 0), Task("b", 0), Task("a", 1), Task("b", 1))


def test_answers_and_scores_are_kept_and_forgotten(tmp_path: Path) -> None:
    answer = FinalAnswer(
        "limit", FILES, own_verdict=False, usage=Usage(1, 0, 2, None), iterations=3, failure_class="budget"
    )
    score = Score(Status.FAIL, DESIGN, syntax=True, metrics=Metrics(luts=3), tool_versions=("x",))
    assert kept_answer(tmp_path) is None
    keep_answer(tmp_path, answer)
    keep_score(tmp_path, score, answer.sha256)
    assert kept_answer(tmp_path) == answer
    assert kept_score(tmp_path, answer.sha256) == score
    assert kept_score(tmp_path, "another answer") is None
    forget(tmp_path, answer=False)
    assert (kept_answer(tmp_path), kept_score(tmp_path, answer.sha256)) == (answer, None)
    (tmp_path / "answer.json").write_text('{"outcome": 3}')
    with pytest.raises(RunError, match="damaged"):
        kept_answer(tmp_path)


def test_a_job_that_was_done_is_not_done_again(tmp_path: Path) -> None:
    answer, score = FinalAnswer("answered", FILES), Score(Status.PASS)
    keep_answer(tmp_path, answer)
    keep_score(tmp_path, score, answer.sha256)
    config = Config(model=ModelConfig(name="replay:nowhere"))
    assert GenerateJob(Problem("s", "a", "x"), 0, tmp_path, "tasks/a/0", "single", config)() == answer
    assert ScoreJob("no-suite", Path("/nowhere"), "", "a", FILES, tmp_path, ToolConfig())() == score


def test_spent_counts_the_journal_but_its_torn_end(tmp_path: Path) -> None:
    line = json.dumps(
        {"key": "k", "reply": {"content": "x"}, "usage": {"tokens_in": 5, "tokens_out": 2, "cost_usd": 0.5}}
    )
    (tmp_path / "20260101-000000-a").mkdir()
    (tmp_path / "20260101-000000-a" / "model.jsonl").write_text(f'{line}\n{line}\n{{"key": "k", "rep')
    assert spent_in(tmp_path) == Usage(10, 0, 4, 1.0)
    assert spent_in(tmp_path / "none") == Usage()


def test_a_problem_becomes_a_spec(tmp_path: Path) -> None:
    context = (SourceFile("pkg/defs.v", "// defs\n"),)
    plain = spec_of(
        Problem("s", "Prob 1/x", "Do it.", top="TopModule", language="systemverilog", context=context), tmp_path
    )
    assert (plain.name, plain.top, plain.language, plain.context_files) == (
        "Prob_1_x",
        "TopModule",
        "systemverilog",
        context,
    )
    text = "---\ntop: add\nports:\n  - input a\n  - output y\ncontext: [pkg/defs.v]\n---\nAdd.\n"
    fronted = spec_of(Problem("s", "p", text, context=context), tmp_path)
    assert [p.name for p in fronted.ports] == ["a", "y"]
    assert fronted.context_files == context
    with pytest.raises(UsageError, match="context file"):
        spec_of(Problem("s", "p", text, context=(SourceFile("../up.v", ""),)), tmp_path)
    with pytest.raises(UsageError):
        spec_of(Problem("s", "p", "---\n[broken\n---\nx"), tmp_path)


def test_a_suite_that_the_sandbox_shows_cannot_be_run_blind(tmp_path: Path, tool_config: ToolConfig) -> None:
    require_blind(tmp_path, tool_config)
    with pytest.raises(UsageError, match="sandbox shows"):
        require_blind(Path("/usr/share"), tool_config)
    with pytest.raises(UsageError, match="without the sandbox"):
        require_blind(tmp_path, ToolConfig(sandbox="none"))


def test_versions_that_change_are_named() -> None:
    was = Record("0.1", "3.11", "Linux", ("iverilog 11.0", "pyosys 0.7"))
    now = Record("0.1", "3.12", "Linux", ("iverilog 12.0", "pyosys 0.7"))
    assert was.changes(was) == ()
    assert was.changes(now) == ("Python 3.11 -> Python 3.12", "iverilog 11.0 -> iverilog 12.0")


def test_a_run_folder_without_a_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no benchmark run"):
        RunFolder(tmp_path).about()
    (tmp_path / "bench.json").write_text("{}")
    with pytest.raises(RunError, match="damaged"):
        RunFolder(tmp_path).about()


def failed() -> Result:
    return result("b", status=Status.ERROR, failure_class=TOOL, message="\x1b[31mevil\nsecond line")


def test_eta_is_of_this_session_only() -> None:
    times = iter([0.0, 100.0, 110.0])
    tally = Tally(clock=lambda: next(times))
    tally.begin(10, [Brief(A, "PASS", "", "answered", Usage())] * 4, "t", Usage())
    tally.took(result("a"), Usage())
    assert tally.eta_s == pytest.approx(50.0)


def test_the_plain_view_prints_a_line_a_task_and_no_escape() -> None:
    out = io.StringIO()
    with PlainBenchView(out) as view:
        view.begin(2, [], "title", Usage())
        view.took(result("a"), Usage(100, 0, 50, None))
        view.took(failed(), Usage(200, 0, 100, None))
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert "a/0 PASS in 3.0 s, 150 tokens, $0.2500 | 1 of 2" in lines[1]
    assert "cost unknown" in lines[1]
    assert "\x1b" not in out.getvalue()
    assert "second line" not in lines[2]


def test_the_live_view_shows_outcomes_with_shares() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=False, width=120)
    view = LiveBenchView(console)
    view.begin(4, [], "the title", Usage())
    view.took(result("a"), Usage())
    view.took(failed(), Usage())
    view.tick(1, 1)
    with console.capture() as captured:
        console.print(view)
    text = captured.get()
    assert "the title" in text
    assert "50.0 %" in text
    assert "answering 1, scoring 1" in text
    assert "2 of 4, ETA" in text


@pytest.mark.parametrize(("seconds", "text"), [(5.2, "5 s"), (89, "89 s"), (700, "12 min"), (11_100, "3 h 05 min")])
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
