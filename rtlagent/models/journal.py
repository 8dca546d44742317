"""A run's `model.jsonl`: every answer is written down before it is used.

A killed run asks nothing twice when it resumes, and the file is a replay log of the run.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from rtlagent.errors import RunError
from rtlagent.models.budget import Budget, BudgetedModel
from rtlagent.models.events import EventKind, EventSink, ModelEvent, ignore
from rtlagent.models.price import Price, price_of
from rtlagent.models.recording import Recording, format_line, parse_line, parse_log, request_key
from rtlagent.types import Message, ModelReply, Usage

if TYPE_CHECKING:
    from rtlagent.models import ModelProvider


@runtime_checkable
class Skippable(Protocol):
    """A provider whose next answer depends on how many it gave before."""

    def skip(self, messages: Sequence[Message], *, purpose: str) -> None:
        """Count an answer as given."""


class JournaledModel:
    """Answers from the journal what it holds, asks the provider for the rest and writes that down.

    Asking the same again gives the next answer, in a resumed run as in the first one. The file stays
    locked until `close`: a second process is refused instead of mixing its lines in.
    """

    def __init__(self, provider: ModelProvider, path: Path, *, on_event: EventSink = ignore) -> None:
        """Open or create the journal.

        Args:
            provider: Who is asked what the journal does not hold.
            path: The run's `model.jsonl`.
            on_event: Told about reused answers and a repaired file.

        Raises:
            RunError: another process writes this journal, or it is damaged before its last line.
        """
        self._provider = provider
        self._path = path
        self._on_event = on_event
        self._lock = threading.Lock()
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            hint = "move it away; without it the model is asked again"
            raise RunError(f"cannot be opened: {error.strerror}", where=str(path), hint=hint) from error
        try:
            self._take()
            recordings = self._load()
        except BaseException:
            os.close(self._fd)
            raise
        self._closed = False
        self._unread: dict[str, deque[Recording]] = defaultdict(deque)
        self.recorded_usage = Usage()
        """What the answers cost that were in the file when it was opened."""
        for recording in recordings:
            self._unread[recording.key].append(recording)
            self.recorded_usage += recording.usage

    def __repr__(self) -> str:
        return f"JournaledModel({self._provider!r}, {str(self._path)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The provider's name."""
        return self._provider.name

    @property
    def context_tokens(self) -> int | None:
        """The provider's context window."""
        return self._provider.context_tokens

    @property
    def price(self) -> Price | None:
        """The provider's price."""
        return price_of(self._provider)

    def complete(
        self, messages: Sequence[Message], *, purpose: str, max_output_tokens: int | None = None
    ) -> ModelReply:
        """Return the next recorded answer to these messages, else the provider's, recorded."""
        with self._lock:
            unread = self._unread.get(request_key(messages))
            found = unread.popleft() if unread else None
        if found is not None:
            if isinstance(self._provider, Skippable):
                self._provider.skip(messages, purpose=purpose)
            self._on_event(ModelEvent(EventKind.REUSED, "the journal already holds the answer", purpose))
            return ModelReply(found.text, found.usage, found.model, found.finish_reason)
        started = time.monotonic()
        reply = self._provider.complete(messages, purpose=purpose, max_output_tokens=max_output_tokens)
        self._append(format_line(messages, reply, purpose=purpose, wall_s=time.monotonic() - started))
        return reply

    def close(self) -> None:
        """Release the file for another process."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self._fd)

    def _take(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"another process is writing {self._path}", hint="wait for that run to end, or stop it"
            ) from None

    def _load(self) -> list[Recording]:
        data = self._path.read_bytes()
        whole, _, tail = data.rpartition(b"\n")
        if tail:
            keep = _is_complete(tail)
            # Only what is not a whole record goes: it was never used, so asking again loses nothing.
            if keep:
                os.write(self._fd, b"\n")
            else:
                os.ftruncate(self._fd, len(data) - len(tail))
            os.fsync(self._fd)
            self._on_event(
                ModelEvent(EventKind.REPAIRED, f"the last line was cut off; it is {'kept' if keep else 'dropped'}")
            )
            data = data if keep else whole
        return parse_log(data, where=str(self._path))

    def _append(self, line: bytes) -> None:
        with self._lock:
            if self._closed:
                raise RunError(f"{self._path} is closed")
            end = os.fstat(self._fd).st_size
            try:
                written = 0
                while written < len(line):
                    written += os.write(self._fd, line[written:])
                os.fsync(self._fd)
            except OSError as error:
                os.ftruncate(self._fd, end)
                raise RunError(f"cannot write {self._path}: {error.strerror}", hint="free some disk space") from None


def _is_complete(line: bytes) -> bool:
    try:
        parse_line(line)
    except ValueError:
        return False
    return True


def for_run(provider: ModelProvider, *, journal: Path, budget: Budget, on_event: EventSink = ignore) -> JournaledModel:
    """Return the provider as a run uses it: journal outside, budget inside.

    Answers from the journal are free, and what they cost when they were asked counts as spent.

    Raises:
        RunError: another process uses the journal, or it is damaged.
        ConfigError: the budget limits the cost, and the model's price is unknown.
    """
    model = JournaledModel(BudgetedModel(provider, budget), journal, on_event=on_event)
    budget.charge(model.recorded_usage)
    return model
