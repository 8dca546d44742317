"""Run folders for the tests of the viewer, written as a run writes its own."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rtlagent.bench.record import Record
from rtlagent.bench.result import Result
from rtlagent.bench.run_folder import About, RunFolder
from rtlagent.bench.store import open_store
from rtlagent.bench.tasks import Plan, Task, folder_of
from rtlagent.models.recording import format_line
from rtlagent.types import (
    Candidate,
    Diagnostic,
    Message,
    Metrics,
    ModelReply,
    Severity,
    SourceFile,
    Spec,
    Status,
    StepResult,
    Usage,
    to_json,
)
from rtlagent.workspace import Run

USAGE = Usage(1200, 0, 300, 0.25)
LOG = "logs/step/lint.log"


def begin(runs_dir: Path, name: str = "fifo", text: str = "# A queue of words\n\nWith flags.") -> Run:
    """Make a run that has asked for a design."""
    run = Run.create(runs_dir, name)
    run.write_json("spec.json", {"spec": Spec(name, text, top=name)})
    run.write_json("settings.json", {"loop": {}})
    run.emit("started", run=run.id, spec=name, model="test:model", budget={})
    return run


def ask(run: Run, purpose: str, question: str, answer: str, usage: Usage = USAGE) -> None:
    """Ask the model."""
    run.emit("model_call", purpose=purpose)
    line = format_line([Message("user", question)], ModelReply(answer, usage, "m-1"), purpose=purpose, wall_s=1.0)
    with (run.folder / "model.jsonl").open("ab") as log:
        log.write(line)
    run.emit("model_reply", purpose=purpose, usage=usage, model="m-1")


def attempt(
    run: Run,
    number: int,
    verilog: str,
    *,
    parent: str = "",
    passed: bool = False,
    said: str = "no driver",
    log: str = "",
) -> str:
    """Judge a design with one gate, and return its hash."""
    candidate = Candidate((SourceFile("rtl/fifo.v", verilog),), number)
    sha = candidate.sha256
    run.store_files(candidate.files, sha)
    run.emit("judging", iteration=number, sha=sha)
    status = Status.PASS if passed else Status.FAIL
    found = () if passed else (Diagnostic("lint", Severity.ERROR, "UNDRIVEN", said, "rtl/fifo.v", 3, 7, "drive it"),)
    path = f"logs/{sha[:10]}/lint/lint.log"
    (run.folder / path).parent.mkdir(parents=True)
    (run.folder / path).write_text(log or f"lint of attempt {number}\n")
    step = StepResult("lint", status, found, argv=("verilator", "--lint-only"), log_path=path, wall_s=number + 0.25)
    run.write_json(f"store/step-{sha}.json", step)
    run.emit(
        "step", step="lint", status=status, wall_s=step.wall_s, tool_version="t 1", log_path=path, argv=step.argv
    )  # fmt: skip
    verdict = {
        "passed": passed, "grade": "strong", "gates": {"lint": status.value}, "tests_passed": 0, "tests": 0,
        "metrics": to_json(Metrics(luts=12)), "unmet": [],
    }  # fmt: skip
    judged = {"iteration": number, "sha": sha, "parent": parent, "step": "" if passed else "lint", "note": "a note"}
    run.emit("iteration", attempt=judged, verdict=verdict)
    return sha


def end(run: Run, outcome: str = "pass", reason: str = "") -> None:
    """End a run."""
    run.emit("ended", outcome=outcome, reason=reason, usage=USAGE)


def finished(runs_dir: Path, name: str = "fifo") -> Run:
    """Make a run with a failing and a right attempt."""
    run = begin(runs_dir, name)
    ask(run, "generate", "# Task: generate\nWrite it.", "a first answer")
    first = attempt(run, 1, "module fifo;\n  wire a;\nendmodule\n")
    ask(run, "repair", "# Task: repair\nMend it.", "a second answer")
    attempt(run, 2, "module fifo;\n  wire b;\nendmodule\n", parent=first, passed=True)
    end(run)
    return run


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a run as the process does that works on it."""
    with (folder / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def long_run(runs_dir: Path, iterations: int) -> Run:
    """Make a run of many attempts."""
    run = begin(runs_dir, "long")
    text = (finished(runs_dir / "model").folder / "events.jsonl").read_text()
    events = [json.loads(line) for line in text.splitlines()]
    with (run.folder / "events.jsonl").open("a") as log:
        for number in range(1, iterations + 1):
            for event in events[1:7]:
                changed = (
                    {**event, "attempt": {**event["attempt"], "iteration": number}} if "attempt" in event else event
                )
                log.write(json.dumps(changed) + "\n")
    return run


def benchmark(runs_dir: Path, name: str = "suite-model") -> Path:
    """Make a benchmark run of which one of two tasks is done, by a run."""
    folder = RunFolder(runs_dir / "bench" / name)
    plan = Plan("suite", "0" * 64, "test:model", "agent", 1, ("adder", "queue"), 1, None, "0" * 64, True, "auto", True)
    about = About("suite-1", plan, Record("0.1", "3.11", "Linux", (), "local"), "suites/suite", 1_796_000_000.0)
    folder.begin(about)
    run = finished(folder_of(folder.path, Task("adder", 0)), "adder")
    assert run.folder.is_dir()
    result = Result(
        "adder", 0, "", Status.FAIL, "design", "pass", True, "strong", True, True, None, 2, USAGE, Metrics(),
        "the sum is [red]wrong[/red]\x1b[31m", "0" * 64, "m-1", (), 3.0, 1.0, 1_796_000_100.0,
    )  # fmt: skip
    with open_store(folder.base, create=True) as store:
        store.register(about.stored)
        store.write(about.id, [result])
    return folder.path
