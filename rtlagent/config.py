"""rtlagent.toml, environment and flags, merged once into an immutable Config."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs


@dataclass(frozen=True)
class Limits:
    """What one tool process (and all its children) may use."""

    wall_s: float = 120.0
    cpu_s: int = 240
    memory_mb: int = 4096
    """Resident memory of the whole process tree, and of any one process."""
    processes: int = 128
    output_mb: float = 8.0
    """Standard output and standard error, each."""
    work_mb: int = 512
    """Size of the work folder, all files together."""


@dataclass(frozen=True)
class ToolConfig:
    """How tools are run."""

    sandbox: str = "bwrap"
    """`bwrap`, or `none` to run model-written text unconfined, knowingly."""
    cache_dir: Path = field(default_factory=lambda: default_cache_dir())
    limits: Limits = field(default_factory=Limits)


def default_cache_dir() -> Path:
    """Return the user's cache folder for rtlagent (RTLAGENT_CACHE_DIR overrides it)."""
    named = os.environ.get("RTLAGENT_CACHE_DIR")
    return Path(named) if named else platformdirs.user_cache_path("rtlagent")


def resource_dir(name: str) -> Path:
    """Return the folder `prompts` or `sim`: the wheel's copy, or the checkout's.

    Raises:
        FileNotFoundError: the installation is damaged.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"rtlagent's own folder {name!r} is missing from {package}")
