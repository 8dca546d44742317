"""A run's attempts at the design, from its events; those of report.json, where there is one, are the last word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from rtlagent.report.folder import Event, RunFolder
from rtlagent.types import Grade, Metrics, Status, StepResult, Unmet, Usage, Verdict


@dataclass(frozen=True)
class Attempt:
    """An entry of report.json's `attempts`."""

    iteration: int
    sha: str
    parent: str = ""
    step: str = ""
    note: str = ""
    score: tuple[float, ...] = ()


@dataclass(frozen=True)
class Iteration:
    """One attempt at the design."""

    number: int
    sha: str
    """Of its files; empty: not known."""
    parent: str
    steps: tuple[StepResult, ...] = ()
    """In the order in which the gates ran."""
    passed: bool | None = None
    """None: it was not judged to the end."""
    failed_at: str = ""
    note: str = ""
    metrics: Metrics = field(default_factory=Metrics)
    unmet: tuple[Unmet, ...] = ()
    tests: int = 0
    tests_passed: int = 0
    usage: Usage = field(default_factory=Usage)
    """Spent since the attempt before it was judged."""
    seconds: float | None = None
    following: str = ""
    """What was decided next."""
    oracle_sha: str = ""
    """What judged it; empty: not known."""
    best: bool = False

    @property
    def failing(self) -> StepResult | None:
        """The first gate that did not pass."""
        return next((s for s in self.steps if s.status not in (Status.PASS, Status.SKIPPED)), None)


def read_iterations(folder: RunFolder, attempts: Sequence[Attempt], *, is_c: bool) -> tuple[Iteration, ...]:
    """Return the attempts in order; `attempts` are those of report.json."""
    found = list(_of_compilations(folder) if is_c else _of_judgements(folder))
    by_number = {i.number: i for i in found}
    for attempt in attempts:
        known = by_number.get(attempt.iteration) or Iteration(attempt.iteration, attempt.sha, attempt.parent)
        # No gate may have failed, and the figures not be what was required: of C, the score says so.
        whole = attempt.score[:1] == (1.0,) if is_c else not attempt.step
        passed = known.passed if known.passed is not None else whole
        by_number[attempt.iteration] = replace(
            known,
            sha=attempt.sha or known.sha,
            parent=attempt.parent or known.parent,
            failed_at=attempt.step or known.failed_at,
            note=attempt.note or known.note,
            passed=passed,
        )
    return tuple(by_number[n] for n in sorted(by_number))


def _of_judgements(folder: RunFolder) -> Iterator[Iteration]:
    """Yield the attempts of a model; one that was judged twice, as it happens after a kill, counts once."""
    found: dict[int, Iteration] = {}
    current: Iteration | None = None
    spent, oracle = Usage(), ""
    steps: list[StepResult] = []
    begun: float | None = None
    for event in folder.events:
        match event["event"]:
            case "model_reply":
                spent += usage_of(event)
            case "oracle":
                oracle = str(event.get("sha", ""))
            case "judging":
                current = Iteration(_number(event), str(event.get("sha", "")), "", usage=spent, oracle_sha=oracle)
                steps, begun = [], event["time"]
                found.setdefault(current.number, current)
            case "step" if current is not None:
                steps.append(_step(folder, event, log=event.get("log_path")))
                if found[current.number].passed is None:
                    found[current.number] = replace(current, steps=tuple(steps))
            case "iteration":
                judged = _judged(folder, event, current, tuple(steps), spent)
                if judged is not None:
                    seconds = event["time"] - begun if begun is not None else None
                    found[judged.number] = replace(judged, seconds=seconds, oracle_sha=oracle)
                current, spent = None, Usage()
            case "decision" if found:
                last = max(found)
                following = f"{event.get('next', '')} {event.get('reason', '')}".strip()
                found[last] = replace(found[last], following=following)
    yield from found.values()


