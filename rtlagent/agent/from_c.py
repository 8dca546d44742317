"""From C: compile the function, judge the module against the C, and write down how it ended.

No model takes part. A module that misses the clock asked for, as measured by place and route, is compiled again
with more of the period left free. Everything is deterministic, so that a run that was killed simply goes on:
what was judged is in the run's store and is not judged again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtlagent.agent.html import leave_report
from rtlagent.agent.loop import DEFAULT_SEED, load_run_spec
from rtlagent.agent.report import HlsReport, RunReport, evidence_of
from rtlagent.agent.state import Attempt
from rtlagent.config import Config, ToolConfig
from rtlagent.errors import CSourceError, RunError, ToolError, UsageError
from rtlagent.spec.c_source import defined_functions as functions_of
from rtlagent.types import (
    Candidate,
    Clock,
    Diagnostic,
    LoopReport,
    Reset,
    RunRecord,
    Severity,
    SourceFile,
    Spec,
    Status,
    StepResult,
    Usage,
    Verdict,
    digest,
    from_json,
)
from rtlagent.workspace import Listener, Run

if TYPE_CHECKING:
    from rtlagent.hls import Clang, HlsResult
    from rtlagent.tools.c_reference import CReference

MAX_ATTEMPTS = 4
"""Compilations of one function; judgement: what three tighter schedules do not mend, a fourth does not."""
_MOST_MARGIN = 0.7
_OVERSHOOT = 0.97
"""Aim a little beyond what was missed: placement differs from one netlist to the next."""
DEFAULT_CLOCK_NS = 10.0
"""Period that is scheduled for when none was asked for; then it is no requirement."""
_HLS_PRAGMA = re.compile(r"\s*#\s*pragma\s+HLS\s+(\w+)", re.I)
_CALLED = re.compile(r'\bcall [^@\n]*@"?([^"(\s]+)"?\(')


@dataclass(frozen=True)
class CSettings:
    """How a C run behaves; fixed when it starts."""

    use_pragmas: bool = True
    seed: int = DEFAULT_SEED
    simulator: str = "auto"
    """`auto` is Icarus and Verilator both."""


def clang_of(spec: Spec, config: ToolConfig) -> Clang:
    """Return clang as the compiler calls it, over the spec's files."""
    source = _source(spec)

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        from rtlagent.tools.clang import emit_llvm

        return emit_llvm(
            text, language, arguments, path=source.path, config=config, extra_files=spec.context_files
        )  # fmt: skip

    return clang


def choose_top(spec: Spec, config: ToolConfig) -> str:
    """Return the spec's top, or the only function that can be meant.

    Functions that others call (`main` apart), and `main` beside other functions, are not meant.

    Raises:
        UsageError: there is none, or there are several.
        CSourceError: the C does not compile.
    """
    source = _source(spec)
    if spec.top is not None:
        return spec.top
    llvm = clang_of(spec, config)(source.text, spec.c_language, ())
    bodies = re.findall(r'^define [^@]*@"?([^"(\s]+)"?\((.*?)^\}', llvm, re.M | re.S)
    called = {callee for symbol, body in bodies if symbol != "main" for callee in _CALLED.findall(body)}
    defined = defined_functions(llvm)
    others = [(name, symbol) for name, symbol in defined if name != "main"]
    if not others and defined:
        return "main"
    # The symbols before the names: C++ has several functions of one name.
    meant = [name for name, symbol in others if symbol not in called] or [name for name, _ in others]
    if len(meant) == 1:
        return meant[0]
    if not meant:
        unused = next((name for name in functions_of(source.text) if _is_static(source.text, name)), None)
        hint = "" if unused is None else f"{unused} is static or inline and nobody calls it: drop that word"
        raise UsageError("no function is defined", where=source.path, hint=hint)
    hint = "name the one that becomes hardware with --top"
    raise UsageError(f"several functions could be the top: {', '.join(meant)}", where=source.path, hint=hint)


def defined_functions(llvm: str) -> list[tuple[str, str]]:
    """Return the functions that LLVM IR defines, in order: name in the source, symbol."""
    names = dict(re.findall(r'^!(\d+) = distinct !DISubprogram\(name: "([^"]+)"', llvm, re.M))
    found: list[tuple[str, str]] = []
    for line in re.finditer(r"^define .*$", llvm, re.M):
        symbol = re.search(r'@"?([^"(\s]+)"?\(', line[0])
        debug = re.search(r"!dbg !(\d+)", line[0])
        if symbol:
            name = names.get(debug[1]) if debug else None
            found.append((name or symbol[1], symbol[1]))
    return found


