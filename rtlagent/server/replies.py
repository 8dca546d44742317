"""What a client gets back: the few facts that lead on, and paths for the rest.

A context window is precious: a reply names the first failing cycles and the worst diagnostics, counts what it leaves
out, and says where the log is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice

from rtlagent.printable import printable
from rtlagent.tools.diagnostics import most_important
from rtlagent.types import Diagnostic, Metrics, Severity, Status, StepResult, TestResult, Unmet, Verdict

MAX_FINDINGS = 12
MAX_TESTS = 20
MAX_CYCLES = 8
_MAX_MESSAGE = 600
_MAX_DETAIL = 2500
_MAX_INPUTS = 12


@dataclass(frozen=True)
class Finding:
    """One diagnostic."""

    place: str
    """`path:line:column`."""
    severity: str
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True)
class FailingCycle:
    """One cycle at which an output was wrong."""

    test: str
    cycle: int
    time_ns: float
    signal: str
    expected: str
    got: str
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class TestLine:
    """How one test ended."""

    __test__ = False  # not a pytest class
    name: str
    status: str
    message: str = ""
    seed: int | None = None
    checked_cycles: int | None = None
    first_failing_cycle: int | None = None
    waveform: str = ""
    """Path in the workspace; empty: none was written."""


@dataclass(frozen=True)
class Reply:
    """What a tool has to say, short."""

    tool: str
    status: str
    """PASS, FAIL, ERROR (a tool broke), TIMEOUT, UNPROVEN, DONE (nothing was judged)."""
    summary: str
    findings: tuple[Finding, ...] = ()
    """Worst first."""
    findings_left_out: int = 0
    tests: tuple[TestLine, ...] = ()
    """Those that failed first."""
    tests_left_out: int = 0
    failing_cycles: tuple[FailingCycle, ...] = ()
    metrics: Mapping[str, float] = field(default_factory=dict)
    """What was measured; a figure that is missing was not."""
    unmet: tuple[str, ...] = ()
    """Requirements that are not met."""
    gates: tuple[str, ...] = ()
    """Of a verdict: each gate with its status."""
    grade: str = ""
    """How strong the evidence is: strong, moderate, weak or none; empty: not asked."""
    detail: str = ""
    files: tuple[str, ...] = ()
    """What was written, by path in the workspace: logs, reports, Verilog."""
    wall_s: float = 0.0

    def text(self) -> str:
        """Say the same for a model that reads text only."""
        lines = [f"{self.tool}: {self.status}: {self.summary}"]
        lines += [f"gate {g}" for g in self.gates]
        lines += [f"unmet: {u}" for u in self.unmet]
        for finding in self.findings:
            code = f" [{finding.code}]" if finding.code else ""
            hint = f"\n  hint: {finding.hint}" if finding.hint else ""
            lines.append(f"{finding.place}: {finding.severity}: {finding.message}{code}{hint}")
        if self.findings_left_out:
            lines.append(f"({self.findings_left_out} diagnostics more)")
        for cycle in self.failing_cycles:
            inputs = ", ".join(f"{k}={v}" for k, v in cycle.inputs.items())
            where = f"{cycle.test} cycle {cycle.cycle} ({cycle.time_ns:g} ns)"
            lines.append(f"{where}: {cycle.signal} expected {cycle.expected} got {cycle.got}; inputs {inputs}")
        for test in self.tests:
            wave = f" waveform {test.waveform}" if test.waveform else ""
            lines.append(f"test {test.name}: {test.status} {test.message}{wave}".rstrip())
        if self.tests_left_out:
            lines.append(f"({self.tests_left_out} tests more)")
        if self.metrics:
            lines.append(", ".join(f"{k} {v:g}" for k, v in self.metrics.items()))
        lines += [self.detail] if self.detail else []
        lines += [f"files: {', '.join(self.files)}"] if self.files else []
        return printable("\n".join(lines))


def of_step(
    result: StepResult, *, tool: str = "", folder: str = "", files: Sequence[str] = (), unmet: Sequence[Unmet] = ()
) -> Reply:
    """Shorten what one tool said.

    Args:
        result: The tool's words.
        tool: The client's name of the tool; empty: the step's.
        folder: Where logs and waveforms were put, by path in the workspace; empty: nowhere.
        files: Further files that were written.
        unmet: Limits of the client's that the figures break; they turn a PASS into a FAIL.
    """
    broken = tuple(_unmet(u) for u in unmet)
    status = Status.FAIL if broken and result.status is Status.PASS else result.status
    findings = _findings(result.diagnostics)
    tests = sorted(result.tests, key=lambda t: t.status is Status.PASS)
    log = [f"{folder}/{result.log_path}"] if folder and result.log_path else []
    # Diagnostics, tests and cycles are told apart; a detail that repeats them would cost twice.
    told = bool(result.tests) or result.step == "lint"
    return Reply(
        tool=tool or result.step,
        status=status.value,
        summary=_summary(result),
        findings=findings,
        findings_left_out=len(result.diagnostics) - len(findings),
        tests=tuple(_test(t, folder) for t in tests[:MAX_TESTS]),
        tests_left_out=max(0, len(tests) - MAX_TESTS),
        failing_cycles=_cycles(tests),
        metrics=figures(result.metrics),
        unmet=broken,
        detail="" if told and result.status is not Status.ERROR else clip(result.detail, _MAX_DETAIL),
        files=(*log, *files),
        wall_s=round(result.wall_s, 2),
    )


def of_verdict(verdict: Verdict, *, tool: str, folder: str, files: Sequence[str] = ()) -> Reply:
    """Shorten a verdict: the gates, and of them the one that failed in full."""
    failing = verdict.failing
    status = Status.PASS if verdict.passed else Status.FAIL
    if failing is not None and failing.status in (Status.ERROR, Status.TIMEOUT, Status.UNPROVEN):
        status = failing.status
    shown = failing or next((s for s in verdict.steps if s.step == "synthesize"), None)
    base = of_step(shown, tool=tool, folder=folder, files=files) if shown else Reply(tool, status.value, "")
    summary = f"evidence {verdict.grade}: {verdict.grade_reason}" if verdict.passed else _reason(verdict)
    return replace(
        base,
        status=status.value,
        summary=clip(summary, _MAX_MESSAGE),
        metrics=figures(verdict.metrics),
        unmet=tuple(_unmet(u) for u in verdict.unmet),
        gates=tuple(f"{s.step}: {s.status}" for s in verdict.steps),
        grade=verdict.grade.value,
        detail=base.detail if failing is not None else "",
        wall_s=round(sum(s.wall_s for s in verdict.steps), 2),
    )


def figures(metrics: Metrics) -> dict[str, float]:
    """Return what was measured; None is left out, so that it is never taken for 0."""
    return {name: value for name, value in asdict(metrics).items() if value is not None}


def clip(text: str, limit: int) -> str:
    """Keep the head of a text, and say how much is missing."""
    text = text.strip()
    return text if len(text) <= limit else f"{text[:limit].rstrip()} ... ({len(text) - limit} characters more)"


def _reason(verdict: Verdict) -> str:
    if verdict.failing is not None:
        return f"fails at {verdict.failing.step}: {_summary(verdict.failing)}"
    if verdict.unmet:
        return "a requirement is not met"
    return "nothing judged the function; give a golden model, or name tests in the spec"


def _summary(result: StepResult) -> str:
    counts = [
        (sum(d.severity is severity for d in result.diagnostics), severity.value)
        for severity in (Severity.ERROR, Severity.WARNING)
    ]
    parts = [f"{n} {word}{'s' if n != 1 else ''}" for n, word in counts if n]
    if result.tests:
        good = sum(t.status is Status.PASS for t in result.tests)
        parts.insert(0, f"{good} of {len(result.tests)} tests passed")
    first = next((line.strip() for line in result.detail.splitlines() if line.strip()), "")
    if not parts and first and result.step != "lint":
        parts.append(clip(first, 160))
    version = f" [{result.tool_version}]" if result.tool_version else ""
    return (", ".join(parts) or "nothing to report") + version


def _findings(diagnostics: Sequence[Diagnostic]) -> tuple[Finding, ...]:
    return tuple(
        Finding(
            f"{d.path or '-'}:{d.line}:{d.column}",
            d.severity.value,
            d.code,
            clip(d.message, _MAX_MESSAGE),
            clip(d.hint, _MAX_MESSAGE),
        )
        for d in most_important(diagnostics, MAX_FINDINGS)
    )


def _test(test: TestResult, folder: str) -> TestLine:
    failed = test.status is not Status.PASS
    return TestLine(
        name=test.name,
        status=test.status.value,
        message=clip(test.message, _MAX_MESSAGE) if failed and not test.mismatches else "",
        seed=test.seed,
        checked_cycles=test.checked_cycles,
        first_failing_cycle=test.cycle,
        waveform=f"{folder}/{test.wave_path}" if folder and test.wave_path else "",
    )


def _cycles(tests: Sequence[TestResult]) -> tuple[FailingCycle, ...]:
    found = (
        FailingCycle(
            f"{t.name}/{m.scenario}" if m.scenario and m.scenario != t.name else t.name,
            m.cycle,
            m.time_ns,
            m.signal,
            m.expected,
            m.got,
            dict(islice(m.inputs.items(), _MAX_INPUTS)),
        )
        for t in tests
        for m in t.mismatches
    )
    return tuple(islice(found, MAX_CYCLES))


def _unmet(unmet: Unmet) -> str:
    measured = "not measured" if unmet.measured is None else f"{unmet.measured:g}{unmet.unit and ' '}{unmet.unit}"
    return f"{unmet.name} {unmet.limit:g}: {measured}"
