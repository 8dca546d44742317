"""Start a worker, listen to it, and end it when nobody wants its answer any more."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from subprocess import PIPE
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from rtlagent.errors import RtlagentError, ToolError, UsageError
from rtlagent.server.replies import Reply
from rtlagent.server.requests import Request
from rtlagent.types import from_json, to_json

Tell = Callable[[str], Awaitable[None]]
"""Is told of progress, in a few words."""
_MAX_LINE = 4_000_000
_GRACE_S = 4.0
_BEAT_S = 5.0


@dataclass(frozen=True)
class Workers:
    """Starts worker processes; at most so many at once, the others wait."""

    flags: Mapping[str, object]
    """Settings that the user gave when the server was started."""
    limiter: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(max(2, os.cpu_count() or 2)))

    async def run(self, request: Request, root: Path, tell: Tell) -> Reply:
        """Carry out a request; when this is cancelled, so is the worker, with all that it started.

        Raises:
            UsageError: the request is wrong.
            ToolError: a tool, or the worker itself, broke.
        """
        if self.limiter.available_tokens < 1:
            await tell("waiting: other calls are running")
        async with self.limiter:
            order = {
                "root": str(root),
                "tool": request.tool,
                "arguments": {f.name: to_json(getattr(request, f.name)) for f in fields(request)},
                "flags": to_json(dict(self.flags)),
            }
            command = [sys.executable, "-m", "rtlagent.server.worker"]
            process = await anyio.open_process(
                command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=root, start_new_session=True
            )
            try:
                return await _converse(process, order, tell)
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process)


async def _converse(process: Process, order: Mapping[str, Any], tell: Tell) -> Reply:
    assert process.stdin and process.stdout and process.stderr
    last_words: deque[str] = deque(maxlen=5)
    answers: list[Mapping[str, Any]] = []
    async with anyio.create_task_group() as group:
        group.start_soon(_listen_aside, process.stderr, last_words)
        group.start_soon(_beat, tell)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.send(json.dumps(order).encode() + b"\n")
        lines = BufferedByteReceiveStream(process.stdout)
        with suppress(anyio.EndOfStream, anyio.IncompleteRead):
            while not answers:
                said = json.loads(await lines.receive_until(b"\n", _MAX_LINE))
                if "progress" in said:
                    await tell(str(said["progress"]))
                else:
                    answers.append(said)
        group.cancel_scope.cancel()
    if not answers:
        await process.wait()
        why = last_words[-1] if last_words else f"exit code {process.returncode}"
        raise ToolError(f"the tool's process died: {why[:300]}", hint="this is a fault of rtlagent, or memory ran out")
    if "error" in answers[0]:
        raise _error(answers[0]["error"])
    return from_json(Reply, answers[0]["reply"])


async def _beat(tell: Tell) -> None:
    """Show now and then that the call is alive; clients wait longer for one that is."""
    seconds = 0.0
    while True:
        await anyio.sleep(_BEAT_S)
        seconds += _BEAT_S
        await tell(f"running for {seconds:.0f} s")


async def _listen_aside(stream: ByteReceiveStream, last_words: deque[str]) -> None:
    """Drain standard error, so that it never blocks the worker, and keep its end."""
    async for chunk in stream:
        last_words.extend(line for line in chunk.decode(errors="replace").splitlines() if line.strip())


def _error(said: Mapping[str, str]) -> RtlagentError:
    kind = UsageError if said["kind"] in _WRONG_INPUT else ToolError
    return kind(said["message"], where=said["where"], hint=said["hint"])


_WRONG_INPUT = frozenset(
    {"UsageError", "SpecError", "CSourceError", "ConfigError", "BaselineError", "RunError", "ModelConfigError"}
)


async def _end(process: Process) -> None:
    """Let the worker clean up, then kill what is left of it; the tools die with it."""
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()