def compile_spec(
    spec: Spec,
    config: ToolConfig,
    *,
    use_pragmas: bool = True,
    clock_margin: float | None = None,
    dump_after: str = "",
) -> HlsResult:
    """Compile the function `spec.top`; `clock_margin` is the part of the period left free (None: the default).

    Raises:
        CSourceError: it does not compile, or something in it cannot become hardware.
        ToolError: clang could not be run.
    """
    from rtlagent.hls import HlsOptions, compile_c

    assert spec.top is not None
    options = HlsOptions(
        spec.top,
        clock_ns=spec.clock_ns or DEFAULT_CLOCK_NS,
        target=spec.requirements.target,
        use_pragmas=use_pragmas,
        clock_margin=HlsOptions.clock_margin if clock_margin is None else clock_margin,
        dump_after=dump_after,
    )
    source = _source(spec)
    try:
        return compile_c(source, options, clang_of(spec, config))
    except CSourceError as error:
        raise _explained(error, source, spec.top) from None
    except (MemoryError, RecursionError):
        hint = "make its arrays smaller, or split its longest expressions"
        raise CSourceError(f"{spec.top} is too large for the compiler", where=source.path, hint=hint) from None


def _explained(error: CSourceError, source: SourceFile, top: str) -> CSourceError:
    """Return the error, in the user's terms where the compiler's own are not."""
    path, _, place = error.where.partition(":")
    line = place.partition(":")[0]
    lines = source.text.split("\n")
    said = lines[int(line) - 1] if path == source.path and line.isdigit() and 0 < int(line) <= len(lines) else ""
    pragma = _HLS_PRAGMA.match(said)
    if pragma:
        hint = "put it at the beginning of the braces of its loop or function"
        return CSourceError(f"#pragma HLS {pragma[1]} cannot stand here", where=f"{path}:{line}", hint=hint)
    if "there is no function" in error.message and _is_static(source.text, top):
        hint = "drop `static` and `inline`, or write a main() that calls it"
        return CSourceError(f"{top} is static or inline and nobody calls it", where=error.where, hint=hint)
    return error


def _is_static(text: str, name: str) -> bool:
    return bool(re.search(rf"\b(?:static|inline)\b[^;{{}}()]*\b{re.escape(name)}\s*\(", text))


def start_c_run(spec: Spec, config: Config, *, use_pragmas: bool = True) -> Run:
    """Make the run folder and write down what is asked."""
    run = Run.create(config.runs_dir, spec.name)
    seed = DEFAULT_SEED if config.seed is None else config.seed
    settings = CSettings(use_pragmas, seed, config.simulator)
    run.write_json("settings.json", {"c": settings, "budget": config.budget})
    # The spec goes last: a folder without it never began and is not offered for resuming.
    run.write_json("spec.json", {"spec": spec, "sha256": digest(spec)})
    return run


def is_c_run(run: Run) -> bool:
    """Tell whether a run folder began with C.

    Raises:
        RunError: the settings are missing or damaged.
    """
    settings = run.read_json("settings.json")
    return isinstance(settings, dict) and "c" in settings


