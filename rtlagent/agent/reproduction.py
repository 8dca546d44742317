"""One gate of one attempt with all that it judged by, so that it can be run again anywhere."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent import __version__
from rtlagent.config import ToolConfig
from rtlagent.errors import RunError, UsageError
from rtlagent.report.folder import RunFolder
from rtlagent.report.iterations import Iteration
from rtlagent.report.story import Story, read_story
from rtlagent.types import Candidate, Severity, SourceFile, Spec, Status, StepResult, Trace

if TYPE_CHECKING:
    from rtlagent.gates import Bench

FORMAT = 1


@dataclass(frozen=True)
class CompiledCase:
    """How the candidate came from C."""

    use_pragmas: bool
    seed: int
    margin: float
    """The part of the period left free."""


@dataclass(frozen=True)
class Case:
    """A gate's inputs and what it said of them."""

    format: int
    rtlagent: str
    """The version that made it."""
    system: str
    run: str
    attempt: int
    gate: str
    spec: Spec
    files: tuple[SourceFile, ...]
    """The candidate."""
    recorded: StepResult
    trace: Trace | None = None
    golden: tuple[SourceFile, ...] = ()
    """The golden model that the trace came from; for the reader."""
    baseline: tuple[SourceFile, ...] = ()
    simulator: str = "auto"
    compiled: CompiledCase | None = None


@dataclass(frozen=True)
class Replayed:
    """A gate that was run again."""

    now: StepResult
    differences: tuple[str, ...]
    """From what was recorded; empty: reproduced."""


def case_of(folder: RunFolder, *, attempt: int | None = None, gate: str = "") -> Case:
    """Return what a gate of a run judged, and by what.

    Args:
        folder: The run's.
        attempt: Its number; None: the last one in which that gate ran, or, without a gate, in which one failed.
        gate: Its name; empty: the first that did not pass.

    Raises:
        UsageError: there is no such attempt or gate, or nothing failed.
        RunError: the folder lacks what the gate was given.
    """
    story = read_story(folder)
    if story.spec is None:
        raise RunError("the run's specification is missing or damaged", where=str(folder.path / "spec.json"))
    iteration, step = _chosen(story, attempt, gate)
    sha = iteration.sha or _only_candidate(folder)
    files = folder.files(sha)
    if not files:
        raise RunError("the run folder lacks the files of this attempt", where=str(folder.path / "store"))
    understood = next((e for e in reversed(folder.events) if e["event"] == "understood"), {})
    # What a kept result lacks, since a broken tool's is not kept, the report may still have.
    told = story.verdict.steps if story.verdict else ()
    whole = [s for s in told if (s.step, s.status) == (step.step, step.status)]
    recorded = whole[0] if whole and not (step.diagnostics or step.detail or step.tests) else step
    oracle = iteration.oracle_sha
    trace = folder.record(Trace, folder.json_of(f"store/{oracle}.trace.json"), "the oracle's trace") if oracle else None
    return Case(
        FORMAT,
        __version__,
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        story.id,
        iteration.number,
        step.step,
        replace(story.spec, top=story.spec.top or story.top or None),
        files,
        recorded,
        trace=trace,
        golden=folder.files(oracle) if oracle else (),
        baseline=_existing(story.spec) if understood.get("request") == "optimise" else (),
        simulator=_simulator(folder),
        compiled=_compiled(folder, iteration) if story.is_c else None,
    )


def replay(case: Case, config: ToolConfig, place: Path) -> Replayed:
    """Run the gate again.

    Args:
        case: What it judges.
        config: The tools here.
        place: An empty folder; logs and waveforms are left in it.

    Raises:
        UsageError: it is damaged: it lacks what the gate judges by.
        ToolError: a tool is missing or the sandbox cannot be set up.
    """
    from rtlagent.gates import Bench, Verifier

    spec, bench = case.spec, Bench(case.trace, case.baseline, simulator=case.simulator)
    if case.compiled is not None:
        spec, bench = _from_c(case, case.compiled, config)
    store = place / "store"
    store.mkdir()
    now = Verifier(config, bench, store, place / "logs").gate(case.gate, Candidate(case.files), spec)
    return Replayed(now, tuple(_differences(case.recorded, now)))


