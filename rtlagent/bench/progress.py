"""Show a benchmark run while it goes on: a live table by outcome in a terminal, a line a task elsewhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from rtlagent.bench.result import Result
from rtlagent.bench.store.base import Brief
from rtlagent.console import cost_text, tokens_text
from rtlagent.printable import printable
from rtlagent.types import Status, Usage

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

_ROWS = ("pass", "design", "testbench", "budget", "benchmark defect", "tool", "endpoint")
_MEANING = {
    "pass": "the hidden tests pass",
    "design": "the design is wrong, or there is none",
    "testbench": "our own gates passed it, the hidden tests do not",
    "budget": "stopped by its limits before it was right",
    "benchmark defect": "the suite's fault",
    "tool": "a tool broke: --retry errors repeats it",
    "endpoint": "the model could not be asked: --retry errors repeats it",
}
_STYLE = {"pass": "green", "tool": "magenta", "endpoint": "magenta"}
_NOTES = 6


class View(Protocol):
    """Whoever is told how a run goes."""

    def begin(self, total: int, finished: Iterable[Brief], title: str, spent: Usage) -> None:
        """The run goes on from here."""

    def took(self, result: Result, spent: Usage) -> None:
        """A task is finished."""

    def tick(self, answering: int, scoring: int) -> None:
        """Time has passed."""

    def note(self, text: str) -> None:
        """Something else is worth a line."""


class Tally:
    """The figures that both views show."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self.total = 0
        self.title = ""
        self.counts: Counter[str] = Counter()
        self.spent = Usage()
        self.finished_now = 0
        """In this session."""

    def begin(self, total: int, finished: Iterable[Brief], title: str, spent: Usage) -> None:
        """Start with what earlier sessions have done."""
        self._started = self._clock()
        self.total, self.title, self.spent = total, title, spent
        self.counts.update(_row(b.status, b.failure_class) for b in finished)

    def took(self, result: Result, spent: Usage) -> None:
        """Count a task."""
        self.counts[_row(result.status, result.failure_class)] += 1
        self.finished_now += 1
        self.spent = spent

    @property
    def finished(self) -> int:
        """Tasks that are done, earlier sessions included."""
        return sum(self.counts.values())

    @property
    def eta_s(self) -> float | None:
        """Seconds to the end at the pace of this session; None: not known yet."""
        if not self.finished_now:
            return None
        return (self._clock() - self._started) / self.finished_now * (self.total - self.finished)

    def line(self) -> str:
        """Say in one line where the run stands."""
        eta = self.eta_s
        left = "" if self.finished == self.total else f", ETA {'unknown' if eta is None else duration_text(eta)}"
        tokens = tokens_text(self.spent.tokens_in + self.spent.tokens_out)
        about = "about " if self.spent.estimated else ""
        return f"{self.finished} of {self.total}{left}, {about}{tokens} tokens, cost {cost_text(self.spent.cost_usd)}"


class PlainBenchView:
    """One line a task, for logs and pipes."""

    def __init__(self, stream: TextIO) -> None:
        self.tally = Tally()
        self._stream = stream

    def __enter__(self) -> PlainBenchView:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.flush()

    def begin(self, total: int, finished: Iterable[Brief], title: str, spent: Usage) -> None:
        """Say what is done already."""
        self.tally.begin(total, finished, title, spent)
        self.note(f"{title}: {self.tally.line()}")

    def took(self, result: Result, spent: Usage) -> None:
        """Print the task's line."""
        self.tally.took(result, spent)
        self.note(f"{task_line(result)} | {self.tally.line()}")

    def tick(self, answering: int, scoring: int) -> None:
        """Say nothing: logs keep every line."""

    def note(self, text: str) -> None:
        """Print a line."""
        print(printable(text), file=self._stream, flush=True)


class LiveBenchView:
    """A table by outcome, redrawn in place, with the last tasks below it."""

    def __init__(self, console: Console) -> None:
        self.tally = Tally()
        self._console = console
        self._live: Live | None = None
        self._last: list[str] = []
        self._flying = (0, 0)

    def __enter__(self) -> LiveBenchView:
        from rich.live import Live

        self._live = Live(self, console=self._console, refresh_per_second=4)
        self._live.__enter__()
        return self

    def __exit__(self, *args: Any) -> None:
        if self._live is not None:
            self._flying, self._last = (0, 0), []
            self._live.__exit__(*args)

    def begin(self, total: int, finished: Iterable[Brief], title: str, spent: Usage) -> None:
        """Start the table."""
        self.tally.begin(total, finished, title, spent)

    def took(self, result: Result, spent: Usage) -> None:
        """Count the task and show its line for a while."""
        self.tally.took(result, spent)
        self._last = [*self._last, task_line(result)][-_NOTES:]

    def tick(self, answering: int, scoring: int) -> None:
        """Note what is going on."""
        self._flying = (answering, scoring)

    def note(self, text: str) -> None:
        """Print a line above the table."""
        from rich.text import Text

        self._console.print(Text(printable(text)))

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("outcome")
        table.add_column("tasks", justify="right")
        table.add_column("share", justify="right")
        table.add_column("")
        tally = self.tally
        for row in _ROWS:
            count = tally.counts[row]
            if count or row in ("pass", "design"):
                share = f"{100 * count / tally.finished:.1f} %" if tally.finished else "-"
                style = _STYLE.get(row, "red" if count else "")
                table.add_row(Text(row, style=style), str(count), share, Text(_MEANING[row], style="dim"))
        answering, scoring = self._flying
        going = f"  answering {answering}, scoring {scoring}" if answering or scoring else ""
        lines = [Text(line, style="dim", overflow="ellipsis", no_wrap=True) for line in self._last]
        return Group(Text(printable(tally.title), style="bold"), table, Text(f"{tally.line()}{going}"), *lines)


def task_line(result: Result) -> str:
    """Say in one line how a task ended."""
    verdict = "PASS" if result.passed else f"{result.status} ({result.failure_class})"
    seconds = result.generate_s + result.score_s
    tokens = result.usage.tokens_in + result.usage.tokens_out
    spent = f", {tokens_text(tokens)} tokens, {cost_text(result.usage.cost_usd)}" if tokens else ""
    why = "" if result.passed or not result.message else f": {result.message.splitlines()[0][:120]}"
    return f"{result.task} {verdict} in {seconds:.1f} s{spent}{why}"


def duration_text(seconds: float) -> str:
    """Spell a duration: 45 s, 12 min, 3 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def _row(status: str, failure_class: str) -> str:
    return "pass" if status == Status.PASS else failure_class or "design"
