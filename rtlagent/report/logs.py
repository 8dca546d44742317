"""The logs of a run: short ones whole, of long ones the beginning and the end, and a link to each."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.report.folder import RunFolder
from rtlagent.report.text import clip

_HEAD, _TAIL = 8_000, 24_000
_ALL_BYTES = 1_500_000
"""Of all logs that stand in the page together."""
_MOST_NAMED = 400
_SHOWN = (".log", ".txt")


@dataclass(frozen=True)
class Log:
    """A file below logs/."""

    path: str
    size: int
    """Bytes."""
    head: str
    left_out: int
    """Bytes between head and tail, or after the head."""
    tail: str

    @property
    def is_shown(self) -> bool:
        """Some of its text stands in the page."""
        return bool(self.head or self.tail)


def read_logs(folder: RunFolder, first: str) -> tuple[tuple[Log, ...], int]:
    """Return the run's files below logs/, and how many more there are.

    Args:
        folder: The run.
        first: Folder of the logs that matter most, such as `logs/1a2b3c4d5e`: they come first.
    """
    paths = sorted(folder.logs(), key=lambda p: (not first or not p.as_posix().startswith(f"{first}/"), p.as_posix()))
    room = _ALL_BYTES
    found = []
    for path in paths[:_MOST_NAMED]:
        log = _read(folder, path.as_posix(), room)
        if log is not None:
            found.append(log)
            room -= len(log.head) + len(log.tail)
    return tuple(found), max(0, len(paths) - _MOST_NAMED)


def _read(folder: RunFolder, name: str, room: int) -> Log | None:
    path = folder.path / name
    try:
        size = path.stat().st_size
        if not name.endswith(_SHOWN) or room <= 0:
            return Log(name, size, "", size, "")
        with path.open("rb") as file:
            if size <= min(room, _HEAD + _TAIL):
                return Log(name, size, _text(file.read(_HEAD + _TAIL)), 0, "")
            head = file.read(min(room, _HEAD))
            if room < _HEAD + _TAIL:
                return Log(name, size, _text(head), size - len(head), "")
            file.seek(size - _TAIL)
            tail = file.read(_TAIL)
    except OSError as error:
        folder.note(f"{name} cannot be read: {error.strerror}")
        return None
    return Log(name, size, _text(head), size - len(head) - len(tail), _text(tail))


def _text(data: bytes) -> str:
    return clip(data.decode(errors="replace"), 2 * (_HEAD + _TAIL))
