"""Serve the tools: over standard input and output, or over HTTP on this machine."""

from __future__ import annotations

import hmac
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio

from rtlagent import __version__
from rtlagent.errors import UsageError
from rtlagent.server import texts
from rtlagent.server.background import BackgroundRuns
from rtlagent.server.desk import Desk, DeskServer
from rtlagent.server.resources import add_resources
from rtlagent.server.tools import add_tools
from rtlagent.server.worker_process import Workers
from rtlagent.server.workspace import Workspace

HOST = "127.0.0.1"
PATH = "/mcp"
# ASGI's own forms.
_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


@asynccontextmanager
async def open_server(fixed: Workspace | None, flags: Mapping[str, object]) -> AsyncIterator[DeskServer]:
    """Make a server; at the end its runs, and all that they started, are ended.

    Args:
        fixed: The workspace; None: the client's roots.
        flags: Settings for `load_config`, such as `sandbox`.
    """
    workers = Workers(flags)
    async with anyio.create_task_group() as group:
        desk = Desk(workers, BackgroundRuns(group, workers), fixed)
        server = DeskServer(desk, instructions=texts.render("instructions"), version=__version__, log_level="WARNING")
        add_tools(server)
        add_resources(server)
        try:
            yield server
        finally:
            group.cancel_scope.cancel()


async def serve_stdio(fixed: Workspace | None, flags: Mapping[str, object]) -> None:
    """Serve one client on standard input and output, until its end closes."""
    async with open_server(fixed, flags) as server:
        await server.run_stdio_async()


async def serve_http(fixed: Workspace, flags: Mapping[str, object], *, port: int, token: str) -> None:
    """Serve clients on 127.0.0.1, to those who have the token only.

    Raises:
        UsageError: the port cannot be had.
    """
    import uvicorn

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        # From here on a client waits instead of being refused: the address is printed before the server accepts.
        listener.listen(128)
    except OSError as error:
        listener.close()
        hint = "choose another --port; 0 takes a free one"
        raise UsageError(f"cannot listen: {error.strerror}", where=f"{HOST}:{port}", hint=hint) from None
    with listener:
        port = listener.getsockname()[1]
        async with open_server(fixed, flags) as server:
            # With the host given, the SDK refuses other Host and Origin headers (DNS rebinding).
            app = TokenGate(server.streamable_http_app(host=HOST, streamable_http_path=PATH), token)
            config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2)
            print(f"rtlagent: http://{HOST}:{port}{PATH}, workspace {fixed.root}", file=sys.stderr, flush=True)
            await uvicorn.Server(config).serve(sockets=[listener])


@dataclass(frozen=True)
class TokenGate:
    """Lets only requests with `Authorization: Bearer TOKEN` through."""

    app: _App
    token: str

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer 401, or pass the request on."""
        if scope["type"] == "http" and not self._knows_token(scope):
            headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            body = b"this server wants the header Authorization: Bearer TOKEN, with the token it was started with\n"
            await send({"type": "http.response.body", "body": body})
            return
        await self.app(scope, receive, send)

    def _knows_token(self, scope: _Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(given, b"Bearer " + self.token.encode())
