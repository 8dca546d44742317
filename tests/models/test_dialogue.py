from __future__ import annotations

import pytest

from rtlagent.models.dialogue import join
from rtlagent.models.faults import retry_after_s

LINE = "  always @(posedge clk) q <= d;\n"


@pytest.mark.parametrize(
    ("text", "rest", "joined"),
    [
        ("", "whole", "whole"),
        ("assign y", " = a;", "assign y = a;"),
        ("ab", "b", "abb"),
        # The last line is given again.
        (f"module a;\n{LINE}  assign x", f"{LINE}  assign x = q;", f"module a;\n{LINE}  assign x = q;"),
        # The text repeats itself, so a repeated line may be meant.
        (f"{LINE}{LINE}", f"{LINE}endmodule", f"{LINE}{LINE}{LINE}endmodule"),
        # A fence is opened again inside an open one.
        ("```verilog\nmodule a;\n", "```verilog\nendmodule\n```", "```verilog\nmodule a;\nendmodule\n```"),
        # The open fence is closed, and the next one opened.
        ("```verilog\nmodule a; endmodule", "\n```\n", "```verilog\nmodule a; endmodule\n```\n"),
        ("```verilog\nendmodule\n", "```\nDone.", "```verilog\nendmodule\n```\nDone."),
        ("Here it is:\n", "```verilog\nendmodule\n```", "Here it is:\n```verilog\nendmodule\n```"),
    ],
)
def test_join(text: str, rest: str, joined: str) -> None:
    assert join(text, rest) == joined


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "2"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "soon"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], wait_s: float | None) -> None:
    assert retry_after_s(headers) == wait_s
