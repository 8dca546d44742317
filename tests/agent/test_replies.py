"""A model's answer is read strictly enough to be safe and leniently enough for small models."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtlagent.agent.replies import UnusableReplyError, check_path, read_design, read_json, read_python

MODULE = "module m;\nendmodule\n"


def read(text: str):
    return read_design(text, default_path="rtl/m.v")


def test_files_and_edits_are_read_in_order() -> None:
    text = (
        "The counter is off by one.\n\nFILE: rtl/a.v\n```verilog\nmodule a;\nendmodule\n```\n"
        "EDIT: rtl/b.v\n<<<<<<< SEARCH\n  x <= 1;\n=======\n  x <= 2;\n>>>>>>> REPLACE\n"
    )
    reply = read(text)
    assert [f.path for f in reply.files] == ["rtl/a.v"]
    assert [(e.path, e.old, e.new) for e in reply.edits] == [("rtl/b.v", "  x <= 1;\n", "  x <= 2;\n")]
    assert reply.note == "The counter is off by one."


def test_edit_inside_a_fence_is_read() -> None:
    reply = read("EDIT: rtl/b.v\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n")
    assert reply.edits[0].new == "b\n"


def test_two_changes_to_one_file_under_one_head() -> None:
    change = "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n"
    reply = read("EDIT: a.v\n" + change.format("p", "q") + change.format("r", ""))
    assert [(e.old, e.new) for e in reply.edits] == [("p\n", "q\n"), ("r\n", "\n")]


@pytest.mark.parametrize("head", ["FILE: rtl/a.v", "**FILE: rtl/a.v**", "### FILE: `rtl/a.v`"])
def test_decorated_file_lines_are_understood(head: str) -> None:
    assert read(f"{head}\n```verilog\n{MODULE}```").files[0].path == "rtl/a.v"


def test_a_lone_code_block_becomes_the_default_file() -> None:
    assert read(f"Here:\n```verilog\n{MODULE}```").files[0].path == "rtl/m.v"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I cannot do that.", "neither"),
        (f"```verilog\n{MODULE}```\n```verilog\n{MODULE}```", "several code blocks"),
        ("FILE: rtl/a.v\nno fence", "not followed"),
        (f"FILE: a.v\n```\n{MODULE}```\nFILE: a.v\n```\n{MODULE}```", "twice"),
        ("EDIT: a.v\nnothing here", "no SEARCH/REPLACE"),
        (f"FILE: a.v\n```\n{MODULE}```\nFILE: a.v/b.v\n```\n{MODULE}```", "a file and a folder"),
        (f"FILE: a.v\n```\n{MODULE}```\nEDIT: a.v\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", "both edits"),
    ],
)
def test_unusable_answers_say_why(text: str, message: str) -> None:
    with pytest.raises(UnusableReplyError, match=message):
        read(text)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x.v", "a/../../x.v", ".git/config.v", "rtl/x.sh", "a b.v", "x", "~/x.v", "ü.v"]
)
def test_unsafe_paths_are_refused(path: str) -> None:
    with pytest.raises(UnusableReplyError):
        check_path(path)


def test_a_dispute_is_read_only_without_code() -> None:
    assert read("DISPUTE: the spec says `full`").dispute == "the spec says `full`"
    assert read("INFEASIBLE: needs 12 LUTs").infeasible == "needs 12 LUTs"
    assert read(f"DISPUTE: no\nFILE: a.v\n```\n{MODULE}```").dispute == ""
    assert read(f"```verilog\n// DISPUTE: no\n{MODULE}```").dispute == ""


def test_json_is_found_in_a_fence_or_bare() -> None:
    assert read_json('x\n```json\n{"a": 1}\n```') == {"a": 1}
    assert read_json('sure: {"a": {"b": 2}}') == {"a": {"b": 2}}
    with pytest.raises(UnusableReplyError, match="malformed"):
        read_json('```json\n{"a": }\n```')
    with pytest.raises(UnusableReplyError, match="not an object"):
        read_json("```json\n[1]\n```")


def test_one_python_file_is_taken_whatever_its_name() -> None:
    assert read_python("FILE: model.py\n```python\nx = 1\n```", "golden.py").path == "golden.py"
    with pytest.raises(UnusableReplyError, match="0 Python files"):
        read_python("none", "golden.py")
    with pytest.raises(UnusableReplyError, match="2 Python files"):
        read_python("```python\na\n```\n```python\nb\n```", "golden.py")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for reader in (read, read_json, lambda t: read_python(t, "golden.py")):
        try:
            reader(text)
        except UnusableReplyError as error:
            assert str(error)


@pytest.mark.parametrize("value", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, "9" * 5000])
def test_json_that_python_cannot_read_is_unusable(value: str) -> None:
    with pytest.raises(UnusableReplyError, match="too"):
        read_json(f'{{"a": {value}}}')


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    assert read_json('{"a": "x \\ud800", "b": "\\ud83d\\ude00"}') == {"a": "x ?", "b": "\U0001f600"}


@pytest.mark.parametrize(
    "text",
    [
        "```\n" * 30_001,
        "\n~~~" * 30_001,
        "\n".join("`" * (3 + i) for i in range(1500)),
        "\n" * 50_000 + "x",
        "EDIT: a.v\n" + "<<<<<<< SEARCH\n" * 20_000,
        "EDIT: a.v\n" + "<<<<<<< SEARCH\n=======\n" * 20_000,
    ],
    ids=["fences", "tildes", "longer fences", "blank lines", "searches", "dividers"],
)
def test_an_answer_that_repeats_itself_is_read_quickly(text: str) -> None:
    start = time.process_time()
    with pytest.raises(UnusableReplyError):
        read(text)
    assert time.process_time() - start < 5


def test_a_file_line_in_a_comment_inside_a_block_is_text() -> None:
    code = f"// FILE: rtl/a.v\n{MODULE}"
    assert [(f.path, f.text) for f in read(f"FILE: rtl/a.v\n```verilog\n{code}```").files] == [("rtl/a.v", code)]


def test_a_block_inside_a_longer_fence_is_its_text() -> None:
    doc = 'x = """\n```\n"""\n'
    assert read_python(f"````python\n{doc}````\n", "golden.py").text == doc


@pytest.mark.parametrize("code", ["def (", "x = '\ud800'", "x = " + "(" * 300, "x = " + "-" * 20_000 + "1"])
def test_text_that_is_no_python_is_refused(code: str) -> None:
    with pytest.raises(UnusableReplyError, match=r"golden\.py line"):
        read_python(f"```python\n{code}\n```", "golden.py")
