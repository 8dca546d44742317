"""`rtlagent bench`: run a suite, go on with a run, report, compare, export."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from rtlagent.cli.completion import suite_names
from rtlagent.cli.generate import AsJson, MaxCost, MaxTime, MaxTokens, Model, Plain, RunsDir, Sandbox

if TYPE_CHECKING:
    from rtlagent.bench.exports import Finished
    from rtlagent.bench.problem import Problem
    from rtlagent.bench.progress import LiveBenchView, PlainBenchView
    from rtlagent.bench.run_folder import About, RunFolder
    from rtlagent.bench.runner import Ending
    from rtlagent.config import Config

bench_app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="""Run, score, audit and compare benchmark suites.

    Exit codes: 0 done (score: every answer passed; audit: no defect), 1 an answer did not pass, or a defect, 2 wrong
    input, 3 limit reached, 4 errors of tools or the endpoint.
    """,
)
_FURTHER = ("bench_score", "bench_audit")
"""Modules of further commands, each with a `register(app)`."""

Retry = Annotated[
    str | None,
    typer.Option(
        "--retry", help="errors: do those tasks again that a tool or the endpoint has spoilt.", show_default=False
    ),
]
Executor = Annotated[
    str | None,
    typer.Option(
        "--executor",
        help="local (default), dask://HOST:PORT, or slurm?queue=NAME&memory=4GB and lsf?...; clusters need the "
        "suite and the run's folder on a file system that all workers share.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Tasks at a time (default: as there are processors).", show_default=False),
]
Db = Annotated[
    str,
    typer.Option(
        "--db", help="Results base for many machines, such as postgresql://USER@HOST/NAME.", show_default=False
    ),
]
RunName = Annotated[
    str, typer.Argument(help="The run's folder; with --db a part of its id.", metavar="RUN", show_default=False)
]


@bench_app.command("run", no_args_is_help=True)
def run(
    suite: Annotated[
        str, typer.Argument(help="The suite's name, such as verilog-eval-v2 or folder.", autocompletion=suite_names)
    ],
    path: Annotated[Path, typer.Option("--path", "-p", help="Where the suite's data are.")],
    model: Model = None,
    samples: Annotated[int, typer.Option("--samples", "-n", help="Answers to each problem.")] = 1,
    jobs: Jobs = None,
    mode: Annotated[str, typer.Option("--mode", help="agent: the whole loop; single: one reply, no tools.")] = "agent",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The run's folder (default: named by what is asked).", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Only problems whose name contains this; may be given again.", show_default=False),
    ] = None,
    first: Annotated[int | None, typer.Option("--first", help="Only so many problems.", show_default=False)] = None,
    executor: Executor = None,
    db: Db = "",
    retry: Retry = None,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind/--no-blind",
            help="Keep hidden tests and golden designs out of reach of the model's process and of simulated designs.",
        ),
    ] = True,
    synthesis: Annotated[
        bool, typer.Option("--synthesis/--no-synthesis", help="Synthesize each answer that compiles as well.")
    ] = True,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="Default: the provider's own.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of the first sample's stimulus (default: 1).", show_default=False)
    ] = None,
    simulator: Annotated[
        str | None, typer.Option("--simulator", help="auto (default), icarus or verilator.", show_default=False)
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option("--max-iterations", help="Candidates of one task (default: 8).", show_default=False),
    ] = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    task_max_tokens: Annotated[
        int | None, typer.Option("--task-max-tokens", help="Tokens of one task.", show_default=False)
    ] = None,
    task_max_cost: Annotated[
        float | None, typer.Option("--task-max-cost", help="US dollars of one task.", show_default=False)
    ] = None,
    task_max_time: Annotated[
        float | None, typer.Option("--task-max-time", help="Seconds of one task.", show_default=False)
    ] = None,
    sandbox: Sandbox = None,
    runs_dir: RunsDir = None,
    as_json: AsJson = False,
    plain: Plain = False,
) -> None:
    """Answer every problem of a suite and score the answers by its hidden tests.

    The same command again goes on with the run, as does `bench resume DIR`: finished tasks are not repeated,
    and no question is asked twice. --max-tokens, --max-cost and --max-time hold for the whole run.

    Exit codes: 0 every task has a score, 2 wrong input, 3 limit reached, 4 errors of tools or the endpoint.

    Such as:

      rtlagent bench run folder --path problems --model openai:gpt-4.1 -n 5 --jobs 4 --max-cost 20

      rtlagent bench run verilog-eval-v2 --path data/dataset_spec-to-rtl --model ollama:qwen3 --mode single
    """
    from rtlagent.bench.planning import Wanted, begin_or_go_on, make_plan

    config = _config(
        model=model,
        temperature=temperature,
        seed=seed,
        simulator=simulator,
        max_iterations=max_iterations,
        max_tokens=max_tokens,
        max_cost=max_cost,
        max_time=max_time,
        sandbox=sandbox,
        runs_dir=runs_dir,
    )
    wanted = Wanted(
        suite=suite,
        path=path,
        samples=samples,
        mode=mode,
        only=tuple(only or ()),
        first=first,
        blind=blind,
        synthesis=synthesis,
        executor=executor or "local",
        jobs=jobs,
        db=db,
        task_max_tokens=task_max_tokens,
        task_max_cost_usd=task_max_cost,
        task_max_time_s=task_max_time,
    )
    repeat = _repeats(retry)
    planned = make_plan(wanted, config)
    folder, about = begin_or_go_on(wanted, planned.plan, config, out)
    problems = {p.name: p for p in planned.problems}
    _go(folder, about, problems, config, db=db, repeat=repeat, as_json=as_json, plain=plain)


@bench_app.command("resume", no_args_is_help=True)
def resume(
    run: Annotated[Path, typer.Argument(help="The run's folder.", metavar="DIR")],
    jobs: Jobs = None,
    executor: Executor = None,
    db: Db = "",
    retry: Retry = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    as_json: AsJson = False,
    plain: Plain = False,
) -> None:
    """Go on with a run that was killed, interrupted, or stopped at a limit.

    Limits count from the run's start; those not given stay as they were.
    """
    from dataclasses import replace

    from rtlagent.bench.planning import limits_of, problems_of
    from rtlagent.bench.run_folder import RunFolder

    config = _config(max_tokens=max_tokens, max_cost=max_cost, max_time=max_time)
    repeat = _repeats(retry)
    folder = RunFolder(run)
    about = folder.about()
    about = replace(
        about,
        budget=limits_of(about.budget, config.budget),
        executor=executor or about.executor,
        jobs=jobs or about.jobs,
    )
    problems = problems_of(about, config)
    _go(folder, about, problems, config, db=db, repeat=repeat, as_json=as_json, plain=plain)


@bench_app.command("report", no_args_is_help=True)
def report(
    run: RunName,
    db: Db = "",
    errata: Annotated[
        Path | None,
        typer.Option(
            "--errata",
            metavar="FILE",
            help="From `bench audit`: corrected figures beside the raw ones.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the figures of a run, finished or not."""
    from dataclasses import replace

    from rtlagent.bench.errata import read_errata
    from rtlagent.bench.exports import as_json as to_text
    from rtlagent.bench.report_text import corrected_lines, report_lines

    finished = _finished(run, db)
    plan = finished.plan
    known = None if errata is None else read_errata(errata, suite=plan.suite, data_sha256=plan.suite_sha256)
    if known is None:
        print(to_text(finished), end="") if as_json else _print(report_lines(plan, finished.record, finished.figures))
        return
    if unaudited := known.unaudited(plan.problems):
        print(f"warning: {len(unaudited)} of the problems were not audited and count as valid", file=sys.stderr)
    left = tuple(n for n in plan.problems if n not in known.defective)
    results = tuple(r for r in finished.results if r.problem not in known.defective)
    corrected = replace(finished, plan=replace(plan, problems=left), results=results)
    if as_json:
        both = {"raw": json.loads(to_text(finished)), "corrected": json.loads(to_text(corrected)),
                "left_out": sorted(known.defective)}  # fmt: skip
        print(json.dumps(both))
        return
    lines = corrected_lines(finished.figures, corrected.figures, sorted(known.defective))
    _print([*report_lines(plan, finished.record, finished.figures), "", *lines])


