"""Judge a module against the C function that it was compiled from: the native run, then the co-simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent.config import ToolConfig
from rtlagent.types import SourceFile, StepResult

if TYPE_CHECKING:
    from rtlagent.hls.interface import Interface

SIMULATORS = ("icarus", "verilator")
MIN_VALUES = 20
"""Fewer compared values than this make a weak verdict (judgement; see `grade_against_c`)."""
STRONG_CALLS = 10
_LONGEST_CALL = 20_000_000


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
    latency_max_cycles: int | None = None
    """As scheduled: bounds how long a call may take in simulation."""
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
        return native
    result = cosimulate(
        files,
        interface,
        record,
        simulators=reference.simulators,
        clock_ns=reference.clock_ns,
        timeout_cycles=_timeout_cycles(reference),
        config=config,
        keep_dir=keep_dir,
    )
    detail = "\n".join(t for t in (native.detail, result.detail) if t)
    metrics = replace(result.metrics, ii=reference.ii)
    found = (*native.diagnostics, *result.diagnostics)
    return replace(result, diagnostics=found, detail=detail, metrics=metrics, wall_s=native.wall_s + result.wall_s)


def _timeout_cycles(reference: CReference) -> int:
    """Bound a call: what was scheduled with much room, or what a simulator does in a minute or so."""
    if reference.latency_max_cycles is None:
        return _LONGEST_CALL
    return min(_LONGEST_CALL, 4 * reference.latency_max_cycles + 1000)
