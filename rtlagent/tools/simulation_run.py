"""Run the tests of one job: build, run, judge, and run again with a waveform."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath

from rtlagent.config import ToolConfig
from rtlagent.tools import bench_output, cocotb_results
from rtlagent.tools.simulation_job import WAVE_FILE, Job, Outcome, Wave, execute
from rtlagent.tools.simulator_choice import Simulator
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, TestFile, TestKind, TestResult

# A failure later than this is dumped from a while before it, not from the start.
_LONG_NS = 1_000_000
_LEAD_NS = 200_000
_KEPT_BYTES = 128 << 20
_RANK = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
_TIME_LIMITS = ("wall", "cpu")
_HARMLESS = (Status.PASS, Status.SKIPPED, Status.UNPROVEN)


@dataclass
class Report:
    """What has been found so far, over all jobs of a simulation step."""

    tests: list[TestResult] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    argv: tuple[str, ...] = ()
    returncode: int | None = None
    tool_versions: list[str] = field(default_factory=list)
    broken: str = ""
    """Why there is no verdict on the design; empty if there is one."""
    broken_status: Status = Status.ERROR
    kept: set[str] = field(default_factory=set)
    """Names of the waveforms kept so far."""

    @property
    def has_failed(self) -> bool:
        """Whether something did not pass or could not be run."""
        refused = any(d.severity is Severity.ERROR for d in self.diagnostics)
        return refused or bool(self.broken) or any(t.status not in _HARMLESS for t in self.tests)


@dataclass(frozen=True)
class TestRun:
    """One job's tests, one after the other."""

    __test__ = False  # not a pytest class
    job: Job
    files: tuple[SourceFile, ...]
    """The design."""
    wave: str
    keep_dir: Path | None
    env: Mapping[str, str]
    collect: tuple[str, ...]
    config: ToolConfig
    stop_at_failure: bool = False

    def all_tests(self, tests: Sequence[TestFile], candidates: Sequence[Simulator], report: Report) -> None:
        """Run each test with the first simulator that takes the job, and add what was found to `report`."""
        simulator, first = self._first_run(tests[0], candidates, report)
        if first is None:
            return
        for index, test in enumerate(tests):
            outcome = first if index == 0 else self._execute(simulator, test)
            report.log.append(outcome.output)
            report.returncode = outcome.run_rc
            self._keep_collected()
            results = self._results(test, outcome, report)
            failed = any(r.status is Status.FAIL for r in results)
            if self.wave == "always":
                results = self._with_wave_path(test, results, report)
            elif self.wave == "on_failure" and failed and self.keep_dir is not None:
                results = self._again_with_wave(simulator, test, outcome, results, report)
            report.tests += results
            if self.stop_at_failure and report.has_failed:
                return

    def _first_run(
        self, test: TestFile, candidates: Sequence[Simulator], report: Report
    ) -> tuple[Simulator, Outcome | None]:
        """Build with one simulator after the other until one takes it, and run the first test."""
        refused: list[Diagnostic] = []
        for simulator in candidates:
            outcome = self._execute(simulator, test)
            if late := simulator.refused_at_start(outcome.output):
                outcome = replace(outcome, build_rc=1, build_log=f"{outcome.build_log}\n{late}".strip())
            report.log.append(outcome.build_log)
            found = simulator.diagnostics(self.job, outcome.build_log)
            errors = [d for d in found if d.severity is Severity.ERROR]
            if outcome.built or outcome.limit is not None or not errors:
                break
            # Of two refusals the later stands: Verilator says what it expected, Icarus "syntax error".
            if not refused or simulator.NAME == "verilator":
                refused = list(found)
            if not simulator.unsupported(outcome.build_log):
                break
        report.tool_versions.append(f"{simulator.NAME} {simulator.version()}")
        report.argv = report.argv or simulator.plan(self.job, config=self.config).main_argv
        if outcome.built:
            # What the compiler accepted in spite of a "sorry" is not the design's error.
            report.diagnostics += [
                replace(d, severity=max(d.severity, Severity.WARNING, key=_RANK.index)) for d in found
            ]
            return simulator, outcome
        report.diagnostics += refused
        if outcome.limit is not None or not errors:
            limit = f"the build was {self._limit_text(outcome.limit)}" if outcome.limit else ""
            why = limit or "the simulator's compiler broke"
            report.broken = f"{why}\n{outcome.build_log}".strip()
            report.broken_status = Status.TIMEOUT if outcome.limit in _TIME_LIMITS else Status.ERROR
        return simulator, None

    def _execute(self, simulator: Simulator, test: TestFile, *, wave: Wave | None = None) -> Outcome:
        if self.wave == "always":
            wave = Wave()
        plan = simulator.plan(self.job, config=self.config, wave=wave)
        module = self.job.staged.place(test.source.path) if test.kind is TestKind.COCOTB else ""
        # Explaining assertions takes 0.1 s at the start, so a run that may pass, or that
        # will be repeated, goes without.
        explain = wave is not None or self.wave == "never"
        env = {**self.env, "COCOTB_REWRITE_ASSERTION_FILES": "*.py" if explain else ""}
        if self.stop_at_failure:
            env["COCOTB_MAX_FAILURES"] = "1"
        return execute(self.job, plan, config=self.config, env=env, module=module)

    def _results(self, test: TestFile, outcome: Outcome, report: Report) -> list[TestResult]:
        seed = self.job.seed
        name = PurePosixPath(test.source.path).stem
        if outcome.limit is not None:
            named = cocotb_results.running_test(outcome.output) or name
            status = Status.TIMEOUT if outcome.limit in _TIME_LIMITS else Status.FAIL
            return [TestResult(named, status, seed=seed, message=self._limit_text(outcome.limit))]
        if test.kind is TestKind.SYSTEMVERILOG:
            if outcome.run_rc is not None and outcome.run_rc > 128:
                crash = f"the simulator crashed with signal {outcome.run_rc - 128}"
                return [TestResult(name, Status.ERROR, seed=seed, message=crash)]
            judged = bench_output.judge(outcome.output, outcome.run_rc, self.files)
            return [TestResult(name, judged.status, seed=seed, message=judged.message)]
        try:
            parsed = cocotb_results.parse(outcome.results_xml, self.job.staged, seed=seed, ended=outcome.cocotb_ended)
            results = list(parsed)
        except cocotb_results.UnreadableResultsError as unreadable:
            if cocotb_results.holds_no_test(outcome.output):
                empty = f"{test.source.path} holds no test: nothing is decorated with @cocotb.test()"
                return [TestResult(name, Status.UNPROVEN, seed=seed, message=empty)]
            no_report = outcome.results_xml is None
            guilty = cocotb_results.start_failure(outcome.output, self.job.staged) if no_report else None
            if guilty is None:
                # Verilator aborts on a design that does not settle, and says so.
                reports = bench_output.severity_reports(outcome.output)
                status, text = (Status.FAIL, "\n".join(reports[:5])) if reports else (Status.ERROR, str(unreadable))
                return [TestResult(name, status, seed=seed, message=text)]
            report.diagnostics.append(guilty)
            return [TestResult(name, Status.FAIL, seed=seed, message=str(guilty))]
        return self._with_reports(name, results, outcome)

    def _with_reports(self, name: str, results: list[TestResult], outcome: Outcome) -> list[TestResult]:
        """Add what the design itself reported: why it ended the simulation, or failed assertions."""
        reports = bench_output.severity_reports(outcome.output)
        why = "\n".join(reports[:5]) or bench_output.end_of_simulation(self.files)
        if why:
            early = cocotb_results.ENDED_EARLY
            results = [replace(r, message=f"{early}\n{why}") if r.message == early else r for r in results]
        if reports and all(r.status in (Status.PASS, Status.SKIPPED) for r in results):
            text = "\n".join(reports[:5])
            results.append(TestResult(f"{name}.assertions", Status.FAIL, seed=self.job.seed, message=text))
        return results

    def _limit_text(self, limit: str) -> str:
        limits = self.config.limits
        amounts = {
            "wall": f" of {limits.wall_s:g} s",
            "cpu": f" of {limits.cpu_s} s",
            "memory": f" of {limits.memory_mb} MiB",
            "output": f" of {limits.output_mb:g} MiB",
            "work": f" of {limits.work_mb} MiB",
        }
        return f"stopped at the {limit} limit{amounts.get(limit, '')}"

    def _again_with_wave(
        self, simulator: Simulator, test: TestFile, outcome: Outcome, results: list[TestResult], report: Report
    ) -> list[TestResult]:
        """Repeat a failing test with the same seed, now with a VCD and with its assertions explained."""
        failed_ns = cocotb_results.failure_time_ns(outcome.results_xml)
        late = failed_ns is not None and failed_ns > _LONG_NS
        from_ns = int(failed_ns) - _LEAD_NS if failed_ns is not None and late else 0
        repeated = self._execute(simulator, test, wave=Wave(from_ns=from_ns))
        again = self._results(test, repeated, Report())
        same = [(r.name, r.status) for r in again] == [(r.name, r.status) for r in results]
        return self._with_wave_path(test, again if same else results, report)

    def _with_wave_path(self, test: TestFile, results: list[TestResult], report: Report) -> list[TestResult]:
        stem = PurePosixPath(test.source.path).stem
        names = (f"{stem}.vcd" if n == 1 else f"{stem}_{n}.vcd" for n in count(1))
        name = next(n for n in names if n not in report.kept)
        if not self._keep(WAVE_FILE, name):
            return results
        report.kept.add(name)
        return [r if r.status is Status.SKIPPED else replace(r, wave_path=name) for r in results]

    def _keep_collected(self) -> None:
        for name in self.collect:
            self._keep(name, PurePosixPath(name).name)

    def _keep(self, made: str, name: str) -> bool:
        """Move a file that the run wrote into the kept folder; never through a link."""
        path = self.job.folder / made
        if self.keep_dir is None or path.is_symlink() or not path.is_file() or path.stat().st_size > _KEPT_BYTES:
            return False
        self.keep_dir.mkdir(parents=True, exist_ok=True)
        shutil.move(path, self.keep_dir / name)
        return True
