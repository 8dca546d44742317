"""Score many answers side by side, and sum up."""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.answers import Answer, Answers
from rtlagent.bench.problem import BENCHMARK_DEFECT, DESIGN, TOOL, Problem, Score
from rtlagent.bench.suites import suite
from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, SandboxError, ToolMissingError, UsageError
from rtlagent.tools import sandbox
from rtlagent.types import Status

_WORKERS_PER_JOB = 2
_PR_SET_PDEATHSIG = 1
SIMULATORS = ("auto", "icarus", "verilator")
NO_ANSWER = "no answer was given"


@dataclass(frozen=True)
class Scored:
    """The score of one sample."""

    problem: str
    sample: int
    category: str
    score: Score
    missing: bool = False
    """There was no answer; it counts as not passed."""


@dataclass(frozen=True)
class Rate:
    """How many of how many, and the mean over problems of each one's share of passing samples (pass@1)."""

    problems: int
    solved: int
    """Problems with at least one passing sample."""
    answers: int
    passed: int
    pass_rate: float | None
    """None: there is no problem."""


@dataclass(frozen=True)
class Summary:
    """All scores of a suite in a few figures."""

    all: Rate
    valid: Rate
    """Without the problems whose own design does not pass its test."""
    syntax: float | None
    """Share of the answers that compile, of those where that was found out."""
    failure_classes: Mapping[str, int]
    defects: tuple[str, ...]
    """Problems with a benchmark defect."""


@dataclass(frozen=True)
class ScoringJob:
    """Which suite is scored, and how."""

    suite: str
    path: Path
    config: ToolConfig
    simulator: str = "auto"
    keep_dir: Path | None = None
    """A folder for each answer is made below it; None: no logs are kept."""


def score_answers(job: ScoringJob, problems: Sequence[Problem], answers: Answers, *, jobs: int = 1) -> Iterator[Scored]:
    """Score the answers with `jobs` worker processes; give each score as soon as it is there, in any order.

    Raises:
        UsageError: there is no such suite or simulator.
        SandboxError, ToolMissingError: nothing could be run.
    """
    suite(job.suite)
    if job.simulator not in SIMULATORS:
        raise UsageError(f"there is no simulator {job.simulator!r}", hint=f"choose from {', '.join(SIMULATORS)}")
    categories = {p.name: p.category for p in problems}
    for name in answers.missing:
        none = Score(Status.FAIL, DESIGN, message=NO_ANSWER)
        yield Scored(name, 0, categories.get(name, ""), none, missing=True)
    for answer, score in _scores(job, answers.found, jobs):
        yield Scored(answer.problem, answer.sample, categories.get(answer.problem, ""), score)


def _scores(job: ScoringJob, answers: Sequence[Answer], jobs: int) -> Iterator[tuple[Answer, Score]]:
    if len(answers) <= 1:
        for answer in answers:
            yield answer, score_one(job, answer)
        return
    # A fork has everything imported; a process with threads must not be forked.
    method = "fork" if threading.active_count() == 1 else "forkserver"
    context = multiprocessing.get_context(method)
    # While one worker runs its tools another one makes the next sandbox, which is mostly waiting.
    turns = context.BoundedSemaphore(jobs)
    workers = min(_WORKERS_PER_JOB * jobs, len(answers))
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(turns,))
    try:
        running: dict[Future[Score], Answer] = {pool.submit(score_one, job, a): a for a in answers}
        for done in as_completed(running):
            yield running.pop(done), done.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def score_one(job: ScoringJob, answer: Answer) -> Score:
    """Score one answer; a tool that breaks over it, or a damaged problem, concerns no other.

    Raises:
        SandboxError, ToolMissingError: nothing can be run at all.
    """
    keep = None if job.keep_dir is None else job.keep_dir / f"{answer.problem}_sample{answer.sample:02}"
    try:
        return suite(job.suite).score(
            job.path, answer.problem, answer.files, config=job.config, simulator=job.simulator, keep_dir=keep
        )
    except (SandboxError, ToolMissingError):
        raise
    except UsageError as error:
        return Score(Status.FAIL, BENCHMARK_DEFECT, message=str(error))
    except RtlagentError as error:
        return Score(Status.ERROR, TOOL, message=str(error))


def _start_worker(turns: AbstractContextManager[object]) -> None:
    """Let a worker end with the process that started it, however that ends, and share the turns with the others."""
    sandbox.take_turns(turns)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def summarize(scored: Sequence[Scored]) -> Summary:
    """Sum up the scores of one suite."""
    defects = sorted({s.problem for s in scored if s.score.failure_class == BENCHMARK_DEFECT})
    known = [s.score.syntax for s in scored if s.score.syntax is not None]
    return Summary(
        all=_rate(scored),
        valid=_rate([s for s in scored if s.problem not in defects]),
        syntax=sum(known) / len(known) if known else None,
        failure_classes=dict(sorted(Counter(s.score.failure_class for s in scored if s.score.failure_class).items())),
        defects=tuple(defects),
    )


def _rate(scored: Sequence[Scored]) -> Rate:
    outcomes: dict[str, list[bool]] = {}
    for one in scored:
        outcomes.setdefault(one.problem, []).append(one.score.status is Status.PASS)
    answers = [s for s in scored if not s.missing]
    return Rate(
        problems=len(outcomes),
        solved=sum(any(o) for o in outcomes.values()),
        answers=len(answers),
        passed=sum(s.score.status is Status.PASS for s in answers),
        pass_rate=sum(sum(o) / len(o) for o in outcomes.values()) / len(outcomes) if outcomes else None,
    )
