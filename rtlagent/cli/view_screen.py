"""The viewer in the terminal: a list of runs, and one run with its events and what belongs to each."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from rtlagent.cli.view_bench import TaskRow, read_tasks, run_of, task_details, tasks_stamp
from rtlagent.cli.view_detail import Block, RunDetails, Text, details_of
from rtlagent.cli.view_events import Timeline
from rtlagent.cli.view_page import open_page, page_folder, write_page
from rtlagent.cli.view_runs import RunList, RunSummary, WatchedBench, WatchedRun, list_lines, watched_run
from rtlagent.cli.view_text import Line
from rtlagent.cli.view_widgets import Detail, Rows
from rtlagent.config import ToolConfig
from rtlagent.console import usage_text
from rtlagent.errors import EXIT_INTERRUPTED, RtlagentError
from rtlagent.printable import printable
from rtlagent.report.text import duration

_LIST_EVERY_S = 1.0
_RUN_EVERY_S = 0.4

Watched = WatchedRun | WatchedBench


class Source(Protocol):
    """What a run's screen shows."""

    def poll(self) -> tuple[list[Line], bool]:
        """Return new rows, and whether they take the place of all earlier ones."""

    def details(self, index: int) -> tuple[Block, ...]:
        """Return what belongs to a row; it may take a moment, and any thread may ask."""

    def opens(self, index: int) -> Path | None:
        """Return the folder of the run that a row opens; None: it opens none."""

    def waits(self, index: int) -> bool:
        """Tell whether more may belong to a row later."""


class EventSource:
    """A run's events."""

    def __init__(self, path: Path) -> None:
        self._timeline = Timeline(path / "events.jsonl")
        self._details: RunDetails | None = details_of(path, self._timeline)

    def poll(self) -> tuple[list[Line], bool]:
        """Return the rows of new events."""
        count = self._timeline.poll()
        entries = self._timeline.entries
        return [(e.line, e.style) for e in entries[len(entries) - count :]], self._timeline.file.restarted

    def details(self, index: int) -> tuple[Block, ...]:
        """Return what belongs to an event."""
        return self._details.of(index) if self._details is not None and index < len(self._timeline.entries) else ()

    def opens(self, _index: int) -> Path | None:
        """Events open nothing."""
        return None

    def waits(self, index: int) -> bool:
        """A question to the model waits for its answer."""
        return index < len(self._timeline.entries) and self._timeline.entries[index].kind == "model_call"


class TaskSource:
    """A benchmark run's tasks."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[TaskRow] = []
        self._problem = ""
        self._stamp: object = None

    def poll(self) -> tuple[list[Line], bool]:
        """Return the rows anew if any of them has changed."""
        stamp = tasks_stamp(self._path)
        if stamp == self._stamp:
            return [], False
        self._stamp = stamp
        rows, problem = read_tasks(self._path)
        if rows == self._rows and problem == self._problem:
            return [], False
        self._rows, self._problem = rows, problem
        return [(r.line, r.style) for r in rows] or [(problem, "red")], True

    def details(self, index: int) -> tuple[Block, ...]:
        """Return what belongs to a task."""
        return task_details(self._rows[index]) if index < len(self._rows) else (Text(self._problem, "red"),)

    def opens(self, index: int) -> Path | None:
        """Return the run that answered a task."""
        return run_of(self._rows[index]) if index < len(self._rows) else None

    def waits(self, _index: int) -> bool:
        """A task may be finished later."""
        return True


class _Listing(Screen[None]):
    """What both screens do: choose a row, filter, go back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("escape", "back", "Back", key_display="esc"),
        Binding("o", "report", "Report"),
        Binding("q", "app.quit", "Quit"),
    ]
    app: Viewer

    @property
    def rows(self) -> Rows:
        """The rows to choose from."""
        return self.query_one(Rows)

    def filter_box(self) -> Input:
        """Return the box that the filter is typed in, hidden until it is asked for."""
        box = Input(placeholder="show lines with ...", id="filter", compact=True)
        box.display = False
        return box

    def action_filter(self) -> None:
        """Ask for a text that shown rows hold."""
        box = self.query_one("#filter", Input)
        box.display = True
        box.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the rows while it is typed."""
        self.rows.narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go back to the rows; the filter stays."""
        event.input.display = bool(event.value)
        self.rows.focus()

    def drop_filter(self) -> bool:
        """Take the filter away; False: there is none."""
        box = self.query_one("#filter", Input)
        if not box.display:
            return False
        box.value = ""
        box.display = False
        self.rows.focus()
        return True

    def action_back(self) -> None:
        """Take the filter away."""
        self.drop_filter()


