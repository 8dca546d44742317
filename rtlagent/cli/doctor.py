"""`rtlagent doctor`: is everything installed, and what for."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rtlagent.tools.toolchain import Tool


def doctor(
    warm: Annotated[
        bool, typer.Option("--warm", help="Also fill the caches (Verilator's runtime, nextpnr), about a minute.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """List the tools: found, version, needed, what for.

    bubblewrap is not only looked for: something is run in it, since a kernel or a container may refuse that.

    Exit codes: 0 everything required is there and works, 4 something is missing.
    """
    from rtlagent.config import load_config
    from rtlagent.errors import EXIT_PASS, EXIT_TOOL
    from rtlagent.tools.toolchain import find_tools
    from rtlagent.tools.toolchain import warm as fill_caches
    from rtlagent.types import to_json

    config = load_config().tools
    tools = find_tools(config)
    healthy = all(t.usable for t in tools if t.required)
    warmed = fill_caches(config, lambda text: print(text, file=sys.stderr)) if warm else ()
    healthy = healthy and not any(w.problem for w in warmed)
    if as_json:
        entries = [{**to_json(t), "usable": t.usable} for t in tools]
        print(json.dumps({"ok": healthy, "tools": entries, "warmed": to_json(warmed)}, indent=2))
    else:
        _print(tools)
        for cache in warmed:
            print(f"{cache.name}: {cache.problem or 'ready'}")
    raise typer.Exit(EXIT_PASS if healthy else EXIT_TOOL)


def _print(tools: Sequence[Tool]) -> None:
    from rtlagent.cli.render import Line, print_lines, table

    rows = [("tool", "found", "version", "needed", "used for", "installed by"), *(_row(t) for t in tools)]
    lines: list[Line] = []
    for text, tool in zip(table(rows), (None, *tools), strict=True):
        lines.append((text, "bold" if tool is None else _style(tool)))
    broken = [t for t in tools if not t.usable]
    if broken:
        lines.append(("", ""))
    for tool in broken:
        what = tool.problem or "not found"
        lines.append((f"{tool.name}: {what}", _style(tool)))
        # Installing again does not help against a kernel that refuses.
        if not tool.problem or "newer is needed" in tool.problem or "missing" in tool.problem:
            lines.append((f"    {tool.install}", ""))
    missing = sum(t.required for t in broken)
    lines.append(("", ""))
    if missing:
        lines.append(
            (f"{missing} of the required tools {'is' if missing == 1 else 'are'} missing or unusable", "bold red")
        )
    else:
        lines.append(("everything required is there", "bold green"))
    print_lines(lines)


def _row(tool: Tool) -> tuple[str, ...]:
    found = "yes" if tool.usable else ("no" if tool.version is None else "unusable")
    needed = f"{'required' if tool.required else 'optional'}{f', {tool.minimum}+' if tool.minimum else ''}"
    return tool.name, found, tool.version or "-", needed, tool.purpose, tool.install


def _style(tool: Tool) -> str:
    if tool.usable:
        return ""
    return "bold red" if tool.required else "yellow"
