"""A run killed at any moment goes on from there, and asks the model nothing twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "edge_detector"
PROGRAM = Path(sys.executable).parent / "rtlagent"
QUICK = (1, 6, 12)
"""Kill after so many events: while the model is asked, after the oracle, and amid the gates."""


def command(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [str(PROGRAM), *arguments],
        cwd=cwd,
        # Mutants only grade a pass; they would make each of these runs several times longer.
        env={**os.environ, "RTLAGENT_MUTANTS": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def events(runs: Path) -> list[str]:
    lines = [line for log in runs.glob("*/events.jsonl") for line in log.read_text().splitlines()]
    return [json.loads(line)["event"] for line in lines if line.endswith("}")]


def started_until(count: int, cwd: Path) -> subprocess.Popen[str]:
    """Start the example and return when `count` events are written."""
    process = command("generate", str(EXAMPLE / "spec.md"), "--model", f"replay:{EXAMPLE / 'replies.jsonl'}", cwd=cwd)
    deadline = time.monotonic() + 60
    while len(events(cwd / "runs")) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process


def kill_after(count: int, cwd: Path) -> None:
    """Start the example and kill it, with SIGKILL, once `count` events are written."""
    process = started_until(count, cwd)
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("count", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in range(1, 17)])
def test_a_killed_run_resumes_to_the_same_pass(count: int, tmp_path: Path) -> None:
    kill_after(count, tmp_path)
    (run,) = (tmp_path / "runs").iterdir()
    before = events(tmp_path / "runs")
    resumed = command("resume", str(run), cwd=tmp_path)
    out, _ = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, out
    report = json.loads((run / "report.json").read_text())
    assert report["record"]["exit_reason"] == "pass"
    assert report["record"]["iterations"] == 1
    asked = [json.loads(line) for line in (run / "model.jsonl").read_text().splitlines()]
    assert [a["purpose"] for a in asked] == ["understand", "oracle", "generate"]
    assert len(events(tmp_path / "runs")) > len(before)


def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    kill_after(3, tmp_path)
    (run,) = (tmp_path / "runs").iterdir()
    both = [command("resume", str(run), cwd=tmp_path) for _ in range(2)]
    codes = sorted(p.wait(timeout=120) for p in both)
    texts = [p.communicate()[0] for p in both]
    # The second one is refused, or comes so late that it finds the run finished.
    assert codes in ([0, 2], [0, 0]), texts
    asked = (run / "model.jsonl").read_text().splitlines()
    assert len(asked) == 3


DAMAGE = {
    "a lost store": lambda run: shutil.rmtree(run / "store"),
    "a lock that is a folder": lambda run: ((run / ".lock").unlink(), (run / ".lock").mkdir()),
    "a damaged event": lambda run: spoil_line(run / "events.jsonl", 2),
    "a damaged answer": lambda run: spoil_line(run / "model.jsonl", 1),
    "damaged settings": lambda run: (run / "settings.json").write_text('{"loop": {'),
    "other settings": lambda run: (run / "settings.json").write_text('{"loop": [], "budget": {}}'),
    "no settings": lambda run: (run / "settings.json").unlink(),
    "a damaged spec": lambda run: (run / "spec.json").write_text("[]"),
    "a damaged checkpoint": lambda run: spoil(run / "checkpoint.sqlite").write_bytes(b"not a database" * 1000),
    "a checkpoint that is a folder": lambda run: spoil(run / "checkpoint.sqlite").mkdir(),
    "a journal that is a folder": lambda run: spoil(run / "model.jsonl").mkdir(),
}


def spoil_line(path: Path, number: int) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[number - 1] = lines[number - 1][: len(lines[number - 1]) // 2]
    path.write_bytes(b"\n".join(lines))


def spoil(path: Path) -> Path:
    """Remove a file and what SQLite lays beside it; return its path."""
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()
    return path


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that was killed after the oracle."""
    folder = tmp_path_factory.mktemp("stopped")
    kill_after(8, folder)
    (run,) = (folder / "runs").iterdir()
    return run


def files_of(folder: Path) -> dict[str, bytes]:
    kept = [p for p in folder.rglob("*") if p.is_file() and "checkpoint" not in p.name and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in kept}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_run_is_refused_and_nothing_is_lost(damage: str, stopped: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(stopped, run)
    DAMAGE[damage](run)
    before = files_of(run)
    process = command("resume", str(run), cwd=tmp_path)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2, out
    assert str(run) in out and "hint: " in out and "Traceback" not in out and "unexpected" not in out
    after = files_of(run)
    # A kill may have left the last line of a log unfinished: that one is cut, whole lines stay.
    logs = {name for name in before if name.endswith(".jsonl")}
    assert {k: v for k, v in after.items() if k not in logs} == {k: v for k, v in before.items() if k not in logs}
    for name in logs:
        assert after[name].startswith(before[name][: before[name].rfind(b"\n") + 1]), name


def test_a_damaged_result_is_judged_again(stopped: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(stopped, run)
    first = command("resume", str(run), cwd=tmp_path)
    first.communicate(timeout=120)
    for result in (run / "store").glob("step-*.json"):
        result.write_text("{")
    again = command("resume", str(run), cwd=tmp_path)
    out, _ = again.communicate(timeout=120)
    assert (first.returncode, again.returncode) == (0, 0), out


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_kill_says_how_to_go_on(sent: signal.Signals, tmp_path: Path) -> None:
    process = started_until(8, tmp_path)
    process.send_signal(sent)
    out, _ = process.communicate(timeout=120)
    (run,) = (tmp_path / "runs").iterdir()
    assert process.returncode == 130, out
    assert f"interrupted; go on with: rtlagent resume {run.relative_to(tmp_path)}" in out
    assert "Traceback" not in out
    assert events(tmp_path / "runs")[-1] == "interrupted"
    resumed = command("resume", str(run), cwd=tmp_path)
    assert resumed.wait(timeout=120) == 0, resumed.communicate()[0]
    resumed.communicate()
