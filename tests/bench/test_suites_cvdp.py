"""CVDP's records and harness, with a harness of our own in the spellings of cocotb 1.x and 2."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.bench.cvdp_record import patched
from rtlagent.bench.suites import suite
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.types import SourceFile, Status

COMPOSE = """services:
  direct:
    image: __OSS_SIM_IMAGE__
    volumes:
      - ./src/:/src/:ro
    env_file    : ./src/.env
    command     : pytest -s --log-cli-level=INFO -o cache_dir=/rundir/harness/.cache /src/test_runner.py -v
"""
ENV = """SIM             = icarus
TOPLEVEL_LANG   = verilog
VERILOG_SOURCES = /code/rtl/plus3.sv
TOPLEVEL        = plus3
MODULE          = test_plus3
PYTHONPATH      = /src
"""
RUNNER = """import os
from RUNNER import get_runner

def test_runner():
    runner = get_runner(os.getenv("SIM"))
    runner.build(sources=os.getenv("VERILOG_SOURCES").split(), hdl_toplevel=os.getenv("TOPLEVEL"), always=True,
                 clean=True, verbose=True, timescale=("1ns", "1ns"), log_file="build.log")
    runner.test(hdl_toplevel=os.getenv("TOPLEVEL"), test_module=os.getenv("MODULE"), waves=True)
"""
TEST_OLD = """import cocotb
from cocotb.binary import BinaryValue
from cocotb.clock import Clock
from cocotb.result import TestFailure
from cocotb.triggers import RisingEdge, Timer
from cocotb.utils import get_sim_time

@cocotb.test()
async def adds(dut):
    cocotb.fork(Clock(dut.clk, 10, units="ns").start())
    for k in range(16):
        dut.a.value = BinaryValue(value=k, n_bits=4)
        await RisingEdge(dut.clk)
        await Timer(1, units="ns")
        if dut.y.value.integer != (k + 3) % 16:
            raise TestFailure(f"{k}: {dut.y.value.binstr}")
        assert dut.y.value + 1 == (k + 3) % 16 + 1 and dut.y.value <= 15
        assert dut.odd.value.integer == (k + 3) % 2
    assert get_sim_time(units="ns") > 100
    value = BinaryValue("1000")
    assert value[0].integer == 1 and value.binstr == "1000" and value.integer == 8
"""
TEST_NEW = (
    TEST_OLD.partition("@cocotb")[0]
    .replace("from cocotb.binary import BinaryValue\n", "")
    .replace("from cocotb.result import TestFailure\n", "")
    .replace("from cocotb.utils import get_sim_time\n", "")
    + """@cocotb.test()
async def adds(dut):
    cocotb.start_soon(Clock(dut.clk, 10, unit="ns").start())
    for k in range(16):
        dut.a.value = k
        await RisingEdge(dut.clk)
        await Timer(1, unit="ns")
        assert dut.y.value == (k + 3) % 16
"""
)
GOOD = """module plus3(input clk, input [3:0] a, output reg [3:0] y, output odd);
  assign odd = y[0];
  always @(posedge clk) y <= a + 3;
