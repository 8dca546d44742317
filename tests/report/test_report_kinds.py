"""Reports of runs from C and of benchmark runs, and the command that writes them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from conftest import Browser

from rtlagent.agent.from_c import compile_spec, hls_report, start_c_run
from rtlagent.bench.exports import FORMATS, Finished
from rtlagent.bench.html import MOST_TASKS, bench_page, write_bench_report, write_html
from rtlagent.bench.record import Record
from rtlagent.bench.result import Result
from rtlagent.bench.run_folder import About, RunFolder
from rtlagent.bench.store import open_store
from rtlagent.bench.tasks import Plan
from rtlagent.config import Config, ToolConfig
from rtlagent.report import write_report
from rtlagent.types import Metrics, SourceFile, Spec, Status, Usage
from rtlagent.workspace import Run

PROGRAM = str(Path(sys.executable).parent / "rtlagent")
DOT = """\
int dot(const short a[16], const short b[16]) {
    int sum = 0;
    for (int i = 0; i < 16; i++)
        sum += a[i] * b[i];
    return sum;
}
"""


def command(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL", "_HOST"))}
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], cwd=cwd, env=kept, capture_output=True, text=True, timeout=250, check=False
    )


def compiled(folder: Path, *options: str) -> Path:
    (folder / "dot.c").write_text(DOT)
    done = command("generate", "dot.c", "--plain", *options, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "runs").glob("*/report.html")
    assert f"report: {path.relative_to(folder)}" in done.stdout
    return path


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def only_compiled(folder: Path, tools: ToolConfig) -> Path:
    """Return the report of a run that ended as soon as the compiler had done its part."""
    spec = Spec("dot", "", top="dot", c_source=SourceFile("dot.c", DOT))
    run = start_c_run(spec, Config(tools=tools, runs_dir=folder))
    result = compile_spec(spec, tools)
    run.emit("started", run=run.id, spec="dot", model=None, top="dot")
    run.write_json("report.json", {"name": "dot", "top": "dot", "hls": hls_report(spec, result)})
    return write_report(run.folder, schematic=False)


@pytest.mark.parametrize("judged", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_run_from_c_shows_its_loops_and_their_timetable(
    judged: bool, tmp_path: Path, browser: Browser, tool_config: ToolConfig
) -> None:
    path = compiled(tmp_path) if judged else only_compiled(tmp_path, tool_config)
    html = path.read_text()
    loops = words(re.split(r"<h2 ", html.split('id="loops"', 1)[1])[0])
    assert "trip count" in loops and "limited by" in loops and "Estimated and measured" in loops
    assert re.search(r"line 3: II \d+, depth \d+", loops)
    assert html.count('class="op heavy"') >= 1 and html.count('class="op memory"') >= 1
    assert "line 4: mul" in html
    assert "no model took part" in html
    opened = browser.open(path, width=390, scheme="dark")
    assert opened.console == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.slow
def test_the_critical_path_of_a_run_from_c_names_lines_of_the_c(tmp_path: Path) -> None:
    html = compiled(tmp_path, "--target", "ecp5", "--clock", "10ns").read_text()
    path = words(re.split(r"<h2 ", html.split('id="timing"', 1)[1])[0])
    assert re.search(r"[\d.]+ ns = [\d.]+ ns logic \+ [\d.]+ ns routing", path)
    assert re.search(r"rtl/dot\.v:\d+", path)
    assert "sum += a[i] * b[i];" in path


# -- benchmark runs ------------------------------------------------------------------------------

HOSTILE = "<script>x</script>\x1b[1m"
PLAN = Plan("folder", "d" * 64, "m" + HOSTILE, "single", 2, ("a", "b"), 1, 0.2, "p" * 64, True, "auto", True)
RECORD = Record("0.1.0", "3.11.7", "Linux x86_64", ("iverilog 11.0",))


def result(problem: str, sample: int, *, passed: bool = True, message: str = "", category: str = "") -> Result:
    return Result(
        problem=problem,
        sample=sample,
        category=category,
        status=Status.PASS if passed else Status.FAIL,
        failure_class="" if passed else "testbench",
        outcome="pass",
        own_verdict=True,
        grade="strong",
        syntax=True,
        simulation=passed,
        synthesis=True,
        iterations=2,
        usage=Usage(1000, 0, 200, 0.0123),
        metrics=Metrics(),
        message=message,
        answer_sha256="a" * 64,
        model="canned",
        tool_versions=("icarus 11.0",),
        generate_s=1.0,
        score_s=0.5,
        finished_at=1.0,
    )


RESULTS = (
    result("a", 0, category="small"),
    result("a", 1, category="small"),
    result("b", 0, passed=False, message=HOSTILE, category="large"),
    result("b", 1, category="large"),
)


def test_a_benchmark_run_has_a_report(tmp_path: Path, browser: Browser) -> None:
    folder = RunFolder(tmp_path / "run")
    about = About("run-1", PLAN, RECORD, "suite", 5.0)
    folder.begin(about)
    with open_store(folder.base, create=True) as store:
        store.register(about.stored)
        store.write(about.id, RESULTS)
    (folder.path / "tasks" / "a" / "0" / "x-a").mkdir(parents=True)
    (folder.path / "tasks" / "a" / "0" / "x-a" / "report.html").touch()
    path = write_bench_report(folder)
    assert path == folder.path / "report.html"
    html = path.read_text()
    assert 'href="./tasks/a/0/x-a/report.html"' in html
    told = words(html)
    assert "pass@1" in told and "75.0 %" in told and "PASS (strong)" in told and "$0.0123" in told
    assert "testbench" in told and "large" in told and "2 of 2 passed" in told
    assert "<script>" not in html and "\x1b" not in html
    for width in (390, 1280):
        opened = browser.open(path, width=width)
        opened.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert opened.console == []
        assert opened.requests == [path.as_uri()]
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width


def test_an_unfinished_benchmark_run_says_so(tmp_path: Path) -> None:
    told = words(write_html(Finished(PLAN, RECORD, RESULTS[:1]), tmp_path / "r.html", folder=None).read_text())
    assert "3 of 4 tasks are not finished" in told
    nothing = words(write_html(Finished(PLAN, RECORD, ()), tmp_path / "n.html", folder=None).read_text())
    assert "No task is finished" in nothing and "not measured" in nothing


def test_an_export_without_times_is_the_same_bytes() -> None:
    run = Finished(PLAN, RECORD, RESULTS)
    text = FORMATS["html"](run, times=False)
    assert text == FORMATS["html"](run, times=False)
    assert "$0.0123, 1.5 s" in FORMATS["html"](run) and "$0.0123, 1.5 s" not in text


def test_of_a_huge_benchmark_run_the_failures_are_kept() -> None:
    results = [result(f"p{k // 10}", k % 10, passed=k % 7 > 0) for k in range(MOST_TASKS + 500)]
    page = bench_page(Finished(PLAN, RECORD, tuple(results)), folder=None)
    assert page.left_out == 500
    shown = [t.status for p in page.problems for t in p.tasks]
    assert len(shown) == MOST_TASKS
    assert shown.count("FAIL") == sum(not r.passed for r in results)


# -- the command ---------------------------------------------------------------------------------


def test_the_command_writes_a_report_anew(copied: Path, tmp_path: Path) -> None:
    done = command("report", copied, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(copied / "report.html")
    named = command("report", "edge_detector", "--runs-dir", tmp_path, "--out", "x.html", "--json", cwd=tmp_path)
    assert json.loads(named.stdout) == {"report": "x.html"}
    assert (tmp_path / "x.html").read_text() == (copied / "report.html").read_text()


@pytest.mark.parametrize("name", ["no-such-run", "."])
def test_the_command_refuses_what_is_no_run(name: str, tmp_path: Path) -> None:
    done = command("report", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "error: " in done.stderr and "hint: " in done.stderr and "Traceback" not in done.stderr


def test_the_command_says_where_it_cannot_write(repaired: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = command("report", repaired.folder, "--out", "file/r.html", cwd=tmp_path)
    assert done.returncode == 2
    assert "file/r.html" in done.stderr and "cannot be written" in done.stderr
