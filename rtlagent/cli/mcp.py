"""`rtlagent mcp`: serve the tools to a coding agent."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

TOKEN_VARIABLE = "RTLAGENT_MCP_TOKEN"


class _Transport(StrEnum):
    stdio = "stdio"
    http = "http"


class _Sandbox(StrEnum):
    bwrap = "bwrap"
    none = "none"


def mcp(
    root: Annotated[
        Path | None,
        typer.Option(
            "--root",
            metavar="DIR",
            help="The workspace (default: the first root that the client names).",
            show_default=False,
        ),
    ] = None,
    transport: Annotated[
        _Transport, typer.Option("--transport", help="stdio: for one client that starts it.")
    ] = _Transport.stdio,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="For http; 0: a free one.")] = 8765,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Whom start_run asks about a spec in prose, as for generate.", show_default=False
        ),
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="US dollars that one such run may spend.", show_default=False)
    ] = None,
    sandbox: Annotated[
        _Sandbox | None,
        typer.Option("--sandbox", help="bwrap (default), or none: run all text unconfined.", show_default=False),
    ] = None,
) -> None:
    """Serve the tools to a coding agent over MCP.

    The agent's own model writes the RTL; lint, simulate, synthesize, place_and_route, equiv, verify, grade, compile_c
    and more judge it. No API key is needed. Files outside the workspace are neither read nor written, and no
    rtlagent.toml is read: settings come from these options and RTLAGENT_ variables.

    http listens on 127.0.0.1 and wants the header `Authorization: Bearer TOKEN`. The token is RTLAGENT_MCP_TOKEN; where
    that is not set, a new one is printed.

    Exit codes: 0 the client has gone, 2 wrong input, 4 a tool or the port cannot be used.

    Such as:

      rtlagent mcp --root .

      RTLAGENT_MCP_TOKEN=secret rtlagent mcp --transport http --root . --port 8765
    """
    import anyio

    from rtlagent.config import load_config
    from rtlagent.errors import UsageError
    from rtlagent.server.transports import serve_http, serve_stdio
    from rtlagent.server.workspace import workspace

    given = {"sandbox": sandbox.value if sandbox else None, "model": model, "max_cost": max_cost}
    flags = {name: value for name, value in given.items() if value is not None}
    load_config(flags=flags, start=Path("/"))  # a wrong setting is told now, not at the first call
    fixed = workspace(root) if root is not None else None
    if transport is _Transport.stdio:
        anyio.run(serve_stdio, fixed, flags)
        return
    if fixed is None:
        raise UsageError("over http the workspace must be named", hint="add --root DIR")
    anyio.run(partial(serve_http, fixed, flags, port=port, token=_token()))


def _token() -> str:
    import secrets

    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        token = secrets.token_urlsafe(24)
        print(f"token: {token}", file=sys.stderr, flush=True)
    return token
