"""A database server through SQLAlchemy; a server that is away for a while is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from rtlagent.bench.store.base import url_without_password
from rtlagent.errors import ToolError, UsageError

PATIENCE_S = 300.0
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 15.0
_LOCK = "SELECT pg_advisory_xact_lock(7418362501)"  # any number, as long as nobody else takes it
_ROWS_AT_A_TIME = 500
_SCHEMES = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_T = TypeVar("_T")


class ServerConnection:
    """A base behind a URL."""

    def __init__(self, url: str, *, patience_s: float = PATIENCE_S) -> None:
        """Check the URL and that the server answers.

        Raises:
            UsageError: the URL, or a package for it.
            ToolError: the server does not answer, or refuses.
        """
        self._shown = url_without_password(url)
        self._patience_s = patience_s
        try:
            import sqlalchemy
            from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
        except ModuleNotFoundError as error:
            raise UsageError(f"--db needs the package {error.name}", hint="pip install 'rtlagent[bench]'") from None
        self._text = sqlalchemy.text
        scheme, mark, rest = url.partition("://")
        try:
            self._engine = sqlalchemy.create_engine(f"{_SCHEMES.get(scheme, scheme)}{mark}{rest}", pool_pre_ping=True)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError, ValueError) as error:
            hint = "write it as postgresql://USER@HOST/NAME; the packages come with pip install 'rtlagent[bench]'"
            raise UsageError(f"cannot use this address of a base: {error}", where=self._shown, hint=hint) from None
        try:
            with self._engine.connect():
                pass
        except SQLAlchemyError as error:
            raise ToolError(f"the results base does not answer: {_said(error)}", where=self._shown) from None

    @property
    def lock_statement(self) -> str:
        """PostgreSQL's IF NOT EXISTS fails when two processes get there at once."""
        return _LOCK if self._engine.dialect.name == "postgresql" else ""

    def execute(self, statements: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> None:
        """Execute all in one transaction."""

        def work() -> None:
            with self._engine.begin() as connection:
                for statement, parameters in statements:
                    given = [p for p in parameters if p]
                    connection.execute(self._text(statement), given or None)

        self._patiently(work)

    def select(self, statement: str, parameters: dict[str, Any]) -> Iterator[Sequence[Any]]:
        """Yield rows."""
        connection = self._patiently(self._engine.connect)
        with connection:
            stream = connection.execution_options(yield_per=_ROWS_AT_A_TIME)
            for row in stream.execute(self._text(statement), parameters):
                yield tuple(row)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _patiently(self, work: Callable[[], _T]) -> _T:
        """Do it again while the server is away.

        Raises:
            ToolError: it stays away, or refuses the statement.
        """
        from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

        wait_s, deadline = _FIRST_WAIT_S, time.monotonic() + self._patience_s
        while True:
            try:
                return work()
            except SQLAlchemyError as error:
                away = isinstance(error, OperationalError | InterfaceError) or (
                    isinstance(error, DBAPIError) and error.connection_invalidated
                )
                if not away or time.monotonic() + wait_s > deadline:
                    hint = "nothing is lost: the tasks' folders hold the results; resume when the base is back"
                    raise ToolError(f"the results base fails: {_said(error)}", where=self._shown, hint=hint) from None
                time.sleep(wait_s)
                wait_s = min(_LONGEST_WAIT_S, 2 * wait_s)


def _said(error: Exception) -> str:
    """Return the driver's words, without the statement and its values."""
    return str(getattr(error, "orig", None) or error).strip().split("\n", 1)[0]
