"""A run's folder: what happened, what was made, and what a resumed run needs.

```
runs/20261130-221500-fifo/
├── spec.json         the specification by value, tests included
├── settings.json     the settings the run was started with (no keys)
├── events.jsonl      one line an event, append-only, flushed
├── model.jsonl       every request and reply; also a log for `--model replay:`
├── checkpoint.sqlite where the loop stands
├── store/            candidates, oracles and step results by content hash
├── rtl/  tb/         the best candidate so far, and what judged it
├── logs/             tool logs and waveforms, one folder a step
├── report.json       the verdict with its evidence
└── report.html       the same and everything else, for people
```
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from rtlagent.errors import RunError
from rtlagent.types import Candidate, SourceFile, from_json, to_json

Event = Mapping[str, Any]
Listener = Callable[[Event], None]
_ABSOLUTE = re.compile(r"(?<![\w.:/~])/(?:[\w.+-]+/)+[\w.+-]+")
_END_OF_TIME_S = 253_000_000_000
"""In the year 9987; later times cannot be printed."""
_T = TypeVar("_T")


class Run:
    """An open run folder. Everything a run writes goes through it.

    Args:
        folder: The run's folder; it must exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.listeners: list[Listener] = []
        self._events = folder / "events.jsonl"

    @classmethod
    def create(cls, runs_dir: Path, name: str) -> Run:
        """Make a new folder `TIME-NAME` below `runs_dir`; a name in use gets a number."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:60] or "run"
        try:
            runs_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot make the folder for runs: {error.strerror}", where=str(runs_dir)) from error
        for suffix in ["", *(f"-{n}" for n in range(2, 1000))]:
            folder = runs_dir / f"{stamp}-{slug}{suffix}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise RunError(f"cannot make the run folder: {error.strerror}", where=str(folder)) from error
            for sub in ("store", "logs"):
                (folder / sub).mkdir()
            return cls(folder)
        raise RunError("too many runs of this name in one second", where=str(runs_dir))

    @classmethod
    def find(cls, runs_dir: Path, name: str) -> Run:
        """Open the run at path `name`, or the one in `runs_dir` whose name contains it.

        Raises:
            RunError: there is none, there are several, or it lacks its specification.
        """
        direct = Path(name)
        if (direct / "spec.json").is_file():
            return cls(direct.resolve())
        if (direct / "settings.json").is_file():
            raise _damaged("the run folder lacks a file", direct / "spec.json", "it never began; start it anew")
        found = [p for p in sorted(runs_dir.glob("*")) if (p / "spec.json").is_file()] if runs_dir.is_dir() else []
        exact = [p for p in found if p.name == name]
        matches = exact or [p for p in found if name in p.name]
        if len(matches) == 1:
            return cls(matches[0].resolve())
        names = ", ".join(p.name for p in (matches or found)[-5:])
        if matches:
            raise RunError(f"{len(matches)} runs match {name!r}: {names}", hint="give the whole name")
        hint = f"the latest runs are: {names}" if names else f"there is no run in {runs_dir}/"
        raise RunError(f"no run {name!r}", where=str(runs_dir), hint=hint)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process.

        Raises:
            RunError: another process works on it, it cannot be locked, or its store is gone.
        """
        path = self.folder / ".lock"
        try:
            handle = path.open("a")
        except OSError as error:
            hint = "move it away: it is an empty file of rtlagent's own"
            raise _damaged(f"the run cannot be locked: {error.strerror}", path, hint) from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunError("another process works on this run", where=str(self.folder)) from error
            except OSError as error:
                raise _damaged(f"the run cannot be locked: {error.strerror}", path) from error
            if not (self.folder / "store").is_dir():
                raise _damaged("the run folder lacks its store of candidates and results", self.folder / "store")
            with self._writing(self._events):
                _drop_torn_line(self._events)
            yield

    @contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        """Turn a failure to write into a RunError."""
        try:
            yield
        except OSError as error:
            raise _damaged(f"cannot be written: {error.strerror}", path, "make room, or repair it") from error

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.folder.name

    def emit(self, name: str, /, **fields: object) -> None:
        """Append an event and tell the listeners."""
        event = {"time": round(time.time(), 3), "event": name, **{k: to_json(v) for k, v in fields.items()}}
        with self._writing(self._events), self._events.open("a") as log:
            log.write(json.dumps(event) + "\n")
            log.flush()
        for listener in self.listeners:
            listener(event)

    def events(self) -> list[dict[str, Any]]:
        """Read all events so far, in order; a last line that is not finished is left out.

        Raises:
            RunError: another line is damaged.
        """
        try:
            data = self._events.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _damaged(f"cannot be read: {error.strerror}", self._events) from error
        whole = data[: data.rfind(b"\n") + 1]
        return [self._event(n, line) for n, line in enumerate(whole.split(b"\n"), 1) if line.strip()]

    def _event(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            event = json.loads(line)
            if is_event(event):
                return dict(event)
        except (ValueError, KeyError, TypeError):
            pass
        hint = "mend the line or take it out; what the model answered is in model.jsonl and is not lost"
        raise RunError("the line is damaged", where=f"{self._events}:{number}", hint=hint)

    def write_json(self, name: str, value: object) -> None:
        """Write a JSON file so that it is either whole or absent."""
        path = self.folder / name
        with self._writing(path):
            write_atomic(path, json.dumps(to_json(value), indent=1) + "\n")

    def read_json(self, name: str) -> Any:
        """Read a JSON file of this run.

        Raises:
            RunError: it is missing or damaged.
        """
        path = self.folder / name
        try:
            return json.loads(path.read_bytes())
        except FileNotFoundError as error:
            raise _damaged("the run folder lacks a file", path) from error
        except OSError as error:
            raise _damaged(f"cannot be read: {error.strerror}", path) from error
        except ValueError as error:
            raise _damaged(f"the file is damaged: {error}", path) from error

    def read_record(self, name: str, kind: type[_T], *, key: str | None = None) -> _T:
        """Read a dataclass, or the one under `key`, from a JSON file of this run.

        Raises:
            RunError: it is missing or damaged.
        """
        value = self.read_json(name)
        try:
            return from_json(kind, value if key is None else value[key])
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged(f"the file is damaged: {error}", self.folder / name) from error

    def portable(self, text: str) -> str:
        """Return a text for the report without the places of this machine: only the home's `~` stays."""
        for place, short in ((self.folder, ""), (Path.cwd(), ""), (Path("~").expanduser(), "~/")):
            text = text.replace(f"{place}/", short)
        return _ABSOLUTE.sub(lambda m: m[0].rpartition("/")[2], text)

    def has(self, name: str) -> bool:
        """Tell whether the run holds a file."""
        return (self.folder / name).is_file()

    def store_files(self, files: Iterable[SourceFile], sha: str) -> None:
        """Keep files under their content hash."""
        self.write_json(f"store/{sha}.files.json", list(files))

    def load_files(self, sha: str) -> tuple[SourceFile, ...]:
        """Return the files kept under a content hash."""
        name = f"store/{sha}.files.json"
        try:
            return tuple(SourceFile(f["path"], f["text"]) for f in self.read_json(name))
        except (TypeError, KeyError) as error:
            raise _damaged("the file is damaged: not a list of files", self.folder / name) from error

    def publish(self, candidate: Candidate, tests: Iterable[SourceFile]) -> None:
        """Lay the best candidate and what judges it out for the user, in rtl/ and tb/."""
        for folder, files in (("rtl", candidate.files), ("tb", tuple(tests))):
            with self._writing(self.folder / folder):
                self._lay_out(folder, files)

    def _lay_out(self, folder: str, files: Iterable[SourceFile]) -> None:
        root = self.folder / folder
        kept: set[Path] = set()
        for file in files:
            path = root / _place(file.path, folder, kept={p.relative_to(root).as_posix() for p in kept})
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, file.text)
            kept.add(path)
        if root.is_dir():
            for stale in [p for p in root.rglob("*") if p.is_file() and p not in kept]:
                stale.unlink()


