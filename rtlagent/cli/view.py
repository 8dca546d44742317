"""`rtlagent view`: look at runs, in the terminal or in the browser, also while they go on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rtlagent.cli.view_runs import RunList, WatchedBench, WatchedRun
    from rtlagent.config import ToolConfig


def view(
    run: Annotated[
        str | None,
        typer.Argument(
            help="The run's folder, or a part of its name that only it has (default: the list of runs).",
            show_default=False,
        ),
    ] = None,
    html: Annotated[bool, typer.Option("--html", help="Show it in the browser instead, served on 127.0.0.1.")] = False,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65_535, help="Port for --html (default: a free one).", show_default=False),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="With --html: print the address only.")] = False,
    runs_dir: Annotated[
        Path | None, typer.Option("--runs-dir", help="Where run folders are (default: runs).", show_default=False)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the list, or where the run stands, as one JSON object.")
    ] = False,
) -> None:
    """List runs and open one, in the terminal or the browser, also while it goes on.

    One run shows its events, and of each the tool's words and log, the model's question and answer, or the design and
    what changed of it.

    Keys: arrows, enter, escape, / filter, l follow the end, o report in the browser, q quit. Where the output is no
    terminal, the list or the run's events are printed.

    Exit codes: 0 shown, 2 there is no such run, or the port is taken.

    Such as:

      rtlagent view fifo
    """
    from rtlagent.cli.view_runs import RunList
    from rtlagent.config import load_config
    from rtlagent.errors import UsageError

    if not html and (port is not None or no_open):
        raise UsageError(f"{'--port' if port is not None else '--no-open'} goes with --html only", hint="add --html")
    if html and as_json:
        raise UsageError("--html and --json exclude each other", hint="leave one out")
    config = load_config(flags={"runs_dir": runs_dir})
    runs = RunList(config.runs_dir)
    opened = runs.find(run) if run is not None else None
    if html:
        from rtlagent.cli.view_server import serve

        serve(runs, opened, port=port or 0, opens=not no_open, tools=config.tools)
    elif as_json:
        print(json.dumps(_as_json(runs, opened)))
    elif sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        _show(runs, opened, config.tools)
    else:
        _print(runs, opened)


def _as_json(runs: RunList, opened: WatchedRun | WatchedBench | None) -> dict[str, Any]:
    if opened is not None:
        return opened.summary().as_json()
    return {"runs_dir": str(runs.folder), "runs": [s.as_json() for s in runs.poll()]}


def _show(runs: RunList, opened: WatchedRun | WatchedBench | None, tools: ToolConfig) -> None:
    """Show it in the terminal until the user quits."""
    from rtlagent.cli.view_screen import Viewer

    viewer = Viewer(runs, opened, tools=tools)
    viewer.run()
    if viewer.return_code:
        raise typer.Exit(viewer.return_code)


def _print(runs: RunList, opened: WatchedRun | WatchedBench | None) -> None:
    """Print it as plain lines."""
    from rtlagent.cli.view_runs import WatchedRun, list_lines
    from rtlagent.printable import printable

    if opened is None:
        found = runs.poll()
        if not found:
            print(printable(f"there is no run in {runs.folder}"))
        for line, _ in list_lines(found) if found else ():
            print(line)
        return
    for line, _ in list_lines([opened.summary()]):
        print(line)
    print()
    if isinstance(opened, WatchedRun):
        from rtlagent.cli.view_events import Timeline

        timeline = Timeline(opened.path / "events.jsonl")
        shown = 0
        while timeline.poll():
            for entry in timeline.entries[shown:]:
                print(entry.line)
            shown = len(timeline.entries)
        return
    from rtlagent.cli.view_bench import task_rows

    for row in task_rows(opened.path):
        print(row.line)
