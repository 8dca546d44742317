"""A worker process: takes jobs of one kind through a pipe, does them, and dies with whoever started it.

`WorkerProcess` is the starter's side; `main` is the process itself.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rtlagent.bench.executors.protocol import Failure, Job, Place
from rtlagent.errors import RtlagentError

_PR_SET_PDEATHSIG = 1
_PROGRAM = "from rtlagent.bench.executors.worker import main; main()"
LOG = "workers.log"
_OWN_END_S = 2.0


class WorkerDiedError(Exception):
    """The process is gone; the text says how."""


class WorkerProcess:
    """A worker, from the side of its starter."""

    def __init__(self, kind: str, place: Place) -> None:
        self.kind = kind
        self.jobs = 0
        """How many it has done."""
        ours, theirs = socket.socketpair()
        log = _open_log(place.folder)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(),),
                # Ctrl-C is the starter's business; it ends its workers itself.
                start_new_session=True,
            )
        finally:
            theirs.close()
            if log != subprocess.DEVNULL:
                os.close(log)
        self.connection = Connection(ours.detach())
        self.connection.send((kind, place))

    def send(self, job: bytes) -> None:
        """Hand a pickled job over.

        Raises:
            WorkerDiedError: there is nobody.
        """
        try:
            self.connection.send_bytes(job)
        except OSError:
            raise WorkerDiedError("it takes no job") from None

    def receive(self) -> tuple[Any, Failure | None]:
        """Return what came of the job: its value, or why there is none.

        Raises:
            WorkerDiedError: it died over it.
        """
        try:
            value, failure = self.connection.recv()
        except (EOFError, OSError):
            raise WorkerDiedError(self.end(dying=True)) from None
        self.jobs += 1
        return value, failure

    def end(self, *, dying: bool = False) -> str:
        """Kill it and all that it has started; return how it ended, in words.

        Args:
            dying: It has closed its pipe already; its own end is waited for, because that is the one to tell of.
        """
        if dying:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_OWN_END_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        ended = self._process.wait()
        self.connection.close()
        return f"signal {-ended}" if ended < 0 else f"exit code {ended}"

    @property
    def alive(self) -> bool:
        """It has not ended."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid


def _open_log(folder: Path) -> int:
    """Open the log that workers share, away from the terminal."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    except OSError:
        return subprocess.DEVNULL  # a node without the run's folder; the jobs themselves will say so


def main() -> None:
    """Do jobs until the pipe is closed."""
    handle, starter = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != starter:
        return  # it was killed before we could ask to die with it
    os.set_inheritable(handle, False)
    connection = Connection(handle)
    try:
        kind, place = connection.recv()
        if place.project is not None and place.project.is_dir():
            os.chdir(place.project)
        if kind == "generate":
            from rtlagent.bench.executors.blindness import refuse_to_open

            refuse_to_open(place)
        while True:
            connection.send(perform(connection.recv()))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def perform(job: Job) -> tuple[Any, Failure | None]:
    """Do a job; every exception becomes data."""
    try:
        return job(), None
    except RtlagentError as error:
        said = (error.message, error.where, error.hint)
        return None, Failure(type(error).__name__, *said, exit_code=error.exit_code, expected=True)
    except Exception as error:
        detail = traceback.format_exc()
        print(detail, file=sys.stderr, flush=True)
        return None, Failure(type(error).__name__, f"unexpected {type(error).__name__}: {error}", detail=detail)
