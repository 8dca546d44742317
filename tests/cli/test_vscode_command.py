from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "editors"))
from broken_design import COMMAND, lay_out, printed

from rtlagent.editors import jsonc
from rtlagent.editors.vscode import BEGINS, DIAGNOSTIC, ENDS

SCHEMA = json.loads((Path(__file__).resolve().parents[1] / "editors/vscode_tasks.schema.json").read_text())
MINE = """{
\t// my tasks
\t"version": "2.0.0",
\t"tasks": [
\t\t{ "label": "build", "type": "shell", "command": "make" }, // keep this
\t\t/* changed by me */
\t\t{ "label": "rtlagent: lint", "type": "shell", "command": "rtlagent lint --strict a.v" },
\t],
}
"""


def _vscode(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, "vscode", *arguments], cwd=folder, capture_output=True, text=True, check=False)


def _read(path: Path) -> dict[str, object]:
    return dict(jsonc.parse(path.read_text()).value)


def test_a_new_folder_gets_all_three_files(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.sv").touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").touch()
    done = _vscode(tmp_path, "--target", "ecp5")
    assert done.returncode == 0, done.stderr
    tasks = _read(tmp_path / ".vscode/tasks.json")
    jsonschema.validate(tasks, SCHEMA)
    by_name = {t["label"].removeprefix("rtlagent: "): t for t in tasks["tasks"]}  # type: ignore[attr-defined]
    assert list(by_name) == ["generate", "lint", "sim", "synth", "bench", "watch"]
    assert by_name["lint"]["command"] == "rtlagent lint src/*.sv"
    assert by_name["sim"]["command"] == "rtlagent sim src/*.sv --test tests/test_a.py --keep runs/sim"
    assert by_name["synth"]["command"].endswith("--target ecp5")
    assert by_name["watch"]["isBackground"] is True
    assert _read(tmp_path / ".vscode/mcp.json")["servers"]["rtlagent"]["args"][0] == "mcp"  # type: ignore[index]
    assert _read(tmp_path / ".vscode/extensions.json")["recommendations"]
    again = _vscode(tmp_path)
    assert [line.rsplit(" ", 1)[1] for line in again.stdout.splitlines()] == ["unchanged"] * 3


def test_what_is_there_stays_to_the_letter(tmp_path: Path) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/tasks.json").write_text(MINE)
    unwanted = '{ "unwantedRecommendations": ["MS-Python.python"] }'
    (tmp_path / ".vscode/extensions.json").write_text(unwanted)
    (tmp_path / ".vscode/mcp.json").write_bytes(b'{\r\n  "servers": {"rtlagent": {"command": "mine"}}\r\n}\r\n')
    assert _vscode(tmp_path).returncode == 0
    text = (tmp_path / ".vscode/tasks.json").read_text()
    for line in MINE.splitlines()[:7]:
        assert line in text
    labels = [t["label"] for t in _read(tmp_path / ".vscode/tasks.json")["tasks"]]  # type: ignore[attr-defined]
    assert labels[:2] == ["build", "rtlagent: lint"] and len(labels) == 7
    assert len(set(labels)) == 7
    assert "ms-python.python" not in _read(tmp_path / ".vscode/extensions.json")["recommendations"]  # type: ignore[operator]
    assert (tmp_path / ".vscode/mcp.json").read_bytes().count(b"\r\n") == 3


@pytest.mark.parametrize("text", ['{"tasks": [', "[]", '{"tasks": {}}', "\x00"])
def test_a_broken_file_stops_everything(tmp_path: Path, text: str) -> None:
    (tmp_path / ".vscode").mkdir()
    (tmp_path / ".vscode/tasks.json").write_text(text)
    done = _vscode(tmp_path)
    assert done.returncode == 2
    assert "tasks.json" in done.stderr
    assert [p.name for p in (tmp_path / ".vscode").iterdir()] == ["tasks.json"]
    assert (tmp_path / ".vscode/tasks.json").read_text() == text


def test_wrong_arguments_and_dry_run(tmp_path: Path) -> None:
    assert _vscode(tmp_path, "nowhere").returncode == 2
    assert "did you mean 'ecp5'" in _vscode(tmp_path, "--target", "ecp").stderr
    shown = _vscode(tmp_path, "--dry-run")
    assert "problemMatcher" in shown.stdout
    assert not (tmp_path / ".vscode").exists()


def test_the_matcher_catches_every_diagnostic_of_a_broken_design(tmp_path: Path) -> None:
    lay_out(tmp_path)
    text, diagnostics = printed(tmp_path)
    assert len(diagnostics) > 40
    assert len({d["code"] for d in diagnostics}) > 10
    pattern = re.compile(DIAGNOSTIC)
    caught = sorted(m.groups() for line in text.splitlines() if (m := pattern.match(line)))
    given = sorted(
        (d["path"] or "-", str(d["line"]), str(d["column"]), d["severity"], d["message"], d["code"] or None)
        for d in diagnostics
    )
    assert caught == given


def test_background_lines() -> None:
    assert re.match(BEGINS, "watch: begin") and re.match(ENDS, "watch: end PASS in 0.1 s")
    assert not re.match(DIAGNOSTIC, "watch: end PASS in 0.1 s")
