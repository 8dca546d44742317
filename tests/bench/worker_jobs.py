"""Jobs for the executors' tests; worker processes import this module from PYTHONPATH."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from rtlagent.errors import ToolMissingError


@dataclass(frozen=True)
class Nap:
    """Sleep, leave a mark, and tell which process did it."""

    kind: str
    seconds: float
    mark: Path | None = None

    def __call__(self) -> int:
        time.sleep(self.seconds)
        if self.mark is not None:
            with self.mark.open("a") as log:
                log.write(f"{os.getpid()}\n")
        return os.getpid()


@dataclass(frozen=True)
class Die:
    """Kill the worker; from the second time on only if `always`."""

    kind: str
    mark: Path
    always: bool = False

    def __call__(self) -> str:
        if self.always or not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "survived"


@dataclass(frozen=True)
class Read:
    """Open a file."""

    kind: str
    path: Path

    def __call__(self) -> str:
        return self.path.read_text()


@dataclass(frozen=True)
class Fail:
    """Raise: an expected error, or a fault of our own."""

    kind: str
    expected: bool

    def __call__(self) -> None:
        if self.expected:
            raise ToolMissingError("no such tool", where="here", hint="install it")
        raise ValueError("a fault")
