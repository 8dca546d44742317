"""Run cocotb tests and SystemVerilog testbenches on Icarus or Verilator.

Whoever judges a design by these results relies on three things: a cocotb verdict comes only from
cocotb's own report, a testbench's verdict follows the rules of `bench_output`, and a run that
was cut off or left no report is never a pass.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.simulation_job import prepare
from rtlagent.tools.simulation_run import Report, TestRun
from rtlagent.tools.simulator_choice import candidates
from rtlagent.tools.staging import require_size
from rtlagent.tools.testbench_top import find_top
from rtlagent.types import Severity, SourceFile, Status, StepResult, TestFile, TestKind, digest

_WORST_FIRST = (Status.ERROR, Status.TIMEOUT, Status.FAIL, Status.UNPROVEN)


def simulate(
    files: Sequence[SourceFile],
    tests: Sequence[TestFile],
    *,
    top: str,
    simulator: str = "auto",
    seed: int | None = None,
    expected_cycles: int | None = None,
    wave: str = "on_failure",
    keep_dir: Path | None = None,
    env: Mapping[str, str] | None = None,
    data_files: Sequence[SourceFile] = (),
    defines: Sequence[str] = (),
    parameters: Sequence[str] = (),
    collect: Sequence[str] = (),
    stop_at_failure: bool = False,
    config: ToolConfig,
) -> StepResult:
    """Simulate `files` under `tests`.

    Args:
        files: The design; headers are found by `include`.
        tests: cocotb modules (they drive `top`) and SystemVerilog testbenches (with tops of their own).
        top: The design's top module.
        simulator: `icarus`, `verilator`, or `auto`: by length and by which constructs each accepts.
        seed: Of everything random; None: chosen from the content, so that a rerun agrees.
        expected_cycles: How long the tests run, for `auto`.
        wave: `never`, `on_failure` (a failing test is run again, with a VCD) or `always`.
        keep_dir: Where the log, VCDs and collected files go; None: nowhere.
        env: Further environment variables of the tests.
        data_files: Files that the design reads with $readmemh, laid beside it.
        defines: `NAME` or `NAME=VALUE`.
        parameters: `NAME=VALUE`, of the simulation's top module.
        collect: Names of files in the work folder that a cocotb test writes, copied to keep_dir.
        stop_at_failure: Whether the tests after one that does not pass are left out.
        config: Sandbox, cache and limits.

    Raises:
        UsageError: the arguments make no sense, or the design is too large.
        ToolMissingError: a simulator is not installed.
        SandboxError: nothing could be run.
    """
    if simulator not in ("auto", "icarus", "verilator") or wave not in ("never", "on_failure", "always"):
        raise UsageError(f"not a simulator and wave setting: {simulator!r}, {wave!r}")
    if not tests:
        raise UsageError("there is no test to run")
    require_size(files, config)
    start = time.monotonic()
    if seed is None:
        seed = int(digest([top, [(f.path, f.text) for f in files], [t.source.text for t in tests]])[:7], 16) + 1
    report = Report()
    cocotb = [t for t in tests if t.kind is TestKind.COCOTB]
    groups = [*([cocotb] if cocotb else []), *([t] for t in tests if t.kind is TestKind.SYSTEMVERILOG)]
    for group in groups:
        kind = group[0].kind
        root = top if kind is TestKind.COCOTB else find_top(group[0], files)
        choice = candidates(simulator, kind, files, expected_cycles)
        with scratch_folder() as folder:
            job = prepare(
                folder, files, group,
                top=root, seed=seed, defines=defines, parameters=parameters, data_files=data_files,
            )  # fmt: skip
            run = TestRun(job, tuple(files), wave, keep_dir, dict(env or {}), tuple(collect), config, stop_at_failure)
            run.all_tests(group, choice, report)
        if stop_at_failure and report.has_failed:
            break
    return _finish(report, keep_dir, time.monotonic() - start)


def _finish(report: Report, keep_dir: Path | None, wall_s: float) -> StepResult:
    statuses = {t.status for t in report.tests}
    if any(d.severity is Severity.ERROR for d in report.diagnostics):
        statuses.add(Status.FAIL)
    if report.broken:
        statuses.add(report.broken_status)
    status = next((s for s in _WORST_FIRST if s in statuses), None)
    if status is None:
        # Tests that were all skipped have shown nothing.
        ran = Status.PASS if Status.PASS in statuses else Status.UNPROVEN
        status = ran if report.tests else Status.ERROR
    log_path = None
    if keep_dir is not None:
        keep_dir.mkdir(parents=True, exist_ok=True)
        log_path = "simulate.log"
        (keep_dir / log_path).write_text("\n".join(report.log) + "\n")
    return StepResult(
        "simulate", status, tuple(report.diagnostics), tuple(report.tests),
        argv=report.argv, returncode=report.returncode, log_path=log_path, wall_s=wall_s,
        tool_version=", ".join(dict.fromkeys(report.tool_versions)), detail=_detail(report),
    )  # fmt: skip


def _detail(report: Report) -> str:
    lines = [report.broken] if report.broken else []
    for test in report.tests:
        lines.append(f"{test.status:8} {test.name}")
        lines += [f"         {line}" for line in test.message.splitlines()] if test.status is not Status.PASS else []
    return "\n".join(lines)