def _place(path: str, folder: str, kept: Collection[str]) -> str:
    """Return where a file goes below `folder`: never outside it, and never over another file."""
    inside = PurePosixPath(*(p for p in PurePosixPath(path).parts if p not in ("/", "..")))
    short = str(inside).removeprefix(f"{folder}/")
    further = (f"{number}/{inside}" for number in count(2))
    return next(p for p in chain((short, str(inside)), further) if p not in kept)


def _damaged(what: str, path: Path, hint: str = "") -> RunError:
    """Say that a run cannot go on as it is; nothing is changed then."""
    again = "put it back; or start anew with --model replay:RUN/model.jsonl, which asks the model nothing twice"
    return RunError(what, where=str(path), hint=hint or again)


def is_event(value: Any) -> bool:
    """Tell whether a parsed line of events.jsonl has the form of one: a name, and a time that a calendar has.

    Raises:
        KeyError, TypeError: it is no object, or lacks one of the two.
    """
    when = value["time"]
    return isinstance(value["event"], str) and type(when) in (int, float) and 0 <= when < _END_OF_TIME_S


def write_atomic(path: Path, text: str) -> None:
    """Write `text` so that a reader or a kill sees the old file or the new one, never a part."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


def _drop_torn_line(path: Path) -> None:
    """Cut a last line that a kill left unfinished."""
    if not path.exists():
        return
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        with path.open("r+b") as log:
            log.truncate(data.rfind(b"\n") + 1)
