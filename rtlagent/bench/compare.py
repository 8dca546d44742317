"""Compare two runs of one suite, problem by problem."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rtlagent.bench.metrics import Interval, bootstrap
from rtlagent.bench.result import Result


@dataclass(frozen=True)
class Pair:
    """One problem in both runs."""

    problem: str
    passed_a: int
    of_a: int
    passed_b: int
    of_b: int

    @property
    def difference(self) -> float:
        """Share of passing answers of B less that of A."""
        return self.passed_b / self.of_b - self.passed_a / self.of_a


@dataclass(frozen=True)
class Comparison:
    """Who is better, and whether that can be chance."""

    pairs: tuple[Pair, ...]
    """Problems that both runs have results of, errors and defects of the suite apart."""
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    """Problems that the other run has no countable result of."""
    pass_at_1_a: float | None
    pass_at_1_b: float | None
    difference: Interval | None
    """B less A, with a bootstrap interval over the pairs; None: there is no pair."""
    p_value: float | None
    """Exact, two-sided; None: there is no pair."""

    @property
    def won_by_a(self) -> tuple[Pair, ...]:
        """Problems that A answers right more often."""
        return tuple(p for p in self.pairs if p.difference < 0)

    @property
    def won_by_b(self) -> tuple[Pair, ...]:
        """Problems that B answers right more often."""
        return tuple(p for p in self.pairs if p.difference > 0)

    @property
    def ties(self) -> int:
        """Problems where both do equally well."""
        return sum(p.difference == 0 for p in self.pairs)


def compare(a: Iterable[Result], b: Iterable[Result]) -> Comparison:
    """Pair two runs by problem.

    With one sample a problem the p-value is that of McNemar's exact test (1947): under the hypothesis that
    neither is better, each problem that only one of them solves is a fair coin. With several samples a problem
    goes to whoever passes more often, which makes it the exact sign test; samples of one problem are not
    independent, so that they are not counted as pairs of their own.
    """
    counts_a, counts_b = _counts(a), _counts(b)
    both = sorted(counts_a.keys() & counts_b.keys())
    pairs = tuple(Pair(name, *counts_a[name], *counts_b[name]) for name in both)
    wins_a, wins_b = (sum(p.difference < 0 for p in pairs), sum(p.difference > 0 for p in pairs))
    return Comparison(
        pairs,
        tuple(sorted(counts_a.keys() - counts_b.keys())),
        tuple(sorted(counts_b.keys() - counts_a.keys())),
        _mean([p.passed_a / p.of_a for p in pairs]),
        _mean([p.passed_b / p.of_b for p in pairs]),
        bootstrap([p.difference for p in pairs]) if pairs else None,
        exact_p(wins_a, wins_b) if pairs else None,
    )


def exact_p(wins: int, losses: int) -> float:
    """Return the two-sided exact binomial p-value of so many wins and losses between equals."""
    n, k = wins + losses, min(wins, losses)
    term = tail = 1
    for i in range(k):  # each binomial coefficient from the one before: thousands of them stay quick
        term = term * (n - i) // (i + 1)
        tail += term
    return min(1.0, float(2 * tail / 2**n))


def _counts(results: Iterable[Result]) -> dict[str, tuple[int, int]]:
    found: dict[str, list[bool]] = defaultdict(list)
    for result in results:
        if result.counts:
            found[result.problem].append(result.passed)
    return {name: (sum(passed), len(passed)) for name, passed in found.items()}


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
