"""Scoring given answers: where they are found, what is summed up, the command, and fetching."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bench_data import GOOD, WRONG, write_rtllm, write_v1, write_v2

from rtlagent.bench.answers import golden_answers, read_answers
from rtlagent.bench.fetch import fetch_suite
from rtlagent.bench.scoring import ScoringJob, score_answers, summarize
from rtlagent.bench.suites import suite
from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError, UsageError
from rtlagent.types import Status

V2 = suite("verilog-eval-v2")
PROGRAM = str(Path(sys.executable).with_name("rtlagent"))
NAMES = ("Prob001_plus3", "Prob002_again", "Prob003_more")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in NAMES:
        write_v2(tmp_path / "data", name)
    return tmp_path / "data"


def files(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        place = folder / name.replace("__", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_name(f"{place.name}.sv").write_text(text)
    return folder


def rtlagent(*args: object, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "bench", *map(str, args)],
        capture_output=True, text=True, timeout=timeout_s, check=False,
    )  # fmt: skip


def test_layouts_of_answers(tmp_path: Path, data: Path) -> None:
    place = files(
        tmp_path / "a", Prob001_plus3=GOOD, Prob002_again_sample01=GOOD, Prob002_again_sample02=WRONG,
        Prob003_more__top=GOOD, Prob003_more__sub=GOOD, stranger=GOOD,
    )  # fmt: skip
    found = read_answers(place, V2, data, NAMES)
    assert [(a.problem, a.sample, len(a.files)) for a in found.found] == [
        (NAMES[0], 0, 1), (NAMES[1], 1, 1), (NAMES[1], 2, 1), (NAMES[2], 0, 2),
    ]  # fmt: skip
    assert (found.missing, found.unmatched) == ((), ("stranger.sv",))


def test_samples_in_folders_and_rounds(tmp_path: Path, data: Path) -> None:
    place = files(
        tmp_path / "a", Prob001_plus3__Prob001_plus3_sample01=GOOD, Prob001_plus3__Prob001_plus3_sample12=GOOD
    )
    found = read_answers(place, V2, data, NAMES)
    assert [a.sample for a in found.found] == [1, 12]
    assert found.missing == NAMES[1:]
    place = files(tmp_path / "b", t1__Prob001_plus3=GOOD, t2__Prob001_plus3=WRONG, t2__nobody=WRONG)
    found = read_answers(place, V2, data, NAMES)
    assert [a.files[0].text for a in found.found] == [GOOD, WRONG]
    assert found.unmatched == ("t2/nobody.sv",)


def test_jsonl(tmp_path: Path) -> None:
    path = write_v1(tmp_path / "v1")
    v1 = suite("verilog-eval-v1")
    rows = [{"task_id": "plus3", "completion": "assign y = a + 3; endmodule"}] * 2 + [
        {"task_id": "x", "completion": ""}
    ]
    file = tmp_path / "samples.jsonl"
    file.write_text("\n".join(json.dumps(r) for r in rows))
    found = read_answers(file, v1, path, ("plus3", "add_three"))
    assert [(a.problem, a.sample) for a in found.found] == [("plus3", 0), ("plus3", 1)]
    assert found.found[0].files[0].text.startswith("module top_module(")
    assert found.missing == ("add_three",) and found.unmatched == ("samples.jsonl:3: x",)
    file.write_text('{"task_id": "plus3"}\n')
    with pytest.raises(UsageError, match="needs task_id and completion"):
        read_answers(file, v1, path, ("plus3",))


def test_wrong_answers_folder(tmp_path: Path, data: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_answers(tmp_path / "no", V2, data, NAMES)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="holds no answer") as error:
        read_answers(tmp_path / "empty", V2, data, NAMES)
    assert NAMES[0] in error.value.hint
    place = files(tmp_path / "two", Prob001_plus3_sample01=GOOD, Prob001_plus3__Prob001_plus3_sample1=GOOD)
    with pytest.raises(UsageError, match="two answers of number 1"):
        read_answers(place, V2, data, NAMES)


@pytest.mark.parametrize("jobs", [1, 3])
def test_scores_and_their_sum(tmp_path: Path, data: Path, jobs: int) -> None:
    (data / f"{NAMES[2]}_ref.sv").write_text("module RefModule(input [3:0] a, output [3:0] z); endmodule\n")
    place = files(
        tmp_path / "a", Prob001_plus3_sample01=GOOD, Prob001_plus3_sample02=WRONG, Prob001_plus3_sample03="nonsense",
        Prob003_more=GOOD,
    )  # fmt: skip
    problems = V2.problems(data)
    found = read_answers(place, V2, data, [p.name for p in problems])
    job = ScoringJob(V2.name, data, ToolConfig(cache_dir=tmp_path / "cache"), keep_dir=tmp_path / "logs")
    scored = sorted(score_answers(job, problems, found, jobs=jobs), key=lambda s: (s.problem, s.sample))
    assert [(s.problem, s.score.status, s.score.failure_class, s.missing) for s in scored] == [
        (NAMES[0], Status.PASS, "", False),
        (NAMES[0], Status.FAIL, "design", False),
        (NAMES[0], Status.FAIL, "design", False),
        (NAMES[1], Status.FAIL, "design", True),
        (NAMES[2], Status.FAIL, "benchmark defect", False),
    ]
    summary = summarize(scored)
    assert (summary.all.problems, summary.all.solved, summary.all.answers, summary.all.passed) == (3, 1, 4, 1)
    assert summary.all.pass_rate == pytest.approx(1 / 9)
    assert summary.valid.pass_rate == pytest.approx(1 / 6)
    assert summary.defects == (NAMES[2],)
    assert dict(summary.failure_classes) == {"design": 3, "benchmark defect": 1}
    assert "Mismatches: 0" in (tmp_path / "logs" / f"{NAMES[0]}_sample01" / "score.log").read_text()


def test_a_problem_without_its_test_concerns_no_other(tmp_path: Path, data: Path) -> None:
    (data / f"{NAMES[1]}_test.sv").unlink()
    problems = V2.problems(data)
    found = golden_answers(V2, data, [p.name for p in problems])
    job = ScoringJob(V2.name, data, ToolConfig(cache_dir=tmp_path / "cache"))
    scores = {s.problem: s.score for s in score_answers(job, problems, found, jobs=1)}
    assert [scores[n].status for n in NAMES] == [Status.PASS, Status.FAIL, Status.PASS]
    assert scores[NAMES[1]].failure_class == "benchmark defect"


def test_the_command(tmp_path: Path, data: Path) -> None:
    place = files(tmp_path / "a", Prob001_plus3=GOOD, Prob002_again=WRONG, odd=GOOD)
    done = rtlagent("score", V2.name, "--path", data, "--answers", place, "--jobs", 2)
    assert done.returncode == 1, done.stderr
    assert "PASS     Prob001_plus3" in done.stdout
    assert "1 without an answer: Prob003_more" in done.stdout
    assert "33.3% (1 of 2 answers; 1 of 3 problems)" in done.stdout
    assert "no problem for odd.sv" in done.stderr
    done = rtlagent("score", V2.name, "--path", data, "--answers", place, "--problem", NAMES[0], "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["summary"]["all"]["pass_rate"] == 1.0
    assert said["data_sha256"] == V2.data_sha256(data)
    (result,) = said["results"]
    assert result["score"]["status"] == "PASS" and result["score"]["tool_versions"]


def test_the_command_on_goldens_and_wrong_input(tmp_path: Path) -> None:
    path = write_rtllm(tmp_path / "rtllm")
    done = rtlagent("score", "rtllm-v1.1", "--path", path, "--golden", "--sandbox", "none")
    assert (done.returncode, "100.0%" in done.stdout) == (0, True), done.stderr
    for args in (["--golden", "--answers", tmp_path], ["--golden", "--problem", "none"]):
        done = rtlagent("score", "rtllm-v2", "--path", path, *args)
        assert done.returncode == 2, done.stdout
        assert "hint:" in done.stderr or "no problem" in done.stderr
    done = rtlagent("score", "rtllm-v9", "--path", path, "--golden")
    assert done.returncode == 2 and "rtllm" in done.stderr
    listed = {s["name"]: s for s in json.loads(rtlagent("suites", "--json").stdout)["suites"]}
    assert set(listed) >= {"cvdp", "kernels"} and "verilog-eval" in listed["verilog-eval-v2"]["url"]


def test_a_killed_command_leaves_no_worker(tmp_path: Path, data: Path) -> None:
    hung = GOOD.replace("endmodule", "initial #1 forever begin end\nendmodule")
    place = files(tmp_path / "a", **dict.fromkeys(NAMES, hung))
    argv = [PROGRAM, "bench", "score", V2.name, "-p", data, "-a", place, "-j", "2"]
    with subprocess.Popen([*map(str, argv)], stdout=subprocess.DEVNULL, start_new_session=True) as process:
        deadline = time.monotonic() + 30
        while len(_session(process.pid)) < 4 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert len(_session(process.pid)) >= 4
        os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while _session(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _session(process.pid)


def _session(leader: int) -> list[int]:
    """Return the living processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == leader and fields[0] not in "ZX":
            found.append(int(stat.parent.name))
    return found


