"""`rtlagent generate` and `resume` as a user types them: messages, exit codes, what is written where."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXAMPLE = EXAMPLES / "edge_detector"
REPLAY = f"replay:{EXAMPLE / 'replies.jsonl'}"
PROGRAM = str(Path(sys.executable).parent / "rtlagent")


def run(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_API_KEY", "_BASE_URL", "_HOST"))}
    return subprocess.run(
        [PROGRAM, *arguments],
        cwd=cwd,
        env={**kept, "RTLAGENT_MUTANTS": "0", **env},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_a_pass_prints_the_verdict_and_copies_the_files(tmp_path: Path) -> None:
    done = run("generate", str(EXAMPLE / "spec.md"), "--model", REPLAY, "--out", "final", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "PASS: edge_detector, evidence" in done.stdout
    assert "cycles checked, seed 1" in done.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["final", "runs"]
    assert [p.name for p in (tmp_path / "final").iterdir()] == ["edge_detector.v"]


def test_json_is_one_object_on_stdout(tmp_path: Path) -> None:
    done = run("generate", str(EXAMPLE / "spec.md"), "--model", REPLAY, "--json", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert report["record"]["exit_reason"] == "pass"
    assert report["record"]["usage"]["estimated"] is True
    assert "understood: new module edge_detector" in done.stderr
    again = run("resume", report["folder"], "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["verdict"] == report["verdict"]


def test_a_terminal_gets_the_live_table(tmp_path: Path) -> None:
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "generate", str(EXAMPLE / "spec.md"), "--model", REPLAY],
        cwd=tmp_path,
        stdout=secondary,
        stderr=secondary,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "140", "RTLAGENT_MUTANTS": "0"},
    )
    os.close(secondary)
    shown = b""
    while True:
        try:
            part = os.read(primary, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait(timeout=100) == 0
    text = shown.decode(errors="replace")
    assert "LUT/FF" in text
    assert "Fmax MHz" in text
    assert "lint:ok elab:ok sim:ok synth:ok" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\ntopp: m\n---\nprose\n", "spec.md:2:1: unknown key 'topp'"),
        ("---\nports: [input a, output a]\n---\nprose\n", "spec.md:2"),
        ("---\ntests: [gone.py]\n---\nprose\n", "gone.py"),
        ("", "spec.md"),
    ],
)
def test_a_wrong_spec_costs_nothing(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text(text)
    done = run("generate", "spec.md", "--model", REPLAY, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_no_model_names_the_choices(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text("# A counter\n")
    done = run("generate", "spec.md", cwd=tmp_path, OLLAMA_HOST="127.0.0.1:9")
    assert done.returncode == 2
    for choice in ("openai:", "ollama:", "langchain:", "replay:"):
        assert choice in done.stderr
    assert not (tmp_path / "runs").exists()


def test_unknown_runs_and_wrong_numbers_are_usage_errors(tmp_path: Path) -> None:
    assert run("resume", "nothing", cwd=tmp_path).returncode == 2
    assert (
        run("generate", str(EXAMPLE / "spec.md"), "--max-tokens", "-5", "--model", REPLAY, cwd=tmp_path).returncode == 2
    )
    assert (
        run("generate", str(EXAMPLE / "spec.md"), "--sandbox", "docker", "--model", REPLAY, cwd=tmp_path).returncode
        == 2
    )


def test_a_log_without_the_needed_reply_ends_as_a_model_error(tmp_path: Path) -> None:
    lines = (EXAMPLE / "replies.jsonl").read_text().splitlines()
    (tmp_path / "short.jsonl").write_text(lines[0] + "\n")
    done = run("generate", str(EXAMPLE / "spec.md"), "--model", "replay:short.jsonl", cwd=tmp_path)
    assert done.returncode == 4
    assert "'oracle'" in done.stdout
    assert "rtlagent resume" in done.stdout


def test_ask_takes_the_users_answers_from_stdin(tmp_path: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "generate", str(EXAMPLE / "spec.md"), "--model", REPLAY, "--ask", "--json", "--mutants", "0"],
        cwd=tmp_path,
        input="seen is a register\n\n",
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    decisions = json.loads(done.stdout)["decisions"]
    assert decisions[0][1] == "seen is a register"
    assert len(decisions) == len(json.loads(done.stdout)["assumptions"])


def test_help_starts_no_heavy_import() -> None:
    code = "import sys, rtlagent.cli; bad = {'rich', 'openai', 'langgraph', 'langchain', 'pyslang', 'pyosys', 'cocotb'}"
    code += "; print(sorted(bad & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("out", ["file", "file/inside", "/dev/null"])
def test_an_out_that_cannot_be_written_costs_nothing(tmp_path: Path, out: str) -> None:
    (tmp_path / "file").write_text("kept\n")
    done = run("generate", str(EXAMPLE / "spec.md"), "--model", REPLAY, "--out", out, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