class RunsScreen(_Listing):
    """The list of runs, newest first."""

    def __init__(self, runs: RunList) -> None:
        super().__init__()
        self._runs = runs
        self._found: list[RunSummary] = []

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static("", id="title", markup=False)
        yield Static("", id="columns", markup=False)
        yield Rows()
        yield self.filter_box()
        yield Footer()

    def on_mount(self) -> None:
        """Show the runs, and look again every second."""
        self.rows.focus()
        self._poll()
        self.set_interval(_LIST_EVERY_S, self._poll)

    def _poll(self) -> None:
        if self.app.screen is not self and self._found:
            return
        chosen = self._chosen()
        found = self._runs.poll()
        header, *lines = list_lines(found)
        at = next((n for n, s in enumerate(found) if chosen is not None and s.id == chosen.id), 0)
        self._found = found
        running = sum(s.running for s in found)
        many = f"{len(found)} runs, {running} of them running" if found else "there is no run yet"
        self.query_one("#title", Static).update(printable(f"{self._runs.folder}: {many}"))
        self.query_one("#columns", Static).update(header[0])
        self.rows.replace(lines, at)

    def _chosen(self) -> RunSummary | None:
        index = self.rows.chosen
        return self._found[index] if index is not None and index < len(self._found) else None

    def on_rows_opened(self) -> None:
        """Open the chosen run."""
        chosen = self._chosen()
        if chosen is not None:
            self.app.open_run(chosen.path, chosen.id)

    def action_report(self) -> None:
        """Open the chosen run's report in the browser."""
        chosen = self._chosen()
        if chosen is not None:
            self.app.open_report(chosen.path, running=chosen.running)


