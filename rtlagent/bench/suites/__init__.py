"""The suites by name. A new suite is one file here and one line in SUITES."""

from __future__ import annotations

from rtlagent.bench.problem import Suite
from rtlagent.errors import UsageError, suggestion

SUITES: dict[str, Suite] = {}


def suite(name: str) -> Suite:
    """Return the suite called `name`.

    Raises:
        UsageError: there is none; the hint has the names.
    """
    if name not in SUITES:
        raise UsageError(
            f"there is no suite {name!r}", hint=suggestion(name, SUITES) or f"choose from {', '.join(SUITES)}"
        )
    return SUITES[name]