@dataclass(frozen=True)
class CRun:
    """How to work on the run folder of a C spec, new or interrupted."""

    run: Run
    config: Config
    compiled: HlsResult | None = None
    """What the caller has compiled already; None: it is compiled here."""
    listeners: Sequence[Listener] = ()
    draws: bool = True
    """Whether report.html gets a schematic, which takes Yosys once more."""

    def go(self) -> RunReport:
        """Compile and judge, and write report.json and report.html.

        A tool that breaks ends the run with a report as well.

        Raises:
            UsageError: the run folder is damaged or in use, or the C cannot become hardware.
        """
        self.run.listeners.extend(self.listeners)
        with self.run.locked():
            spec = load_run_spec(self.run)
            try:
                settings = from_json(CSettings, self.run.read_json("settings.json")["c"])
            except (ValueError, KeyError, TypeError) as error:
                where = str(self.run.folder / "settings.json")
                raise RunError(f"the settings are damaged: {error}", where=where) from error
            self.run.emit("started", run=self.run.id, spec=spec.name, model=None, top=spec.top)
            try:
                report = self._judged(spec, settings)
            except KeyboardInterrupt:
                self.run.emit("interrupted")
                raise
            self.run.write_json("report.json", report)
            self.run.emit("ended", outcome=report.record.exit_reason, reason=report.reason, usage=Usage())
            leave_report(self.run, self.config.tools, draws=self.draws)
            return report

    def _judged(self, spec: Spec, settings: CSettings) -> RunReport:
        tried: list[_Tried] = []
        try:
            for attempt in self._attempts(spec, settings):
                tried.append(attempt)
        except ToolError as error:
            return self._report(spec, settings, tried, ("tool", str(error)))
        return self._report(spec, settings, tried, _outcome(_best(tried).verdict))

    def _attempts(self, spec: Spec, settings: CSettings) -> Iterator[_Tried]:
        """Compile and judge, with a tighter schedule each time that the clock was missed."""
        from rtlagent.hls import HlsOptions

        margin, seen = HlsOptions.clock_margin, set[str]()
        compiled = self.compiled
        for _ in range(min(MAX_ATTEMPTS, self.config.budget.max_iterations or MAX_ATTEMPTS)):
            if compiled is None:
                compiled = compile_spec(
                    spec, self.config.tools, use_pragmas=settings.use_pragmas, clock_margin=margin
                )  # fmt: skip
            if compiled.design.sha256 in seen:
                return
            seen.add(compiled.design.sha256)
            warnings = sum(d.severity is Severity.WARNING for d in compiled.diagnostics)
            self.run.emit("compiled", warnings=warnings, loops=len(compiled.loops), margin=round(margin, 3))
            attempt = _Tried(compiled, margin, self._verdict(spec, settings, compiled))
            yield attempt
            tighter = _tighter(attempt, spec)
            if tighter is None:
                return
            margin, compiled = tighter, None

    def _verdict(self, spec: Spec, settings: CSettings, compiled: HlsResult) -> Verdict:
        from rtlagent.gates import Bench, Verifier

        candidate = Candidate((compiled.design,), origin="hls")
        self.run.store_files(candidate.files, candidate.sha256)
        verifier = Verifier(
            self.config.tools,
            Bench(trace=None, simulator=settings.simulator, c=reference_of(spec, settings, compiled)),
            store=self.run.folder / "store",
            logs=self.run.folder / "logs",
            on_step=self._tell,
        )
        return verifier(candidate, module_spec(spec, compiled))

    def _tell(self, step: StepResult) -> None:
        tests = [t.status for t in step.tests]
        self.run.emit(
            "gate", step=step.step, status=step.status, wall_s=round(step.wall_s, 2), log=step.log_path,
            metrics=step.metrics, tests=len(tests), tests_passed=sum(s is Status.PASS for s in tests),
            argv=step.argv,
        )  # fmt: skip

    def _report(
        self, spec: Spec, settings: CSettings, tried: Sequence[_Tried], ended: tuple[str, str]
    ) -> RunReport:  # fmt: skip
        outcome, reason = ended
        best = _best(tried) if tried else None
        verdict = best.verdict if best else None
        if best is not None:
            candidate = Candidate((best.compiled.design,), origin="hls")
            self.run.publish(candidate, [_source(spec), *spec.context_files])
        return RunReport(
            record=RunRecord(
                id=self.run.id,
                spec_sha=spec.sha256,
                config_sha=self.config.sha256,
                seed=settings.seed,
                iterations=len(tried),
                usage=Usage(),
                exit_reason=outcome,
            ),
            name=spec.name,
            top=best.compiled.interface.module if best else spec.top,
            request="c",
            reason=self.run.portable(reason),
            requirements=spec.requirements,
            verdict=verdict,
            evidence=evidence_of(verdict, {}, settings.seed, ""),
            assumptions=(),
            decisions=(),
            rulings=(),
            attempts=tuple(_attempt(n, t) for n, t in enumerate(tried, 1)),
            files=(best.compiled.design.path,) if best else (),
            hls=hls_report(spec, best.compiled) if best else None,
        )


@dataclass(frozen=True)
class _Tried:
    """A compilation and what the tools said of it."""

    compiled: HlsResult
    margin: float
    verdict: Verdict

    @property
    def fmax_mhz(self) -> float:
        """As measured; 0 if it was not."""
        return self.verdict.metrics.fmax_mhz or 0.0


def _best(tried: Sequence[_Tried]) -> _Tried:
    """Return the one that passed, else the fastest, else the first."""
    return max(tried, key=lambda t: (t.verdict.passed, t.fmax_mhz))


