"""What the page of a benchmark run shows; `rtlagent.bench.html` fills it in."""

from __future__ import annotations

from dataclasses import dataclass

Row = tuple[str, ...]


@dataclass(frozen=True)
class Bar:
    """A share with its name, for a bar."""

    name: str
    text: str
    share: float | None
    """From 0 to 1; None: not measured."""
    low: float | None = None
    high: float | None = None
    """Its 95 % interval."""


@dataclass(frozen=True)
class TaskView:
    """One answer."""

    sample: int
    status: str
    failure_class: str
    message: str
    own_verdict: str
    figures: str
    """Iterations, tokens, cost and time, in one line."""
    link: str
    """Its folder, relative to the report; empty: there is none."""


@dataclass(frozen=True)
class ProblemView:
    """One problem with its answers."""

    name: str
    category: str
    passed: int
    tasks: tuple[TaskView, ...]


@dataclass(frozen=True)
class BenchPage:
    """Everything that the template of a benchmark run prints."""

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    figures: tuple[Row, ...]
    """What, how much, of what."""
    spending: tuple[Row, ...]
    """What, in all, a problem, a solved problem."""
    failures: tuple[Bar, ...]
    categories: tuple[Bar, ...]
    problems: tuple[ProblemView, ...]
    record: tuple[str, ...]
    unfinished: str = ""
    """What is left to do; empty: nothing."""
    left_out: int = 0
    """Answers beyond those of `problems`."""
