"""Tab, in a real bash: commands, options, choices, runs, codes; and files where files are wanted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASH = shutil.which("bash")
SCRIPT = """
source <(rtlagent --show-completion bash)
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_rtlagent_completion rtlagent
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered(folder: Path, *words: str) -> list[str]:
    assert BASH is not None
    quoted = " ".join(f"'{w}'" for w in ("rtlagent", *words))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "--norc", "-c", SCRIPT.format(words=quoted)],
        cwd=folder,
        env={**os.environ, "PATH": path, "SHELL": BASH},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not done.stderr
    return [line for line in done.stdout.splitlines() if line]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("20260101-000000-fifo", "20260102-000000-uart"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "spec.json").write_text("{}")
    (tmp_path / "runs" / "other").mkdir()
    return tmp_path


@pytest.mark.skipif(BASH is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("syn",), ["synth"]),
        (("bench", "au"), ["audit"]),
        (("synth", "x.v", "--target", "ic"), ["ice40"]),
        (("resume", "20260102"), ["20260102-000000-uart"]),
        (("compare", "20260101-000000-fifo", ""), ["20260102-000000-uart", "20260101-000000-fifo"]),
        (("explain", "LATC"), ["LATCH"]),
        (("bench", "score", "rtllm"), ["rtllm-v1.1", "rtllm-v2"]),
        (("lint", "sr"), []),
    ],
)
def test_tab(folder: Path, words: tuple[str, ...], wanted: list[str]) -> None:
    assert offered(folder, *words) == wanted


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_broken_settings_do_not_disturb_the_line(folder: Path) -> None:
    (folder / "rtlagent.toml").write_text("runs_dir = [")
    assert offered(folder, "resume", "2026") == []


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_a_wrong_command_does_not_disturb_the_line(folder: Path) -> None:
    assert "generate" in offered(folder, "nonsense", "")
