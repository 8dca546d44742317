"""Judge a module against the C function that it was compiled from: the native run, then the co-simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent.config import ToolConfig
from rtlagent.types import Diagnostic, Grade, Severity, SourceFile, Status, StepResult

if TYPE_CHECKING:
    from rtlagent.hls.interface import Interface
    from rtlagent.tools.csim_coverage import Coverage

SIMULATORS = ("icarus", "verilator")
MIN_VALUES, STRONG_VALUES = 20, 100
"""Compared values: fewer than the first make a weak verdict, fewer than the second no strong one (judgement)."""
WEAK_PERCENT, STRONG_PERCENT = 60.0, 95.0
"""The same of the C's lines that ran."""
_MAX_MISSED = 10
_NOTHING_HINT = "write a main() that calls the function with arguments for which C says what comes out"
_CSIM_HINT = "main() is the testbench: it returns 0 when the C is right; name another top, or mend it"


@dataclass(frozen=True)
class CReference:
    """The C function that a module has to equal, and how it is asked."""

    source: SourceFile
    function: str
    """Its name in C."""
    interface: Interface
    extra_files: tuple[SourceFile, ...] = ()
    """Headers, a testbench, data files."""
    language: str = "c"
    clock_ns: float = 10.0
    ii: int | None = None
    """Of the slowest pipelined loop."""
    simulators: tuple[str, ...] = SIMULATORS
    seed: int = 1


def check_against_c(
    files: Sequence[SourceFile], reference: CReference, *, keep_dir: Path, config: ToolConfig
) -> StepResult:
    """Run the C natively, replay its calls on the module, and compare every value bit for bit.

    Returns:
        The step `cosim`; the step `csim` if the C itself fails, since nothing could then be learned of the module.

    Raises:
        CSourceError: the C does not compile or link natively, or no stimulus is defined.
        ToolError: a tool broke.
    """
    from rtlagent.tools.cosim import cosimulate
    from rtlagent.tools.csim import csim_step, record_calls
    from rtlagent.tools.csim_coverage import measure_coverage

    interface = reference.interface
    record = record_calls(
        reference.source,
        top=reference.function,
        arguments=interface.arguments,
        result_width=interface.result_width,
        result_signed=interface.result_signed,
        config=config,
        extra_files=reference.extra_files,
        language=reference.language,
        seed=reference.seed,
    )
    native = csim_step(record)
    if not native.passed:
        failed = Diagnostic("csim", Severity.ERROR, "CSIM_FAILED", record.problem, hint=_CSIM_HINT)
        return replace(native, diagnostics=(failed, *native.diagnostics))
    result = cosimulate(
        files,
        interface,
        record,
        simulators=reference.simulators,
        clock_ns=reference.clock_ns,
        config=config,
        keep_dir=keep_dir,
    )
    metrics = replace(result.metrics, ii=reference.ii)
    detail = result.detail
    if result.passed and reference.language == "c":
        coverage = measure_coverage(record, reference.source, extra_files=reference.extra_files, config=config)
        if coverage is not None:
            metrics = replace(metrics, c_coverage_percent=round(coverage.percent, 1))
            detail += f"\n{coverage_text(coverage)}"
    diagnostics = result.diagnostics
    if result.status is Status.UNPROVEN and result.tests:
        why = next((f": {d.message}" for d in diagnostics if d.code == "CSIM_UNDEFINED"), "")
        text = f"no output was compared, since C leaves each one undefined{why}"
        diagnostics = (Diagnostic("cosim", Severity.ERROR, "COSIM_NOTHING", text, hint=_NOTHING_HINT), *diagnostics)
    wall_s = native.wall_s + result.wall_s
    return replace(result, metrics=metrics, detail=detail, diagnostics=diagnostics, wall_s=wall_s)


def coverage_text(coverage: Coverage) -> str:
    """Say in a line how much of the C ran, and what did not."""
    said = f"{coverage.executed} of {coverage.lines} lines of C ran ({coverage.percent:.1f} %)"
    missed = [f"{path}:{line}" for path, line in coverage.missed]
    more = f" and {len(missed) - _MAX_MISSED} more" if len(missed) > _MAX_MISSED else ""
    return f"{said}; not {', '.join(missed[:_MAX_MISSED])}{more}" if missed else said


def grade_against_c(steps: Sequence[StepResult]) -> tuple[Grade, str]:
    """Say how strong a passing co-simulation was: by how much it compared, and how much of the C ran for it."""
    step = next((s for s in steps if s.step == "cosim"), None)
    values = max((t.checked_cycles or 0 for t in step.tests), default=0) if step else 0
    if step is None or not values:
        return Grade.NONE, "nothing was compared with the C"
    equal = "value equals" if values == 1 else "values equal"
    said = f"{values} {equal} the C's under {' and '.join(t.name for t in step.tests)}"
    percent = step.metrics.c_coverage_percent
    ran = "how much of the C ran is not measured" if percent is None else f"{percent:g} % of the C's lines ran"
    if values < MIN_VALUES:
        return Grade.WEAK, f"only {said}; {ran}"
    if percent is not None and percent < WEAK_PERCENT:
        return Grade.WEAK, f"{said}, but only {ran}"
    strong = percent is not None and percent >= STRONG_PERCENT and values >= STRONG_VALUES
    return (Grade.STRONG if strong and len(step.tests) > 1 else Grade.MODERATE), f"{said}; {ran}"
