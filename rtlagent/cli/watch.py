"""`rtlagent watch`: lint and simulate again whenever a file is saved."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rtlagent.config import ToolConfig
    from rtlagent.types import SourceFile

BEGIN = "watch: begin"
END = "watch: end"


def watch(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="Verilog files, headers and memory images.")],
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", "-t", metavar="T.py", help="cocotb test (repeatable).", show_default=False),
    ] = None,
    tb: Annotated[
        list[Path] | None, typer.Option("--tb", metavar="TB.sv", help="Testbench (repeatable).", show_default=False)
    ] = None,
    support: Annotated[
        list[Path] | None,
        typer.Option("--support", metavar="FILE", help="What the tests import or read.", show_default=False),
    ] = None,
    top: Annotated[
        str | None, typer.Option("--top", help="Top module (default: as for sim).", show_default=False)
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", min=1, help="Stop after so many rounds.", show_default=False)
    ] = None,
) -> None:
    """Lint and simulate again whenever a file is saved.

    Each round prints `watch: begin`, the diagnostics and results, and `watch: end STATUS`: VS Code's background tasks
    go by these lines. Tests run when lint finds no error. Ctrl-C ends it.

    Exit codes: 0 ended after --rounds, 2 wrong input, 130 ended by Ctrl-C.

    Such as:

      rtlagent watch rtl/*.v --test tests/test_fifo.py
    """
    from watchfiles import watch as changes

    from rtlagent.config import load_config
    from rtlagent.errors import UsageError

    followed = [*files, *(test or []), *(tb or []), *(support or [])]
    for path in followed:
        if not path.exists():
            raise UsageError("does not exist", where=str(path))
    config = load_config().tools
    names = {p.resolve() for p in followed}

    def is_followed(_change: object, path: str) -> bool:
        return Path(path).resolve() in names

    # Editors replace a file when they save it, so it is the folders that are watched.
    folders = {p.parent for p in names}
    saves = changes(*folders, watch_filter=is_followed, recursive=False, step=50, debounce=400, rust_timeout=500,
                    yield_on_timeout=True)  # fmt: skip
    done = 0
    seen: dict[Path, int] = {}
    for _saved in saves:
        # What was saved while a round went on is found by its time, whatever events were lost meanwhile.
        now = {p: p.stat().st_mtime_ns for p in names if p.exists()}
        if now == seen:
            continue
        seen = now
        _round(files, test or [], tb or [], support or [], top, config)
        done += 1
        if done == rounds:
            return


def _round(
    files: Sequence[Path],
    test: Sequence[Path],
    tb: Sequence[Path],
    support: Sequence[Path],
    top: str | None,
    config: ToolConfig,
) -> None:
    """Judge once; an error of the user's, such as a file that is gone for a moment, ends the round only."""
    from rtlagent.errors import RtlagentError
    from rtlagent.printable import printable

    start = time.monotonic()
    print(BEGIN, flush=True)
    status = "ERROR"
    try:
        status = _judge(files, test, tb, support, top, config)
    except RtlagentError as error:
        print(printable(f"error: {error}"), flush=True)
    print(f"{END} {status} in {time.monotonic() - start:.1f} s", flush=True)
    sys.stdout.flush()


def _judge(
    files: Sequence[Path],
    test: Sequence[Path],
    tb: Sequence[Path],
    support: Sequence[Path],
    top: str | None,
    config: ToolConfig,
) -> str:
    from rtlagent.cli.inputs import find_top, read_files, read_tests, split_data
    from rtlagent.cli.render import show
    from rtlagent.tools.lint import lint
    from rtlagent.tools.simulate import simulate

    sources: tuple[SourceFile, ...] = read_files(files)
    result = lint(sources, top=top if not tb else None, config=config)
    show(result, sources, as_json=False)
    if not result.passed or not (test or tb):
        return result.status.value
    rtl, data = split_data(sources)
    tests = read_tests(test, tb, support)
    chosen = find_top(rtl, top, config) if test or top else ""
    result = simulate(rtl, tests, top=chosen, wave="never", data_files=data, config=config)
    show(result, (*sources, *(t.source for t in tests)), as_json=False)
    return result.status.value
