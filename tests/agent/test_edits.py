"""Edits are applied exactly or refused with what the model needs to mend them."""

import pytest

from rtlagent.agent.edits import Edit, EditError, apply_edits
from rtlagent.types import SourceFile

TEXT = "module m;\n  always @(posedge clk) begin\n    a <= b;\n    c <= d;\n  end\nendmodule\n"
FILES = (SourceFile("rtl/m.v", TEXT), SourceFile("rtl/n.v", "module n;\nendmodule\n"))


def edited(*edits: Edit) -> str:
    return apply_edits(FILES, edits)[0].text


def test_an_exact_edit_is_applied_and_other_files_stay() -> None:
    result = apply_edits(FILES, [Edit("rtl/m.v", "    a <= b;\n", "    a <= ~b;\n")])
    assert result[0].text == TEXT.replace("a <= b", "a <= ~b")
    assert result[1] == FILES[1]


def test_lost_indentation_is_put_back() -> None:
    assert edited(Edit("rtl/m.v", "a <= b;\nc <= d;\n", "a <= 0;\nif (x)\n  c <= 0;\n")) == TEXT.replace(
        "    a <= b;\n    c <= d;\n", "    a <= 0;\n    if (x)\n      c <= 0;\n"
    )


def test_later_edits_see_earlier_ones() -> None:
    text = edited(Edit("rtl/m.v", "    a <= b;\n", "    a <= x;\n"), Edit("rtl/m.v", "    a <= x;\n", ""))
    assert text == TEXT.replace("    a <= b;\n", "")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (Edit("rtl/z.v", "a", "b"), "there is no file rtl/z.v; there are: rtl/m.v, rtl/n.v"),
        (Edit("rtl/m.v", "  \n", "b"), "SEARCH is empty"),
        (Edit("rtl/m.v", "    a <= q;\n", "b"), "does not occur in rtl/m.v. The closest lines are:\n    a <= b;"),
        (Edit("rtl/m.v", "<=", "b"), "occurs 2 times"),
    ],
)
def test_a_wrong_edit_is_refused_with_its_reason(edit: Edit, message: str) -> None:
    with pytest.raises(EditError) as caught:
        apply_edits(FILES, [edit])
    assert message in str(caught.value)


def test_nothing_is_applied_if_one_edit_is_wrong() -> None:
    with pytest.raises(EditError, match="edit 2"):
        apply_edits(FILES, [Edit("rtl/m.v", "    a <= b;\n", ""), Edit("rtl/m.v", "nonsense", "")])
    assert FILES[0].text == TEXT
