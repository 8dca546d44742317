"""A run folder survives kills, keeps other processes out, and never collides."""

import json
import multiprocessing
from pathlib import Path

import pytest

from rtlagent.errors import RunError
from rtlagent.types import Candidate, SourceFile, Usage
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
    assert [e["event"] for e in again.events()] == ["one", "two"]
    with again.locked():
        again.emit("three")
    assert [e["event"] for e in again.events()] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "line", [b'{"time": 1, "eve', b"\xff\xfe", b"[]", b'{"event": "x"}', b'{"event": 1, "time": 2}']
)
def test_a_damaged_event_is_named_by_its_line(line: bytes, tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    run.emit("one")
    log = run.folder / "events.jsonl"
    log.write_bytes(log.read_bytes() + line + b"\n")
    run.emit("three")
    before = log.read_bytes()
    with pytest.raises(RunError, match="the line is damaged") as caught:
        Run(run.folder).events()
    assert caught.value.where == f"{log}:2"
    assert "model.jsonl" in caught.value.hint
    assert log.read_bytes() == before


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


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".lock", "the run cannot be locked: Is a directory"),
        ("store", "the run folder lacks its store"),
        ("events.jsonl", "cannot be written: Is a directory"),
    ],
)
def test_a_run_that_cannot_be_held_is_refused(name: str, message: str, tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    if name == "store":
        (run.folder / name).rmdir()
    else:
        (run.folder / name).mkdir()
    with pytest.raises(RunError, match=message) as caught, run.locked():
        pass
    assert caught.value.where == str(run.folder / name)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["{", "null", "[]", "{}", '{"x": []}', '{"x": {"tokens_in": "many"}}', "\xff"])
def test_a_damaged_record_is_named(text: str, tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    (run.folder / "u.json").write_text(text, encoding="latin-1")
    with pytest.raises(RunError, match="the file is damaged") as caught:
        run.read_record("u.json", Usage, key="x")
    assert caught.value.where == str(run.folder / "u.json")


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"path": "a.v"}]', "null"])
def test_damaged_stored_files_are_named(text: str, tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    (run.folder / "store" / "abc.files.json").write_text(text)
    if text == "{}":
        assert run.load_files("abc") == ()
        return
    with pytest.raises(RunError, match="the file is damaged"):
        run.load_files("abc")


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    (run.folder / "report.json").mkdir()
    (run.folder / "rtl").write_text("a file in the way")
    with pytest.raises(RunError, match="cannot be written"):
        run.write_json("report.json", {})
    with pytest.raises(RunError, match="cannot be written"):
        run.publish(Candidate((SourceFile("rtl/a.v", "1"),)), ())


def test_a_folder_without_its_specification_is_named(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "r")
    run.write_json("settings.json", {})
    with pytest.raises(RunError, match="lacks a file") as caught:
        Run.find(tmp_path, str(run.folder))
    assert caught.value.where.endswith("spec.json")


def test_a_reason_names_no_place_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.create(tmp_path / "runs", "r")
    monkeypatch.chdir(tmp_path)
    home = tmp_path.parent / "home"
    monkeypatch.setenv("HOME", str(home))
    said = (
        f"{run.folder}/store/a.json: lacks {tmp_path}/rtl/b.v, '{home}/.cache/x' and /usr/lib/y.so;"
        " http://host:80/v1/z, a/b/c and 1/2/3 stay"
    )
    assert run.portable(said) == (
        "store/a.json: lacks rtl/b.v, '~/.cache/x' and y.so; http://host:80/v1/z, a/b/c and 1/2/3 stay"
    )
