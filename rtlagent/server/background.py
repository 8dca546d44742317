"""Long work that goes on while the client does something else."""

from __future__ import annotations

import secrets
import time
from collections import deque
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from rtlagent.errors import LimitError, RtlagentError, UsageError
from rtlagent.server.replies import Reply
from rtlagent.server.requests import Request
from rtlagent.server.worker_process import Workers
from rtlagent.server.workspace import Workspace

MAX_RUNNING = 8
MAX_KEPT = 64
_MAX_PROGRESS = 8


@dataclass(frozen=True)
class RunState:
    """Where a background run stands."""

    run_id: str
    tool: str
    state: str
    """running, ended, failed (it could not be carried out) or cancelled."""
    progress: tuple[str, ...]
    """The last few reports, oldest first."""
    elapsed_s: float
    reply: Reply | None = None
    """What came out; None while it runs, or if nothing did."""
    error: str = ""

    def text(self) -> str:
        """Say the same for a model that reads text only."""
        lines = [f"{self.run_id} ({self.tool}): {self.state} after {self.elapsed_s:g} s", *self.progress]
        lines += [self.reply.text()] if self.reply else []
        lines += [self.error] if self.error else []
        return "\n".join(lines)


@dataclass
class _Task:
    """A run, as it changes."""

    id: str
    request: Request
    workspace: Workspace
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    ended: anyio.Event = field(default_factory=anyio.Event)
    started: float = field(default_factory=time.monotonic)
    wall_s: float | None = None
    state: str = "running"
    progress: deque[str] = field(default_factory=lambda: deque(maxlen=_MAX_PROGRESS))
    reply: Reply | None = None
    error: str = ""

    def shown(self) -> RunState:
        elapsed = time.monotonic() - self.started if self.wall_s is None else self.wall_s
        return RunState(
            self.id, self.request.tool, self.state, tuple(self.progress), round(elapsed, 1), self.reply, self.error
        )


class BackgroundRuns:
    """The runs of one server; they end with it.

    Args:
        group: What they run in; its owner cancels them.
        workers: Who does the work.
    """

    def __init__(self, group: TaskGroup, workers: Workers) -> None:
        self._group = group
        self._workers = workers
        self._tasks: dict[str, _Task] = {}

    def start(self, request: Request, workspace: Workspace) -> RunState:
        """Begin a run.

        Raises:
            LimitError: too many are going on.
        """
        if sum(t.state == "running" for t in self._tasks.values()) >= MAX_RUNNING:
            hint = "wait for one with run_status, or end one with cancel_run"
            raise LimitError(f"{MAX_RUNNING} runs are going on already", hint=hint)
        for old in [t.id for t in self._tasks.values() if t.state != "running"][: -MAX_KEPT or None]:
            if len(self._tasks) >= MAX_KEPT:
                del self._tasks[old]
        task = _Task(f"run-{secrets.token_hex(4)}", request, workspace)
        self._tasks[task.id] = task
        self._group.start_soon(self._work, task)
        return task.shown()

    async def status(self, run_id: str, wait_s: float) -> RunState:
        """Tell where a run stands; wait up to `wait_s` for its end.

        Raises:
            UsageError: there is no such run.
        """
        task = self._find(run_id)
        with anyio.move_on_after(wait_s):
            await task.ended.wait()
        return task.shown()

    async def cancel(self, run_id: str) -> RunState:
        """End a run and all that it started.

        Raises:
            UsageError: there is no such run.
        """
        task = self._find(run_id)
        task.scope.cancel()
        await task.ended.wait()
        return task.shown()

    def _find(self, run_id: str) -> _Task:
        if run_id not in self._tasks:
            names = ", ".join(list(self._tasks)[-5:])
            raise UsageError(f"there is no run {run_id!r}", hint=f"the latest are {names}" if names else "start one")
        return self._tasks[run_id]

    async def _work(self, task: _Task) -> None:
        async def tell(text: str) -> None:
            task.progress.append(text)

        try:
            with task.scope:
                task.reply = await self._workers.run(task.request, task.workspace.root, tell)
                task.state = "ended"
        except RtlagentError as error:
            task.state, task.error = "failed", str(error)
        finally:
            if task.state == "running":
                task.state = "cancelled"
            task.wall_s = time.monotonic() - task.started
            task.ended.set()
