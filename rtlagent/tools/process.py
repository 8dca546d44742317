"""Start a process, feed it, collect its output and end it at a limit."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

_CHUNK_BYTES = 1 << 16
_DRAIN_S = 2.0
_DEATH_S = 60.0


@dataclass(frozen=True)
class ProcessResult:
    """A finished (or killed) process tree."""

    argv: tuple[str, ...]
    returncode: int | None
    """None when it was killed at a limit; negative for a signal of its own."""
    stdout: str
    """UTF-8, undecodable bytes replaced; cut at the output limit."""
    stderr: str
    wall_s: float
    limit: str | None = None
    """Which limit ended it: `wall`, `cpu`, `memory`, `processes`, `output` or `work`; None: none did."""


class Conversation:
    """The three pipes of a running process, served from one thread without deadlock.

    Args:
        process: Started with unbuffered pipes for all three streams.
        stdin: What the process may read, followed by the end of file.
        max_bytes: The most that is kept of either output stream.
    """

    def __init__(self, process: subprocess.Popen[bytes], *, stdin: bytes, max_bytes: int) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._process = process
        self._unsent = memoryview(stdin)
        self._max_bytes = max_bytes
        self._streams: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}

    @property
    def output(self) -> tuple[str, str]:
        """Standard output and standard error, as text, cut at the limit."""
        out, err = (bytes(b[: self._max_bytes]).decode(errors="replace") for b in self._streams.values())
        return out, err

    def run(self, watch: Callable[[], tuple[str | None, float]], kill: Callable[[], None], wall_s: float) -> str | None:
        """Serve the pipes until the process ends; kill it at the first broken limit.

        Args:
            watch: Names the limit that the tree has broken, if any, and says in how many seconds
                it wants to be asked again.
            kill: Kills the whole tree at once.
            wall_s: The time allowed, from now.

        Returns:
            The limit that ended the process, or None.
        """
        deadline = time.monotonic() + wall_s
        limit: str | None = None
        next_watch = 0.0
        exit_fd = os.pidfd_open(self._process.pid)
        with selectors.DefaultSelector() as selector:
            selector.register(exit_fd, selectors.EVENT_READ)
            self._register(selector)
            try:
                while limit is None and not self._serve(
                    selector, exit_fd, min(next_watch, deadline) - time.monotonic()
                ):
                    if self._flooded():
                        limit = "output"
                    elif (now := time.monotonic()) >= deadline:
                        limit = "wall"
                    elif now >= next_watch:
                        limit, pause_s = watch()
                        next_watch = time.monotonic() + pause_s
            finally:
                kill()
                os.close(exit_fd)
            self._process.wait(_DEATH_S)
            selector.unregister(exit_fd)
            self._drain(selector)
        if limit is None and self._flooded():
            limit = "output"
        return limit

    def _register(self, selector: selectors.BaseSelector) -> None:
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        stdin = self._process.stdin
        assert stdin is not None
        os.set_blocking(stdin.fileno(), False)
        selector.register(stdin, selectors.EVENT_WRITE)

    def _serve(self, selector: selectors.BaseSelector, exit_fd: int, timeout_s: float) -> bool:
        """Move what can be moved within the timeout; tell whether the process has ended."""
        ended = False
        for key, _ in selector.select(max(timeout_s, 0.0)):
            if key.fd == exit_fd:
                ended = True
            elif key.fileobj is self._process.stdin:
                self._send(selector)
            else:
                self._receive(selector, key.fileobj)  # type: ignore[arg-type]
        return ended

    def _send(self, selector: selectors.BaseSelector) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            self._unsent = self._unsent[os.write(stdin.fileno(), self._unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent = memoryview(b"")
        if not self._unsent:
            selector.unregister(stdin)
            stdin.close()

    def _receive(self, selector: selectors.BaseSelector, stream: IO[bytes]) -> None:
        try:
            data = os.read(stream.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return
        if not data:
            selector.unregister(stream)
            return
        self._streams[stream] += data

    def _flooded(self) -> bool:
        return any(len(kept) > self._max_bytes for kept in self._streams.values())

    def _drain(self, selector: selectors.BaseSelector) -> None:
        """Read what the dead left in the pipes, up to the limit and not for long."""
        deadline = time.monotonic() + _DRAIN_S
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.closed:
            selector.unregister(stdin)
            stdin.close()
        while selector.get_map() and not self._flooded() and time.monotonic() < deadline:
            for key, _ in selector.select(max(deadline - time.monotonic(), 0.0)):
                self._receive(selector, key.fileobj)  # type: ignore[arg-type]