def _chosen(story: Story, attempt: int | None, gate: str) -> tuple[Iteration, StepResult]:
    if not story.iterations:
        raise UsageError("the run has no attempt at a design", where=story.id, hint="there is no gate to run again")
    numbers = [i.number for i in story.iterations]
    if attempt is not None and attempt not in numbers:
        hint = f"there are {numbers[0]} to {numbers[-1]}"
        raise UsageError(f"there is no attempt {attempt}", where=story.id, hint=hint)
    for iteration in reversed(story.iterations):
        if attempt is not None and iteration.number != attempt:
            continue
        step = next((s for s in iteration.steps if s.step == gate), None) if gate else iteration.failing
        if step is not None:
            return iteration, step
    ran = ", ".join(dict.fromkeys(s.step for i in story.iterations for s in i.steps))
    hint = f"name one with --step: {ran}" if ran else ""
    what = f"the gate {gate!r} did not run" if gate else "no gate failed"
    raise UsageError(f"{what}{'' if attempt is None else f' in attempt {attempt}'}", where=story.id, hint=hint)


def _only_candidate(folder: RunFolder) -> str:
    """Return the candidate of a gate that left no log: with several of them it cannot be told."""
    names = [p.name.removesuffix(".files.json") for p in (folder.path / "store").glob("*.files.json")]
    return names[0] if len(names) == 1 else ""


def _existing(spec: Spec) -> tuple[SourceFile, ...]:
    from rtlagent.gates import RTL_SUFFIXES

    tests = {f.path for t in spec.tests for f in (t.source, *t.support)}
    return tuple(f for f in spec.context_files if f.path.endswith(RTL_SUFFIXES) and f.path not in tests)


def _simulator(folder: RunFolder) -> str:
    settings = folder.json_of("settings.json")
    groups = settings.values() if isinstance(settings, dict) else ()
    named = (g["simulator"] for g in groups if isinstance(g, dict) and isinstance(g.get("simulator"), str))
    return next(named, "auto")


def _compiled(folder: RunFolder, iteration: Iteration) -> CompiledCase:
    from rtlagent.agent.from_c import CSettings
    from rtlagent.hls import HlsOptions

    settings = folder.json_of("settings.json")
    known = folder.record(CSettings, settings.get("c") if isinstance(settings, dict) else None, "settings.json")
    known = known or CSettings()
    margins = [e.get("margin") for e in folder.events if e["event"] == "compiled"]
    margin = margins[iteration.number - 1] if 0 < iteration.number <= len(margins) else None
    free = float(margin) if isinstance(margin, int | float) else HlsOptions.clock_margin
    return CompiledCase(known.use_pragmas, known.seed, free)


def _from_c(case: Case, how: CompiledCase, config: ToolConfig) -> tuple[Spec, Bench]:
    """Compile again, for the interface by which co-simulation drives the module; the design is the recorded one."""
    from rtlagent.agent.from_c import CSettings, compile_spec, module_spec, reference_of
    from rtlagent.gates import Bench

    settings = CSettings(how.use_pragmas, how.seed, case.simulator)
    compiled = compile_spec(case.spec, config, use_pragmas=how.use_pragmas, clock_margin=how.margin)
    bench = Bench(None, simulator=case.simulator, c=reference_of(case.spec, settings, compiled))
    return module_spec(case.spec, compiled), bench


def _differences(then: StepResult, now: StepResult) -> Sequence[str]:
    found = []
    if then.status is not now.status:
        found.append(f"the status is {now.status} and was {then.status}")
    if then.status is Status.ERROR:
        return found  # what a broken tool said is not kept in full
    if _errors(then) != _errors(now):
        found.append(f"the errors are {_listed(_errors(now))} and were {_listed(_errors(then))}")
    if _failed(then) != _failed(now):
        found.append(f"the failing tests are {_listed(_failed(now))} and were {_listed(_failed(then))}")
    return found


def _errors(step: StepResult) -> tuple[str, ...]:
    places = {f"{d.code} {d.path or ''}:{d.line or ''}" for d in step.diagnostics if d.severity is Severity.ERROR}
    return tuple(sorted(places))


def _failed(step: StepResult) -> tuple[str, ...]:
    return tuple(sorted(t.name for t in step.tests if t.status is not Status.PASS))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") if names else "none"
