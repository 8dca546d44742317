"""What a run ends with: report.json, and the same as an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rtlagent.agent.state import Attempt
from rtlagent.agent.understanding import Assumption
from rtlagent.errors import EXIT_FAIL, EXIT_LIMIT, EXIT_PASS, EXIT_TOOL
from rtlagent.types import Diagnostic, LoopReport, LoopSchedule, Metrics, Requirements, RunRecord, Verdict

_EXIT = {"pass": EXIT_PASS, "fail": EXIT_FAIL, "limit": EXIT_LIMIT, "tool": EXIT_TOOL, "model": EXIT_TOOL}


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on."""

    oracle_sha: str | None
    """Hash of golden.py; None: only the user's tests judged."""
    seed: int
    checked_cycles: int
    """Cycles (or stream items) at which outputs were compared, on the last candidate."""
    tool_versions: Mapping[str, str]
    """Gate -> what ran it."""
    prompts_sha: str


@dataclass(frozen=True)
class HlsReport:
    """What the compiler made of a C function, before any tool judged it."""

    source: str
    """Path of the C file, relative to the spec's folder."""
    function: str
    target: str
    clock_ns: float
    """Period that was scheduled for."""
    loops: tuple[LoopReport, ...]
    """In source order."""
    latency_min_cycles: int | None
    """From ap_start to ap_done; None: not bounded."""
    latency_max_cycles: int | None
    estimate: Metrics
    """Before synthesis."""
    diagnostics: tuple[Diagnostic, ...]
    """Warnings and notes of the compiler."""
    schedules: tuple[LoopSchedule, ...] = ()
    """When the operations of each loop run."""


@dataclass(frozen=True)
class RunReport:
    """The outcome of a run with everything that it rests on."""

    record: RunRecord
    name: str
    top: str | None
    request: str | None
    reason: str
    """Why it ended without a pass; empty for a pass."""
    requirements: Requirements
    verdict: Verdict | None
    """Of the best candidate; None: none was judged."""
    evidence: Evidence
    assumptions: tuple[Assumption, ...]
    decisions: tuple[tuple[str, ...], ...]
    rulings: tuple[tuple[str, ...], ...]
    """[failure signature, wrong side, quote and reason]."""
    attempts: tuple[Attempt, ...]
    files: tuple[str, ...]
    """Of the best candidate, below the run's rtl/."""
    hls: HlsReport | None = None
    """Of a C spec."""

    @property
    def passed(self) -> bool:
        """True only if every gate passed."""
        return self.record.exit_reason == "pass"

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 limit, 4 tool or model error."""
        return _EXIT.get(self.record.exit_reason, EXIT_TOOL)


def evidence_of(verdict: Verdict | None, state: Mapping[str, Any], seed: int, prompts_sha: str) -> Evidence:
    """Collect what a verdict rests on."""
    steps = verdict.steps if verdict else ()
    return Evidence(
        oracle_sha=state.get("golden") or None,
        seed=seed,
        checked_cycles=sum(t.checked_cycles or 0 for s in steps if s.step != "cross_check" for t in s.tests),
        tool_versions={s.step: s.tool_version for s in steps},
        prompts_sha=prompts_sha,
    )
