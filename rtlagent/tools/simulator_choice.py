"""Choose between Icarus and Verilator.

Icarus builds in no time and knows X and Z; Verilator takes more SystemVerilog and runs a cycle
several times faster, after a second of compiling. What one compiler does not know (not: what is
wrong) is tried with the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rtlagent.config import ToolConfig
from rtlagent.tools import icarus, verilator
from rtlagent.tools.simulation_job import Job, Plan, Wave
from rtlagent.types import Diagnostic, SourceFile, TestKind

# Measured on one core of a busy 2-core machine with designs of 5 to 1,200 lines; the cost of a
# cycle grows with the design, and its lines stand for that.
_VERILATOR_BUILD_S = 1.4
_VERILATOR_BUILD_S_PER_LINE = 0.0015
_ICARUS_S_PER_CYCLE = 3e-6
_ICARUS_S_PER_CYCLE_AND_LINE = 150e-9
_VERILATOR_SHARE = 0.2
"""Time of a cycle on Verilator, as a share of Icarus's."""
_COCOTB_SAVED_S_PER_CYCLE = 35e-6
"""What a cycle of a cocotb test (100 us, most of it Python) is quicker through Verilator's VPI."""


class Simulator(Protocol):
    """What the modules `icarus` and `verilator` offer."""

    NAME: str

    def version(self) -> str:
        """Return the version."""

    def plan(self, job: Job, *, config: ToolConfig, wave: Wave | None = None) -> Plan:
        """Say how to build and run."""

    def diagnostics(self, job: Job, log: str) -> tuple[Diagnostic, ...]:
        """Read the compiler's messages."""

    def refused_at_start(self, output: str) -> str:
        """Return the errors for which the compiled program did not start, as lines of a build log, or ''."""

    def unsupported(self, log: str) -> bool:
        """Say whether the compiler may have refused a construct that it does not know."""


def candidates(
    simulator: str, kind: TestKind, files: Sequence[SourceFile], expected_cycles: int | None
) -> tuple[Simulator, ...]:
    """Return the simulators to try, in order; a named one is the only one."""
    if simulator == "icarus":
        return (icarus,)
    if simulator == "verilator":
        return (verilator,)
    return (verilator, icarus) if verilator_pays(kind, files, expected_cycles) else (icarus, verilator)


def verilator_pays(kind: TestKind, files: Sequence[SourceFile], expected_cycles: int | None) -> bool:
    """Estimate whether Verilator's build time is won back while running."""
    if expected_cycles is None:
        return False
    lines = sum(f.text.count("\n") for f in files)
    saved_s = (_ICARUS_S_PER_CYCLE + _ICARUS_S_PER_CYCLE_AND_LINE * lines) * (1 - _VERILATOR_SHARE)
    if kind is TestKind.COCOTB:
        saved_s += _COCOTB_SAVED_S_PER_CYCLE
    return expected_cycles * saved_s > _VERILATOR_BUILD_S + _VERILATOR_BUILD_S_PER_LINE * lines
