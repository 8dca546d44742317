"""The ordered gates: verify(candidate, spec) -> Verdict.

lint -> elaborate -> simulate (oracle) -> tests (the user's) -> equiv (optimise requests) ->
synthesize -> requirements -> place_and_route -> cross_check (the oracle again, on Verilator, for a
candidate that has met everything else). The first failing gate ends the list. Simulation and
synthesis do not depend on each other and run side by side; what ran beyond the first failure is
thrown away, so that the verdict reads the same however the machine was loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rtlagent import __version__
from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, UsageError
from rtlagent.types import (
    Candidate,
    Diagnostic,
    Grade,
    Metrics,
    Port,
    Requirements,
    Severity,
    SourceFile,
    Spec,
    Status,
    StepResult,
    Trace,
    Unmet,
    Verdict,
    digest,
    from_json,
    to_json,
)

if TYPE_CHECKING:
    from rtlagent.verilog import ModuleInfo

RTL_SUFFIXES = (".v", ".sv", ".vh", ".svh")
_MUTANT_SEED = 1
_FUNCTION_STEPS = ("simulate", "tests", "equiv")
_LATCH_WANTED = re.compile(
    r"\b(?:transparent|level[- ]sensitive|gated|enabled|[DS]R?|JK)[- ]latch|\blatch-based"
    r"|\b(?:with|is|as|be) an? latch\b"
    r"|\b(?:implement|build|design|create|make|write|use|model)s? (?:an?|the) (?:[\w-]+ )?latch",
    re.I,
)
"""A latch as a thing that is asked for; data that is "latched" and "no latches" ask for none."""
_DEPENDS_ON_X = Diagnostic(
    "rtlagent",
    Severity.ERROR,
    "DEPENDS_ON_X",
    "the design passes while unknown values are X, and fails when they are random, as in hardware",
    hint="reset every register that an output depends on; no === x, no casex; index within bounds",
)
MIN_CYCLES = 100
"""Fewer checked cycles than this make a weak verdict (judgement; see `grade`)."""


@dataclass(frozen=True)
class Bench:
    """What judges the function of a candidate."""

    trace: Trace | None
    """The oracle's; None when only the user's tests judge."""
    baseline: tuple[SourceFile, ...] = ()
    """Existing RTL that an optimised candidate must be equivalent to; empty: no such gate."""
    simulator: str = "auto"
    cross_check: bool = True
    """Replay the trace on Verilator as well, from random initial values, before a candidate may pass."""
    mutants: int = 16
    """Wrong versions of a passing design on which the tests themselves are judged; 0: none."""


@dataclass(frozen=True)
class Verifier:
    """Judges candidates; remembers every step's result by content.

    Called as `verify(candidate, spec) -> Verdict`. The spec must have its top and ports.
    """

    config: ToolConfig
    bench: Bench
    store: Path
    """Where results are kept by content hash."""
    logs: Path
    """Where logs, waveforms and netlists go, a folder a candidate."""
    on_step: Callable[[StepResult], None] = lambda _step: None

    def __call__(self, candidate: Candidate, spec: Spec) -> Verdict:
        """Run the gates in order up to the first that fails.

        Raises:
            ToolError: a tool is missing or the sandbox cannot be set up.
        """
        steps: list[StepResult] = []

        def add(step: StepResult) -> bool:
            steps.append(step)
            self.on_step(step)
            return step.passed

        if add(self._lint(candidate, spec)):
            self._judge(candidate, spec, add)
        verdict = Verdict(passed=False, grade=Grade.NONE, steps=tuple(steps))
        unmet = _unmet(spec.requirements, verdict) if _reached_synthesis(steps) else ()
        passed = not unmet and all(s.passed for s in steps) and any(s.step in _FUNCTION_STEPS for s in steps)
        if passed and self.bench.trace is not None and self.bench.cross_check:
            passed = add(self._cross_check(candidate, spec))
            verdict = replace(verdict, steps=tuple(steps))
        grade, reason = self._grade(candidate, spec, steps) if passed else (Grade.NONE, "the candidate did not pass")
        return replace(verdict, passed=passed, unmet=unmet, grade=grade, grade_reason=reason)

    def _grade(self, candidate: Candidate, spec: Spec, steps: Sequence[StepResult]) -> tuple[Grade, str]:
        """Say how strong the tests were that passed the candidate: by what they compared, then by mutants."""
        grade, reason = grade_evidence(steps, spec, self.bench.trace)
        if grade is not Grade.MODERATE or not self.bench.mutants:
            return grade, reason
        inputs = [spec.top, spec.ports, spec.clock, spec.reset, spec.tests, self.bench.trace, self.bench.mutants]
        key = digest([candidate.sha256, inputs, __version__])
        path = self.store / f"grade-{key}.json"
        if path.is_file():
            value = json.loads(path.read_text())
            return Grade(value[0]), value[1]
        try:
            measured, why = self._kill_mutants(candidate, spec)
        except RtlagentError as error:
            # The design has passed; only the measure of its tests is missing.
            return grade, f"{reason} ({error.message})"
        grade, reason = (grade, f"{reason} ({why})") if measured is Grade.NONE else (measured, why)
        _write(path, [grade, reason])
        return grade, reason

    def _kill_mutants(self, candidate: Candidate, spec: Spec) -> tuple[Grade, str]:
        from rtlagent.tools import mutants

        made = mutants.make_mutants(
            candidate.files, top=_top(spec), limit=self.bench.mutants, seed=_MUTANT_SEED, config=self.config
        )
        result = mutants.kill_mutants(
            candidate.files,
            made,
            self.bench.trace,
            top=_top(spec),
            ports=spec.ports,
            clock=spec.clock,
            reset=spec.reset,
            tests=spec.tests,
            config=self.config,
        )
        return mutants.grade(result)

    def _judge(self, candidate: Candidate, spec: Spec, add: Callable[[StepResult], bool]) -> None:
        with ThreadPoolExecutor(max_workers=2) as pool:
            function = [pool.submit(gate, candidate, spec) for gate in self._function_gates(spec)]
            elaborated = pool.submit(self._elaborate, candidate, spec)
            synthesized = pool.submit(self._synthesize, candidate, spec)
            try:
                if not add(elaborated.result()):
                    return
                if not all(add(f.result()) for f in function):
                    return
                if not add(synthesized.result()):
                    return
            finally:
                for future in [*function, synthesized]:
                    future.cancel()
        if spec.requirements.min_fmax_mhz is not None:
            add(self._place_and_route(candidate, spec))

    def _function_gates(self, spec: Spec) -> Iterable[Callable[[Candidate, Spec], StepResult]]:
        if self.bench.trace is not None:
            yield self._simulate
        if spec.tests:
            yield self._tests
        if self.bench.baseline:
            yield self._equiv

    def _lint(self, candidate: Candidate, spec: Spec) -> StepResult:
        # A design that asks for a latch may have one; everybody else's latch is a mistake.
        allow = ("LATCH",) if _LATCH_WANTED.search(spec.text) else ()
        given = [f.path for f in spec.context_files]

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.lint import lint

            clash = _protected_paths(candidate, spec)
            if clash:
                return StepResult("lint", Status.FAIL, diagnostics=clash)
            return lint(
                candidate.files, top=spec.top, language=spec.language, policy=True, allow=allow, config=self.config
            )

        return self._cached("lint", candidate, [spec.top, spec.language, allow, _test_paths(spec), given], run)

    def _elaborate(self, candidate: Candidate, spec: Spec) -> StepResult:
        def run(keep: Path) -> StepResult:
            from rtlagent.tools.inspect import inspect
            from rtlagent.tools.synthesize import elaborate

            result = elaborate(candidate.files, top=_top(spec), config=self.config)
            if not result.passed:
                return result
            info = inspect(candidate.files, top=_top(spec), config=self.config)
            module = info.module(_top(spec))
            if module is None:
                return replace(result, status=Status.ERROR, detail="the ports of the top module could not be read")
            wrong = interface_problems(module, spec.ports)
            status = Status.FAIL if wrong else result.status
            return replace(result, status=status, diagnostics=(*result.diagnostics, *wrong))

        return self._cached("elaborate", candidate, [spec.top, spec.ports], run)

    def _simulate(self, candidate: Candidate, spec: Spec) -> StepResult:
        return self._replay(candidate, spec, "simulate", self.bench.simulator)

    def _cross_check(self, candidate: Candidate, spec: Spec) -> StepResult:
        """Replay the trace with known but random values wherever the design leaves them open.

        Icarus alone would pass a design that works only while a register is X: a branch on X is taken as
        false, as no hardware does. Two-state simulation from random values tells them apart.
        """
        return self._replay(candidate, spec, "cross_check", "verilator")

    def _replay(self, candidate: Candidate, spec: Spec, step: str, simulator: str) -> StepResult:
        trace = self.bench.trace
        assert trace is not None

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.scoreboard import check_trace

            result = check_trace(
                candidate.files,
                trace,
                top=_top(spec),
                ports=spec.ports,
                clock=spec.clock,
                reset=spec.reset,
                simulator=simulator,
                keep_dir=keep,
                config=self.config,
            )
            if step == "cross_check" and result.status is not Status.PASS:
                result = replace(result, diagnostics=(*result.diagnostics, _DEPENDS_ON_X))
            return replace(result, step=step)

        inputs = [spec.top, spec.ports, spec.clock, spec.reset, trace, simulator]
        return self._cached(step, candidate, inputs, run)

    def _tests(self, candidate: Candidate, spec: Spec) -> StepResult:
        def run(keep: Path) -> StepResult:
            from rtlagent.tools.simulate import simulate

            result = simulate(
                candidate.files,
                spec.tests,
                top=_top(spec),
                simulator=self.bench.simulator,
                keep_dir=keep,
                config=self.config,
            )
            return replace(result, step="tests")

        return self._cached("tests", candidate, [spec.top, spec.tests, self.bench.simulator], run)

    def _equiv(self, candidate: Candidate, spec: Spec) -> StepResult:
        def run(keep: Path) -> StepResult:
            from rtlagent.tools.formal import equiv

            return equiv(
                self.bench.baseline,
                candidate.files,
                top=_top(spec),
                reset=spec.reset,
                keep_dir=keep,
                config=self.config,
            )

        return self._cached("equiv", candidate, [spec.top, spec.reset, self.bench.baseline], run)

    def _synthesize(self, candidate: Candidate, spec: Spec) -> StepResult:
        target = spec.requirements.target

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.synthesize import synthesize

            return synthesize(candidate.files, top=_top(spec), target=target, keep_dir=keep, config=self.config)

        return self._cached("synthesize", candidate, [spec.top, target], run)

    def _place_and_route(self, candidate: Candidate, spec: Spec) -> StepResult:
        needs = spec.requirements

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.place_and_route import place_and_route

            netlist = keep.parent / "synthesize" / "netlist.json"
            return place_and_route(
                candidate.files,
                top=_top(spec),
                target=needs.target,
                min_fmax_mhz=needs.min_fmax_mhz,
                netlist=netlist if netlist.is_file() else None,
                keep_dir=keep,
                config=self.config,
            )

        return self._cached("place_and_route", candidate, [spec.top, needs.target, needs.min_fmax_mhz], run)

    def _cached(
        self, step: str, candidate: Candidate, inputs: Sequence[object], run: Callable[[Path], StepResult]
    ) -> StepResult:
        """Return the step's result from the store, or run it and keep it (unless a tool broke)."""
        # With other limits a TIMEOUT or UNPROVEN may turn out differently; unconfined, nothing is as sure.
        key = digest([step, candidate.sha256, inputs, self.config.sandbox, self.config.limits, __version__])
        path = self.store / f"step-{key}.json"
        if path.is_file():
            return from_json(StepResult, json.loads(path.read_text()))
        keep = self.logs / candidate.sha256[:10] / step
        keep.mkdir(parents=True, exist_ok=True)
        try:
            result = run(keep)
        except UsageError as error:
            # The model's text has a form that the tool cannot even be given: the design's fault.
            found = Diagnostic("rtlagent", Severity.ERROR, "UNUSABLE", error.message, hint=error.hint)
            result = StepResult(step, Status.FAIL, diagnostics=(found,))
        prefix = keep.relative_to(self.logs.parent)
        result = replace(
            result,
            log_path=str(prefix / result.log_path) if result.log_path else None,
            tests=tuple(replace(t, wave_path=str(prefix / t.wave_path)) if t.wave_path else t for t in result.tests),
        )
        if result.status is not Status.ERROR:
            _write(path, result)
        return result


