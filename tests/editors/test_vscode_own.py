"""VS Code's own code, as npm carries it, reads our tasks.json and our tools' output."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from broken_design import COMMAND, lay_out, printed

from rtlagent.editors import jsonc

OWN = Path(__file__).with_name("vscode_own")
SEVERITY = {"error": 8, "warning": 4, "note": 2}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.net,
    pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="Node is not installed"),
]


@pytest.fixture(scope="module")
def vscode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vscode") / "own"
    shutil.copytree(OWN, folder)
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"]
    done = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        pytest.skip(f"npm cannot fetch VS Code's modules: {done.stderr[-300:]}")
    return folder


def test_tasks_are_valid_and_every_diagnostic_is_a_problem(tmp_path: Path, vscode: Path) -> None:
    lay_out(tmp_path)
    subprocess.run([*COMMAND, "vscode"], cwd=tmp_path, check=True, capture_output=True)
    tasks = jsonc.parse((tmp_path / ".vscode/tasks.json").read_text()).value
    text, diagnostics = printed(tmp_path)
    (tmp_path / "output.txt").write_text(f"watch: begin\n{text}watch: end FAIL in 0.4 s\n")
    watch = next(t for t in tasks["tasks"] if t.get("isBackground"))
    (tmp_path / "matcher.json").write_text(json.dumps(watch["problemMatcher"]))
    arguments = [str(tmp_path / "matcher.json"), str(tmp_path / "output.txt"), str(tmp_path)]
    command = ["node", "--import", "./style_sheets.mjs", "read_tasks.mjs", *arguments]
    done = subprocess.run(command, cwd=vscode, capture_output=True, text=True, check=True, timeout=120)
    read = json.loads(done.stdout)
    jsonschema.Draft202012Validator(read["schema"]).validate(tasks)
    broken = {**tasks, "tasks": [{**tasks["tasks"][0], "problemMatcher": {"pattern": {"regexp": 1}}}]}
    assert not jsonschema.Draft202012Validator(read["schema"]).is_valid(broken)
    assert read["complaints"] == []
    assert read["background"] == ["begin", "end"]
    problems = sorted(
        (m["resource"], m["startLineNumber"], m["severity"], m["message"], m["code"]) for m in read["markers"]
    )
    assert problems == sorted(
        (str(tmp_path / str(d["path"])), d["line"], SEVERITY[str(d["severity"])], d["message"], d["code"])
        for d in diagnostics
    )
