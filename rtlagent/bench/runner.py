"""Run all tasks of a plan: answer, then score, many at a time, with one writer of results.

Everything that a task makes lies in its folder before its result is written, and a job that finds its result
there returns it at once: so a run may be killed at any moment and goes on without repeating anything.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtlagent import errors
from rtlagent.bench.allotment import Allotment
from rtlagent.bench.executors import Done, Executor, Failure, Job
from rtlagent.bench.problem import ENDPOINT, TOOL, Problem, Score
from rtlagent.bench.progress import View
from rtlagent.bench.result import RETRIED, Result, result_of, unanswered
from rtlagent.bench.run_folder import About, RunFolder
from rtlagent.bench.store import Store
from rtlagent.bench.store.base import Brief
from rtlagent.bench.tasks import FinalAnswer, GenerateJob, Plan, ScoreJob, Task, folder_of, tasks_of
from rtlagent.bench.tasks.final_answer import forget, spent_in
from rtlagent.config import BudgetConfig, Config
from rtlagent.errors import EXIT_LIMIT, EXIT_PASS, EXIT_TOOL, ModelUnavailableError, RtlagentError
from rtlagent.types import Status, Usage

_WAIT_S = 0.5
_WRITE_S = 0.2
"""Results wait so long for others, to be written with them; they are in their tasks' folders already."""
_NOTE_S = 5.0
_FATAL = ("ModelConfigError", "ConfigError", "UsageError", "SandboxError", "ToolMissingError")
"""What went wrong there goes wrong with every task."""
_ENDPOINT_FAILURES = 10
"""So many tasks in a row that could not ask the model end the session."""


@dataclass(frozen=True)
class Ending:
    """How a session ended."""

    finished: int
    """Tasks, earlier sessions included."""
    total: int
    errors: int
    """Finished tasks that a tool or the endpoint has spoilt."""
    spent: Usage
    limit: str
    """Which limit left tasks undone; empty: none."""

    @property
    def exit_code(self) -> int:
        """0: every task has a score; 3: a limit was reached; 4: some have none because of errors."""
        if self.finished < self.total:
            return EXIT_LIMIT
        return EXIT_TOOL if self.errors else EXIT_PASS


@dataclass(frozen=True)
class Session:
    """What a session works with."""

    folder: RunFolder
    about: About
    problems: Mapping[str, Problem]
    config: Config
    """Of the model and the tools; limits, seed and the like come from the plan."""
    retry_errors: bool = False
    prompts_dir: Path | None = None
    check_data: bool = False
    """Other machines score: each is to check that it has the same suite."""

    @property
    def plan(self) -> Plan:
        """The run's."""
        return self.about.plan


@dataclass(frozen=True)
class _Flight:
    task: Task
    answer: FinalAnswer | None
    """None: it is being made."""


