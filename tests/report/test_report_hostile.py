"""Model text, tool output and file names of any kind stand in the report as text, and as nothing else."""

from __future__ import annotations

import json
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import Browser

from rtlagent.report import write_report

ATTACK = (
    "</script><script>window.owned=1</script><img src=x onerror=window.owned=2><svg onload=window.owned=3>"
    '"onmouseover="window.owned=4" \' autofocus onfocus=window.owned=5 </pre></style><style>*{display:none}</style>'
    "<iframe src=javascript:window.owned=6></iframe>{{ 7*7 }}{% raw %}<!--"
)
STEERING = "\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u2066x\u2069 nul\x00 lone\ud800 bell\x07 back\x08"
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_TEXTS = "html head meta title style body a header h1 p span dl div dt dd nav ul li main footer h2 h3 strong br"
_OTHERS = (
    "table thead tr th tbody td details summary pre code figure figcaption svg g text line rect polygon path circle"
)
ALLOWED = frozenset(f"{_TEXTS} {_OTHERS}".split())


class Tags(HTMLParser):
    """Collects the elements and the attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name == "href"}


def spoil(value: object, text: str) -> object:
    """Return parsed JSON with `text` after each text that no program reads."""
    if isinstance(value, dict):
        kept = (
            "event",
            "sha",
            "oracle_sha",
            "parent",
            "status",
            "step",
            "log_path",
            "wave_path",
            "exit_reason",
            "severity",
            "grade",
            "outcome",
            "next",
        )
        return {k: v if k in kept and isinstance(v, str) else spoil(v, text) for k, v in value.items()}
    if isinstance(value, list):
        return [spoil(v, text) for v in value]
    return f"{value}{text}" if isinstance(value, str) and value not in ("PASS", "FAIL", "strong", "none") else value


def spoiled(folder: Path, text: str) -> Path:
    """Put `text` behind the notes, messages, names, versions, commands and logs of a run."""
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    (folder / "events.jsonl").write_text("".join(json.dumps(spoil(e, text)) + "\n" for e in lines))
    for name in ["report.json", "settings.json", *(f"store/{p.name}" for p in (folder / "store").glob("*.json"))]:
        if "trace" not in name and "mutants" not in name:
            path = folder / name
            path.write_text(json.dumps(spoil(json.loads(path.read_text()), text)))
    spec = json.loads((folder / "spec.json").read_text())
    spec["spec"]["text"] += text
    spec["spec"]["name"] += text
    (folder / "spec.json").write_text(json.dumps(spec))
    for path in folder.rglob("*.log"):
        path.write_bytes(path.read_bytes() + text.encode(errors="surrogatepass") + b"\xff\xfe\xc0\n")
    (folder / "logs" / "a <b onclick=x>.log").write_text("named")
    return folder


@pytest.fixture
def hostile(copied: Path) -> Path:
    return write_report(spoiled(copied, ATTACK + STEERING), schematic=False)


def test_hostile_text_makes_no_element_attribute_or_link(hostile: Path) -> None:
    html = hostile.read_text(encoding="utf-8")
    assert html.count("window.owned=1&lt;/script&gt;") > 20
    tags = Tags()
    tags.feed(html)
    assert tags.tags <= ALLOWED, tags.tags - ALLOWED
    assert not [a for a in tags.attributes if a.startswith("on") or a in ("style", "src", "srcset", "action")]
    assert all(link.startswith(("#", "./")) for link in tags.links), tags.links
    assert "{{ 7*7 }}" in html


def test_text_that_steers_is_spelt_out(hostile: Path) -> None:
    html = hostile.read_text(encoding="utf-8")
    assert _RAW.findall(html) == []
    for spelt in (r"\x1b[31mred", r"\u202egnp.exe", r"nul\x00", r"lone\ud800"):
        assert spelt in html


def test_hostile_text_does_nothing_in_a_browser(hostile: Path, browser: Browser) -> None:
    opened = browser.open(hostile)
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    page.mouse.move(300, 300)
    assert page.evaluate("window.owned") is None
    assert page.evaluate("document.querySelectorAll('script, img, iframe, object, embed, form').length") == 0
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert opened.console == []
    assert opened.requests == [hostile.as_uri()]
    assert page.locator("#main h2").count() > 8


@pytest.mark.parametrize("width", [390, 1280])
def test_long_hostile_words_do_not_push_the_page_apart(copied: Path, browser: Browser, width: int) -> None:
    page = browser.open(write_report(spoiled(copied, "W" * 3000), schematic=False), width=width).page
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_ten_megabytes_in_one_line_are_cut(copied: Path) -> None:
    long = "<b>" + "A" * 10_000_000
    lines = [json.loads(line) for line in (copied / "events.jsonl").read_text().splitlines()]
    for event in lines:
        if event["event"] == "iteration":
            event["attempt"]["note"] = long
        if event["event"] == "understood":
            event["assumptions"][0]["assumption"] = long
    (copied / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in lines))
    report = json.loads((copied / "report.json").read_text())
    report["attempts"][0]["note"] = report["reason"] = report["verdict"]["grade_reason"] = long
    report["verdict"]["steps"][0]["detail"] = long
    report["assumptions"][0]["assumption"] = long
    (copied / "report.json").write_text(json.dumps(report))
    (copied / "rtl" / "edge_detector.v").write_text(long)
    next(copied.rglob("*.log")).write_text(long)
    start = time.monotonic()
    path = write_report(copied, schematic=False)
    assert time.monotonic() - start < 20
    assert path.stat().st_size < 1_500_000
    assert "characters more" in path.read_text()


@pytest.mark.parametrize("when", ["1e300", "-5", "NaN", "Infinity", "true", '"now"', "null"])
def test_a_time_that_no_calendar_has(when: str, copied: Path) -> None:
    lines = (copied / "events.jsonl").read_text().splitlines(keepends=True)
    extra = f'{{"time": {when}, "event": "model_call", "purpose": "x"}}\n'
    (copied / "events.jsonl").write_text("".join([extra, *lines, extra]))
    page = write_report(copied, schematic=False).read_text()
    assert "2 lines of events.jsonl cannot be read" in page
