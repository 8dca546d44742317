"""`bench audit`: what is wrong with a benchmark, found on suites of plain folders; errata and corrected scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rtlagent.cli import app

GOOD = """module half (input [1:0] a, output [1:0] q, output p);
  assign q = a + 2'd1;
  assign p = ^a;
endmodule
"""
BENCH = """module tb;
  reg [1:0] a;
  wire [1:0] q;
  wire p;
  integer i, wrong;
  half dut (.a(a), .q(q), .p(p));
  initial begin
    wrong = 0;
    for (i = 0; i < 4; i = i + 1) begin
      a = i;
      #1 if (q !== ((i + 1) & 3) || p !== (i[0] ^ i[1])) wrong = wrong + 1;
    end
    if (wrong == 0) $display("PASS"); else $display("FAIL: %0d wrong", wrong);
    $finish;
  end
endmodule
"""
SPEC = """---
top: half
---
A module `half`: input a of two bits; output q of two bits is a plus one, output p the parity of a.
"""
ZERO_PASSES = BENCH.replace("q !== ((i + 1) & 3) || p !== (i[0] ^ i[1])", "q === 2'bxx && p === 1'bx")
ONLY_P = BENCH.replace("q !== ((i + 1) & 3) || ", "")
BREAK = BENCH.replace("wrong = wrong + 1;\n    end", "begin wrong = wrong + 1; break; end\n    end")
PEEKS = BENCH.replace("if (wrong == 0)", "if (wrong == 0 && dut.secret !== 1'bx)").replace(
    "half dut", "half #(.N(3)) dut"
)
SECRET = GOOD.replace("module half (", "module half #(parameter N = 2) (").replace(
    "endmodule", "  wire secret = a[0];\nendmodule"
)


def problem(root: Path, name: str, *, spec: str = SPEC, bench: str = BENCH, golden: str | None = GOOD) -> None:
    folder = root / name
    (folder / "tests").mkdir(parents=True)
    (folder / "spec.md").write_text(spec)
    (folder / "tests/tb.v").write_text(bench)
    if golden is not None:
        (folder / "golden").mkdir()
        (folder / "golden/half.v").write_text(golden)


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["bench", *words])


def audited(root: Path, *words: str) -> tuple[Result, dict[str, dict[str, object]]]:
    if "--simulator" not in words:
        words = (*words, "--simulator", "icarus")
    result = run("audit", "folder", "--path", str(root), "--out", str(root.parent / "records"), "--json", *words)
    assert "Traceback" not in result.output
    data = json.loads(result.stdout)
    return result, {p["problem"]: p for p in data["problems"]}


def kinds(found: dict[str, object]) -> list[tuple[str, str]]:
    return [(f["kind"], f["severity"]) for f in found["findings"]]  # type: ignore[attr-defined]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RTLAGENT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "suite"


def test_a_fair_problem_has_nothing_against_it(root: Path) -> None:
    problem(root, "fair")
    result, found = audited(root)
    assert result.exit_code == 0, result.output
    assert found["fair"]["valid"] is True
    assert kinds(found["fair"]) == []
    mutation = found["fair"]["mutation"]
    assert mutation["survived"] == 0 and mutation["killed"] >= 4  # type: ignore[index]
    designs = {(r["design"], r["simulator"]): r["status"] for r in found["fair"]["runs"]}  # type: ignore[attr-defined]
    assert designs["golden", "icarus"] == designs["golden", "auto"] == "PASS"
    assert designs["all zero", "auto"] == designs["all X", "auto"] == "FAIL"


@pytest.mark.parametrize(
    ("name", "change", "kind", "severity", "said"),
    [
        ("wrong golden", {"golden": GOOD.replace("+", "-")}, "golden design", "defect", "does not pass its own test"),
        (
            "broken golden",
            {"golden": GOOD.replace("assign", "asign", 1)},
            "golden design",
            "defect",
            "not pass its own",
        ),
        ("zero", {"bench": ZERO_PASSES}, "trivial design passes", "defect", "outputs are all zero"),
        ("ports", {"spec": SPEC.replace("output p", "output parity_out")}, "ports", "defect", "output p"),
        ("weak", {"bench": ONLY_P}, "weak test", "doubt", "kills"),
        ("peeks", {"bench": PEEKS, "golden": SECRET}, "unstated", "doubt", "a signal secret inside the design"),
        ("peeks", {"bench": PEEKS, "golden": SECRET}, "unstated", "doubt", "a parameter N of the design"),
        ("none", {"golden": None}, "not audited", "doubt", "no golden design"),
    ],
)
def test_each_kind_of_finding(
    name: str, change: dict[str, str], kind: str, severity: str, said: str, root: Path
) -> None:
    problem(root, name.replace(" ", "_"), **change)  # type: ignore[arg-type]
    _, found = audited(root, "--mutants", "6")
    (one,) = found.values()
    assert (kind, severity) in kinds(one)
    assert any(said in f["text"] for f in one["findings"] if f["kind"] == kind), one["findings"]  # type: ignore[attr-defined]
    assert one["valid"] is (severity == "doubt")


def test_files_that_the_model_sees_belong_to_the_prompt(root: Path) -> None:
    problem(
        root,
        "one",
        spec=SPEC.replace("output p the parity", "see ports.v for the parity").replace(
            "---\nA", "context: [ports.v]\n---\nA"
        ),
    )
    (root / "one/ports.v").write_text("// output p: the parity\n")
    _, found = audited(root, "--mutants", "0")
    assert kinds(found["one"]) == []


@pytest.mark.slow
def test_simulators_that_differ(root: Path) -> None:
    problem(root, "one", bench=BREAK)
    _, found = audited(root, "--mutants", "0", "--simulator", "icarus", "--simulator", "verilator")
    assert ("simulators differ", "doubt") in kinds(found["one"])
    assert "break" in found["one"]["findings"][0]["text"]  # type: ignore[index]
    assert found["one"]["valid"] is True


def test_errata_correct_a_score(root: Path) -> None:
    problem(root, "fair")
    problem(root, "wrong", golden=GOOD.replace("+", "-"))
    errata = root.parent / "errata.json"
    result = run(
        "audit",
        "folder",
        "--path",
        str(root),
        "--mutants",
        "0",
        "--simulator",
        "icarus",
        "--errata",
        str(errata),
        "--out",
        "records",
    )
    assert result.exit_code == 1, result.output
    assert "2 problems of folder" in result.stdout and "defective: wrong" in result.stdout
    score = run("score", "folder", "--path", str(root), "--golden", "--errata", str(errata))
    assert score.exit_code == 0, score.output
    assert "pass rate    50.0% (1 of 2 answers" in score.stdout
    assert "corrected   100.0% (1 of 1 answers" in score.stdout
    assert "corrected: wrong left out as defective by" in score.stdout
    data = json.loads(run("score", "folder", "--path", str(root), "--golden", "--errata", str(errata), "--json").stdout)
    assert data["corrected"]["pass_rate"] == 1.0 and data["summary"]["all"]["pass_rate"] == 0.5


def test_errata_of_other_data_are_refused(root: Path) -> None:
    problem(root, "fair")
    errata = root.parent / "errata.json"
    assert (
        run(
            "audit", "folder", "--path", str(root), "--mutants", "0", "--simulator", "icarus", "--errata", str(errata)
        ).exit_code
        == 0
    )
    (root / "fair/tests/tb.v").write_text(ONLY_P)
    score = run("score", "folder", "--path", str(root), "--golden", "--errata", str(errata))
    assert score.exit_code == 2
    assert "is of other data" in score.stderr and "hint: audit the data that are scored" in score.stderr
    for text in ("", "[]", '{"format": "rtlagent errata 1"}', '{"format": 7}', "\x00\xff"):
        errata.write_text(text)
        score = run("score", "folder", "--path", str(root), "--golden", "--errata", str(errata))
        assert score.exit_code == 2 and "is no errata file" in score.stderr, text


def test_finished_problems_are_not_audited_again(root: Path) -> None:
    problem(root, "fair")
    audited(root, "--mutants", "3")
    (record,) = (root.parent / "records").iterdir()
    kept = json.loads(record.read_text())
    kept["audit"]["findings"] = [{"kind": "weak test", "severity": "doubt", "text": "kept from before"}]
    record.write_text(json.dumps(kept))
    _, found = audited(root, "--mutants", "3")
    assert found["fair"]["findings"][0]["text"] == "kept from before"  # type: ignore[index]
    # Other settings, and a damaged record, mean a new audit.
    _, found = audited(root, "--mutants", "4")
    assert found["fair"]["findings"] == []
    record.write_text(record.read_text()[:40])
    assert audited(root, "--mutants", "4")[1]["fair"]["findings"] == []


def test_wrong_input(root: Path) -> None:
    problem(root, "fair")
    for words in (
        ("audit", "nosuch", "--path", str(root)),
        ("audit", "folder", "--path", str(root / "nowhere")),
        ("audit", "folder", "--path", str(root), "--problem", "fare"),
        ("audit", "folder", "--path", str(root), "--out", str(root / "fair/spec.md")),
    ):
        result = run(*words)
        assert result.exit_code == 2, (words, result.output)
        assert "error: " in result.output and "Traceback" not in result.output


def test_errata_of_some_problems_say_so(root: Path) -> None:
    for name in ("one", "two"):
        problem(root, name)
    errata = root.parent / "errata.json"
    audited(root, "--mutants", "0", "--problem", "one", "--errata", str(errata))
    words = ("score", "folder", "--path", str(root), "--golden", "--errata", str(errata))
    score = run(*words)
    assert score.exit_code == 0, score.output
    assert "warning: 1 of the problems were not audited and count as valid" in score.stderr
    assert "warning" not in run(*words, "--problem", "one").stderr
