"""What the report of a run says: the fault, its repair, the evidence; also when the run was cut short."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from report_runs import RIGHT, WRONG

from rtlagent.agent.html import leave_report
from rtlagent.config import ToolConfig
from rtlagent.errors import RunError
from rtlagent.report import write_report
from rtlagent.report.folder import RunFolder
from rtlagent.types import Status, StepResult, to_json
from rtlagent.workspace import Run


def section(html: str, name: str) -> str:
    """Return what follows a heading, up to the next one."""
    return re.split(r"<h2 id=", html.split(f'<h2 id="{name}"', 1)[1])[0]


def words(html: str) -> str:
    """Return what a reader sees."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def rendered(folder: Path, *, schematic: bool = False) -> str:
    return write_report(folder, schematic=schematic).read_text()


def test_a_run_leaves_its_report(repaired: Run) -> None:
    html = (repaired.folder / "report.html").read_text()
    assert "PASS" in words(html.split("<nav")[0])
    assert [e for e in repaired.events() if e["event"] == "report_unwritten"] == []


def test_the_fault_and_its_repair_are_shown(repaired: Run) -> None:
    html = (repaired.folder / "report.html").read_text()
    attempts = section(html, "attempts")
    assert f"-            {WRONG}" in unescape(attempts)
    assert f"+            {RIGHT}" in unescape(attempts)
    assert "Changes from attempt 1:" in attempts
    assert "failed at simulate" in attempts
    tests = section(html, "tests")
    assert "Failing: attempt 1" in tests
    assert "Passing: the same window in attempt 2" in tests
    failing, passing = tests.split("Passing: the same window")
    inside = failing.split("Inside of the design: attempt 1")[1]
    assert ">rise_now</text>" in inside and ">prev</text>" in inside and 'class="bus bad"' in inside
    assert ">clk</text>" not in inside
    assert "seen (expected)" in failing and 'class="bus bad"' in failing and 'class="mark"' in failing
    assert "seen (expected)" not in passing.split("</figure>")[0]


def test_the_evidence_is_shown(repaired: Run) -> None:
    html = (repaired.folder / "report.html").read_text()
    assert "of 4 mutants killed" in words(section(html, "verdict"))
    mutants = section(html, "mutants")
    assert mutants.count('<pre class="diff"') == 4
    first = json.loads(next((repaired.folder / "store").glob("mutants-*.json")).read_text())[0]
    assert first["mutant"]["mutated"] in unescape(mutants)
    commands = words(section(html, "commands"))
    assert "iverilog -g2012" in commands and "synth" in commands
    assert len(re.findall(r"<tr>", section(html, "commands"))) - 1 == 3 + 5
    assert "understand" in words(section(html, "attempts"))
    assert "replay:" in words(section(html, "record"))


def test_the_design_is_laid_out_once_and_kept(copied: Path, tool_config: ToolConfig) -> None:
    html = write_report(copied, config=tool_config).read_text()
    structure = words(section(html, "structure"))
    assert "registers" in structure and "rtl/edge_detector.v:" in structure
    assert "seen output 8" in structure
    kept = list((copied / "store").glob("structure-*.json"))
    assert len(kept) == 1
    stamp = kept[0].stat().st_mtime_ns
    assert section(rendered(copied), "structure") == section(html, "structure")
    assert kept[0].stat().st_mtime_ns == stamp


def test_a_killed_run_has_a_report(copied: Path) -> None:
    """Killed in the middle of the second attempt, with half an event written."""
    (copied / "report.json").unlink()
    lines = (copied / "events.jsonl").read_text().splitlines(keepends=True)
    cut = next(k for k, line in enumerate(lines) if '"judging"' in line and '"iteration": 2' in line)
    (copied / "events.jsonl").write_text("".join(lines[: cut + 2]) + lines[cut + 2][:20])
    html = rendered(copied)
    head = words(html.split("<nav")[0])
    assert "UNFINISHED" in head and "rtlagent resume" in head
    assert "failed at simulate" in section(html, "attempts")
    assert "could not be read" not in head
    assert "Failing: attempt 1" in html and "Mutants are made of a passing design only" in html


def test_a_damaged_line_in_the_middle_is_said(copied: Path) -> None:
    lines = (copied / "events.jsonl").read_text().splitlines(keepends=True)
    (copied / "events.jsonl").write_text("".join([*lines[:3], lines[3][:30] + "\n", "[1]\n", *lines[4:]]))
    assert "2 lines of events.jsonl" in words(rendered(copied).split("<nav")[0])


