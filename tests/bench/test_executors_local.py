"""Worker processes: kinds stay apart, the dead are replaced, nothing outlives its starter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from worker_jobs import Die, Fail, Nap, Read

from rtlagent.bench.executors import Done, Job, LocalExecutor, Place, open_executor, require_executor
from rtlagent.bench.executors.select import queue_options
from rtlagent.errors import UsageError

HERE = Path(__file__).parent


@pytest.fixture
def jobs_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))


@pytest.fixture
def executor(tmp_path: Path, jobs_importable: None) -> Iterator[LocalExecutor]:
    made = LocalExecutor(2, Place(tmp_path / "run", (tmp_path / "hidden",)))
    yield made
    made.close()


def run_all(executor: LocalExecutor, jobs: Sequence[Job]) -> list[Done]:
    waiting, done, flying = list(enumerate(jobs)), [], 0
    deadline = time.monotonic() + 60
    while waiting or flying:
        assert time.monotonic() < deadline
        while waiting and flying < executor.slots:
            number, job = waiting.pop(0)
            executor.submit(str(number), job)
            flying += 1
        ended = executor.wait(1)
        flying -= len(ended)
        done += ended
    return sorted(done, key=lambda d: int(d.key))


def test_kinds_never_share_a_process(executor: LocalExecutor) -> None:
    jobs = [Nap("generate" if n % 2 else "score", 0.01) for n in range(40)]
    done = run_all(executor, jobs)
    pids = {
        kind: {d.value for d, j in zip(done, jobs, strict=True) if j.kind == kind} for kind in ("generate", "score")
    }
    assert not pids["generate"] & pids["score"]
    assert all(1 <= len(p) <= 2 for p in pids.values())
    assert os.getpid() not in pids["generate"] | pids["score"]


def test_an_answering_worker_cannot_open_what_is_hidden(executor: LocalExecutor, tmp_path: Path) -> None:
    secret = tmp_path / "hidden" / "tb.v"
    secret.parent.mkdir()
    secret.write_text("the test")
    (tmp_path / "link").symlink_to(secret.parent)
    answers, scores = run_all(executor, [Read("generate", secret), Read("score", secret)])
    assert answers.value is None
    assert answers.failure is not None
    assert answers.failure.kind == "BlindnessError"
    assert scores.value == "the test"


def test_a_worker_may_write_into_the_run_even_inside_a_hidden_folder(tmp_path: Path, jobs_importable: None) -> None:
    executor = LocalExecutor(1, Place(tmp_path / "hidden" / "run", (tmp_path / "hidden",)))
    try:
        (done,) = run_all(executor, [Nap("generate", 0, tmp_path / "hidden" / "run" / "mark")])
    finally:
        executor.close()
    assert done.failure is None


def test_a_job_is_done_again_when_its_worker_dies(executor: LocalExecutor, tmp_path: Path) -> None:
    done = run_all(executor, [Die("score", tmp_path / "once"), Die("score", tmp_path / "ever", always=True)])
    assert done[0].value == "survived"
    assert done[1].failure is not None
    assert "died 3 times" in done[1].failure.message
    assert "signal 9" in done[1].failure.message
    assert not done[1].failure.expected


def test_a_worker_that_dies_while_idle_is_nobodys_fault(executor: LocalExecutor) -> None:
    (first,) = run_all(executor, [Nap("score", 0)])
    os.kill(first.value, signal.SIGKILL)
    time.sleep(0.1)
    (second,) = run_all(executor, [Nap("score", 0)])
    assert second.failure is None
    assert second.value != first.value


def test_exceptions_become_data(executor: LocalExecutor, tmp_path: Path) -> None:
    expected, fault = run_all(executor, [Fail("score", expected=True), Fail("score", expected=False)])
    assert expected.failure is not None and fault.failure is not None
    assert (expected.failure.kind, expected.failure.hint, expected.failure.expected) == (
        "ToolMissingError",
        "install it",
        True,
    )
    assert not fault.failure.expected
    assert "worker_jobs.py" in fault.failure.detail
    assert "ValueError: a fault" in (tmp_path / "run" / "workers.log").read_text()


def test_closing_kills_even_busy_workers(executor: LocalExecutor, tmp_path: Path) -> None:
    executor.submit("x", Nap("score", 60, tmp_path / "mark"))
    (pid,) = executor.pids
    executor.close()
    assert not Path(f"/proc/{pid}").exists()


def test_workers_die_with_a_killed_starter(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from rtlagent.bench.executors import LocalExecutor, Place\nfrom worker_jobs import Nap\n"
        "e = LocalExecutor(2, Place(Path(sys.argv[1])))\n"
        "e.submit('a', Nap('score', 60)); e.submit('b', Nap('generate', 60))\n"
        "print(*e.pids, flush=True)\ninput()"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(HERE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert starter.stdout is not None
    pids = [int(p) for p in starter.stdout.readline().split()]
    assert len(pids) == 2
    starter.kill()
    starter.communicate()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(_alive(p) for p in pids):
        time.sleep(0.05)
    assert not any(_alive(p) for p in pids)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("name", ["dusk://host:1", "dask://", "dask://host", "dask://host:x", "slurm?queue", "sge"])
def test_wrong_names_of_executors_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        open_executor(name, 1, Place(tmp_path))
    assert refused.value.hint


def test_options_of_a_queue_are_read() -> None:
    require_executor("slurm?queue=short&memory=4GB&cores=2")
    assert queue_options("slurm?queue=short&memory=4GB&cores=2") == {"queue": "short", "memory": "4GB", "cores": 2}
    assert queue_options("lsf") == {}
    lists = "slurm?job_extra_directives=--gres%3Dgpu:1&queue=q&job_extra_directives=--exclusive&job_script_prologue=a b"
    assert queue_options(lists) == {
        "job_extra_directives": ["--gres=gpu:1", "--exclusive"],
        "queue": "q",
        "job_script_prologue": ["a b"],
    }
