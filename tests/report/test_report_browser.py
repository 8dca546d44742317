"""The report in a real browser: quiet, offline, readable at two widths and in two schemes, all of it by keyboard."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import Browser

from rtlagent.report import write_report
from rtlagent.workspace import Run

PERF = Path(__file__).resolve().parents[2] / "benchmarks" / "perf" / "report.py"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_quiet_and_fits(repaired: Run, browser: Browser, width: int, scheme: str) -> None:
    path = repaired.folder / "report.html"
    opened = browser.open(path, width=width, scheme=scheme)
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert opened.console == []
    assert opened.requests == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # Every picture and table that is wider than its box can be scrolled by keyboard.
    stuck = """[...document.querySelectorAll('#main *')].filter(e => e.scrollWidth > e.clientWidth + 1
        && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0).length"""
    assert page.evaluate(stuck) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_what_is_behind_them(repaired: Run, browser: Browser, scheme: str) -> None:
    """Contrast of at least 4.5 to 1, as WCAG 2.1 asks for, of every badge and of the plain texts."""
    page = browser.open(repaired.folder / "report.html", scheme=scheme).page
    measured = page.evaluate(
        """() => {
          const rgb = s => s.match(/[0-9.]+/g).map(Number);
          const light = c => c.slice(0, 3).map(v => v / 255)
            .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
          const behind = e => { for (; e; e = e.parentElement) {
            const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
            return [255, 255, 255]; };
          const texts = '.badge, .soft, h2, td, dt, a, summary, figcaption, pre span';
          return [...document.querySelectorAll(texts)].map(e => {
            const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
            return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.className + ' ' + e.tagName]; });
        }"""
    )
    assert len(measured) > 100
    assert min(measured)[0] >= 4.5, min(measured)


def test_everything_is_reached_by_keyboard(repaired: Run, browser: Browser) -> None:
    page = browser.open(repaired.folder / "report.html").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    seen: set[str] = set()
    for _ in range(400):
        page.keyboard.press("Tab")
        where = page.evaluate(
            """() => { const e = document.activeElement;
              return [e.tagName, e.textContent.trim().slice(0, 40), getComputedStyle(e).outlineStyle]; }"""
        )
        if where[0] == "BODY":
            break
        assert where[2] == "solid", where
        seen.add(f"{where[0]} {where[1]}")
    summaries = page.evaluate(
        """[...document.querySelectorAll('summary')].filter(e => e.checkVisibility())
           .map(e => 'SUMMARY ' + e.textContent.trim().slice(0, 40))"""
    )
    assert len(summaries) > 15
    assert set(summaries) <= seen


def test_a_closed_part_opens_by_keyboard(repaired: Run, browser: Browser) -> None:
    page = browser.open(repaired.folder / "report.html").page
    part = page.locator("details:not([open]) > summary").first.element_handle()
    part.focus()
    page.keyboard.press("Enter")
    assert part.evaluate("e => e.parentElement.open")
    page.keyboard.press("Space")
    assert not part.evaluate("e => e.parentElement.open")


def test_links_of_the_sections_lead_somewhere(repaired: Run, browser: Browser) -> None:
    page = browser.open(repaired.folder / "report.html").page
    missing = page.evaluate(
        """[...document.querySelectorAll('a[href^="#"]')].filter(a => !document.querySelector(a.hash)).length"""
    )
    assert missing == 0
    files = page.evaluate("""[...document.querySelectorAll('a[href^="./"]')].map(a => a.getAttribute('href'))""")
    assert len(files) > 5
    assert all((repaired.folder / name).is_file() for name in files)


@pytest.fixture
def perf(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("report_speed", PERF)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "report_speed", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_a_thousand_attempts_open_quickly(perf: ModuleType, tmp_path: Path, browser: Browser) -> None:
    run = perf.attempts_run(tmp_path, 1000)
    path = write_report(run.folder, schematic=False)
    page = browser.open(path).page
    load_s = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000
    assert load_s < 2 * perf.LIMIT_S  # twice: tests run side by side
    assert page.locator("#attempts ~ details").count() >= 1000


def test_fifty_megabytes_of_logs_open_quickly(perf: ModuleType, tmp_path: Path, browser: Browser) -> None:
    run = perf.logs_run(tmp_path, 50)
    path = write_report(run.folder, schematic=False)
    assert path.stat().st_size < 2_000_000
    page = browser.open(path).page
    assert page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000 < 2 * perf.LIMIT_S
    shown = page.evaluate("document.body.textContent")
    assert "5.0 MB" in shown and "left out" in shown
