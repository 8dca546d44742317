"""The verdict of VerilogEval's testbenches: `Mismatches: 0 in 200 samples`, printed when the simulation ends."""

from __future__ import annotations

import re

from rtlagent.bench.hidden_test import Ruling, Said
from rtlagent.types import Status

_COUNT = re.compile(r"^Mismatches: (\d+) in (\d+) samples", re.M)
_TIMEOUT = re.compile(r"^TIMEOUT\b", re.M)
_HINT = re.compile(r"^Hint: (?!.*has no mismatches).*", re.M)


def rule(said: Said) -> Ruling:
    """Return PASS for no mismatch in some samples, if the testbench itself ended the simulation."""
    text = said.heard.text
    if _TIMEOUT.search(text):
        return Ruling(Status.TIMEOUT, "the testbench's own time limit ended the simulation (TIMEOUT)")
    counts = _COUNT.findall(text)
    if not counts:
        return Ruling(Status.UNPROVEN, "the simulation ended without a count of mismatches")
    wrong, samples = (int(n) for n in counts[-1])
    if wrong:
        hints = _HINT.findall(text)
        return Ruling(Status.FAIL, "\n".join([f"Mismatches: {wrong} in {samples} samples", *hints[:5]]))
    if samples == 0:
        return Ruling(Status.UNPROVEN, "the testbench compared nothing")
    if said.may_end_early:
        return Ruling(Status.FAIL, f"the simulation ended before the testbench did, after {samples} samples")
    return Ruling(Status.PASS, f"Mismatches: 0 in {samples} samples")
