"""A run killed at any moment goes on from there, and asks the model nothing twice."""

import json
import os
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


def kill_after(count: int, cwd: Path) -> None:
    """Start the example and kill it, with SIGKILL, once `count` events are written."""
    process = command("generate", str(EXAMPLE / "spec.md"), "--model", f"replay:{EXAMPLE / 'replies.jsonl'}", cwd=cwd)
    deadline = time.monotonic() + 60
    while len(events(cwd / "runs")) < count and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
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
