"""From what the user asks for to a plan, or to the run that has it already."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtlagent.bench.executors import require_executor
from rtlagent.bench.executors.blindness import require_blind
from rtlagent.bench.problem import Problem
from rtlagent.bench.record import record_here
from rtlagent.bench.run_folder import About, RunFolder, new_id
from rtlagent.bench.store import url_without_password
from rtlagent.bench.suites import suite
from rtlagent.bench.tasks import MODES, Plan, TaskLimits
from rtlagent.config import BudgetConfig, Config
from rtlagent.errors import ConfigError, ModelConfigError, RunError, UsageError, suggestion

_MOST_SAMPLES = 10_000
_DEFAULT_SEED = 1


@dataclass(frozen=True)
class Wanted:
    """What the user asks for beside the settings of Config."""

    suite: str
    path: Path
    samples: int = 1
    mode: str = "agent"
    only: tuple[str, ...] = ()
    """Parts of problem names; empty: all problems."""
    first: int | None = None
    """Only so many problems; None: all."""
    blind: bool = True
    synthesis: bool = True
    executor: str = "local"
    jobs: int | None = None
    db: str = ""
    """URL of the results base; empty: a file in the run's folder."""
    task_max_tokens: int | None = None
    task_max_cost_usd: float | None = None
    task_max_time_s: float | None = None


@dataclass(frozen=True)
class Planned:
    """A plan with what it is made of."""

    plan: Plan
    problems: tuple[Problem, ...]


def make_plan(wanted: Wanted, config: Config) -> Planned:
    """Read the suite and fix what decides the result.

    Raises:
        UsageError: something that was asked for cannot be.
        ModelConfigError: no model can be asked.
    """
    _check(wanted)
    adapter = suite(wanted.suite)
    if wanted.blind:
        require_blind(wanted.path, config.tools)
    problems = _selected(adapter.problems(wanted.path), wanted)
    needs_model = any(p.c_source is None for p in problems)
    if wanted.mode == "single" and not all(p.c_source is None for p in problems):
        raise UsageError("C problems are compiled, without a model: there is no --mode single for them")
    return Planned(
        Plan(
            suite=wanted.suite,
            suite_sha256=adapter.data_sha256(wanted.path),
            model=_model_name(config) if needs_model else None,
            mode=wanted.mode,
            samples=wanted.samples,
            problems=tuple(p.name for p in problems),
            seed=_DEFAULT_SEED if config.seed is None else config.seed,
            temperature=config.model.temperature,
            prompts_sha256=_prompts_sha256(),
            blind=wanted.blind,
            simulator=config.simulator,
            synthesis=wanted.synthesis,
            limits=TaskLimits(
                wanted.task_max_tokens, wanted.task_max_cost_usd, wanted.task_max_time_s, config.budget.max_iterations
            ),
            candidates=config.candidates,
            mutants=config.mutants,
            random_cycles=config.random_cycles,
            max_output_tokens=config.model.max_output_tokens,
            sandbox=config.tools.sandbox,
        ),
        problems,
    )


def begin_or_go_on(wanted: Wanted, plan: Plan, config: Config, out: Path | None) -> tuple[RunFolder, About]:
    """Return the run that has this plan: the one in its folder, else a new one.

    Raises:
        UsageError: the folder holds a run with another plan.
    """
    folder = RunFolder.default(config.runs_dir, plan) if out is None else RunFolder(out)
    budget = replace(config.budget, max_iterations=None)
    chosen = {"budget": budget, "executor": wanted.executor, "jobs": wanted.jobs}
    if folder.begun:
        known = folder.about()
        _require_same(known.plan, plan, folder)
        db = url_without_password(wanted.db) or known.db
        if db != known.db:
            message = f"the run's results are in {known.db or folder.base}, not in {db}"
            raise UsageError(message, where=str(folder.path), hint="leave --db as it was, or begin anew with --out")
        about = replace(known, suite_path=str(wanted.path.absolute()), **chosen)  # type: ignore[arg-type]
    else:
        about = About(
            id=new_id(folder.path),
            plan=plan,
            record=record_here(wanted.executor),
            suite_path=str(wanted.path.absolute()),
            started_at=time.time(),
            budget=budget,
            executor=wanted.executor,
            jobs=wanted.jobs,
            db=url_without_password(wanted.db),
        )
    return folder, about


