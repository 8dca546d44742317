"""Make the HTML report of a run that may still go on, beside the run and not in it."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from rtlagent.config import ToolConfig

_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def write_page(path: Path, out: Path, *, running: bool, tools: ToolConfig) -> Path:
    """Write the report of a run's or a benchmark run's folder.

    Args:
        path: The folder.
        out: The file.
        running: The run goes on: nothing is started for it and nothing is written into its folder.
        tools: How tools are run that draw the design.

    Raises:
        RtlagentError: there is no run, or the file cannot be written.
    """
    from rtlagent.bench.run_folder import RunFolder as BenchFolder
    from rtlagent.report import write_report

    bench = BenchFolder(path)
    if bench.begun:
        from rtlagent.bench.html import write_bench_report

        return write_bench_report(bench, out=out)
    return write_report(path, out, schematic=not running and os.access(path / "store", os.W_OK), config=tools)


def open_page(place: str) -> bool:
    """Hand a file or an address to the user's browser; False: there is no screen to open one on.

    Without a screen Python would start a text browser, in the terminal that the viewer is in.
    """
    import webbrowser

    if sys.platform != "darwin" and not any(os.environ.get(name) for name in _SCREENS):
        return False
    return webbrowser.open(place)


def page_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder for pages that nobody else can read; it goes with the object."""
    return tempfile.TemporaryDirectory(prefix="rtlagent-view-", ignore_cleanup_errors=True)
