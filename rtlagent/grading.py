"""How strong is the evidence behind a PASS? By what the tests compared, then by the mutants that they kill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rtlagent import __version__
from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError
from rtlagent.tools.toolchain import tool_versions
from rtlagent.types import Candidate, Grade, Port, Spec, StepResult, Trace, digest, to_json
from rtlagent.workspace import write_atomic

FUNCTION_STEPS = ("simulate", "cosim", "tests", "equiv")
"""The gates that judge what a design does."""
MIN_CYCLES = 100
"""Fewer checked cycles than this make a weak verdict (judgement; see `grade_evidence`)."""
_MUTANT_SEED = 1


@dataclass(frozen=True)
class Grader:
    """Grades passing candidates; remembers each grade by content."""

    config: ToolConfig
    trace: Trace | None
    """The oracle's; None when only the user's tests judge."""
    mutants: int
    """Wrong versions of the design on which the tests are judged; 0: none."""
    store: Path
    """Where grades are kept by content hash."""

    def grade(self, candidate: Candidate, spec: Spec, steps: Sequence[StepResult]) -> tuple[Grade, str]:
        """Say how strong the tests were that passed the candidate, and why not stronger."""
        grade, reason = grade_evidence(steps, spec, self.trace)
        if grade is not Grade.MODERATE or not self.mutants:
            return grade, reason
        inputs = [spec.top, spec.ports, spec.clock, spec.reset, spec.tests, self.trace, self.mutants]
        key = digest([candidate.sha256, inputs, self.config.limits, __version__, tool_versions()])
        path = self.store / f"grade-{key}.json"
        with suppress(OSError, ValueError, TypeError, IndexError):  # a damaged result is as good as none
            value = json.loads(path.read_bytes())
            return Grade(value[0]), str(value[1])
        try:
            measured, why = self._kill_mutants(candidate, spec, key)
        except RtlagentError as error:
            # The design has passed; only the measure of its tests is missing.
            return grade, f"{reason} ({error.message})"
        grade, reason = (grade, f"{reason} ({why})") if measured is Grade.NONE else (measured, why)
        write_atomic(path, json.dumps(to_json([grade, reason])))
        return grade, reason

    def _kill_mutants(self, candidate: Candidate, spec: Spec, key: str) -> tuple[Grade, str]:
        from rtlagent.tools import mutants

        top = spec.top or ""
        made = mutants.make_mutants(candidate.files, top=top, limit=self.mutants, seed=_MUTANT_SEED, config=self.config)
        result = mutants.kill_mutants(
            candidate.files,
            made,
            self.trace,
            top=top,
            ports=spec.ports,
            clock=spec.clock,
            reset=spec.reset,
            tests=spec.tests,
            config=self.config,
        )
        # For the report: grades are found by what they rest on, mutants by the design that they were made of.
        name = f"mutants-{candidate.sha256}-{key[:16]}.json"
        write_atomic(self.store / name, json.dumps(to_json(result.judged)))
        return mutants.grade(result)


def grade_evidence(steps: Sequence[StepResult], spec: Spec, trace: Trace | None) -> tuple[Grade, str]:
    """Grade how strong the tests behind a PASS were, from what was compared.

    From a passing run alone the best grade is MODERATE: how many wrong designs the tests catch is
    measured by mutants afterwards.
    """
    judges = {s.step for s in steps if s.step in FUNCTION_STEPS}
    if not judges:
        return Grade.NONE, "nothing checked the function"
    if judges == {"equiv"}:
        return Grade.MODERATE, "only the comparison with the existing design judged the function"
    if trace is None:
        return Grade.MODERATE, "only the user's own tests judged the function"
    checked = sum(t.checked_cycles or 0 for s in steps if s.step == "simulate" for t in s.tests)
    untested = [] if spec.tests else _never_compared(trace, spec.ports)
    if untested:
        return Grade.WEAK, f"the golden model leaves outputs untested: {', '.join(untested)}"
    if checked < MIN_CYCLES and spec.clock is not None:
        return Grade.WEAK, f"only {checked} cycles were checked"
    return Grade.MODERATE, f"{checked} cycles were checked; how many wrong designs the tests catch is not measured"


def _never_compared(trace: Trace, ports: Sequence[Port]) -> list[str]:
    from rtlagent.tools.trace import measure_coverage

    return [o.port for o in measure_coverage(trace, ports=ports).outputs if not o.compared]
