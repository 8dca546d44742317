"""A tiny folder suite, `y = a + K`, and a real HTTP endpoint that answers its prompts with real designs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rtlagent.bench.exports import Finished, as_json
from rtlagent.bench.run_folder import RunFolder
from rtlagent.bench.store import open_store

PROGRAM = Path(sys.executable).parent / "rtlagent"

_SPEC = """---
top: add{k}
ports:
  - input [3:0] a
  - output [4:0] y
---
Output y is a plus {k}.
"""
_TEST = """module tb;
  reg [3:0] a; wire [4:0] y; integer n, bad = 0;
  add{k} dut(.a(a), .y(y));
  initial begin
    for (n = 0; n < 16; n = n + 1) begin a = n; #1; if (y !== n + {k}) bad = bad + 1; end
    if (bad == 0) $display("PASS"); else $display("FAIL: %0d wrong", bad);
    $finish;
  end
endmodule
"""
_DESIGN = "module add{k}(input [3:0] a, output [4:0] y);\n  assign y = a + 5'd{value};\nendmodule\n"


def make_suite(root: Path, count: int) -> Path:
    """Lay out the problems add0, add1, ..."""
    for k in range(count):
        folder = root / f"add{k}"
        for sub in ("tests", "golden"):
            (folder / sub).mkdir(parents=True)
        (folder / "spec.md").write_text(_SPEC.format(k=k))
        (folder / "tests" / "tb.v").write_text(_TEST.format(k=k))
        (folder / "golden" / f"add{k}.v").write_text(_DESIGN.format(k=k, value=k))
    return root


def reply_text(k: int, value: int) -> str:
    """Return a model's reply with a design that adds `value` where `k` is asked for."""
    return f"FILE: rtl/add{k}.v\n```verilog\n{_DESIGN.format(k=k, value=value)}```\n"


class Endpoint:
    """Answers `a plus K` with a design: right, but for the K in `wrong`; fails for those in `broken`."""

    def __init__(self, *, delay_s: float = 0.0, wrong: tuple[int, ...] = (), broken: tuple[int, ...] = ()) -> None:
        self.delay_s, self.wrong, self.broken = delay_s, wrong, broken
        self.asked: list[int] = []
        self.prompts: list[str] = []
        self.garbage = False
        handler = type("AdderHandler", (_Handler,), {"endpoint": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.model = f"http://127.0.0.1:{self.server.server_port}/v1#canned"

    def text_for(self, prompt: str) -> str | None:
        self.prompts.append(prompt)
        (number,) = re.findall(r"a plus (\d+)", prompt)
        k = int(number)
        self.asked.append(k)
        time.sleep(self.delay_s)
        if k in self.broken:
            return None
        return "I had rather not." if self.garbage else reply_text(k, k + 1 if k in self.wrong else k)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.endpoint.text_for(body["messages"][-1]["content"])
        if text is None:
            self._send(400, json.dumps({"error": {"message": "the server is not well"}}), "application/json")
            return
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "canned"}
        usage = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
        delta = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
        stop = {"index": 0, "delta": {}, "finish_reason": "stop"}
        chunks: list[dict[str, Any]] = [{"choices": [delta]}, {"choices": [stop]}, {"choices": [], "usage": usage}]
        lines = [f"data: {json.dumps({**head, **chunk})}\n\n" for chunk in chunks]
        self._send(200, "".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")

    def _send(self, status: int, text: str, kind: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.close_connection = True


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[Endpoint]:
    """Let the endpoint answer while the block runs."""
    thread = threading.Thread(target=endpoint.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
        thread.join()


def bench(*arguments: str | Path, cwd: Path, timeout_s: float = 240) -> subprocess.CompletedProcess[str]:
    """Run `rtlagent bench ...` to its end."""
    return subprocess.run(
        [str(PROGRAM), "bench", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )


def started(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    """Start `rtlagent bench ...`."""
    return subprocess.Popen(
        [str(PROGRAM), "bench", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finished_run(run: Path) -> Finished:
    """Return a run as its results base has it."""
    folder = RunFolder(run)
    about = folder.about()
    with open_store(folder.base) as store:
        return Finished(about.plan, about.record, tuple(store.results(about.id)))


def exported(run: Path) -> dict[str, Any]:
    """Return a run's JSON export."""
    document: dict[str, Any] = json.loads(as_json(finished_run(run)))
    return document
