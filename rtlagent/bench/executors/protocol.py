"""What a runner and an executor say to each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Note = Callable[[str], None]
"""Takes a line for people."""
MOST_LOSSES = 3
"""A job that has cost so many workers their life is not started again."""


class Job(Protocol):
    """Work for another process: picklable, and harmless when it is done twice."""

    @property
    def kind(self) -> str:
        """`generate` or `score`; jobs of different kinds never share a process."""

    def __call__(self) -> Any:
        """Do it and return something picklable."""


@dataclass(frozen=True)
class Failure:
    """An exception of a job as data, so that it survives any transport."""

    kind: str
    """The exception's class."""
    message: str
    where: str = ""
    hint: str = ""
    exit_code: int = 4
    expected: bool = False
    """It is one of errors.py; everything else is a fault of rtlagent or of a worker."""
    detail: str = ""
    """The traceback of an unexpected one."""


@dataclass(frozen=True)
class Done:
    """A job that has ended."""

    key: str
    value: Any = None
    failure: Failure | None = None
    host: str = ""


@dataclass(frozen=True)
class Place:
    """What worker processes need to know of the run."""

    folder: Path
    """The run's own; workers write below it."""
    hidden: tuple[Path, ...] = ()
    """Folders that no answering process may open; empty: the run is not blind."""
    project: Path | None = None
    """Current folder of the workers, where it exists: it may hold prompts of its own. None: the starter's."""


class Executor(Protocol):
    """Runs jobs somewhere else."""

    name: str

    @property
    def slots(self) -> int:
        """How many jobs can usefully be in flight now."""

    def submit(self, key: str, job: Job) -> None:
        """Start a job; `key` is not in flight."""

    def wait(self, timeout_s: float) -> Sequence[Done]:
        """Return the jobs that have ended, as soon as there is one; none after `timeout_s`, or at a loss.

        Raises:
            ToolError: the place is lost for good.
        """

    def close(self) -> None:
        """End everything that was started here, at once."""


def lost(key: str, why: str) -> Done:
    """Give a job up."""
    return Done(key, failure=Failure("WorkerLost", f"the worker process died {MOST_LOSSES} times over this: {why}"))


def ignore(line: str) -> None:
    """Say nothing."""
