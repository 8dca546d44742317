"""A page's shell and its Python, which stay alive from block to block."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_END = re.compile(r"\x1e(\d+)\x1e")
_CHILD = Path(__file__).parent / "python_blocks.py"


class Shell:
    """One bash for all shell commands of a page."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )

    def run(self, command: str, *, limit_s: float) -> tuple[str, int]:
        """Return what a command prints, and its exit code.

        Raises:
            TimeoutError: it takes longer.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        script = f"{{ {command}\n}} </dev/null; last=$?; printf '\\036%s\\036' $last; (exit $last)\n"
        self._process.stdin.write(script.encode())
        self._process.stdin.flush()
        said, deadline = b"", time.monotonic() + limit_s
        while True:
            text = said.decode("utf-8", "replace")
            if end := _END.search(text):
                return text[: end.start()], int(end[1])
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"{command}: no end after {limit_s:.0f} s; it said:\n{text}")
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                raise TimeoutError(f"{command}: it ended the shell; it said:\n{text}")
            said += part

    def close(self) -> None:
        """End it and whatever it has left in the background."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class PythonSession:
    """One interpreter for all Python blocks of a page."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(_CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=environment,
            text=True,
            start_new_session=True,
        )

    def run(self, code: str, place: str) -> tuple[str, str]:
        """Return what a block prints, and its traceback or nothing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"code": code, "place": place}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return str(answer["said"]), str(answer["error"])

    def close(self) -> None:
        """End it."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@contextmanager
def page_session(folder: Path) -> Iterator[tuple[Shell, PythonSession]]:
    """Start both in a folder, with this interpreter's programs first on the path and none of the user's settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("RTLAGENT_") and not k.endswith("_API_KEY")}
    if cache := os.environ.get("RTLAGENT_CACHE_DIR"):
        kept["RTLAGENT_CACHE_DIR"] = cache
    programs = str(Path(sys.executable).parent)
    environment = {**kept, "PATH": f"{programs}{os.pathsep}{kept.get('PATH', '')}", "COLUMNS": "120"}
    shell, python = Shell(folder, environment), PythonSession(folder, environment)
    try:
        yield shell, python
    finally:
        shell.close()
        python.close()
