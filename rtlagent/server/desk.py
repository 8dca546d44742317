"""Where the tools bring their requests: the workspace is settled, a worker does the work, the answer is made short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import Context, ListRoots, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ListRootsResult, TextContent

from rtlagent.errors import RtlagentError
from rtlagent.server.background import BackgroundRuns, RunState
from rtlagent.server.replies import Reply
from rtlagent.server.requests import Request
from rtlagent.server.worker_process import Workers
from rtlagent.server.workspace import Workspace, from_uris
from rtlagent.types import to_json

# Any: a context may carry a transport's own request and a lifespan's own state; neither is used.
Call = Context[Any, Any]


@dataclass
class Desk:
    """What all calls of a server share."""

    workers: Workers
    runs: BackgroundRuns
    fixed: Workspace | None
    """The workspace that the user named when the server was started; it stands over the client's roots."""
    last: Workspace | None = None
    """The one of the latest call, for the readers of resources: they cannot ask the client."""

    def choose(self, roots: ListRootsResult) -> Workspace:
        """Return the workspace of a call.

        Raises:
            UsageError: neither the user nor the client has named one.
        """
        self.last = self.fixed or from_uris(str(r.uri) for r in roots.roots)
        return self.last

    async def carry_out(self, request: Request, roots: ListRootsResult, call: Call) -> CallToolResult:
        """Do what is asked, and tell the client of the progress."""
        steps = 0

        async def tell(text: str) -> None:
            nonlocal steps
            steps += 1
            await call.report_progress(steps, None, text)

        with told():
            reply = await self.workers.run(request, self.choose(roots).root, tell)
        return answer(reply, is_error=reply.status == "ERROR")


class DeskServer(MCPServer[Any]):
    """An MCP server with a desk."""

    def __init__(self, desk: Desk, **options: Any) -> None:
        super().__init__("rtlagent", **options)
        self.desk = desk


def desk_of(call: Call) -> Desk:
    """Return the desk of the server that was called."""
    server = call.mcp_server
    assert isinstance(server, DeskServer)
    return server.desk


def ask_roots(call: Call) -> ListRoots | ListRootsResult:
    """Ask the client for its roots, if the user has not named the workspace and the client can answer."""
    can_answer = call.client_capabilities is not None and call.client_capabilities.roots is not None
    return ListRoots() if desk_of(call).fixed is None and can_answer else ListRootsResult(roots=[])


Roots = Annotated[ListRootsResult, Resolve(ask_roots)]


@contextmanager
def told() -> Iterator[None]:
    """Turn expected failures into errors that the client's model can act on."""
    try:
        yield
    except RtlagentError as error:
        raise ToolError(str(error)) from error


def answer(reply: Reply | RunState, *, is_error: bool = False) -> CallToolResult:
    """Return a reply as data, and as short text for clients that show that."""
    return CallToolResult(
        content=[TextContent(type="text", text=reply.text())], structured_content=to_json(reply), is_error=is_error
    )
