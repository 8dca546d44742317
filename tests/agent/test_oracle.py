"""A corrected golden model may not check less than the one before it, nor than the first."""

import pytest

from rtlagent.agent.oracle import weakened
from rtlagent.types import CycleScenario, Trace


def trace(*, q: int = 8, full: int = 8, names: tuple[str, ...] = ("a",)) -> Trace:
    """Compare `q` and `full` in the first so many of 8 cycles."""
    expected = tuple({"q": 1 if k < q else None, **({"full": 0} if k < full else {})} for k in range(8))
    return Trace(1, cycles=tuple(CycleScenario(n, ({},) * 8, expected) for n in names))


@pytest.mark.parametrize("new", [trace(), trace(q=4), trace(names=("a", "more"))])
def test_a_correction_may_leave_open_some_of_what_it_compared(new: Trace) -> None:
    assert weakened(trace(), new) == ""


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (trace(names=("b",)), "drops these scenarios: a;"),
        (trace(full=3), "full 3 times instead of 8;"),
        # The other output makes up for it in all, but nothing judges this one any more.
        (trace(full=0, names=("a", "b", "c")), "full 0 times instead of 8;"),
    ],
)
def test_a_check_that_goes_away_is_named(new: Trace, reason: str) -> None:
    assert reason in weakened(trace(), new)
