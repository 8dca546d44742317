"""The suites' layouts: what is found, what stays hidden, what goldens score."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from bench_data import GOOD, MISMATCH_BENCH, PRINTING_BENCH, WRONG, write_rtllm, write_v1, write_v2

from rtlagent.bench.problem import Suite
from rtlagent.bench.suites import DESCRIPTIONS, SUITES, suite
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.types import SourceFile, Status

DATA = Path(__file__).parents[3] / "shared" / "data"
HIDDEN = ("RefModule", "expected", "stats", "a + 3", "a + 4'd3", "verified_")
V2, RTLLM = suite("verilog-eval-v2"), suite("rtllm-v2")


@pytest.fixture
def config(tmp_path: Path) -> ToolConfig:
    return ToolConfig(cache_dir=tmp_path / "cache")


def golden_score(adapter: Suite, path: Path, name: str, config: ToolConfig):
    golden = adapter.golden(path, name)
    assert golden is not None
    return adapter.score(path, name, golden, config=config)


def test_every_suite_is_described_and_a_wrong_name_is_explained() -> None:
    assert list(DESCRIPTIONS) == list(SUITES)
    with pytest.raises(UsageError) as error:
        suite("verilog-eval-v3")
    assert "verilog-eval" in error.value.hint


def test_v2(tmp_path: Path, config: ToolConfig) -> None:
    write_v2(tmp_path / "dataset_spec-to-rtl")
    (problem,) = V2.problems(tmp_path)
    assert (problem.name, problem.top, problem.language) == ("Prob001_plus3", "TopModule", "systemverilog")
    assert not [h for h in HIDDEN if h in problem.spec_text]
    assert golden_score(V2, tmp_path, problem.name, config).status is Status.PASS
    bad = V2.score(tmp_path, problem.name, [SourceFile("a.v", WRONG)], config=config)
    assert (bad.status, bad.failure_class, bad.syntax, bad.simulation) == (Status.FAIL, "design", True, False)
    assert "has 39 mismatches" in bad.message
    broken = V2.score(tmp_path, problem.name, [SourceFile("a.v", WRONG.replace("assign", "asign"))], config=config)
    assert (broken.status, broken.syntax, broken.simulation) == (Status.FAIL, False, None)
    assert "a.v:2" in broken.message


def test_v2_code_completion(tmp_path: Path, config: ToolConfig) -> None:
    write_v2(tmp_path)
    header = "module TopModule(input [3:0] a, output [3:0] y);\n"
    (tmp_path / "Prob001_plus3_ifc.txt").write_text(header)
    (problem,) = V2.problems(tmp_path)
    assert header.strip() in problem.spec_text
    files = V2.completed(tmp_path, problem.name, "  assign y = a + 3;\nendmodule\n")
    assert V2.score(tmp_path, problem.name, files, config=config).status is Status.PASS
    assert V2.completed(tmp_path, problem.name, GOOD)[0].text == GOOD


def test_v2_timeout_of_the_test_itself(tmp_path: Path, config: ToolConfig) -> None:
    write_v2(tmp_path, bench=MISMATCH_BENCH.replace("#100000", "#200"))
    found = golden_score(V2, tmp_path, "Prob001_plus3", config)
    assert (found.status, found.failure_class) == (Status.TIMEOUT, "benchmark defect")


def test_v2_asks_which_data_set(tmp_path: Path) -> None:
    write_v2(tmp_path / "dataset_spec-to-rtl")
    write_v2(tmp_path / "dataset_code-complete-iccad2023")
    with pytest.raises(UsageError, match="several data sets"):
        V2.problems(tmp_path)
    with pytest.raises(UsageError, match="no problem 'Prob002'"):
        V2.golden(tmp_path / "dataset_spec-to-rtl", "Prob002")
    with pytest.raises(UsageError, match="not a folder"):
        V2.problems(tmp_path / "nowhere")


def test_v1(tmp_path: Path, config: ToolConfig) -> None:
    v1 = suite("verilog-eval-v1")
    write_v1(tmp_path)
    problems = v1.problems(tmp_path)
    assert [p.name for p in problems] == ["plus3", "add_three"]
    assert problems[0].spec_text.startswith("Add three (plus3).")
    assert "module top_module(" in problems[0].spec_text
    assert not [h for h in HIDDEN if h in problems[0].spec_text]
    assert golden_score(v1, tmp_path, "plus3", config).status is Status.PASS
    whole = GOOD.replace("TopModule", "top_module")
    for text in ("assign y = a + 3; endmodule", whole):
        files = v1.completed(tmp_path, "add_three", text)
        assert v1.score(tmp_path, "add_three", files, config=config).status is Status.PASS
    files = v1.completed(tmp_path, "plus3", "assign y = a + 1; endmodule")
    assert v1.score(tmp_path, "plus3", files, config=config).status is Status.FAIL


def test_v1_with_both_files_and_packed(tmp_path: Path) -> None:
    v1 = suite("verilog-eval-v1")
    write_v1(tmp_path)
    text = (tmp_path / "VerilogEval_Human.jsonl").read_bytes()
    (tmp_path / "VerilogEval_Machine.jsonl.gz").write_bytes(gzip.compress(text))
    names = [p.name for p in v1.problems(tmp_path)]
    assert names == ["human-plus3", "human-add_three", "machine-plus3", "machine-add_three"]
    assert [p.name for p in v1.problems(tmp_path / "VerilogEval_Human.jsonl")] == ["plus3", "add_three"]


def test_v1_wrong_input(tmp_path: Path) -> None:
    v1 = suite("verilog-eval-v1")
    with pytest.raises(UsageError, match="holds no JSONL"):
        v1.problems(tmp_path)
    (tmp_path / "x.jsonl").write_text("{]\n")
    with pytest.raises(UsageError, match="not JSON") as error:
        v1.problems(tmp_path)
    assert error.value.where.endswith("x.jsonl:1")
    (tmp_path / "x.jsonl").write_text(json.dumps({"task_id": "a", "test": "x"}) + "\n")
    with pytest.raises(UsageError, match="prompt"):
        v1.problems(tmp_path)


def test_rtllm(tmp_path: Path, config: ToolConfig) -> None:
    write_rtllm(tmp_path)
    (problem,) = RTLLM.problems(tmp_path)
    assert (problem.name, problem.top, problem.category) == ("plus3", "plus3", "Arithmetic/Adder")
    golden = RTLLM.golden(tmp_path, "plus3")
    assert golden is not None and "module plus3" in golden[0].text
    assert golden_score(RTLLM, tmp_path, "plus3", config).status is Status.PASS
    wrong = golden[0].text.replace("+ 3", "+ 4")
    found = RTLLM.score(tmp_path, "plus3", [SourceFile("plus3.v", wrong)], config=config)
    assert (found.status, found.failure_class) == (Status.FAIL, "design")
    assert "16 /16 failures" in found.message


def test_rtllm_names_that_clash(tmp_path: Path, config: ToolConfig) -> None:
    write_rtllm(tmp_path, category="Arithmetic")
    write_rtllm(tmp_path, category="Other things", name="Plus3")
    names = [p.name for p in RTLLM.problems(tmp_path)]
    assert names == ["Arithmetic.plus3", "Other_things.Plus3"]
    assert golden_score(RTLLM, tmp_path, names[1], config).status is Status.PASS
    # An answer may have the name of a file of the test.
    good = "module plus3(input [3:0] a, output [3:0] y); assign y = a + 3; endmodule"
    for name in ("testbench.v", "hidden/testbench.v", "expected.dat.v"):
        found = RTLLM.score(tmp_path, names[0], [SourceFile(name, good)], config=config)
        assert found.status is Status.PASS, (name, found)


STYLES = {
    "stop": PRINTING_BENCH.replace("$finish", "$stop"),
    "no_finish": PRINTING_BENCH.replace("    $finish;\n", ""),
    "finish_number": PRINTING_BENCH.replace("$finish;", "$finish(1);"),
    "lower_case": PRINTING_BENCH.replace("===========Your Design Passed===========", "Test passed!"),
    "write": PRINTING_BENCH.replace('$display("===========Your', '$write("===========Your'),
    "standard_output": PRINTING_BENCH.replace('$display("===========Your', '$fdisplay(1, "===========Your'),
    "conditional_finish": PRINTING_BENCH.replace("    $finish;", "    if (error) $finish; else $finish;"),
    "noise": PRINTING_BENCH.replace("a = i; #5;", 'a = i; #5; $display("error=%0d at %t", error, $time);'),
    "monitor": PRINTING_BENCH.replace("integer i", 'initial $monitor("%0d %0d", a, y);\n  integer i'),
    "windows": PRINTING_BENCH.replace("\n", "\r\n"),
    "task": PRINTING_BENCH.replace("if (error == 0) $display", "if (error == 0) say").replace(
        "endmodule", 'task say(input [8*64:1] t); $display("%0s", t); endtask\nendmodule'
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_rtllm_styles_of_testbenches(tmp_path: Path, style: str, config: ToolConfig) -> None:
    write_rtllm(tmp_path, bench=STYLES[style])
    found = golden_score(RTLLM, tmp_path, "plus3", config)
    assert found.status is Status.PASS, found
    wrong = [SourceFile("a.v", "module plus3(input [3:0] a, output [3:0] y); assign y = a; endmodule")]
    found = RTLLM.score(tmp_path, "plus3", wrong, config=config)
    assert (found.status, found.failure_class) == (Status.FAIL, "design"), found


def test_rtllm_silent_testbench_proves_nothing(tmp_path: Path, config: ToolConfig) -> None:
    write_rtllm(tmp_path, bench=re.sub(r"\$display\([^;]*\)", "i = i", PRINTING_BENCH))
    found = golden_score(RTLLM, tmp_path, "plus3", config)
    assert (found.status, found.failure_class) == (Status.FAIL, "benchmark defect")
    assert "printed nothing" in found.message


@pytest.mark.slow
def test_what_icarus_lacks_goes_to_verilator(tmp_path: Path) -> None:
    config = ToolConfig()  # with the runtime that is built already
    loop = PRINTING_BENCH.replace("a = i; #5;", "if (i == 16) break; a = i; #5;")
    write_rtllm(tmp_path, bench=loop)
    found = golden_score(RTLLM, tmp_path, "plus3", config)
    assert found.status is Status.PASS, found
    only = RTLLM.score(tmp_path, "plus3", RTLLM.golden(tmp_path, "plus3") or (), config=config, simulator="verilator")
    assert only.tool_versions[0].startswith("verilator")
    assert only.status is Status.PASS


def write_folder(folder: Path, name: str = "plus3", golden: bool = True) -> Path:
    place = folder / name
    (place / "tests").mkdir(parents=True)
    (place / "spec.md").write_text(
        "---\ntop: plus3\nports:\n  - {name: a, direction: input, width: 4}\n"
        "  - {name: y, direction: output, width: 4}\n"
        "---\n\nThe output y is the input a plus 3, modulo 16.\n"
    )
    if golden:
        (place / "golden").mkdir()
        (place / "golden" / "plus3.v").write_text(GOOD.replace("TopModule", "plus3"))
    return place


COCOTB = """import cocotb
from cocotb.triggers import Timer
from table import EXPECTED