class RunScreen(_Listing):
    """One run: its events, and what belongs to the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("l", "live", "Follow the end")]

    def __init__(self, watched: Watched) -> None:
        super().__init__()
        self._watched = watched
        bench = isinstance(watched, WatchedBench)
        self._source: Source = TaskSource(watched.path) if bench else EventSource(watched.path)
        self._summary = watched.summary()
        self.live = self._summary.running and not bench

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Static("", id="title", markup=False)
        with Horizontal():
            yield Rows()
            yield Detail()
        yield self.filter_box()
        yield Footer()

    def on_mount(self) -> None:
        """Show what there is, and look again a few times a second."""
        self.rows.focus()
        self._poll()
        self.set_interval(_RUN_EVERY_S, self._poll)

    def _poll(self) -> None:
        rows, anew = self._source.poll()
        if anew:
            self.rows.replace(rows, self.rows.chosen)
        elif rows:
            self.rows.extend(rows)
            # The rest of a long file follows at once, with the keyboard in between.
            self.call_later(self._poll)
        if rows and self.live:
            self.rows.follow()
        if rows and self.rows.chosen is not None and self._source.waits(self.rows.chosen):
            self._show(self.rows.chosen)
        self._summary = self._watched.summary()
        self._tell()
        self.query_one(Detail).look()

    def _tell(self) -> None:
        run = self._summary
        spent = f", {usage_text(run.usage)}" if run.model is not None else ""
        many = "s" * (run.iterations != 1)
        attempts = f", {run.iterations} attempt{many}" if run.iterations is not None else ""
        live = "  [following the end]" if self.live else ""
        text = f"{run.id}  {run.state}  {duration(run.seconds)}{attempts}{spent}  {run.about}{live}"
        self.query_one("#title", Static).update(printable(" ".join(text.split())))

    def on_rows_moved(self, event: Rows.Moved) -> None:
        """Show what belongs to the row; whoever moves away from the end stops following it."""
        if event.by_user and self.live and not self.rows.at_end:
            self.live = False
            self._tell()
        if self.rows.chosen is not None:
            self._show(self.rows.chosen)

    @work(thread=True, exclusive=True)
    def _show(self, index: int) -> None:
        blocks = self._source.details(index)
        self.app.call_from_thread(self._shown, index, blocks)

    def _shown(self, index: int, blocks: Sequence[Block]) -> None:
        if index == self.rows.chosen:
            self.query_one(Detail).show(blocks)

    def on_rows_opened(self) -> None:
        """Open the run behind a task; else go to the text."""
        index = self.rows.chosen
        opened = self._source.opens(index) if index is not None else None
        if opened is None:
            self.query_one(Detail).focus()
        else:
            self.app.open_run(opened, f"{self._summary.id}/{opened.name}")

    def action_back(self) -> None:
        """Go back: from the text to the events, from a filter to all, from the run to the list."""
        if self.query_one(Detail).has_focus:
            self.rows.focus()
        elif not self.drop_filter():
            self.app.pop_screen()

    def action_live(self) -> None:
        """Follow the end of the run, or stop that."""
        self.live = not self.live
        if self.live:
            self.rows.follow()
        self._tell()

    def action_report(self) -> None:
        """Open the report in the browser."""
        self.app.open_report(self._watched.path, running=self._summary.running)


class Viewer(App[None]):
    """Shows runs.

    Args:
        runs: The runs to choose from.
        opened: The run to open at once.
        tools: How tools are run that draw the design in a report.
    """

    CSS = """
    #title { height: 1; background: $primary; color: $text; text-style: bold; }
    #columns { height: 1; text-style: bold; }
    RunScreen Rows { width: 2fr; border-right: solid $primary; }
    RunScreen Detail { width: 3fr; padding: 0 1; }
    """
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", "Quit", show=False, priority=True)]

    def __init__(self, runs: RunList, opened: Watched | None = None, *, tools: ToolConfig | None = None) -> None:
        super().__init__()
        self._runs = runs
        self._opened = opened
        self._tools = tools or ToolConfig()
        self._pages = page_folder()
        self.opens_page: Callable[[str], bool] = open_page

    def on_mount(self) -> None:
        """Show the list, and above it the run that was asked for."""
        # Where a polite kill is an interrupt, as in the command, it would break off whatever is being drawn.
        if signal.getsignal(signal.SIGTERM) is signal.default_int_handler:
            for number in (signal.SIGTERM, signal.SIGINT):
                asyncio.get_running_loop().add_signal_handler(number, lambda: self.exit(return_code=EXIT_INTERRUPTED))
        self.push_screen(RunsScreen(self._runs))
        if self._opened is not None:
            self.push_screen(RunScreen(self._opened))

    def on_unmount(self) -> None:
        """Leave nothing behind."""
        self._pages.cleanup()

    def open_run(self, path: Path, name: str) -> None:
        """Show a run."""
        watched = watched_run(path, name)
        if watched is None:
            self.notify("the run is not there any more", severity="warning", markup=False)
        else:
            self.push_screen(RunScreen(watched))

    @work(thread=True, exclusive=True, group="report")
    def open_report(self, path: Path, *, running: bool) -> None:
        """Write a run's report and hand it to the browser."""
        out = Path(self._pages.name) / f"{path.name}.html"
        try:
            write_page(path, out, running=running, tools=self._tools)
            said = (
                "" if self.opens_page(out.as_uri()) else f"there is no browser here; the report is {out} until you quit"
            )
        except RtlagentError as error:
            said = error.message
        except Exception as error:
            # A damaged run is still to be looked at here.
            said = f"the report cannot be made: unexpected {type(error).__name__}: {error}"
        if said:
            self.call_from_thread(self.notify, printable(said), severity="warning", markup=False)
