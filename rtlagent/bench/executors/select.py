"""From `--executor` to the place where jobs run."""

from __future__ import annotations

import importlib.util
from urllib.parse import parse_qsl, urlsplit

from rtlagent.bench.executors.local import LocalExecutor
from rtlagent.bench.executors.protocol import Executor, Note, Place, ignore
from rtlagent.errors import UsageError, suggestion

_QUEUES = ("slurm", "lsf")
_LISTS = frozenset({"job_extra_directives", "job_script_prologue", "job_directives_skip", "worker_extra_args"})
_CHOICES = ("local", "dask://HOST:PORT", "slurm?queue=Q&memory=4GB&walltime=04:00:00", "lsf?...")


def require_executor(name: str) -> None:
    """Say what is wrong with an executor's name before anything is spent.

    Raises:
        UsageError: it names none, or the packages for it are not installed.
    """
    scheme = _scheme(name)
    if scheme == "local":
        return
    if scheme == "dask":
        parts = urlsplit(name)
        try:
            complete = bool(parts.hostname) and bool(parts.port) and parts.path in ("", "/")
        except ValueError:
            complete = False
        if not complete:
            raise UsageError(f"{name!r} is no address of a scheduler", hint="write it as dask://HOST:8786")
    else:
        queue_options(name)
    for module in ("distributed", *(["dask_jobqueue"] if scheme in _QUEUES else [])):
        if importlib.util.find_spec(module) is None:
            raise UsageError(f"--executor {scheme} needs the package {module}", hint="pip install 'rtlagent[bench]'")


def open_executor(name: str, jobs: int | None, place: Place, note: Note = ignore) -> Executor:
    """Return the executor.

    Args:
        name: `local`, `dask://HOST:PORT`, `slurm?...` or `lsf?...`.
        jobs: Jobs at a time; None: as many as there are processors here, or workers there.
        place: The run's.
        note: Is told about losses.

    Raises:
        UsageError: the name is wrong.
        ToolError: the scheduler cannot be reached, or the queue refuses.
    """
    require_executor(name)
    scheme = _scheme(name)
    if scheme == "local":
        import os

        return LocalExecutor(jobs or os.cpu_count() or 1, place, note)
    from rtlagent.bench.executors import cluster

    if scheme == "dask":
        connect = cluster.scheduler_at(f"tcp://{urlsplit(name).netloc}")
    else:
        connect = cluster.WorkerQueue(scheme, queue_options(name), jobs or 1, place)
    return cluster.ClusterExecutor(connect, jobs, place, note)


def queue_options(name: str) -> dict[str, str | int | list[str]]:
    """Return what `slurm?queue=Q&cores=2` asks of the queueing system, under dask-jobqueue's own names.

    Options that are lists there are given once for each of their entries.

    Raises:
        UsageError: it is not of this form.
    """
    query = name.partition("?")[2]
    try:
        pairs = parse_qsl(query, strict_parsing=bool(query), keep_blank_values=True)
    except ValueError:
        raise UsageError(f"cannot read {name!r}", hint="write it as slurm?queue=NAME&memory=4GB") from None
    options: dict[str, str | int | list[str]] = {}
    for key, value in pairs:
        entries = options.setdefault(key, []) if key in _LISTS else None
        if isinstance(entries, list):
            entries.append(value)
        else:
            options[key] = int(value) if value.isdigit() else value
    return options


def _scheme(name: str) -> str:
    if name.startswith("dask://"):
        return "dask"
    scheme = name.partition("?")[0]
    if scheme not in ("local", *_QUEUES):
        choices = ", ".join(_CHOICES)
        close = suggestion(scheme, ("local", *_QUEUES))
        hint = close if "mean" in close else f"choose from {choices}"
        raise UsageError(f"there is no executor {name!r}", hint=hint)
    return scheme