@pytest.fixture
def repository(tmp_path: Path) -> tuple[str, str]:
    """A local repository with a VerilogEval-like tree; its URL and the first of two commits."""
    folder = tmp_path / "repo"
    write_v2(folder / "dataset_spec-to-rtl")
    (folder / "evil").symlink_to("/etc/passwd")
    hook = folder / "post-checkout"
    hook.write_text("#!/bin/sh\ntouch hooked\n")

    def git(*args: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
        return subprocess.run(
            ["git", *identity, *args], cwd=folder, check=True, capture_output=True, text=True
        ).stdout.strip()  # fmt: skip

    git("init", "-q", ".")
    git("add", "-A")
    git("commit", "-qm", "one")
    commit = git("rev-parse", "HEAD")
    write_v2(folder / "dataset_spec-to-rtl", "Prob002_later")
    git("add", "-A")
    git("commit", "-qm", "two")
    return f"file://{folder}", commit


def test_fetch_gives_one_commit(tmp_path: Path, repository: tuple[str, str]) -> None:
    url, commit = repository
    fetched = fetch_suite(V2.name, tmp_path / "out", commit=commit, url=url)
    assert (fetched.commit, fetched.problems) == (commit, 1)
    assert fetched.data_sha256 == V2.data_sha256(fetched.path)
    assert not (tmp_path / "out" / "evil").is_symlink()
    assert not (tmp_path / "out" / ".git").exists()
    again = fetch_suite(V2.name, tmp_path / "two", commit=commit, url=url, sha256=fetched.data_sha256)
    assert again.data_sha256 == fetched.data_sha256
    with pytest.raises(UsageError, match="exists already"):
        fetch_suite(V2.name, tmp_path / "out", commit=commit, url=url)


def test_fetch_keeps_nothing_that_is_wrong(tmp_path: Path, repository: tuple[str, str]) -> None:
    url, commit = repository
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="checksum"):
        fetch_suite(V2.name, out, commit=commit, url=url, sha256="0" * 64)
    with pytest.raises(UsageError, match="no commit is pinned") as error:
        fetch_suite(V2.name, out)
    assert "--commit" in error.value.hint
    with pytest.raises(UsageError, match="not the full hash"):
        fetch_suite(V2.name, out, commit="main", url=url)
    with pytest.raises(ToolError):
        fetch_suite(V2.name, out, commit="0" * 40, url=url)
    with pytest.raises(ToolError):
        fetch_suite(V2.name, out, commit=commit, url=f"ext::sh -c touch% {tmp_path}/hacked")
    assert not (tmp_path / "hacked").exists()
    with pytest.raises(UsageError, match="your own"):
        fetch_suite("folder", out, commit=commit)
    assert not out.exists() and not list(tmp_path.glob(".out*"))


def test_the_fetch_command(tmp_path: Path, repository: tuple[str, str]) -> None:
    url, commit = repository
    done = rtlagent("fetch", V2.name, "--out", tmp_path / "out", "--commit", commit, "--url", url)
    assert done.returncode == 0, done.stderr
    assert f"commit {commit}" in done.stdout and "1 problems" in done.stdout
    done = rtlagent("fetch", V2.name, "--out", tmp_path / "out2")
    assert done.returncode == 2 and "--commit" in done.stderr