def test_a_run_killed_before_the_first_candidate_has_a_report(copied: Path) -> None:
    for name in ("report.json", "checkpoint.sqlite"):
        (copied / name).unlink()
    for name in ("store", "logs", "rtl", "tb"):
        shutil.rmtree(copied / name)
    first = (copied / "events.jsonl").read_text().splitlines()[0]
    (copied / "events.jsonl").write_text(first + "\n")
    html = rendered(copied)
    assert "no attempt so far" in html and "There was no attempt" in html and "No candidate was judged" in html


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        ("tool", "ERROR: a tool broke"),
        ("model", "ERROR: the model failed"),
        ("limit", "STOPPED at a limit"),
        ("fail", "FAIL"),
    ],
)
def test_a_run_that_ended_badly_with_no_candidate_has_a_report(copied: Path, outcome: str, word: str) -> None:
    report = json.loads((copied / "report.json").read_text())
    report["record"]["exit_reason"] = outcome
    report |= {"verdict": None, "attempts": [], "files": [], "reason": "simulate broke: no <simulator>"}
    (copied / "report.json").write_text(json.dumps(report))
    kept = [e for e in (copied / "events.jsonl").read_text().splitlines() if '"started"' in e or '"ended"' in e]
    (copied / "events.jsonl").write_text("\n".join(kept) + "\n")
    html = rendered(copied)
    head = words(html.split("<nav")[0])
    assert word in head
    assert "simulate broke: no <simulator>" in head
    assert "<simulator>" not in html


def test_a_run_of_an_older_version_has_a_report(copied: Path) -> None:
    """Without kept mutants, commands in the events, ports of the model, and with a field nobody knows."""
    for path in (copied / "store").glob("mutants-*.json"):
        path.unlink()
    events = [json.loads(line) for line in (copied / "events.jsonl").read_text().splitlines()]
    for event in events:
        for name in ("argv", "ports", "clock"):
            event.pop(name, None)
    (copied / "events.jsonl").write_text("".join(json.dumps({**e, "later": [1]}) + "\n" for e in events))
    html = rendered(copied)
    assert "older than their keeping" in html
    assert "iverilog -g2012" in words(section(html, "commands"))
    assert 'class="bus bad"' in html


@pytest.mark.parametrize("name", ["report.json", "spec.json", "settings.json", "events.jsonl", "store"])
@pytest.mark.parametrize("damage", ["gone", "garbage", "other"])
def test_damaged_parts_are_left_out_and_said(copied: Path, name: str, damage: str) -> None:
    path = copied / name
    targets = list(path.glob("*.json")) if path.is_dir() else [path]
    for target in targets:
        if damage == "gone":
            target.unlink()
        else:
            target.write_bytes(b"\xff\x00{\n" if damage == "garbage" else b'[{"record": 3}]')
    html = rendered(copied)
    assert "<h2" in html
    if damage == "garbage" and name != "settings.json":
        assert "Parts of this run could not be read" in html or "left out" in html


def test_what_lies_outside_of_the_folder_stays_outside(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "scoreboard.json").write_text(json.dumps({"scenarios": [{"name": "secret-name"}]}))
    text = (copied / "events.jsonl").read_text()
    (copied / "events.jsonl").write_text(re.sub(r'"log_path": "[^"]*"', '"log_path": "../x"', text))
    (copied / "logs" / "link.log").symlink_to("/etc/hostname")
    (copied / "tb" / "golden.py").unlink()
    (copied / "tb" / "golden.py").symlink_to("/etc/hostname")
    html = rendered(copied)
    hostname = Path("/etc/hostname").read_text().strip()
    assert "link.log" not in html
    assert f">{hostname}\n" not in html
    assert "lies outside" in html


@pytest.mark.parametrize("wall_s", [0.2346, 0.0151, 1.0049999, 0.005, 7.12499, 0.3])
@pytest.mark.parametrize("digits", [2, 3])
def test_an_event_finds_the_result_that_it_tells_of(tmp_path: Path, wall_s: float, digits: int) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "spec.json").touch()
    for k, time_s in enumerate((wall_s, wall_s + 0.02, wall_s + 1)):
        step = StepResult("lint", Status.PASS, wall_s=time_s, detail=str(k))
        (tmp_path / "store" / f"step-{k}.json").write_text(json.dumps(to_json(step)))
    found = RunFolder(tmp_path).step("lint", round(wall_s, digits), "")
    assert found is not None and found.detail == "0"
    assert RunFolder(tmp_path).step("lint", wall_s + 0.5, "") is None
    assert RunFolder(tmp_path).step("lint", wall_s, "logs/x.log") is None


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run in this folder"):
        write_report(tmp_path)


def test_a_report_that_cannot_be_written_is_said_and_changes_nothing(copied: Path, tool_config: ToolConfig) -> None:
    (copied / "report.html").mkdir()
    (copied / "report.html" / "x").touch()
    run, heard = Run(copied), []
    run.listeners.append(heard.append)
    before = (copied / "report.json").read_bytes()
    leave_report(run, tool_config, draws=False)
    assert [e["event"] for e in heard] == ["report_unwritten"]
    assert "cannot be written" in heard[0]["reason"]
    assert (copied / "report.json").read_bytes() == before
    with pytest.raises(RunError, match="cannot be written"):
        write_report(copied, schematic=False)
    assert write_report(copied, copied / "other.html", schematic=False).is_file()


def test_an_unknown_fault_of_the_report_does_not_end_the_run(
    copied: Path, tool_config: ToolConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object, **_kwargs: object) -> Path:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("rtlagent.report.write_report", broken)
    run, heard = Run(copied), []
    run.listeners.append(heard.append)
    leave_report(run, tool_config, draws=False)
    assert heard[0]["reason"] == "ZeroDivisionError: oh"
