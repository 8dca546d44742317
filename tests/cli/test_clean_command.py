from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest


def _clean(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from rtlagent.cli import main; main()", "clean", *arguments]
    environment = {**os.environ, "RTLAGENT_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, days in (("old", 100), ("older", 200), ("new", 1)):
        _run(tmp_path / "runs" / name, days)
    call = tmp_path / "runs/mcp/1-simulate"
    call.mkdir(parents=True)
    (call / "simulate.log").write_text("x" * 5000)
    _age(call, 90)
    (tmp_path / "runs/notes").mkdir()
    (tmp_path / "runs/notes/mine.txt").write_text("mine")
    _age(tmp_path / "runs/notes", 500)
    for name in ("verilator", "photos"):
        (tmp_path / "cache" / name).mkdir(parents=True)
        (tmp_path / "cache" / name / "file").write_text("y" * 100_000)
    return tmp_path


def _run(folder: Path, days: float) -> None:
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text("{}")
    (folder / "logs").mkdir()
    (folder / "logs/big.log").write_text("z" * 50_000)
    _age(folder, days)


def _age(folder: Path, days: float) -> None:
    then = time.time() - days * 86_400
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (then, then))


def test_lists_and_removes_nothing_without_yes(project: Path) -> None:
    before = sorted(project.rglob("*"))
    listed = _clean(project, "--keep", "0", "--cache")
    assert listed.returncode == 0
    for words in ("runs/old", "runs/older", "runs/mcp/1-simulate", "cache/verilator", "nothing was removed", "kB"):
        assert words in listed.stdout
    for words in ("runs/new", "notes", "photos"):
        assert words not in listed.stdout
    assert sorted(project.rglob("*")) == before


def test_removes_what_it_listed_and_nothing_else(project: Path) -> None:
    done = _clean(project, "--keep", "0", "--cache", "--yes")
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in (project / "runs").iterdir()) == ["mcp", "new", "notes"]
    assert not list((project / "runs/mcp").iterdir())
    assert sorted(p.name for p in (project / "cache").iterdir()) == ["photos"]


def test_keeps_the_latest_and_those_in_use(project: Path) -> None:
    (project / "runs/older/.lock").touch()
    _age(project / "runs/older", 200)
    with (project / "runs/older/.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        listed = _clean(project, "--keep", "2")
        assert "runs/old" not in listed.stdout.replace("runs/older", "")
        assert "runs/older" not in listed.stdout


def test_links_are_not_followed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    _run(outside / "run", 300)
    (project / "runs/link").symlink_to(outside / "run")
    (project / "runs/older/inner").symlink_to(outside)
    _age(project / "runs/older/logs", 200)
    _clean(project, "--keep", "0", "--older-than", "0", "--yes")
    assert (outside / "run/spec.json").is_file()
    assert (outside / "run/logs/big.log").is_file()


def test_nothing_there(tmp_path: Path) -> None:
    assert "nothing to remove" in _clean(tmp_path).stdout
    assert _clean(tmp_path, "--older-than", "-1").returncode == 2
