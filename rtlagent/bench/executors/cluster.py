"""Workers of a Dask cluster, started by somebody else or through Slurm or LSF.

What the cluster forgets, we remember: the client side holds every job until its result is here, and submits it
again when a worker, the connection or the scheduler is lost. On a worker, jobs run in processes below it (see
remote.py), so that answering and scoring stay apart there as well.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from rtlagent.bench.executors.protocol import MOST_LOSSES, Done, Job, Note, Place, ignore, lost
from rtlagent.bench.executors.remote import Reply, perform_remotely
from rtlagent.errors import ToolError, UsageError

_CONNECT_S = 10.0
_FIRST_CONNECT_S = 15.0
PATIENCE_S = 600.0
"""So long a scheduler may be away before the run gives up (and can be resumed)."""
_LOOK_S = 5.0
_QUEUED_PER_THREAD = 2
_NOISY = ("distributed", "tornado", "asyncio")
_PAUSES_S = (2.0, 5.0)
"""Before a queue that refused a worker is asked again."""
_QUEUE_DEFAULTS: Mapping[str, str | int] = {"cores": 1, "processes": 1, "memory": "4GB", "walltime": "08:00:00"}


@dataclass
class _Flight:
    job: Job
    future: Any
    losses: int = 0


class ClusterExecutor:
    """Jobs as Dask tasks, held here until they are done."""

    name = "dask"

    def __init__(self, connect: Callable[[float], Any], jobs: int | None, place: Place, note: Note = ignore) -> None:
        """Connect.

        Args:
            connect: Gives a connected `distributed.Client` within so many seconds.
            jobs: Most jobs in flight; None: twice the workers' threads.
            place: The run's; its folder has to be on a file system that all workers share.
            note: Is told about losses.

        Raises:
            ToolError: the scheduler cannot be reached.
        """
        self._connect = connect
        self._refusal: Callable[[], str] = getattr(connect, "refusal", str)
        self._jobs = jobs
        self._place = place
        self._note = note
        self._flights: dict[str, _Flight] = {}
        self._ended: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._looked = 0.0
        self._threads = 1
        self._client = self._connected(_FIRST_CONNECT_S)

    @property
    def slots(self) -> int:
        """How many jobs can usefully be in flight: workers come and go."""
        if self._jobs is not None:
            return self._jobs
        if time.monotonic() - self._looked > _LOOK_S:
            with suppress(OSError, TimeoutError, ValueError, RuntimeError):  # while it is away: as before
                self._threads = sum(self._client.nthreads().values())
            self._looked = time.monotonic()
        return max(1, _QUEUED_PER_THREAD * self._threads)

    def submit(self, key: str, job: Job) -> None:
        """Start a job."""
        self._flights[key] = _Flight(job, None)
        self._send(key)

    def wait(self, timeout_s: float) -> Sequence[Done]:
        """Return the jobs that have ended.

        Raises:
            ToolError: the scheduler has been away for too long.
        """
        deadline = time.monotonic() + timeout_s
        done: list[Done] = []
        while not done:
            try:
                key, future = self._ended.get(timeout=max(0.0, min(1.0, deadline - time.monotonic())))
            except Empty:
                self._look_after()
                if time.monotonic() >= deadline:
                    break
                continue
            done += self._take(key, future)
            while not self._ended.empty():
                done += self._take(*self._ended.get())
        return done

    def close(self) -> None:
        """Let go of everything; a queue's workers end with it."""
        for flight in self._flights.values():
            with suppress(Exception):  # the connection may be gone already, and with it the task
                flight.future.cancel(force=True)
        self._flights.clear()
        _close(self._client)

    def _send(self, key: str) -> None:
        flight = self._flights[key]
        try:
            flight.future = self._client.submit(
                perform_remotely, flight.job, self._place, pure=False, key=f"{key}#{time.monotonic_ns()}"
            )
        except (OSError, RuntimeError, TimeoutError, ValueError):  # closed, or about to be: `_look_after` connects
            flight.future = None
            return
        flight.future.add_done_callback(lambda future: self._ended.put((key, future)))

    def _take(self, key: str, future: Any) -> list[Done]:
        flight = self._flights.get(key)
        if flight is None or flight.future is not future:
            return []  # of an earlier submission
        if future.status == "finished":
            with suppress(OSError, TimeoutError, RuntimeError, CancelledError):
                reply: Reply = future.result(timeout=_FIRST_CONNECT_S)
                del self._flights[key]
                return [Done(key, reply.value, reply.failure, reply.host)]
        elif future.status == "error":
            flight.losses += 1
            self._note(f"{key}: its worker died; it is done again")
            if flight.losses >= MOST_LOSSES:
                del self._flights[key]
                error = future.exception(timeout=_FIRST_CONNECT_S)
                return [lost(key, f"{type(error).__name__}: {error}"[:400])]
        self._send(key)
        return []

    def _look_after(self) -> None:
        """Connect again if the connection is lost, and submit what the cluster does not know any more."""
        said = self._refusal()
        if said and not self._client.nthreads():
            hint = "nothing that was finished is lost: mend what it names and resume, or start with other options"
            raise ToolError(f"the queue refuses to start a worker: {said}", hint=hint)
        if self._client.status != "running":
            self._reconnect()
        for key, flight in self._flights.items():
            if flight.future is None or flight.future.status in ("cancelled", "lost"):
                self._send(key)

    def _reconnect(self) -> None:
        self._note("the scheduler does not answer; waiting for it to come back")
        _close(self._client)
        self._client = self._connected(PATIENCE_S)
        self._note(f"the scheduler is back; {len(self._flights)} jobs are submitted again")
        for key in list(self._flights):
            self._send(key)

    def _connected(self, patience_s: float) -> Any:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                return self._connect(min(_CONNECT_S, patience_s))
            except (OSError, TimeoutError, RuntimeError) as error:
                if time.monotonic() >= deadline:
                    hint = "start it, then resume the run: nothing that was finished is lost"
                    raise ToolError(f"the scheduler does not answer: {error}", hint=hint) from None
                time.sleep(0.5)


