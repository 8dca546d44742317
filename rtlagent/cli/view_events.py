"""Follow a run's events: each line is read once, however long the run is and however often it is asked."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtlagent.console import Progress
from rtlagent.printable import printable
from rtlagent.types import Usage, from_json

Event = Mapping[str, Any]
PIECE_BYTES = 4 << 20
_LONGEST_LINE = 400
_LATEST_S = 1e11
"""No event is of a later time, and a calendar would not know it."""
_HEAD = re.compile(rb'\{"time": ([0-9.]+), "event": "(\w+)"')
_TALLIED = frozenset((b"started", b"ended", b"interrupted", b"iteration", b"compiled", b"model_reply"))
_STYLES = {"PASS": "green", "FAIL": "red", "ERROR": "bold red", "TIMEOUT": "bold red", "UNPROVEN": "yellow"}
_QUIET = frozenset(("model_call", "judging", "decision", "decided"))
OUTCOMES = {"pass": "PASS", "fail": "FAIL", "limit": "limit", "tool": "ERROR", "model": "ERROR"}


@dataclass
class LineFile:
    """A file of lines that grows; a last line without its end is waited for."""

    path: Path
    offset: int = 0
    """Bytes that were read, all whole lines."""
    restarted: bool = False
    """The last poll found another file than the one before, and began anew."""
    _inode: int | None = None

    def poll(self, most_bytes: int = PIECE_BYTES) -> list[tuple[int, bytes]]:
        """Return the next whole lines, each with its offset; none: there are none yet, or the file is not there."""
        self.restarted = False
        try:
            with self.path.open("rb") as file:
                status = self._status(file.fileno())
                if self.offset >= status:
                    return []
                file.seek(self.offset)
                data = file.read(most_bytes)
                while data and b"\n" not in data:
                    more = file.read(len(data))
                    if not more:
                        return []
                    data += more
        except OSError:
            return []
        found, start = [], self.offset
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.split(b"\n")[:-1]:
            if line.strip():
                found.append((start, line))
            start += len(line) + 1
        self.offset = start
        return found

    def _status(self, descriptor: int) -> int:
        """Return the file's size; begin anew if it is another file or was cut."""
        import os

        status = os.fstat(descriptor)
        if self._inode is not None and (status.st_ino != self._inode or status.st_size < self.offset):
            self.offset, self.restarted = 0, True
        self._inode = status.st_ino
        return status.st_size

    def read(self, offset: int, size: int) -> bytes:
        """Return a line that was found before; empty if it is gone."""
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(offset)
            return file.read(size)
        return b""


def _number(digits: bytes) -> float | None:
    with suppress(ValueError):
        value = float(digits)
        return value if value < _LATEST_S else None
    return None


def parse_event(line: bytes) -> Event | None:
    """Return the event in a line; None: the line is damaged."""
    try:
        event = json.loads(line)
        at = event["time"]
        if isinstance(event["event"], str) and isinstance(at, int | float) and 0 <= at < _LATEST_S:
            return dict(event)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


