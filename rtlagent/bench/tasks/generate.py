"""Get the final answer to one problem: by the agent, or by one reply of the model. No hidden file is opened here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rtlagent.bench.problem import BENCHMARK_DEFECT, BUDGET, DESIGN, ENDPOINT, TOOL, Problem
from rtlagent.bench.tasks.final_answer import FinalAnswer, held, journals, keep_answer, kept_answer, spent_in
from rtlagent.bench.tasks.problem_spec import SPEC_FOLDER, spec_of
from rtlagent.config import Config
from rtlagent.errors import (
    ConfigError,
    CSourceError,
    LimitError,
    ModelConfigError,
    ModelError,
    ModelRefusalError,
    ModelReplyError,
    PromptTooLongError,
    RunError,
    ToolError,
    UsageError,
)
from rtlagent.models.replay import ReplayModel
from rtlagent.types import Message, SourceFile, Spec

if TYPE_CHECKING:
    from rtlagent.agent import RunReport
    from rtlagent.models import ModelProvider
    from rtlagent.workspace import Run

_PURPOSE = "single"
_OUTCOME = {"model": "endpoint"}
_FAULT_OF_THE_MODEL = (ModelReplyError, ModelRefusalError, PromptTooLongError)
"""The model has answered, or cannot read so much: that is its failure and none of the endpoint's."""


@dataclass(frozen=True)
class GenerateJob:
    """One task to be answered."""

    kind: ClassVar[str] = "generate"

    problem: Problem
    sample: int
    folder: Path
    """The task's."""
    task_folder: str
    """The same below a run's folder, such as `tasks/adder/0`: where a `replay:RUN` has its answers."""
    mode: str
    config: Config
    """With the seed of this sample and the limits of this task."""
    prompts_dir: Path | None = None
    """The project's own prompts; None: only the shipped ones."""
    prompts_sha256: str = ""
    """Of every template in use where the run began; empty: not checked."""
    budget_is_shared: bool = False
    """The limits are a share of the run's budget: an answer that they stop is not final."""

    def __call__(self) -> FinalAnswer:
        """Return the answer, and keep it in the task's folder if it is final.

        Raises:
            ModelConfigError, ConfigError: no model can be asked so; no other task could either.
            UsageError: this machine has other prompts than the one where the run began.
            RunError: the task's folder is damaged.
        """
        with held(self.folder):
            kept = kept_answer(self.folder)
            if kept is not None:
                return kept
            if self.prompts_sha256:
                _require_prompts(self.prompts_dir, self.prompts_sha256)
            started = time.monotonic()
            answer = self._guarded(self._from_c if self.problem.c_source else self._by_mode)
            answer = replace(answer, usage=spent_in(self.folder), wall_s=time.monotonic() - started)
            if answer.final:
                keep_answer(self.folder, answer)
            return answer

    def _by_mode(self) -> FinalAnswer:
        return self._single() if self.mode == "single" else self._agent()

    def _guarded(self, work: Callable[[], FinalAnswer]) -> FinalAnswer:
        """Turn what went wrong into an answer that says whose fault it is."""
        try:
            return work()
        except LimitError as error:
            return FinalAnswer("limit", reason=error.message, failure_class=BUDGET, final=not self.budget_is_shared)
        except ModelConfigError:
            raise
        except ModelError as error:
            return self._model_failed(error, error.message)
        except ToolError as error:
            return FinalAnswer("tool", reason=str(error), failure_class=TOOL)
        except CSourceError as error:
            return FinalAnswer("fail", reason=f"{error.where}: {error.message}", failure_class=DESIGN)
        except (ConfigError, RunError):
            raise
        except UsageError as error:
            return FinalAnswer("fail", reason=str(error), failure_class=BENCHMARK_DEFECT)

    def _model_failed(self, error: ModelError, reason: str) -> FinalAnswer:
        own = isinstance(error, _FAULT_OF_THE_MODEL) and not self._replays
        if own:
            return FinalAnswer("fail", reason=reason, failure_class=DESIGN)
        return FinalAnswer("endpoint", reason=reason, failure_class=ENDPOINT)

    @property
    def _replays(self) -> bool:
        return (self.config.model.name or "").startswith("replay:")

    def _model_name(self) -> str | None:
        """Return the model's name; one task's own log where a whole run is replayed."""
        name = self.config.model.name
        place, mark, options = (name or "").removeprefix("replay:").partition("?")
        root = Path(place)
        if not self._replays or not root.is_dir():
            return name
        found = journals(root / self.task_folder)
        if not found:
            raise ModelReplyError(f"{root} has no recorded reply for {self.task_folder}")
        return f"replay:{found[0]}{mark}{options}"

    def _single(self) -> FinalAnswer:
        from rtlagent.agent.replies import UnusableReplyError, read_design
        from rtlagent.models import Budget, for_run

        spec = spec_of(self.problem, self.folder)
        messages = [Message("user", self._single_prompt(spec))]
        provider = self._provider()
        if isinstance(provider, ReplayModel) and not Path(self._place).is_dir():
            for _ in range(self.sample):
                provider.skip(messages, purpose=_PURPOSE)
        with for_run(provider, journal=self.folder / "model.jsonl", budget=Budget(self.config.budget)) as model:
            reply = model.complete(messages, purpose=_PURPOSE)
        try:
            design = read_design(reply.text, default_path=f"rtl/{spec.top or 'design'}.{_suffix(spec)}")
        except UnusableReplyError as error:
            return FinalAnswer(
                "fail", reason=f"the reply is unusable: {error}", failure_class=DESIGN, model=reply.model
            )
        if not design.files:
            return FinalAnswer("fail", reason="the reply holds no file", failure_class=DESIGN, model=reply.model)
        return FinalAnswer("answered", design.files, model=reply.model)

    @property
    def _place(self) -> str:
        return (self.config.model.name or "").removeprefix("replay:").partition("?")[0]

    def _provider(self) -> ModelProvider:
        from rtlagent.models import resolve

        name = self._model_name()
        if name is not None and self._replays and Path(self._place).is_file():
            return _recorded(name, Path(self._place).stat().st_mtime_ns).rewound()
        return resolve(name, self.config.model)

    def _single_prompt(self, spec: Spec) -> str:
        from rtlagent.agent.prompts import Prompts, language_name, spec_prompt

        prompts = Prompts(self.prompts_dir)
        return prompts.render(
            "single",
            specification=spec_prompt(prompts, spec, ()),
            top=spec.top,
            language_name=language_name(spec.language),
            suffix=_suffix(spec),
        )

    def _agent(self) -> FinalAnswer:
        from rtlagent.agent import Continuation, start_run

        config = replace(self.config, runs_dir=self.folder, model=replace(self.config.model, name=self._model_name()))
        run = self._begun() or start_run(spec_of(self.problem, self.folder), config)
        report = Continuation(run, config, draws=False).go()
        return self._from_report(run, report)

    def _from_c(self) -> FinalAnswer:
        from rtlagent.agent.from_c import CRun, choose_top, start_c_run

        config = replace(self.config, runs_dir=self.folder)
        run = self._begun()
        if run is None:
            spec = spec_of(self.problem, self.folder)
            run = start_c_run(replace(spec, top=choose_top(spec, config.tools)), config)
        return self._from_report(run, CRun(run, config, draws=False).go())

    def _begun(self) -> Run | None:
        from rtlagent.workspace import Run

        found = sorted(p.parent for p in self.folder.glob("*/spec.json") if p.parent.name != SPEC_FOLDER)
        return Run(found[-1]) if found else None

    def _from_report(self, run: Run, report: RunReport) -> FinalAnswer:
        reason = report.record.exit_reason
        verdict = report.verdict
        files = _files_below(run.folder / "rtl") if report.files else ()
        answer = FinalAnswer(
            _OUTCOME.get(reason, reason),
            files,
            own_verdict=verdict.passed if verdict is not None and files else None,
            grade=verdict.grade.value if verdict is not None else "",
            reason=report.reason,
            iterations=report.record.iterations,
            model=_model_said(run),
        )
        if reason == "model":
            kind = next((e["kind"] for e in reversed(run.events()) if e["event"] == "model_failed"), "")
            own = kind in {c.__name__ for c in _FAULT_OF_THE_MODEL} and not self._replays
            return replace(answer, outcome="fail" if own else "endpoint", failure_class=DESIGN if own else ENDPOINT)
        if reason == "tool":
            return replace(answer, failure_class=TOOL)
        if reason == "limit":
            limit = self.config.budget.max_iterations
            all_tried = limit is not None and report.record.iterations >= limit
            final = all_tried or not self.budget_is_shared
            return replace(answer, failure_class="" if all_tried else BUDGET, final=final)
        return answer


