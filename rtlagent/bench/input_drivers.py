"""Find a design that drives its own input ports, so that a test that reads the pins back would be deceived."""

from __future__ import annotations

from collections.abc import Sequence

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.lint import lint
from rtlagent.types import SourceFile

_CODES = frozenset({"ASSIGNIN", "InputPortCoercion"})


def driven_input(files: Sequence[SourceFile], top: str, config: ToolConfig) -> str:
    """Say where the module `top` drives an input of its own, or return ''.

    What the linters cannot read is the simulator's to refuse.
    """
    try:
        found = lint(files, top=top, language="systemverilog", policy=False, config=config)
    except UsageError:
        return ""
    return next((f"the answer drives its own input: {d}" for d in found.diagnostics if d.code in _CODES), "")
