"""`rtlagent compare`: two runs side by side."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rtlagent.cli import app

KERNEL = """int scale(const int x[8], int k) {
  int s = 0;
  for (int i = 0; i < 8; i++) {
#pragma HLS unroll factor=8
#pragma HLS array_partition variable=x complete
    s += x[i] * k;
  }
  return s;
}
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    (folder / "scale.c").write_text(KERNEL)
    for name, extra in (("one", ()), ("two", ("--no-pragmas",))):
        words = ("generate", str(folder / "scale.c"), "--target", "xc7", "--runs-dir", str(folder / name), *extra)
        result = run(*words)
        assert result.exit_code == 0, result.output
    (folder / "runs").mkdir()
    for name in ("one", "two"):
        (made,) = (folder / name).iterdir()
        shutil.move(made, folder / "runs" / f"{name}-scale")
    return folder / "runs"


def test_what_differs_is_marked(runs: Path) -> None:
    result = run("compare", "one", "two", "--runs-dir", str(runs))
    assert result.exit_code == 0, result.output
    lines = {line[2:].split("  ")[0].strip(): line for line in result.stdout.splitlines() if line[:2] in ("* ", "  ")}
    assert lines["outcome"].startswith("  outcome") and lines["outcome"].split()[1:] == ["pass", "pass"]
    assert lines["gate cosim"].split()[-2:] == ["PASS", "PASS"]
    assert "luts" in lines and "latency_cycles" in lines
    assert any(line.startswith("* ") for line in lines.values())
    assert "the designs are different; --diff shows how" in result.stdout
    shown = run("compare", "one", "two", "--runs-dir", str(runs), "--diff")
    assert "--- A/scale.v\n+++ B/scale.v\n@@" in shown.stdout


def test_json_and_a_run_with_itself(runs: Path) -> None:
    result = run("compare", str(runs / "one-scale"), str(runs / "one-scale"), "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["designs"] == {"same": True, "diff": ""}
    assert all(row["same"] for row in data["rows"])
    by_name = {row["name"]: row["a"] for row in data["rows"]}
    assert by_name["outcome"] == "pass"
    assert isinstance(by_name["luts"], int)
    assert by_name["seconds"] > 0


def test_an_unfinished_run_and_hostile_names(runs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(runs / "one-scale", copy)
    (copy / "report.json").unlink()
    (copy / "rtl" / "esc\x1b[31m.v").write_text("module \x1b[2Jx; endmodule\n")
    result = run("compare", str(copy), "one", "--runs-dir", str(runs), "--diff")
    assert result.exit_code == 0, result.output
    assert "not ended" in result.stdout
    assert "\x1b" not in result.stdout


def test_wrong_input(runs: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(runs / "one-scale", damaged)
    (damaged / "report.json").write_text("{")
    for words in (("one", "nothing"), ("scale", "one"), (str(damaged), "one")):
        result = run("compare", *words, "--runs-dir", str(runs))
        assert result.exit_code == 2, result.output
        assert "hint: " in result.stderr and "Traceback" not in result.output