@lru_cache(maxsize=2)
def _recorded(name: str, _changed_ns: int) -> ReplayModel:
    """Read a log once a process: the tasks of a run share it."""
    from rtlagent.config import ModelConfig
    from rtlagent.models import resolve

    model = resolve(name, ModelConfig())
    assert isinstance(model, ReplayModel)
    return model


@cache
def _require_prompts(prompts_dir: Path | None, sha256: str) -> None:
    """Check once a process that a machine has the same prompts."""
    from rtlagent.agent.prompts import Prompts

    if Prompts(prompts_dir).sha256() != sha256:
        where = str(prompts_dir or "the prompts that rtlagent ships")
        hint = "every machine needs the same rtlagent and the same prompts; a resumed run needs those it began with"
        raise UsageError("the prompts differ from those that the run began with", where=where, hint=hint)


def _files_below(root: Path) -> tuple[SourceFile, ...]:
    """Return the published design, paths from `rtl/` on."""
    found = sorted(p for p in root.rglob("*") if p.is_file())
    return tuple(SourceFile(f"rtl/{p.relative_to(root).as_posix()}", p.read_text(encoding="utf-8")) for p in found)


def _model_said(run: Run) -> str:
    return str(next((e["model"] for e in run.events() if e["event"] == "model_reply"), ""))


def _suffix(spec: Spec) -> str:
    return "sv" if spec.language == "systemverilog" else "v"
