"""Run cocotb tests and SystemVerilog testbenches on Icarus or Verilator.

Whoever judges a design by these results relies on three things: a cocotb verdict comes only from
cocotb's own report, a testbench's verdict follows the rules of `bench_output`, and a run that
was cut off or left no report is never a pass.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import bench_output, cocotb_results, icarus
from rtlagent.tools.simulation_job import Job, Outcome, Plan, execute, prepare
from rtlagent.tools.testbench_top import find_top
from rtlagent.types import (
    Diagnostic,
    Severity,
    SourceFile,
    Status,
    StepResult,
    TestFile,
    TestKind,
    TestResult,
    digest,
)

_WAVE_MB = 64
_WORST_FIRST = (Status.ERROR, Status.TIMEOUT, Status.FAIL, Status.UNPROVEN)


@dataclass
class _Report:
    """What has been found so far."""

    tests: list[TestResult] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    argv: tuple[str, ...] = ()
    returncode: int | None = None
    tool_version: str = ""
    broken: str = ""


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
        config: Sandbox, cache and limits.

    Raises:
        UsageError: the arguments make no sense.
        ToolMissingError: a simulator is not installed.
        SandboxError: nothing could be run.
    """
    if simulator not in ("auto", "icarus", "verilator") or wave not in ("never", "on_failure", "always"):
        raise UsageError(f"not a simulator and wave setting: {simulator!r}, {wave!r}")
    if not tests:
        raise UsageError("there is no test to run")
    start = time.monotonic()
    if seed is None:
        seed = int(digest([top, [(f.path, f.text) for f in files], [t.source.text for t in tests]])[:7], 16) + 1
    report = _Report()
    cocotb = [t for t in tests if t.kind is TestKind.COCOTB]
    groups = [*([cocotb] if cocotb else []), *([t] for t in tests if t.kind is TestKind.SYSTEMVERILOG)]
    for group in groups:
        with tempfile.TemporaryDirectory(prefix="rtlagent-") as name:
            root = top if group[0].kind is TestKind.COCOTB else find_top(group[0], files)
            job = prepare(
                Path(name), files, group,
                top=root, seed=seed, defines=defines, parameters=parameters, data_files=data_files,
            )  # fmt: skip
            run = _Run(job, group, files, wave, keep_dir, dict(env or {}), tuple(collect), config)
            run.all_tests(report)
    return _finish(report, keep_dir, time.monotonic() - start)


