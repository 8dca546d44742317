"""Rules for model-written RTL, so that a design cannot cheat or attack its own judge."""

from __future__ import annotations

from typing import Any

from rtlagent.types import Diagnostic


def check(parsed: Any, places: Any, job: Any) -> list[Diagnostic]:
    """Return a diagnostic for each rule that the design breaks."""
    return []
