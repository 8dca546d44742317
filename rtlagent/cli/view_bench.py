"""A benchmark run's tasks, as the viewer shows them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.result import Result
from rtlagent.bench.run_folder import BASE, RunFolder
from rtlagent.bench.store import open_store
from rtlagent.bench.tasks import folder_of, tasks_of
from rtlagent.cli.view_detail import Block, LogFile, Text, title
from rtlagent.cli.view_runs import MARKS
from rtlagent.console import usage_text
from rtlagent.errors import RtlagentError
from rtlagent.printable import printable
from rtlagent.report.text import duration
from rtlagent.types import Status

_SERVER_EVERY_S = 5
_STYLES = {Status.PASS: "green", Status.FAIL: "red", Status.ERROR: "bold red", Status.TIMEOUT: "bold red"}


@dataclass(frozen=True)
class TaskRow:
    """A task, finished or not."""

    line: str
    """For people; nothing in it steers a terminal."""
    style: str
    result: Result | None
    folder: Path


def task_rows(path: Path) -> list[TaskRow]:
    """Return all tasks of a benchmark run, in the order in which they are done.

    Raises:
        RtlagentError: the run or its results cannot be read.
    """
    folder = RunFolder(path)
    about = folder.about()
    results: dict[object, Result] = {}
    if about.db or folder.base.is_file():
        with open_store(about.db or folder.base) as store:
            results = {r.task: r for r in store.results(about.id)}
    tasks = tasks_of(about.plan)
    width = min(60, max((len(t.problem) for t in tasks), default=0))
    return [_row(path, t.problem, t.sample, results.get(t), folder_of(path, t), width) for t in tasks]


def _row(root: Path, problem: str, sample: int, result: Result | None, folder: Path, width: int) -> TaskRow:
    status = str(result.status) if result is not None else "begun" if folder.is_dir() else "-"
    said = ""
    if result is not None:
        said = f"{result.failure_class}  {' '.join(result.message.split())[:200]}".strip()
    line = f"{status:8} {problem.ljust(width)}  {sample:>3}  {said}".rstrip()
    style = _STYLES.get(result.status, "yellow") if result is not None else "dim"
    return TaskRow(printable(line), style, result, folder)


def task_details(row: TaskRow) -> tuple[Block, ...]:
    """Return what to show of a task."""
    found: list[Block] = [Text(row.line, f"bold {row.style}".replace("bold bold", "bold"))]
    result = row.result
    if result is None:
        found.append(Text("it is not finished"))
    else:
        own = {True: "PASS", False: "FAIL", None: "-"}[result.own_verdict]
        lines = [
            f"hidden tests: {result.status} {result.failure_class}".rstrip(),
            f"our own gates: {own} {result.grade}".rstrip(),
            f"attempts: {'-' if result.iterations is None else result.iterations}",
            usage_text(result.usage),
            f"answering took {duration(result.generate_s)}, scoring {duration(result.score_s)}",
        ]
        found += [Text("\n".join(lines)), title("message"), Text(result.message)]
    opened = run_of(row)
    if opened is not None:
        found.append(Text(f"\nenter opens the run {opened.name}", "bold"))
    scores = row.folder / "score"
    for log in sorted(scores.rglob("*.log"))[:20] if scores.is_dir() else ():
        if log.is_file() and not log.is_symlink():
            found += [title(log.relative_to(row.folder).as_posix()), LogFile(log)]
    return tuple(found)


def run_of(row: TaskRow) -> Path | None:
    """Return the folder of the run that answered a task, the last one if there are several; None: there is none."""
    if not row.folder.is_dir():
        return None
    found = [p for p in row.folder.iterdir() if p.is_dir() and any((p / mark).is_file() for mark in MARKS)]
    return max(found, key=lambda p: p.name, default=None)


def read_tasks(path: Path) -> tuple[list[TaskRow], str]:
    """Return the tasks, and what keeps them from being read."""
    try:
        return task_rows(path), ""
    except RtlagentError as error:
        return [], printable(error.message)


def tasks_stamp(path: Path) -> object:
    """Return something that is another whenever a task may have begun or ended: reading all results takes longer."""
    found: list[int] = [int(time.time() // _SERVER_EVERY_S)] if not (path / BASE).is_file() else []
    for name in (BASE, f"{BASE}-wal", "tasks"):
        try:
            found.append((path / name).stat().st_mtime_ns)
        except OSError:
            found.append(0)
    return found
