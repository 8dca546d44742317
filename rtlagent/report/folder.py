"""Read whatever a run folder holds, however the run ended; what is missing or damaged is said, never raised."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from rtlagent.errors import RunError
from rtlagent.report.text import one_line
from rtlagent.types import SourceFile, StepResult, from_json
from rtlagent.workspace import is_event

_T = TypeVar("_T")
_MARKS = ("spec.json", "settings.json", "events.jsonl", "report.json")
_MAX_FILE = 64 << 20
"""Bytes; a larger file of a run is not read into a report."""
_ROUNDING_S = 0.0051
"""Events tell times to 10 ms at least."""

Event = Mapping[str, Any]


@dataclass(frozen=True)
class RunFolder:
    """A run's files, read when they are asked for.

    Args:
        path: The folder.

    Raises:
        RunError: there is no run in it.
    """

    path: Path
    problems: list[str] = field(default_factory=list)
    """What could not be read, in the user's words."""

    def __post_init__(self) -> None:
        if not any((self.path / name).is_file() for name in _MARKS):
            hint = "name the folder of a run, such as runs/20261130-221500-fifo"
            raise RunError("there is no run in this folder", where=str(self.path), hint=hint)

    @cached_property
    def _root(self) -> Path:
        return self.path.resolve()

    def inside(self, name: str) -> Path | None:
        """Return a file's path; None: the name leads out of the folder, as no run of ours writes it."""
        path = self.path / name
        with suppress(OSError, ValueError):  # a name that no file can have is nowhere
            if path.resolve().is_relative_to(self._root):
                return path
        name = one_line(name)
        self.note(f"{name} lies outside of the run's folder and was not read")
        return None

    def holds(self, name: str) -> bool:
        """Tell whether there is such a file in the folder."""
        with suppress(OSError, ValueError):
            path = self.path / name
            return path.is_file() and path.resolve().is_relative_to(self._root)
        return False

    def bytes_of(self, name: str) -> bytes | None:
        """Return a file's bytes; None: there is none, or it cannot be read."""
        path = self.inside(name)
        if path is None:
            return None
        try:
            if path.stat().st_size > _MAX_FILE:
                self.note(f"{name} is larger than {_MAX_FILE >> 20} MiB and was not read")
                return None
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.note(f"{one_line(name)} cannot be read: {error.strerror}")
            return None

    def json_of(self, name: str) -> Any:
        """Return a parsed JSON file; None: there is none, or it is damaged."""
        data = self.bytes_of(name)
        if data is None:
            return None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            self.note(f"{name} is damaged and was left out")
            return None

    def record(self, kind: type[_T], value: object, what: str) -> _T | None:
        """Return the dataclass in a parsed JSON value; None: it is missing or has another form."""
        if value is None:
            return None
        try:
            return from_json(kind, value)
        except ValueError:
            self.note(f"{what} has a form that this version does not know")
            return None

    def note(self, problem: str) -> None:
        """Remember once what could not be read."""
        if problem not in self.problems:
            self.problems.append(problem)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """All events that are whole; other lines are noted, but for a last one that is not finished."""
        data = self.bytes_of("events.jsonl") or b""
        found, damaged = [], 0
        # A last line without its end is one that is being written, or was when the run was killed.
        for line in data[: data.rfind(b"\n") + 1].split(b"\n"):
            if not line.strip():
                continue
            try:
                event = json.loads(line)
                if not is_event(event):
                    raise TypeError
            except (ValueError, KeyError, TypeError, RecursionError):
                damaged += 1
                continue
            found.append(event)
        if damaged:
            lines = "line" if damaged == 1 else "lines"
            self.note(
                f"{damaged} {lines} of events.jsonl cannot be read and {'is' if damaged == 1 else 'are'} left out"
            )
        return tuple(found)

    @cached_property
    def _steps(self) -> Mapping[tuple[str, str], tuple[StepResult, ...]]:
        found: dict[tuple[str, str], list[StepResult]] = {}
        for path in sorted((self.path / "store").glob("step-*.json")):
            step = self.record(StepResult, self.json_of(f"store/{path.name}"), f"store/{path.name}")
            if step is not None:
                found.setdefault((step.step, step.log_path or ""), []).append(step)
        return {place: tuple(sorted(steps, key=lambda s: s.wall_s)) for place, steps in found.items()}

    def step(self, name: str, wall_s: float, log_path: str) -> StepResult | None:
        """Return the kept result that an event tells of: of this gate and log, with its time but for the rounding."""
        steps = self._steps.get((name, log_path), ())
        at = bisect_left(steps, wall_s, key=lambda s: s.wall_s)
        nearest = min(steps[max(0, at - 1) : at + 1], key=lambda s: abs(s.wall_s - wall_s), default=None)
        return nearest if nearest is not None and abs(nearest.wall_s - wall_s) <= _ROUNDING_S else None

    def newest(self, pattern: str) -> str:
        """Return the name of the file in store/ that was written last of those that match; else the pattern itself."""
        found = sorted((self.path / "store").glob(pattern), key=lambda p: (p.lstat().st_mtime_ns, p.name))
        return found[-1].name if found else pattern

    def files(self, sha: str) -> tuple[SourceFile, ...]:
        """Return the files of a candidate; none if they are not there."""
        value = self.json_of(f"store/{sha}.files.json") if sha.isalnum() else None
        if not isinstance(value, list):
            return ()
        found = [self.record(SourceFile, f, f"store/{sha}.files.json") for f in value]
        return tuple(f for f in found if f is not None)

    def sha_of(self, short: str) -> str:
        """Return the whole hash of the candidate whose logs lie below `logs/SHORT`; empty if it is not kept."""
        names = sorted((self.path / "store").glob(f"{short}*.files.json")) if short.isalnum() else []
        return names[0].name.removesuffix(".files.json") if names else ""

    def logs(self) -> Iterator[Path]:
        """Yield the files below logs/, relative to the folder; links are passed over."""
        root = self.path / "logs"
        for path in sorted(root.rglob("*")) if root.is_dir() else ():
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(self.path)
