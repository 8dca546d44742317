"""Nothing that is printed steers the terminal."""

import io

import pytest

from rtlagent.console import PlainView
from rtlagent.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("q <= d;\n\t[bold] é 😀", "q <= d;\n\t[bold] é 😀"),
        ("\x1b[31mred\x1b]0;title\x07", "\\x1b[31mred\\x1b]0;title\\x07"),
        ("PASS\rFAIL\x08\x9b2J", "PASS\\rFAIL\\x08\\x9b2J"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("bad\udcff.v", "bad\\udcff.v"),
    ],
)
def test_what_steers_a_terminal_is_spelt_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_models_words_are_spelt_out_in_a_runs_progress() -> None:
    stream = io.StringIO()
    assumption = {"question": "q\x1b[2J", "assumption": "a\u202e"}
    PlainView(stream)({"event": "understood", "request": "new", "top": "m", "assumptions": [assumption]})
    assert stream.getvalue() == "understood: new module m\n  assumed: q\\x1b[2J a\\u202e\n"
