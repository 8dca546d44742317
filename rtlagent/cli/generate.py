"""`rtlagent generate` and `rtlagent resume`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from rtlagent.cli.c_options import Clock, NoPragmas, Target, Testbench, Top
from rtlagent.cli.completion import run_names

if TYPE_CHECKING:
    from rtlagent.agent import RunReport
    from rtlagent.agent.understanding import Assumption
    from rtlagent.config import Config
    from rtlagent.console import LiveView, PlainView
    from rtlagent.hls import HlsResult
    from rtlagent.types import Spec
    from rtlagent.workspace import Run

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="openai:NAME, ollama:NAME, http://host:port/v1#NAME, langchain:PROVIDER:NAME or replay:LOG. "
        "Without it: the first configured key, else a local server on its usual port.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Copy the final RTL here, on a pass only.", show_default=False)
]
RunsDir = Annotated[
    Path | None, typer.Option("--runs-dir", help="Where run folders go (default: runs).", show_default=False)
]
MaxTokens = Annotated[
    int | None,
    typer.Option("--max-tokens", help="Stop before this many tokens (in and out) are used.", show_default=False),
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Stop before this many US dollars are spent.", show_default=False)
]
MaxIterations = Annotated[
    int | None,
    typer.Option("--max-iterations", help="Judge at most this many candidates (default: 8).", show_default=False),
]
MaxTime = Annotated[
    float | None, typer.Option("--max-time", help="Stop asking the model after this many seconds.", show_default=False)
]
Sandbox = Annotated[
    str | None,
    typer.Option("--sandbox", help="bwrap (default), or none: run model-written text unconfined.", show_default=False),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the report as one JSON object on stdout, progress on stderr.")
]
Plain = Annotated[bool, typer.Option("--plain", help="Plain lines even in a terminal.")]


def generate(
    spec: Annotated[
        Path, typer.Argument(help="The specification: Markdown with optional YAML front matter, or a C file.")
    ],
    model: Model = None,
    top: Top = None,
    target: Target = None,
    clock: Clock = None,
    tb: Testbench = None,
    no_pragmas: NoPragmas = False,
    out: Out = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            "--candidates", help="How many candidates to try when the first one fails (default: 1).", show_default=False
        ),
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask about each assumption instead of taking it.")] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed of the random stimulus (default: 1).", show_default=False)
    ] = None,
    simulator: Annotated[
        str | None, typer.Option("--simulator", help="auto (default), icarus or verilator.", show_default=False)
    ] = None,
    mutants: Annotated[
        int | None,
        typer.Option(
            "--mutants",
            help="Wrong versions of a passing design that grade its tests (default: 16).",
            show_default=False,
        ),
    ] = None,
    max_iterations: MaxIterations = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    sandbox: Sandbox = None,
    runs_dir: RunsDir = None,
    as_json: AsJson = False,
    plain: Plain = False,
) -> None:
    """Turn a specification or C into Verilog that real tools have judged.

    The model reads the spec, writes a golden model with stimulus and, apart from it, the RTL. Lint,
    elaboration, simulation, synthesis and (for a frequency requirement) place-and-route judge it; what they
    say goes back to the model until every gate passes or a limit is reached. Everything is kept in
    runs/TIME-NAME/, from where `rtlagent resume` goes on after a kill or a limit.

    C (a C file, or a Markdown spec with a C code block) is compiled instead, without any model: the module is
    co-simulated against the C, bit for bit, linted, synthesized, and placed and routed on ice40 and ecp5.

    Exit codes: 0 pass, 1 fail, 2 wrong input, 3 limit reached, 4 tool or model error.

    Such as:

      rtlagent generate uart.md --model openai:gpt-4.1 --max-cost 2 --out rtl

      rtlagent generate fifo.md --model ollama:qwen2.5-coder:32b --candidates 3

      rtlagent generate fifo.md --model http://localhost:8000/v1

      rtlagent generate fir.c --top fir --target ecp5 --clock 10ns
    """
    from rtlagent.agent import start_run
    from rtlagent.cli.c_options import asked
    from rtlagent.errors import UsageError
    from rtlagent.spec import load_spec

    config = _config(
        {
            "model": model,
            "out": out,
            "candidates": candidates,
            "ask": ask or None,
            "seed": seed,
            "simulator": simulator,
            "mutants": mutants,
            "max_iterations": max_iterations,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
            "max_time": max_time,
            "sandbox": sandbox,
            "runs_dir": runs_dir,
        }
    )
    loaded = load_spec(spec, asked(top, target, clock, tb or []))
    if loaded.c_source is not None:
        _check_out(config)
        _compile_and_go(spec, loaded, config, use_pragmas=not no_pragmas, as_json=as_json, plain=plain)
    if no_pragmas:
        raise UsageError("--no-pragmas goes with C only", where=str(spec))
    _check_model(config)
    _check_out(config)
    _go(start_run(loaded, config), config, as_json=as_json, plain=plain)


def _compile_and_go(
    path: Path, spec: Spec, config: Config, *, use_pragmas: bool, as_json: bool, plain: bool
) -> NoReturn:
    """Compile before the run folder is made: C that cannot become hardware leaves nothing behind."""
    from rtlagent.agent.from_c import compile_spec, start_c_run
    from rtlagent.cli.c_options import shown_from, with_top

    with shown_from(path):
        spec = with_top(spec, config.tools)
        compiled = compile_spec(spec, config.tools, use_pragmas=use_pragmas)
    run = start_c_run(spec, config, use_pragmas=use_pragmas)
    _go_c(run, config, compiled, as_json=as_json, plain=plain)


def resume(
    run: Annotated[
        str, typer.Argument(help="The run's folder, or a part of its name that only it has.", autocompletion=run_names)
    ],
    model: Model = None,
    out: Out = None,
    max_iterations: MaxIterations = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_time: MaxTime = None,
    sandbox: Sandbox = None,
    runs_dir: RunsDir = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask about each assumption instead of taking it.")] = False,
    as_json: AsJson = False,
    plain: Plain = False,
) -> None:
    """Go on with a run that was killed, interrupted, or stopped at a limit.

    What the model has answered is not asked again, and what was judged is not judged again. Limits count
    from the run's start. A finished run prints its report again.
    """
    from rtlagent.agent import stored_config
    from rtlagent.agent.from_c import is_c_run
    from rtlagent.workspace import Run

    config = _config(
        {
            "model": model,
            "out": out,
            "ask": ask or None,
            "max_iterations": max_iterations,
            "max_tokens": max_tokens,
            "max_cost": max_cost,
            "max_time": max_time,
            "sandbox": sandbox,
            "runs_dir": runs_dir,
        }
    )
    found = Run.find(config.runs_dir, run)
    limits = {
        "max_iterations": max_iterations,
        "max_tokens": max_tokens,
        "max_cost_usd": max_cost,
        "max_time_s": max_time,
    }
    given = [name for name, value in limits.items() if value is not None]
    stored = stored_config(found, config, given=given)
    _check_out(stored)
    if is_c_run(found):
        _go_c(found, stored, None, as_json=as_json, plain=plain)
    _go(found, stored, as_json=as_json, plain=plain)


def _config(flags: Mapping[str, object]) -> Config:
    from rtlagent.config import load_config

    return load_config(flags={k: v for k, v in flags.items() if v is not None}, env=os.environ, start=Path.cwd())


def _check_model(config: Config) -> None:
    """Fail before a run folder is made if no model can be asked."""
    from rtlagent.models import resolve

    resolve(config.model.name, config.model)


def _check_out(config: Config) -> None:
    """Fail before a token is spent if the result could not be written."""
    from rtlagent.errors import UsageError

    if config.out is None:
        return
    there = next(p for p in (config.out, *config.out.absolute().parents) if os.path.lexists(p))
    if not there.is_dir():
        raise UsageError("is not a folder", where=str(there), hint="--out names the folder that the design goes to")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError("cannot be written to", where=str(there), hint="choose another --out")


def _go(run: Run, config: Config, *, as_json: bool, plain: bool) -> NoReturn:
    from rtlagent.agent import Continuation

    ask_user = _ask_user if config.ask else None

    def work(view: LiveView | PlainView) -> RunReport:
        return Continuation(run, config, ask_user, [view]).go()

    _show(work, run, config, as_json=as_json, plain=plain)


def _go_c(run: Run, config: Config, compiled: HlsResult | None, *, as_json: bool, plain: bool) -> NoReturn:
    from rtlagent.agent.from_c import CRun

    def work(view: LiveView | PlainView) -> RunReport:
        return CRun(run, config, compiled, [view]).go()

    _show(work, run, config, as_json=as_json, plain=plain)


def _show(
    work: Callable[[LiveView | PlainView], RunReport], run: Run, config: Config, *, as_json: bool, plain: bool
) -> NoReturn:
    """Do the work under a view of its progress, then print its report and exit with its code."""
    from rtlagent.agent import export
    from rtlagent.cli.hls_report import print_hls
    from rtlagent.cli.run_report import print_report
    from rtlagent.console import LiveView, PlainView
    from rtlagent.errors import EXIT_INTERRUPTED
    from rtlagent.types import to_json

    stream = sys.stderr if as_json else sys.stdout
    view: LiveView | PlainView
    if plain or not stream.isatty():
        view = PlainView(stream)
    else:
        from rich.console import Console

        view = LiveView(Console(file=stream))
    try:
        with view:
            report = work(view)
    except KeyboardInterrupt:
        print(f"\ninterrupted; go on with: rtlagent resume {run.folder}", file=sys.stderr)
        if as_json:
            hint = f"go on with: rtlagent resume {run.folder}"
            said = {"kind": "Interrupted", "message": "interrupted", "where": str(run.folder), "hint": hint}
            print(json.dumps({"error": {**said, "exit_code": EXIT_INTERRUPTED}}))
        raise
    copied = export(run, config.out) if report.passed and config.out else ()
    if as_json:
        print(json.dumps({**to_json(report), "folder": str(run.folder), "out": [str(p) for p in copied]}))
        raise typer.Exit(report.exit_code)
    if report.hls is not None:
        measured = report.verdict.metrics if report.verdict else None
        print("", file=stream)
        print_hls(report.hls, measured, report.requirements, stream, plain=plain)
    print_report(report, run.folder, copied, stream)
    raise typer.Exit(report.exit_code)


def _ask_user(assumption: Assumption) -> str:
    """Put an assumption to the user on the terminal; an empty answer takes it."""
    from rtlagent.printable import printable

    print(printable(f"\n{assumption.question}\n  assumed: {assumption.assumption}"), file=sys.stderr)
    print("  your answer (empty: as assumed): ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    return line.strip()
