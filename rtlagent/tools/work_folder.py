"""Copy a work folder into a sandbox and bring back what the tools made of it.

The inner folder is reached through a descriptor of its top directory, so that no path is ever
resolved by name in a tree that hostile code could have changed; symbolic links are never followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DEPTH = 64
_FILES = 50_000
_CHUNK_BYTES = 1 << 24

Stamp = tuple[int, int, int]
"""Inode, size and modification time: what tells a changed file from an untouched one."""


class FolderTooBigError(Exception):
    """The files do not fit the size that was agreed on."""


@dataclass
class _Budget:
    bytes_left: int
    files_left: int = _FILES

    def take(self, size: int) -> None:
        self.bytes_left -= size
        self.files_left -= 1
        if self.bytes_left < 0 or self.files_left < 0:
            raise FolderTooBigError


def copy_in(outer: Path, inner_fd: int, *, max_bytes: int) -> dict[str, Stamp]:
    """Copy the tree at `outer` into the empty folder open at `inner_fd`.

    Symbolic links are copied as links: they resolve inside the sandbox or not at all.

    Returns:
        The stamp of each regular file as it lies inside, by its relative path.

    Raises:
        FolderTooBigError: the files are larger than `max_bytes`.
    """
    stamps: dict[str, Stamp] = {}
    with _opened(str(outer), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, None) as outer_fd:
        _copy_in(outer_fd, inner_fd, "", stamps, _Budget(max_bytes))
    return stamps


def _copy_in(source_fd: int, target_fd: int, prefix: str, stamps: dict[str, Stamp], budget: _Budget) -> None:
    for name, info in _entries(source_fd):
        path = prefix + name
        if stat.S_ISDIR(info.st_mode):
            with suppress(FileExistsError):  # a mount point, where the interpreter lives below /work
                os.mkdir(name, 0o755, dir_fd=target_fd)
            with _opened(name, _DIRECTORY, source_fd) as deeper, _opened(name, _DIRECTORY, target_fd) as new:
                _copy_in(deeper, new, f"{path}/", stamps, budget)
        elif stat.S_ISLNK(info.st_mode):
            os.symlink(os.readlink(name, dir_fd=source_fd), name, dir_fd=target_fd)
        elif stat.S_ISREG(info.st_mode):
            budget.take(info.st_size)
            with _opened(name, _READ, source_fd) as source:
                stamps[path] = _copy_file(source, target_fd, name, info)


def copy_out(inner_fd: int, outer: Path, *, known: dict[str, Stamp], max_bytes: int) -> None:
    """Bring the regular files that are new or changed back from `inner_fd` to `outer`.

    Every process that could write there must be dead. Links, devices, sockets and named pipes stay
    behind, and so does what lies deeper than 64 folders or cannot be read.

    Raises:
        FolderTooBigError: they hold more than `max_bytes` (as a sparse file can in a smaller
            folder); what came before is there.
    """
    with _opened(str(outer), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, None) as outer_fd:
        _copy_out(inner_fd, [outer_fd], [], known, _Budget(max_bytes))


def _copy_out(
    source_fd: int, target_fds: list[int], names: list[str], known: dict[str, Stamp], budget: _Budget
) -> None:
    """Copy one folder; `target_fds` grows only when a file is met, so no empty folder is made."""
    for name, info in _entries(source_fd):
        path = "/".join([*names, name])
        if stat.S_ISREG(info.st_mode) and known.get(path) != _stamp(info):
            budget.take(info.st_size)
            target_fd = _reach(target_fds, names)
            if target_fd is not None:
                _replace_file(source_fd, target_fd, name, info)
        elif stat.S_ISDIR(info.st_mode) and len(names) < _DEPTH:
            try:
                deeper = os.open(name, _DIRECTORY, dir_fd=source_fd)
            except OSError:
                continue
            try:
                _copy_out(deeper, target_fds, [*names, name], known, budget)
            finally:
                os.close(deeper)
                while len(target_fds) > len(names) + 1:
                    os.close(target_fds.pop())


def _reach(target_fds: list[int], names: list[str]) -> int | None:
    """Open (or make) the folder `names` below the first of `target_fds`, one step at a time."""
    for name in names[len(target_fds) - 1 :]:
        with suppress(FileExistsError):
            os.mkdir(name, 0o755, dir_fd=target_fds[-1])
        try:
            target_fds.append(os.open(name, _DIRECTORY, dir_fd=target_fds[-1]))
        except OSError:  # a file or a link of the caller's own is in the way
            return None
    return target_fds[-1]


def _replace_file(source_fd: int, target_fd: int, name: str, info: os.stat_result) -> None:
    try:
        source = os.open(name, _READ, dir_fd=source_fd)
    except PermissionError:  # the tool took away our right to read it
        return
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=target_fd)
        _copy_file(source, target_fd, name, info)
    except IsADirectoryError:  # a folder of the caller's own is in the way
        return
    finally:
        os.close(source)


def _copy_file(source: int, target_fd: int, name: str, info: os.stat_result) -> Stamp:
    with _opened(name, _CREATE, target_fd) as target:
        left = info.st_size
        while left > 0 and (sent := os.sendfile(target, source, None, min(left, _CHUNK_BYTES))):
            left -= sent
        # Tools may run what they built, but nothing comes back with set-user-id.
        os.fchmod(target, info.st_mode & 0o755 | 0o600)
        # The tool may have chosen a time that this filesystem cannot hold.
        with suppress(OSError, OverflowError):
            os.utime(target, ns=(info.st_mtime_ns, info.st_mtime_ns))
        return _stamp(os.fstat(target))


def _entries(folder_fd: int) -> Iterator[tuple[str, os.stat_result]]:
    for name in sorted(os.listdir(folder_fd)):
        try:
            yield name, os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except FileNotFoundError:  # the caller's folder may still be changing
            continue


def _stamp(info: os.stat_result) -> Stamp:
    return info.st_ino, info.st_size, info.st_mtime_ns


@contextmanager
def _opened(path: str, flags: int, dir_fd: int | None) -> Iterator[int]:
    fd = os.open(path, flags, 0o600, dir_fd=dir_fd)
    try:
        yield fd
    finally:
        os.close(fd)
