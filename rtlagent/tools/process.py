"""What came out of a process, whatever ran it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ProcessResult:
    """A finished (or killed) process tree."""

    argv: tuple[str, ...]
    returncode: int | None
    """None when it was killed at a limit; negative for a signal of its own."""
    stdout: str
    """UTF-8, undecodable bytes replaced; cut at the output limit."""
    stderr: str
    wall_s: float
    limit: str | None = None
    """Which limit ended it: `wall`, `cpu`, `memory`, `processes`, `output` or `work`; None: none did."""
