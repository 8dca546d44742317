"""What came out of one task's conversation, kept in the task's folder before anything hidden is opened."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rtlagent.bench.problem import Score
from rtlagent.errors import RunError, ToolError
from rtlagent.models.recording import parse_log
from rtlagent.types import Candidate, SourceFile, Usage, from_json, to_json
from rtlagent.workspace import write_atomic

ANSWER, SCORE, JOURNAL, LOCK = "answer.json", "score.json", "model.jsonl", ".lock"
_LOCK_S = 900.0
_POLL_S = 0.2


@dataclass(frozen=True)
class FinalAnswer:
    """The answer of one task."""

    outcome: str
    """`pass`, `fail`, `limit`, `tool` or `endpoint`, as the answering side ended; `answered` where nothing judged."""
    files: tuple[SourceFile, ...] = ()
    """The design; empty: there is none."""
    own_verdict: bool | None = None
    """Our own gates' judgement of these files; None: they did not judge."""
    grade: str = ""
    """How strong the evidence behind it was."""
    reason: str = ""
    """Why there is no passing answer."""
    failure_class: str = ""
    """Of an outcome that is not the design's fault, or where no design came about."""
    iterations: int | None = None
    """None: there is no loop."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """As the endpoint called itself."""
    wall_s: float = 0.0
    final: bool = True
    """False: it was the run's budget that stopped it; with more, the task goes on."""

    @property
    def sha256(self) -> str:
        """Hex digest over the design's files."""
        return Candidate(self.files).sha256


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a task's folder; whoever works on it already is waited for.

    Raises:
        ToolError: it stays held.
    """
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + _LOCK_S
    with (folder / LOCK).open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise ToolError(f"another process works on {folder} and does not end") from None
                time.sleep(_POLL_S)
        yield


def keep_answer(folder: Path, answer: FinalAnswer) -> None:
    """Write the answer down, whole or not at all."""
    write_atomic(folder / ANSWER, json.dumps(to_json(answer)) + "\n")


def kept_answer(folder: Path) -> FinalAnswer | None:
    """Return the answer that is there; None: there is none.

    Raises:
        RunError: the file is damaged.
    """
    return _read(folder / ANSWER, FinalAnswer)


def keep_score(folder: Path, score: Score, answer_sha256: str) -> None:
    """Write down what the hidden tests say of an answer."""
    write_atomic(folder / SCORE, json.dumps({"answer": answer_sha256, "score": to_json(score)}) + "\n")


def kept_score(folder: Path, answer_sha256: str) -> Score | None:
    """Return the score of this answer; None: there is none.

    Raises:
        RunError: the file is damaged.
    """
    path = folder / SCORE
    try:
        value = json.loads(path.read_bytes())
        return from_json(Score, value["score"]) if value["answer"] == answer_sha256 else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, error) from error


def forget(folder: Path, *, answer: bool) -> None:
    """Drop the score and, if `answer`, the answer, so that they are made again; the conversation stays."""
    for name in (SCORE, ANSWER) if answer else (SCORE,):
        (folder / name).unlink(missing_ok=True)


def spent_in(folder: Path) -> Usage:
    """Return what the conversations in a task's folder have cost so far; a last line that is not whole is left out."""
    total = Usage()
    for journal in journals(folder):
        data = journal.read_bytes()
        for recording in parse_log(data[: data.rfind(b"\n") + 1], where=str(journal)):
            total += recording.usage
    return total


def journals(folder: Path) -> list[Path]:
    """Return the logs of a task's conversations: its own, or that of the agent's run folder."""
    own = folder / JOURNAL
    return [own] if own.is_file() else sorted(folder.glob(f"*/{JOURNAL}"))


def _read(path: Path, kind: type[FinalAnswer]) -> FinalAnswer | None:
    try:
        return from_json(kind, json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> RunError:
    return RunError(f"the file is damaged: {error}", where=str(path), hint="delete it: the task is then done again")
