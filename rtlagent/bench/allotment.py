"""Share a run's budget out to the tasks in flight, so that together they cannot exceed it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rtlagent.bench.tasks import Task, TaskLimits
from rtlagent.config import BudgetConfig
from rtlagent.types import Usage

_GROWTH = 1.25
"""A task that its share has stopped is tried again only with a share so much larger."""


@dataclass(frozen=True)
class Share:
    """What one task may spend now, above what it has spent before."""

    tokens: float
    cost_usd: float
    time_s: float

    def clearly_above(self, other: Share) -> bool:
        """Tell whether it is worth while to go on with this share after the other was too small."""
        return self.tokens > _GROWTH * other.tokens or self.cost_usd > _GROWTH * other.cost_usd


class Allotment:
    """A run's budget: what is spent, what is promised, and what is left."""

    def __init__(
        self,
        limits: BudgetConfig,
        task_limits: TaskLimits,
        *,
        spent: Usage,
        elapsed_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = limits
        self._task_limits = task_limits
        self.spent = spent
        """By finished tasks, and by the others in earlier sessions."""
        self._clock = clock
        self._started = clock() - elapsed_s
        self._promised: dict[Task, Share] = {}
        self._before: dict[Task, Usage] = {}
        """What unfinished tasks have spent already; it is in `spent`."""
        self._too_small: dict[Task, Share] = {}

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began, earlier sessions included."""
        return self._clock() - self._started

    @property
    def is_limited(self) -> bool:
        """There is a limit for the whole run."""
        limits = self._limits
        return any(v is not None for v in (limits.max_tokens, limits.max_cost_usd, limits.max_time_s))

    def remember(self, task: Task, usage: Usage) -> None:
        """Note what an unfinished task has spent; the caller has counted it in `spent`."""
        self._before[task] = usage

    def take(self, task: Task, free_slots: int) -> BudgetConfig | None:
        """Promise a task its share and return its limits; None: nothing is left that would help it."""
        share = self._share(max(1, free_slots))
        too_small = self._too_small.get(task)
        if share is None or (too_small is not None and not share.clearly_above(too_small)):
            return None
        self._promised[task] = share
        return self._limits_of(task, share)

    def settle(self, task: Task, usage: Usage, *, final: bool) -> None:
        """Count what a task has spent in all its sessions, and take back what it was promised."""
        share = self._promised.pop(task)
        before = self._before.pop(task, Usage())
        cost = None if usage.cost_usd is None or before.cost_usd is None else -before.cost_usd
        self.spent += usage + Usage(-before.tokens_in, -before.tokens_cached, -before.tokens_out, cost)
        if not final:
            self._too_small[task] = share
            self._before[task] = usage

    def release(self, task: Task) -> None:
        """Take back what a task was promised that has come to nothing."""
        self._promised.pop(task, None)

    def used_up(self) -> str:
        """Say which limit keeps anything more from being begun; empty: none is known to."""
        limits, spent = self._limits, self.spent
        if limits.max_time_s is not None and self.elapsed_s >= limits.max_time_s:
            return f"{self.elapsed_s:.0f} s of {limits.max_time_s:.0f} s (--max-time)"
        if limits.max_cost_usd is not None:
            known = "an unknown sum" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
            if spent.cost_usd is None or self._share(1) is None or limits.max_tokens is None:
                return f"{known} of ${limits.max_cost_usd:.4f} (--max-cost)"
        if limits.max_tokens is not None:
            return f"{spent.tokens_in + spent.tokens_out} of {limits.max_tokens} tokens (--max-tokens)"
        return ""

    def _share(self, free_slots: int) -> Share | None:
        limits, spent, promised = self._limits, self.spent, self._promised.values()
        tokens = cost = time_s = float("inf")
        if limits.max_tokens is not None:
            left = limits.max_tokens - spent.tokens_in - spent.tokens_out - sum(s.tokens for s in promised)
            tokens = left // free_slots
        if limits.max_cost_usd is not None:
            if spent.cost_usd is None:
                return None
            cost = (limits.max_cost_usd - spent.cost_usd - sum(s.cost_usd for s in promised)) / free_slots
        if limits.max_time_s is not None:
            time_s = limits.max_time_s - self.elapsed_s
        return Share(tokens, cost, time_s) if tokens >= 1 and cost > 0 and time_s > 0 else None

    def _limits_of(self, task: Task, share: Share) -> BudgetConfig:
        """Return the smaller of the task's own limits and its share; both count from the task's beginning."""
        own, before = self._task_limits, self._before.get(task, Usage())
        tokens = share.tokens + before.tokens_in + before.tokens_out
        cost = share.cost_usd + (before.cost_usd or 0.0)
        limits = BudgetConfig(own.max_tokens, own.max_cost_usd, own.max_iterations, own.max_time_s)
        if tokens < float("inf"):
            limits = replace(limits, max_tokens=int(min(tokens, own.max_tokens or tokens)))
        if cost < float("inf"):
            limits = replace(limits, max_cost_usd=min(cost, own.max_cost_usd or cost))
        if share.time_s < float("inf"):
            limits = replace(limits, max_time_s=min(share.time_s, own.max_time_s or share.time_s))
        return limits
