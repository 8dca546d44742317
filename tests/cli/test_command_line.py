"""The program as a whole: quick to start, no tracebacks, exit codes that mean one thing."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rtlagent.cli
from rtlagent.cli import _COMMANDS, app
from rtlagent.errors import LimitError

RTLAGENT = Path(sys.executable).parent / "rtlagent"


def run(*arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(RTLAGENT), *arguments], capture_output=True, text=True, check=False, timeout=60, **settings
    )  # type: ignore[call-overload, no-any-return]


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in _COMMANDS)


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from rtlagent.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sorted(m.split('.')[0] for m in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    heavy = {
        "rich",
        "yaml",
        "openai",
        "langchain",
        "langgraph",
        "pyslang",
        "pyosys",
        "cocotb",
        "jinja2",
        "platformdirs",
    }
    assert not heavy & set(done.stderr.split())


@pytest.mark.parametrize("name", sorted(_COMMANDS))
def test_each_command_has_help_that_begins_with_its_summary(name: str) -> None:
    result = CliRunner().invoke(app, [name, "--help"])
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert _COMMANDS[name].summary in text
    assert re.search(r"Exit codes: 0 |What the model has answered", text)


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"{rtlagent.__version__}\n")


def test_a_mistyped_command() -> None:
    result = CliRunner().invoke(app, ["lnt"])
    assert result.exit_code == 2
    assert "no command 'lnt'; did you mean 'lint'?" in result.stderr


def test_expected_failures_have_their_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise LimitError("the budget is used up", hint="raise --max-tokens")

    monkeypatch.setattr("rtlagent.cli.inputs.read_files", fail)
    result = CliRunner().invoke(app, ["lint", "a.v"])
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == "error: the budget is used up\n\nhint: raise --max-tokens\n"


def test_an_unexpected_failure_leaves_its_traceback_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault\nof ours")

    monkeypatch.setattr("rtlagent.cli.inputs.read_files", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = CliRunner().invoke(app, ["lint", "a.v"])
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith(
        "error: unexpected ZeroDivisionError: a fault\n\nhint: this is a fault of rtlagent; "
    )
    (file,) = tmp_path.glob("rtlagent-traceback-*.txt")
    assert str(file) in result.stderr
    assert "ZeroDivisionError: a fault" in file.read_text()
    monkeypatch.setenv("RTLAGENT_DEBUG", "1")
    result = CliRunner().invoke(app, ["lint", "a.v"])
    assert result.exit_code == 4
    assert "Traceback (most recent call last)" in result.stderr


def test_the_console_script_reports_wrong_input(tmp_path: Path) -> None:
    done = run("lint", "nothing.v", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: nothing.v: does not exist\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (b"lint", b"\xff.v"),
        (b"equiv", b"good.v", b"folder"),
        (b"sim", b"good.v", b"--tb", b"\xff.v"),
        (b"sim", b"good.v", b"--test", b"\xff.py"),
        (b"generate", b"\xff.md"),
    ],
)
def test_a_file_name_that_is_not_utf_8_is_wrong_input(arguments: tuple[bytes, ...], tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in (b"\xff.v", b"\xff.py", b"\xff.md", b"good.v", b"folder/\xff.v"):
        Path(os.fsdecode(root + b"/" + name)).write_text("module a(input b, output c); assign c = b; endmodule\n")
    done = subprocess.run([os.fsencode(RTLAGENT), *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"has a name that is not UTF-8" in done.stderr


def test_a_huge_file_is_wrong_input_at_once(tmp_path: Path) -> None:
    (tmp_path / "huge.v").write_text("module a;\n" + "  wire [3:0] w;\n" * 350_000 + "endmodule\n")
    for command in ("lint", "synth"):
        start = time.monotonic()
        done = run(command, "huge.v", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: the Verilog files hold 5.6 MB, more than the limit of 2 MB\n\nhint: ")
        assert time.monotonic() - start < 20


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("module a;\n" + "  wire [3:0] w = 9'h1ff;\n" * 3000 + "endmodule\n")
    process = subprocess.Popen(
        [str(RTLAGENT), "lint", "a.v"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), said) == (141, b"")


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("module a; endmodule\n")
    (tmp_path / "tb.sv").write_text("module tb; initial forever #0; endmodule\n")
    process = subprocess.Popen(
        [str(RTLAGENT), "sim", "a.v", "--tb", "tb.sv", "--simulator", "icarus"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    time.sleep(3)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in out + said


def test_colours_only_in_a_terminal(tmp_path: Path) -> None:
    import pty

    (tmp_path / "a.v").write_text("module a (input b; endmodule\n")
    outer, inner = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([str(RTLAGENT), "lint", "a.v"], cwd=tmp_path, stdout=inner, env=environment)
    os.close(inner)
    shown = b""
    try:
        while data := os.read(outer, 4096):
            shown += data
    except OSError:  # the other end of a terminal that was closed
        pass
    os.close(outer)
    assert process.wait(60) == 1
    assert b"\x1b[" in shown
    plain = re.sub(rb"\x1b\[[0-9;]*m", b"", shown).replace(b"\r\n", b"\n").decode()
    assert plain.splitlines()[0] == run("lint", "a.v", cwd=tmp_path).stdout.splitlines()[0]
    assert "\x1b" not in run("lint", "a.v", cwd=tmp_path).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["lint a.v --json", "lint a.v", "lint missing.v --json", "doctor --json", "--help"])
def test_an_output_that_is_full_is_an_error_without_a_traceback(command: str, tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("module a;\n" + "  wire [3:0] w = 9'h1ff;\n" * 300 + "endmodule\n")
    shell = f'"{RTLAGENT}" {command} >/dev/full'
    done = subprocess.run(["/bin/sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.endswith(
        "error: cannot write: No space left on device\n\nhint: make room, or send the output elsewhere\n"
    )
    assert "Traceback" not in done.stderr


def test_an_error_stream_that_is_full_changes_no_exit_code(tmp_path: Path) -> None:
    shell = f'"{RTLAGENT}" lint missing.v 2>/dev/full'
    assert subprocess.run(["/bin/sh", "-c", shell], cwd=tmp_path, check=False).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("lint", "missing.v"), {"kind": "UsageError", "message": "does not exist", "where": "missing.v"}),
        (("generate", "missing.md"), {"kind": "SpecError", "where": "missing.md"}),
        (("resume", "nothing"), {"kind": "RunError", "message": "no run 'nothing'", "where": "runs"}),
        (("lint", "a.v", "--nosuch"), {"kind": "UsageError", "message": "No such option: --nosuch"}),
        (("pnr", "a.v", "--target", "z80"), {"kind": "UsageError"}),
        (("lnt",), {"kind": "UsageError"}),
    ],
)
def test_with_json_wrong_input_is_an_object_too(
    arguments: tuple[str, ...], expected: dict[str, str], tmp_path: Path
) -> None:
    done = run(*arguments, "--json", cwd=tmp_path)
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["error"]["exit_code"] == 2
    assert {k: answer["error"][k] for k in expected} == expected
    assert set(answer["error"]) == {"kind", "message", "where", "hint", "exit_code"}
    assert done.stderr
    assert run(*arguments, cwd=tmp_path).stdout == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_closed_from_the_start_changes_no_exit_code(tmp_path: Path, closed: str) -> None:
    command = f'"{RTLAGENT}" lint missing.v {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
