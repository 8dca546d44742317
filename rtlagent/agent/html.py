"""Leave the HTML report in a run's folder when it ends."""

from __future__ import annotations

import sys

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, RunError
from rtlagent.workspace import Run


def leave_report(run: Run, tools: ToolConfig, *, draws: bool) -> None:
    """Write report.html. If that fails, the run's listeners are told; the verdict stands as it is.

    Args:
        run: A run whose report.json is written.
        tools: How Yosys is run for the schematic.
        draws: Draw one.
    """
    from rtlagent.report import write_report

    try:
        write_report(run.folder, schematic=draws, config=tools)
    except Exception as error:  # said aloud; what was judged must not hang on a picture of it
        reason = error.message if isinstance(error, RtlagentError) else f"{type(error).__name__}: {error}"
        try:
            run.emit("report_unwritten", reason=reason)
        except RunError:
            print(f"warning: report.html was not written: {reason}", file=sys.stderr)