@bench_app.command("compare", no_args_is_help=True)
def compare(
    a: Annotated[str, typer.Argument(help="A run's folder; with --db a part of its id.", metavar="A")],
    b: Annotated[str, typer.Argument(help="Another one of the same suite.", metavar="B")],
    db: Db = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs problem by problem: who won what, and whether that can be chance."""
    from rtlagent.bench.compare import compare as compared
    from rtlagent.bench.report_text import comparison_lines
    from rtlagent.errors import UsageError
    from rtlagent.types import to_json

    first, second = _finished(a, db), _finished(b, db)
    if first.plan.suite != second.plan.suite:
        message = f"these are runs of two suites, {first.plan.suite} and {second.plan.suite}"
        raise UsageError(message, hint="only runs of one suite can be compared")
    found = compared(first.results, second.results)
    if first.plan.suite_sha256 != second.plan.suite_sha256:
        print("warning: the suite's data differ between the two runs", file=sys.stderr)
    if as_json:
        print(json.dumps(to_json(found)))
        return
    _print(comparison_lines(_label(a, first), _label(b, second), found))


@bench_app.command("export", no_args_is_help=True)
def export(
    run: RunName,
    form: Annotated[str, typer.Option("--format", "-f", help="json, csv, markdown or html.")] = "json",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Default: standard output.", show_default=False)
    ] = None,
    times: Annotated[
        bool, typer.Option("--times/--no-times", help="Without times, two runs of one recording are the same bytes.")
    ] = True,
    db: Db = "",
) -> None:
    """Write a run out as JSON (everything), CSV (a row a task), Markdown (what people quote) or an HTML report."""
    from rtlagent.bench.exports import FORMATS
    from rtlagent.errors import UsageError, suggestion

    if form not in FORMATS:
        raise UsageError(f"there is no format {form!r}", hint=suggestion(form, FORMATS))
    text = FORMATS[form](_finished(run, db), times=times)
    if out is None:
        print(text, end="")
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(out)) from None


def _config(**flags: object) -> Config:
    from rtlagent.config import load_config

    return load_config(flags={k: v for k, v in flags.items() if v is not None}, env=os.environ, start=Path.cwd())


def _repeats(retry: str | None) -> bool:
    from rtlagent.errors import UsageError

    if retry not in (None, "errors"):
        raise UsageError(f"--retry knows no {retry!r}", hint="only errors can be repeated: --retry errors")
    return retry is not None


def _go(
    folder: RunFolder,
    about: About,
    problems: dict[str, Problem],
    config: Config,
    *,
    db: str,
    repeat: bool,
    as_json: bool,
    plain: bool,
) -> NoReturn:
    """Work under a view, then print the report and exit with the session's code."""
    from rtlagent.bench.session import run_session
    from rtlagent.errors import EXIT_INTERRUPTED

    def work(view: LiveBenchView | PlainBenchView) -> Ending:
        return run_session(folder, about, problems, config, view, db=db, retry_errors=repeat)

    try:
        ending = _shown(work, as_json=as_json, plain=plain)
    except KeyboardInterrupt:
        go_on = f"rtlagent bench resume {folder.path}"
        print(f"\ninterrupted; go on with: {go_on}", file=sys.stderr)
        if as_json:
            said = {"kind": "Interrupted", "message": "interrupted", "where": str(folder.path), "hint": go_on}
            print(json.dumps({"error": {**said, "exit_code": EXIT_INTERRUPTED}}))
        raise
    finished = _finished(str(folder.path), db)
    _leave_report(folder, finished)
    _print_ending(folder, ending, finished, as_json=as_json)
    raise typer.Exit(ending.exit_code)


def _leave_report(folder: RunFolder, finished: Finished) -> None:
    """Write report.html; the figures do not hang on it."""
    from rtlagent.bench.html import write_html
    from rtlagent.errors import RtlagentError
    from rtlagent.report import REPORT_NAME

    try:
        write_html(finished, folder.path / REPORT_NAME, folder=folder.path)
    except RtlagentError as error:
        print(f"warning: {REPORT_NAME} was not written: {error.message}", file=sys.stderr)


def _shown(work: Callable[[LiveBenchView | PlainBenchView], Ending], *, as_json: bool, plain: bool) -> Ending:
    from rtlagent.bench.progress import LiveBenchView, PlainBenchView

    stream = sys.stderr if as_json else sys.stdout
    view: LiveBenchView | PlainBenchView
    if plain or not stream.isatty():
        view = PlainBenchView(stream)
    else:
        from rich.console import Console

        view = LiveBenchView(Console(file=stream))
    with view:
        return work(view)


def _print_ending(folder: RunFolder, ending: Ending, finished: Finished, *, as_json: bool) -> None:
    from rtlagent.bench.report_text import report_lines
    from rtlagent.types import to_json

    if as_json:
        figures = to_json(finished.figures)
        print(json.dumps({**to_json(ending), "folder": str(folder.path), "figures": figures}))
        return
    lines = ["", *report_lines(finished.plan, finished.record, finished.figures), f"run: {folder.path}"]
    if ending.finished < ending.total:
        left = ending.total - ending.finished
        lines.append(f"STOPPED at a limit: {ending.limit or 'the budget'}; {left} tasks are left")
        lines.append(f"go on with: rtlagent bench resume {folder.path} and a higher limit")
    if ending.errors:
        lines.append(f"{ending.errors} tasks have no score because of errors")
        lines.append(f"repeat them with: rtlagent bench resume {folder.path} --retry errors")
    _print(lines)


def _finished(run: str, db: str) -> Finished:
    """Read a run: its folder, or its part of a results base."""
    from rtlagent.bench.exports import Finished
    from rtlagent.bench.run_folder import RunFolder
    from rtlagent.bench.store import open_store

    folder = RunFolder(Path(run))
    if db and not folder.begun:
        with open_store(db) as store:
            stored = store.run(run)
            return Finished(stored.plan, stored.record, tuple(store.results(stored.id)))
    about = folder.about()
    with open_store(db or about.db or folder.base) as store:
        return Finished(about.plan, about.record, tuple(store.results(about.id)))


def _label(name: str, run: Finished) -> str:
    return f"{name} ({run.plan.model or 'no model'}, mode {run.plan.mode})"


def _print(lines: list[str]) -> None:
    from rtlagent.printable import printable

    print(printable("\n".join(lines)), flush=True)


for _name in _FURTHER:
    if importlib.util.find_spec(f"rtlagent.cli.{_name}") is not None:
        importlib.import_module(f"rtlagent.cli.{_name}").register(bench_app)
