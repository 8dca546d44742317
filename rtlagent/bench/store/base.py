"""Runs and results in two tables. One process writes; any number may read meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from rtlagent.bench.record import Record
from rtlagent.bench.result import Result
from rtlagent.bench.store.rows import COLUMNS, KEY, from_row, to_row
from rtlagent.bench.tasks import Plan, Task
from rtlagent.errors import RunError, UsageError
from rtlagent.types import Usage, from_json, to_json

VERSION = 1
_COLUMNS = ", ".join(COLUMNS)
_TABLES = (
    "CREATE TABLE IF NOT EXISTS bench_runs (run_id TEXT PRIMARY KEY, version INTEGER NOT NULL, "
    "plan TEXT NOT NULL, record TEXT NOT NULL, started_at DOUBLE PRECISION NOT NULL)",
    "CREATE TABLE IF NOT EXISTS bench_results ("
    + ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    + f", PRIMARY KEY ({', '.join(KEY)}))",
)
_WRITE = (
    f"INSERT INTO bench_results ({_COLUMNS}) VALUES ({', '.join(f':{c}' for c in COLUMNS)}) "
    f"ON CONFLICT ({', '.join(KEY)}) DO UPDATE SET " + ", ".join(f"{c} = excluded.{c}" for c in COLUMNS if c not in KEY)
)
_REGISTER = (
    "INSERT INTO bench_runs (run_id, version, plan, record, started_at) "
    "VALUES (:run_id, :version, :plan, :record, :started_at) "
    "ON CONFLICT (run_id) DO UPDATE SET plan = excluded.plan, record = excluded.record"
)
_RESULTS = f"SELECT {_COLUMNS} FROM bench_results WHERE run_id = :run_id ORDER BY sample, problem"
_BRIEFS = (
    "SELECT problem, sample, status, failure_class, outcome, tokens_in, tokens_cached, tokens_out, cost_usd "
    "FROM bench_results WHERE run_id = :run_id"
)
_RUNS = "SELECT run_id, version, plan, record, started_at FROM bench_runs ORDER BY started_at, run_id"
_DROP = "DELETE FROM bench_results WHERE run_id = :run_id AND problem = :problem AND sample = :sample"

Parameters = dict[str, Any]


class Connection(Protocol):
    """A database that takes SQL with `:name` parameters."""

    @property
    def lock_statement(self) -> str:
        """SQL that lets only one process at a time make tables, until its transaction ends; empty: none is needed."""

    def execute(self, statements: Sequence[tuple[str, Sequence[Parameters]]]) -> None:
        """Execute each statement once for each of its sets of parameters, all in one transaction."""

    def select(self, statement: str, parameters: Parameters) -> Iterator[Sequence[Any]]:
        """Yield rows without holding them all."""

    def close(self) -> None:
        """Let go."""


@dataclass(frozen=True)
class StoredRun:
    """A run as the base knows it."""

    id: str
    plan: Plan
    record: Record
    started_at: float
    """Seconds since 1970."""


@dataclass(frozen=True)
class Brief:
    """What going on with a run has to know of a finished task."""

    task: Task
    status: str
    failure_class: str
    outcome: str
    usage: Usage


class Store:
    """The base, whatever holds it."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self.name = name
        """For people, without a password."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self) -> None:
        """Make the tables unless they are there."""
        lock = self._connection.lock_statement
        self._connection.execute([(statement, [{}]) for statement in (*([lock] if lock else []), *_TABLES)])

    def register(self, run: StoredRun) -> None:
        """Write down what a run is, or what has changed of it."""
        row = {
            "run_id": run.id,
            "version": VERSION,
            "plan": json.dumps(to_json(run.plan)),
            "record": json.dumps(to_json(run.record)),
            "started_at": run.started_at,
        }
        self._connection.execute([(_REGISTER, [row])])

    def write(self, run_id: str, results: Sequence[Result]) -> None:
        """Write results, over older ones of the same tasks."""
        if results:
            self._connection.execute([(_WRITE, [to_row(run_id, r) for r in results])])

    def drop(self, run_id: str, tasks: Sequence[Task]) -> None:
        """Forget the results of tasks."""
        rows = [{"run_id": run_id, "problem": t.problem, "sample": t.sample} for t in tasks]
        if rows:
            self._connection.execute([(_DROP, rows)])

    def runs(self) -> tuple[StoredRun, ...]:
        """Return all runs, oldest first."""
        return tuple(_run(row, self.name) for row in self._connection.select(_RUNS, {}))

    def run(self, name: str = "") -> StoredRun:
        """Return the run whose id contains `name`; without a name the only one.

        Raises:
            UsageError: there is none, or there are several.
        """
        runs = self.runs()
        found = [r for r in runs if r.id == name] or [r for r in runs if name in r.id]
        if len(found) == 1:
            return found[0]
        names = ", ".join(r.id for r in (found or runs)[-8:])
        what = f"{len(found)} runs match {name!r}" if found else f"there is no run {name!r}"
        raise UsageError(what, where=self.name, hint=f"the runs are: {names}" if names else "it holds no run at all")

    def results(self, run_id: str) -> Iterator[Result]:
        """Yield a run's results, by sample and problem."""
        for row in self._connection.select(_RESULTS, {"run_id": run_id}):
            try:
                yield from_row(row)
            except (ValueError, KeyError, TypeError) as error:
                raise _damaged(self.name, error) from error

    def briefs(self, run_id: str) -> Iterator[Brief]:
        """Yield the least about each finished task of a run."""
        for row in self._connection.select(_BRIEFS, {"run_id": run_id}):
            yield Brief(Task(row[0], row[1]), row[2], row[3], row[4], Usage(row[5], row[6], row[7], row[8]))

    def close(self) -> None:
        """Let go of the base."""
        self._connection.close()