@dataclass(frozen=True)
class _Run:
    """One job's tests, one after the other."""

    job: Job
    group: list[TestFile]
    files: Sequence[SourceFile]
    wave: str
    keep_dir: Path | None
    env: Mapping[str, str]
    collect: tuple[str, ...]
    config: ToolConfig

    def all_tests(self, report: _Report) -> None:
        """Build once, run each test, and add what was found to `report`."""
        build = True
        for test in self.group:
            plan = icarus.plan(self.job, build=build, wave_mb=_WAVE_MB if self.wave == "always" else None)
            report.argv = report.argv or plan.main_argv
            report.tool_version = f"iverilog {icarus.version()}"
            outcome = self._execute(plan, test, rewrite=self.wave != "on_failure")
            report.log += [outcome.build_log, outcome.output] if build else [outcome.output]
            report.diagnostics += icarus.diagnostics(self.job, outcome.build_log) if build else ()
            if not outcome.built:
                _not_built(report, outcome)
                return
            build = False
            report.returncode = outcome.run_rc
            self._keep_collected()
            results = self._results(test, outcome, report)
            bad = [r for r in results if r.status in (Status.FAIL, Status.TIMEOUT)]
            if bad and self.wave == "on_failure" and outcome.limit is None:
                results = self._again_with_wave(test, results)
                build = True
            elif self.wave == "always":
                results = self._with_wave_path(test, results)
            report.tests += results

    def _execute(self, plan: Plan, test: TestFile, *, rewrite: bool) -> Outcome:
        module = PurePosixPath(test.source.path).stem if test.kind is TestKind.COCOTB else ""
        env = dict(self.env)
        # The rerun of a failing test explains its assertions; a passing one need not pay for that.
        env["COCOTB_REWRITE_ASSERTION_FILES"] = "*.py" if rewrite else ""
        return execute(self.job, plan, config=self.config, env=env, module=module)

    def _results(self, test: TestFile, outcome: Outcome, report: _Report) -> list[TestResult]:
        seed = self.job.seed
        name = PurePosixPath(test.source.path).stem
        if outcome.limit is not None:
            named = cocotb_results.running_test(outcome.output) or name
            return [TestResult(named, Status.TIMEOUT, seed=seed, message=self._limit_text(outcome.limit))]
        if test.kind is TestKind.SYSTEMVERILOG:
            judged = bench_output.judge(outcome.output, outcome.run_rc, self.files)
            return [TestResult(name, judged.status, seed=seed, message=judged.message)]
        try:
            results = cocotb_results.parse(outcome.results_xml, self.job.staged, seed=seed)
        except cocotb_results.UnreadableResultsError as unreadable:
            guilty = cocotb_results.start_failure(outcome.output, self.job.staged)
            if guilty is None:
                return [TestResult(name, Status.ERROR, seed=seed, message=str(unreadable))]
            report.diagnostics.append(guilty)
            return [TestResult(name, Status.FAIL, seed=seed, message=str(guilty))]
        reports = bench_output.severity_reports(outcome.output)
        if reports and all(r.status is Status.PASS for r in results):
            return [*results, TestResult(f"{name}.assertions", Status.FAIL, seed=seed, message="\n".join(reports[:5]))]
        return list(results)

    def _limit_text(self, limit: str) -> str:
        amount = {"wall": f" of {self.config.limits.wall_s:g} s", "cpu": f" of {self.config.limits.cpu_s} s"}
        return f"stopped at the {limit} limit{amount.get(limit, '')}"

    def _again_with_wave(self, test: TestFile, results: list[TestResult]) -> list[TestResult]:
        plan = icarus.plan(self.job, wave_mb=_WAVE_MB)
        outcome = self._execute(plan, test, rewrite=True)
        again = self._results(test, outcome, _Report())
        same = [(r.name, r.status) for r in again] == [(r.name, r.status) for r in results]
        return self._with_wave_path(test, again if same else results)

    def _with_wave_path(self, test: TestFile, results: list[TestResult]) -> list[TestResult]:
        made = self.job.folder / icarus.WAVE_FILE
        if self.keep_dir is None or made.is_symlink() or not made.is_file():
            return results
        name = f"{PurePosixPath(test.source.path).stem}.vcd"
        self.keep_dir.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, self.keep_dir / name)
        return [r if r.status is Status.SKIPPED else replace(r, wave_path=name) for r in results]

    def _keep_collected(self) -> None:
        for name in self.collect if self.keep_dir is not None else ():
            made = self.job.folder / name
            if self.keep_dir is not None and made.is_file() and not made.is_symlink():
                self.keep_dir.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(made, self.keep_dir / PurePosixPath(name).name)


def _not_built(report: _Report, outcome: Outcome) -> None:
    if any(d.severity is Severity.ERROR for d in report.diagnostics) and outcome.limit is None:
        return
    why = f"stopped at the {outcome.limit} limit" if outcome.limit else "the simulator's compiler broke"
    report.broken = f"{why}\n{outcome.build_log}".strip()


def _finish(report: _Report, keep_dir: Path | None, wall_s: float) -> StepResult:
    statuses = {t.status for t in report.tests}
    if any(d.severity is Severity.ERROR for d in report.diagnostics):
        statuses.add(Status.FAIL)
    if report.broken:
        statuses.add(Status.ERROR)
    status = next((s for s in _WORST_FIRST if s in statuses), None)
    if status is None:
        status = Status.PASS if Status.PASS in statuses else Status.ERROR
    log_path = None
    if keep_dir is not None:
        keep_dir.mkdir(parents=True, exist_ok=True)
        log_path = "simulate.log"
        (keep_dir / log_path).write_text("\n".join(report.log) + "\n")
    return StepResult(
        "simulate", status, tuple(report.diagnostics), tuple(report.tests),
        argv=report.argv, returncode=report.returncode, log_path=log_path, wall_s=wall_s,
        tool_version=report.tool_version, detail=_detail(report),
    )  # fmt: skip


def _detail(report: _Report) -> str:
    lines = [report.broken] if report.broken else []
    for test in report.tests:
        lines.append(f"{test.status:8} {test.name}")
        lines += [f"         {line}" for line in test.message.splitlines()] if test.status is not Status.PASS else []
    return "\n".join(lines)
