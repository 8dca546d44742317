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

# Measured on one core of 2.5 GHz. The cost of a cycle grows with the design; its lines stand for it.
_VERILATOR_BUILD_S = 1.1
_VERILATOR_BUILD_S_PER_LINE = 0.002
_ICARUS_S_PER_CYCLE = 3e-6
_ICARUS_S_PER_CYCLE_AND_LINE = 60e-9
_VERILATOR_SHARE = 0.2
"""Time of a cycle on Verilator, as a share of Icarus's."""


class Simulator(Protocol):
    """What the modules `icarus` and `verilator` offer."""

    NAME: str

    def version(self) -> str:
        """Return the version."""

    def plan(self, job: Job, *, config: ToolConfig, wave: Wave | None = None) -> Plan:
        """Say how to build and run."""

    def diagnostics(self, job: Job, log: str) -> tuple[Diagnostic, ...]:
        """Read the compiler's messages."""

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
    """Estimate whether Verilator's build time is won back while running.

    Under cocotb both spend most of a cycle in Python, which changes the gain little: it is the
    simulator's own part of the cycle.
    """
    if expected_cycles is None:
        return False
    lines = sum(f.text.count("\n") for f in files)
    build_s = _VERILATOR_BUILD_S + _VERILATOR_BUILD_S_PER_LINE * lines
    # Under cocotb every signal is public, which takes away half of what Verilator gains.
    share = _VERILATOR_SHARE if kind is TestKind.SYSTEMVERILOG else (1 + _VERILATOR_SHARE) / 2
    saved_s = expected_cycles * (_ICARUS_S_PER_CYCLE + _ICARUS_S_PER_CYCLE_AND_LINE * lines) * (1 - share)
    return saved_s > build_s
