"""`replay:LOG`: recorded answers instead of a model, for tests, demos and bug reports."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rtlagent.errors import ModelConfigError, ModelReplyError, RunError
from rtlagent.models.events import EventKind, EventSink, ModelEvent, ignore
from rtlagent.models.price import FREE, Price
from rtlagent.models.recording import Recording, estimate_usage, parse_log, request_key
from rtlagent.types import Message, ModelReply


class ReplayModel:
    """Answers from a log, by the request's hash, else by the next unused answer for its purpose.

    Several recordings of one request are given in their order; the last one repeats.
    """

    def __init__(self, path: Path, *, strict: bool = False, on_event: EventSink = ignore) -> None:
        """Read the log.

        Args:
            path: JSON lines, see recording.py.
            strict: An answer to another prompt is an error, not a warning.
            on_event: Told about each inexact answer.

        Raises:
            ModelConfigError: the log is missing, empty or damaged.
        """
        try:
            self._recordings = parse_log(path.read_bytes(), where=str(path))
        except OSError as error:
            raise ModelConfigError(
                f"cannot read the recorded replies {path}: {error.strerror}",
                hint="`replay:LOG` takes a run's model.jsonl, or a log written by a recording endpoint",
            ) from None
        except RunError as error:
            raise ModelConfigError(error.message, where=error.where) from None
        if not self._recordings:
            raise ModelConfigError(f"{path} holds no recorded reply")
        self.name = f"replay:{path}"
        self.context_tokens: int | None = None
        self.price: Price | None = FREE
        self._strict = strict
        self._on_event = on_event
        self._used: set[int] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"ReplayModel({self.name!r}, {len(self._recordings)} recordings)"

    def rewound(self) -> ReplayModel:
        """Return one with the same recordings, none of them used, without reading the log again."""
        other = copy.copy(self)
        other._used, other._lock = set(), threading.Lock()
        return other

    def complete(
        self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None = None
    ) -> ModelReply:
        """Return the recorded answer; its usage is estimated and free.

        Raises:
            ModelReplyError: nothing is recorded for this prompt, nor (unless strict) for its purpose.
        """
        with self._lock:
            found = self._exact(request_key(messages))
            if found is None:
                found = self._inexact(purpose)
                self._on_event(ModelEvent(EventKind.INEXACT, "the prompt differs from the recording", purpose))
        return ModelReply(
            text=found.text,
            usage=estimate_usage(messages, found.text),
            model=found.model or "replay",
            finish_reason=found.finish_reason,
        )

    def skip(self, messages: Sequence[Message], *, purpose: str) -> None:
        """Count an answer as given: a resumed run has it in its journal."""
        with self._lock:
            if self._exact(request_key(messages)) is None and not self._strict and self._left(purpose):
                self._inexact(purpose)

    def _exact(self, key: str) -> Recording | None:
        same = [i for i, r in enumerate(self._recordings) if r.key == key]
        if not same:
            return None
        chosen = next((i for i in same if i not in self._used), same[-1])
        self._used.add(chosen)
        return self._recordings[chosen]

    def _inexact(self, purpose: str) -> Recording:
        left = self._left(purpose)
        if self._strict or not left:
            raise self._nothing(purpose, exhausted=not left)
        self._used.add(left[0])
        return self._recordings[left[0]]

    def _left(self, purpose: str) -> list[int]:
        return [i for i, r in enumerate(self._recordings) if r.purpose == purpose and i not in self._used]

    def _nothing(self, purpose: str, *, exhausted: bool) -> ModelReplyError:
        counts = Counter(r.purpose or "(no purpose)" for r in self._recordings)
        held = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        if self._strict and not exhausted:
            return ModelReplyError(
                f"the prompt for {purpose!r} differs from every recorded one, and replay is strict",
                hint="the prompts have changed since the recording: record again, or drop `?strict=1`",
            )
        state = "are used up" if counts[purpose] else "do not exist"
        return ModelReplyError(
            f"the recorded replies for {purpose!r} {state} in {self.name.removeprefix('replay:')} (it holds: {held})",
            hint="record the run again with a model: its model.jsonl is a replay log",
        )
