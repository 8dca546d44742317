"""Find running processes, to show that none is left."""

from __future__ import annotations

import os
from pathlib import Path


def processes_with(argument: str) -> list[int]:
    """Return the processes that have `argument` in their command line, zombies left out."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(argument.encode() in word for word in words) and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