def _tighter(attempt: _Tried, spec: Spec) -> float | None:
    """Return the margin to try next; None if it is not only the clock that was missed."""
    wanted, failing = spec.requirements.min_fmax_mhz, attempt.verdict.failing
    others = [u for u in attempt.verdict.unmet if u.name != "min_fmax_mhz"]
    missed = failing is not None and failing.step == "place_and_route" and failing.status is Status.FAIL
    if wanted is None or not missed or others or not 0 < attempt.fmax_mhz < wanted:
        return None
    margin = 1 - (1 - attempt.margin) * attempt.fmax_mhz / wanted * _OVERSHOOT
    return min(margin, _MOST_MARGIN) if attempt.margin < _MOST_MARGIN else None


def _attempt(number: int, tried: _Tried) -> Attempt:
    failing = tried.verdict.failing
    step = failing.step if failing else ""
    fmax = f", {tried.fmax_mhz:.1f} MHz" if tried.fmax_mhz else ""
    return {
        "iteration": number,
        "sha": Candidate((tried.compiled.design,)).sha256,
        "parent": "",
        "step": step,
        "signature": "",
        "score": [float(tried.verdict.passed), tried.fmax_mhz],
        "note": f"{100 * tried.margin:.0f} % of the period left free{fmax}",
        "line": 0,
    }


def hls_report(spec: Spec, compiled: HlsResult) -> HlsReport:
    """Return what the compiler says, for a report."""
    return HlsReport(
        source=_source(spec).path,
        function=spec.top or "",
        target=spec.requirements.target,
        clock_ns=spec.clock_ns or DEFAULT_CLOCK_NS,
        loops=compiled.loops,
        latency_min_cycles=compiled.latency_min_cycles,
        latency_max_cycles=compiled.latency_max_cycles,
        estimate=compiled.estimate,
        diagnostics=compiled.diagnostics,
        schedules=compiled.schedules,
    )


def module_spec(spec: Spec, compiled: HlsResult) -> Spec:
    """Return the spec of the module that the function became."""
    interface = compiled.interface
    clock = Clock("ap_clk", period_ns=spec.clock_ns or DEFAULT_CLOCK_NS)
    return replace(spec, top=interface.module, clock=clock, reset=Reset("ap_rst"))


def reference_of(spec: Spec, settings: CSettings, compiled: HlsResult) -> CReference:
    """Return the C that the module is held against."""
    from rtlagent.tools.c_reference import SIMULATORS, CReference

    assert spec.top is not None
    return CReference(
        _source(spec),
        spec.top,
        compiled.interface,
        spec.context_files,
        spec.c_language,
        spec.clock_ns or DEFAULT_CLOCK_NS,
        worst_ii(compiled.loops),
        SIMULATORS if settings.simulator == "auto" else (settings.simulator,),
        settings.seed,
    )


def worst_ii(loops: Sequence[LoopReport]) -> int | None:
    """Return the greatest II of the pipelined loops; None if there is none."""
    return max((loop.ii for loop in loops if loop.ii is not None), default=None)


def _source(spec: Spec) -> SourceFile:
    if spec.c_source is None:
        raise ValueError("not a C spec")
    return spec.c_source


def _outcome(verdict: Verdict) -> tuple[str, str]:
    """Return how a run with this verdict ended, and why without a pass."""
    if verdict.passed:
        return "pass", ""
    failing = verdict.failing
    if failing is None:
        parts = [f"{u.name} {u.limit:g}, {_measured(u.measured)}" for u in verdict.unmet]
        return "fail", f"not met: {'; '.join(parts)}" if parts else "nothing checked the function"
    first = next((_said(d) for d in failing.diagnostics if d.severity is Severity.ERROR), "") or _first_line(failing)
    outcome = {Status.ERROR: "tool", Status.TIMEOUT: "limit"}.get(failing.status, "fail")
    return outcome, f"{failing.step}: {first}".rstrip(": ")


def _said(found: Diagnostic) -> str:
    return str(found) if found.line else found.message


def _measured(value: float | None) -> str:
    return "not measured" if value is None else f"measured {value:g}"


def _first_line(step: StepResult) -> str:
    bad = next((t.message for t in step.tests if t.status is not Status.PASS and t.message), "")
    return next((line for line in (bad or step.detail).splitlines() if line.strip()), "")
