"""What belongs to one event of a run: the tool's words and log, the model's, the design and what changed of it."""

from __future__ import annotations

import json
import os
import shlex
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtlagent.cli.view_events import Entry, Event, LineFile, Timeline, first_line
from rtlagent.errors import RunError
from rtlagent.report.changes import changes
from rtlagent.report.folder import RunFolder
from rtlagent.report.text import size
from rtlagent.types import Metrics, Severity, SourceFile, Status, StepResult

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDING_S = 0.0051
"""Events tell times to 10 ms at least."""
_MOST_CHARS = 400_000
"""Of one text; what a log holds has no such limit."""
_TAIL_BYTES = 2_000
_CHANGE_STYLES = {"added": "green", "removed": "red", "gap": "cyan", "same": ""}
_SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_STATUS_STYLES = {Status.PASS: "bold green", Status.SKIPPED: "dim", Status.UNPROVEN: "bold yellow"}


@dataclass(frozen=True)
class Text:
    """A text that is at hand; it may hold anything."""

    text: str
    style: str = ""
    """Of Rich's."""


@dataclass(frozen=True)
class LogFile:
    """A file that is read where it is looked at."""

    path: Path


Block = Text | LogFile


def title(text: str) -> Text:
    """Return a heading."""
    return Text(f"\n{text}", "bold underline")


@dataclass
class _Steps:
    """The kept results of gates, by what an event tells of them; new ones are found when they are asked for."""

    folder: RunFolder
    _seen: set[str] = field(default_factory=set)
    _found: dict[tuple[str, str], list[tuple[float, str]]] = field(default_factory=dict)

    def find(self, step: str, wall_s: float, log_path: str) -> StepResult | None:
        """Return the result of this gate with this log and time; None: it is not kept."""
        self._look()
        places = self._found.get((step, log_path), ())
        nearest = min(places, key=lambda p: abs(p[0] - wall_s), default=None)
        if nearest is None or abs(nearest[0] - wall_s) > _ROUNDING_S:
            return None
        return self.folder.record(StepResult, self.folder.json_of(nearest[1]), nearest[1])

    def _look(self) -> None:
        new: list[os.DirEntry[str]] = []
        with suppress(FileNotFoundError), os.scandir(self.folder.path / "store") as store:
            new = [e for e in store if e.name.startswith("step-") and e.name not in self._seen]
        for entry in new:
            # One that is being written has another name.
            self._seen.add(entry.name)
            if not entry.name.endswith(".json") or not entry.is_file(follow_symlinks=False):
                continue
            value = _json(Path(entry.path).read_bytes())
            if isinstance(value, dict) and isinstance(value.get("wall_s"), int | float):
                key = (str(value.get("step")), str(value.get("log_path") or ""))
                self._found.setdefault(key, []).append((float(value["wall_s"]), f"store/{entry.name}"))


@dataclass
class _Answers:
    """Where in model.jsonl each answer stands; the file is read once, and of each line only the end."""

    file: LineFile
    _found: dict[tuple[str, int, int], list[tuple[int, int]]] = field(default_factory=dict)

    def find(self, purpose: str, tokens_in: int, tokens_out: int, nth: int) -> Mapping[str, Any] | None:
        """Return the nth recorded exchange of this kind; the last one if there are fewer."""
        while lines := self.file.poll():
            if self.file.restarted:
                self._found.clear()
            for offset, line in lines:
                key = _answer_key(line)
                if key is not None:
                    self._found.setdefault(key, []).append((offset, len(line)))
        places = self._found.get((purpose, tokens_in, tokens_out))
        if not places:
            return None
        value = _json(self.file.read(*places[min(nth, len(places) - 1)]))
        return value if isinstance(value, dict) else None


def _answer_key(line: bytes) -> tuple[str, int, int] | None:
    # The texts come first in a line and may be long. No text in JSON holds this: its quotes are escaped there.
    at = line.rfind(b'"purpose": ', max(0, len(line) - _TAIL_BYTES))
    value = _json(b"{" + line[at:]) if at >= 0 else None
    value = value if isinstance(value, dict) and "usage" in value else _json(line)
    usage = value.get("usage") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(usage, dict):
        return None
    numbers = [n if isinstance(n := usage.get(k), int) else 0 for k in ("tokens_in", "tokens_out")]
    return str(value.get("purpose", "")), numbers[0], numbers[1]


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


