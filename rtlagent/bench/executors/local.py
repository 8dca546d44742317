"""Worker processes of this machine."""

from __future__ import annotations

import pickle
import platform
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait

from rtlagent.bench.executors.protocol import MOST_LOSSES, Done, Job, Note, Place, ignore, lost
from rtlagent.bench.executors.worker import WorkerDiedError, WorkerProcess

JOBS_OF_A_WORKER = 1000
"""After so many a worker is replaced, so that what a library leaks does not add up."""
_SHORT_S = 0.25
"""Below this mean a worker gets its next job while it still does one: it need not wait for us in between."""
_WEIGHT = 0.1
_SMALL = 32 << 10
"""Of more bytes, a job is not sent ahead: the pipe has to take it while the worker itself may be writing."""


@dataclass(frozen=True)
class _Waiting:
    key: str
    kind: str
    job: bytes
    """Pickled."""


@dataclass
class _Busy:
    worker: WorkerProcess
    jobs: deque[_Waiting] = field(default_factory=deque)
    """The first one is being done."""
    since: float = 0.0


class LocalExecutor:
    """At most `jobs` jobs at a time, each kind in processes of its own, which are started when they are needed."""

    name = "local"

    def __init__(self, jobs: int, place: Place, note: Note = ignore) -> None:
        self._jobs = jobs
        self._place = place
        self._note = note
        self._waiting: deque[_Waiting] = deque()
        self._idle: dict[str, list[WorkerProcess]] = {}
        self._busy: dict[Connection, _Busy] = {}
        self._losses: dict[str, int] = {}
        self._mean_s: dict[str, float] = {}
        """Of each kind's last jobs."""
        self._host = platform.node()

    @property
    def slots(self) -> int:
        """How many jobs can usefully be in flight: one more for each worker where they are short."""
        short = self._mean_s and all(mean < _SHORT_S for mean in self._mean_s.values())
        return 2 * self._jobs if short else self._jobs

    def submit(self, key: str, job: Job) -> None:
        """Start a job, or keep it until a worker is free."""
        self._waiting.append(_Waiting(key, job.kind, pickle.dumps(job)))
        self._feed()

    def wait(self, timeout_s: float) -> Sequence[Done]:
        """Return the jobs that have ended."""
        ended = []
        for connection in wait(list(self._busy), timeout_s):
            assert isinstance(connection, Connection)
            busy = self._busy[connection]
            try:
                value, failure = busy.worker.receive()
            except WorkerDiedError as death:
                del self._busy[connection]
                ended += self._start_again(busy, str(death))
                continue
            done = busy.jobs.popleft()
            self._losses.pop(done.key, None)
            self._timed(done.kind, busy)
            if not busy.jobs:
                del self._busy[connection]
                self._put_back(busy.worker)
            ended.append(Done(done.key, value, failure, self._host))
        self._feed()
        return ended

    def close(self) -> None:
        """Kill all workers."""
        for worker in [*(b.worker for b in self._busy.values()), *(w for ws in self._idle.values() for w in ws)]:
            worker.end()
        self._busy.clear()
        self._idle.clear()
        self._waiting.clear()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of all workers."""
        idle = [w.pid for ws in self._idle.values() for w in ws]
        return tuple(sorted([*idle, *(b.worker.pid for b in self._busy.values())]))

    def _feed(self) -> None:
        """Hand out what waits, as far as there are workers for it."""
        for _ in range(len(self._waiting)):
            waiting = self._waiting.popleft()
            busy = self._worker_for(waiting)
            if busy is None:
                self._waiting.append(waiting)
                continue
            if not busy.jobs:
                busy.since = time.monotonic()
            busy.jobs.append(waiting)
            try:
                busy.worker.send(waiting.job)
            except WorkerDiedError:  # the loss is counted where its answer is waited for
                continue

    def _worker_for(self, waiting: _Waiting) -> _Busy | None:
        """Return the worker that a job goes to; None: all have enough to do."""
        kind = waiting.kind
        if len(self._busy) < self._jobs:
            worker = self._living(kind) or WorkerProcess(kind, self._place)
            busy = self._busy[worker.connection] = _Busy(worker)
            return busy
        if self._mean_s.get(kind, _SHORT_S) < _SHORT_S and len(waiting.job) <= _SMALL:
            return next((b for b in self._busy.values() if b.worker.kind == kind and len(b.jobs) == 1), None)
        return None

    def _living(self, kind: str) -> WorkerProcess | None:
        """Return an idle worker; one that has died while it was idle is nobody's fault."""
        idle = self._idle.get(kind, [])
        while idle:
            worker = idle.pop()
            if worker.alive:
                return worker
            worker.end()
        return None

    def _timed(self, kind: str, busy: _Busy) -> None:
        now = time.monotonic()
        took_s, busy.since = now - busy.since, now
        mean_s = self._mean_s.get(kind, took_s)
        self._mean_s[kind] = mean_s + _WEIGHT * (took_s - mean_s)

    def _start_again(self, busy: _Busy, why: str) -> list[Done]:
        """Put a dead worker's jobs back; only the one that it died over may be to blame."""
        blamed = busy.jobs.popleft()
        key = blamed.key
        self._waiting.extendleft(reversed(busy.jobs))
        losses = self._losses[key] = self._losses.get(key, 0) + 1
        if losses < MOST_LOSSES:
            self._note(f"{key}: its worker died ({why}); it is done again")
            self._waiting.appendleft(blamed)
            return []
        del self._losses[key]
        return [lost(key, why)]

    def _put_back(self, worker: WorkerProcess) -> None:
        if worker.jobs >= JOBS_OF_A_WORKER:
            worker.end()
        else:
            self._idle.setdefault(worker.kind, []).append(worker)
