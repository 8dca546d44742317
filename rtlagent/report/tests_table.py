"""The tests of an attempt as rows."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.report.iterations import Iteration
from rtlagent.report.text import clip
from rtlagent.types import Status, StepResult, TestResult

_MOST = 1_000


@dataclass(frozen=True)
class TestGroup:
    """The tests that one gate ran."""

    __test__ = False  # not a pytest class
    title: str
    rows: tuple[tuple[str, ...], ...]
    """Name, status, seed, checked, first failing cycle, message; failing ones first."""
    left_out: int


def test_groups(iteration: Iteration | None) -> tuple[TestGroup, ...]:
    """Return a group a gate that ran tests."""
    return tuple(_group(s) for s in (iteration.steps if iteration is not None else ()) if s.tests)


def _group(step: StepResult) -> TestGroup:
    passed = sum(t.status is Status.PASS for t in step.tests)
    tests = sorted(step.tests, key=lambda t: t.status is Status.PASS)
    title = f"{step.step}: {passed} of {len(tests)} passed ({step.tool_version})"
    return TestGroup(title, tuple(_row(t) for t in tests[:_MOST]), max(0, len(tests) - _MOST))


def _row(test: TestResult) -> tuple[str, ...]:
    numbers = (test.seed, test.checked_cycles, test.cycle)
    return (test.name, str(test.status), *("-" if n is None else str(n) for n in numbers), clip(test.message, 600))