@dataclass
class Tally:
    """Where a run stands, by its events so far."""

    name: str = ""
    model: str | None = None
    """None: none was asked, as when C is compiled."""
    outcome: str | None = None
    """As in the last `ended`; `interrupted`; None: it was begun and has not told its end."""
    began_at: float | None = None
    """Seconds since 1970."""
    iterations: int = 0
    usage: Usage = field(default_factory=Usage)
    events: int = 0
    _past_s: float = 0.0
    _session_at: float | None = None
    _last_at: float | None = None

    def take_line(self, line: bytes) -> None:
        """Take a line of events.jsonl, and parse it only if that says more than its beginning does."""
        head = _HEAD.match(line)
        at = _number(head[1]) if head is not None and head[2] not in _TALLIED else None
        if at is not None:
            self._note(at, "")
            return
        event = parse_event(line)
        if event is not None:
            self.take(event)

    def take(self, event: Event) -> None:
        """Take an event."""
        kind = event["event"]
        self._note(float(event["time"]), kind)
        if kind == "started":
            self.name, self.outcome = str(event.get("spec") or ""), None
            self.model = str(event["model"]) if event.get("model") is not None else None
            self.iterations = self.iterations if self.model is not None else 0
        elif kind in ("ended", "interrupted"):
            self.outcome = str(event.get("outcome", "")) if kind == "ended" else "interrupted"
        elif kind == "compiled":
            self.iterations += 1
        elif kind == "iteration":
            attempt = event.get("attempt")
            number = attempt.get("iteration") if isinstance(attempt, dict) else None
            self.iterations = number if isinstance(number, int) else self.iterations + 1
        elif kind == "model_reply":
            with suppress(ValueError, TypeError):
                self.usage += from_json(Usage, event.get("usage"))

    def seconds(self, now: float | None = None) -> float | None:
        """Return the time of all sessions, up to `now` for one that goes on; None: nothing began."""
        if self._session_at is None or self._last_at is None:
            return None
        return self._past_s + max(0.0, (now if now is not None else self._last_at) - self._session_at)

    def _note(self, at: float, kind: str) -> None:
        self.events += 1
        if self.began_at is None:
            self.began_at = at
        if kind == "started":
            if self._session_at is not None and self._last_at is not None:
                self._past_s += self._last_at - self._session_at
            self._session_at = at
        self._last_at = at


@dataclass(frozen=True)
class Entry:
    """One line of the timeline."""

    line: str
    """For people; nothing in it steers a terminal."""
    style: str
    """Of Rich's."""
    kind: str
    """The event's name; `damaged`: the line cannot be read."""
    offset: int
    """Bytes, in events.jsonl."""
    size: int
    before: str = ""
    """Hash of the attempt before, for an event about an attempt."""
    exchange: tuple[str, int, int, int] | None = None
    """Of a model's answer: purpose, tokens in, tokens out, and how many such answers came before it."""


class Timeline:
    """A run's events as lines for people.

    Args:
        path: The run's events.jsonl.
    """

    def __init__(self, path: Path) -> None:
        self.file = LineFile(path)
        self._begin()

    def _begin(self) -> None:
        self.entries: list[Entry] = []
        self.tally = Tally()
        self._progress = Progress()
        self._answers: Counter[tuple[str, int, int]] = Counter()
        self._reused = False
        self._shas: list[str] = []

    def poll(self) -> int:
        """Read on, a piece of the file at a time, and return the number of new entries.

        When `file.restarted` is set, the entries are those of another file and all of them are new.
        """
        lines = self.file.poll()
        if self.file.restarted:
            self._begin()
        self.entries += [self._entry(offset, line) for offset, line in lines]
        return len(lines)

    def event(self, index: int) -> Event | None:
        """Return an entry's event, read again from the file; None: it is damaged."""
        return parse_event(self.raw(index))

    def raw(self, index: int) -> bytes:
        """Return an entry's line as it stands in the file."""
        entry = self.entries[index]
        return self.file.read(entry.offset, entry.size)

    def _entry(self, offset: int, line: bytes) -> Entry:
        event = parse_event(line)
        if event is None:
            return Entry("          this line of events.jsonl cannot be read", "red", "damaged", offset, len(line))
        with suppress(TypeError, ValueError, OverflowError):
            self.tally.take(event)
        kind = str(event["event"])
        text = first_line(self._text(event))
        clock = _clock(float(event["time"]) - (self.tally.began_at or 0.0))
        return Entry(
            printable(f"{clock}  {'  ' * (kind == 'step')}{text}").replace("\t", " "),
            _style(event),
            kind,
            offset,
            len(line),
            self._before(event),
            self._exchange(event),
        )

    def _text(self, event: Event) -> str:
        """Return what the run itself would print of an event; else what is worth telling."""
        own = _TOLD.get(event["event"])
        try:
            line = self._progress.take(event)
            return own(event) if own is not None else line or _plain(event)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return _plain(event)  # an event of another version, or a damaged one

    def _before(self, event: Event) -> str:
        if event["event"] not in ("judging", "iteration"):
            return ""
        attempt = event.get("attempt") if event["event"] == "iteration" else event
        attempt = attempt if isinstance(attempt, dict) else {}
        sha = str(attempt.get("sha") or "")
        if sha and (not self._shas or self._shas[-1] != sha):
            self._shas.append(sha)
        earlier = self._shas[-2] if len(self._shas) > 1 else ""
        return str(attempt.get("parent") or earlier)

    def _exchange(self, event: Event) -> tuple[str, int, int, int] | None:
        if event["event"] == "model" and event.get("kind") == "reused":
            self._reused = True
        if event["event"] != "model_reply":
            return None
        usage = event.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        numbers = [n if isinstance(n := usage.get(k), int) else 0 for k in ("tokens_in", "tokens_out")]
        key = (str(event.get("purpose", "")), numbers[0], numbers[1])
        # An answer from the journal is a line that an earlier session wrote down, used or not.
        nth = self._answers[key]
        if not self._reused:
            self._answers[key] += 1
        self._reused = False
        return (*key, nth)