class RunDetails:
    """Finds what belongs to the events of a run.

    Args:
        path: The run's folder.
        timeline: Its events.

    Raises:
        RunError: there is no run in the folder.
    """

    def __init__(self, path: Path, timeline: Timeline) -> None:
        self._folder = RunFolder(path)
        self._timeline = timeline
        self._steps = _Steps(self._folder)
        self._answers = _Answers(LineFile(path / "model.jsonl"))
        self._lock = threading.Lock()
        self._kinds: dict[str, Callable[[Entry, Event, int], Iterator[Block]]] = {
            "step": self._step,
            "gate": self._step,
            "judging": self._attempt,
            "iteration": self._attempt,
            "model_call": self._question,
            "model_reply": self._answer,
            "unusable_reply": self._unusable,
            "oracle": self._oracle,
            "started": self._started,
        }

    def of(self, index: int) -> tuple[Block, ...]:
        """Return what to show of an entry; it may take a moment, and any thread may ask."""
        with self._lock:
            entry = self._timeline.entries[index]
            head = Text(entry.line.strip(), f"{entry.style} bold".replace("dim ", "").replace("bold bold", "bold"))
            event = self._timeline.event(index)
            if event is None:
                return (head, Text(_clip(self._timeline.raw(index).decode(errors="replace"))))
            try:
                return (head, *self._kinds.get(entry.kind, self._other)(entry, event, index))
            except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
                note = Text(f"\nNot everything can be shown of it ({error!r}):", "yellow")
                return (head, note, *_fields(event))

    def _other(self, _entry: Entry, event: Event, _index: int) -> Iterator[Block]:
        yield from _fields(event)

    def _started(self, _entry: Entry, event: Event, _index: int) -> Iterator[Block]:
        yield from _fields(event)
        spec = self._folder.json_of("spec.json")
        spec = spec.get("spec") if isinstance(spec, dict) else None
        if isinstance(spec, dict):
            source = spec.get("c_source")
            text = source.get("text") if isinstance(source, dict) else spec.get("text")
            yield title("specification")
            yield Text(_clip(str(text or "")))

    def _step(self, _entry: Entry, event: Event, _index: int) -> Iterator[Block]:
        log = str(event.get("log_path") or event.get("log") or "")
        kept = self._steps.find(str(event["step"]), float(event["wall_s"]), log)
        if kept is not None:
            yield from _result(kept)
        else:
            yield Text("what the tool said is not kept; this is what the event tells", "dim")
            yield from _metrics(self._folder.record(Metrics, event.get("metrics"), "an event's figures"))
        argv = event.get("argv")
        if isinstance(argv, list) and argv:
            yield title("command")
            yield Text(_clip(shlex.join(str(a) for a in argv)))
        yield from self._log(log)

    def _log(self, name: str) -> Iterator[Block]:
        path = self._folder.inside(name) if name else None
        if path is None or not path.is_file():
            if name:
                yield Text(f"\nlog {name}: it is not there", "yellow")
            return
        others = sorted(p for p in path.parent.iterdir() if p != path and p.is_file() and not p.is_symlink())
        if others:
            yield title("beside the log")
            yield Text("\n".join(f"{p.name}  {size(p.stat().st_size)}" for p in others[:50]))
        yield title(f"log {name} ({size(path.stat().st_size)})")
        yield LogFile(path)

    def _attempt(self, entry: Entry, event: Event, _index: int) -> Iterator[Block]:
        attempt = event["attempt"] if entry.kind == "iteration" else event
        sha = str(attempt.get("sha") or "")
        yield from self._verdict(event.get("verdict"))
        if attempt.get("note"):
            yield title("the model's note")
            yield Text(_clip(str(attempt["note"])))
        files = self._folder.files(sha)
        before = self._folder.files(entry.before)
        if not files:
            yield Text(f"\nthe files of attempt {sha[:10]} are not kept", "yellow")
            return
        if before:
            yield title(f"changes since {entry.before[:10]}")
            yield from _diff(before, files)
        yield from _files(files)

    def _verdict(self, verdict: object) -> Iterator[Block]:
        if not isinstance(verdict, dict):
            return
        gates = verdict.get("gates")
        for name, status in gates.items() if isinstance(gates, dict) else ():
            yield Text(f"{name}: {status}", "green" if status == "PASS" else "dim" if status == "SKIPPED" else "red")
        if verdict.get("tests"):
            yield Text(f"tests: {verdict.get('tests_passed')} of {verdict['tests']} pass")
        for unmet in verdict.get("unmet") or ():
            yield Text(f"not met: {unmet['name']}, limit {unmet['limit']}, measured {unmet['measured']}", "red")
        yield from _metrics(self._folder.record(Metrics, verdict.get("metrics"), "an attempt's figures"))

    def _question(self, entry: Entry, event: Event, index: int) -> Iterator[Block]:
        entries = self._timeline.entries
        for later in range(index + 1, len(entries)):
            if entries[later].kind in ("model_call", "started"):
                break
            if entries[later].kind == "model_reply":
                yield from self._exchange(entries[later])
                return
        yield Text("\nThere is no answer yet; question and answer are kept together when it has come.", "dim")

    def _answer(self, entry: Entry, event: Event, _index: int) -> Iterator[Block]:
        yield from _fields(event)
        yield from self._exchange(entry, answer_first=True)

    def _unusable(self, entry: Entry, event: Event, index: int) -> Iterator[Block]:
        yield from _fields(event)
        earlier = (e for e in reversed(self._timeline.entries[:index]) if e.kind == "model_reply")
        answer = next(earlier, None)
        if answer is not None:
            yield from self._exchange(answer, answer_first=True)

    def _exchange(self, entry: Entry, *, answer_first: bool = False) -> Iterator[Block]:
        found = self._answers.find(*entry.exchange) if entry.exchange else None
        if found is None:
            yield Text("\nmodel.jsonl does not hold this answer", "yellow")
            return
        request, reply = found.get("request"), found.get("reply")
        messages = request.get("messages") if isinstance(request, dict) else None
        asked: list[Block] = []
        for message in messages if isinstance(messages, list) else ():
            if isinstance(message, dict):
                asked += [title(f"request: {message.get('role')}"), Text(_clip(str(message.get("content") or "")))]
        content = reply.get("content") if isinstance(reply, dict) else ""
        answer = [title(f"answer of {found.get('model') or 'the model'}"), Text(_clip(str(content or "")))]
        yield from (*answer, *asked) if answer_first else (*asked, *answer)

    def _oracle(self, _entry: Entry, event: Event, _index: int) -> Iterator[Block]:
        yield Text(_clip(str(event.get("detail") or "")))
        yield from _files(self._folder.files(str(event.get("sha") or "")))


