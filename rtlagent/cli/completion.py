"""What the shell offers for an argument when Tab is pressed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_MOST = 200
"""Names that are offered; the latest runs."""


def run_names(incomplete: str) -> list[str]:
    """Return the runs whose name begins with what was typed so far, the latest first.

    Nothing is offered where the settings cannot be read: a shell's line is no place for an error.
    """
    from rtlagent.config import load_config
    from rtlagent.errors import RtlagentError

    with suppress(RtlagentError, OSError):
        folder = load_config(start=Path.cwd()).runs_dir
        found = [p.name for p in folder.iterdir() if p.name.startswith(incomplete) and (p / "spec.json").is_file()]
        return sorted(found, reverse=True)[:_MOST]
    return []


def codes(incomplete: str) -> list[str]:
    """Return the diagnostic codes that begin with what was typed."""
    from rtlagent.cli.explain import load_explanations

    return sorted(c for c in load_explanations() if c.startswith(incomplete))


def suite_names(incomplete: str) -> list[str]:
    """Return the benchmark suites that begin with what was typed."""
    from rtlagent.bench.suites import SUITES

    return [name for name in SUITES if name.startswith(incomplete)]
