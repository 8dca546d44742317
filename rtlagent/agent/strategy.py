"""Decide what to do after a verdict: repair, dispute the oracle, start afresh, or stop.

The first failure of a kind is repaired. The same failure again puts the oracle on trial (if it was
the oracle that complained) or starts a fresh candidate. A design that keeps failing the same way
after that ends the run: more of the same burns the user's tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

from rtlagent.agent.state import Attempt, LoopState
from rtlagent.types import Status, StepResult, Unmet, Verdict, digest

MAX_SAME_FAILURE = 5
"""Attempts with one and the same failure, over the whole run."""
MAX_LINES = 4
"""Fresh starts."""
MAX_ORACLE_FIXES = 4
MAX_STALLED_REQUIREMENT = 4
"""Attempts in a row that miss only a requirement and come no closer to it."""
GATES = ("lint", "elaborate", "simulate", "tests", "equiv", "synthesize", "place_and_route", "cross_check")


def signature(verdict: Verdict) -> str:
    """Return a text that is equal for equal failures, whatever the candidate's text."""
    step = verdict.failing
    if step is None:
        return digest(["requirements", [[u.name, u.measured] for u in verdict.unmet]])
    tests = [
        [t.name, t.status, t.cycle, [[m.cycle, m.signal, m.expected, m.got] for m in t.mismatches[:3]]]
        for t in step.tests
        if t.status is not Status.PASS
    ]
    codes = sorted({(d.code, d.message) for d in step.diagnostics if d.severity == "error"})
    measured = [[u.name, u.measured] for u in verdict.unmet]
    return digest([step.step, step.status, tests[:4], [list(c) for c in codes][:6], measured])


def score(verdict: Verdict) -> list[float]:
    """Rank a verdict: gates passed, share of tests passed, mean progress before the first mismatch, requirements."""
    passed = sum(1 for s in verdict.steps if s.passed)
    failing = verdict.failing
    share, progress = 1.0, 1.0
    if failing is not None and failing.tests:
        share = sum(t.status is Status.PASS for t in failing.tests) / len(failing.tests)
        progress = sum(_progress(failing, k) for k in range(len(failing.tests))) / len(failing.tests)
    closeness = min((_closeness(u) for u in verdict.unmet), default=1.0)
    return [float(passed), share, progress, closeness]


def _closeness(unmet: Unmet) -> float:
    """Return below 1 how near the figure is to its limit; 0: not measured."""
    if unmet.measured is None:
        return 0.0
    if not unmet.limit:
        return 1.0 / (2.0 + unmet.measured)
    return min(unmet.limit / unmet.measured, unmet.measured / unmet.limit) if unmet.measured else 0.0


def _progress(step: StepResult, index: int) -> float:
    test = step.tests[index]
    if test.status is Status.PASS:
        return 1.0
    return 1.0 - 1.0 / (1.0 + (test.cycle or 0))


def next_step(state: LoopState, verdict: Verdict, *, candidates: int) -> tuple[str, str]:
    """Return the next node and, when the run is to stop, why.

    Args:
        state: The state with the verdict's attempt already appended.
        verdict: The latest verdict.
        candidates: How many candidates the user allows when the first one fails.
    """
    attempts = state["attempts"]
    latest = attempts[-1]
    if verdict.passed:
        return "finish", ""
    if candidates > 1 and len(attempts) == 1:
        return "widen", ""
    if verdict.failing is None or verdict.failing.step == "place_and_route":
        return _next_for_requirement(attempts, verdict)
    same = [a for a in attempts if a["signature"] == latest["signature"]]
    same_line = [a for a in same if a["line"] == latest["line"]]
    if len(same) >= MAX_SAME_FAILURE:
        return "finish", f"the same failure came back {len(same)} times"
    if len(same_line) <= 1:
        return "repair", ""
    tried = any(r[0] == latest["signature"] for r in state.get("rulings", []))
    if latest["step"] == "simulate" and not tried:
        return "arbitrate", ""
    if len(same_line) == 2 and tried:
        return "repair", ""
    return fresh_or_stop(state)


def fresh_or_stop(state: LoopState) -> tuple[str, str]:
    """Start a fresh candidate unless that was done often enough."""
    if state.get("line", 0) + 1 >= MAX_LINES:
        return "finish", f"no approach worked in {MAX_LINES} fresh starts"
    return "fresh", ""


def _next_for_requirement(attempts: Sequence[Attempt], verdict: Verdict) -> tuple[str, str]:
    def misses_requirement(attempt: Attempt) -> bool:
        return attempt["step"] in ("requirements", "place_and_route")

    run = 0
    for attempt in reversed(attempts):
        if not misses_requirement(attempt):
            break
        run += 1
    window = attempts[-run:] if run else []
    if run >= MAX_STALLED_REQUIREMENT:
        recent = max(a["score"] for a in window[-MAX_STALLED_REQUIREMENT + 1 :])
        before = max(a["score"] for a in window[: -MAX_STALLED_REQUIREMENT + 1])
        if recent[-1] <= before[-1] * 1.02:
            names = ", ".join(u.name for u in verdict.unmet)
            return "finish", f"{names} not met, and no closer after {MAX_STALLED_REQUIREMENT - 1} more attempts"
    return "repair", ""
