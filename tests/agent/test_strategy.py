"""What follows a verdict: cheap first, then the oracle on trial, then a fresh start, then an end."""

from dataclasses import replace

from rtlagent.agent import strategy
from rtlagent.types import (
    Diagnostic,
    Grade,
    Metrics,
    Mismatch,
    Severity,
    Status,
    StepResult,
    TestResult,
    Unmet,
    Verdict,
)


def sim_failure(cycle: int = 3) -> Verdict:
    miss = Mismatch("s", cycle, 1.0, "q", "1", "0")
    test = TestResult("s", Status.FAIL, cycle=cycle, mismatches=(miss,))
    good = TestResult("t", Status.PASS)
    return Verdict(
        False, Grade.NONE, (StepResult("lint", Status.PASS), StepResult("simulate", Status.FAIL, tests=(test, good)))
    )


def lint_failure(message: str = "syntax error") -> Verdict:
    found = Diagnostic("t", Severity.ERROR, "SYNTAX", message, "a.v", 3, 1)
    return Verdict(False, Grade.NONE, (StepResult("lint", Status.FAIL, diagnostics=(found,)),))


def area_failure(luts: int) -> Verdict:
    steps = (StepResult("lint", Status.PASS), StepResult("synthesize", Status.PASS, metrics=Metrics(luts=luts)))
    return Verdict(False, Grade.NONE, steps, (Unmet("max_luts", 10.0, float(luts)),))


def attempt(verdict: Verdict, line: int = 0):
    failing = verdict.failing
    return {
        "iteration": 1,
        "sha": "x",
        "parent": "",
        "step": "" if verdict.passed else failing.step if failing else "requirements",
        "signature": strategy.signature(verdict),
        "score": strategy.score(verdict),
        "note": "",
        "line": line,
    }


def decide(*verdicts: Verdict, rulings=(), line: int = 0, candidates: int = 1) -> str:
    state = {"attempts": [attempt(v, line) for v in verdicts], "rulings": list(rulings), "line": line}
    return strategy.next_step(state, verdicts[-1], candidates=candidates)[0]


def test_a_first_failure_is_repaired_and_a_new_one_too() -> None:
    assert decide(sim_failure()) == "repair"
    assert decide(sim_failure(), lint_failure()) == "repair"


def test_further_candidates_only_after_a_failure() -> None:
    assert decide(sim_failure(), candidates=3) == "widen"
    passed = Verdict(True, Grade.MODERATE, (StepResult("lint", Status.PASS),))
    assert decide(passed, candidates=3) == "finish"


def test_the_same_wrong_output_twice_puts_the_oracle_on_trial() -> None:
    assert decide(sim_failure(), sim_failure()) == "arbitrate"


def test_after_a_ruling_one_more_repair_then_a_fresh_start() -> None:
    ruling = [[strategy.signature(sim_failure()), "design", "why"]]
    assert decide(sim_failure(), sim_failure(), rulings=ruling) == "repair"
    assert decide(sim_failure(), sim_failure(), sim_failure(), rulings=ruling) == "fresh"


def test_the_same_lint_error_twice_starts_afresh() -> None:
    assert decide(lint_failure(), lint_failure()) == "fresh"


def test_fresh_starts_and_repetitions_end() -> None:
    assert decide(lint_failure(), lint_failure(), line=strategy.MAX_LINES - 1) == "finish"
    assert decide(*[lint_failure()] * strategy.MAX_SAME_FAILURE) == "finish"


def test_a_requirement_that_comes_no_closer_ends_the_run() -> None:
    assert decide(area_failure(20), area_failure(18), area_failure(16), area_failure(14)) == "repair"
    assert decide(*[area_failure(20)] * strategy.MAX_STALLED_REQUIREMENT) == "finish"


def test_equal_failures_have_equal_signatures() -> None:
    one, moved = lint_failure(), lint_failure()
    step = moved.steps[0]
    moved = replace(moved, steps=(replace(step, diagnostics=(replace(step.diagnostics[0], line=9),)),))
    assert strategy.signature(one) == strategy.signature(moved)
    assert strategy.signature(one) != strategy.signature(lint_failure("other"))
    assert strategy.signature(sim_failure(3)) != strategy.signature(sim_failure(4))
    assert strategy.signature(area_failure(12)) != strategy.signature(area_failure(11))


def test_more_gates_then_more_tests_then_later_mismatch_rank_higher() -> None:
    ranked = [lint_failure(), sim_failure(1), sim_failure(9), area_failure(20), area_failure(12)]
    scores = [strategy.score(v) for v in ranked]
    assert scores == sorted(scores)
    assert len({tuple(s) for s in scores}) == len(scores)


def test_a_missed_limit_of_zero_ranks_below_a_pass_and_by_its_distance() -> None:
    def brams(measured: float) -> float:
        unmet = (Unmet("max_brams", 0.0, measured),)
        return strategy.score(Verdict(False, Grade.NONE, (StepResult("lint", Status.PASS),), unmet))[-1]

    passed = strategy.score(Verdict(True, Grade.MODERATE, (StepResult("lint", Status.PASS),)))[-1]
    assert 0 < brams(4.0) < brams(1.0) < passed
