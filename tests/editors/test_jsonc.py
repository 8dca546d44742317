from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlagent.editors import jsonc

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 2, "\t"]))
@settings(max_examples=200, deadline=None)
def test_reads_what_json_writes(value: object, indent: int | str | None) -> None:
    assert jsonc.parse(json.dumps(value, indent=indent)).value == value


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), st.sampled_from([None, 2, 4, "\t"]), VALUES)
@settings(max_examples=200, deadline=None)
def test_additions_add_and_change_nothing_else(
    before: dict[str, object], indent: int | str | None, new: object
) -> None:
    text = json.dumps({**before, "list": [1, [2]]}, indent=indent)
    root = jsonc.parse(text)
    grown = jsonc.add_item(text, root.members["list"], new)
    assert jsonc.parse(grown).value == {**before, "list": [1, [2], new]}
    grown = jsonc.add_member(grown, jsonc.parse(grown), "added key", new)
    assert jsonc.parse(grown).value == {**before, "list": [1, [2], new], "added key": new}
    empty = jsonc.add_item("[]", jsonc.parse("[]"), new)
    assert jsonc.parse(empty).value == [new]


def test_comments_trailing_commas_and_marks_are_read() -> None:
    text = '\ufeff// head\n{ /* a */ "x": [1, 2, /* two */ ], // tail\n "u": "http://no//comment", }\n// end'
    assert jsonc.parse(text).value == {"x": [1, 2], "u": "http://no//comment"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('{\n  "a": [\n    1 // one\n  ]\n}', '{\n  "a": [\n    1, // one\n    2\n  ]\n}'),
        ('{\n  "a": [\n    1, // one\n  ]\n}', '{\n  "a": [\n    1, // one\n    2\n  ]\n}'),
        ('{\n  "a": [\n    1\n    // last words\n  ]\n}', '{\n  "a": [\n    1,\n    2\n    // last words\n  ]\n}'),
        ('{"a": [1]}', '{"a": [1,\n  2\n]}'),
        ('{\n\t"a": []\n}', '{\n\t"a": [\n\t\t2\n\t]\n}'),
        ('{\n  "a": [\n    // nothing yet\n  ]\n}', '{\n  "a": [\n    // nothing yet\n    2\n  ]\n}'),
        ('{\n  "a": [1 /* , */ , /* x */]\n}', '{\n  "a": [1 /* , */ ,\n    2 /* x */\n  ]\n}'),
    ],
)
def test_layout_and_comments_stay(text: str, result: str) -> None:
    assert jsonc.add_item(text, jsonc.parse(text).members["a"], 2) == result


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("{", 1, 2),
        ('{"a" 1}', 1, 6),
        ("[1 2]", 1, 4),
        ("{'a': 1}", 1, 2),
        ("[1]\n]", 2, 1),
        ("[/* no end", 1, 2),
        ('["a\nb"]', 1, 2),
        ("[,]", 1, 2),
        ("[" * 200, 1, 102),
        ("nul", 1, 1),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(jsonc.JsoncError) as caught:
        jsonc.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
