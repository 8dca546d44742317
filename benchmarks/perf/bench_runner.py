"""What the batch runner adds to its tasks, how its memory grows, and how fast a run with much behind it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.executors import LocalExecutor, Place
from rtlagent.bench.problem import Problem, Score
from rtlagent.bench.record import record_here
from rtlagent.bench.result import Result, result_of
from rtlagent.bench.run_folder import About, RunFolder
from rtlagent.bench.runner import Ending, Runner, Session
from rtlagent.bench.store import open_store
from rtlagent.bench.tasks import FinalAnswer, GenerateJob, Plan, ScoreJob, Task, tasks_of
from rtlagent.bench.tasks.final_answer import keep_answer, keep_score
from rtlagent.config import BudgetConfig, Config
from rtlagent.types import SourceFile, Status, Usage

TASKS = 10_000
_PROBLEMS = 100
_HALF_TASK_S = 0.02
_FILES = (SourceFile("rtl/a.v", "module a; endmodule\n"),)


@dataclass(frozen=True)
class BusyAnswer(GenerateJob):
    """Answers after so much work of the processor, and keeps the answer as a real task does."""

    def __call__(self) -> FinalAnswer:
        """Work, then answer."""
        started = time.monotonic()
        _work(_HALF_TASK_S)
        answer = FinalAnswer("answered", _FILES, usage=Usage(100, 0, 50, 0.0), wall_s=time.monotonic() - started)
        self.folder.mkdir(parents=True, exist_ok=True)
        keep_answer(self.folder, answer)
        return answer


@dataclass(frozen=True)
class BusyScore(ScoreJob):
    """Scores after so much work of the processor."""

    def __call__(self) -> Score:
        """Work, then score."""
        started = time.monotonic()
        _work(_HALF_TASK_S)
        score = Score(Status.PASS, syntax=True, simulation=True, wall_s=time.monotonic() - started)
        keep_score(self.folder, score, "sha")
        return score


class BusyRunner(Runner):
    """The runner as it is, with tasks that cost what they are told to."""

    def _generate_job(self, task: Task, budget: BudgetConfig) -> GenerateJob:
        job = super()._generate_job(task, budget)
        return BusyAnswer(**vars(job))

    def _score_job(self, task: Task, answer: FinalAnswer) -> ScoreJob:
        return BusyScore(**vars(super()._score_job(task, answer)))


class Meter:
    """A view that sums up the tasks' own time and watches this process's memory."""

    def __init__(self) -> None:
        self.tasks_s = 0.0
        self.count = 0
        self.started = 0.0
        self.resident_mb: list[float] = []

    def begin(self, total: int, finished: object, title: str, spent: Usage) -> None:
        """Start the clock."""
        self.started = time.monotonic()

    def took(self, result: Result, spent: Usage) -> None:
        """Count a task."""
        self.tasks_s += result.generate_s + result.score_s
        self.count += 1
        if self.count % 1000 == 0:
            self.resident_mb.append(_resident_mb("self"))

    def tick(self, answering: int, scoring: int) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Print what goes wrong."""
        print(text)


def report(*, tasks: int = TASKS) -> None:
    """Print all figures with their goals."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # for the workers, which import the jobs from here
    with tempfile.TemporaryDirectory(prefix="rtlagent-perf-") as folder:
        _overhead(Path(folder) / "run", tasks)
    with tempfile.TemporaryDirectory(prefix="rtlagent-perf-") as folder:
        _resume(Path(folder), tasks)


def _overhead(folder: Path, tasks: int) -> None:
    meter = Meter()
    plan = _plan("folder", "d", tuple(f"p{n}" for n in range(_PROBLEMS)), tasks // _PROBLEMS)
    about = About("perf", plan, record_here("local"), "/nowhere", 0.0, BudgetConfig(max_iterations=None))
    problems = {name: Problem("folder", name, "") for name in plan.problems}
    run = RunFolder(folder)
    run.begin(about)
    executor = LocalExecutor(2, Place(folder))
    try:
        with open_store(run.base, create=True) as store:
            ending: Ending = BusyRunner(Session(run, about, problems, Config()), executor, store, meter).go()
            wall_s = time.monotonic() - meter.started
            workers = [_resident_mb(pid) for pid in executor.pids]
    finally:
        executor.close()
    assert ending.finished == ending.total == tasks
    overhead = 100 * (2 * wall_s / meter.tasks_s - 1)
    print(f"{tasks} tasks of {1000 * meter.tasks_s / tasks:.0f} ms, two workers: {wall_s:.1f} s")
    print(f"processor time of the runner: {1000 * time.process_time() / tasks:.2f} ms a task")
    print(f"overhead over the tasks themselves: {overhead:.1f} % (goal: at most 10 %)")
    seen = meter.resident_mb
    if len(seen) > 1:
        print(f"memory of the runner: {seen[0]:.0f} MiB after 1000 tasks, {seen[-1]:.0f} MiB at the end (goal: flat)")
    print(f"memory of the workers at the end: {', '.join(f'{mb:.0f}' for mb in workers)} MiB")


def _resume(folder: Path, tasks: int) -> None:
    """Time from the command to its first line, with all tasks finished but one."""
    suite = folder / "suite"
    names = [f"p{n:03}" for n in range(_PROBLEMS)]
    for name in names:
        (suite / name / "tests").mkdir(parents=True)
        (suite / name / "spec.md").write_text(f"---\ntop: {name}\nports: [output y]\n---\nDrive y high.\n")
        (suite / name / "tests" / "tb.v").write_text("module tb; initial $finish; endmodule\n")
    log = folder / "replies.jsonl"
    reply = {"key": "k", "purpose": "single", "reply": {"content": "```verilog\nmodule a; endmodule\n```"}}
    log.write_text(json.dumps(reply) + "\n")
    program = Path(sys.executable).parent / "rtlagent"
    command = [program, "bench", "run", "folder", "--path", suite, "--model", f"replay:{log}", "--mode", "single"]
    command += ["--no-synthesis", "-n", tasks // _PROBLEMS, "--out", folder / "run"]
    begun = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, text=True)
    assert begun.stdout is not None
    begun.stdout.readline()
    begun.kill()
    begun.communicate()
    run = RunFolder(folder / "run")
    about = run.about()
    with open_store(run.base) as store:
        store.write(about.id, [_result(task) for task in tasks_of(about.plan)[:-1]])
    started = time.monotonic()
    resumed = subprocess.Popen(
        [str(program), "bench", "resume", str(run.path)], stdout=subprocess.PIPE, text=True, cwd=folder
    )
    assert resumed.stdout is not None
    line = resumed.stdout.readline()
    wall_s = time.monotonic() - started
    resumed.communicate()
    assert f"{tasks - 1} of {tasks}" in line, line
    print(f"resume with {tasks - 1} finished tasks: {wall_s:.2f} s to the first line (goal: under 3 s)")


def _plan(suite: str, sha: str, problems: tuple[str, ...], samples: int) -> Plan:
    return Plan(suite, sha, "m", "single", samples, problems, 1, None, "", True, "auto", False)


def _result(task: Task) -> Result:
    answer = FinalAnswer("answered", _FILES, usage=Usage(100, 0, 50, 0.0))
    score = Score(Status.PASS, syntax=True, simulation=True)
    return result_of(task, "", answer, score, finished_at=0.0, host="")


def _work(cpu_s: float) -> None:
    until = time.process_time() + cpu_s
    while time.process_time() < until:
        sum(range(500))


def _resident_mb(pid: int | str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
