"""The ordered gates: verify(candidate, spec) -> Verdict.

lint -> elaborate -> simulate (oracle) -> tests (the user's) -> equiv (optimise requests) ->
synthesize -> requirements -> place_and_route -> cross_check (the oracle again, on Verilator, for a
candidate that has met everything else). For a module compiled from C, cosim (the calls of the C, under both
simulators) stands in simulate's place, and place_and_route always comes where the target has it. The
first failing gate ends the list. Simulation and synthesis do not depend on each other and run side by
side; what ran beyond the first failure is thrown away, so that the verdict reads the same however the
machine was loaded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent import __version__
from rtlagent.config import ToolConfig
from rtlagent.conformance import interface_problems, paths_of_tests, protected_paths, unmet_by_steps
from rtlagent.errors import BaselineError, CSourceError, UsageError
from rtlagent.grading import FUNCTION_STEPS, Grader
from rtlagent.spec import ROUTED_TARGETS
from rtlagent.tools.toolchain import tool_versions
from rtlagent.types import (
    Candidate,
    Diagnostic,
    Grade,
    Severity,
    SourceFile,
    Spec,
    Status,
    StepResult,
    Trace,
    Verdict,
    digest,
    from_json,
    to_json,
)
from rtlagent.workspace import write_atomic

if TYPE_CHECKING:
    from rtlagent.tools.c_reference import CReference

RTL_SUFFIXES = (".v", ".sv", ".vh", ".svh")
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
PATIENCE = 5
"""How many times longer than other tools synthesis and place-and-route of compiled C may take."""


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
    c: CReference | None = None
    """The C function that the candidate was compiled from; None: it was not."""


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
        unmet = unmet_by_steps(spec.requirements, verdict.metrics, steps)
        passed = not unmet and all(s.passed for s in steps) and any(s.step in FUNCTION_STEPS for s in steps)
        if passed and self.bench.trace is not None and self.bench.cross_check:
            passed = add(self._cross_check(candidate, spec))
            verdict = replace(verdict, steps=tuple(steps))
        grade, reason = self._grade(candidate, spec, steps) if passed else (Grade.NONE, "the candidate did not pass")
        return replace(verdict, passed=passed, unmet=unmet, grade=grade, grade_reason=reason)

    def gate(self, name: str, candidate: Candidate, spec: Spec) -> StepResult:
        """Run one gate by itself; what stands before it in the list is taken as passed.

        Args:
            name: As in `StepResult.step`.
            candidate: What is judged.
            spec: With its top and ports.

        Raises:
            UsageError: there is no such gate, or nothing here that it could judge by.
            ToolError: a tool is missing or the sandbox cannot be set up.
        """
        by_trace, by_c = self.bench.trace is not None, self.bench.c is not None
        gates: dict[str, tuple[Callable[[Candidate, Spec], StepResult], bool]] = {
            "lint": (self._lint, True),
            "elaborate": (self._elaborate, True),
            "simulate": (self._simulate, by_trace),
            "cosim": (self._cosim, by_c),
            "csim": (self._cosim, by_c),
            "tests": (self._tests, bool(spec.tests)),
            "equiv": (self._equiv, bool(self.bench.baseline)),
            "synthesize": (self._synthesize, True),
            "place_and_route": (self._place_and_route, True),
            "cross_check": (self._cross_check, by_trace),
        }
        if name not in gates:
            raise UsageError(f"there is no gate {name!r}", hint=f"the gates are: {', '.join(gates)}")
        run, possible = gates[name]
        if not possible:
            raise UsageError(f"there is nothing that {name} could judge by")
        return run(candidate, spec)

    def _grade(self, candidate: Candidate, spec: Spec, steps: Sequence[StepResult]) -> tuple[Grade, str]:
        if self.bench.c is not None:
            from rtlagent.tools.c_reference import grade_against_c

            return grade_against_c(steps)
        return Grader(self.config, self.bench.trace, self.bench.mutants, self.store).grade(candidate, spec, steps)

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
        needs = spec.requirements
        if needs.min_fmax_mhz is not None or (self.bench.c is not None and needs.target in ROUTED_TARGETS):
            add(self._place_and_route(candidate, spec))

    def _function_gates(self, spec: Spec) -> Iterable[Callable[[Candidate, Spec], StepResult]]:
        if self.bench.trace is not None:
            yield self._simulate
        if self.bench.c is not None:
            yield self._cosim
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

            clash = protected_paths(candidate, spec)
            if clash:
                return StepResult("lint", Status.FAIL, diagnostics=clash)
            return lint(
                candidate.files, top=spec.top, language=spec.language, policy=True, allow=allow, config=self.config
            )

        return self._cached("lint", candidate, [spec.top, spec.language, allow, paths_of_tests(spec), given], run)

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
            # The ports of compiled C are the compiler's own; co-simulation connects each by its name.
            wrong = interface_problems(module, spec.ports) if self.bench.c is None else ()
            status = Status.FAIL if wrong else result.status
            return replace(result, status=status, diagnostics=(*result.diagnostics, *wrong))

        return self._cached("elaborate", candidate, [spec.top, spec.ports, self.bench.c is None], run)

    def _cosim(self, candidate: Candidate, spec: Spec) -> StepResult:
        reference = self.bench.c
        assert reference is not None

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.c_reference import check_against_c

            return check_against_c(candidate.files, reference, keep_dir=keep, config=self.config)

        return self._cached("cosim", candidate, [reference], run)

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

            try:
                return equiv(
                    self.bench.baseline,
                    candidate.files,
                    top=_top(spec),
                    reset=spec.reset,
                    keep_dir=keep,
                    config=self.config,
                )
            except BaselineError as error:
                # No candidate can mend the user's own files.
                found = tuple(replace(d, message=f"in the existing design: {d.message}") for d in error.diagnostics)
                return StepResult("equiv", Status.ERROR, found, detail=error.message)

        return self._cached("equiv", candidate, [spec.top, spec.reset, self.bench.baseline], run)

    def _synthesize(self, candidate: Candidate, spec: Spec) -> StepResult:
        target = spec.requirements.target

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.synthesize import synthesize

            config = self._patient()
            return synthesize(candidate.files, top=_top(spec), target=target, keep_dir=keep, config=config)

        return self._cached("synthesize", candidate, [spec.top, target], run)

    def _place_and_route(self, candidate: Candidate, spec: Spec) -> StepResult:
        needs = spec.requirements
        goal = needs.min_fmax_mhz
        if goal is None and spec.clock is not None:
            goal = 1000 / spec.clock.period_ns  # nextpnr stops improving at its goal; without one that is 12 MHz

        def run(keep: Path) -> StepResult:
            from rtlagent.tools.place_and_route import place_and_route

            netlist = keep.parent / "synthesize" / "netlist.json"
            result = place_and_route(
                candidate.files,
                top=_top(spec),
                target=needs.target,
                min_fmax_mhz=goal,
                netlist=netlist if netlist.is_file() else None,
                keep_dir=keep,
                config=self._patient(),
            )
            return result if needs.min_fmax_mhz is not None else _not_required(result)

        inputs = [spec.top, needs.target, needs.min_fmax_mhz, goal]
        return self._cached("place_and_route", candidate, inputs, run)

    def _patient(self) -> ToolConfig:
        """Give synthesis and routing of a compiled C function more time: it may be as large as it likes."""
        if self.bench.c is None:
            return self.config
        limits = self.config.limits
        limits = replace(limits, wall_s=PATIENCE * limits.wall_s, cpu_s=PATIENCE * limits.cpu_s)
        return replace(self.config, limits=limits)

    def _cached(
        self, step: str, candidate: Candidate, inputs: Sequence[object], run: Callable[[Path], StepResult]
    ) -> StepResult:
        """Return the step's result from the store, or run it and keep it (unless a tool broke)."""
        # With other limits a TIMEOUT or UNPROVEN may turn out differently, with other tools anything may;
        # unconfined, nothing is as sure.
        settings = [self.config.sandbox, self.config.limits, __version__, tool_versions()]
        key = digest([step, candidate.sha256, inputs, settings])
        path = self.store / f"step-{key}.json"
        with suppress(OSError, ValueError):  # a damaged result is as good as none
            return from_json(StepResult, json.loads(path.read_bytes()))
        keep = self.logs / candidate.sha256[:10] / step
        keep.mkdir(parents=True, exist_ok=True)
        try:
            result = run(keep)
        except CSourceError:
            raise  # the user's C, not the design
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
            write_atomic(path, json.dumps(to_json(result)))
        return result


def _not_required(result: StepResult) -> StepResult:
    """Let a frequency that nobody required be a warning when it is missed."""
    missed = all(d.code.startswith("FMAX") for d in result.diagnostics if d.severity is Severity.ERROR)
    if result.status is not Status.FAIL or not missed:
        return result
    return replace(
        result,
        status=Status.PASS,
        diagnostics=tuple(replace(d, severity=Severity.WARNING) for d in result.diagnostics),
    )


def _top(spec: Spec) -> str:
    if spec.top is None:
        raise ValueError("the spec was not completed: it has no top")
    return spec.top
