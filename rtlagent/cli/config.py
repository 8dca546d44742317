"""`rtlagent config`: each setting, and where its value came from."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated

import typer


def config(
    name: Annotated[
        str | None, typer.Argument(help="Show only settings whose name contains this.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    changed: Annotated[bool, typer.Option("--changed", help="Leave out what is at its default.")] = False,
) -> None:
    """Show each setting and where its value came from.

    A command's flag stands over a RTLAGENT_ variable, which stands over the nearest rtlagent.toml, in this folder or
    one above, which stands over the default. Keys of models are not settings and are not shown.

    Exit codes: 0 shown, 2 a setting is wrong or unknown.
    """
    from rtlagent.cli.render import table
    from rtlagent.config import find_config_file, setting_origins
    from rtlagent.errors import UsageError, suggestion
    from rtlagent.printable import printable

    origins = setting_origins(env=os.environ, start=Path.cwd())
    shown = [o for o in origins if (name is None or name in o.name) and not (changed and o.source == "default")]
    if name is not None and not any(name in o.name for o in origins):
        hint = suggestion(name, [o.name for o in origins]) or suggestion(name, [o.name.split(".")[-1] for o in origins])
        raise UsageError(f"there is no setting {name!r}", hint=hint)
    file = find_config_file(Path.cwd())
    if as_json:
        entries = {o.name: {"value": _plain(o.value), "source": o.source, "variable": o.variable} for o in shown}
        print(json.dumps({"file": str(file) if file else None, "settings": entries}, indent=1))
        return
    print(f"file: {file or 'no rtlagent.toml here or above'}\n")
    rows = [("setting", "value", "from", "variable")]
    rows += [(o.name, _text(o.value), o.source, o.variable) for o in shown]
    print(printable("\n".join(table(rows))))


def _plain(value: object) -> object:
    return _text(value) if isinstance(value, Path | str) else value


def _text(value: object) -> str:
    """Write a value; a password in a model's address is left out."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return re.sub(r"//[^/@\s]*@", "//...@", str(value))
