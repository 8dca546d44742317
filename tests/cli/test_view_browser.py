"""`rtlagent view --html`: real requests to the real server."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from viewed_runs import attempt, begin, benchmark, end, finished, held

from rtlagent.workspace import Run

COMMAND = (sys.executable, "-c", "from rtlagent.cli import main; main()", "view", "--html")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    text: str


@dataclass(frozen=True)
class Site:
    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def root(self) -> str:
        """The list's path: `/SECRET/`."""
        return f"/{urlsplit(self.url).path.split('/')[1]}/"

    def get(self, path: str, *, host: str | None = None, method: str = "GET") -> Answer:
        """Ask for a path, which is sent as it stands."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"127.0.0.1:{self.port}")
        connection.endheaders()
        answer = connection.getresponse()
        found = Answer(answer.status, answer.headers, answer.read().decode())
        connection.close()
        return found


@contextmanager
def served(runs_dir: Path, *words: str, **environment: str) -> Iterator[Site]:
    command = [*COMMAND, "--runs-dir", str(runs_dir), *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            yield Site(process.stdout.readline().strip(), process)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
            # Nothing else: the paths of requests hold the secret.
            assert process.stderr.read() == "Ctrl-C ends it\n"
        finally:
            process.kill()


@dataclass
class Page(HTMLParser):
    """Collects a page's elements and links."""

    text: str
    tags: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name == "href"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view") / "runs"
    run = finished(folder)
    benchmark(folder)
    (folder.parent / "secret.txt").write_text("out of reach")
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("out of reach")
    (run.folder / "logs" / "link.log").symlink_to(folder.parent / "secret.txt")
    (run.folder / "logs" / "up").symlink_to(folder.parent)
    (run.folder / "logs" / "page.html").write_text("<script>window.owned = 1</script>")
    return folder


@pytest.fixture(scope="module")
def site(runs: Path) -> Iterator[Site]:
    with served(runs, "--no-open") as found:
        yield found


def run_path(site: Site) -> str:
    """Return the path of the run's page, as the list links to it."""
    (link,) = [link for link in Page(site.get(site.root).text).links if "fifo" in link]
    return site.root + link


def test_the_list_links_to_the_reports(site: Site) -> None:
    answer = site.get(site.root)
    assert answer.status == 200
    page = Page(answer.text)
    assert "script" not in page.tags and len(page.links) == 2
    for words in ("PASS", "fifo: A queue of words", "interrupted", "suite, agent: 0 of 2 tasks pass"):
        assert words in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["X-Content-Type-Options"] == "nosniff"
    report = site.get(run_path(site))
    assert report.status == 200 and "no driver" in report.text and "script" not in Page(report.text).tags
    assert "Refresh" not in report.headers, "the run is over"


def test_a_report_s_links_lead_to_its_logs_as_text(site: Site) -> None:
    report = site.get(run_path(site))
    links = [link for link in Page(report.text).links if link.startswith("./logs/") and link.endswith("lint.log")]
    assert links
    log = site.get(run_path(site) + links[0].removeprefix("./"))
    assert log.status == 200 and log.text.startswith("lint of attempt")
    page = site.get(run_path(site) + "logs/page.html")
    assert page.headers["Content-Type"].startswith("text/plain")
    assert site.get(run_path(site).removesuffix("/")).status == 301


def test_the_secret_and_the_host_are_asked_for(site: Site) -> None:
    for path in ("/", "", "/x/", f"{site.root[:-2]}/", f"{site.root[:-1]}x/", "/run/", "//", "/%ff/", f"/x{site.root}"):
        answer = site.get(path)
        assert answer.status == 404 and "fifo" not in answer.text, path
    for host in (
        "evil.example",
        f"evil.example:{site.port}",
        "127.0.0.1",
        f"127.0.0.1:{site.port + 1}",
        "",
        "localhost",
    ):
        answer = site.get(site.root, host=host)
        assert answer.status == 403 and "fifo" not in answer.text, host
    assert site.get(site.root, host=f"localhost:{site.port}").status == 200
    with served(site_runs(site), "--no-open") as other:
        assert other.root != site.root


def site_runs(site: Site) -> Path:
    words = site.process.args
    assert isinstance(words, list)
    return Path(words[words.index("--runs-dir") + 1])


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "run/../../secret.txt", "run/notes/mine.txt", "run/notes/", "run/..%2f..%2fsecret.txt",
        "RUN/../notes/mine.txt", "RUN/logs/../../notes/mine.txt", "RUN/logs/%2e%2e/%2e%2e/notes/mine.txt",
        "RUN/logs/..%2f..%2fnotes%2fmine.txt", "RUN/logs//etc/passwd", "RUN/logs/%2fetc%2fpasswd", "RUN/logs/link.log",
        "RUN/logs/up/secret.txt", "RUN/logs/%00", "RUN/logs/", "RUN/spec.json", "RUN/store/", "RUN/.lock",
        "BENCH/bench.json", "BENCH/tasks/../bench.json", "BENCH/tasks/%2e%2e/bench.json", "BENCH/results.sqlite",
        "run/", "run", "run/fifo/", "RUN/logs/" + "x" * 5000,
    ],
)  # fmt: skip
def test_nothing_else_is_reachable(site: Site, path: str) -> None:
    run = run_path(site).removesuffix("/").removeprefix(site.root)
    whole = site.root + path.replace("RUN", run).replace("BENCH", "run/bench/suite-model")
    answer = site.get(whole)
    assert answer.status == 404, answer.text
    assert "out of reach" not in answer.text and "Traceback" not in answer.text


