"""Temporary folders that nobody leaves behind: what a killed process could not remove, the next one does.

A folder's name says whose it is: `rtlagent-NAMESPACE-PID-START-...`, where START is the process's start in clock
ticks since boot. So a process of the same number that came later, or that lives in another container beside the
same /tmp, is never taken for the owner, nor the owner for dead.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from rtlagent.tools.limits import read_stat

_NAME = re.compile(r"rtlagent-(?P<namespace>\d+)-(?P<pid>\d+)-(?P<start>\d+)-\w+")


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a new folder that is gone afterwards; at the first call, remove what dead processes left."""
    remove_stale(Path(tempfile.gettempdir()), _owner(os.getpid()))
    with tempfile.TemporaryDirectory(prefix=f"rtlagent-{_owner(os.getpid())}-") as name:
        yield Path(name)


@cache
def _owner(pid: int) -> str:
    """Return how this process signs its folders; zeros where /proc does not tell."""
    with suppress(OSError):
        start = _start_ticks(pid)
        if start is not None:
            return f"{Path('/proc/self/ns/pid').stat().st_ino}-{pid}-{start}"
    return f"0-{pid}-0"


@cache
def remove_stale(folder: Path, owner: str) -> tuple[str, ...]:
    """Remove this user's scratch folders in `folder` whose process is dead; once a process and place.

    Args:
        folder: Where scratch folders are made.
        owner: How the calling process signs its own.

    Returns:
        The names that were removed.
    """
    namespace, _, rest = owner.partition("-")
    if rest.endswith("-0"):  # without /proc everybody looks dead
        return ()
    removed = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _NAME.fullmatch(entry.name)
            if found is None or found["namespace"] != namespace or not _is_own_folder(entry):
                continue
            if _start_ticks(int(found["pid"])) != int(found["start"]):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed.append(entry.name)
    return tuple(sorted(removed))


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    return False


def _start_ticks(pid: int) -> int | None:
    """Return when a living process started; None if it is dead."""
    proc_fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        stat = read_stat(proc_fd, pid)
    finally:
        os.close(proc_fd)
    return None if stat is None or stat.dead else stat.start_ticks
