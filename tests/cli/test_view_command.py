"""`rtlagent view`: what is printed where there is no terminal, wrong input, and a start in a real one."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result
from viewed_runs import attempt, begin, benchmark, finished, held

from rtlagent.cli import app, view_text
from rtlagent.cli.view_events import LineFile
from rtlagent.cli.view_text import FileLines, folded

RTLAGENT = (sys.executable, "-c", "from rtlagent.cli import main; main()")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["view", *words])


def test_lists_runs_where_there_is_no_terminal(tmp_path: Path) -> None:
    assert "there is no run in" in run("--runs-dir", str(tmp_path / "none")).stdout
    made = finished(tmp_path)
    benchmark(tmp_path)
    result = run("--runs-dir", str(tmp_path))
    assert result.exit_code == 0, result.output
    head, *lines = result.stdout.splitlines()
    assert head.split() == ["run", "state", "began", "time", "attempts", "tokens", "cost", "for"]
    assert [line.split()[0] for line in lines] == [made.id, "bench/suite-model"]
    piped = subprocess.run(
        [*RTLAGENT, "view", "--runs-dir", str(tmp_path)], capture_output=True, text=True, check=True, stdin=None
    )
    assert piped.stdout == result.stdout


def test_prints_a_run_s_events(tmp_path: Path) -> None:
    made = finished(tmp_path)
    result = run("fifo", "--runs-dir", str(tmp_path))
    assert result.exit_code == 0, result.output
    for words in (made.id, "lint: FAIL in 1.2 s", "answer of the model: repair", "[2] PASS", "ended: PASS"):
        assert words in result.stdout
    assert run(str(made.folder)).stdout == result.stdout
    tasks = run("suite-model", "--runs-dir", str(tmp_path), "--runs-dir", str(benchmark(tmp_path).parents[1]))
    assert "FAIL     adder" in tasks.stdout and "queue" in tasks.stdout and "\x1b" not in tasks.stdout


def test_json(tmp_path: Path) -> None:
    made = begin(tmp_path)
    attempt(made, 1, "module fifo; endmodule")
    benchmark(tmp_path)
    with held(made.folder):
        found = json.loads(run("--json", "--runs-dir", str(tmp_path)).stdout)
        one = json.loads(run("fifo", "--json", "--runs-dir", str(tmp_path)).stdout)
    assert [r["kind"] for r in found["runs"]] == ["run", "bench"]
    assert one["id"] == made.id and one["state"] == "running" and one["iterations"] == 1
    assert found["runs"][1]["finished"] == 1 and found["runs"][1]["tasks"] == 2
    assert found["runs"][1]["tokens_in"] == 1200 and found["runs"][1]["cost_usd"] == 0.25


def test_wrong_input(tmp_path: Path) -> None:
    finished(tmp_path, "one-fifo")
    finished(tmp_path, "two-fifo")
    (tmp_path / "empty").mkdir()
    for words in (
        ("fifo",), ("nothing",), (str(tmp_path / "empty"),), ("--port", "80"), ("--no-open",), ("--html", "--json"),
        ("x" * 5000,), ("\0",),
    ):  # fmt: skip
        result = run(*words, "--runs-dir", str(tmp_path))
        assert result.exit_code == 2, (words, result.output)
        assert "hint: " in result.stderr and "Traceback" not in result.output
    assert run("--html", "--port", "70000").exit_code == 2
    result = run("nothing", "--json", "--runs-dir", str(tmp_path))
    assert json.loads(result.stdout)["error"]["exit_code"] == 2


@pytest.mark.parametrize("quit_by", [b"q", b"\x03", b""])
def test_starts_and_quits_in_a_terminal(tmp_path: Path, quit_by: bytes) -> None:
    """By a key, Ctrl-C, or a polite kill."""
    made = finished(tmp_path)
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "30"}
    process = subprocess.Popen(
        [*RTLAGENT, "view", "--runs-dir", str(tmp_path)], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
        close_fds=True,
    )  # fmt: skip
    os.close(theirs)
    said = b""
    try:
        deadline = time.monotonic() + 40
        sent = False
        while process.poll() is None:
            assert time.monotonic() < deadline, said
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    said += os.read(ours, 65536)
                except OSError:
                    break
            if made.id.encode() in said and b"Quit" in said and not sent:
                sent = True
                os.write(ours, quit_by) if quit_by else process.terminate()
        assert process.wait(20) == (0 if quit_by else 130)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    # The terminal is as it was before: its other screen is left, and the mouse is its own again.
    assert b"\x1b[?1049h" in said and b"\x1b[?1049l" in said and said.rfind(b"\x1b[?1000l") > said.rfind(b"\x1b[?1000h")
    assert b"Traceback" not in said


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\r", b"\n")), max_size=8), size=st.integers(1, 9)
)
def test_lines_of_a_growing_file_are_those_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], size: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "log"
    path.touch()
    kept, view_text._PIECE_BYTES = view_text._PIECE_BYTES, size
    try:
        lines, whole = FileLines(path), b""
        for piece in pieces:
            with path.open("ab") as file:
                file.write(piece)
            whole += piece
            lines.scan()
            expected = whole.split(b"\n")
            expected = expected if expected[-1] else expected[:-1]
            assert len(lines) == len(expected)
            for number, line in enumerate(expected):
                shown = view_text._shown(line)
                found = lines.line(number)
                assert found == shown or (len(line) > size and shown.startswith(found.split(" ... ")[0][:size]))
    finally:
        view_text._PIECE_BYTES = kept


def test_a_file_that_is_cut_or_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    file = LineFile(path)
    assert file.poll() == []
    path.write_bytes(b"one\n\ntwo\nthr")
    assert file.poll() == [(0, b"one"), (5, b"two")]
    assert file.poll() == [] and not file.restarted
    with path.open("ab") as more:
        more.write(b"ee\n")
    assert file.poll() == [(9, b"three")] and file.read(9, 5) == b"three"
    path.write_bytes(b"new\n")
    assert file.poll() == [(0, b"new")] and file.restarted
    (tmp_path / "other").write_bytes(b"a longer line than before\n")
    (tmp_path / "other").rename(path)
    assert file.poll() == [(0, b"a longer line than before")] and file.restarted
    path.write_bytes(b"x" * 100 + b"\n" + b"y\n")
    assert LineFile(path).poll(8)[0] == (0, b"x" * 100), "a line that is longer than what is read at a time"
    path.unlink()
    assert file.poll() == []


def test_folds_without_losing_anything() -> None:
    text = "word " * 40 + "\n" + "z" * 90 + "\n" + "漢字" * 40 + "\n\ta\tb\x1b"
    lines = folded(text, 30)
    assert "".join(lines) == "word " * 40 + "z" * 90 + "漢字" * 40 + "        a       b\\x1b"
    assert all(len(line) <= 30 for line in lines)
