"""Run a tool over model-written text, confined by bubblewrap."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rtlagent.config import Limits, ToolConfig
from rtlagent.tools.process import ProcessResult


def run(
    argv: Sequence[str],
    *,
    work: Path,
    config: ToolConfig,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    readonly: Sequence[Path] = (),
) -> ProcessResult:
    """Run `argv` with `work` as its current and only writable folder (seen inside as /work).

    PLACEHOLDER without confinement; the interface is final, the body is being replaced.

    The files in `work` are there when it starts; the regular files it made or changed are in
    `work` when this returns, also after a limit. `readonly` are further host paths it may read,
    at their own place. The environment is exactly `env` plus PATH, HOME, TMPDIR and LANG.

    Raises:
        SandboxError: bubblewrap is missing or the kernel refuses it.
        ToolMissingError: argv[0] is not found.
    """
    limits = limits or config.limits
    start = time.monotonic()
    base = {"PATH": "/usr/bin:/bin", "HOME": str(work), "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
    try:
        done = subprocess.run(
            list(argv), cwd=work, env=base | dict(env or {}), input=stdin.encode(), capture_output=True,
            timeout=limits.wall_s, check=False,
        )
    except subprocess.TimeoutExpired as expired:
        out, err = (e or b"" for e in (expired.stdout, expired.stderr))
        return ProcessResult(tuple(argv), None, out.decode(errors="replace"), err.decode(errors="replace"),
                             time.monotonic() - start, "wall")
    return ProcessResult(tuple(argv), done.returncode, done.stdout.decode(errors="replace"),
                         done.stderr.decode(errors="replace"), time.monotonic() - start)
