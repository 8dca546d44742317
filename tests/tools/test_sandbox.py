"""The sandbox as its callers see it: files, environment, limits, errors, confined and not."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import platformdirs
import pytest
from process_search import processes_with

import rtlagent
from rtlagent.config import Limits, ToolConfig, resource_dir
from rtlagent.errors import SandboxError, ToolError, ToolMissingError
from rtlagent.tools.process import ProcessResult
from rtlagent.tools.sandbox import run

BOTH = pytest.mark.parametrize("mode", ["bwrap", "none"])


class Shell:
    """Runs shell lines in one work folder."""

    def __init__(self, work: Path, config: ToolConfig) -> None:
        self.work = work
        self.config = config

    def __call__(self, line: str, **limits: float) -> ProcessResult:
        allowed = replace(Limits(wall_s=20), **limits)  # type: ignore[arg-type]
        return run(["sh", "-c", line], work=self.work, config=self.config, limits=allowed)


@pytest.fixture
def mode() -> str:
    return "bwrap"


@pytest.fixture
def shell(tmp_path: Path, tool_config: ToolConfig, mode: str) -> Shell:
    work = tmp_path / "work"
    work.mkdir()
    return Shell(work, replace(tool_config, sandbox=mode))


@BOTH
def test_files_go_in_and_new_and_changed_ones_come_out(shell: Shell) -> None:
    (shell.work / "rtl").mkdir()
    (shell.work / "rtl/a.v").write_text("old\n")
    result = shell("cat rtl/a.v; echo new > rtl/a.v; mkdir -p obj/deep; echo made > obj/deep/b; chmod +x obj/deep/b")
    assert (result.returncode, result.stdout, result.stderr, result.limit) == (0, "old\n", "", None)
    assert (shell.work / "rtl/a.v").read_text() == "new\n"
    assert (shell.work / "obj/deep/b").read_text() == "made\n"
    assert os.access(shell.work / "obj/deep/b", os.X_OK)


def test_an_untouched_file_is_not_written_again(shell: Shell) -> None:
    file = shell.work / "a.v"
    file.write_text("module a; endmodule\n")
    os.utime(file, (1_000_000, 1_000_000))
    inode = file.stat().st_ino
    assert shell("test $(stat -c %Y a.v) = 1000000").returncode == 0
    assert file.stat().st_ino == inode


def test_a_program_built_in_one_run_starts_in_the_next(shell: Shell) -> None:
    shell("printf '#!/bin/sh\\necho built\\n' > sim; chmod +x sim")
    for name in ("./sim", "/work/sim"):
        assert run([name], work=shell.work, config=shell.config).stdout == "built\n"


@BOTH
def test_the_environment_is_exactly_what_was_given(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    result = run(["/usr/bin/env"], work=shell.work, config=shell.config, env={"A": "1"})
    names = {line.split("=")[0] for line in result.stdout.splitlines()}
    assert names - {"PWD", "OLDPWD", "_", "SHLVL"} == {"A", "PATH", "HOME", "TMPDIR", "LANG"}
    assert "planted" not in result.stdout


@BOTH
def test_standard_input_is_passed_and_may_be_ignored(shell: Shell) -> None:
    text = "x" * 3_000_000
    assert run(["wc", "-c"], work=shell.work, config=shell.config, stdin=text).stdout.strip() == "3000000"
    assert run(["true"], work=shell.work, config=shell.config, stdin=text).returncode == 0


@BOTH
def test_both_outputs_are_read_side_by_side(shell: Shell) -> None:
    result = shell("head -c 1000000 /dev/zero | tr '\\0' e >&2; head -c 1000000 /dev/zero | tr '\\0' o")
    assert (result.stdout, result.stderr) == ("o" * 1_000_000, "e" * 1_000_000)


def test_bytes_that_are_no_text_are_replaced(shell: Shell) -> None:
    assert shell("printf 'a\\377b'").stdout == "a\ufffdb"


@BOTH
@pytest.mark.parametrize(("line", "code"), [("exit 3", 3), ("kill -SEGV $$", -11), ("kill -ABRT $$", -6)])
def test_the_return_code_is_the_tools_own(shell: Shell, line: str, code: int) -> None:
    result = shell(line)
    assert (result.returncode, result.limit) == (code, None)


def test_python_finds_its_packages_and_the_workers(shell: Shell) -> None:
    code = "import rtlagent.tools.sandbox, yaml, pathlib, sys; print(sys.argv[1:], pathlib.Path.cwd())"
    result = run([sys.executable, "-c", code, "x y"], work=shell.work, config=shell.config)
    assert (result.returncode, result.stdout) == (0, "['x y'] /work\n"), result.stderr


def test_a_readonly_path_is_shown_and_cannot_be_written(shell: Shell, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "lib.a").write_text("archive")
    line = f"cat {cache}/lib.a; echo bad > {cache}/lib.a; echo bad > {cache}/new; ls {tmp_path}"
    result = run(["sh", "-c", line], work=shell.work, config=shell.config, readonly=[cache])
    assert result.stdout == "archivecache\n"
    assert [p.name for p in cache.iterdir()] == ["lib.a"]
    with pytest.raises(SandboxError, match="does not exist"):
        run(["true"], work=shell.work, config=shell.config, readonly=[tmp_path / "missing"])


@BOTH
@pytest.mark.parametrize(
    ("limit", "line", "limits"),
    [
        ("wall", "sleep {marker}", {"wall_s": 0.5}),
        ("cpu", "sleep {marker} & while :; do :; done", {"cpu_s": 1}),
        ("cpu", "sleep {marker} & (while :; do :; done) & (while :; do :; done) & wait", {"cpu_s": 1}),
        ("output", "sleep {marker} & yes", {"output_mb": 0.5}),
        ("output", "sleep {marker} & yes >&2", {"output_mb": 0.5}),
        ("processes", "i=0; while [ $i -lt 60 ]; do sleep {marker} & i=$((i+1)); done; wait", {"processes": 30}),
        ("memory", "perl -e '$x = \"a\" x 300000000; sleep 600' {marker}", {"memory_mb": 100}),
        ("work", "sleep {marker} & head -c 40000000 /dev/zero > big; wait", {"work_mb": 16}),
    ],
)
def test_at_a_limit_the_whole_tree_dies(
    shell: Shell, marker: str, limit: str, line: str, limits: dict[str, float]
) -> None:
    result = shell("echo started; echo kept > kept; " + line.format(marker=marker), **limits)
    assert (result.limit, result.returncode) == (limit, None)
    assert result.wall_s < 5
    assert result.stdout.startswith("started\n") and len(result.stdout) <= 524288
    assert (shell.work / "kept").read_text() == "kept\n"
    assert processes_with(marker) == []


def test_memory_that_processes_share_counts_once(shell: Shell) -> None:
    code = "import os, time; x = bytearray(60_000_000); [os.fork() for _ in range(2)]; time.sleep(0.5)"
    result = run([sys.executable, "-c", code], work=shell.work, config=shell.config, limits=Limits(memory_mb=150))
    assert (result.returncode, result.limit) == (0, None), "four processes, 57 MiB each, all of it shared"


@BOTH
def test_what_is_left_behind_dies_with_the_tool(shell: Shell, marker: str) -> None:
    start = time.monotonic()
    result = shell(f"sleep {marker} & setsid sleep {marker} & sleep 0.2; exit 0")
    assert (result.returncode, result.limit) == (0, None)
    assert time.monotonic() - start < 2, "a child that holds the output open must not be waited for"
    assert processes_with(marker) == []


def test_everything_dies_with_rtlagent(tmp_path: Path, marker: str) -> None:
    code = f"""
        from pathlib import Path
        from rtlagent.config import ToolConfig
        from rtlagent.tools.sandbox import run
        run(["sh", "-c", "setsid sleep {marker} & sleep {marker}"], work=Path({str(tmp_path)!r}), config=ToolConfig())
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]) as parent:
        assert _within(10, lambda: len(processes_with(marker)) > 2)
        parent.kill()
    assert _within(5, lambda: not processes_with(marker))


