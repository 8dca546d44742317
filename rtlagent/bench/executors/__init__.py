"""Where jobs run: processes of this machine, or the workers of a Dask, Slurm or LSF cluster.

Every executor keeps the two kinds of job apart: a process that answers never scores. A job that gets lost with
its worker is started again; jobs keep their results in their task's folder, so that a second start does no harm.
"""

from __future__ import annotations

from rtlagent.bench.executors.local import LocalExecutor
from rtlagent.bench.executors.protocol import Done, Executor, Failure, Job, Place
from rtlagent.bench.executors.select import open_executor, require_executor

__all__ = ["Done", "Executor", "Failure", "Job", "LocalExecutor", "Place", "open_executor", "require_executor"]
