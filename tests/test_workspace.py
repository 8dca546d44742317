"""A run folder survives kills, keeps other processes out, and never collides."""

import json
import multiprocessing
from pathlib import Path

import pytest

from rtlagent.errors import RunError
from rtlagent.types import Candidate, SourceFile
from rtlagent.workspace import Run


def test_two_runs_of_one_name_at_once_get_two_folders(tmp_path: Path) -> None:
    with multiprocessing.Pool(4) as pool:
        folders = pool.starmap(_create, [(tmp_path,)] * 12)
    assert len(set(folders)) == 12


def _create(runs: Path) -> str:
    return str(Run.create(runs, "same").folder)


def test_odd_names_become_plain_folders(tmp_path: Path) -> None:
    assert Run.create(tmp_path, "../a b/ü").folder.parent == tmp_path
    assert Run.create(tmp_path, "..").folder.name.endswith("-run")


def test_a_torn_last_event_is_dropped_and_the_rest_kept(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    run.emit("one", n=1)
    run.emit("two", kind="x")
    log = run.folder / "events.jsonl"
    log.write_bytes(log.read_bytes() + b'{"time": 1, "eve')
    again = Run(run.folder)
    again.emit("three")
    assert [e["event"] for e in again.events()] == ["one", "two", "three"]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    with run.locked(), pytest.raises(RunError, match="another process"), Run(run.folder).locked():
        pass
    with Run(run.folder).locked():
        pass


def test_publish_leaves_exactly_the_candidate(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    run.publish(Candidate((SourceFile("rtl/a.v", "1"), SourceFile("rtl/sub/b.v", "2"))), [SourceFile("golden.py", "g")])
    run.publish(Candidate((SourceFile("rtl/a.v", "3"),)), [SourceFile("golden.py", "g")])
    files = sorted(str(p.relative_to(run.folder)) for p in (run.folder / "rtl").rglob("*") if p.is_file())
    assert files == ["rtl/a.v"]
    assert (run.folder / "rtl/a.v").read_text() == "3"
    assert (run.folder / "tb/golden.py").read_text() == "g"


def test_publish_stays_in_the_folder_and_loses_no_file(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "runs", "r")
    paths = ("rtl/a.v", "a.v", "../rtl/b.v", "../../../../c.v", "/d.v")
    run.publish(Candidate(tuple(SourceFile(p, p) for p in paths)), ())
    found = {str(p.relative_to(run.folder)): p.read_text() for p in run.folder.rglob("*.v")}
    assert found == {
        "rtl/a.v": "rtl/a.v",
        "rtl/2/a.v": "a.v",
        "rtl/b.v": "../rtl/b.v",
        "rtl/c.v": "../../../../c.v",
        "rtl/d.v": "/d.v",
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == ["runs"]


def test_find_by_part_of_the_name(tmp_path: Path) -> None:
    runs = [Run.create(tmp_path, n) for n in ("fifo", "uart")]
    for run in runs:
        run.write_json("spec.json", {})
    assert Run.find(tmp_path, "uart").folder == runs[1].folder
    assert Run.find(tmp_path, str(runs[0].folder)).folder == runs[0].folder
    with pytest.raises(RunError, match="no run 'x'"):
        Run.find(tmp_path, "x")
    with pytest.raises(RunError, match="2 runs match"):
        Run.find(tmp_path, "2")


def test_damaged_files_are_named(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    (run.folder / "spec.json").write_text("{")
    with pytest.raises(RunError, match="damaged"):
        run.read_json("spec.json")
    with pytest.raises(RunError, match="lacks"):
        run.read_json("nothing.json")


def test_stored_files_come_back(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    files = (SourceFile("a.v", "ä\n"), SourceFile("b.v", ""))
    run.store_files(files, "abc")
    assert run.load_files("abc") == files
    assert json.loads((run.folder / "store/abc.files.json").read_text())[0]["path"] == "a.v"
