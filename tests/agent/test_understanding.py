"""What the model read is checked, and never overrides what the user fixed."""

import pytest

from rtlagent.agent.replies import UnusableReplyError
from rtlagent.agent.understanding import read_understanding
from rtlagent.types import Clock, Port, Reset, SourceFile, Spec

SPEC = Spec("s", "prose")
GOOD = {
    "request": "new",
    "top": "m",
    "ports": [
        {"name": "clk", "direction": "input", "width": 1},
        {"name": "q", "direction": "output", "width": 8, "signed": True},
    ],
    "clock": {"port": "clk", "edge": "posedge"},
    "reset": None,
    "behaviours": ["q counts"],
    "assumptions": [{"question": "wrap?", "assumption": "wraps", "reason": "usual"}],
}


def test_a_good_answer_completes_the_spec() -> None:
    spec = read_understanding(GOOD, SPEC).complete(SPEC)
    assert spec.top == "m"
    assert spec.ports == (Port("clk", "input"), Port("q", "output", 8, signed=True))
    assert spec.clock == Clock("clk")
    assert spec.reset is None


def test_what_the_user_fixed_wins() -> None:
    fixed = Spec(
        "s", "p", top="mine", ports=(Port("ck", "input"), Port("y", "output", None)), clock=Clock("ck", "negedge")
    )
    answer = {**GOOD, "ports": [{"name": "y", "direction": "output", "width": 3}], "clock": {"port": "ck"}}
    spec = read_understanding(answer, fixed).complete(fixed)
    assert spec.top == "mine"
    assert spec.clock == Clock("ck", "negedge")
    assert spec.ports == (Port("ck", "input"), Port("y", "output", 3))


def test_a_request_to_change_needs_files_to_change() -> None:
    assert read_understanding({**GOOD, "request": "optimise"}, SPEC).request == "new"
    with_files = Spec("s", "p", context_files=(SourceFile("a.v", ""),))
    assert read_understanding({**GOOD, "request": "optimise"}, with_files).request == "optimise"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"top": None}, "`top`"),
        ({"top": "a b"}, "`top`"),
        ({"request": "guess"}, "`request`"),
        ({"ports": []}, "empty"),
        ({"ports": "clk"}, "must be a list"),
        ({"ports": [{"name": "clk", "direction": "in"}]}, "direction of port clk"),
        ({"ports": [{"name": "clk", "direction": "input", "width": "W"}]}, "width of port clk"),
        ({"ports": [{"name": "clk", "direction": "input", "width": True}]}, "width of port clk"),
        ({"ports": [{"name": "clk", "direction": "input", "width": "²"}]}, "width of port clk"),
        ({"ports": [{"name": "clk", "direction": "input", "width": "9" * 5000}]}, "width of port clk"),
        ({"ports": [{"name": "clk", "direction": "input", "width": 8193}]}, "from 1 to 8192"),
        ({"ports": [GOOD["ports"][0], GOOD["ports"][0]]}, "twice"),
        ({"clock": {"port": "ck"}}, "`clock` names 'ck'"),
        ({"clock": {"port": "q"}}, "`clock` names 'q', which is not an input of one bit"),
        ({"ports": [GOOD["ports"][0]]}, "no output"),
        ({"reset": {"port": "clk", "active": "up"}}, "reset.active"),
        ({"assumptions": [{}]}, "assumption"),
    ],
)
def test_a_wrong_answer_is_refused_by_field(change: dict[str, object], message: str) -> None:
    with pytest.raises(UnusableReplyError, match=message):
        read_understanding({**GOOD, **change}, SPEC)


def test_a_width_that_depends_on_a_parameter_must_be_told() -> None:
    fixed = Spec("s", "p", ports=(Port("clk", "input"), Port("q", "output", None)))
    assert read_understanding(GOOD, fixed).complete(fixed).ports[1].width == 8
    with pytest.raises(UnusableReplyError, match="lacks the width of q"):
        read_understanding({**GOOD, "ports": []}, fixed)


def test_reset_polarity_is_kept() -> None:
    answer = {**GOOD, "ports": [*GOOD["ports"], {"name": "rst_n", "direction": "input"}]}
    answer["reset"] = {"port": "rst_n", "active": "low", "synchronous": False}
    assert read_understanding(answer, SPEC).complete(SPEC).reset == Reset("rst_n", "low", synchronous=False)