def scheduler_at(address: str) -> Callable[[float], Any]:
    """Return what connects to a running scheduler."""

    def connect(timeout_s: float) -> Any:
        return _client(address, timeout_s)

    return connect


def queue_class(scheme: str) -> Any:
    """Return dask-jobqueue's class for a queueing system."""
    from dask_jobqueue.lsf import LSFCluster
    from dask_jobqueue.slurm import SLURMCluster

    return {"slurm": SLURMCluster, "lsf": LSFCluster}[scheme]


class WorkerQueue:
    """Starts workers through a queueing system and connects to them.

    The scheduler is part of this process: with it the workers end, and a resumed run asks for new ones.
    """

    def __init__(self, scheme: str, options: Mapping[str, str | int | list[str]], jobs: int, place: Place) -> None:
        """Remember what to ask for.

        Args:
            scheme: `slurm` or `lsf`.
            options: Under dask-jobqueue's names.
            jobs: How many workers.
            place: The run's; the queue's logs go below its folder.
        """
        self._scheme, self._options, self._jobs, self._place = scheme, options, jobs, place
        self._cluster: Any = None
        self._refusals: list[str] = []

    def __call__(self, timeout_s: float) -> Any:
        """Return a connected client.

        Raises:
            UsageError: the options are not what dask-jobqueue takes.
        """
        if self._cluster is None:
            self._cluster = self._started()
        return _client(self._cluster, timeout_s)

    def refusal(self) -> str:
        """Return what the queue said when it refused a worker for good; empty: it did not."""
        return self._refusals[-1] if self._refusals else ""

    def _started(self) -> Any:
        kind, refusals = queue_class(self._scheme), self._refusals
        job_class: Any = kind.job_cls

        class Job(job_class):  # type: ignore[misc]
            async def start(self) -> None:
                # After a refusal Dask asks for no further worker by itself; a queue may be away for a moment.
                for pause_s in (*_PAUSES_S, None):
                    try:
                        return await super().start()  # type: ignore[no-any-return]
                    except (OSError, RuntimeError, ValueError) as error:
                        if pause_s is None:
                            refusals.append(_said(error))
                            raise
                        await asyncio.sleep(pause_s)

        try:
            settings = {**_QUEUE_DEFAULTS, "log_directory": str(self._place.folder / "queue"), **self._options}
            # The usual port of the dashboard may be taken.
            options: dict[str, Any] = {**settings, "scheduler_options": {"dashboard_address": ":0"}}
            cluster = type(kind.__name__, (kind,), {"job_cls": Job})(**options)
        except (TypeError, ValueError) as error:
            text = str(error).partition("\n")[0]
            hint = "the names are those of dask-jobqueue: queue, account, memory, walltime, cores, interface"
            raise UsageError(f"--executor {self._scheme}: {text}", hint=hint) from error
        # Not scale(): that does not replace a worker whose job was ended by the queue.
        cluster.adapt(minimum_jobs=self._jobs, maximum_jobs=self._jobs, interval="2s")
        return cluster


def _said(error: Exception) -> str:
    """Return what the queue's own program said, of dask-jobqueue's account of it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own = [line for line in lines if re.match(r"(?:sbatch|bsub|slurm\w*)\b.*:", line)]
    return " ".join(own or lines[:1] or [type(error).__name__])[:400]


def _client(address: Any, timeout_s: float) -> Any:
    import distributed

    # They log every lost heartbeat and refused worker with a traceback, on the terminal; what matters is said by us.
    for name in [n for n in logging.root.manager.loggerDict if n.split(".")[0] in _NOISY]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    client: Any = distributed.Client
    return client(address, timeout=timeout_s, set_as_default=False)


def _close(client: Any) -> None:
    with suppress(Exception):  # it is given up either way, and a lost connection raises many things
        client.close(timeout=2)
        if client.cluster is not None and client.status == "closed":
            client.cluster.close(timeout=5)