def test_only_get_is_answered(site: Site) -> None:
    for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"):
        assert site.get(site.root, method=method).status == 405
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as raw:
        raw.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert b"400" in raw.recv(1000)
    assert site.get(site.root).status == 200


def test_a_benchmark_run_links_to_the_runs_of_its_tasks(site: Site) -> None:
    bench = f"{site.root}run/bench/suite-model/"
    report = site.get(bench)
    assert report.status == 200 and "adder" in report.text
    (link,) = [link for link in Page(report.text).links if "tasks" in link]
    listing = site.get(bench + link.removeprefix("./"))
    assert listing.status == 200
    (inner,) = Page(listing.text).links
    assert "no driver" in site.get(inner).text
    assert "no driver" in site.get(inner + "report.html").text
    assert site.get(bench + "tasks/adder/0/none").status == 404


def test_a_run_that_goes_on_refreshes_itself_and_stays_as_it_is(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with served(tmp_path, "fifo", "--no-open") as site:
        path = urlsplit(site.url).path
        with held(run.folder):
            first = site.get(path)
            assert int(first.headers["Refresh"]) <= 5 and "no driver" not in first.text
            assert int(site.get(site.root).headers["Refresh"]) <= 5
            attempt(run, 1, "module fifo; endmodule")
            before = sorted(run.folder.rglob("*"))
            deadline = time.monotonic() + 20
            while "no driver" not in site.get(path).text:
                assert time.monotonic() < deadline
                time.sleep(0.2)
            assert sorted(run.folder.rglob("*")) == before
        end(run, "fail", "no more ideas")
        deadline = time.monotonic() + 20
        while "Refresh" in (last := site.get(path)).headers:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert "no more ideas" in last.text


def test_a_run_that_lies_elsewhere_or_in_the_folder_of_benchmarks(tmp_path: Path, runs: Path) -> None:
    elsewhere = finished(tmp_path / "mine", "other")
    for folder, words in ((elsewhere.folder, "no driver"), (runs / "bench" / "suite-model", "adder")):
        with served(runs, str(folder), "--no-open") as site:
            assert words in site.get(urlsplit(site.url).path).text
            assert len(Page(site.get(site.root).text).links) == 2 + (folder is elsewhere.folder)


def test_hostile_names_and_texts(tmp_path: Path) -> None:
    attack = "<script>x</script><img src=x onerror=y>&\"'\x1b[31m"
    run = begin(tmp_path, text=attack)
    run.emit("ended", outcome=attack, reason=attack, usage={})
    name = "a b<i>%2f..&\"'\x1b#?"
    run.folder.rename(tmp_path / name)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "bench.json").write_text("[]")
    with served(tmp_path, "--no-open") as site:
        answer = site.get(site.root)
        page = Page(answer.text)
        assert not page.tags & {"script", "img", "i"} and "\x1b" not in answer.text
        links = {"broken" in link: link for link in page.links}
        report = site.get(site.root + links[False])
        assert report.status == 200 and not Page(report.text).tags & {"script", "img", "i"}
        assert site.get(site.root + links[True]).status == 500


def test_opens_the_browser_and_tells_of_a_taken_port(runs: Path, tmp_path: Path) -> None:
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/part && mv {tmp_path}/part {tmp_path}/opened\n')
    program.chmod(0o755)
    with served(runs, BROWSER=str(program)) as site:
        deadline = time.monotonic() + 20
        while not (tmp_path / "opened").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert (tmp_path / "opened").read_text().strip() == site.url
        taken = subprocess.run(
            [*COMMAND, "--runs-dir", str(runs), "--port", str(site.port)], capture_output=True, text=True, check=False
        )
    assert taken.returncode == 2 and "hint: name another with --port" in taken.stderr
    assert "Traceback" not in taken.stderr


def test_runs_written_by_hand_do_not_stop_the_list(tmp_path: Path) -> None:
    Run.create(tmp_path, "empty")
    bad = begin(tmp_path, "bad")
    (bad.folder / "spec.json").write_text(json.dumps([1]))
    (bad.folder / "events.jsonl").write_text(
        '{"time": 1, "event": "started"}\n{}\nnull\n{"time": 2, "event": "iteration"}\n'
    )
    with served(tmp_path, "--no-open") as site:
        (link,) = Page(site.get(site.root).text).links
        assert site.get(site.root + link).status == 200
