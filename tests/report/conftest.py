"""A run that was repaired, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from report_runs import repaired_run

from rtlagent.config import ToolConfig
from rtlagent.workspace import Run

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass
class Opened:
    """A page in the browser, and what it said and asked for."""

    page: object
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Browser:
    """Opens files, each in a context of its own."""

    program: object

    def open(self, path: Path, *, width: int = 1280, scheme: str = "light") -> Opened:
        context = self.program.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: opened.console.append(message.text))
        opened.page.on("pageerror", lambda error: opened.console.append(str(error)))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(path.as_uri())
        return opened


# While Playwright is there an event loop runs in this thread, in which tests of other folders could not start theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install playwright)")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no chromium is installed (apt-get install chromium)")
    with sync_api.sync_playwright() as play:
        # In a container there is often no user namespace for Chromium's own sandbox.
        started = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield Browser(started)
        started.close()


@pytest.fixture(scope="session")
def repaired(tmp_path_factory: pytest.TempPathFactory, tool_config: ToolConfig) -> Run:
    """Return a finished run; nobody may change it."""
    return repaired_run(tmp_path_factory.mktemp("repaired"), tool_config)


@pytest.fixture
def copied(repaired: Run, tmp_path: Path) -> Path:
    """Return a copy of that run's folder, to be damaged."""
    folder = tmp_path / repaired.folder.name
    shutil.copytree(repaired.folder, folder)
    (folder / "report.html").unlink()
    return folder
