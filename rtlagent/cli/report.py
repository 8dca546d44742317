"""`rtlagent report`: the HTML report of a run, finished or not."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from rtlagent.cli.completion import run_names
from rtlagent.cli.generate import AsJson, RunsDir

_OPENS_WITHIN_S = 10


def report(
    run: Annotated[
        str,
        typer.Argument(
            help="The run's folder, or a part of its name that only it has; a benchmark run's folder.",
            autocompletion=run_names,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file (default: report.html in the run's folder).", show_default=False),
    ] = None,
    opens: Annotated[bool, typer.Option("--open", help="Open it in the browser, too.")] = False,
    runs_dir: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Write a run's report: one HTML file that needs no network, with everything that the run did.

    Every run writes its own when it ends; this command makes one of a run that was killed, still goes on, or is
    older. Links to logs hold while the file lies in the run's folder.

    Exit codes: 0 written, 2 there is no such run, or the file cannot be written.

    Such as:

      rtlagent report fifo --open
    """
    from rtlagent.bench.run_folder import RunFolder as BenchFolder
    from rtlagent.config import load_config
    from rtlagent.report import write_report
    from rtlagent.workspace import Run

    flags = {"runs_dir": runs_dir} if runs_dir is not None else {}
    config = load_config(flags=flags, env=os.environ, start=Path.cwd())
    bench = BenchFolder(Path(run))
    if bench.begun:
        from rtlagent.bench.html import write_bench_report

        path = write_bench_report(bench, out=out)
    else:
        direct = Path(run)
        folder = direct if direct.is_dir() else Run.find(config.runs_dir, run).folder
        path = write_report(folder, out, config=config.tools)
    if as_json:
        print(json.dumps({"report": str(path)}))
    else:
        print(path)
    if opens:
        _open(path)


def _open(path: Path) -> None:
    """Hand the file to the user's browser; a machine without one has its path."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        print("warning: no browser was found; open the file by hand", file=sys.stderr)
