"""A benchmark run's folder: what it is, who holds it, and how long it has taken.

```
runs/bench/verilog-eval-v2-gpt-4.1-agent-1a2b3c4d/
├── bench.json        plan, versions, where the suite is, limits (no keys)
├── results.sqlite    one row a finished task, unless --db names another base
├── elapsed.json      seconds of all sessions
├── workers.log       what worker processes printed
├── report.html       the figures and every answer, for people
└── tasks/            one folder a task, see `tasks`
```
"""

from __future__ import annotations

import fcntl
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rtlagent.bench.record import Record
from rtlagent.bench.store import StoredRun
from rtlagent.bench.tasks import Plan
from rtlagent.config import BudgetConfig
from rtlagent.errors import RunError, UsageError
from rtlagent.spec.names import slug
from rtlagent.types import from_json, to_json
from rtlagent.workspace import write_atomic

BASE = "results.sqlite"
_ABOUT, _ELAPSED, _LOCK = "bench.json", "elapsed.json", ".lock"


@dataclass(frozen=True)
class About:
    """Everything that is needed to go on with a run."""

    id: str
    plan: Plan
    record: Record
    """Of the session that began it."""
    suite_path: str
    started_at: float
    """Seconds since 1970."""
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    """Of the whole run."""
    executor: str = "local"
    jobs: int | None = None
    """Jobs at a time; None: as the executor likes."""
    db: str = ""
    """URL of the results base, without a password; empty: the folder's own file."""

    @property
    def stored(self) -> StoredRun:
        """The same, as the results base keeps it."""
        return StoredRun(self.id, self.plan, self.record, self.started_at)


@dataclass(frozen=True)
class RunFolder:
    """The folder, whether there is anything in it or not."""

    path: Path

    @classmethod
    def default(cls, runs_dir: Path, plan: Plan) -> RunFolder:
        """Return the folder that a plan has without `--out`: the same one whenever the same is asked."""
        model = slug((plan.model or "no-model").rpartition("/")[2])[:40]
        return cls(runs_dir / "bench" / f"{plan.suite}-{model}-{plan.mode}-{plan.sha256[:8]}")

    @property
    def base(self) -> Path:
        """The results base, unless there is another one."""
        return self.path / BASE

    @property
    def begun(self) -> bool:
        """There is a run in it."""
        return (self.path / _ABOUT).is_file()

    def about(self) -> About:
        """Return what the run is.

        Raises:
            RunError: there is none, or the file is damaged.
        """
        path = self.path / _ABOUT
        try:
            return from_json(About, json.loads(path.read_bytes()))
        except (FileNotFoundError, NotADirectoryError):
            hint = "rtlagent bench run begins one"
            raise RunError("there is no benchmark run", where=str(self.path), hint=hint) from None
        except (OSError, ValueError) as error:
            raise RunError(f"the file is damaged: {error}", where=str(path)) from error

    def begin(self, about: About) -> None:
        """Write down what the run is.

        Raises:
            UsageError: the folder holds something else, or cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            others = [p.name for p in self.path.iterdir() if p.name != _LOCK]
            if others and not self.begun:
                message = f"the folder is not empty and holds no benchmark run: {', '.join(sorted(others)[:3])}"
                raise UsageError(message, where=str(self.path), hint="name a new folder with --out")
            write_atomic(self.path / _ABOUT, json.dumps(to_json(about), indent=1) + "\n")
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=str(self.path)) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the run for this process.

        Raises:
            RunError: another process works on it.
            UsageError: the folder cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = (self.path / _LOCK).open("a")
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=str(self.path)) from error
        with handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunError("another process works on this benchmark run", where=str(self.path)) from None
            yield

    def elapsed_s(self) -> float:
        """Return the seconds that all sessions took; a killed one counts up to its last note."""
        try:
            return float(json.loads((self.path / _ELAPSED).read_bytes())["elapsed_s"])
        except FileNotFoundError:
            return 0.0
        except (ValueError, KeyError, TypeError) as error:
            raise RunError(f"the file is damaged: {error}", where=str(self.path / _ELAPSED)) from error

    def note_elapsed(self, elapsed_s: float) -> None:
        """Write down how long the run has taken."""
        write_atomic(self.path / _ELAPSED, json.dumps({"elapsed_s": round(elapsed_s, 1)}) + "\n")


def new_id(folder: Path) -> str:
    """Return a run's id: it has to be alone in a results base that many machines share."""
    return f"{folder.resolve().name}-{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}"
