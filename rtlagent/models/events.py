"""What happens between a question and its answer, told to whoever listens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class EventKind(StrEnum):
    """What happened."""

    RETRY = "retry"
    """A request failed in a way that passes; it is sent again after `delay_s`."""
    EMPTY = "empty"
    """The reply had no text; it is asked again."""
    CONTINUE = "continue"
    """The reply was cut at its length limit; its rest is asked for."""
    PARAMETER = "parameter"
    """The server does not take a parameter; it is left out, renamed or lowered from now on."""
    INEXACT = "inexact"
    """A recorded reply is used although its prompt differs."""
    CLIPPED = "clipped"
    """The server read much less than it was sent."""
    REUSED = "reused"
    """The answer came from the run's journal; nothing was asked."""
    REPAIRED = "repaired"
    """The journal's last line was cut off by a kill and has been dropped."""


@dataclass(frozen=True)
class ModelEvent:
    """One thing that happened, in words without secrets."""

    kind: EventKind
    message: str
    purpose: str = ""
    attempt: int = 0
    """From 1: the try that failed."""
    delay_s: float = 0.0
    """How long is waited before the next try."""


EventSink = Callable[[ModelEvent], None]


def ignore(event: ModelEvent) -> None:
    """Listen to nothing."""
