"""The documentation builds without a warning, and opens from disk without a network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pages import ROOT, page_names

import rtlagent
from rtlagent.agent.report import RunReport
from rtlagent.hls.compile import HlsResult
from rtlagent.types import Metrics, StepResult, Verdict

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FETCHING = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class _Fetched(HTMLParser):
    """What a page loads by itself, and the ids that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if (tag, name) in _FETCHING and value:
                self.addresses.append(value)
            if name == "id" and value:
                self.ids.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    program = Path(sys.executable).parent / "mkdocs"
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [str(program), "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_every_page_is_there_and_loads_nothing_from_a_network(site: Path) -> None:
    assert {p.name for p in site.glob("*.html")} >= {n.replace(".md", ".html") for n in page_names()}
    for page in site.glob("*.html"):
        read = _Fetched()
        read.feed(page.read_text(encoding="utf-8"))
        assert read.addresses
        assert not [a for a in read.addresses if re.match(r"(https?:)?//", a)], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//", style.read_text(encoding="utf-8")), style


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    read = _Fetched()
    text = (site / "python.html").read_text(encoding="utf-8")
    read.feed(text)
    for name in set(rtlagent.__all__) - {"__version__"}:
        assert {i for i in read.ids if re.fullmatch(rf"rtlagent\.(\w+\.)?{name}", i)}, name
    assert "rtlagent.__version__" in text
    for kind in (StepResult, Verdict, Metrics, HlsResult, RunReport):
        missing = {f"{kind.__module__}.{kind.__name__}.{f.name}" for f in fields(kind)} - read.ids
        assert not missing


def test_the_pages_open_from_disk(site: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (pip install playwright)")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no chromium is installed (apt-get install chromium)")
    said: list[str] = []
    asked: list[str] = []
    with sync_api.sync_playwright() as play:
        # In a container there is often no user namespace for Chromium's own sandbox.
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        for name in page_names():
            page.goto((site / name.replace(".md", ".html")).as_uri())
            assert page.locator("h1").first.is_visible()
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.locator("input.md-search__input").press_sequentially("array_partition")
        found = page.locator(".md-search-result__item").first
        found.wait_for(timeout=20_000)
        assert "array_partition" in found.inner_text()
        browser.close()
    assert said == []
    assert [a for a in asked if not a.startswith(("file:", "data:", "blob:"))] == []
