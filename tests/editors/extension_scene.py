"""A workspace for the extension's tests in VS Code, a VS Code server, and a browser that opens the one in the other."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

LEAF = "module leaf(input clk, input d, output reg q);\n  always @(posedge clk) q <= d;\nendmodule\n"
TOP = """// module none
/* module none */
module top(input clk, input d, output q);
  leaf u0(.clk(clk), .d(d), .q(q));
endmodule
"""
WARNED = "module warned(input [7:0] a, output [3:0] q);\n  assign q = a;\nendmodule\n"
TEST = """import cocotb
from cocotb.triggers import Timer


@cocotb.test()
async def passes(dut):
    dut.d.value = 1
    dut.clk.value = 0
    await Timer(1, "ns")
    dut.clk.value = 1
    await Timer(1, "ns")
    assert dut.q.value == 1
"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def lay_out(workspace: Path, runs: Path) -> None:
    """Write a workspace whose own settings name a program that leaves a trace when it is run."""
    for folder in ("rtl", "tests", ".vscode"):
        (workspace / folder).mkdir(parents=True)
    evil = workspace / "evil"
    evil.write_text(f'#!/bin/sh\ntouch "{workspace}/owned"\n')
    evil.chmod(0o755)
    (workspace / ".vscode/settings.json").write_text(json.dumps({"rtlagent.executable": str(evil)}))
    (workspace / "rtl/leaf.v").write_text(LEAF)
    (workspace / "rtl/top file.sv").write_text(TOP)
    (workspace / "rtl/warned.v").write_text(WARNED)
    (workspace / "tests/test_leaf.py").write_text(TEST)
    shutil.copytree(runs, workspace / "runs")


@dataclass
class Session:
    """What was seen while the tests ran in the extension host."""

    exit_code: int | None = None
    log: list[str] = field(default_factory=list)
    status: str = ""
    """The status bar's text."""
    lenses: list[str] = field(default_factory=list)
    """The texts above modules."""
    report: str = ""
    """The text of the report's panel."""
    opened: bool = False
    """Whether a link in the report opened a file of the run."""


@contextlib.contextmanager
def server(installed: Path, data: Path, rtlagent: str, *, trusting: bool) -> Iterator[int]:
    """Start a VS Code server on the loopback and give its port."""
    settings = data / "data/Machine/settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"rtlagent.executable": rtlagent}))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    main = installed / "node_modules/code-server/lib/vscode/out/server-main.js"
    options = ["--host", "127.0.0.1", "--port", str(port), "--without-connection-token"]
    options += ["--accept-server-license-terms", "--server-data-dir", str(data)]
    options += ["--disable-workspace-trust"] if trusting else []
    with (data / "server.log").open("w") as log:
        process = subprocess.Popen(
            ["node", str(main), *options], stdout=log, stderr=subprocess.STDOUT, cwd=data, start_new_session=True
        )
    try:
        wait_for(port, process, data / "server.log")
        yield port
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until somebody listens."""
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"the VS Code server did not start:\n{log.read_text()[-2000:]}")


def run_host_tests(browser: Any, port: int, workspace: Path, extension: Path, *, limit_s: float) -> Session:
    """Open the workspace in a browser, with the extension and its tests, and look on until these end."""
    session = Session()
    page = browser.new_page(viewport={"width": 1280, "height": 800})

    def ended(code: int, *_logs: object) -> None:
        session.exit_code = code

    page.expose_function("codeAutomationLog", lambda kind, args: None)
    page.expose_function("codeAutomationExit", ended)
    page.on("console", lambda message: session.log.append(message.text))
    place = f"vscode-remote://localhost:{port}"
    payload = [
        ["extensionDevelopmentPath", f"{place}{quote(str(extension))}"],
        ["extensionTestsPath", f"{place}{quote(str(extension))}/out/test/host/index"],
        ["skipWelcome", "true"],
    ]
    page.goto(f"http://localhost:{port}/?folder={quote(str(workspace))}&payload={quote(json.dumps(payload))}")
    end = time.monotonic() + limit_s
    while session.exit_code is None and time.monotonic() < end:
        page.wait_for_timeout(500)
        look(page, session)
        if "sync_fifo" in session.report and not (workspace / "report seen").exists():
            session.opened = follow_link(page)
            (workspace / "report seen").touch()
    page.close()
    return session


def look(page: Any, session: Session) -> None:
    """Keep what the window shows; a part that is gone while it is read is read the next time."""
    from playwright.sync_api import Error

    with contextlib.suppress(Error):
        item = page.locator('.statusbar-item[id^="rtlagent"]')
        if item.count():
            session.status = item.first.inner_text(timeout=1000).strip()
        session.lenses += page.locator(".codelens-decoration").all_inner_texts()
        for frame in page.frames:
            if frame.url.partition("?")[0].endswith("/fake.html"):
                session.report = frame.locator("body").inner_text(timeout=1000)


def follow_link(page: Any) -> bool:
    """Click the report's link to the design and tell whether an editor shows it."""
    from playwright.sync_api import Error

    frame = next(f for f in page.frames if f.url.partition("?")[0].endswith("/fake.html"))
    link = frame.locator('a[href*="rtl%2Fsync_fifo.v"]').first
    try:
        link.evaluate(
            "node => { for (let at = node; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true; }"
        )
        link.click(timeout=10_000)
        page.locator('.tab[data-resource-name="sync_fifo.v"]').first.wait_for(timeout=15_000)
    except Error:
        return False
    return True
