"""`rtlagent bundle`: a failing gate is packed, and fails again elsewhere; hostile bundles do no harm."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rtlagent.cli import app
from rtlagent.workspace import Run

C = """int scale(int x, int k) { return x * k + 1; }
int main(void) { return scale(3, 4) == 12 ? 0 : 1; }
"""


def call(*words: object) -> Result:
    return CliRunner().invoke(app, [str(w) for w in words])


def said(result: Result) -> dict:
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def packed(repaired: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "failing.zip"
    result = call("bundle", repaired.folder, "-o", path, "--json")
    assert result.exit_code == 0, result.output
    assert (said(result)["gate"], said(result)["attempt"], said(result)["status"]) == ("simulate", 1, "FAIL")
    return path


def changed(packed: Path, out: Path, change: object) -> Path:
    """Write a copy whose case.json is changed."""
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(out, "w") as copy:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("/case.json"):
                case = json.loads(data)
                change(case)
                data = json.dumps(case).encode()
            copy.writestr(name, data)
    return out


def test_what_is_in_it(packed: Path, repaired: Run) -> None:
    with zipfile.ZipFile(packed) as archive:
        names = {n.removeprefix("failing/") for n in archive.namelist()}
        texts = {n: archive.read(n).decode(errors="replace") for n in archive.namelist()}
    assert {"README.md", "case.json", "spec.md", "rtl/edge_detector.v", "golden/golden.py"} <= names
    assert any(n.startswith("logs/") and n.endswith(".vcd") for n in names), names
    assert not any("model" in n or "settings" in n for n in names)
    assert "simulate of edge_detector: FAIL" in texts["failing/README.md"]
    places = [str(repaired.folder), str(repaired.folder.parent)]
    assert not [n for n, text in texts.items() if not n.endswith(".vcd") and any(p in text for p in places)]


def test_the_same_run_gives_the_same_bytes(packed: Path, repaired: Run, tmp_path: Path) -> None:
    again = tmp_path / "failing.zip"
    assert call("bundle", repaired.folder, "-o", again).exit_code == 0
    assert again.read_bytes() == packed.read_bytes()


def test_it_fails_again(packed: Path, tmp_path: Path) -> None:
    result = call("bundle", "--replay", packed, "--json", "--keep", tmp_path / "kept")
    assert result.exit_code == 0, result.output
    assert said(result)["reproduced"] is True
    assert said(result)["now"]["status"] == "FAIL"
    assert said(result)["now"]["tests"] and list((tmp_path / "kept" / "logs").rglob("*.vcd"))


def test_a_mended_design_is_not_the_failure(packed: Path, tmp_path: Path, repaired: Run) -> None:
    good = (repaired.folder / "rtl" / "edge_detector.v").read_text()
    mended = changed(packed, tmp_path / "mended.zip", lambda case: case["files"][0].update(text=good))
    result = call("bundle", "--replay", mended)
    assert result.exit_code == 1, result.output
    assert "not reproduced\n  the status is PASS and was FAIL" in result.stdout


def test_a_gate_that_passed_can_be_named(repaired: Run, tmp_path: Path) -> None:
    path = tmp_path / "synth.zip"
    result = call("bundle", repaired.folder, "--step", "synthesize", "-o", path, "--whole", "--with-model", "--json")
    assert result.exit_code == 0, result.output
    assert said(result)["attempt"] == 2
    assert {"run/events.jsonl", "run/report.json", "model.jsonl"} <= set(said(result)["files"])
    again = call("bundle", "--replay", path)
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "reproduced"), again.output


def test_a_c_program_that_fails_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scale.c").write_text(C)
    made = call("generate", "scale.c", "--top", "scale", "--runs-dir", "runs")
    assert made.exit_code == 1, made.output
    result = call("bundle", "scale", "-o", "c.zip", "--json")
    assert result.exit_code == 0, result.output
    assert said(result)["gate"] == "csim" and "context/scale.c" in said(result)["files"]
    shutil.rmtree("runs")
    Path("scale.c").unlink()
    again = call("bundle", "--replay", "c.zip")
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "reproduced"), again.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "no run 'nothing'"),
        (("RUN", "--attempt", "9"), "there is no attempt 9"),
        (("RUN", "--step", "equiv"), "the gate 'equiv' did not run"),
        (("RUN", "--attempt", "2"), "no gate failed in attempt 2"),
        (("RUN", "-o", "missing/x.zip"), "the bundle cannot be written"),
        (("RUN", "--keep", "x"), "--keep belongs to --replay"),
        (("--replay", "none.zip"), "there is no such bundle"),
        (("--replay", "RUN"), "there is no such bundle"),
        (("--replay", "text.zip"), "this is not a bundle"),
        (("--replay", "empty.zip"), "there is no case.json in it"),
        (("--replay", "two.zip"), "there is no case.json in it"),
        (("--replay", "list.zip"), "this is not a bundle"),
        (("--replay", "later.zip"), "the bundle has format 99"),
        (("text.zip",), "this is a file, not a run"),
    ],
)
def test_wrong_input(
    words: tuple[str, ...], message: str, repaired: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.zip").write_text("no zip")
    cases = {"list": ["[]"], "later": ['{"format": 99}'], "empty": [], "two": ["{}", "{}"]}
    for name, texts in cases.items():
        with zipfile.ZipFile(f"{name}.zip", "w") as archive:
            archive.writestr("x/README.md", "")
            for number, text in enumerate(texts):
                archive.writestr(f"x{number}/case.json", text)
    result = call("bundle", *(str(repaired.folder) if w == "RUN" else w for w in words))
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert not list(Path().glob(".*.part"))


def test_names_that_lead_out_stay_inside(packed: Path, tmp_path: Path) -> None:
    """A run folder that somebody else made may hold any name; so may a bundle."""

    def hostile(case: dict) -> None:
        case["files"].append({"path": "../../escaped.v", "text": "module escaped; endmodule"})
        case["gate"] = "lint"

    bad = changed(packed, tmp_path / "bad.zip", hostile)
    result = call("bundle", "--replay", bad)
    assert result.exit_code in (1, 2), result.output
    assert not list(tmp_path.rglob("escaped.v")) and not list(tmp_path.parent.glob("escaped.v"))


def test_a_gate_without_what_it_judges_by(packed: Path, tmp_path: Path) -> None:
    bare = changed(packed, tmp_path / "bare.zip", lambda case: case.update(trace=None))
    result = call("bundle", "--replay", bare)
    assert result.exit_code == 2 and "nothing that simulate could judge by" in result.stderr
    other = changed(packed, tmp_path / "other.zip", lambda case: case.update(gate="format_disk"))
    result = call("bundle", "--replay", other)
    assert result.exit_code == 2 and "there is no gate 'format_disk'" in result.stderr
