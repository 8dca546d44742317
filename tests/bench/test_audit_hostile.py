"""`bench audit`: ports of testbenches, several problems at a time, kills, and suites that are damaged or mean harm."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_audit import BENCH, GOOD, SPEC, audited, kinds, problem

from rtlagent.bench.audit.bench_ports import is_reference
from rtlagent.types import SourceFile


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RTLAGENT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "suite"


def texts(found: dict[str, object]) -> str:
    return "\n".join(f"{f['severity']}: {f['kind']}: {f['text']}" for f in found["findings"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("connections", "said"),
    [
        (".a(a), .q(q), .p(p), .r(r)", "defect: ports: the testbench connects r of half; the golden design has no"),
        (".q(q), .p(p)", "doubt: ports: the testbench leaves inputs of half open: a"),
        (".a(a), .q(q), .p()", "doubt: ports: the testbench never looks at outputs of half: p"),
        ("a, q, p, a", "defect: ports: the testbench connects 3 of half"),
    ],
)
def test_ports_of_the_testbench(connections: str, said: str, root: Path) -> None:
    problem(root, "one", bench=BENCH.replace(".a(a), .q(q), .p(p)", connections).replace("wire p;", "wire p, r;"))
    _, found = audited(root, "--mutants", "0")
    assert said in texts(found["one"])


@pytest.mark.parametrize("connections", [".*", "a, q, p", ".a, .q, .p"])
def test_ports_that_are_connected_otherwise(connections: str, root: Path) -> None:
    problem(root, "one", bench=BENCH.replace(".a(a), .q(q), .p(p)", connections))
    _, found = audited(root, "--mutants", "0")
    assert "ports" not in texts(found["one"])


def test_a_test_that_compares_the_golden_design_with_itself() -> None:
    golden = [SourceFile("half.v", GOOD)]
    reference = SourceFile("ref.v", GOOD.replace("half", "RefModule").replace("\n", "  // same\n"))
    assert is_reference(golden, "half", [SourceFile("tb.v", BENCH), reference])
    assert not is_reference(golden, "half", [SourceFile("tb.v", BENCH)])
    assert not is_reference(golden, "half", [SourceFile("ref.v", reference.text.replace("2'd1", "2'd2"))])


def test_several_at_a_time_give_the_same_in_the_same_order(root: Path) -> None:
    for name in ("c", "a", "b"):
        problem(root, name, golden=GOOD.replace("+", "-") if name == "b" else GOOD)
    first, one = audited(root, "--mutants", "2", "--jobs", "1")
    again, two = audited(root, "--mutants", "2", "--jobs", "3", "--out", str(root.parent / "others"))
    assert list(one) == list(two) == ["a", "b", "c"]
    assert one == two
    assert first.exit_code == again.exit_code == 1


@pytest.mark.parametrize(
    ("bench", "golden", "said"),
    [
        (BENCH.replace("$finish;", "forever #1;"), GOOD, "golden design times out under its own test"),
        (BENCH, "", "the golden design does not pass its own test"),
        (BENCH, "\udcff\udcfe", "the golden design does not pass its own test"),
        ("", GOOD, "there is no test"),
        ("\udcff", GOOD, "there is no test"),
        (BENCH.replace('"PASS"', '"done"'), GOOD, "the golden design does not pass its own test"),
        ('module tb; initial begin $display("PASS"); $finish; end endmodule\n', GOOD, "outputs are all zero passes"),
    ],
)
def test_damaged_problems(bench: str, golden: str, said: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTLAGENT_LIMIT_CPU_S", "3")
    problem(root, "one")
    (root / "one/tests/tb.v").write_bytes(bench.encode(errors="surrogateescape"))
    (root / "one/golden/half.v").write_bytes(golden.encode(errors="surrogateescape"))
    result, found = audited(root, "--mutants", "2")
    assert said in texts(found["one"])
    assert result.exit_code in (1, 4)


def test_a_design_without_a_place_to_change(root: Path) -> None:
    wire = "module half (input x, output y);\n  buf (y, x);\nendmodule\n"
    bench = """module tb;
  reg x = 0; wire y;
  half dut (.x(x), .y(y));
  initial begin
    #1 if (y !== 0) $display("FAIL");
    x = 1;
    #1 if (y !== 1) $display("FAIL"); else $display("PASS");
    $finish;
  end
endmodule
"""
    problem(root, "one", golden=wire, bench=bench, spec="---\ntop: half\n---\nA module `half`, output y is input x.\n")
    _, found = audited(root)
    mutation = found["one"]["mutation"]
    assert mutation == {"killed": 0, "survived": 0, "undecided": 0, "equivalent": 0, "not_built": 0, "survivors": []}
    assert found["one"]["valid"] is True
    assert ("weak test", "doubt") not in kinds(found["one"])


def test_a_prompt_that_is_no_text(root: Path) -> None:
    problem(root, "one")
    (root / "one/spec.md").write_bytes(SPEC.encode() + b"\xff\xfe")
    result = subprocess.run(command(root, root.parent / "records"), capture_output=True, text=True, check=False)
    assert result.returncode in (0, 2) and "Traceback" not in result.stderr


def command(root: Path, records: Path) -> list[str]:
    words = ["bench", "audit", "folder", "--path", str(root), "--out", str(records), "--mutants", "4"]
    return [sys.executable, "-c", "from rtlagent.cli import main; main()", *words, "--simulator", "icarus", "-j", "2"]


@pytest.mark.slow
def test_a_killed_audit_goes_on(root: Path) -> None:
    for k in range(6):
        problem(root, f"p{k}")
    records = root.parent / "records"
    process = subprocess.Popen(command(root, records), stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while len(list(records.glob("*.json"))) < 2:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {p: p.stat().st_mtime_ns for p in records.glob("*.json")}
    assert 2 <= len(kept) < 6
    done = subprocess.run([*command(root, records), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [p["problem"] for p in json.loads(done.stdout)["problems"]] == [f"p{k}" for k in range(6)]
    assert {p: p.stat().st_mtime_ns for p in kept} == kept


@pytest.mark.slow
def test_an_interrupted_audit_ends_soon(root: Path) -> None:
    # Each run takes two seconds of the processor, each problem some dozens of runs.
    slow = BENCH.replace("wrong = 0;", "wrong = 0; for (i = 0; i < 8000000; i = i + 1) wrong = 0;", 1)
    for k in range(3):
        problem(root, f"p{k}", bench=slow)
    process = subprocess.Popen(command(root, root.parent / "records"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(4)
    assert process.poll() is None
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - start < 20
    assert process.returncode == 130
    assert b"Traceback" not in errors
