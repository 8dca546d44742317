"""Real MCP client sessions with a real `rtlagent mcp`, over either transport."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, ListRootsResult, Root

COMMAND = [sys.executable, "-c", "from rtlagent.cli import main; main()", "mcp"]
TOKEN = "a-token-of-the-tests"
_HTTP = re.compile(r"http://127\.0\.0\.1:\d+/mcp")


def session(work: Callable[[], Coroutine[Any, Any, None]], limit_s: float = 120) -> None:
    """Run a client's coroutine to its end, in bounded time."""

    async def bounded() -> None:
        with anyio.fail_after(limit_s):
            await work()

    anyio.run(bounded)


@asynccontextmanager
async def stdio(root: Path | None, *, named: bool = True, mode: str = "auto") -> AsyncIterator[Client]:
    """Start a server for one client, which names `root` on the command line or as its root."""

    async def roots(_context: object) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=root.as_uri())] if root is not None else [])

    arguments = [*COMMAND[1:], *(["--root", str(root)] if named and root is not None else [])]
    parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env=_environment())
    ask = None if named or root is None else roots
    async with Client(parameters, mode=mode, list_roots_callback=ask) as client:
        yield client


@asynccontextmanager
async def http_server(root: Path) -> AsyncIterator[str]:
    """Start a server on a free port and give its address."""
    command = [*COMMAND, "--transport", "http", "--root", str(root), "--port", "0"]
    environment = {**os.environ, "RTLAGENT_MCP_TOKEN": TOKEN}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True)
    try:
        assert process.stderr is not None
        line = await anyio.to_thread.run_sync(process.stderr.readline)
        found = _HTTP.search(line)
        assert found, line
        yield found[0]
    finally:
        process.terminate()
        try:
            process.wait(20)
        finally:
            process.kill()
            process.communicate()


@asynccontextmanager
async def http(address: str, token: str = TOKEN, mode: str = "auto") -> AsyncIterator[Client]:
    """Connect a client to a server."""
    import httpx2

    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as web,
        Client(streamable_http_client(address, http_client=web), mode=mode) as client,
    ):
        yield client


def said(result: CallToolResult) -> str:
    """Return the text of a result."""
    return "\n".join(c.text for c in result.content if c.type == "text")


def data(result: CallToolResult) -> dict[str, Any]:
    """Return the data of a result that is no error."""
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    return dict(result.structured_content)


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "RTLAGENT_MCP_TOKEN"}
