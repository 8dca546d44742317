"""Temporary folders: gone afterwards, also those of a process that was killed, and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from rtlagent.tools.scratch import _owner, remove_stale, scratch_folder

HOLD = """
import time
from rtlagent.tools.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    remove_stale.cache_clear()
    return tmp_path


def holder(place: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that has a scratch folder in `place`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], env={**os.environ, "TMPDIR": str(place)}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_gone_afterwards(place: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == place
        (folder / "file").write_text("x")
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_is_removed_at_the_next_start(place: Path) -> None:
    process, left = holder(place)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (left / "deep" / "file").is_file()
    with scratch_folder():
        assert not left.exists()


def test_a_living_processs_folder_stays(place: Path) -> None:
    process, theirs = holder(place)
    try:
        with scratch_folder() as ours:
            assert theirs.is_dir() and ours.is_dir()
    finally:
        process.kill()
        process.communicate()


def test_nothing_else_is_touched(place: Path) -> None:
    namespace, _, start = _owner(os.getpid()).split("-")
    kept = [
        f"rtlagent-{namespace}1-999999999-{start}-abc",  # another PID namespace
        "rtlagent-traceback-abc.txt",
        "rtlagent-abcdefgh",
        f"other-{namespace}-999999999-1-abc",
    ]
    for name in kept:
        (place / name).mkdir()
    outside = place / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (place / f"rtlagent-{namespace}-999999999-1-link").symlink_to(outside)
    (place / f"rtlagent-{namespace}-999999999-1-file").write_text("x")
    stale = place / f"rtlagent-{namespace}-999999999-1-stale"
    stale.mkdir()
    (stale / "link").symlink_to(outside)
    assert remove_stale(place, _owner(os.getpid())) == (stale.name,)
    assert sorted(p.name for p in place.iterdir() if p.name in kept) == sorted(kept)
    assert (outside / "precious").read_text() == "x"


def test_a_later_process_of_the_same_number_is_not_the_owner(place: Path) -> None:
    namespace, pid, start = _owner(os.getpid()).split("-")
    earlier = place / f"rtlagent-{namespace}-{pid}-{int(start) - 1}-abc"
    earlier.mkdir()
    assert remove_stale(place, _owner(os.getpid())) == (earlier.name,)


def test_without_proc_nobody_is_taken_for_dead(place: Path) -> None:
    (place / "rtlagent-0-999999999-1-abc").mkdir()
    assert remove_stale(place, f"0-{os.getpid()}-0") == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_stays(place: Path) -> None:
    namespace = _owner(os.getpid()).split("-")[0]
    theirs = place / f"rtlagent-{namespace}-999999999-1-theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    assert remove_stale(place, _owner(os.getpid())) == ()


def test_the_command_line_leaves_nothing_behind_for_long(tmp_path: Path) -> None:
    (tmp_path / "a.v").write_text("module a; endmodule\n")
    (tmp_path / "tb.sv").write_text("module tb; initial forever #0; endmodule\n")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    program = str(Path(sys.executable).parent / "rtlagent")
    hung = subprocess.Popen(
        [program, "sim", "a.v", "--tb", "tb.sv", "--simulator", "icarus"], cwd=tmp_path, env=environment
    )
    deadline = time.monotonic() + 60
    while not list(temporary.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    hung.kill()
    hung.wait()
    assert list(temporary.iterdir())
    subprocess.run([program, "lint", "a.v"], cwd=tmp_path, env=environment, check=True, stdout=subprocess.DEVNULL)
    assert list(temporary.iterdir()) == []


def test_the_default_place_is_the_systems() -> None:
    with scratch_folder() as folder:
        assert folder.parent == Path(tempfile.gettempdir())
