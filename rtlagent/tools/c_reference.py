"""Judge a module against the C function that it was compiled from: the native run, then the co-simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent.config import ToolConfig
from rtlagent.types import Diagnostic, Grade, Severity, SourceFile, StepResult

if TYPE_CHECKING:
    from rtlagent.hls.interface import Interface

SIMULATORS = ("icarus", "verilator")
MIN_VALUES = 20
"""Fewer compared values than this make a weak verdict (judgement; see `grade_against_c`)."""
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
    return replace(result, metrics=metrics, wall_s=native.wall_s + result.wall_s)


def grade_against_c(steps: Sequence[StepResult]) -> tuple[Grade, str]:
    """Say how strong a passing co-simulation was: by how much it compared."""
    tests = [t for s in steps if s.step == "cosim" for t in s.tests]
    values = max((t.checked_cycles or 0 for t in tests), default=0)
    if not values:
        return Grade.NONE, "nothing was compared with the C"
    names = " and ".join(t.name for t in tests)
    said = f"{values} values equal the C's under {names}"
    return (Grade.WEAK, f"only {said}") if values < MIN_VALUES else (Grade.MODERATE, said)
