"""pass@k against brute force, intervals, rates; what is not measured is never 0."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlagent.bench.metrics import bootstrap, figures, pass_at_k
from rtlagent.bench.problem import BENCHMARK_DEFECT, BUDGET, DESIGN, ENDPOINT, TESTBENCH, TOOL, Score
from rtlagent.bench.result import Result, result_of, unanswered
from rtlagent.bench.tasks import FinalAnswer, Task
from rtlagent.types import Metrics, SourceFile, Status, Usage

FILES = (SourceFile("rtl/a.v", "module a; endmodule\n"),)


def result(problem: str, sample: int = 0, *, status: Status = Status.PASS, **changes: object) -> Result:
    made = Result(
        problem=problem,
        sample=sample,
        category="",
        status=status,
        failure_class="" if status is Status.PASS else DESIGN,
        outcome="answered",
        own_verdict=None,
        grade="",
        syntax=True,
        simulation=status is Status.PASS,
        synthesis=None,
        iterations=None,
        usage=Usage(100, 0, 50, 0.25),
        metrics=Metrics(),
        message="",
        answer_sha256="",
        model="m",
        tool_versions=("icarus 11.0",),
        generate_s=2.0,
        score_s=1.0,
        finished_at=0.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_with_a_pass(case: tuple[int, int, int]) -> None:
    n, c, k = case
    draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_pass_at_k_with_many_samples_does_not_overflow() -> None:
    assert pass_at_k(10_000, 1, 1) == pytest.approx(1e-4)
    assert pass_at_k(10_000, 5_000, 100) == pytest.approx(1.0)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0), (0, 0, 1)])
def test_pass_at_k_refuses_what_cannot_be(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="pass@"):
        pass_at_k(n, c, k)


def test_bootstrap_is_deterministic_and_about_as_wide_as_theory_says() -> None:
    values = [1.0] * 60 + [0.0] * 40
    first = bootstrap(values)
    assert first == bootstrap(values)
    assert first.value == pytest.approx(0.6)
    half_width = 1.96 * math.sqrt(0.6 * 0.4 / 100)
    assert first.low == pytest.approx(0.6 - half_width, abs=0.02)
    assert first.high == pytest.approx(0.6 + half_width, abs=0.02)


def test_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(3)
    covered = 0
    for seed in range(60):
        sample = [float(draw.random() < 0.5) for _ in range(80)]
        interval = bootstrap(sample, seed=seed)
        covered += interval.low <= 0.5 <= interval.high
    assert 50 <= covered <= 60


def test_bootstrap_of_one_value_and_of_none() -> None:
    assert (bootstrap([0.5]).low, bootstrap([0.5]).high) == (0.5, 0.5)
    with pytest.raises(ValueError, match="no value"):
        bootstrap([])


def test_errors_and_defects_are_left_out_of_every_rate() -> None:
    results = [
        result("a"),
        result("b", status=Status.FAIL),
        result("c", status=Status.ERROR, failure_class=TOOL, syntax=None),
        result("d", status=Status.ERROR, failure_class=ENDPOINT, syntax=None),
        result("e", status=Status.FAIL, failure_class=BENCHMARK_DEFECT),
    ]
    summed = figures(results, tasks=6)
    assert (summed.tasks, summed.finished, summed.counted, summed.passed) == (6, 5, 2, 1)
    assert summed.pass_at[0].estimate.value == pytest.approx(0.5)
    assert summed.pass_at_1_if_errors_failed == pytest.approx(0.2)
    assert (summed.syntax.count, summed.syntax.of) == (2, 2)
    assert summed.failures == ((DESIGN, 1), (BENCHMARK_DEFECT, 1), (TOOL, 1), (ENDPOINT, 1))


def test_pass_at_k_needs_k_results() -> None:
    results = [*(result("a", n, status=Status.PASS if n == 0 else Status.FAIL) for n in range(5)), result("b")]
    by_k = {p.k: p for p in figures(results, tasks=10).pass_at}
    assert sorted(by_k) == [1, 5]
    assert (by_k[1].problems, by_k[5].problems) == (2, 1)
    assert by_k[1].estimate.value == pytest.approx((0.2 + 1) / 2)
    assert by_k[5].estimate.value == 1.0


def test_false_passes_and_false_fails_are_of_our_own_verdicts() -> None:
    results = [
        result("a", own_verdict=True),
        result("b", own_verdict=True, status=Status.FAIL),
        result("c", own_verdict=False),
        result("d", own_verdict=False, status=Status.FAIL),
        result("e", own_verdict=None),
    ]
    summed = figures(results, tasks=5)
    assert (summed.false_pass.count, summed.false_pass.of) == (1, 2)
    assert (summed.false_fail.count, summed.false_fail.of) == (1, 2)


def test_spending_is_said_per_problem_and_per_solved_one() -> None:
    spent = figures(
        [result("a"), result("a", 1, status=Status.FAIL), result("b", status=Status.FAIL)], tasks=3
    ).spending
    assert spent.usage.cost_usd == pytest.approx(0.75)
    assert spent.cost_per_problem_usd == pytest.approx(0.375)
    assert spent.cost_per_solved_usd == pytest.approx(0.75)
    assert spent.tokens_per_solved == 450
    assert spent.wall_per_problem_s == pytest.approx(4.5)


def test_unknown_cost_and_nothing_solved_stay_unknown() -> None:
    spent = figures([result("a", status=Status.FAIL, usage=Usage(1, 0, 1, None))], tasks=1).spending
    assert spent.usage.cost_usd is None
    assert spent.cost_per_problem_usd is None
    assert spent.tokens_per_solved is None


def test_no_result_gives_no_figure() -> None:
    summed = figures([], tasks=3)
    assert summed.pass_at == ()
    assert summed.syntax.value is None
    assert summed.pass_at_1_if_errors_failed is None


@pytest.mark.parametrize(
    ("answer", "score", "status", "failure"),
    [
        (FinalAnswer("pass", FILES, own_verdict=True), Score(Status.FAIL, DESIGN), Status.FAIL, TESTBENCH),
        (FinalAnswer("fail", FILES, own_verdict=False), Score(Status.FAIL, DESIGN), Status.FAIL, DESIGN),
        (FinalAnswer("limit", FILES, failure_class=BUDGET), Score(Status.FAIL, DESIGN), Status.FAIL, BUDGET),
        (FinalAnswer("limit", FILES, failure_class=BUDGET), Score(Status.PASS), Status.PASS, ""),
        (FinalAnswer("pass", FILES, own_verdict=True), Score(Status.ERROR, TOOL), Status.ERROR, TOOL),
        (
            FinalAnswer("pass", FILES, own_verdict=True),
            Score(Status.FAIL, BENCHMARK_DEFECT),
            Status.FAIL,
            BENCHMARK_DEFECT,
        ),
        (FinalAnswer("answered", FILES), Score(Status.TIMEOUT, DESIGN), Status.TIMEOUT, DESIGN),
    ],
)
def test_whose_fault_a_failure_is(answer: FinalAnswer, score: Score, status: Status, failure: str) -> None:
    joined = result_of(Task("p", 0), "", answer, score, finished_at=0.0, host="")
    assert (joined.status, joined.failure_class) == (status, failure)


@pytest.mark.parametrize(
    ("answer", "status", "failure"),
    [
        (FinalAnswer("endpoint", failure_class=ENDPOINT), Status.ERROR, ENDPOINT),
        (FinalAnswer("tool", FILES, failure_class=TOOL), Status.ERROR, TOOL),
        (FinalAnswer("fail", failure_class=DESIGN), Status.FAIL, DESIGN),
        (FinalAnswer("fail", failure_class=BENCHMARK_DEFECT), Status.ERROR, BENCHMARK_DEFECT),
        (FinalAnswer("limit", failure_class=BUDGET), Status.FAIL, BUDGET),
    ],
)
def test_what_there_is_nothing_to_test_of(answer: FinalAnswer, status: Status, failure: str) -> None:
    score = unanswered(answer)
    assert score is not None
    assert (score.status, score.failure_class) == (status, failure)


def test_an_answer_is_tested() -> None:
    assert unanswered(FinalAnswer("limit", FILES)) is None


def test_messages_fit_every_database() -> None:
    answer = FinalAnswer("answered", FILES, model="m\0\ud800")
    joined = result_of(
        Task("p", 0), "", answer, Score(Status.FAIL, DESIGN, message="x\0" * 9000), finished_at=0.0, host=""
    )
    assert "\0" not in joined.message + joined.model
    assert len(joined.message) < 5000
    joined.model.encode()
