from __future__ import annotations

import pytest

from rtlagent.tools.bench_output import end_of_simulation, judge, possible_forger, severity_reports
from rtlagent.types import SourceFile, Status

QUIET = [SourceFile("rtl/q.v", "module q(input a, output y); assign y = a; endmodule\n")]


@pytest.mark.parametrize(
    "line",
    [
        "PASS",
        "All 12 tests passed!",
        "===========Your Design Passed===========",
        "Mismatches: 0 in 200 samples",
        "Hint: Total mismatched samples is 0 out of 200 samples",
        "Test 3 (overflow error): PASS",
        "Timeout recovery .......... [PASS]",
        "PASSED: 5, FAILED: 0",
        "Simulation done, 0 errors",
        "Test success",
    ],
)
def test_a_pass_word_is_a_pass(line: str) -> None:
    assert judge(line, 0, QUIET).status is Status.PASS


@pytest.mark.parametrize(
    "line",
    [
        "FAIL",
        "Test 2 failed: expected 3, got 4",
        "===========Error===========",
        "Mismatches: 3 in 200 samples",
        "Hint: Output 'q' has 5 mismatches. First mismatch occurred at time 20.",
        "ERROR at 35: q=1",
        "PASSED: 5, FAILED: 2",
        "Test did not pass",
        "0/5 tests passed",
        "passed: 0",
        "TIMEOUT",
        "wrong value",
        "1 error found; other tests passed",
    ],
)
def test_a_failure_word_is_a_failure_even_beside_passes(line: str) -> None:
    assert judge(f"PASS first check\n{line}\nall other tests passed", 0, QUIET).status is Status.FAIL


@pytest.mark.parametrize(
    "output", ["", "time=5 q=3", "t=1 error=0", "t=1 error=1 pass=1", "bypass mode on", "Testing error injection"]
)
def test_neither_word_is_unproven(output: str) -> None:
    assert judge(output, 0, QUIET).status is Status.UNPROVEN


@pytest.mark.parametrize(
    "line",
    [
        "0 tests PASSED",
        "All 0 tests passed",
        "zero tests passed",
        "PASSED 0 tests",
        "0 passed, 0 failed",
        "[10 ns] 0 passed",
        "PASS (0 vectors checked)",
        "Tests run: 0, Failures: 0",
        "0/0 tests passed",
        "Mismatches: 0 in 0 samples",
        "Hint: Total mismatched samples is 0 out of 0 samples",
        "no tests were run, 0 errors",
    ],
)
def test_a_count_of_no_tests_is_unproven(line: str) -> None:
    judged = judge(f"PASS\n{line}", 0, QUIET)
    assert judged.status is Status.UNPROVEN
    assert line in judged.message
    assert judge(f"{line}\n12 tests passed", 0, QUIET).status is Status.PASS


@pytest.mark.parametrize(
    "line",
    [
        "Test 0 passed",
        "Test case 0: PASS",
        "vector #0 passed",
        "[0] PASS",
        "t=0 all tests passed",
        "Cycle 0: check passed",
        "0 tests failed, all passed",
        "0 errors in 25 tests",
        "20 samples, 0 mismatches",
    ],
)
def test_a_zero_that_counts_no_tests_does_not_spoil_a_pass(line: str) -> None:
    assert judge(line, 0, QUIET).status is Status.PASS


def test_exit_code_alone_fails_but_never_passes() -> None:
    assert judge("PASS", 1, QUIET).status is Status.FAIL
    assert judge("done", 0, QUIET).status is Status.UNPROVEN


def test_own_lines_of_the_simulators_are_no_evidence() -> None:
    own = "- tb/test_error.sv:1: Verilog $finish\n%Error: tb/fail.sv:3: Verilog $stop\nVCD info: error.vcd opened."
    assert judge(own, 0, QUIET).status is Status.UNPROVEN


def test_severity_reports_of_both_simulators() -> None:
    icarus = (
        "ERROR: tb.sv:4: a is 0\n       Time: 5 Scope: tb\nERROR: tb.sv:5: \nFATAL: tb.sv:9: dead\nWARNING: tb.sv:6: w"
    )
    verilator = "[5000] %Error: tb.sv:4: Assertion failed in tb: a is 0\n%Warning: m.hex:0: $readmem file not found"
    assert severity_reports(icarus) == ["tb.sv:4: a is 0", "tb.sv:5: assertion failed", "tb.sv:9: dead"]
    assert severity_reports(verilator) == [
        "tb.sv:4: Assertion failed in tb: a is 0",
        "m.hex:0: $readmem file not found",
    ]
    assert judge(f"PASS\n{verilator}", 0, QUIET).status is Status.FAIL


@pytest.mark.parametrize(
    "statement",
    [
        '$display("Your Design Passed")',
        '$display("%s", word)',
        '$write("\\160ass")',
        "$display(word)",
        '$monitor("%m")',
        "$finish",
        "$stop(0)",
        "$root.tb.errors = 0",
        '`define P(x) $``x("PASSED")',
    ],
)
def test_a_design_that_could_forge_a_pass_is_found(statement: str) -> None:
    design = [SourceFile("rtl/f.v", f"module f;\n// $finish\ninitial begin {statement}; end\nendmodule\n")]
    assert possible_forger(design).startswith("rtl/f.v:3: ")
    assert judge("PASSED", 0, design).status is Status.UNPROVEN
    assert judge("FAILED", 0, design).status is Status.FAIL


def test_a_harmless_print_in_the_design_is_allowed() -> None:
    text = 'module f; /* $finish */ initial $display("fifo depth %0d at %t", 16, $time); endmodule'
    assert possible_forger([SourceFile("rtl/f.v", text)]) == ""


def test_the_place_that_ends_the_simulation_is_named() -> None:
    design = [*QUIET, SourceFile("rtl/e.v", "module e;\n\ninitial #5 $finish;\nendmodule")]
    assert end_of_simulation(design) == "rtl/e.v:3: the design calls $finish"
