"""Worker processes of this machine."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from rtlagent.bench.executors.protocol import MOST_LOSSES, Done, Job, Note, Place, ignore, lost
from rtlagent.bench.executors.worker import WorkerDiedError, WorkerProcess

JOBS_OF_A_WORKER = 1000
"""After so many a worker is replaced, so that what a library leaks does not add up."""


@dataclass
class _Busy:
    worker: WorkerProcess
    key: str
    job: Job


class LocalExecutor:
    """At most `jobs` jobs at a time, each kind in processes of its own, which are started when they are needed."""

    name = "local"

    def __init__(self, jobs: int, place: Place, note: Note = ignore) -> None:
        self._jobs = jobs
        self._place = place
        self._note = note
        self._idle: dict[str, list[WorkerProcess]] = {}
        self._busy: dict[Connection, _Busy] = {}
        self._losses: dict[str, int] = {}
        self._host = platform.node()

    @property
    def slots(self) -> int:
        """How many jobs can be in flight."""
        return self._jobs

    def submit(self, key: str, job: Job) -> None:
        """Start a job."""
        idle = self._idle.get(job.kind, [])
        worker = idle.pop() if idle else WorkerProcess(job.kind, self._place)
        try:
            worker.send(job)
        except WorkerDiedError:  # while it was idle: nobody's fault
            worker = WorkerProcess(job.kind, self._place)
            worker.send(job)
        self._busy[worker.connection] = _Busy(worker, key, job)

    def wait(self, timeout_s: float) -> Sequence[Done]:
        """Return the jobs that have ended."""
        ended = []
        for connection in wait(list(self._busy), timeout_s):
            assert isinstance(connection, Connection)
            busy = self._busy.pop(connection)
            try:
                value, failure = busy.worker.receive()
            except WorkerDiedError as death:
                ended += self._start_again(busy, str(death))
                continue
            self._put_back(busy.worker)
            self._losses.pop(busy.key, None)
            ended.append(Done(busy.key, value, failure, self._host))
        return ended

    def close(self) -> None:
        """Kill all workers."""
        for worker in [*(b.worker for b in self._busy.values()), *(w for ws in self._idle.values() for w in ws)]:
            worker.end()
        self._busy.clear()
        self._idle.clear()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of all workers."""
        idle = [w.pid for ws in self._idle.values() for w in ws]
        return tuple(sorted([*idle, *(b.worker.pid for b in self._busy.values())]))

    def _start_again(self, busy: _Busy, why: str) -> list[Done]:
        losses = self._losses[busy.key] = self._losses.get(busy.key, 0) + 1
        if losses < MOST_LOSSES:
            self._note(f"{busy.key}: its worker died ({why}); it is done again")
            self.submit(busy.key, busy.job)
            return []
        del self._losses[busy.key]
        return [lost(busy.key, why)]

    def _put_back(self, worker: WorkerProcess) -> None:
        if worker.jobs >= JOBS_OF_A_WORKER:
            worker.end()
        else:
            self._idle.setdefault(worker.kind, []).append(worker)
