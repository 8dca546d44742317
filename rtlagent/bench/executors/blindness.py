"""Keep whoever talks to a model from the files that it must not know."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from rtlagent.bench.executors.protocol import Place
from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import RtlagentError, ToolError, UsageError
from rtlagent.tools import sandbox
from rtlagent.tools.scratch import scratch_folder

_OPENING = frozenset({"open", "os.listdir", "os.scandir"})


class BlindnessError(RtlagentError):
    """An answering process was about to open a hidden file; that is a fault of rtlagent."""


def refuse_to_open(place: Place) -> None:
    """Make every attempt of this process to open something below a hidden folder fail, for good.

    The run's own folder and what Python and rtlagent themselves consist of may lie inside one.
    """
    hidden = tuple(_forms(place.hidden))
    own = (place.folder, Path(sys.prefix), Path(sys.base_prefix), Path(__file__).parents[2])
    places = _forms((*own, resource_dir("prompts"), resource_dir("sim"), *map(Path, filter(None, sys.path))))
    # What holds a hidden folder cannot be allowed as a whole.
    allowed = tuple(p for p in places if not any(h.startswith(p) for h in hidden))
    if not hidden:
        return

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event not in _OPENING or not arguments or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path = _absolute(os.fsdecode(arguments[0])) + "/"
        if path.startswith(hidden) and not path.startswith(allowed):
            raise BlindnessError(f"a process that talks to the model was about to open {path.rstrip('/')}")

    sys.addaudithook(watch)


def _forms(paths: tuple[Path, ...]) -> list[str]:
    """Return each path as written and with its links followed."""
    return sorted({form.rstrip("/") + "/" for p in paths for form in (_absolute(p), os.path.realpath(p))})


def _absolute(path: str | Path) -> str:
    """Return a path without `..`, as written otherwise: to resolve it would itself look at files."""
    return os.path.abspath(path)  # noqa: PTH100


def require_blind(path: Path, config: ToolConfig) -> None:
    """Look from inside the sandbox whether a suite's folder can be seen.

    Raises:
        UsageError: it can.
        SandboxError: the sandbox cannot be started.
    """
    if config.sandbox == "none":
        hint = "keep the sandbox, or say --no-blind: the result is then marked as such"
        raise UsageError("without the sandbox a design can read the hidden files while it is simulated", hint=hint)
    with scratch_folder() as work:
        seen = sandbox.run(["ls", "-d", str(path.resolve())], work=work, config=config)
    if seen.limit is not None:
        raise ToolError(f"the sandbox could not be looked into: {seen.limit}")
    if seen.returncode == 0:
        hint = "move the suite away from Python's and the system's folders, or say --no-blind"
        message = "the sandbox shows this folder, so a design could read the hidden files"
        raise UsageError(message, where=str(path), hint=hint)
