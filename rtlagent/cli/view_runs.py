"""The runs in a folder: what each is for and where it stands."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtlagent.cli.view_events import OUTCOMES, LineFile, Tally, first_line
from rtlagent.console import cost_text, tokens_text
from rtlagent.errors import RtlagentError, UsageError, suggestion
from rtlagent.printable import printable
from rtlagent.types import Usage

RUNNING = "running"
INTERRUPTED = "interrupted"
MARKS = ("spec.json", "settings.json", "events.jsonl", "report.json")
STATE_STYLES = {"PASS": "green", "FAIL": "red", "ERROR": "bold red", RUNNING: "bold cyan", "done": "green"}
COLUMNS = ("run", "state", "began", "time", "attempts", "tokens", "cost", "for")
_BENCH_MARK = "bench.json"
_MOST_SPEC_BYTES = 4 << 20
_MOST_NAMED = 5


@dataclass(frozen=True)
class RunSummary:
    """A line of the list."""

    id: str
    """Path below the folder of the runs, such as `20261130-221500-fifo` or `bench/rtllm-gpt`."""
    path: Path
    kind: str
    """`run`, or `bench` for a benchmark run."""
    state: str
    """PASS, FAIL, limit, ERROR, interrupted (killed runs, too) or running; a benchmark run that is over is `done`."""
    began_at: float | None
    """Seconds since 1970."""
    seconds: float | None
    iterations: int | None
    """None: it has none, as a benchmark run."""
    usage: Usage
    model: str | None
    """None: none is asked."""
    about: str
    finished: int | None = None
    """Tasks of a benchmark run that are done."""
    tasks: int | None = None

    @property
    def running(self) -> bool:
        """A process works on it."""
        return self.state == RUNNING

    def cells(self) -> tuple[str, ...]:
        """Return the texts of the columns; they may hold anything that a file holds."""
        from rtlagent.report.text import duration

        asked = self.model is not None
        count = f"{self.finished}/{self.tasks}" if self.kind == "bench" else _or_dash(self.iterations)
        return (
            self.id,
            self.state,
            _date(self.began_at),
            duration(self.seconds),
            count,
            tokens_text(self.usage.tokens_in + self.usage.tokens_out) if asked else "-",
            cost_text(self.usage.cost_usd) if asked else "-",
            self.about,
        )

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        usage = self.usage
        return {
            "id": self.id,
            "path": str(self.path),
            "kind": self.kind,
            "state": self.state,
            "began_at": self.began_at,
            "seconds": round(self.seconds, 3) if self.seconds is not None else None,
            "iterations": self.iterations,
            "model": self.model,
            "tokens_in": usage.tokens_in,
            "tokens_out": usage.tokens_out,
            "cost_usd": usage.cost_usd,
            "about": self.about,
            "finished": self.finished,
            "tasks": self.tasks,
        }


def _date(at: float | None) -> str:
    with suppress(OverflowError, OSError, ValueError):
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) if at is not None else "-"
    return "?"


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)


@dataclass
class WatchedRun:
    """A run's folder that is looked at again and again; only what is new is read."""

    path: Path
    id: str
    _tally: Tally = field(default_factory=Tally)
    _events: LineFile | None = None
    _about: str = ""

    def summary(self) -> RunSummary:
        """Return where the run stands now."""
        grown = self._read()
        tally = self._tally
        state = OUTCOMES.get(tally.outcome, first_line(tally.outcome)) if tally.outcome is not None else INTERRUPTED
        # The lock is tried only where the events leave it open: whoever wants the run finds it taken for that moment.
        if tally.outcome is None and (grown or is_held(self.path)):
            state = RUNNING
        self._about = self._about or _about(self.path)
        return RunSummary(
            self.id,
            self.path,
            "run",
            state,
            tally.began_at,
            tally.seconds(time.time() if state == RUNNING else None),
            tally.iterations,
            tally.usage,
            tally.model,
            self._about,
        )

    def _read(self) -> bool:
        """Read on; tell whether there was something although all had been read before."""
        first = self._events is None
        if self._events is None:
            self._events = LineFile(self.path / "events.jsonl")
        grown = False
        while lines := self._events.poll():
            if self._events.restarted:
                self._tally = Tally()
            for _, line in lines:
                with suppress(TypeError, ValueError, OverflowError):
                    self._tally.take_line(line)
            grown = not first
        return grown


