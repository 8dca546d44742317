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


@dataclass(frozen=True)
class ModelConfig:
    """Which model is asked, and how."""

    name: str | None = None
    """Such as `openai:gpt-4.1` or `replay:run/model.jsonl`; None: whatever is found (see models.resolve)."""
    temperature: float | None = None
    """None: the provider's own default; several current models accept no other."""
    max_output_tokens: int | None = None
    """Of one request; None: the provider's own default."""
    context_tokens: int | None = None
    """Size of the context window where the provider cannot be asked for it; None: unknown."""
    request_timeout_s: float = 600.0
    """Longest silence of the endpoint, not the length of the whole reply."""
    retries: int = 5
    """Further tries after a connection error, a broken stream, 408, 409, 429 or 5xx."""
    continuations: int = 4
    """How often a reply that was cut at its length limit is continued."""
    stream: bool = True
    price_in_usd: float | None = None
    """Per million tokens, as the other two; None: the built-in table's figure."""
    price_cached_usd: float | None = None
    price_out_usd: float | None = None


@dataclass(frozen=True)
class BudgetConfig:
    """What a run may spend; None means no limit."""

    max_tokens: int | None = None
    """Tokens in and out together, cached ones included."""
    max_cost_usd: float | None = None
    max_iterations: int | None = 8
    max_time_s: float | None = None


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