def _result(result: StepResult) -> Iterator[Block]:
    yield Text(f"{result.step}: {result.status} [{result.tool_version}]", _STATUS_STYLES.get(result.status, "bold red"))
    for diagnostic in result.diagnostics:
        yield Text(_clip(str(diagnostic)), _SEVERITY_STYLES[diagnostic.severity])
        if diagnostic.hint:
            yield Text(_clip(f"    hint: {diagnostic.hint}"))
    yield from _metrics(result.metrics)
    if result.tests:
        yield title("tests")
    for test in sorted(result.tests, key=lambda t: t.status is Status.PASS):
        cycle = f" at cycle {test.cycle}" if test.cycle is not None else ""
        said = f": {test.message.strip()}" if test.message.strip() else ""
        yield Text(_clip(f"{test.status} {test.name}{cycle}{said}"), "" if test.status is Status.PASS else "red")
    if result.detail.strip():
        yield title("detail")
        yield Text(_clip(result.detail))


def _metrics(metrics: Metrics | None) -> Iterator[Block]:
    from dataclasses import asdict

    found = {k: v for k, v in asdict(metrics).items() if v is not None} if metrics is not None else {}
    if found:
        yield Text("measured: " + ", ".join(f"{k} {v:.6g}" for k, v in found.items()))


def _files(files: Sequence[SourceFile]) -> Iterator[Block]:
    for file in files:
        yield title(first_line(file.path))
        yield Text(_clip(file.text))


def _diff(before: Sequence[SourceFile], after: Sequence[SourceFile]) -> Iterator[Block]:
    found = changes(before, after)
    if not found:
        yield Text("nothing")
    for change in found:
        yield Text(f"{change.path}: {change.added} lines added, {change.removed} removed", "bold")
        for lines in change.lines:
            yield Text(lines.text, _CHANGE_STYLES.get(lines.kind, ""))
        if change.note:
            yield Text(change.note, "dim")


def _fields(event: Event) -> Iterator[Block]:
    """Yield an event's fields, whatever it is."""
    for name, value in event.items():
        if name in ("time", "event") or value in (None, "", [], {}):
            continue
        if isinstance(value, list | dict):
            yield Text(_clip(f"{name}:\n{_indented(value)}"))
        else:
            yield Text(_clip(f"{name}: {value}"))


def _indented(value: object, depth: int = 1) -> str:
    """Spell parsed JSON for people: no quotes, no escapes."""
    pad = "  " * depth
    if depth > 8 or not isinstance(value, list | dict):
        return f"{pad}{value}"
    if isinstance(value, dict):
        rows = [
            f"{pad}{k}: {v}" if not isinstance(v, list | dict) or not v else f"{pad}{k}:\n{_indented(v, depth + 1)}"
            for k, v in value.items()
        ]
        return "\n".join(rows)
    gap = "\n\n" if any(isinstance(v, dict) for v in value) else "\n"
    return gap.join(_indented(v, depth) for v in value)


def _clip(text: str) -> str:
    if len(text) <= _MOST_CHARS:
        return text
    return f"{text[:_MOST_CHARS]}\n... {len(text) - _MOST_CHARS:,} characters more"


def details_of(path: Path, timeline: Timeline) -> RunDetails | None:
    """Return what finds a run's details; None: there is no run in the folder any more."""
    try:
        return RunDetails(path, timeline)
    except RunError:
        return None
