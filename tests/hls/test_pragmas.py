"""Reading, marking and writing `#pragma HLS`."""

import pytest

from rtlagent.errors import CSourceError
from rtlagent.hls.options import Remarks
from rtlagent.hls.pragmas import MarkedSource, mark_pragmas, write_pragmas

LOOP = "void f(int a[8]) {\n  for (int i = 0; i < 8; i++) {\n#pragma HLS %s\n    a[i]++;\n  }\n}\n"


def marked(text: str) -> tuple[MarkedSource, list[str]]:
    remarks = Remarks()
    found = mark_pragmas(text, "k.c", remarks)
    return found, [d.message for d in remarks.diagnostics]


@pytest.mark.parametrize(
    ("written", "kind", "options"),
    [
        ("pipeline II=1", "pipeline", {"ii": "1"}),
        ("PIPELINE", "pipeline", {}),
        ("pipeline off", "pipeline", {"off": ""}),
        ("UNROLL factor = 4", "unroll", {"factor": "4"}),
        ("unroll", "unroll", {}),
        (
            "array_partition variable=a type=cyclic factor=2 dim=1",
            "array_partition",
            {"variable": "a", "type": "cyclic", "factor": "2", "dim": "1"},
        ),
        (
            "ARRAY_PARTITION variable=a block factor=0x4",
            "array_partition",
            {"variable": "a", "block": "", "factor": "4"},
        ),
        ("loop_tripcount min=1 max=20 avg=3", "loop_tripcount", {"min": "1", "max": "20", "avg": "3"}),
        ("dependence variable=a inter false", "dependence", {"variable": "a", "inter": "", "false": ""}),
        (
            "bind_storage variable=a type=RAM_2P impl=BRAM",
            "bind_storage",
            {"variable": "a", "type": "RAM_2P", "impl": "BRAM"},
        ),
        (
            "interface mode=s_axilite port=return bundle=c",
            "interface",
            {"mode": "s_axilite", "port": "return", "bundle": "c"},
        ),
        ("pipeline II=2 // why", "pipeline", {"ii": "2"}),
    ],
)
def test_every_spelling_is_read(written: str, kind: str, options: dict[str, str]) -> None:
    found, warnings = marked(LOOP % written)
    assert not warnings
    assert [(p.kind, dict(p.options), p.place.line) for p in found.pragmas] == [(kind, options, 3)]


def test_lines_keep_their_numbers() -> None:
    text = LOOP % "pipeline \\\n   II=1"
    found, _ = marked(text)
    assert found.text.count("\n") == text.count("\n")
    assert found.text.split("\n")[4] == "    a[i]++;"
    assert found.pragmas[0].options == {"ii": "1"}


def test_macros_are_numbers() -> None:
    head = "#define N 8\n#define HALF (N / 2) // half\nconst int TWICE = N * 2u;\n"
    for written, value in (("factor=N", 8), ("factor=HALF", 4), ("factor=TWICE", 16), ("factor=N-1", 7)):
        found, warnings = marked(head + LOOP % f"unroll {written}")
        assert not warnings
        assert found.pragmas[0].number_of("factor") == value


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("pipelin II=1", "unknown pragma HLS pipelin"),
        ("pipeline IJ=1", "#pragma HLS pipeline: unknown option ij"),
        ("unroll factor=many", "#pragma HLS unroll is ignored: factor takes a number, not 'many'"),
        ("unroll factor=-2", "#pragma HLS unroll is ignored: factor takes a number, not '-2'"),
        ("unroll factor=0", "#pragma HLS unroll is ignored: factor takes a number from 1"),
        ("pipeline II=", "#pragma HLS pipeline is ignored: ii takes a number, not ''"),
        ("pipeline II=0", "#pragma HLS pipeline is ignored: ii takes a number from 1"),
        ("unroll factor=True", "#pragma HLS unroll is ignored: factor takes a number, not 'True'"),
        (f"unroll factor={'9' * 5000}", f"#pragma HLS unroll is ignored: factor takes a number, not '{'9' * 60}'"),
        (f"unroll factor={'-' * 9999}1", f"#pragma HLS unroll is ignored: factor takes a number, not '{'-' * 60}'"),
        ("loop_tripcount min=9 max=1", "#pragma HLS loop_tripcount is ignored: its min is more than its max"),
        ("array_partition complete", "#pragma HLS array_partition is ignored: it takes variable=NAME"),
        ("", "#pragma HLS names nothing"),
    ],
)
def test_what_is_wrong_is_named(written: str, message: str) -> None:
    _, warnings = marked(LOOP % written)
    assert warnings == [message]


def test_a_suggestion_is_made() -> None:
    remarks = Remarks()
    mark_pragmas(LOOP % "pipelin", "k.c", remarks)
    assert remarks.diagnostics[0].hint == "did you mean 'pipeline'?"
    assert (remarks.diagnostics[0].line, remarks.diagnostics[0].column) == (3, 1)


def test_a_place_where_no_statement_can_stand() -> None:
    found, warnings = marked(
        "#pragma HLS inline\nint f(int x) {\n  if (x)\n#pragma HLS unroll\n    x++;\n  return x;\n}\n"
    )
    assert not found.pragmas
    assert warnings == [
        "#pragma HLS inline is ignored: it stands outside any function",
        "#pragma HLS unroll is ignored: it must stand inside the braces of its loop or function",
    ]


