"""Two ways to know and to kill all processes that a tool has started."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from rtlagent.config import Limits
from rtlagent.tools import limits as measure

_PAUSE_S = 0.05
_SHORT_PAUSE_S = 0.01
_KILL_ROUNDS = 20
_ROUNDS_A_WALK = 5


class ProcessTree(Protocol):
    """All processes of one run."""

    def watch(self, limits: Limits) -> tuple[str | None, float]:
        """Name the limit that is broken, if any, and say in how many seconds to look again."""

    def kill(self) -> None:
        """Kill every process of the tree; fine when they are dead already."""

    def full(self) -> bool:
        """Tell whether the tree has filled its work folder; also asked after its end."""


class NamespaceTree:
    """Everything inside a PID namespace: it cannot be left, and its first process takes all with it.

    Args:
        pid: The namespace's first process, alive, as the host numbers it.
        proc_fd: The namespace's own /proc.
        folder_fds: The sized filesystems that the tree may write to.
    """

    def __init__(self, pid: int, *, proc_fd: int, folder_fds: tuple[int, ...]) -> None:
        self._pidfd = os.pidfd_open(pid)
        self._proc_fd = proc_fd
        self._folder_fds = folder_fds

    def watch(self, limits: Limits) -> tuple[str | None, float]:
        """Name the limit that is broken, if any, and say in how many seconds to look again."""
        if self.full():
            return "work", 0.0
        try:
            pids = measure.process_ids(self._proc_fd)
        except OSError:  # the namespace has just ended
            return None, _PAUSE_S
        pids = [p for p in pids if p != 1]  # the first process is ours
        return _judge(self._proc_fd, pids, limits)

    def full(self) -> bool:
        """Tell whether a filesystem inside is full; also asked after the namespace's end."""
        return any(measure.folder_is_full(fd) for fd in self._folder_fds)

    def kill(self) -> None:
        """Kill every process of the tree; fine when they are dead already."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def close(self) -> None:
        """Give up the handle on the first process."""
        os.close(self._pidfd)


class SessionTree:
    """A session's processes and their descendants: the best there is without a namespace.

    Args:
        pid: The leader of a new session.
        folder: Where the tree works; its size is looked at now and then, for it costs a walk.
        max_bytes: The size that the folder may have.
    """

    def __init__(self, pid: int, *, folder: Path, max_bytes: int) -> None:
        self._leader = pid
        self._folder = folder
        self._max_bytes = max_bytes
        self._rounds = 0
        self._seen: dict[int, int] = {}

    def watch(self, limits: Limits) -> tuple[str | None, float]:
        """Name the limit that is broken, if any, and say in how many seconds to look again."""
        self._rounds += 1
        if self._rounds % _ROUNDS_A_WALK == 0 and self.full():
            return "work", 0.0
        proc_fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return _judge(proc_fd, self._members(proc_fd) - {self._leader}, limits)
        finally:
            os.close(proc_fd)

    def full(self) -> bool:
        """Tell whether the files in the folder have reached its size."""
        used = 0
        for folder, _, names in os.walk(self._folder):
            for name in names:
                with suppress(OSError):
                    used += os.lstat(os.path.join(folder, name)).st_blocks * 512  # noqa: PTH118
        return used >= self._max_bytes

    def kill(self) -> None:
        """Kill every process of the tree, again until none is left."""
        proc_fd = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for _ in range(_KILL_ROUNDS):
                # The kernel kills a whole group at once: one by one, a fork bomb outruns us.
                with suppress(ProcessLookupError):
                    os.killpg(self._leader, signal.SIGKILL)
                members = self._members(proc_fd)
                if not members:
                    return
                for pid in members:
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
                time.sleep(0.002)
        finally:
            os.close(proc_fd)

    def _members(self, proc_fd: int) -> set[int]:
        """Return who is in the session, who descends from it, and who was seen there before."""
        stats = {p: s for p in measure.process_ids(proc_fd) if (s := measure.read_stat(proc_fd, p)) and not s.dead}
        members = {p for p, s in stats.items() if s.session == self._leader or self._seen.get(p) == s.start_ticks}
        grew = True
        while grew:
            children = {p for p, s in stats.items() if s.parent in members} - members
            members |= children
            grew = bool(children)
        self._seen = {p: stats[p].start_ticks for p in members}
        return members


def _judge(proc_fd: int, pids: list[int] | set[int], limits: Limits) -> tuple[str | None, float]:
    if len(pids) > limits.processes:  # before reading them: a fork bomb makes that slow
        return "processes", 0.0
    usage = measure.total(s for p in pids if (s := measure.read_stat(proc_fd, p)) is not None)
    limit = measure.broken_limit(usage, limits)
    if limit == "memory" and usage.processes > 1:
        exact = measure.proportional_bytes(proc_fd, pids)
        if exact is not None:
            limit = measure.broken_limit(replace(usage, memory_bytes=exact), limits)
    return limit, _SHORT_PAUSE_S if measure.near_limit(usage, limits) else _PAUSE_S