def first_line(text: str) -> str:
    """Return a text's first line that is not empty, cut."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def _clock(seconds: float) -> str:
    whole = max(0, int(seconds)) if abs(seconds) < 1e9 else 0
    hours, rest = divmod(whole, 3600)
    return f"{f'{hours}:{rest // 60:02}' if hours else rest // 60:>5}:{rest % 60:02}"


def _told_step(event: Event) -> str:
    return f"{event['step']}: {event['status']} in {event['wall_s']:.1f} s"


def _told_reply(event: Event) -> str:
    usage = event["usage"]
    return f"answer of the model: {event['purpose']} ({usage['tokens_in']} tokens in, {usage['tokens_out']} out)"


def _told_end(event: Event) -> str:
    return f"ended: {OUTCOMES.get(event['outcome'], event['outcome'])} {event.get('reason', '')}".rstrip()


_TOLD: Mapping[str, Callable[[Event], str]] = {
    "step": _told_step,
    "model_call": lambda e: f"question to the model: {e['purpose']}",
    "model_reply": _told_reply,
    "judging": lambda e: f"attempt {e['iteration']}: {e['sha'][:10]}",
    "decision": lambda e: f"next: {e['next']} {e['reason']}",
    "model": lambda e: f"model: {e['message']} ({e['purpose']})",
    "decided": lambda e: f"decided: {len(e['decisions'])} open questions",
    "interrupted": lambda e: "interrupted",
    "ended": _told_end,
    "model_failed": lambda e: f"the model could not be asked: {e['kind']}",
    "verdict_unavailable": lambda e: f"the verdict could not be confirmed: {e['reason']}",
    "no_evidence": lambda e: f"no {e['what']} for the model: {e['reason']}",
}


def _plain(event: Event) -> str:
    told = ", ".join(_fields(event))
    return f"{event['event']}: {told}" if told else str(event["event"])


def _fields(event: Event) -> Iterator[str]:
    for name, value in event.items():
        if name not in ("time", "event") and isinstance(value, str | int | float):
            yield f"{name} {first_line(str(value))[:80]}"


def _style(event: Event) -> str:
    kind = event["event"]
    if kind == "ended":
        return _STYLES.get(OUTCOMES.get(str(event.get("outcome")), ""), "yellow") + " bold"
    if kind == "iteration":
        verdict = event.get("verdict")
        return "bold green" if isinstance(verdict, dict) and verdict.get("passed") is True else "bold red"
    if kind in ("unusable_reply", "model_failed", "interrupted", "verdict_unavailable", "dispute"):
        return "yellow"
    return _STYLES.get(str(event.get("status")), "dim" if kind in _QUIET else "")
