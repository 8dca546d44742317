"""One self-contained HTML file about a run: nothing is fetched, no script runs, it opens from disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtlagent.config import ToolConfig
    from rtlagent.report.bench_page import BenchPage

__all__ = ["REPORT_NAME", "bench_report", "write_report"]

REPORT_NAME = "report.html"


def write_report(
    run_dir: Path, out: Path | None = None, *, schematic: bool = True, config: ToolConfig | None = None
) -> Path:
    """Write the report of a run folder, finished or not, and return where it is.

    Args:
        run_dir: The run's folder; what is missing or damaged in it is said in the report.
        out: The file; None: `report.html` in the folder.
        schematic: Draw the design, which starts Yosys once in the sandbox; False: say what kept results tell.
        config: How tools are run; None: the defaults.

    Raises:
        RunError: there is no run in the folder, or the file cannot be written.
    """
    from rtlagent.report.write import write_run

    return write_run(run_dir, out or run_dir / REPORT_NAME, schematic=schematic, config=config)


def bench_report(page: BenchPage, out: Path) -> Path:
    """Write the report of a benchmark run and return where it is; `rtlagent.bench.html` makes the page.

    Raises:
        RunError: the file cannot be written.
    """
    from rtlagent.report.write import write_bench

    return write_bench(page, out)
