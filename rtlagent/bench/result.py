"""What a finished task is in the results base: the answer and its score, joined."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rtlagent.bench.problem import BENCHMARK_DEFECT, BUDGET, DESIGN, ENDPOINT, FAILURE_CLASSES, TESTBENCH, TOOL, Score
from rtlagent.bench.tasks import FinalAnswer, Task
from rtlagent.models.recording import without_surrogates
from rtlagent.types import Metrics, Status, Usage

__all__ = ["FAILURE_CLASSES", "RETRIED", "Result", "result_of", "unanswered"]

RETRIED = (TOOL, ENDPOINT)
"""Failure classes that `--retry errors` repeats: they say nothing about the model."""
_LONGEST_MESSAGE = 4000


@dataclass(frozen=True)
class Result:
    """One finished task."""

    problem: str
    sample: int
    category: str
    status: Status
    """Of the hidden tests; FAIL as well where there is no answer to be tested."""
    failure_class: str
    """One of FAILURE_CLASSES; empty for PASS."""
    outcome: str
    """How the answering side ended: see FinalAnswer."""
    own_verdict: bool | None
    """Our own gates' judgement; None: they did not judge."""
    grade: str
    syntax: bool | None
    simulation: bool | None
    synthesis: bool | None
    iterations: int | None
    usage: Usage
    metrics: Metrics
    message: str
    answer_sha256: str
    """Empty: there is no answer."""
    model: str
    """As the endpoint called itself."""
    tool_versions: tuple[str, ...]
    generate_s: float
    score_s: float
    finished_at: float
    """Seconds since 1970."""
    host: str = field(default="", compare=False)

    @property
    def task(self) -> Task:
        """The task that it is of."""
        return Task(self.problem, self.sample)

    @property
    def passed(self) -> bool:
        """The hidden tests passed."""
        return self.status is Status.PASS

    @property
    def counts(self) -> bool:
        """It says something about the model: an error of a tool or an endpoint, or a defect of the suite, does not."""
        return self.status is not Status.ERROR and self.failure_class not in (*RETRIED, BENCHMARK_DEFECT)


def unanswered(answer: FinalAnswer) -> Score | None:
    """Return the score of an answer that there is nothing to test of; None: there is."""
    if answer.outcome in ("tool", "endpoint"):
        return Score(Status.ERROR, answer.failure_class or TOOL, message=answer.reason)
    if answer.files:
        return None
    if answer.failure_class == BENCHMARK_DEFECT:
        return Score(Status.ERROR, BENCHMARK_DEFECT, message=answer.reason)
    return Score(Status.FAIL, answer.failure_class or DESIGN, message=answer.reason or "there is no answer")


def result_of(task: Task, category: str, answer: FinalAnswer, score: Score, *, finished_at: float, host: str) -> Result:
    """Join an answer with its score and say whose fault a failure is.

    A design that our own gates have passed and the hidden tests do not is the fault of our testbench; one that
    was cut short by a limit is the budget's.
    """
    failure = score.failure_class
    if score.status is not Status.PASS and failure in ("", DESIGN):
        failure = TESTBENCH if answer.own_verdict else BUDGET if answer.failure_class == BUDGET else DESIGN
    return Result(
        problem=task.problem,
        sample=task.sample,
        category=category,
        status=score.status,
        failure_class="" if score.status is Status.PASS else failure,
        outcome=answer.outcome,
        own_verdict=answer.own_verdict,
        grade=answer.grade,
        syntax=score.syntax,
        simulation=score.simulation,
        synthesis=score.synthesis,
        iterations=answer.iterations,
        usage=answer.usage,
        metrics=score.metrics,
        message=_storable(score.message or answer.reason),
        answer_sha256=answer.sha256 if answer.files else "",
        model=_storable(answer.model),
        tool_versions=score.tool_versions,
        generate_s=answer.wall_s,
        score_s=score.wall_s,
        finished_at=finished_at,
        host=host,
    )


def without_times(result: Result) -> Result:
    """Return what two runs of the same recording have in common."""
    return replace(result, generate_s=0.0, score_s=0.0, finished_at=0.0, host="")


def _storable(text: str) -> str:
    """Return a text that every database takes, cut where nobody reads on."""
    text = without_surrogates(text).replace("\0", "\ufffd")
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
