"""Reading what tools print, and saying it again without what is nobody's business."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlagent.tools.diagnostics import (
    count,
    excerpt,
    format_lines,
    format_table,
    load_sarif,
    merge,
    most_important,
    ordered,
    parse_iverilog,
    parse_python,
    parse_verilator,
    parse_verilator_sarif,
    parse_yosys,
    prompt_text,
)
from rtlagent.types import Diagnostic, Severity, SourceFile

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def test_verilator_lines_are_read() -> None:
    text = (
        "%Warning-LATCH: ./m.v:2:1: Latch inferred for signal 'm.q'\n"
        "                         : ... Suggest use of always_latch for intentional latches\n"
        "    2 | always @* if (s) q = a;\n      | ^~~~~~\n"
        "%Error: m.v:3:14: syntax error, unexpected ';'\n"
        "%Error: Exiting due to 1 error(s)\n"
        "%Error: Cannot find file containing module: 'x'\n"
    )
    assert parse_verilator(text) == (
        Diagnostic(
            "verilator",
            WARNING,
            "LATCH",
            "Latch inferred for signal 'm.q'",
            "m.v",
            2,
            1,
            "Suggest use of always_latch for intentional latches",
        ),
        Diagnostic("verilator", ERROR, "", "syntax error, unexpected ';'", "m.v", 3, 14),
        Diagnostic("verilator", ERROR, "", "Cannot find file containing module: 'x'"),
    )


def test_iverilog_lines_are_read() -> None:
    text = (
        "m.v:2: syntax error\n"
        "m.v:3: error: Unable to bind wire/reg/memory `x' in `m'\n"
        "./m.v:4: sorry: constant selects in always_* processes are not currently supported\n"
        "m.v:5: warning: implicit definition of wire 'w'.\n"
        'error: Unable to find the root module "top" in the Verilog source.\n'
        "2 error(s) during elaboration.\n"
    )
    assert [(d.severity, d.code, d.path, d.line) for d in parse_iverilog(text)] == [
        (ERROR, "SyntaxError", "m.v", 2),
        (ERROR, "", "m.v", 3),
        (ERROR, "Unsupported", "m.v", 4),
        (WARNING, "", "m.v", 5),
        (ERROR, "", "", 0),
    ]


def test_yosys_lines_are_read() -> None:
    text = (
        "1. Executing Verilog-2005 frontend: m.v\n"
        "m.v:4: ERROR: syntax error, unexpected TOK_END\n"
        "Warning: Identifier `\\x' is implicitly declared.\n"
        "ERROR: Module `\\foo' referenced in module `\\m' in cell `\\u' is not part of the design.\n"
    )
    assert [(d.severity, d.path, d.line) for d in parse_yosys(text)] == [
        (ERROR, "m.v", 4),
        (WARNING, "", 0),
        (ERROR, "", 0),
    ]


def test_a_traceback_is_placed_in_the_innermost_known_file() -> None:
    text = (
        "  0.00ns INFO  cocotb  Running\n"
        "Traceback (most recent call last):\n"
        '  File "/work/tests/test_m.py", line 7, in test\n    check(dut)\n'
        '  File "/usr/lib/python3/site-packages/cocotb/x.py", line 90, in check\n    raise\n'
        "AssertionError: q is 3\n"
    )
    assert parse_python(text, ["tests/test_m.py"]) == (
        Diagnostic("python", ERROR, "AssertionError", "q is 3", "tests/test_m.py", 7),
    )
    assert parse_python(text)[0].path == ""


def test_sarif_without_its_comma_is_repaired() -> None:
    text = '{"runs": [{"tool": {"driver": {"rules": []}}\n "invocations": [], "results": []}]}'
    assert load_sarif(text)["results"] == []
    assert parse_verilator_sarif(text, "/work") == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"runs": []}', '{"runs": [{"results": [{}]}]}', "null"])
def test_a_damaged_report_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_verilator_sarif(text, "/work")


@pytest.mark.parametrize("parse", [parse_verilator, parse_iverilog, parse_yosys, parse_python])
@given(text=st.text(max_size=300))
def test_no_text_breaks_a_parser(parse, text: str) -> None:  # type: ignore[no-untyped-def]
    assert isinstance(parse(text), tuple)


def d(tool: str, line: int, code: str, message: str, severity: Severity = ERROR, column: int = 1) -> Diagnostic:
    return Diagnostic(tool, severity, code, message, "m.v", line, column)


def test_two_tools_saying_the_same_are_one() -> None:
    ours = d("pyslang", 2, "MULTIDRIVEN", "'q' has more than one driver", WARNING, 5)
    theirs = d("verilator", 2, "MULTIDRIVEN", "Signal has multiple drivers: 'top.q'", ERROR, 9)
    (one,) = merge([ours], [theirs])
    assert (one.tool, one.column, one.severity, one.message) == ("pyslang", 5, ERROR, ours.message)


def test_different_names_lines_or_codes_stay_apart() -> None:
    first = d("pyslang", 2, "LATCH", "'q'")
    others = [
        d("verilator", 2, "LATCH", "'r'"),
        d("verilator", 3, "LATCH", "'q'"),
        d("verilator", 2, "UNDRIVEN", "'q'"),
    ]
    assert len(merge([first], others)) == 4


@given(st.randoms(use_true_random=False))
def test_the_order_never_depends_on_the_input(rng: random.Random) -> None:
    all_ = [
        d("a", line, code, f"'{code}{line}'", severity)
        for line in (1, 2)
        for code in "xy"
        for severity in (ERROR, NOTE)
    ]
    shuffled = all_[:]
    rng.shuffle(shuffled)
    assert ordered(shuffled) == ordered(all_)


def test_errors_come_first_and_the_rest_is_counted() -> None:
    many = [d("a", n, "N", f"note {n}", NOTE) for n in range(1, 11)] + [d("a", 50, "E", "bad")]
    assert most_important(many, 2)[0].message == "bad"
    assert str(count(many)) == "1 error, 10 notes"
    assert format_table(many, limit=2).endswith("1 error, 10 notes (9 not shown)")
    assert format_lines(many[-1:]) == "m.v:50:1: error: bad [E]"
    assert format_table([]) == "no diagnostics"


def test_an_excerpt_points_at_the_column() -> None:
    files = [SourceFile("m.v", "line one\n\tassign y = b;\r\n")]
    assert excerpt(d("a", 2, "", "", column=13), files) == "    2 |  assign y = b;\n      |             ^"
    assert excerpt(d("a", 2, "", "", column=0), files) == "    2 |  assign y = b;"


@pytest.mark.parametrize(("line", "column"), [(0, 1), (99, 1), (-1, 1)])
def test_no_place_gives_no_excerpt(line: int, column: int) -> None:
    assert excerpt(d("a", line, "", "", column=column), [SourceFile("m.v", "x\n")]) == ""


def test_only_files_of_the_caller_are_quoted() -> None:
    outside = Diagnostic("a", ERROR, "", "bad", "/etc/passwd", 1, 1)
    assert excerpt(outside, [SourceFile("m.v", "x\n")]) == ""


def test_a_very_long_line_is_cut_around_the_column() -> None:
    files = [SourceFile("m.v", "x" * 5000 + "HERE" + "x" * 5000)]
    shown = excerpt(d("a", 1, "", "", column=5001), files)
    text, caret = shown.splitlines()
    assert text[caret.index("^") :].startswith("HERE")
    assert len(text) < 200


def test_a_prompt_gets_no_machine_paths_and_no_foreign_lines() -> None:
    text = (
        "/work/m.v:2:1: error: bad thing\n"
        "    2 | assign y = b;\n"
        "%Error: /etc/passwd:1:1: syntax error\n"
        "    1 | root:x:0:0:root:/root:/bin/bash\n"
        "      | ^~~~\n"
        "wrote /tmp/rtlagent-lint-a8d2/out.json\n"
    )
    assert prompt_text(text, ["m.v"]) == ("m.v:2:1: error: bad thing\n    2 | assign y = b;\nwrote out.json")


def test_a_long_text_loses_its_middle() -> None:
    text = "a" * 3000 + "MIDDLE" + "b" * 3000
    short = prompt_text(text, [], limit_chars=1000)
    assert short == "a" * 500 + "\n... (5006 characters left out)\n" + "b" * 500