def _write(path: Path, value: object) -> None:
    part = path.with_suffix(".part")
    part.write_text(json.dumps(to_json(value)))
    part.replace(path)


def interface_problems(module: ModuleInfo, ports: Sequence[Port]) -> tuple[Diagnostic, ...]:
    """Compare the top module's ports with the specified ones: names, directions and widths.

    An extra port is a problem too: whoever instantiates the module would leave it open.
    """
    found = {p.name: p for p in module.ports}
    wanted = {p.name: p for p in ports}

    def problem(code: str, message: str) -> Diagnostic:
        return Diagnostic("rtlagent", Severity.ERROR, code, message, module.path, module.line, 1)

    problems = [
        problem("PORT_MISSING", f"{module.name} lacks the port {p.direction} {p.name}")
        for n, p in wanted.items()
        if n not in found
    ]
    problems += [
        problem("PORT_EXTRA", f"{module.name} has a port that the specification does not have: {n}")
        for n in found
        if n not in wanted
    ]
    for name in (n for n in wanted if n in found):
        want, got = wanted[name], found[name]
        if want.direction != got.direction:
            text = f"port {name} is an {got.direction}; the specification wants an {want.direction}"
            problems.append(problem("PORT_DIRECTION", text))
        if want.width is not None and got.width is not None and want.width != got.width:
            text = f"port {name} has {got.width} bits; the specification wants {want.width}"
            problems.append(problem("PORT_WIDTH", text))
    return tuple(problems)


