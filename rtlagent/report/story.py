"""Put a run's pieces together: what was asked, each attempt, how it ended; also where the run was killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rtlagent.report.folder import Event, RunFolder
from rtlagent.report.iterations import Attempt, Iteration, best_of, entries, read_iterations, usage_of, verdict_of
from rtlagent.types import (
    Clock,
    Diagnostic,
    LoopReport,
    LoopSchedule,
    Metrics,
    Port,
    Requirements,
    Reset,
    RunRecord,
    Spec,
    Usage,
    Verdict,
)

UNFINISHED = "unfinished"


@dataclass(frozen=True)
class Assumption:
    """Something that the specification left open."""

    question: str
    assumption: str
    reason: str = ""


@dataclass(frozen=True)
class Compiled:
    """What the compiler made of a C function; the same fields as in report.json."""

    source: str
    function: str
    target: str
    clock_ns: float
    loops: tuple[LoopReport, ...]
    latency_min_cycles: int | None
    latency_max_cycles: int | None
    estimate: Metrics
    diagnostics: tuple[Diagnostic, ...]
    schedules: tuple[LoopSchedule, ...] = ()


@dataclass(frozen=True)
class _Evidence:
    oracle_sha: str | None = None
    seed: int | None = None
    checked_cycles: int = 0
    tool_versions: Mapping[str, str] = field(default_factory=dict)
    prompts_sha: str = ""


@dataclass(frozen=True)
class Talk:
    """What was spent on one kind of question to the model."""

    purpose: str
    replies: int
    usage: Usage


@dataclass(frozen=True)
class Story:
    """Everything that a report tells of a run."""

    id: str
    name: str
    top: str
    is_c: bool
    outcome: str
    """`pass`, `fail`, `limit`, `tool`, `model`, `interrupted` or `unfinished`."""
    reason: str
    model: str
    model_answered: str
    """As the endpoint called itself."""
    request: str
    started_at: float | None
    seconds: float | None
    sessions: int
    spec: Spec | None
    requirements: Requirements
    verdict: Verdict | None
    """Of the best attempt."""
    best: Iteration | None
    iterations: tuple[Iteration, ...]
    assumptions: tuple[Assumption, ...]
    decisions: tuple[tuple[str, ...], ...]
    rulings: tuple[tuple[str, ...], ...]
    """[failure signature, wrong side, reason]."""
    usage: Usage
    talks: tuple[Talk, ...]
    oracle: str
    """How the golden model was received."""
    oracle_detail: str
    seed: int | None
    prompts_sha: str
    spec_sha: str
    tool_versions: tuple[str, ...]
    compiled: Compiled | None
    remarks: tuple[tuple[float, str], ...]
    """Seconds since the start, and what happened beside the attempts."""


def read_story(folder: RunFolder) -> Story:
    """Return what the folder tells; damaged parts are left out and noted in `folder.problems`."""
    report = folder.json_of("report.json")
    report = report if isinstance(report, dict) else {}
    spec_file = folder.json_of("spec.json")
    spec = folder.record(Spec, spec_file.get("spec") if isinstance(spec_file, dict) else None, "spec.json")
    understood = next((e for e in reversed(folder.events) if e["event"] == "understood"), {})
    spec = _completed(folder, spec, understood) if spec is not None else None
    settings = folder.json_of("settings.json")
    events = folder.events
    started = [e for e in events if e["event"] == "started"]
    ended = _ended(events)
    record = folder.record(RunRecord, report.get("record"), "report.json (record)")
    is_c = (isinstance(settings, dict) and "c" in settings) or (spec is not None and spec.c_source is not None)
    attempts = [a for v in entries(report, "attempts") if (a := folder.record(Attempt, v, "report.json (attempts)"))]
    iterations = read_iterations(folder, attempts, is_c=is_c)
    verdict = folder.record(Verdict, report.get("verdict"), "report.json (verdict)")
    outcome = record.exit_reason if record is not None and ended is not None else _outcome(events)
    best = best_of(iterations, verdict, outcome)
    verdict = verdict or verdict_of(best)
    oracle = next((e for e in reversed(events) if e["event"] == "oracle"), {})
    evidence = folder.record(_Evidence, report.get("evidence"), "report.json (evidence)") or _Evidence()
    talks = tuple(_talks(events))
    requirements = folder.record(Requirements, report.get("requirements"), "report.json (requirements)")
    seed = evidence.seed if evidence.seed is not None else _seed(settings)
    return Story(
        id=folder.path.resolve().name,
        name=str(report.get("name") or (spec.name if spec else folder.path.resolve().name)),
        top=str(report.get("top") or understood.get("top") or (spec.top if spec and spec.top else "")),
        is_c=is_c,
        outcome=outcome,
        reason=str(report.get("reason") or (ended or {}).get("reason") or ""),
        model=str((started[-1].get("model") if started else "") or ""),
        model_answered=", ".join(dict.fromkeys(str(e["model"]) for e in events if _is_reply(e) and e.get("model"))),
        request=str(report.get("request") or understood.get("request") or ""),
        started_at=float(events[0]["time"]) if events else None,
        seconds=_seconds(events),
        sessions=len(started),
        spec=spec,
        requirements=requirements or (spec.requirements if spec else Requirements()),
        verdict=verdict,
        best=best,
        iterations=tuple(replace(i, best=i is best) for i in iterations),
        assumptions=tuple(_assumptions(folder, entries(report, "assumptions") or entries(understood, "assumptions"))),
        decisions=_texts(report, "decisions"),
        rulings=_texts(report, "rulings") or tuple(_rulings(events)),
        usage=record.usage if record is not None else sum((t.usage for t in talks), Usage()),
        talks=talks,
        oracle=f"{oracle.get('status', '')} {oracle.get('summary', '')}".strip(),
        oracle_detail=str(oracle.get("detail", "")),
        seed=seed,
        prompts_sha=evidence.prompts_sha,
        spec_sha=record.spec_sha if record is not None else "",
        tool_versions=tuple(dict.fromkeys(s.tool_version for i in iterations for s in i.steps if s.tool_version)),
        compiled=folder.record(Compiled, report.get("hls"), "report.json (hls)"),
        remarks=tuple(_remarks(events)),
    )


def _completed(folder: RunFolder, spec: Spec, understood: Event) -> Spec:
    """Return the spec with the ports, the clock and the reset that the model found, where it names none."""
    found = [folder.record(Port, p, "a port") for p in entries(understood, "ports")]
    clock = folder.record(Clock, understood.get("clock"), "the clock")
    reset = folder.record(Reset, understood.get("reset"), "the reset")
    ports = tuple(p for p in found if p is not None)
    widths = {p.name: p.width for p in ports}
    fixed = tuple(replace(p, width=widths.get(p.name)) if p.width is None else p for p in spec.ports)
    names = {p.name for p in fixed or ports}
    return replace(
        spec,
        ports=fixed or ports,
        clock=spec.clock or (clock if clock and clock.port in names else None),
        reset=spec.reset or (reset if reset and reset.port in names else None),
    )


def _texts(report: Mapping[str, Any], key: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(str(t) for t in row) for row in entries(report, key) if isinstance(row, list))


def _rulings(events: Sequence[Event]) -> Iterator[tuple[str, ...]]:
    for event in events:
        if event["event"] == "ruling":
            yield "", str(event.get("wrong", "")), str(event.get("reason", ""))


def _assumptions(folder: RunFolder, values: Sequence[object]) -> Iterator[Assumption]:
    for value in values:
        found = folder.record(Assumption, value, "an assumption")
        if found is not None:
            yield found


def _seed(settings: object) -> int | None:
    groups = settings.values() if isinstance(settings, dict) else ()
    return next((g["seed"] for g in groups if isinstance(g, dict) and isinstance(g.get("seed"), int)), None)


def _ended(events: Sequence[Event]) -> Event | None:
    """Return the last `ended`, unless the run was taken up again after it."""
    last = next((e for e in reversed(events) if e["event"] in ("ended", "started", "interrupted")), None)
    return last if last is not None and last["event"] == "ended" else None


def _outcome(events: Sequence[Event]) -> str:
    last = next((e for e in reversed(events) if e["event"] in ("ended", "started", "interrupted")), None)
    if last is None or last["event"] == "started":
        return UNFINISHED
    return str(last.get("outcome", "")) if last["event"] == "ended" else "interrupted"


def _seconds(events: Sequence[Event]) -> float | None:
    """Return the time of all sessions, pauses between them left out."""
    total, begun, last = 0.0, None, None
    for event in events:
        if event["event"] == "started":
            total += (last - begun) if begun is not None and last is not None else 0.0
            begun = event["time"]
        last = event["time"]
    return total + last - begun if begun is not None and last is not None else None


def _is_reply(event: Event) -> bool:
    return bool(event["event"] == "model_reply")


def _talks(events: Sequence[Event]) -> Iterator[Talk]:
    found: dict[str, list[Usage]] = {}
    for event in events:
        if _is_reply(event):
            found.setdefault(str(event.get("purpose", "")), []).append(usage_of(event))
    for purpose, usages in found.items():
        yield Talk(purpose, len(usages), sum(usages, Usage()))


_TOLD: Mapping[str, Callable[[Event], str]] = {
    "unusable_reply": lambda e: f"unusable answer ({e.get('purpose', '')}): {e.get('problem', '')}",
    "no_oracle": lambda e: f"no golden model: {e.get('reason', '')}",
    "dispute": lambda e: f"the model disputes the golden model: {e.get('reason', '')}",
    "ruling": lambda e: f"ruling: {e.get('wrong', '')} is wrong. {e.get('reason', '')}",
    "prompt_shortened": lambda e: "the prompt was too long; the conversation was started again from the specification",
    "model_failed": lambda e: f"the model could not be asked: {e.get('kind', '')}",
    "interrupted": lambda e: "interrupted",
    "verdict_unavailable": lambda e: f"the verdict could not be confirmed: {e.get('reason', '')}",
    "oracle": lambda e: f"golden model: {e.get('status', '')} {e.get('summary', '')}".rstrip(),
}


def _remarks(events: Sequence[Event]) -> Iterator[tuple[float, str]]:
    start = events[0]["time"] if events else 0.0
    for number, event in enumerate(events):
        told = _TOLD.get(event["event"])
        if told is not None:
            yield event["time"] - start, told(event)
        elif event["event"] == "model" and event.get("kind") != "reused":
            yield event["time"] - start, f"model: {event.get('message', '')} ({event.get('purpose', '')})"
        elif event["event"] == "started" and number:
            yield event["time"] - start, "taken up again"