def test_many_threads_at_once(shell: Shell, tmp_path: Path) -> None:
    def job(number: int) -> tuple[str, str | None]:
        work = tmp_path / str(number)
        work.mkdir()
        (work / "in").write_text(str(number))
        line = "cat in > out; sleep 0.05; cat out" if number % 4 else "sleep 60"
        limits = Limits(wall_s=20 if number % 4 else 0.4)
        result = run(["sh", "-c", line], work=work, config=shell.config, limits=limits)
        return result.stdout, result.limit

    before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(job, range(24)))
    assert results == [(str(n), None) if n % 4 else ("", "wall") for n in range(24)]
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == before


def test_too_much_to_copy_in_is_a_limit(shell: Shell) -> None:
    (shell.work / "big").write_bytes(bytes(3 << 20))
    result = shell("true", work_mb=2)
    assert (result.limit, result.returncode) == ("work", None)
    assert "larger than 2 MiB" in result.stderr


@BOTH
def test_a_missing_tool_is_named(shell: Shell) -> None:
    for name in ("no-such-tool", "/usr/bin/no-such-tool", "./no-such-tool"):
        with pytest.raises(ToolMissingError, match=f"{name} is not installed"):
            run([name], work=shell.work, config=shell.config)


def test_a_tool_that_the_sandbox_does_not_show_is_named(shell: Shell, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho ran\n")
    tool.chmod(0o755)
    with pytest.raises(ToolMissingError, match="outside what the sandbox shows"):
        run([str(tool)], work=shell.work, config=shell.config)
    assert run([str(tool)], work=shell.work, config=shell.config, readonly=[tool]).stdout == "ran\n"


def test_without_bubblewrap_nothing_runs(shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="bubblewrap is not installed") as raised:
        shell("touch ran")
    assert "apt install bubblewrap" in raised.value.hint and "--sandbox none" in raised.value.hint
    assert not (shell.work / "ran").exists()


def test_where_the_kernel_refuses_namespaces_nothing_runs(tmp_path: Path) -> None:
    code = f"""
        from pathlib import Path
        from rtlagent.config import ToolConfig
        from rtlagent.errors import SandboxError
        from rtlagent.tools.sandbox import run
        try:
            run(["touch", "ran"], work=Path({str(tmp_path)!r}), config=ToolConfig())
        except SandboxError as error:
            print(error)
    """
    outer = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/"]
    done = subprocess.run(
        [*outer, sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, timeout=60
    )
    assert "bubblewrap could not start" in done.stdout
    assert "kernel.apparmor_restrict_unprivileged_userns" in done.stdout and "--sandbox none" in done.stdout
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_outside_is_an_error_with_a_reason(shell: Shell) -> None:
    shutil.rmtree(shell.work)
    with pytest.raises(ToolError, match="No such file or directory"):
        shell("true")


def test_as_an_ordinary_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    if os.geteuid() != 0:
        pytest.skip("every other test has just run as an ordinary user")
    if not Path("/dev/null").stat().st_mode & stat.S_IWOTH:
        pytest.skip("on this machine only root may write to /dev/null")
    folder = Path("/tmp") / f"rtlagent-nobody-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        _copy_for_everyone(folder)
        done = subprocess.run(
            ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "/usr/bin/python3", "-c", _ORDINARY],
            env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin", "RTLAGENT_CACHE_DIR": "/nonexistent"},
            cwd=folder / "work",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    if "SyntaxError" in done.stderr or "unsupported operand" in done.stderr:
        pytest.skip("the system's Python is too old for rtlagent")
    assert done.stderr == ""
    assert json.loads(done.stdout) == {
        "uid": ["65534\n", 0, None],
        "files": ["out", "hello\n"],
        "work": "work",
        "wall": "wall",
        "processes": "processes",
        "memory": "memory",
        "cpu": "cpu",
        "system": 2,
        "survivors": 0,
    }


_ORDINARY = """
import json, os, pathlib, subprocess
from rtlagent.config import Limits, ToolConfig
from rtlagent.tools.sandbox import run
work = pathlib.Path.cwd()
def shell(line, **limits):
    return run(["sh", "-c", line], work=work, config=ToolConfig(), limits=Limits(**limits))
uid = shell("id -u; echo hello > out")
seen = {"uid": [uid.stdout, uid.returncode, uid.limit]}
seen["files"] = [*os.listdir(work), (work / "out").read_text()]
seen["work"] = shell("head -c 30000000 /dev/zero > big; sleep 77123", work_mb=8).limit
seen["wall"] = shell("sleep 77123", wall_s=0.3).limit
seen["processes"] = shell("i=0; while [ $i -lt 60 ]; do sleep 77123 & i=$((i+1)); done; wait", processes=30).limit
seen["memory"] = shell("perl -e '$x = qq(a) x 300000000; sleep 77123'", memory_mb=100).limit
seen["cpu"] = shell("while :; do :; done", cpu_s=1).limit
seen["system"] = shell("echo x > /usr/x || exit 2").returncode
seen["survivors"] = subprocess.run(["pgrep", "-fc", "^sleep 77123"], capture_output=True).returncode == 0 and 1 or 0
print(json.dumps(seen))
"""


def _copy_for_everyone(folder: Path) -> None:
    (folder / "work").mkdir()
    os.chown(folder / "work", 65534, 65534)
    for package in (rtlagent, platformdirs):
        source = Path(str(package.__file__)).parent
        shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__", "_data"))
    shutil.copytree(resource_dir("sim"), folder / "sim", ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        if folder / "work" != path:
            path.chmod(0o755 if path.is_dir() else 0o644)


def _within(seconds: float, condition: object) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return bool(condition())
