"""Options that the commands for C share, and how they read a C spec."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rtlagent.config import ToolConfig
    from rtlagent.spec import Asked
    from rtlagent.types import Spec

Top = Annotated[
    str | None,
    typer.Option("--top", help="The C function (or Verilog module) to be made.", show_default=False),
]
Target = Annotated[
    str | None,
    typer.Option("--target", help="generic, ice40, ecp5 (default for C) or xc7.", show_default=False),
]
Clock = Annotated[
    str | None,
    typer.Option(
        "--clock",
        help="For C: the clock to reach, such as 10ns or 100MHz. Without it, 10 ns is scheduled for and not required.",
        show_default=False,
    ),
]
Testbench = Annotated[
    list[Path] | None,
    typer.Option("--tb", help="For C: a further C file (whose main() tests it) or a data file.", show_default=False),
]
NoPragmas = Annotated[bool, typer.Option("--no-pragmas", help="For C: ignore `#pragma HLS`.")]


def asked(top: str | None, target: str | None, clock: str | None, files: Sequence[Path]) -> Asked:
    """Check what the options say.

    Raises:
        UsageError: an empty top, an unknown target, or no clock.
    """
    from rtlagent.errors import UsageError, suggestion
    from rtlagent.spec import TARGETS, Asked
    from rtlagent.spec.clock_period import CLOCK_FORMS, period_ns

    if top is not None and not top.strip():
        raise UsageError("names no function", where="--top")
    if target is not None and target not in TARGETS:
        raise UsageError(f"unknown target {target!r}", where="--target", hint=suggestion(target, TARGETS))
    try:
        period = None if clock is None else period_ns(clock)
    except ValueError as error:
        raise UsageError(str(error), where="--clock", hint=f"write {CLOCK_FORMS}") from None
    return Asked(top, target, period, tuple(files))


def load_c_spec(
    path: Path,
    tools: ToolConfig,
    *,
    top: str | None,
    target: str | None,
    clock: str | None,
    files: Sequence[Path],
) -> Spec:
    """Read a C spec and find its top.

    Raises:
        UsageError: it is none, or the top cannot be told.
    """
    from rtlagent.errors import UsageError
    from rtlagent.spec import load_spec

    spec = load_spec(path, asked(top, target, clock, files))
    if spec.c_source is None:
        hint = "a Markdown spec needs a ```c block that defines the top function, or `source: FILE.c` in front"
        raise UsageError("there is no C to compile", where=str(path), hint=hint)
    return with_top(spec, tools)


def with_top(spec: Spec, tools: ToolConfig) -> Spec:
    """Return the C spec with its top function named.

    Raises:
        UsageError: the top cannot be told.
        CSourceError: the C does not compile.
    """
    from rtlagent.agent.from_c import choose_top
    from rtlagent.types import digest

    spec = replace(spec, top=choose_top(spec, tools), sha256="")
    return replace(spec, sha256=digest(spec))


@contextmanager
def shown_from(path: Path) -> Iterator[None]:
    """Let errors name files as the user would: inside, paths are relative to the C file's folder or one above it."""
    from rtlagent.errors import UsageError

    try:
        yield
    except UsageError as error:
        first, colon, rest = error.where.partition(":")
        above = (path.parent, *path.parent.absolute().parents)
        file = next((folder / first for folder in above if first and (folder / first).is_file()), None)
        if file is not None:
            shown = file if path.is_absolute() else os.path.relpath(file)
            error.where = f"{shown}{colon}{rest}"
        raise
