"""Replay a recorded trace on a design and compare, with our own bench.

The bench (sim/rtlagent_bench*.py) runs in the simulator, inside the sandbox, and leaves a JSON
report under a name that the design cannot guess. A PASS needs three things that agree: cocotb's
results, a finished report without a mismatch, and at least one comparison.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as version_of
from pathlib import Path

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.tools.bench_report import BenchReport, ScenarioFindings, UnreadableReportError, read_report
from rtlagent.tools.mismatch_table import first_line, mismatch_of, render
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.simulate import simulate
from rtlagent.types import (
    Clock,
    Diagnostic,
    Metrics,
    Port,
    Reset,
    Severity,
    SourceFile,
    Status,
    StepResult,
    TestFile,
    TestKind,
    TestResult,
    Trace,
    to_json,
)

_BENCH = "rtlagent_bench.py"
_PYTEST = "rtlagent_bench_pytest.py"
_REQUEST = "rtlagent_bench_request.json"
_MAX_DETAILED = 3


def check_trace(
    files: Sequence[SourceFile],
    trace: Trace,
    *,
    top: str,
    ports: Sequence[Port],
    clock: Clock | None,
    reset: Reset | None,
    simulator: str = "auto",
    wave: str = "on_failure",
    keep_dir: Path | None = None,
    stop_at_mismatch: bool = False,
    config: ToolConfig,
) -> StepResult:
    """Replay `trace` on the design and return one TestResult a scenario.

    FAIL: an output differs, a port is missing or has another width, a stream hangs or breaks its
    handshake, or the design ends the simulation. TIMEOUT: the simulation never ends. UNPROVEN:
    nothing was compared. ERROR: the bench or the simulator broke.

    With `stop_at_mismatch` the scenarios after the first failing one are SKIPPED: enough to know
    that a design is wrong.

    Raises:
        ToolMissingError: a simulator is not installed.
        SandboxError: nothing could be run.
    """
    report_name = f"rtlagent-bench-{secrets.token_hex(8)}.json"
    request = {
        "ports": to_json(ports),
        "clock": to_json(clock),
        "reset": to_json(reset),
        "clock_ports": [c.port for c in (clock, *trace.clocks) if c is not None],
        "trace": to_json(trace),
        "stop_at_mismatch": stop_at_mismatch,
    }
    bench = TestFile(
        SourceFile(_BENCH, (resource_dir("sim") / _BENCH).read_text()),
        TestKind.COCOTB,
        support=(SourceFile(_REQUEST, json.dumps(request, separators=(",", ":"))), *_light_pytest()),
    )
    with scratch_folder() as temporary:
        folder = keep_dir or temporary
        step = simulate(
            files,
            [bench],
            top=top,
            simulator=simulator,
            seed=trace.seed,
            expected_cycles=_expected_cycles(trace),
            wave=wave if keep_dir else "never",
            keep_dir=folder,
            env={"RTLAGENT_BENCH_REQUEST": _REQUEST, "RTLAGENT_BENCH_REPORT": report_name},
            collect=[report_name],
            config=config,
        )
        left = folder / report_name
        text = left.read_text(errors="replace") if left.is_file() else None
        if text is not None:
            left.replace(folder / "scoreboard.json")
    if keep_dir is None:
        step = replace(step, log_path=None)
    return _Judge(step, trace, tuple(ports), tuple(files), top).judge(text)


def _light_pytest() -> tuple[SourceFile, ...]:
    """Return a stand-in for pytest, where the installed cocotb is the one whose needs of it are known."""
    known = version_of("cocotb").startswith("2.1.")
    return (SourceFile("pytest.py", (resource_dir("sim") / _PYTEST).read_text()),) if known else ()


def _expected_cycles(trace: Trace) -> int:
    cycles = sum(len(s.inputs) for s in trace.cycles)
    items = sum(len(i) for s in trace.streams for i in (*s.inputs.values(), *s.expected.values()))
    return cycles + 3 * items


@dataclass(frozen=True)
class _Judge:
    """Turns the simulation's result and the bench's report into one StepResult."""

    step: StepResult
    trace: Trace
    ports: tuple[Port, ...]
    files: tuple[SourceFile, ...]
    top: str

    def judge(self, text: str | None) -> StepResult:
        step = self.step
        if not step.tests:
            # It was not built: the simulator's diagnostics say why.
            return step
        if text is None:
            return self._without_report()
        try:
            report = read_report(text, self.trace, self.ports)
        except UnreadableReportError as unreadable:
            return replace(step, status=Status.ERROR, tests=(), detail=f"the bench's report is damaged: {unreadable}")
        if report.error:
            return replace(step, status=Status.ERROR, tests=(), detail=report.error)
        if report.port_problems:
            return self._wrong_ports(report.port_problems)
        results = self._test_results(report)
        unknown = dict.fromkeys(name for s in report.scenarios for name in s.unknown)
        notes = (
            Diagnostic("bench", Severity.NOTE, "UNKNOWN_AFTER_RESET", f"output {n} is X or Z just after reset")
            for n in unknown
        )
        latencies = [s.latency_cycles for s in report.scenarios if s.latency_cycles is not None]
        return replace(
            step,
            status=self._overall(results, report),
            tests=results,
            metrics=Metrics(latency_cycles=max(latencies, default=None)),
            diagnostics=(*step.diagnostics, *notes),
            detail=self._detail(results, report),
        )

    def _without_report(self) -> StepResult:
        """Return what a simulation means that ended before the bench wrote anything."""
        test = replace(self.step.tests[0], name="start")
        if self.step.status in (Status.TIMEOUT, Status.FAIL):
            detail = f"{test.status.value:8} {test.name}: {test.message}\n"
            return replace(self.step, tests=(test,), detail=detail)
        test = replace(test, status=Status.ERROR, message="the bench left no report")
        return replace(self.step, status=Status.ERROR, tests=(test,))

    def _wrong_ports(self, problems: Sequence[str]) -> StepResult:
        path, line = self._module_place()
        hint = "keep the interface of the specification"
        found = tuple(Diagnostic("bench", Severity.ERROR, "PORT_MISMATCH", p, path, line, hint=hint) for p in problems)
        result = TestResult("ports", Status.FAIL, message=problems[0])
        diagnostics = (*self.step.diagnostics, *found)
        detail = "\n".join(problems) + "\n"
        return replace(self.step, status=Status.FAIL, tests=(result,), diagnostics=diagnostics, detail=detail)

    def _module_place(self) -> tuple[str, int]:
        pattern = re.compile(rf"^\s*module\s+(?:automatic\s+|static\s+)?{re.escape(self.top)}\b", re.M)
        for file in self.files:
            match = pattern.search(file.text)
            if match:
                return file.path, file.text.count("\n", 0, match.end()) + 1
        return (self.files[0].path if self.files else ""), 0

    def _test_results(self, report: BenchReport) -> tuple[TestResult, ...]:
        """Return a TestResult for every scenario of the trace, also for those never reached."""
        found = {s.name: s for s in report.scenarios}
        names = [*(s.name for s in self.trace.cycles), *(s.name for s in self.trace.streams)]
        results = [self._test_result(name, found.get(name), report.finished) for name in names]
        broken_off = not report.finished and all(r.status in (Status.PASS, Status.SKIPPED) for r in results)
        if broken_off and Status.SKIPPED in (r.status for r in results):
            first = next(k for k, r in enumerate(results) if r.status is Status.SKIPPED)
            results[first] = self._ended_in(results[first])
        return tuple(results)

    def _test_result(self, name: str, found: ScenarioFindings | None, finished: bool) -> TestResult:
        test = self.step.tests[0]
        base = TestResult(name, Status.SKIPPED, seed=self.trace.seed, message="not reached", wave_path=test.wave_path)
        if found is None:
            return replace(base, status=Status.ERROR, message="the bench left it out") if finished else base
        mismatches = tuple(mismatch_of(name, m, self.trace, self.ports) for m in found.mismatches)
        base = replace(base, checked_cycles=found.checked, mismatches=mismatches, cycle=found.cycle)
        if found.mismatches or found.failures:
            cycle = found.mismatches[0].cycle if found.mismatches else found.cycle
            message = first_line(found, mismatches)
            return replace(base, status=Status.FAIL, cycle=cycle, message=message)
        if not found.finished:
            return self._ended_in(base)
        base = replace(base, cycle=None)
        if not found.compared_bits:
            return replace(base, status=Status.UNPROVEN, message="nothing was compared")
        return replace(base, status=Status.PASS, message="")

    def _ended_in(self, result: TestResult) -> TestResult:
        """Return the result of a scenario in which the simulation ended, or would not end."""
        test = self.step.tests[0]
        if test.status is Status.TIMEOUT:
            return replace(result, status=Status.TIMEOUT, message=f"the simulation did not end: {test.message}")
        return replace(result, status=Status.FAIL, message="the design ended the simulation ($finish or a crash)")

    def _overall(self, results: Sequence[TestResult], report: BenchReport) -> Status:
        """Return the worst scenario's status, and never a better one than the simulation's own."""
        statuses = {r.status for r in results}
        for status in (Status.ERROR, Status.TIMEOUT, Status.FAIL):
            if status in statuses:
                return status
        if self.step.status is not Status.PASS:
            return self.step.status
        if not report.finished:
            return Status.ERROR
        # A scenario that compares nothing (before any value is known) is harmless beside others that do.
        return Status.PASS if Status.PASS in statuses else Status.UNPROVEN

    def _detail(self, results: Sequence[TestResult], report: BenchReport) -> str:
        """Return a line a scenario, then the first mismatching cycles of the first few failing ones."""
        cycle_style = {s.name for s in self.trace.cycles}
        lines = []
        for result in results:
            unit = "cycles" if result.name in cycle_style else "items"
            checked = "" if result.checked_cycles is None else f", {result.checked_cycles} {unit} checked"
            message = f": {result.message}" if result.message else ""
            lines.append(f"{result.status.value:8} {result.name}{checked}{message}")
        found = {s.name: s for s in report.scenarios}
        bad = [r.name for r in results if r.status is Status.FAIL and r.name in found]
        tables = [t for name in bad if (t := render(found[name], self.trace, self.ports))]
        for table in tables[:_MAX_DETAILED]:
            lines += ["", table.rstrip("\n")]
        if len(tables) > _MAX_DETAILED:
            lines += ["", f"({len(tables) - _MAX_DETAILED} more failing scenarios are not shown)"]
        if report.finished and not bad:
            lines.append(self._comparisons(report))
        return "\n".join(lines) + "\n"

    def _comparisons(self, report: BenchReport) -> str:
        names = [p.name for p in self.ports if p.direction == "output"]
        counts = {n: sum(s.comparisons.get(n, 0) for s in report.scenarios) for n in names}
        bits = sum(s.compared_bits for s in report.scenarios)
        still = [n for n in names if counts[n] and not any(n in s.toggled for s in report.scenarios)]
        text = f"compared: {', '.join(f'{n} {count}' for n, count in counts.items() if count)}; {bits} bits in all"
        return text + (f"; never toggled: {', '.join(still)}" if still else "")