@cocotb.test()
async def adds(dut):
    for k in range(16):
        dut.a.value = k
        await Timer(1, "ns")
        assert dut.y.value == EXPECTED[k]
"""


def test_folder_with_cocotb_and_testbench(tmp_path: Path, config: ToolConfig) -> None:
    folder = suite("folder")
    place = write_folder(tmp_path / "s")
    (place / "tests" / "test_plus3.py").write_text(COCOTB)
    (place / "tests" / "table.py").write_text("EXPECTED = [(k + 3) % 16 for k in range(16)]\n")
    (problem,) = folder.problems(tmp_path / "s")
    assert (problem.name, problem.top) == ("plus3", "plus3")
    assert problem.spec_text.startswith("---\ntop: plus3")
    assert golden_score(folder, tmp_path / "s", "plus3", config).status is Status.PASS
    wrong = [SourceFile("plus3.v", WRONG.replace("TopModule", "plus3"))]
    found = folder.score(tmp_path / "s", "plus3", wrong, config=config)
    assert (found.status, found.failure_class) == (Status.FAIL, "design"), found
    early = [
        SourceFile("plus3.v", GOOD.replace("TopModule", "plus3").replace("endmodule", "initial #3 $finish; endmodule"))
    ]
    assert folder.score(tmp_path / "s", "plus3", early, config=config).status is Status.FAIL
    (place / "tests" / "plus3_tb.sv").write_text(PRINTING_BENCH)
    (place / "tests" / "expected.dat").write_text("\n".join("0" for _ in range(16)))
    both = golden_score(folder, tmp_path / "s", "plus3", config)
    assert (both.status, both.failure_class) == (Status.FAIL, "benchmark defect"), both


def test_folder_with_a_testbench_only_and_none(tmp_path: Path, config: ToolConfig) -> None:
    folder = suite("folder")
    place = write_folder(tmp_path / "one")
    found = golden_score(folder, tmp_path / "one", "plus3", config)
    assert found.status is Status.FAIL and "no test" in found.message
    (place / "tests" / "tb.sv").write_text(PRINTING_BENCH)
    (place / "tests" / "expected.dat").write_text("\n".join(f"{(i + 3) % 16:x}" for i in range(16)))
    assert golden_score(folder, place, "plus3", config).status is Status.PASS
    with pytest.raises(UsageError, match=r"spec\.md"):
        folder.problems(place / "tests")


@pytest.mark.slow
def test_kernels(tmp_path: Path) -> None:
    config = ToolConfig()
    kernels = suite("kernels")
    place = tmp_path / "add"
    place.mkdir()
    source = "int add(int a, int b) {\n  return a + b;\n}\n"
    (place / "add.c").write_text(source)
    loop = "for (int i = 0; i < 20; i++) s += add(i, 2);"
    (place / "tb.c").write_text(f"int add(int, int);\nint main(void) {{ int s = 0; {loop} return s != 230; }}\n")
    (problem,) = kernels.problems(tmp_path)
    assert problem.c_source is not None and "main" not in problem.spec_text
    assert golden_score(kernels, tmp_path, "add", config).status is Status.PASS
    wrong = [SourceFile("add.c", source.replace("+", "-"))]
    assert kernels.score(tmp_path, "add", wrong, config=config).status is Status.FAIL
    broken = kernels.score(tmp_path, "add", [SourceFile("add.c", "int add(")], config=config)
    assert (broken.status, broken.failure_class, broken.syntax) == (Status.FAIL, "design", False)


def test_the_own_kernels_are_listed() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "suites" / "kernels"
    problems = suite("kernels").problems(path)
    assert len(problems) >= 40
    assert all(p.c_source is not None and p.top for p in problems)


def test_the_digest_tells_any_change(tmp_path: Path) -> None:
    write_v2(tmp_path / "v2")
    write_v1(tmp_path / "v1")
    write_rtllm(tmp_path / "rtllm")
    cases = [
        ("verilog-eval-v2", "v2", "Prob001_plus3_ref.sv"),
        ("verilog-eval-v1", "v1", "VerilogEval_Human.jsonl"),
        ("rtllm-v2", "rtllm", "Arithmetic/Adder/plus3/expected.dat"),
    ]
    for name, folder, file in cases:
        adapter, path = suite(name), tmp_path / folder
        before = adapter.data_sha256(path)
        assert before == adapter.data_sha256(path) and len(before) == 64
        (path / file).write_text((path / file).read_text() + "\n")
        assert adapter.data_sha256(path) != before


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the development data are not here")
@pytest.mark.parametrize(
    ("name", "folder", "defects"),
    [
        ("verilog-eval-v2", "verilogeval-dev", {"Prob099_m2014_q6c", "Prob082_lfsr32", "Prob151_review2015_fsm"}),
        ("rtllm-v2", "rtllm-dev", {"radix2_div"}),
        ("cvdp", "cvdp-example", set()),
    ],
)
def test_goldens_of_the_development_data(name: str, folder: str, defects: set[str]) -> None:
    adapter, path = suite(name), DATA / folder
    for problem in adapter.problems(path):
        found = golden_score(adapter, path, problem.name, ToolConfig())
        if problem.name in defects:
            assert found.failure_class == "benchmark defect", (problem.name, found)
        else:
            assert found.status is Status.PASS, (problem.name, found)
