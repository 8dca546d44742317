"""What a benchmark run is to do: fixed when it begins, kept in its folder, compared when it goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from rtlagent.bench.problem import Problem
from rtlagent.types import digest

MODES = ("agent", "single")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")


@dataclass(frozen=True)
class Task:
    """One sample of one problem."""

    problem: str
    sample: int
    """From 0."""

    def __str__(self) -> str:
        return f"{self.problem}/{self.sample}"


@dataclass(frozen=True)
class TaskLimits:
    """What one task may spend; None: no limit but the run's own."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_time_s: float | None = None
    max_iterations: int | None = 8


@dataclass(frozen=True)
class Plan:
    """Everything that decides which answers a run gets and how they are scored, and nothing else."""

    suite: str
    suite_sha256: str
    """Of all the suite's data, hidden files included."""
    model: str | None
    """As named by the user; None: no problem needs one."""
    mode: str
    """`agent` or `single`."""
    samples: int
    problems: tuple[str, ...]
    """Their names, in the suite's order."""
    seed: int
    """Of the first sample's stimulus; each further sample adds one."""
    temperature: float | None
    """None: the provider's own default."""
    prompts_sha256: str
    """Of every template in use."""
    blind: bool
    simulator: str
    synthesis: bool
    """Designs are synthesized as well where the suite does not do it."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    candidates: int = 1
    mutants: int = 16
    random_cycles: int = 600
    max_output_tokens: int | None = None
    sandbox: str = "bwrap"

    @property
    def sha256(self) -> str:
        """Hex digest over all fields."""
        return digest(self)

    def differences(self, other: Plan) -> tuple[str, ...]:
        """Return the names of the fields that differ."""
        return tuple(f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name))


def tasks_of(plan: Plan) -> tuple[Task, ...]:
    """Return all tasks: every problem once, then every problem again, so that early figures cover the suite."""
    return tuple(Task(name, sample) for sample in range(plan.samples) for name in plan.problems)


def folder_of(root: Path, task: Task) -> Path:
    """Return a task's folder; a name that cannot be a folder's gets its digest in it."""
    name = task.problem
    if not _PLAIN.fullmatch(name):
        name = f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name).strip('_.-')[:60]}-{digest(name)[:12]}"
    return root / "tasks" / name / str(task.sample)


def problems_by_name(problems: Sequence[Problem]) -> dict[str, Problem]:
    """Return the problems by their names."""
    return {p.name: p for p in problems}
