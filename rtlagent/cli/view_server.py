"""The viewer in the browser: a list of runs and their reports, made anew while they go on.

Other users of the machine reach a port on 127.0.0.1, too, and so do pages of the web that the user has open: the
address holds a secret, a request has to name this host, and nothing but GET is answered. No script runs.
"""

from __future__ import annotations

import html
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit

from rtlagent.cli.view_page import open_page, page_folder, write_page
from rtlagent.cli.view_runs import COLUMNS, MARKS, RunList, RunSummary, WatchedBench, WatchedRun, watched_run
from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, UsageError
from rtlagent.printable import printable

_HOST = "127.0.0.1"
_RUNNING_EVERY_S, _IDLE_EVERY_S = 2, 15
_SLOW_S = 1.0
_REST = 3
"""A page of a run that goes on is made again after so many times what making it took."""
_OPEN_FOLDERS = frozenset(("logs", "rtl", "tb"))
"""Of a run: what its report links to."""
_PIECE_BYTES = 1 << 20
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid #8885; vertical-align: top; }
td { overflow-wrap: anywhere; }
"""

Watched = WatchedRun | WatchedBench


@dataclass
class _Page:
    """A report that was made."""

    path: Path
    stamp: object = None
    made_at: float = 0.0
    took_s: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class Site:
    """What the server answers with.

    Args:
        runs: The runs that may be seen.
        opened: A further one, wherever it is.
        pages: Where reports are kept.
        tools: How tools are run that draw the design.
    """

    def __init__(self, runs: RunList, opened: Watched | None, pages: Path, tools: ToolConfig) -> None:
        self._runs = runs
        self._opened = opened
        self._pages = pages
        self._tools = tools
        self._made: dict[Path, _Page] = {}
        self._lock = threading.Lock()

    def summaries(self) -> list[RunSummary]:
        """Return the runs, the opened one first if it lies elsewhere."""
        with self._lock:
            found = self._runs.poll()
            opened = self._opened
            if opened is not None and all(s.path.resolve() != opened.path.resolve() for s in found):
                found.insert(0, opened.summary())
        return found

    def find(self, parts: Sequence[str]) -> tuple[RunSummary, list[str]] | None:
        """Return the run that a path names and the rest of the path; only names that the list has are found."""
        for summary in self.summaries():
            name = summary.id.split("/")
            if list(parts[: len(name)]) == name:
                return summary, list(parts[len(name) :])
        return None

    def report(self, run: RunSummary) -> tuple[bytes, bool]:
        """Return a run's report, and whether it tells all that the run has done.

        One that takes long to make is made anew in the background; until then there is the one before.

        Raises:
            RtlagentError: it cannot be made.
        """
        with self._lock:
            page = self._made.setdefault(run.path, _Page(self._pages / f"{len(self._made)}.html"))
        stamp = (_stamp(run), run.state, run.finished)
        if page.stamp is None or (stamp != page.stamp and page.took_s < _SLOW_S):
            self._make(page, run, stamp)
        elif stamp != page.stamp and not page.lock.locked():
            rests = run.running and time.monotonic() < page.made_at + _REST * page.took_s
            if not rests:
                threading.Thread(target=self._make, args=(page, run, stamp), daemon=True).start()
        return page.path.read_bytes(), stamp == page.stamp

    def _make(self, page: _Page, run: RunSummary, stamp: object) -> None:
        with page.lock:
            if stamp == page.stamp:
                return  # another request has made it meanwhile
            start = time.monotonic()
            write_page(run.path, page.path, running=run.running, tools=self._tools)
            page.stamp, page.made_at = stamp, time.monotonic()
            page.took_s = page.made_at - start


def _stamp(run: RunSummary) -> object:
    """Return something that is another whenever the run's report may be."""
    # Results on a server tell nothing of a change.
    found = [(int(time.time() // _IDLE_EVERY_S), 0)] if run.kind == "bench" and run.finished is None else []
    for name in (*MARKS, "results.sqlite", "results.sqlite-wal"):
        with suppress(OSError):
            status = (run.path / name).stat()
            found.append((status.st_size, status.st_mtime_ns))
    return found


class Server(ThreadingHTTPServer):
    """Serves a site below a secret.

    Args:
        site: What is served.
        port: Port on 127.0.0.1; 0: a free one.
    """

    daemon_threads = True
    # Another process could otherwise take the port beside us and get the secret.
    allow_reuse_port = False

    def __init__(self, site: Site, port: int) -> None:
        self.site = site
        self.token = secrets.token_urlsafe(24)
        super().__init__((_HOST, port), _Handler)

    @property
    def url(self) -> str:
        """Address of the list."""
        return f"http://{_HOST}:{self.server_port}/{self.token}/"

    def url_of(self, run: RunSummary) -> str:
        """Address of a run's page."""
        return f"{self.url}run/{quote(run.id)}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away is no error; anything else is told in one line."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            print(printable(f"warning: a request was not answered: {error!r}"), file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    """Answers a request."""

    timeout = 30
    server_version = "rtlagent"
    sys_version = ""
    _begun = False

    @property
    def _server(self) -> Server:
        return cast(Server, self.server)

    def do_GET(self) -> None:
        """Answer; a fault of ours is told here and there, and the server goes on."""
        try:
            self._answer()
        except (ConnectionError, TimeoutError):
            raise
        except Exception as error:
            told = f"unexpected {type(error).__name__}: {error}"
            print(printable(f"warning: a request was not answered: {told}"), file=sys.stderr, flush=True)
            if not self._begun:
                self._say(HTTPStatus.INTERNAL_SERVER_ERROR, told)

    def _answer(self) -> None:
        port = self._server.server_port
        if self.headers.get_all("Host") not in ([f"{_HOST}:{port}"], [f"localhost:{port}"]):
            self._say(HTTPStatus.FORBIDDEN, "this host is not served")
            return
        path = urlsplit(self.path).path
        try:
            parts = [unquote(p, errors="strict") for p in path.split("/")[1:]]
        except UnicodeDecodeError:
            parts = []
        given = parts[0].encode() if parts else b""
        known = secrets.compare_digest(given, self._server.token.encode())
        if not known or any(p in (".", "..") or "/" in p or "\0" in p for p in parts):
            self._say(HTTPStatus.NOT_FOUND, "not found")
        elif parts[1:] == [""]:
            self._list()
        elif parts[1:2] == ["run"]:
            self._run(parts[2:])
        else:
            self._say(HTTPStatus.NOT_FOUND, "not found")

    def _refuse(self) -> None:
        self._say(HTTPStatus.METHOD_NOT_ALLOWED, "only GET is answered", {"Allow": "GET"})

    do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _refuse

    def log_message(self, format: str, *args: object) -> None:
        """Keep requests off the terminal: their paths hold the secret."""

    def _list(self) -> None:
        found = self._server.site.summaries()
        rows = "".join(_row(s, f"run/{quote(s.id)}/") for s in found)
        heads = "".join(f'<th scope="col">{c}</th>' for c in COLUMNS)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        every = _RUNNING_EVERY_S if any(s.running for s in found) else _IDLE_EVERY_S
        body = table if found else "<p>There is no run yet.</p>"
        self._send(_page("Runs", body), headers={"Refresh": str(every)})

    def _run(self, parts: list[str]) -> None:
        found = self._server.site.find(parts)
        if found is None:
            self._say(HTTPStatus.NOT_FOUND, "there is no such run")
            return
        run, rest = found
        if not rest:
            self._say(HTTPStatus.MOVED_PERMANENTLY, "here", {"Location": f"/{self._server.token}/run/{quote(run.id)}/"})
        elif rest == [""]:
            self._report(run)
        elif run.kind == "bench" and rest[0] == "tasks":
            self._task(run, rest)
        elif rest[0] in _OPEN_FOLDERS:
            self._file(run.path / rest[0], rest[1:])
        else:
            self._say(HTTPStatus.NOT_FOUND, "not found")

    def _report(self, run: RunSummary) -> None:
        try:
            data, whole = self._server.site.report(run)
        except RtlagentError as error:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, str(error), _refresh(run))
            return
        self._send(data, headers=_refresh(run) if whole else {"Refresh": str(_RUNNING_EVERY_S)})

    def _task(self, bench: RunSummary, rest: list[str]) -> None:
        """Answer with the report of the run that answered a task, or with a file of the task's."""
        root = bench.path / "tasks"
        inside = [p for p in rest[1:] if p]
        folder = inside[:-1] if inside[-1:] == ["report.html"] else inside
        path = _inside(root, folder)
        watched = watched_run(path, path.name) if path is not None and path.is_dir() else None
        if watched is not None:
            self._report(watched.summary())
        elif path is not None and path.is_dir():
            names = sorted(f"{p.name}/" if p.is_dir() else p.name for p in path.iterdir())
            here = f"/{self._server.token}/run/{quote(bench.id)}/{quote('/'.join(['tasks', *inside]))}/"
            links = "".join(f'<li><a href="{html.escape(here + quote(n))}">{_text(n)}</a></li>' for n in names)
            self._send(_page("/".join(inside), f"<ul>{links}</ul>"))
        else:
            self._file(root, inside)

    def _file(self, root: Path, parts: Sequence[str]) -> None:
        """Send a file of a run as plain text, whatever is in it."""
        path = _inside(root, parts)
        try:
            if path is None or not path.is_file():
                self._say(HTTPStatus.NOT_FOUND, "not found")
                return
            with path.open("rb") as file:
                self._stream(file, path.stat().st_size)
        except OSError as error:
            if isinstance(error, ConnectionError | TimeoutError):
                raise
            self._say(HTTPStatus.NOT_FOUND, "it cannot be read")

    def _stream(self, file: BinaryIO, size: int) -> None:
        self._begin(HTTPStatus.OK, "text/plain; charset=utf-8", size, {})
        while size > 0 and (data := file.read(min(size, _PIECE_BYTES))):
            self.wfile.write(data)
            size -= len(data)

    def _say(self, status: HTTPStatus, text: str, headers: dict[str, str] | None = None) -> None:
        self._send(_page(status.phrase, f"<p>{_text(text)}</p>"), status, headers)

    def _send(self, data: bytes, status: HTTPStatus = HTTPStatus.OK, headers: dict[str, str] | None = None) -> None:
        self._begin(status, "text/html; charset=utf-8", len(data), headers or {})
        if self.command != "HEAD":
            self.wfile.write(data)

    def _begin(self, status: HTTPStatus, kind: str, size: int, headers: dict[str, str]) -> None:
        self._begun = True
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(size), **_HEADERS, **headers}.items():
            self.send_header(name, value)
        self.end_headers()


def _refresh(run: RunSummary) -> dict[str, str]:
    return {"Refresh": str(_RUNNING_EVERY_S)} if run.running else {}


def _inside(root: Path, parts: Sequence[str]) -> Path | None:
    """Return a path below `root`; None: it leads out of it, by a link, say."""
    with suppress(OSError, ValueError, RuntimeError):
        path = root.joinpath(*parts).resolve()
        if path.is_relative_to(root.resolve()):
            return path
    return None


def _text(text: str) -> str:
    return html.escape(printable(text))


def _row(run: RunSummary, link: str) -> str:
    first, *others = (_text(c) for c in run.cells())
    cells = "".join(f"<td>{c}</td>" for c in others)
    return f'<tr><td><a href="{html.escape(link)}">{first}</a></td>{cells}</tr>'


def _page(title: str, body: str) -> bytes:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><main><h1>{_text(title)}</h1>{body}</main></body></html>"
    ).encode("utf-8", "replace")


def serve(runs: RunList, opened: Watched | None, *, port: int, opens: bool, tools: ToolConfig) -> None:
    """Serve until Ctrl-C; the address is printed and handed to the browser.

    Raises:
        UsageError: the port cannot be used.
    """
    with page_folder() as pages:
        site = Site(runs, opened, Path(pages), tools)
        try:
            server = Server(site, port)
        except OSError as error:
            hint = "name another with --port, or leave it out for a free one"
            raise UsageError(
                f"the port cannot be used: {error.strerror}", where=f"{_HOST}:{port}", hint=hint
            ) from error
        with server:
            place = server.url
            if opened is not None:
                place = server.url_of(next(s for s in site.summaries() if s.path.resolve() == opened.path.resolve()))
            with suppress(KeyboardInterrupt):
                print("Ctrl-C ends it", file=sys.stderr, flush=True)
                print(place, flush=True)
                if opens:
                    threading.Thread(target=open_page, args=(place,), daemon=True).start()
                server.serve_forever(poll_interval=0.2)