def problems_of(about: About, config: Config) -> dict[str, Problem]:
    """Read a run's problems again, after making sure that the suite is still the same.

    Raises:
        UsageError: it is not, or it is gone.
    """
    path, plan = Path(about.suite_path), about.plan
    adapter = suite(plan.suite)
    if plan.blind:
        require_blind(path, config.tools)
    problems = {p.name: p for p in adapter.problems(path)}
    if adapter.data_sha256(path) != plan.suite_sha256:
        hint = "put them back, or begin a new run: results of two versions cannot be mixed"
        raise UsageError("the suite's data have changed since the run began", where=str(path), hint=hint)
    if _prompts_sha256() != plan.prompts_sha256:
        hint = "start from the folder where the run began, with the same rtlagent, or begin a new run"
        raise UsageError("the prompts have changed since the run began", hint=hint)
    return problems


def config_of(plan: Plan, config: Config) -> Config:
    """Return the settings of one task, limits and seed apart: the plan's where it has them, else this machine's."""
    model = replace(
        config.model, name=plan.model, temperature=plan.temperature, max_output_tokens=plan.max_output_tokens
    )
    return replace(
        config,
        tools=replace(config.tools, sandbox=plan.sandbox),
        model=model,
        candidates=plan.candidates,
        mutants=plan.mutants,
        random_cycles=plan.random_cycles,
        simulator=plan.simulator,
        ask=False,
        out=None,
    )


def own_prompts() -> Path | None:
    """Return the project's own prompts; None: it has none."""
    folder = Path.cwd() / "prompts"
    return folder if any(folder.glob("*.md.j2")) else None


def _prompts_sha256() -> str:
    from rtlagent.agent.prompts import Prompts

    return Prompts(own_prompts()).sha256()


def _check(wanted: Wanted) -> None:
    if wanted.mode not in MODES:
        raise UsageError(f"there is no mode {wanted.mode!r}", hint=suggestion(wanted.mode, MODES))
    if not 1 <= wanted.samples <= _MOST_SAMPLES:
        raise UsageError(f"--samples is from 1 to {_MOST_SAMPLES}, not {wanted.samples}")
    if wanted.jobs is not None and wanted.jobs < 1:
        raise UsageError(f"--jobs is at least 1, not {wanted.jobs}")
    if wanted.first is not None and wanted.first < 1:
        raise UsageError(f"--first is at least 1, not {wanted.first}")
    for flag, value in (
        ("--task-max-tokens", wanted.task_max_tokens),
        ("--task-max-cost", wanted.task_max_cost_usd),
        ("--task-max-time", wanted.task_max_time_s),
    ):
        if value is not None and not value > 0:
            raise ConfigError(f"{flag} must be above 0, not {value}")
    require_executor(wanted.executor)


def _selected(problems: Sequence[Problem], wanted: Wanted) -> tuple[Problem, ...]:
    for part in wanted.only:
        if not any(part in p.name for p in problems):
            hint = suggestion(part, [p.name for p in problems])
            raise UsageError(f"no problem's name contains {part!r}", where=str(wanted.path), hint=hint)
    kept = [p for p in problems if not wanted.only or any(part in p.name for part in wanted.only)]
    if not kept:
        raise UsageError("the suite holds no problem", where=str(wanted.path))
    return tuple(kept[: wanted.first])


def _model_name(config: Config) -> str:
    """Return the model's name as it will be asked; a recording of a whole run is not opened here."""
    from rtlagent.models import resolve

    name = config.model.name
    if name is not None and name.startswith("replay:"):
        place = Path(name.removeprefix("replay:").partition("?")[0])
        if place.is_dir():
            if not (place / "tasks").is_dir():
                hint = "replay: takes a log, or the folder of a benchmark run"
                raise ModelConfigError(f"{place} holds no benchmark run", hint=hint)
            return name
    asked = resolve(name, config.model).name
    return name if name is not None and name.startswith("replay:") else asked


def _require_same(known: Plan, plan: Plan, folder: RunFolder) -> None:
    different = known.differences(plan)
    if not different:
        return
    said = [f"{name} was {_shown(known, name)}, is {_shown(plan, name)}" for name in different]
    hint = "begin another run with another --out, or go on with this one: rtlagent bench resume DIR"
    raise RunError(f"the folder holds a run with another plan: {'; '.join(said)}", where=str(folder.path), hint=hint)


def _shown(plan: Plan, name: str) -> str:
    value = getattr(plan, name)
    if name == "problems":
        return f"{len(value)} problems"
    text = f"{value[:12]}..." if name.endswith("sha256") else str(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def limits_of(budget: BudgetConfig, given: BudgetConfig) -> BudgetConfig:
    """Return a run's limits with those replaced that are given now."""
    return BudgetConfig(
        given.max_tokens or budget.max_tokens,
        given.max_cost_usd or budget.max_cost_usd,
        None,
        given.max_time_s or budget.max_time_s,
    )