def find_unmet(needs: Requirements, metrics: Metrics) -> tuple[Unmet, ...]:
    """List the requirements that the figures miss; an unmeasured one is missed with `measured` None."""
    upper = [
        ("max_luts", needs.max_luts, metrics.luts, ""),
        ("max_ffs", needs.max_ffs, metrics.ffs, ""),
        ("max_brams", needs.max_brams, metrics.brams, ""),
        ("max_dsps", needs.max_dsps, metrics.dsps, ""),
        ("max_latency_cycles", needs.max_latency_cycles, metrics.latency_cycles, "cycles"),
    ]
    unmet = [
        Unmet(name, float(limit), None if got is None else float(got), unit)
        for name, limit, got, unit in upper
        if limit is not None and (got is None or got > limit)
    ]
    limit_mhz, got_mhz = needs.min_fmax_mhz, metrics.fmax_mhz
    if limit_mhz is not None and (got_mhz is None or got_mhz < limit_mhz):
        unmet.append(Unmet("min_fmax_mhz", limit_mhz, got_mhz, "MHz"))
    return tuple(unmet)


def grade_evidence(steps: Sequence[StepResult], spec: Spec, trace: Trace | None) -> tuple[Grade, str]:
    """Grade how strong the tests behind a PASS were, from what was compared.

    From a passing run alone the best grade is MODERATE: how many wrong designs the tests catch is
    measured by mutants afterwards.
    """
    judges = {s.step for s in steps if s.step in _FUNCTION_STEPS}
    if not judges:
        return Grade.NONE, "nothing checked the function"
    if judges == {"equiv"}:
        return Grade.MODERATE, "only the comparison with the existing design judged the function"
    if trace is None:
        return Grade.MODERATE, "only the user's own tests judged the function"
    checked = sum(t.checked_cycles or 0 for s in steps if s.step == "simulate" for t in s.tests)
    untested = [] if spec.tests else _never_compared(trace, spec.ports)
    if untested:
        return Grade.WEAK, f"the golden model leaves outputs untested: {', '.join(untested)}"
    if checked < MIN_CYCLES and spec.clock is not None:
        return Grade.WEAK, f"only {checked} cycles were checked"
    return Grade.MODERATE, f"{checked} cycles were checked; how many wrong designs the tests catch is not measured"


