"""What a process tree uses, what it may use, and which limit it broke."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterable
from dataclasses import dataclass

from rtlagent.config import Limits

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MEBIBYTE = 1 << 20
_THREADS_PER_PROCESS = 16
_OPEN_FILES = 4096
_WORK_FILES = 50_000
# Since 5.14 RLIMIT_NPROC counts the processes of the sandbox's own user namespace; before, it
# counted every process of the user, so that a busy desktop would have been over it at once.
_NPROC_PER_NAMESPACE = (5, 14)


@dataclass(frozen=True)
class Usage:
    """What a process tree uses at one moment."""

    processes: int = 0
    threads: int = 0
    memory_bytes: int = 0
    """Resident, summed over the processes: pages that they share count more than once."""
    largest_bytes: int = 0
    """Resident memory of the largest process."""
    cpu_s: float = 0.0
    """User and system time, also of children that ended and were waited for."""


@dataclass(frozen=True)
class ProcessStat:
    """The fields of /proc/PID/stat that matter here."""

    dead: bool
    """A zombie: it only waits for its parent to notice."""
    parent: int
    session: int
    cpu_s: float
    threads: int
    start_ticks: int
    """Since boot: with the number, it tells a process from a later one of the same number."""
    resident_bytes: int


def read_stat(proc_fd: int, pid: int) -> ProcessStat | None:
    """Read one process's figures from the procfs open at `proc_fd`; None when it is gone."""
    text = _read(proc_fd, f"{pid}/stat")
    if text is None:
        return None
    # The name in parentheses is the process's own choice and may hold spaces and parentheses.
    fields = text[text.rindex(b")") + 2 :].split()
    return ProcessStat(
        dead=fields[0] in (b"Z", b"X"),
        parent=int(fields[1]),
        session=int(fields[3]),
        cpu_s=sum(int(f) for f in fields[11:15]) / _TICKS_PER_S,
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
        resident_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def process_ids(proc_fd: int) -> list[int]:
    """Return the processes that the procfs open at `proc_fd` shows."""
    return [int(name) for name in os.listdir(proc_fd) if name.isdigit()]


def total(stats: Iterable[ProcessStat]) -> Usage:
    """Add up the figures of the processes of a tree."""
    seen = list(stats)
    return Usage(
        processes=len(seen),
        threads=sum(s.threads for s in seen),
        memory_bytes=sum(s.resident_bytes for s in seen),
        largest_bytes=max((s.resident_bytes for s in seen), default=0),
        cpu_s=sum(s.cpu_s for s in seen),
    )


def proportional_bytes(proc_fd: int, pids: Iterable[int]) -> int | None:
    """Return the memory of `pids` with shared pages counted once; None when it cannot be read."""
    kilobytes = 0
    for pid in pids:
        text = _read(proc_fd, f"{pid}/smaps_rollup")
        if text is None:
            return None
        kilobytes += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(b"Pss:"))
    return kilobytes * 1024


def broken_limit(usage: Usage, limits: Limits) -> str | None:
    """Name the limit that `usage` is over, if any; memory is judged by `Usage.memory_bytes`."""
    if usage.processes > limits.processes or usage.threads > limits.processes * _THREADS_PER_PROCESS:
        return "processes"
    if usage.memory_bytes > limits.memory_mb * _MEBIBYTE:
        return "memory"
    if usage.cpu_s > limits.cpu_s:
        return "cpu"
    return None


def near_limit(usage: Usage, limits: Limits) -> bool:
    """Tell whether the tree could break a limit within a few hundredths of a second."""
    return usage.memory_bytes > limits.memory_mb * _MEBIBYTE // 2 or usage.processes > limits.processes // 2


def folder_is_full(folder_fd: int) -> bool:
    """Tell whether the sized filesystem open at `folder_fd` has no room left, or too many files."""
    space = os.fstatvfs(folder_fd)
    return space.f_bavail == 0 or space.f_files - space.f_ffree > _WORK_FILES


def apply_rlimits(pid: int, limits: Limits, *, own_user_namespace: bool) -> None:
    """Set the kernel's own limits on a process that has not started the tool yet.

    They are the backstop between two measurements. There is none on the address space: nextpnr's
    WebAssembly needs more than 20 GiB of it without using them.
    """
    file_bytes = limits.work_mb * _MEBIBYTE
    wanted = {
        resource.RLIMIT_CPU: (limits.cpu_s, limits.cpu_s + 1),
        resource.RLIMIT_FSIZE: (file_bytes, file_bytes),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_NOFILE: (_OPEN_FILES, _OPEN_FILES),
    }
    if own_user_namespace and _kernel_version() >= _NPROC_PER_NAMESPACE:
        tasks = limits.processes * _THREADS_PER_PROCESS
        wanted[resource.RLIMIT_NPROC] = (tasks, tasks)
    for which, (soft, hard) in wanted.items():
        _, ceiling = resource.prlimit(pid, which)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)  # noqa: PLW2901
        resource.prlimit(pid, which, (soft, hard))


def _kernel_version() -> tuple[int, ...]:
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(n) for n in numbers if n.isdigit())


def _read(proc_fd: int, path: str) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc_fd)
    except OSError:
        return None
    try:
        return os.read(fd, 65536)
    except OSError:
        return None
    finally:
        os.close(fd)