def open_store(place: str | Path, *, create: bool = False) -> Store:
    """Open a base.

    Args:
        place: A path of SQLite's, or a URL such as `postgresql://user@host/name`.
        create: Make what is missing; otherwise it is only read.

    Raises:
        UsageError: there is none, the URL is wrong, or the packages for it are not installed.
        ToolError: the server cannot be reached.
    """
    if isinstance(place, str) and "://" in place:
        from rtlagent.bench.store.server import ServerConnection

        store = Store(ServerConnection(place), url_without_password(place))
    else:
        from rtlagent.bench.store.sqlite import SqliteConnection

        store = Store(SqliteConnection(Path(place), create=create), str(place))
    try:
        if create:
            store.prepare()
    except BaseException:
        store.close()
        raise
    return store


def url_without_password(url: str) -> str:
    """Return a URL that may be shown and kept."""
    with suppress(ValueError):
        parts = urlsplit(url)
        user, mark, host = parts.netloc.rpartition("@")
        secret = user.partition(":")[2]
        kept = parts._replace(netloc=f"{user.partition(':')[0]}{mark}{host}")
        query = "&".join(p for p in parts.query.split("&") if not p.lower().startswith("password="))
        return kept._replace(query=query).geturl() if secret or query != parts.query else url
    return "(an unreadable URL)"


def _run(row: Sequence[Any], where: str) -> StoredRun:
    run_id, version, plan, record, started_at = row
    if version != VERSION:
        message = f"run {run_id} was written by another version of rtlagent (format {version}, not {VERSION})"
        raise RunError(message, where=where)
    try:
        return StoredRun(run_id, from_json(Plan, json.loads(plan)), from_json(Record, json.loads(record)), started_at)
    except ValueError as error:
        raise _damaged(where, error) from error


def _damaged(where: str, error: Exception) -> RunError:
    hint = "move the base away and resume the run: it is filled again from the tasks' folders"
    return RunError(f"the results base is damaged: {error}", where=where, hint=hint)