def _judged(
    folder: RunFolder, event: Event, current: Iteration | None, steps: tuple[StepResult, ...], spent: Usage
) -> Iteration | None:
    attempt = folder.record(Attempt, event.get("attempt"), "an attempt in events.jsonl")
    verdict = event.get("verdict")
    if attempt is None or not isinstance(verdict, dict):
        return None
    unmet = [folder.record(Unmet, u, "an unmet requirement") for u in entries(verdict, "unmet")]
    return Iteration(
        attempt.iteration,
        attempt.sha,
        attempt.parent,
        steps=steps if current is not None else (),
        passed=verdict.get("passed") is True,
        failed_at=attempt.step,
        note=attempt.note,
        metrics=folder.record(Metrics, verdict.get("metrics"), "an attempt's figures") or Metrics(),
        unmet=tuple(u for u in unmet if u is not None),
        tests=int(verdict.get("tests") or 0),
        tests_passed=int(verdict.get("tests_passed") or 0),
        usage=spent,
    )


def _of_compilations(folder: RunFolder) -> Iterator[Iteration]:
    """Yield the attempts of the compiler, with what the gates said; a session starts to count anew."""
    found: dict[int, Iteration] = {}
    number = 0
    for event in folder.events:
        match event["event"]:
            case "started":
                number = 0
            case "compiled":
                number += 1
                found[number] = Iteration(number, "", "")
            case "gate" if number:
                found[number] = _with_gate(folder, found[number], event)
    yield from found.values()


def _with_gate(folder: RunFolder, iteration: Iteration, event: Event) -> Iteration:
    log = str(event.get("log") or "")
    steps = (*iteration.steps, _step(folder, event, log=log))
    sha = iteration.sha or (folder.sha_of(log.split("/")[1]) if log.count("/") > 1 else "")
    failing = next((s.step for s in steps if s.status not in (Status.PASS, Status.SKIPPED)), "")
    return replace(
        iteration,
        sha=sha,
        steps=steps,
        failed_at=failing,
        passed=False if failing else iteration.passed,
        metrics=Verdict(False, Grade.NONE, steps).metrics,
        tests=sum(len(s.tests) for s in steps),
        tests_passed=sum(t.status is Status.PASS for s in steps for t in s.tests),
        seconds=(iteration.seconds or 0.0) + steps[-1].wall_s,
    )


def _number(event: Event) -> int:
    value = event.get("iteration")
    return value if isinstance(value, int) else 0


def _step(folder: RunFolder, event: Event, *, log: object) -> StepResult:
    """Return the step that an event tells of, as a whole if its result was kept."""
    name, wall_s = str(event.get("step", "")), event.get("wall_s")
    seconds = float(wall_s) if isinstance(wall_s, int | float) else 0.0
    log_path = str(log) if log else None
    kept = folder.step(name, seconds, log_path or "")
    if kept is not None:
        return kept
    status = str(event.get("status", ""))
    return StepResult(
        name,
        Status(status) if status in Status.__members__ else Status.ERROR,
        argv=tuple(str(a) for a in entries(event, "argv")),
        log_path=log_path,
        wall_s=seconds,
        tool_version=str(event.get("tool_version", "")),
    )


def best_of(iterations: Sequence[Iteration], verdict: Verdict | None, outcome: str) -> Iteration | None:
    """Return the attempt that report.json's verdict is of; without one, the one that came furthest."""
    if not iterations:
        return None
    if verdict is not None:
        kept = [s.log_path for s in verdict.steps if s.log_path]
        own = [i for i in iterations if kept and any(s.log_path in kept for s in i.steps)]
        if own:
            return own[-1]
        if outcome == "pass":
            return iterations[-1]
    return max(iterations, key=lambda i: (i.passed is True, sum(s.passed for s in i.steps), i.tests_passed, i.number))


def verdict_of(best: Iteration | None) -> Verdict | None:
    """Return what the events tell of a verdict that no report holds."""
    if best is None or not best.steps:
        return None
    return Verdict(best.passed is True, Grade.NONE, best.steps, best.unmet, "the run has not ended")


def usage_of(event: Event) -> Usage:
    """Return what a model's reply took; a cost that cannot be read is unknown."""
    with suppress(TypeError, KeyError):
        return Usage(**event["usage"])
    return Usage(cost_usd=None)


def entries(value: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under a key; empty where there is none."""
    found = value.get(key)
    return found if isinstance(found, list) else []
