"""Read a clock as people write it: `10ns`, `10`, `2.5 ns`, `100MHz`."""

from __future__ import annotations

import re

_CLOCK = re.compile(r"\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|ps|us|[kmg]?hz)?\s*", re.I)
_NS = {"": 1.0, "ns": 1.0, "ps": 1e-3, "us": 1e3}
_HZ = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
CLOCK_FORMS = "10ns, 10 (nanoseconds) or 100MHz"
_SHORTEST_NS, _LONGEST_NS = 0.1, 1e6


def period_ns(written: str) -> float:
    """Return the period of a clock in nanoseconds.

    Raises:
        ValueError: it is no clock, or one that no chip has.
    """
    match = _CLOCK.fullmatch(written)
    if match is None:
        raise ValueError(f"not a clock: {written[:40]!r}")
    number, unit = float(match[1]), (match[2] or "").lower()
    if number == 0:
        raise ValueError(f"not a clock: {written[:40]!r}")
    period = 1e9 / (number * _HZ[unit]) if unit in _HZ else number * _NS[unit]
    if not _SHORTEST_NS <= period <= _LONGEST_NS:
        raise ValueError(f"a clock of {period:g} ns is out of range ({_SHORTEST_NS:g} to {_LONGEST_NS:g} ns)")
    return period