endmodule
"""
WRONG = GOOD.replace("a + 3", "a + 2")


def record(runner: str = "cocotb.runner", test: str = TEST_OLD, **more: object) -> dict[str, object]:
    harness = {
        "docker-compose.yml": COMPOSE,
        "src/.env": ENV,
        "src/test_runner.py": RUNNER.replace("RUNNER", runner),
        "src/test_plus3.py": test,
    }
    return {
        "id": "plus3_0001",
        "categories": ["cid003", "easy"],
        "input": {"prompt": "Design plus3.", "context": {"docs/notes.md": "Add three."}},
        "output": {"response": "", "context": {"rtl/plus3.sv": GOOD}},
        "harness": {"files": harness},
        **more,
    }


def write(folder: Path, *records: dict[str, object]) -> Path:
    file = folder / "cvdp.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in records))
    return file


def score(path: Path, text: str, name: str = "rtl/plus3.sv", problem: str = "plus3_0001"):
    return suite("cvdp").score(
        path, problem, [SourceFile(name, text)], config=ToolConfig(cache_dir=path.parent / "cache")
    )


@pytest.mark.parametrize(
    ("runner", "test"),
    [("cocotb.runner", TEST_OLD), pytest.param("cocotb_tools.runner", TEST_NEW, marks=pytest.mark.slow)],
)
def test_good_passes_and_wrong_fails_in_both_spellings(tmp_path: Path, runner: str, test: str) -> None:
    path = write(tmp_path, record(runner, test))
    good = score(path, GOOD)
    assert good.status is Status.PASS, good
    wrong = score(path, WRONG)
    assert (wrong.status, wrong.failure_class) == (Status.FAIL, "design"), wrong


@pytest.mark.parametrize(
    "text",
    [
        "",
        WRONG.replace("endmodule", "initial #1 $finish;\nendmodule"),
        WRONG.replace("endmodule", 'integer f; initial f = $fopen("/code/rundir/x.xml", "w");\nendmodule'),
        "`ifdef NEVER\n`define F $fo``pen\n`endif\n" + WRONG,
        '`ifdef COCOTB_SIM\nmodule x; initial $system("true"); endmodule\n`endif\n' + WRONG,
        WRONG.replace("a + 2", "nothing("),
        GOOD.replace("a + 3", "3").replace("assign odd", "assign (supply1, supply0) a = 0; assign odd"),
    ],
)
def test_a_forgery_does_not_pass(tmp_path: Path, text: str) -> None:
    found = score(write(tmp_path, record()), text)
    assert (found.status, found.failure_class) == (Status.FAIL, "design"), found


@pytest.mark.parametrize("name", ["src/test_plus3.py", "rundir/conftest.py", "conftest.py", "src/x.sv"])
def test_an_answer_brings_no_code_of_its_own(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, record())
    files = [SourceFile("rtl/plus3.sv", WRONG), SourceFile(name, "import cocotb\n")]
    found = suite("cvdp").score(path, "plus3_0001", files, config=ToolConfig(cache_dir=tmp_path))
    assert found.status is Status.FAIL
    assert name in found.message


def test_the_problem_holds_nothing_hidden(tmp_path: Path) -> None:
    (problem,) = suite("cvdp").problems(write(tmp_path, record()))
    seen = problem.spec_text + "".join(f.text for f in problem.context)
    assert problem.category == "cid003/easy"
    assert "rtl/plus3.sv" in problem.spec_text and "Add three." in seen
    assert "always" not in seen and "cocotb" not in seen


@pytest.mark.slow
def test_a_file_of_another_name_goes_where_the_only_target_is(tmp_path: Path) -> None:
    assert score(write(tmp_path, record()), GOOD, name="answer.v").status is Status.PASS


@pytest.mark.slow
def test_an_agentic_record_has_its_solution_as_a_patch(tmp_path: Path) -> None:
    plain = record()
    body = GOOD.splitlines()
    diff = f"@@ -0,0 +1,{len(body)} @@\n" + "".join(f"+{line}\n" for line in body)
    agentic = {
        "id": "plus3_0002", "categories": ["cid003"], "prompt": "Write rtl/plus3.sv.", "context": {},
        "patch": {"rtl/plus3.sv": diff}, "harness": plain["harness"]["files"],  # type: ignore[index]
    }  # fmt: skip
    path = write(tmp_path, agentic)
    golden = suite("cvdp").golden(path, "plus3_0002")
    assert golden is not None and golden[0].text.strip() == GOOD.strip()
    assert score(path, golden[0].text, problem="plus3_0002").status is Status.PASS


def test_patches() -> None:
    assert patched("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n") == "a\nB\nc\n"
    assert patched("", "whole text") == "whole text"
    with pytest.raises(ValueError, match="does not fit"):
        patched("a\n", "@@ -1,1 +1,1 @@\n-z\n+y\n")


def test_other_commands_and_missing_tools_are_no_wrong_design(tmp_path: Path) -> None:
    odd = record()
    odd["harness"]["files"]["docker-compose.yml"] = COMPOSE.replace("pytest -s", "xrun -s")  # type: ignore[index]
    found = score(write(tmp_path, odd), WRONG)
    assert (found.status, found.failure_class) == (Status.ERROR, "tool")
    needs = record()
    needs["harness"]["files"]["src/test_runner.py"] = (  # type: ignore[index]
        "import subprocess\ndef test_synth(): subprocess.run(['vcs', '-V'], check=True)\n"
    )
    found = score(write(tmp_path, needs), WRONG)
    assert (found.status, found.failure_class) == (Status.ERROR, "tool")
    assert "vcs" in found.message


def test_wrong_input(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no JSONL"):
        suite("cvdp").problems(tmp_path)
    (tmp_path / "x.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(UsageError, match="not a record"):
        suite("cvdp").problems(tmp_path)
    path = write(tmp_path, record())
    config = replace(ToolConfig(), sandbox="none")
    with pytest.raises(UsageError, match="sandbox"):
        suite("cvdp").score(path, "plus3_0001", [SourceFile("rtl/plus3.sv", GOOD)], config=config)