def _never_compared(trace: Trace, ports: Sequence[Port]) -> list[str]:
    from rtlagent.tools.trace import measure_coverage

    return [o.port for o in measure_coverage(trace, ports=ports).outputs if not o.compared]


def _unmet(needs: Requirements, verdict: Verdict) -> tuple[Unmet, ...]:
    """List the missed requirements of a synthesized candidate.

    A design without a register-to-register path has no fmax; there place-and-route has held the
    frequency against the slowest path of any kind, and its status is the answer.
    """
    routed = any(s.step == "place_and_route" and s.passed for s in verdict.steps)
    by_path = routed and verdict.metrics.fmax_mhz is None
    return tuple(u for u in find_unmet(needs, verdict.metrics) if not (by_path and u.name == "min_fmax_mhz"))


def _reached_synthesis(steps: Sequence[StepResult]) -> bool:
    return any(s.step == "synthesize" and s.passed for s in steps)


def _top(spec: Spec) -> str:
    if spec.top is None:
        raise ValueError("the spec was not completed: it has no top")
    return spec.top


def _test_paths(spec: Spec) -> list[str]:
    return [f.path for t in spec.tests for f in (t.source, *t.support)]


def _protected_paths(candidate: Candidate, spec: Spec) -> tuple[Diagnostic, ...]:
    """Name the candidate's files that would stand in for one of the user's tests, or for what a test includes."""
    protected = set(_test_paths(spec))
    names = {PurePosixPath(p).name for p in protected}
    # The user's own files may share a name; the folders are searched for an include in the order that they had.
    given = {f.path for f in spec.context_files}
    return tuple(
        Diagnostic("rtlagent", Severity.ERROR, "PROTECTED_TEST", "a design may not replace a test file", f.path)
        for f in candidate.files
        if f.path in protected or (PurePosixPath(f.path).name in names and f.path not in given)
    )
