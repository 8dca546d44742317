"""The figures of a run: pass@k with intervals, rates, what it cost, and whose fault the failures are.

A result that an error of a tool or the endpoint, or a defect of the suite has spoilt says nothing about the
model and is left out of every rate; how many they are is said beside them. None: there is nothing to tell from.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rtlagent.bench.result import FAILURE_CLASSES, RETRIED, Result
from rtlagent.types import Usage

RESAMPLES = 2000
_MOST_DRAWS = 4_000_000
_SEED = 20_210_707
_KS = (1, 5, 10, 100)
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % bootstrap interval over problems."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class PassAtK:
    """The chance that at least one of k answers passes, averaged over problems."""

    k: int
    estimate: Interval
    problems: int
    """With at least k results; the others are left out."""


@dataclass(frozen=True)
class Rate:
    """How many of how many."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share; None: of nothing."""
        return self.count / self.of if self.of else None


@dataclass(frozen=True)
class CategoryFigures:
    """One category of the suite."""

    name: str
    problems: int
    solved: int
    """Problems with at least one passing answer."""
    pass_at_1: float | None


@dataclass(frozen=True)
class Spending:
    """What the run took; sums over everything, errors included."""

    usage: Usage
    answering_s: float
    scoring_s: float
    tokens_per_problem: float | None
    cost_per_problem_usd: float | None
    wall_per_problem_s: float | None
    tokens_per_solved: float | None
    cost_per_solved_usd: float | None
    wall_per_solved_s: float | None


@dataclass(frozen=True)
class Figures:
    """Everything that a report says."""

    tasks: int
    """Planned."""
    finished: int
    counted: int
    """Finished ones that say something about the model."""
    passed: int
    problems: int
    solved: int
    pass_at: tuple[PassAtK, ...]
    pass_at_1_if_errors_failed: float | None
    """The most cautious reading: unfinished tasks apart, everything that did not pass counts as failed."""
    syntax: Rate
    simulation: Rate
    synthesis: Rate
    """Of the answers where it was found out."""
    false_pass: Rate
    """Our own gates passed it, the hidden tests do not; of all that our gates passed."""
    false_fail: Rate
    """Our own gates refused it, the hidden tests pass; of all that our gates refused."""
    failures: tuple[tuple[str, int], ...]
    """Class -> tasks; only classes that occur, in the order of FAILURE_CLASSES."""
    categories: tuple[CategoryFigures, ...]
    spending: Spending
    tool_versions: tuple[str, ...]
    """Of every score."""
    models: tuple[str, ...]
    """As the endpoints called themselves."""


def pass_at_k(n: int, c: int, k: int) -> float:
    """Estimate pass@k without bias from n answers of which c pass (Chen et al. 2021, equation 1).

    Raises:
        ValueError: not 0 <= c <= n, or not 1 <= k <= n.
    """
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"pass@{k} of {c} passing among {n}")
    # One minus the chance that k draws without replacement all miss, as a product that cannot overflow.
    return 1.0 - math.prod((n - c - i) / (n - i) for i in range(k))


def bootstrap(values: Sequence[float], *, seed: int = _SEED) -> Interval:
    """Return the mean with its 95 % percentile interval over resamples of `values` (Efron 1979).

    Deterministic for a seed. With very many values there are fewer resamples, never fewer than 200.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        raise ValueError("no value")
    rounds = max(200, min(RESAMPLES, _MOST_DRAWS // len(values)))
    draw = random.Random(seed)
    means = sorted(math.fsum(draw.choices(values, k=len(values))) / len(values) for _ in range(rounds))
    tail = (1 - _CONFIDENCE) / 2
    low, high = means[math.floor(tail * (rounds - 1))], means[math.ceil((1 - tail) * (rounds - 1))]
    return Interval(math.fsum(values) / len(values), low, high)


def figures(results: Sequence[Result], *, tasks: int) -> Figures:
    """Sum up the results of a run of `tasks` tasks."""
    counted = [r for r in results if r.counts]
    by_problem = _by(counted, lambda r: r.problem)
    solved = {name for name, rs in by_problem.items() if any(r.passed for r in rs)}
    judged = [r for r in counted if r.own_verdict is not None]
    failures = Counter(r.failure_class for r in results if r.failure_class)
    cautious = _by(results, lambda r: r.problem)
    return Figures(
        tasks=tasks,
        finished=len(results),
        counted=len(counted),
        passed=sum(r.passed for r in counted),
        problems=len(by_problem),
        solved=len(solved),
        pass_at=_pass_at(by_problem),
        pass_at_1_if_errors_failed=_mean([_share(rs) for rs in cautious.values()]),
        syntax=_rate(counted, lambda r: r.syntax),
        simulation=_rate(counted, lambda r: r.simulation),
        synthesis=_rate(counted, lambda r: r.synthesis),
        false_pass=_rate([r for r in judged if r.own_verdict], lambda r: not r.passed),
        false_fail=_rate([r for r in judged if not r.own_verdict], lambda r: r.passed),
        failures=tuple((name, failures[name]) for name in FAILURE_CLASSES if failures[name]),
        categories=_categories(counted),
        spending=_spending(results, problems=len(cautious), solved=len(solved)),
        tool_versions=tuple(sorted({v for r in results for v in r.tool_versions})),
        models=tuple(sorted({r.model for r in results if r.model})),
    )


def errors_of(results: Iterable[Result]) -> int:
    """Count the results that a tool or the endpoint has spoilt."""
    return sum(r.failure_class in RETRIED for r in results)


def _pass_at(by_problem: Mapping[str, Sequence[Result]]) -> tuple[PassAtK, ...]:
    counts = [(len(rs), sum(r.passed for r in rs)) for _, rs in sorted(by_problem.items())]
    most = max((n for n, _ in counts), default=0)
    found = []
    for k in sorted({k for k in (*_KS, most) if 1 <= k <= most}):
        values = [pass_at_k(n, c, k) for n, c in counts if n >= k]
        found.append(PassAtK(k, bootstrap(values), len(values)))
    return tuple(found)


def _categories(counted: Sequence[Result]) -> tuple[CategoryFigures, ...]:
    found = []
    for name, results in sorted(_by(counted, lambda r: r.category).items()):
        by_problem = _by(results, lambda r: r.problem)
        solved = sum(any(r.passed for r in rs) for rs in by_problem.values())
        share = _mean([_share(rs) for rs in by_problem.values()])
        found.append(CategoryFigures(name, len(by_problem), solved, share))
    return tuple(found)


def _spending(results: Sequence[Result], *, problems: int, solved: int) -> Spending:
    usage = sum((r.usage for r in results), Usage())
    answering, scoring = math.fsum(r.generate_s for r in results), math.fsum(r.score_s for r in results)
    tokens, wall_s = usage.tokens_in + usage.tokens_out, answering + scoring

    def per(value: float | None, count: int) -> float | None:
        return None if value is None or not count else value / count

    return Spending(
        usage,
        answering,
        scoring,
        per(tokens, problems),
        per(usage.cost_usd, problems),
        per(wall_s, problems),
        per(tokens, solved),
        per(usage.cost_usd, solved),
        per(wall_s, solved),
    )


def _rate(results: Sequence[Result], question: Callable[[Result], bool | None]) -> Rate:
    answers = [a for r in results if (a := question(r)) is not None]
    return Rate(sum(answers), len(answers))


def _share(results: Sequence[Result]) -> float:
    return sum(r.passed for r in results) / len(results)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _by(results: Iterable[Result], key: Callable[[Result], str]) -> dict[str, list[Result]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[key(result)].append(result)
    return groups
