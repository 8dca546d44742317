"""A run that is killed at any moment goes on, asks nothing twice and repeats no finished task."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from adder_suite import Endpoint, bench, exported, make_suite, serving, started
from process_search import processes_with

OWN_SUITE = Path(__file__).parents[2] / "benchmarks" / "suites" / "rtl"
QUICK = ("--mode", "single", "--no-synthesis")
DASK = Path(sys.executable).parent / "dask"


def finished(run: Path) -> int:
    base = run / "results.sqlite"
    if not base.is_file():
        return 0
    with closing(sqlite3.connect(base)) as connection:
        try:
            (count,) = connection.execute("SELECT count(*) FROM bench_results").fetchone()
        except sqlite3.OperationalError:  # the tables are not there yet
            return 0
    return int(count)


def wait_for(run: Path, count: int, process: subprocess.Popen[str], timeout_s: float = 90) -> None:
    deadline = time.monotonic() + timeout_s
    while finished(run) < count:
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()[0]
        time.sleep(0.02)


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_a_run_that_is_killed_twice_repeats_nothing(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 5)
    run = tmp_path / "r"
    with serving(Endpoint(delay_s=0.2, wrong=(1,))) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "-n", "3", "--jobs", "2", "--out", run)
        for count in (2, 8):
            process = started(*command, *QUICK, cwd=tmp_path)
            wait_for(run, count, process)
            end(process)
        before = Counter(endpoint.asked)
        kept = {(r["problem"], r["sample"]): r["finished_at"] for r in exported(run)["results"]}
        # By the folder: the same command, and `resume` alike.
        done = bench("resume", run, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        asked = Counter(endpoint.asked)
    assert sum(before.values()) < 15 + 4
    # Only a question that was under way at a kill may have been asked again: at most one a worker and kill.
    assert sum(asked.values()) <= 15 + 4
    assert min(asked.values()) == 3
    results = exported(run)["results"]
    assert len(results) == 15
    again = {(r["problem"], r["sample"]): r["finished_at"] for r in results}
    assert kept.items() <= again.items()
    assert {r["problem"] for r in results if r["status"] != "PASS"} == {"add1"}


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on_and_leaves_no_process(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 3)
    run = tmp_path / "interrupted-run"
    with serving(Endpoint(delay_s=0.5)) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "--jobs", "2", "--out", run)
        process = started(*command, *QUICK, cwd=tmp_path)
        wait_for(run, 1, process)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert f"rtlagent bench resume {run}" in out
    assert "Traceback" not in out
    assert not list(processes_with(str(run)))


def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 2)
    run = tmp_path / "r"
    with serving(Endpoint(delay_s=1.5)) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "--jobs", "1", "--out", run)
        process = started(*command, *QUICK, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while not endpoint.asked and time.monotonic() < deadline:
            time.sleep(0.02)
        second = bench(*command, *QUICK, cwd=tmp_path)
        end(process)
    assert second.returncode == 2
    assert "another process works on this benchmark run" in second.stderr


class Cluster:
    """A Dask scheduler and workers as processes of their own."""

    def __init__(self, folder: Path) -> None:
        import socket

        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.processes: list[subprocess.Popen[str]] = []
        self.scheduler = self.start_scheduler()

    def start_scheduler(self) -> subprocess.Popen[str]:
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port))

    def start_worker(self) -> subprocess.Popen[str]:
        return self._start("worker", f"tcp://127.0.0.1:{self.port}", "--nthreads", "1", "--no-nanny")

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        log = (self.folder / "dask.log").open("a")
        with log:
            process = subprocess.Popen(
                [str(DASK), *arguments, "--no-dashboard"], cwd=self.folder, stdout=log, stderr=log, text=True
            )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.stop()


@pytest.mark.slow
@pytest.mark.cluster
def test_a_dask_worker_is_killed_and_nothing_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 5)
    run = tmp_path / "r"
    first, _second = cluster.start_worker(), cluster.start_worker()
    with serving(Endpoint(delay_s=0.3, wrong=(2,))) as endpoint:
        place = f"dask://127.0.0.1:{cluster.port}"
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "-n", "3", "--executor", place)
        process = started(*command, *QUICK, "--out", run, cwd=tmp_path)
        wait_for(run, 4, process)
        first.kill()
        out, _ = process.communicate(timeout=180)
    assert process.returncode == 0, out
    results = exported(run)["results"]
    assert len(results) == 15
    assert {r["problem"] for r in results if r["status"] != "PASS"} == {"add2"}
    assert "distributed" not in out


class OwnSuiteEndpoint(Endpoint):
    """Answers with the golden designs of the own suite: what is tried is the way, not a model."""

    def text_for(self, prompt: str) -> str | None:
        (name,) = re.findall(r"^- top module: (\w+)$", prompt, re.M)
        self.prompts.append(name)
        time.sleep(self.delay_s)
        files = sorted((OWN_SUITE / name / "golden").glob("*.v"))
        return "\n".join(f"FILE: rtl/{f.name}\n```verilog\n{f.read_text()}```\n" for f in files)


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.timeout(1500)
def test_the_own_suite_on_two_workers_of_which_one_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    run = tmp_path / "r"
    names = sorted(p.parent.name for p in OWN_SUITE.glob("*/spec.md"))
    first, _second = cluster.start_worker(), cluster.start_worker()
    with serving(OwnSuiteEndpoint()) as endpoint:
        place = f"dask://127.0.0.1:{cluster.port}"
        command = ("run", "folder", "--path", OWN_SUITE, "--model", endpoint.model, "--executor", place)
        process = started(*command, *QUICK, "--out", run, cwd=tmp_path)
        wait_for(run, 10, process, timeout_s=400)
        first.kill()
        out, _ = process.communicate(timeout=1000)
    assert process.returncode == 0, out
    results = exported(run)["results"]
    assert sorted(r["problem"] for r in results) == names
    assert [(r["problem"], r["message"]) for r in results if r["status"] != "PASS"] == []
    # What a worker had in hand when it died is asked again, and nothing else.
    assert len(endpoint.prompts) <= len(names) + 2


@pytest.mark.slow
@pytest.mark.cluster
def test_a_scheduler_that_restarts_loses_nothing(cluster: Cluster, tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 4)
    run = tmp_path / "r"
    cluster.start_worker()
    with serving(Endpoint(delay_s=0.3)) as endpoint:
        place = f"dask://127.0.0.1:{cluster.port}"
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "-n", "3", "--executor", place)
        process = started(*command, *QUICK, "--out", run, cwd=tmp_path)
        wait_for(run, 3, process)
        cluster.scheduler.kill()
        cluster.scheduler.communicate()
        time.sleep(1)
        cluster.scheduler = cluster.start_scheduler()
        cluster.start_worker()
        out, _ = process.communicate(timeout=180)
    assert process.returncode == 0, out
    assert "the scheduler is back" in out
    assert "Traceback" not in out
    results = exported(run)["results"]
    assert len(results) == 12
    assert all(r["status"] == "PASS" for r in results)


@pytest.mark.slow
@pytest.mark.cluster
def test_without_a_scheduler_the_run_ends_with_4(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 1)
    log = tmp_path / "replies.jsonl"
    log.write_text('{"key": "k", "purpose": "single", "reply": {"content": "x"}}\n')
    command = ("run", "folder", "--path", suite, "--model", f"replay:{log}", "--executor", "dask://127.0.0.1:9")
    done = bench(*command, *QUICK, cwd=tmp_path)
    assert done.returncode == 4
    assert "the scheduler does not answer" in done.stderr


def slurm_answers() -> bool:
    """Tell whether this machine has a working Slurm."""
    try:
        done = subprocess.run(["sinfo", "-h", "-t", "idle,mixed"], capture_output=True, check=False, timeout=20)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


@pytest.mark.slow
@pytest.mark.cluster
def test_a_job_that_slurm_cancels_is_replaced(tmp_path: Path) -> None:
    if not slurm_answers():
        pytest.skip("there is no Slurm with a free node")
    suite = make_suite(tmp_path / "suite", 5)
    run = tmp_path / "r"
    with serving(Endpoint(delay_s=0.5)) as endpoint:
        place = "slurm?memory=1GB&walltime=00:10:00"
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "-n", "2", "--executor", place)
        process = started(*command, *QUICK, "--jobs", "1", "--out", run, cwd=tmp_path)
        wait_for(run, 2, process)
        # The only worker goes: without another one nothing would go on.
        jobs = subprocess.run(
            ["squeue", "-h", "-n", "dask-worker", "-o", "%i %Z"], capture_output=True, text=True, check=True
        ).stdout
        (job,) = [line.split()[0] for line in jobs.splitlines() if str(tmp_path) in line]
        subprocess.run(["scancel", job], check=True)
        out, _ = process.communicate(timeout=240)
    assert process.returncode == 0, out
    assert all(r["status"] == "PASS" for r in exported(run)["results"])
    assert len(exported(run)["results"]) == 10


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("queue=no-such-partition", 4, "the queue refuses to start a worker: "),
        ("quewe=x", 2, "--executor slurm: "),
        ("memory=lots", 2, "--executor slurm: "),
    ],
)
def test_a_queue_that_refuses_ends_the_run(options: str, code: int, message: str, tmp_path: Path) -> None:
    """Whether there is a Slurm with other partitions, one without its controller, or none."""
    suite = make_suite(tmp_path / "suite", 2)
    place = f"slurm?{options}"
    done = bench("run", "folder", "--path", suite, "--model", "http://127.0.0.1:9/v1#m", "--executor", place, *QUICK,
                   "--jobs", "1", "--out", tmp_path / "r", cwd=tmp_path)  # fmt: skip
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
