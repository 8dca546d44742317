"""The report of a benchmark run as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rtlagent.bench.exports import Finished
from rtlagent.bench.metrics import Figures, Interval, Rate
from rtlagent.bench.progress import duration_text
from rtlagent.bench.report_text import figure_rows, interval_text, percent, rate_text, record_lines, spending_rows
from rtlagent.bench.result import Result
from rtlagent.bench.run_folder import RunFolder
from rtlagent.bench.store import open_store
from rtlagent.bench.tasks import folder_of
from rtlagent.console import cost_text, tokens_text
from rtlagent.report import REPORT_NAME, bench_report
from rtlagent.report.bench_page import Bar, BenchPage, ProblemView, TaskView

_MOST_MESSAGE = 1_200
MOST_TASKS = 4_000
"""In the page; more make it slow to open."""


def write_bench_report(folder: RunFolder, *, db: str = "", out: Path | None = None) -> Path:
    """Write a run's report from its folder and its results base.

    Raises:
        RunError: there is no run, or the file cannot be written.
    """
    about = folder.about()
    with open_store(db or about.db or folder.base) as store:
        finished = Finished(about.plan, about.record, tuple(store.results(about.id)))
    return write_html(finished, out or folder.path / REPORT_NAME, folder=folder.path)


def write_html(run: Finished, out: Path, *, folder: Path | None) -> Path:
    """Write a run's report; with its `folder`, each answer is linked to what it left there.

    Raises:
        RunError: the file cannot be written.
    """
    return bench_report(bench_page(run, folder=folder), out)


def html_text(run: Finished, *, times: bool = True) -> str:
    """Return the report without links; without `times`, two runs of one recording give the same bytes."""
    from rtlagent.report.write import bench_text

    return bench_text(bench_page(run, folder=None, times=times))


def bench_page(run: Finished, *, folder: Path | None, times: bool = True) -> BenchPage:
    """Return what the report shows."""
    figures, plan = run.figures, run.plan
    left = figures.tasks - figures.finished
    # Of a run too large for a page, those that failed tell more.
    ordered = sorted(run.results, key=lambda r: r.passed) if len(run.results) > MOST_TASKS else run.results
    shown = ordered[:MOST_TASKS]
    return BenchPage(
        title=f"{plan.suite}: {plan.model or 'no model'}",
        subtitle=f"mode {plan.mode}, {plan.samples} answers to each of {len(plan.problems)} problems",
        facts=tuple(_facts(figures, times=times)),
        bars=tuple(_bars(figures)),
        figures=tuple(figure_rows(figures)),
        spending=tuple(r for r in spending_rows(figures) if times or r[0] != "time"),
        failures=tuple(Bar(name, str(count), count / max(1, figures.finished)) for name, count in figures.failures),
        categories=tuple(_categories(figures)),
        problems=tuple(_problems(shown, folder, times=times)),
        record=tuple(record_lines(plan, run.record, figures)),
        unfinished=f"{left} of {figures.tasks} tasks are not finished; the figures are of the others." if left else "",
        left_out=len(run.results) - len(shown),
    )


def _facts(figures: Figures, *, times: bool) -> Iterator[tuple[str, str]]:
    spent = figures.spending
    if figures.pass_at:
        yield "pass@1", percent(figures.pass_at[0].estimate.value)
    yield "solved", f"{figures.solved} of {figures.problems}"
    yield "tasks finished", f"{figures.finished} of {figures.tasks}"
    about = "about " if spent.usage.estimated else ""
    yield "tokens", about + tokens_text(spent.usage.tokens_in + spent.usage.tokens_out)
    yield "cost", cost_text(spent.usage.cost_usd)
    if times:
        yield "time of all tasks", duration_text(spent.answering_s + spent.scoring_s)


def _bars(figures: Figures) -> Iterator[Bar]:
    for found in figures.pass_at:
        interval: Interval = found.estimate
        yield Bar(f"pass@{found.k}", interval_text(interval), interval.value, interval.low, interval.high)
    rates: Mapping[str, Rate] = {
        "syntax": figures.syntax,
        "simulation": figures.simulation,
        "synthesis": figures.synthesis,
        "false pass": figures.false_pass,
        "false fail": figures.false_fail,
    }
    for name, rate in rates.items():
        yield Bar(name, rate_text(rate), rate.value)


def _categories(figures: Figures) -> Iterator[Bar]:
    for found in figures.categories if len(figures.categories) > 1 else ():
        text = f"{percent(found.pass_at_1)}, {found.solved} of {found.problems} solved"
        yield Bar(found.name or "-", text, found.pass_at_1)


def _problems(results: Sequence[Result], folder: Path | None, *, times: bool) -> Iterator[ProblemView]:
    by_problem: dict[str, list[Result]] = {}
    for result in results:
        by_problem.setdefault(result.problem, []).append(result)
    for name, found in sorted(by_problem.items()):
        tasks = tuple(_task(r, folder, times=times) for r in sorted(found, key=lambda r: r.sample))
        yield ProblemView(name, found[0].category, sum(r.passed for r in found), tasks)


def _task(result: Result, folder: Path | None, *, times: bool) -> TaskView:
    usage = result.usage
    parts = [f"{result.iterations} attempts"] if result.iterations is not None else []
    if usage.tokens_in or usage.tokens_out:
        parts.append(f"{tokens_text(usage.tokens_in + usage.tokens_out)} tokens, {cost_text(usage.cost_usd)}")
    if times:
        parts.append(f"{result.generate_s + result.score_s:.1f} s")
    own = {True: f"PASS ({result.grade})" if result.grade else "PASS", False: "FAIL", None: "-"}[result.own_verdict]
    return TaskView(
        sample=result.sample,
        status=str(result.status),
        failure_class=result.failure_class,
        message=result.message[:_MOST_MESSAGE],
        own_verdict=own,
        figures=", ".join(parts),
        link=_link(result, folder),
    )


def _link(result: Result, folder: Path | None) -> str:
    """Return the best that there is to open of an answer, relative to the run's folder."""
    if folder is None:
        return ""
    home = folder_of(folder, result.task)
    reports = sorted(home.glob(f"*/{REPORT_NAME}")) or sorted(home.glob(REPORT_NAME))
    found = reports[0] if reports else home
    return found.relative_to(folder).as_posix() if found.exists() else ""
