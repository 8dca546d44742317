from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rtlagent.cli.init import Answers, template
from rtlagent.spec import TARGETS, load_spec

COMMAND = [sys.executable, "-c", "from rtlagent.cli import main; main()", "init"]


def _init(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, cwd=folder, input="")


@pytest.mark.parametrize("reset", ["high", "low", "none"])
def test_every_template_is_a_spec(tmp_path: Path, reset: str) -> None:
    for target in TARGETS:
        path = tmp_path / f"{target}.md"
        path.write_text(template(Answers("fifo", "A FIFO: 16 words.", reset, target)))
        spec = load_spec(path)
        assert (spec.top, spec.requirements.target) == ("fifo", target)
        assert (spec.reset is None) == (reset == "none")
        assert len(spec.ports) == (3 if reset == "none" else 4)


def test_options_answer_without_a_question(tmp_path: Path) -> None:
    done = _init(tmp_path, "new/place", "--yes", "--top", "pwm", "--target", "ecp5", "--reset", "low")
    assert done.returncode == 0, done.stderr
    assert load_spec(tmp_path / "new/place/pwm.md").top == "pwm"


def test_existing_files_stay(tmp_path: Path) -> None:
    (tmp_path / "blinker.md").write_text("mine")
    done = _init(tmp_path, "--yes")
    assert done.returncode == 2 and "exists already" in done.stderr
    assert (tmp_path / "blinker.md").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--yes", "--top", "a b"), "not a Verilog identifier"),
        (("--yes", "--top", "module"), "keyword"),
        (("--yes", "--top", "../x"), "not a Verilog identifier"),
        (("--yes", "--target", "ecp"), "did you mean 'ecp5'?"),
        (("--yes", "--reset", "async"), "unknown reset"),
        (("--yes", "--purpose", " "), "says nothing"),
        ((), "nobody to ask"),
    ],
)
def test_wrong_answers(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = _init(tmp_path, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_four_questions_in_a_terminal(tmp_path: Path) -> None:
    leader, follower = pty.openpty()
    process = subprocess.Popen(COMMAND, stdin=follower, stdout=follower, stderr=follower, cwd=tmp_path)
    os.close(follower)
    heard = ""
    for words, answer in (
        ("Name of the module", "9bad"),
        ("Name of the module", "uart"),
        ("What does it do", "Sends bytes."),
        ("Reset", "low"),
        ("Target", ""),
    ):
        heard = _until(leader, words, heard)
        heard = heard[heard.index(words) + len(words) :]
        os.write(leader, f"{answer}\n".encode())
    _until(leader, "rtlagent generate", heard)
    assert process.wait(20) == 0
    os.close(leader)
    spec = load_spec(tmp_path / "uart.md")
    assert spec.reset is not None and spec.reset.active == "low"
    assert "Sends bytes." in spec.text


def _until(leader: int, words: str, heard: str) -> str:
    deadline = time.monotonic() + 60
    while words not in heard:
        assert time.monotonic() < deadline, heard
        if select.select([leader], [], [], 1)[0]:
            heard += os.read(leader, 4096).decode()
    return heard