def test_before_a_loop() -> None:
    before = "int f(int n) {\n  int s = 0;\n#pragma HLS unroll\n  for (int i = 0; i < 4; i++) s += n;\n  return s;\n}\n"
    found, warnings = marked(before)
    assert not found.pragmas
    assert warnings == ["#pragma HLS unroll is ignored: it stands before its loop; put it inside the loop's braces"]
    nested = "void f() {\n  for (;;) {\n    int s;\n#pragma HLS pipeline\n    L: while (s) s--;\n  }\n}\n"
    found, warnings = marked(nested)
    assert len(found.pragmas) == 1
    assert warnings == ["#pragma HLS pipeline speaks about the loop around it, not about the one below"]
    inside = "void f() {\n  for (;;) {\n#pragma HLS unroll\n#pragma HLS pipeline\n    for (;;) {}\n  }\n}\n"
    assert not marked(inside)[1]


def test_comments_and_strings_are_no_code() -> None:
    text = (
        "void f() {\n  char *s = \"{\";  // {\n  /* {\n#pragma HLS pipeline\n  } */\n  g('{');\n}\n#pragma HLS inline\n"
    )
    found, warnings = marked(text)
    assert not found.pragmas
    assert warnings == ["#pragma HLS inline is ignored: it stands outside any function"]


def test_operators_are_pragmas_too() -> None:
    found, _ = marked('void f(int a[8]) {\n  for (int i = 0; i < 8; i++) { _Pragma("HLS pipeline II=3") a[i]++; }\n}\n')
    assert [(p.kind, p.number_of("ii"), p.place.line) for p in found.pragmas] == [("pipeline", 3, 2)]
    assert "_Pragma" not in found.text


def test_operators_stand_where_statements_can() -> None:
    told = "#pragma HLS unroll is ignored: it must stand inside the braces of its loop or function"
    for loop in (
        'for (;;) _Pragma("HLS unroll") a++;',
        'for (;_Pragma("HLS unroll");) {}',
        "f(1,\n#pragma HLS unroll\n2);",
    ):
        found, warnings = marked(f"void f(int a) {{\n  {loop}\n}}\n")
        assert (found.pragmas, warnings) == ([], [told])


def test_a_line_that_goes_on_is_no_pragma() -> None:
    for text in (LOOP % "unroll", LOOP % "pipeline"):
        found, warnings = marked(text.replace("{\n#pragma", "{ // \\\n#pragma"))
        assert (found.pragmas, warnings) == ([], [])


def test_the_names_of_markers_are_taken() -> None:
    with pytest.raises(CSourceError) as caught:
        marked("void rtlagent_pragma_0(void);\nvoid f(void) {\n  rtlagent_pragma_0();\n}\n")
    assert caught.value.where == "k.c:1"


def test_all_can_be_left_out() -> None:
    remarks = Remarks()
    found = mark_pragmas(LOOP % "nonsense", "k.c", remarks, use=False)
    assert not found.pragmas
    assert not remarks.diagnostics
    assert "pragma" not in found.text


def test_other_pragmas_stay() -> None:
    text = "#pragma once\nvoid f() {\n#pragma GCC unroll 4\n}\n"
    assert marked(text)[0].text == text


def test_written_pragmas_stand_below_their_brace() -> None:
    text = "void f(int a[8]) {\n\tfor (int i = 0; i < 8; i++) {\n\t\ta[i]++;\n\t}\n}"
    written = write_pragmas(text, {2: ["pipeline II=1", "unroll factor=2"], 1: ["inline off"]})
    assert written == (
        "void f(int a[8]) {\n#pragma HLS inline off\n\tfor (int i = 0; i < 8; i++) {\n"
        "\t#pragma HLS pipeline II=1\n\t#pragma HLS unroll factor=2\n\t\ta[i]++;\n\t}\n}"
    )
    found, warnings = marked(written)
    assert [p.kind for p in found.pragmas] == ["inline", "pipeline", "unroll"]
    assert not warnings


def test_pragmas_can_be_replaced() -> None:
    text = LOOP % "pipeline II=4"
    assert write_pragmas(text, {2: ["pipeline II=1"]}, without={3}) == (LOOP % "pipeline II=1").replace(
        "#pragma", "  #pragma"
    )
    assert write_pragmas(text, {}) == text
    assert "\r\n  #pragma HLS pipeline\r\n" in write_pragmas(text.replace("\n", "\r\n"), {2: ["pipeline"]})


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("pipeline II=1 rewind", "rewind"),
        ("pipeline style=flp", "style"),
        ("unroll factor=2 skip_exit_check", "skip_exit_check"),
        ("interface mode=s_axilite port=k offset=0x20", "offset"),
    ],
)
def test_an_option_without_effect_is_a_warning(text: str, option: str) -> None:
    remarks = Remarks()
    source = f"void f(int k) {{ for (int i = 0; i < 8; i++) {{\n#pragma HLS {text}\n}} }}"
    assert len(mark_pragmas(source, "a.c", remarks).pragmas) == 1
    (found,) = remarks.diagnostics
    assert (found.code, found.line) == ("PRAGMA_OPTION", 2)
    assert f" {option} has no effect: " in found.message
