"""How quickly do long reports open? 1,000 attempts, and 50 MB of logs, in a real headless Chromium.

Makes run folders of the form that runs leave (events, candidates, step results, logs), writes their report.html and
opens it five times, each time in a new browser context. Reported: seconds to write, size, the median seconds from
the start of navigation to the end of the `load` event and to the first frame after it, and that to jump to the end.

Usage: python benchmarks/perf/report.py [--attempts 1000] [--log-mb 50]

Needs chromium and `pip install playwright`.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from rtlagent.report import write_report
from rtlagent.types import Metrics, SourceFile, Spec, Status, StepResult, TestResult, digest, to_json
from rtlagent.workspace import Run

LIMIT_S = 2.0
_OPENINGS = 5
_LINES = 200
_GATES = ("lint", "elaborate", "simulate", "synthesize")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--attempts", type=int, default=1000)
    parser.add_argument("--log-mb", type=int, default=50)
    asked = parser.parse_args()
    slow = 0
    print("run                     write s    size MB    load s   painted s   jump s")
    with tempfile.TemporaryDirectory() as folder:
        runs = {
            f"{asked.attempts} attempts": attempts_run(Path(folder), asked.attempts),
            f"{asked.log_mb} MB of logs": logs_run(Path(folder), asked.log_mb),
        }
        for name, run in runs.items():
            start = time.monotonic()
            path = write_report(run.folder, schematic=False)
            wrote_s = time.monotonic() - start
            load_s, painted_s, jump_s = opened(path)
            size = path.stat().st_size / 1e6
            print(f"{name:22}  {wrote_s:8.2f}   {size:8.2f}  {load_s:8.2f}    {painted_s:8.2f} {jump_s:8.2f}")
            slow += painted_s > LIMIT_S
    return 1 if slow else 0


def attempts_run(folder: Path, count: int) -> Run:
    """Lay out a run of many attempts at a design of 200 lines, each changing some of them."""
    run, dice = _begun(folder, "attempts"), random.Random(1)
    lines = [f"  wire [7:0] s{k} = a ^ {k};" for k in range(_LINES)]
    parent = ""
    for number in range(1, count + 1):
        for _ in range(6):
            k = dice.randrange(_LINES)
            lines[k] = f"  wire [7:0] s{k} = a + {dice.randrange(256)};"
        file = SourceFile("rtl/m.v", "\n".join(["module m(input [7:0] a);", *lines, "endmodule", ""]))
        sha = digest([[file.path, file.text]])
        run.store_files([file], sha)
        run.emit("model_reply", purpose="repair", usage={"tokens_in": 3000, "tokens_out": 400}, model="m")
        run.emit("judging", iteration=number, sha=sha)
        steps = [_step(run, sha, gate, number, passed=gate != "synthesize") for gate in _GATES]
        attempt = {"iteration": number, "sha": sha, "parent": parent, "step": "synthesize", "note": f"Change {number}."}
        tests = {"tests": 20, "tests_passed": 20, "metrics": Metrics(luts=number), "unmet": []}
        gates = {s.step: s.status for s in steps}
        run.emit("iteration", attempt=attempt, verdict={"passed": False, "grade": "none", "gates": gates, **tests})
        run.emit("decision", next="repair", reason="")
        parent = sha
    run.emit("ended", outcome="limit", reason="the iteration limit", usage={})
    return run


def logs_run(folder: Path, megabytes: int) -> Run:
    """Lay out a run with few attempts and many large logs, one of them a single line."""
    run = _begun(folder, "logs")
    line = "Warning: something at rtl/m.v:12 that is said again and again\n"
    for k in range(10):
        path = run.folder / "logs" / f"{k:010}" / "simulate" / "simulate.log"
        path.parent.mkdir(parents=True)
        size = megabytes * 100_000
        path.write_text("x" * size if k == 0 else line * (size // len(line)))
    run.emit("ended", outcome="fail", reason="", usage={})
    return run


def _begun(folder: Path, name: str) -> Run:
    run = Run.create(folder, name)
    run.write_json("settings.json", {"loop": {"seed": 1}})
    spec = Spec(name, "A module that is never right.", top="m")
    run.write_json("spec.json", {"spec": spec, "sha256": digest(spec)})
    run.emit("started", run=run.id, spec=name, model="replay:none", budget={})
    return run


def _step(run: Run, sha: str, gate: str, number: int, *, passed: bool) -> StepResult:
    tests = tuple(TestResult(f"case {k}", Status.PASS, seed=1, checked_cycles=100) for k in range(20))
    step = StepResult(
        gate,
        Status.PASS if passed else Status.FAIL,
        tests=tests if gate == "simulate" else (),
        argv=("yosys", "-p", "read_verilog rtl/m.v; synth"),
        log_path=f"logs/{sha[:10]}/{gate}/{gate}.log",
        wall_s=number / 100,
        detail="" if passed else "122 LUTs are used, 100 may be",
    )
    key = digest([gate, sha])
    (run.folder / "store" / f"step-{key}.json").write_text(json.dumps(to_json(step)))
    run.emit("step", step=gate, status=step.status, wall_s=step.wall_s, tool_version="", log_path=step.log_path)
    return step


def opened(path: Path) -> tuple[float, float, float]:
    """Return the median seconds to the load event, to the first frame after it, and to show the end of the page."""
    from playwright.sync_api import sync_playwright

    program = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)
    if program is None:
        sys.exit("chromium is not installed\n\nhint: apt-get install chromium")
    loads, paints, jumps = [], [], []
    frame = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for _ in range(_OPENINGS):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            page = context.new_page()
            page.goto(path.as_uri())
            paints.append(page.evaluate(frame) / 1000)
            loads.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000)
            before = time.monotonic()
            page.evaluate("window.scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
            page.evaluate(frame)
            jumps.append(time.monotonic() - before)
            context.close()
        browser.close()
    return statistics.median(loads), statistics.median(paints), statistics.median(jumps)


if __name__ == "__main__":
    sys.exit(main())