class Runner:
    """One session of a run."""

    def __init__(self, session: Session, executor: Executor, store: Store, view: View) -> None:
        self._session = session
        self._executor = executor
        self._store = store
        self._view = view
        self._to_answer: deque[Task] = deque()
        self._to_score: deque[tuple[Task, FinalAnswer]] = deque()
        self._flights: dict[str, _Flight] = {}
        self._stopped: list[Task] = []
        self._new: list[Result] = []
        self._finished = 0
        self._errors = 0
        self._endpoint_failures = 0
        self._allotment = Allotment(BudgetConfig(), session.plan.limits, spent=Usage(), elapsed_s=0.0)

    def go(self) -> Ending:
        """Work until nothing is left, or nothing more may be spent.

        Raises:
            UsageError, ModelConfigError, SandboxError, ToolMissingError: what is wrong for all tasks alike.
            ModelUnavailableError: the endpoint is down.
        """
        self._begin()
        noted = written = time.monotonic()
        try:
            while True:
                self._dispatch()
                if not self._flights:
                    break
                for done in self._executor.wait(_WAIT_S):
                    self._take(done)
                now = time.monotonic()
                if now - written > _WRITE_S:
                    self._write()
                    written = now
                    answering = sum(f.answer is None for f in self._flights.values())
                    self._view.tick(answering, len(self._flights) - answering)
                if now - noted > _NOTE_S:
                    self._session.folder.note_elapsed(self._allotment.elapsed_s)
                    noted = now
        finally:
            self._write()
            self._session.folder.note_elapsed(self._allotment.elapsed_s)
        total = self._finished + len(self._to_answer) + len(self._stopped)
        limit = self._allotment.used_up() if total > self._finished else ""
        return Ending(self._finished, total, self._errors, self._allotment.spent, limit)

    def _begin(self) -> None:
        """Find out what is left to do and what was spent."""
        session, plan = self._session, self._session.plan
        finished = {b.task: b for b in self._store.briefs(session.about.id)}
        if session.retry_errors:
            self._forget([b for b in finished.values() if b.failure_class in RETRIED])
            finished = {t: b for t, b in finished.items() if b.failure_class not in RETRIED}
        spent = sum((b.usage for b in finished.values()), Usage())
        before: dict[Task, Usage] = {}
        begun = {p.name for p in session.folder.path.glob("tasks/*")}
        for task in tasks_of(plan):
            if task not in finished:
                self._to_answer.append(task)
                folder = folder_of(session.folder.path, task)
                usage = spent_in(folder) if folder.parent.name in begun else Usage()
                if usage != Usage():
                    before[task] = usage
                    spent += usage
        limits = session.about.budget
        elapsed_s = session.folder.elapsed_s()
        self._allotment = Allotment(limits, plan.limits, spent=spent, elapsed_s=elapsed_s)
        for task, usage in before.items():
            self._allotment.remember(task, usage)
        self._finished = len(finished)
        self._errors = sum(b.failure_class in RETRIED for b in finished.values())
        title = f"{plan.suite}, {plan.model or 'no model'}, mode {plan.mode}, {plan.samples} of each"
        self._view.begin(len(finished) + len(self._to_answer), finished.values(), title, spent)

    def _forget(self, briefs: Sequence[Brief]) -> None:
        """Make tasks unfinished that an error has spoilt; what the model said stays in their journals."""
        for brief in briefs:
            spoilt = brief.outcome in ("tool", "endpoint")
            forget(folder_of(self._session.folder.path, brief.task), answer=spoilt)
        self._store.drop(self._session.about.id, [b.task for b in briefs])

    def _dispatch(self) -> None:
        """Start what there is room for; scores first, so that few answers wait."""
        slots = self._executor.slots
        while self._to_score and len(self._flights) < slots:
            task, answer = self._to_score.popleft()
            self._start(f"score:{task}", _Flight(task, answer), self._score_job(task, answer))
        while self._to_answer and len(self._flights) < slots:
            task = self._to_answer[0]
            budget = self._allotment.take(task, slots - sum(f.answer is None for f in self._flights.values()))
            if budget is None:
                break
            self._to_answer.popleft()
            self._start(f"answer:{task}", _Flight(task, None), self._generate_job(task, budget))
        if self._stopped and not self._flights:
            # Alone, a stopped task gets all that is left.
            task = self._stopped[0]
            budget = self._allotment.take(task, 1)
            if budget is not None:
                self._stopped.pop(0)
                self._start(f"answer:{task}", _Flight(task, None), self._generate_job(task, budget))

    def _start(self, key: str, flight: _Flight, job: Job) -> None:
        self._flights[key] = flight
        self._executor.submit(key, job)

    def _generate_job(self, task: Task, budget: BudgetConfig) -> GenerateJob:
        session, plan = self._session, self._session.plan
        folder = folder_of(session.folder.path, task)
        return GenerateJob(
            problem=session.problems[task.problem],
            sample=task.sample,
            folder=folder,
            task_folder=folder.relative_to(session.folder.path).as_posix(),
            mode=plan.mode,
            config=replace(session.config, budget=budget, seed=plan.seed + task.sample),
            prompts_dir=session.prompts_dir,
            prompts_sha256=plan.prompts_sha256,
            budget_is_shared=self._allotment.is_limited,
        )

    def _score_job(self, task: Task, answer: FinalAnswer) -> ScoreJob:
        session, plan = self._session, self._session.plan
        problem = session.problems[task.problem]
        return ScoreJob(
            suite=plan.suite,
            path=Path(session.about.suite_path),
            suite_sha256=plan.suite_sha256 if session.check_data else "",
            problem=task.problem,
            files=answer.files,
            folder=folder_of(session.folder.path, task),
            config=session.config.tools,
            simulator=plan.simulator,
            synthesis_top=problem.top if plan.synthesis and problem.c_source is None else None,
            context=problem.context,
        )

    def _take(self, done: Done) -> None:
        flight = self._flights.pop(done.key)
        if done.failure is not None:
            self._failed(flight, done.failure, done.host)
        elif flight.answer is None:
            self._answered(flight.task, done.value, done.host)
        else:
            self._finish(flight.task, flight.answer, done.value, done.host)

    def _answered(self, task: Task, answer: FinalAnswer, host: str) -> None:
        self._allotment.settle(task, answer.usage, final=answer.final)
        if not answer.final:
            self._stopped.append(task)
            return
        score = unanswered(answer)
        if score is None:
            self._to_score.append((task, answer))
        else:
            self._finish(task, answer, score, host)

    def _failed(self, flight: _Flight, failure: Failure, host: str) -> None:
        if failure.expected and failure.kind in _FATAL:
            raise _as_error(failure)
        message = f"{failure.where}: {failure.message}" if failure.where else failure.message
        answer = flight.answer or FinalAnswer("tool", reason=message, failure_class=TOOL)
        if flight.answer is None:
            usage = spent_in(folder_of(self._session.folder.path, flight.task))
            self._allotment.settle(flight.task, usage, final=True)
            answer = replace(answer, usage=usage)
        self._finish(flight.task, answer, Score(Status.ERROR, TOOL, message=message), host)

    def _finish(self, task: Task, answer: FinalAnswer, score: Score, host: str) -> None:
        category = self._session.problems[task.problem].category
        result = result_of(task, category, answer, score, finished_at=time.time(), host=host)
        self._new.append(result)
        self._finished += 1
        self._errors += result.failure_class in RETRIED
        self._view.took(result, self._allotment.spent)
        self._endpoint_failures = self._endpoint_failures + 1 if result.failure_class == ENDPOINT else 0
        if self._endpoint_failures >= max(_ENDPOINT_FAILURES, 2 * self._executor.slots):
            hint = "when it answers again: rtlagent bench resume DIR --retry errors"
            message = f"the endpoint failed for {self._endpoint_failures} tasks in a row: {result.message}"
            raise ModelUnavailableError(message, hint=hint)

    def _write(self) -> None:
        new, self._new = self._new, []
        self._store.write(self._session.about.id, new)


def _as_error(failure: Failure) -> RtlagentError:
    """Return a job's expected exception as it was."""
    kind: type[RtlagentError] = getattr(errors, failure.kind)
    return kind(failure.message, where=failure.where, hint=failure.hint)