@dataclass
class WatchedBench:
    """A benchmark run's folder."""

    path: Path
    id: str

    def summary(self) -> RunSummary:
        """Return where it stands; what cannot be read is said in `about`."""
        from rtlagent.bench.run_folder import RunFolder
        from rtlagent.bench.store import open_store
        from rtlagent.bench.tasks import tasks_of

        folder = RunFolder(self.path)
        try:
            about = folder.about()
        except RtlagentError as error:
            return self._damaged(error.message)
        plan, tasks = about.plan, len(tasks_of(about.plan))
        what = f"{plan.suite}, {plan.mode}"
        finished: int | None = None
        usage = Usage()
        if "://" in about.db:
            what += f", results in {first_line(about.db)}"  # asking a server for a list would hold the list up
        else:
            try:
                with open_store(about.db or folder.base) as store:
                    briefs = list(store.briefs(about.id))
                finished = len(briefs)
                usage = sum((b.usage for b in briefs), Usage())
                what += f": {sum(b.status == 'PASS' for b in briefs)} of {tasks} tasks pass"
            except RtlagentError as error:
                what += f": {error.message}"
        state = RUNNING if is_held(self.path) else "done" if finished == tasks else INTERRUPTED
        try:
            seconds: float | None = folder.elapsed_s()
        except RtlagentError:
            seconds = None
        return RunSummary(
            self.id,
            self.path,
            "bench",
            state,
            about.started_at,
            seconds,
            None,
            usage,
            plan.model,
            what,
            finished,
            tasks,
        )

    def _damaged(self, message: str) -> RunSummary:
        state = RUNNING if is_held(self.path) else "ERROR"
        return RunSummary(self.id, self.path, "bench", state, None, None, None, Usage(), None, first_line(message))


class RunList:
    """All runs in a folder, benchmark runs in it and in its `bench/` among them.

    Args:
        folder: Where the runs are; it need not be there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._watched: dict[str, WatchedRun | WatchedBench] = {}

    def poll(self) -> list[RunSummary]:
        """Return the runs as they are now, newest first."""
        watched: dict[str, WatchedRun | WatchedBench] = {}
        for parent, prefix in ((self.folder, ""), (self.folder / "bench", "bench/")):
            for path in _folders(parent):
                name = f"{prefix}{path.name}"
                found = self._watched.get(name) or watched_run(path, name)
                if found is not None:
                    watched[name] = found
        self._watched = watched
        found_now = [w.summary() for w in watched.values()]
        return sorted(found_now, key=lambda s: (s.began_at or 0.0, s.id), reverse=True)

    def find(self, name: str) -> WatchedRun | WatchedBench:
        """Return the run at path `name`, or the one in the folder whose name contains it.

        Raises:
            UsageError: there is none, or there are several.
        """
        is_folder = False
        with suppress(OSError, ValueError):  # a name that no folder can have
            direct = Path(name).resolve()
            is_folder = direct.is_dir()
            found = watched_run(direct, direct.name) if is_folder else None
            if found is not None:
                return found
        if not self._watched:
            self.poll()
        names = list(self._watched)
        matches = [n for n in names if n == name] or [n for n in names if name in n]
        if len(matches) == 1:
            return self._watched[matches[0]]
        shown = ", ".join(sorted(matches or names)[-_MOST_NAMED:])
        if matches:
            raise UsageError(f"{len(matches)} runs match {name!r}: {shown}", hint="give the whole name")
        if is_folder:
            raise UsageError("there is no run in this folder", where=name, hint="`rtlagent view` lists the runs")
        hint = suggestion(name, names) or f"the latest runs are: {shown}"
        hint = hint if names else "`rtlagent generate` makes one; --runs-dir says where they are"
        raise UsageError(f"no run {name!r}", where=str(self.folder), hint=hint)


def watched_run(path: Path, name: str) -> WatchedRun | WatchedBench | None:
    """Return what a folder holds; None: it is no run's."""
    with suppress(OSError):
        if (path / _BENCH_MARK).is_file():
            return WatchedBench(path, name)
        if any((path / mark).is_file() for mark in MARKS):
            return WatchedRun(path, name)
    return None


def is_held(path: Path) -> bool:
    """Tell whether a process holds a run's lock; nothing is written."""
    try:
        with (path / ".lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _folders(parent: Path) -> Iterable[Path]:
    try:
        return [p for p in parent.iterdir() if p.is_dir()]
    except OSError:
        return ()


def _about(path: Path) -> str:
    """Return the name of what a run is for, and the first line of its specification."""
    spec: Mapping[str, Any] = {}
    with suppress(OSError, ValueError, RecursionError, TypeError):
        file = path / "spec.json"
        if file.stat().st_size <= _MOST_SPEC_BYTES:
            spec = json.loads(file.read_bytes())["spec"]
    if not isinstance(spec, dict):
        return ""
    name = first_line(str(spec.get("name") or ""))
    if spec.get("c_source"):
        return f"C function {first_line(str(spec.get('top') or name))}"
    text = first_line(str(spec.get("text") or "").lstrip("# \n"))
    return f"{name}: {text}" if text and text != name else name


def list_lines(rows: Iterable[RunSummary]) -> list[tuple[str, str]]:
    """Return the header and a line a run, columns aligned, each with its style; nothing in them steers a terminal."""
    found = list(rows)
    cells = [COLUMNS, *(tuple(_cell(c) for c in s.cells()) for s in found)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(COLUMNS))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return list(zip(lines, ["bold", *(STATE_STYLES.get(s.state, "yellow") for s in found)], strict=True))


def _cell(text: str) -> str:
    return printable(" ".join(text.split()))
