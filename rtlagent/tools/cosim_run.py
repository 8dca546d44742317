"""Run a co-simulation's testbench under one simulator and judge its report."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rtlagent.config import ToolConfig
from rtlagent.tools import icarus, verilator
from rtlagent.tools.cosim_bench import REPORT, Bench
from rtlagent.tools.cosim_compare import Comparer, Comparison
from rtlagent.tools.cosim_report import Report, parse_report
from rtlagent.tools.csim_record import CallRecord
from rtlagent.tools.simulation_job import WAVE_FILE, Job, Outcome, Wave, execute, prepare
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, TestFile, TestKind

if TYPE_CHECKING:
    from rtlagent.hls.interface import Interface

SIMULATORS: dict[str, ModuleType] = {"verilator": verilator, "icarus": icarus}
ICARUS_S = 15.0
"""After this time Icarus is stopped, if it has finished a call."""
_WAVE_NAME = "cosim.vcd"
_LEAD_NS = 100_000
_KEPT_BYTES = 128 << 20
_TIME_LIMITS = ("wall", "cpu")


@dataclass(frozen=True)
class Plan:
    """What every simulator is to run."""

    design: tuple[SourceFile, ...]
    interface: Interface
    record: CallRecord
    bench: Bench
    timeout_cycles: int
    seed: int
    config: ToolConfig


@dataclass(frozen=True)
class Run:
    """What one simulator found."""

    simulator: str
    status: Status
    message: str
    """Why the status is not PASS."""
    report: Report
    comparison: Comparison
    diagnostics: tuple[Diagnostic, ...] = ()
    log: str = ""
    argv: tuple[str, ...] = ()
    version: str = ""
    cut_off: bool = False
    """Stopped at its time limit before the last call."""
    wave: str | None = None


def run_simulator(name: str, plan: Plan) -> Run:
    """Build and run.

    Raises:
        ToolMissingError: the simulator is not installed.
        SandboxError: nothing was run.
    """
    simulator = SIMULATORS[name]
    wall_s = plan.config.limits.wall_s
    budget_s = min(wall_s, ICARUS_S) if name == "icarus" else wall_s
    with tempfile.TemporaryDirectory(prefix="rtlagent-") as folder:
        job = _job(plan, Path(folder))
        # A first call that takes longer than the budget gets all the time there is.
        for seconds in dict.fromkeys((budget_s, wall_s)):
            config = replace(plan.config, limits=replace(plan.config.limits, wall_s=seconds))
            built = simulator.plan(job, config=config)
            outcome = execute(job, built, config=config)
            report = _read(job.folder, plan.bench.nonce)
            if outcome.limit != "wall" or report.calls:
                break
        run = _judge(name, plan, outcome, report, simulator.diagnostics(job, outcome.build_log))
    return replace(run, argv=built.main_argv, version=f"{name} {simulator.version()}")


def record_wave(run: Run, plan: Plan, keep_dir: Path) -> Run:
    """Repeat a failing run with a waveform from shortly before the failure."""
    with tempfile.TemporaryDirectory(prefix="rtlagent-") as folder:
        job = _job(plan, Path(folder))
        wave = Wave(from_ns=max(0, int(_failure_ns(run)) - _LEAD_NS))
        execute(job, SIMULATORS[run.simulator].plan(job, config=plan.config, wave=wave), config=plan.config)
        return replace(run, wave=_keep_wave(job.folder, keep_dir))


def _job(plan: Plan, folder: Path) -> Job:
    test = TestFile(plan.bench.testbench, TestKind.SYSTEMVERILOG, plan.bench.module)
    return prepare(folder, plan.design, [test], top=plan.bench.module, seed=plan.seed, data_files=plan.bench.data)


def _judge(name: str, plan: Plan, outcome: Outcome, report: Report, found: Sequence[Diagnostic]) -> Run:
    errors = [d for d in found if d.severity is Severity.ERROR]
    log = "\n".join(part for part in (outcome.build_log, outcome.output) if part)
    nothing = Comparison([])
    if not outcome.built:
        of_design = {f.path for f in plan.design}
        guilty = [d for d in errors if d.path in of_design or plan.interface.module in d.message]
        if outcome.limit:
            status = Status.TIMEOUT if outcome.limit in _TIME_LIMITS else Status.ERROR
            return Run(name, status, f"building was stopped at the {outcome.limit} limit", report, nothing, log=log)
        status = Status.FAIL if guilty else Status.ERROR
        return Run(name, status, f"{name} does not accept the design", report, nothing, tuple(errors), log)
    comparer = Comparer(plan.interface, plan.record)
    for number, done in enumerate(report.calls[: len(plan.record.calls)]):
        comparer.call(number, done)
    status, message, cut_off = _verdict(plan, outcome, report, comparer.found)
    return Run(name, status, message, report, comparer.found, (), log, cut_off=cut_off)


def _verdict(plan: Plan, outcome: Outcome, report: Report, found: Comparison) -> tuple[Status, str, bool]:
    """Return the status, why, and whether only a time limit ended the run."""
    total, done = len(plan.record.calls), len(report.calls)
    if report.forged:
        return Status.FAIL, f"the report holds a line that the testbench did not write: {report.forged!r}", False
    if found.mismatch_count or report.problems or report.end in _ENDS:
        return Status.FAIL, _ENDS.get(report.end, "").format(call=done, timeout=plan.timeout_cycles), False
    if report.end == "end" and done == total:
        return Status.PASS, "", False
    if outcome.limit in _TIME_LIMITS:
        return Status.TIMEOUT, f"stopped at the time limit after {done} of {total} calls", True
    if outcome.limit:
        return Status.ERROR, f"stopped at the {outcome.limit} limit after {done} of {total} calls", False
    if outcome.run_rc not in (0, None):
        return Status.ERROR, f"the simulator ended with status {outcome.run_rc} after {done} of {total} calls", False
    return Status.FAIL, f"the simulation ended after {done} of {total} calls, not by the testbench", False


_ENDS = {
    "hang": "call {call}: no ap_done within {timeout} cycles",
    "unknown_done": "call {call}: ap_done is unknown (x or z)",
    "too_many_items": "call {call}: it writes far more items to a stream than the C",
    "bus_stuck": "call {call}: the bus does not answer for 1000 cycles",
    "never_idle": "before call {call}: ap_idle does not become 1",
}


def _failure_ns(run: Run) -> float:
    times = [m.time_ns for m in run.comparison.mismatches] + [p.time_ns for p in run.report.problems]
    return min(times, default=run.report.end_time_ns)


def _read(folder: Path, nonce: str) -> Report:
    path = folder / REPORT
    # The design may have put a link there.
    if path.is_symlink() or not path.is_file():
        return Report()
    return parse_report(path.read_text(encoding="utf-8", errors="replace"), nonce)


def _keep_wave(folder: Path, keep_dir: Path) -> str | None:
    path = folder / WAVE_FILE
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _KEPT_BYTES:
        return None
    keep_dir.mkdir(parents=True, exist_ok=True)
    shutil.move(path, keep_dir / _WAVE_NAME)
    return _WAVE_NAME
