"""What the page shows of a compiled C function."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from rtlagent.report import gantt
from rtlagent.report.loops import diagnostic_lines, loop_rows, total_rows
from rtlagent.report.story import Story
from rtlagent.types import LoopReport, LoopSchedule

_MOST_CHARTS = 60


@dataclass(frozen=True)
class Chart:
    """The timetable of a loop."""

    title: str
    caption: str
    svg: Markup
    limited_by: str


@dataclass(frozen=True)
class HlsView:
    """The loops and the totals."""

    loops: tuple[tuple[str, ...], ...]
    totals: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]
    charts: tuple[Chart, ...]


def hls_view(story: Story) -> HlsView | None:
    """Return what there is to show; None: nothing was compiled."""
    compiled = story.compiled
    if compiled is None:
        return None
    measured = story.verdict.metrics if story.verdict is not None else None
    loops = {(loop.label, loop.line): loop for loop in compiled.loops}
    charts = [_chart(s, loops.get((s.label, s.line))) for s in compiled.schedules[:_MOST_CHARTS] if s.ops]
    return HlsView(
        tuple(loop_rows(compiled.loops)),
        tuple(total_rows(compiled, measured, story.requirements)),
        tuple(diagnostic_lines(compiled.diagnostics)),
        tuple(charts),
    )


def _chart(schedule: LoopSchedule, loop: LoopReport | None) -> Chart:
    ii = f"II {schedule.ii}" if schedule.ii is not None else "not pipelined"
    place = f", line {schedule.line}" if schedule.line else ""
    hidden = gantt.hidden(schedule)
    more = f" {hidden} operations more are not drawn." if hidden else ""
    caption = f"One iteration, cycle by cycle; a cell is {schedule.clock_ns:g} ns.{more}"
    limited = loop.limited_by if loop is not None else ""
    return Chart(f"{schedule.label}{place}: {ii}, depth {schedule.depth}", caption, gantt.draw(schedule), limited)
