"""Paired comparison: exact p-values, wins by problem, no pair invented."""

from __future__ import annotations

import itertools
import math

import pytest
from test_metrics_figures import result

from rtlagent.bench.compare import compare, exact_p
from rtlagent.bench.problem import TOOL
from rtlagent.bench.report_text import comparison_lines
from rtlagent.bench.result import Result
from rtlagent.types import Status


def outcomes(text: str) -> list[Result]:
    """Turn `a+ b- b+` into results; a second one of a problem is its next sample."""
    seen: dict[str, int] = {}
    made = []
    for word in text.split():
        name, passed = word[:-1], word[-1] == "+"
        sample = seen[name] = seen.get(name, -1) + 1
        made.append(result(name, sample, status=Status.PASS if passed else Status.FAIL))
    return made


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (5, 1), (3, 3), (0, 8), (7, 2)])
def test_p_is_what_enumerating_all_coins_gives(wins: int, losses: int) -> None:
    n = wins + losses
    at_least = sum(abs(2 * sum(coins) - n) >= abs(wins - losses) for coins in itertools.product((0, 1), repeat=n))
    assert exact_p(wins, losses) == pytest.approx(min(1.0, at_least / 2**n))


def test_p_of_thousands_does_not_overflow() -> None:
    assert 0 <= exact_p(6000, 4000) < 1e-80
    assert math.isclose(exact_p(5000, 5000), 1.0)


def test_who_won_what() -> None:
    found = compare(outcomes("a+ b+ c- d- e+"), outcomes("a+ b- c+ d+ f+"))
    assert [p.problem for p in found.won_by_a] == ["b"]
    assert [p.problem for p in found.won_by_b] == ["c", "d"]
    assert (found.ties, found.only_a, found.only_b) == (1, ("e",), ("f",))
    assert found.difference is not None
    assert found.difference.value == pytest.approx(0.25)
    assert found.p_value == pytest.approx(1.0)


def test_samples_of_a_problem_are_one_vote() -> None:
    found = compare(outcomes("a+ a+ a- b- b-"), outcomes("a+ a- a- b- b-"))
    assert [(p.passed_a, p.of_a, p.passed_b, p.of_b) for p in found.won_by_a] == [(2, 3, 1, 3)]
    assert found.ties == 1
    assert found.p_value == 1.0


def test_eight_wins_to_none_are_hardly_chance() -> None:
    names = "abcdefgh"
    found = compare(outcomes(" ".join(f"{n}-" for n in names)), outcomes(" ".join(f"{n}+" for n in names)))
    assert found.p_value == pytest.approx(2 / 2**8)
    assert "hardly chance" in "\n".join(comparison_lines("x", "y", found))


def test_an_error_is_no_loss() -> None:
    spoilt = [result("a", status=Status.ERROR, failure_class=TOOL)]
    found = compare(outcomes("a+"), spoilt)
    assert found.pairs == ()
    assert found.p_value is None
    assert found.only_a == ("a",)
    assert "share no problem" in comparison_lines("x", "y", found)[0]
