"""Keep the reading of files below one folder, whatever a path, a link or a spec says.

Without a boundary a user's own command line may read what the user may read. A server that works for somebody else
sets one: then a path that leads out, by `..`, from the root or over a link, is refused before anything is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

from rtlagent.errors import UsageError

_ROOT: ContextVar[Path | None] = ContextVar("rtlagent.spec.boundary", default=None)


@contextmanager
def only_below(root: Path) -> Iterator[None]:
    """Refuse to read any file outside `root` in this context (it does not reach other threads)."""
    token = _ROOT.set(root.resolve(strict=True))
    try:
        yield
    finally:
        _ROOT.reset(token)


def check(path: Path) -> Path:
    """Return where `path` leads, links followed, if that is inside the boundary; without one, `path` itself.

    Raises:
        UsageError: it leads out.
    """
    root = _ROOT.get()
    if root is None:
        return path
    try:
        real = path.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, a zero byte
        raise UsageError("is not a possible path") from None
    if not real.is_relative_to(root):
        raise UsageError("lies outside the workspace", hint=f"only files below {root} can be used")
    return real


def open_inside(path: Path) -> BinaryIO:
    """Open a file for reading; with a boundary, so that a link put there meanwhile is not followed.

    Raises:
        UsageError: it leads out of the boundary.
        OSError: it cannot be opened.
    """
    root = _ROOT.get()
    if root is None:
        return path.open("rb")
    real = check(path)
    parts = real.relative_to(root).parts
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        # A pipe must not block whoever opens it.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.fdopen(os.open(parts[-1] if parts else ".", flags, dir_fd=folder), "rb")
    finally:
        with suppress(OSError):
            os.close(folder)
