"""SQLite in WAL mode: readers never wait for the writer."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rtlagent.errors import RunError, UsageError

_BUSY_S = 60.0
_PAUSE_S = 0.01


class SqliteConnection:
    """A file."""

    lock_statement = ""

    def __init__(self, path: Path, *, create: bool) -> None:
        self._path = path
        if not create and not path.is_file():
            raise UsageError("there is no results base", where=str(path))
        try:
            self._base = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
            if create:
                _patiently(lambda: self._base.execute("PRAGMA journal_mode=WAL"))
                # A power cut may cost the last results; they are still in the tasks' folders.
                self._base.execute("PRAGMA synchronous=NORMAL")
        except sqlite3.Error as error:
            raise _failed(path, error) from error

    def execute(self, statements: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> None:
        """Execute all in one transaction."""
        try:
            _patiently(lambda: self._base.execute("BEGIN IMMEDIATE"))
            for statement, parameters in statements:
                self._base.executemany(statement, parameters)
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise _failed(self._path, error) from error

    def select(self, statement: str, parameters: dict[str, Any]) -> Iterator[Sequence[Any]]:
        """Yield rows."""
        try:
            yield from _patiently(lambda: self._base.execute(statement, parameters))
        except sqlite3.Error as error:
            raise _failed(self._path, error) from error

    def close(self) -> None:
        """Close the file."""
        self._base.close()


def _patiently(step: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
    """Repeat what finds the file busy.

    SQLite's own timeout does not cover every such answer: changing to WAL, recovering a log and the last connection's
    closing refuse others at once.
    """
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            return step()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)


def _failed(path: Path, error: sqlite3.Error) -> RunError:
    hint = "if it is damaged, move it away and resume the run: it is filled again from the tasks' folders"
    return RunError(f"the results base cannot be used: {error}", where=str(path), hint=hint)
