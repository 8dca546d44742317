"""The part of a cluster's job that runs on the cluster's worker."""

from __future__ import annotations

import pickle
import platform
import threading
from dataclasses import dataclass
from typing import Any

from rtlagent.bench.executors.protocol import Failure, Job, Place
from rtlagent.bench.executors.worker import WorkerProcess


@dataclass(frozen=True)
class Reply:
    """What came of a job, and where."""

    value: Any
    failure: Failure | None
    host: str


class _Processes(threading.local):
    """The processes of one thread of the worker, one a kind of job and run."""

    def __init__(self) -> None:
        self.by_kind: dict[tuple[str, Place], WorkerProcess] = {}


_PROCESSES = _Processes()
JOBS_OF_A_WORKER = 1000


def perform_remotely(job: Job, place: Place) -> Reply:
    """Do a job in a process of its kind below this worker.

    Raises:
        WorkerDiedError: the process died over it.
    """
    known = _PROCESSES.by_kind
    key = (job.kind, place)
    for other in [k for k in known if k[1] != place]:
        known.pop(other).end()  # of a run that this thread does not work for any more
    worker = known.pop(key, None)
    if worker is not None and not worker.alive:  # it died while it was idle
        worker.end()
        worker = None
    worker = worker or WorkerProcess(job.kind, place)
    worker.send(pickle.dumps(job))
    value, failure = worker.receive()
    if worker.jobs < JOBS_OF_A_WORKER:
        known[key] = worker
    else:
        worker.end()
    return Reply(value, failure, platform.node())
