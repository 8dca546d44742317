"""The pictures and the lines of change: small cases by hand."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from rtlagent.errors import ToolError
from rtlagent.report import gantt, timeline
from rtlagent.report.changes import change_at, changes
from rtlagent.report.iterations import Iteration
from rtlagent.report.wave_drawing import Lane, Wave
from rtlagent.report.waves import Recorded
from rtlagent.tools.mutants import Mutant
from rtlagent.tools.netlistsvg import draw, find_netlistsvg, take_shapes
from rtlagent.types import (
    CycleScenario,
    LoopSchedule,
    Port,
    ScheduledOp,
    SourceFile,
    Spec,
    Status,
    StepResult,
    Trace,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</text><script>x</script>\x1b[1m"


def classes(svg: str, tag: str) -> list[str]:
    return [e.attrib.get("class", "") for e in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


# -- changes -------------------------------------------------------------------------------------


def test_a_change_has_its_neighbourhood_and_counts() -> None:
    before = [SourceFile("a.v", "".join(f"line {k}\n" for k in range(20))), SourceFile("same.v", "x\n")]
    after = [SourceFile("a.v", before[0].text.replace("line 9\n", "line nine\nand a half\n")), before[1]]
    (change,) = changes(before, after)
    assert (change.path, change.added, change.removed) == ("a.v", 2, 1)
    assert [p.kind for p in change.lines] == ["gap", "same", "removed", "added", "same"]
    assert change.lines[1].text == " line 6\n line 7\n line 8"
    assert change.lines[3].text == "+line nine\n+and a half"


def test_files_that_come_and_go_are_changes() -> None:
    found = changes([SourceFile("old.v", "a\n")], [SourceFile("new.v", "b\nc\n")])
    assert {c.path: (c.added, c.removed) for c in found} == {"new.v": (2, 0), "old.v": (0, 1)}


def test_huge_files_are_not_compared() -> None:
    (change,) = changes([SourceFile("a.v", "x\n")], [SourceFile("a.v", "y\n" * 30_000)])
    assert (change.lines, change.note) == ((), "30,000 lines are too many to compare")


@pytest.mark.parametrize(
    ("original", "mutated"), [("b & c", "b | c"), ("a = b & c;\n  d = e", "a = 0"), ("", "!"), ("d = e;", ";")]
)
def test_a_mutant_is_shown_as_it_is_applied(original: str, mutated: str) -> None:
    text = "module m;\n  a = b & c;\n  d = e;\nendmodule"
    at = text.index(original or "b")
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    change = change_at("m.v", text, line, column, original, mutated)
    assert change is not None
    kept = [row[1:] for p in change.lines if p.kind in ("same", "added") for row in p.text.split("\n")]
    mutant = Mutant("m.v", line, column, "operator", original, mutated)
    assert "\n".join(kept) == mutant.apply([SourceFile("m.v", text)])[0].text


def test_a_mutant_of_another_source_has_no_change() -> None:
    assert change_at("m.v", "module m;\n", 1, 1, "fifo", "x") is None
    assert change_at("m.v", "", 7, 1, "fifo", "x") is None


# -- waves ---------------------------------------------------------------------------------------


def recorded() -> Recorded:
    cycles = tuple({"d": k} if k else {"d": 0, "en": 1} for k in range(30))
    expected = tuple({"q": k - 1 if k else None, "odd": k % 2} for k in range(30))
    ports = (Port("d", "input", 8), Port("en", "input"), Port("q", "output", 8), Port("odd", "output"))
    seen = {"count": {"window": [{"cycle": c, "got": {"q": "0000xx11", "odd": str(c % 2)}} for c in range(12, 18)]}}
    return Recorded(Trace(1, cycles=(CycleScenario("count", cycles, expected),)), Spec("m", "", ports=ports), seen)


def test_a_failing_window_shows_what_was_seen_and_what_was_wanted() -> None:
    wave = recorded().wave("count", 12, passed=False)
    assert wave is not None
    lanes = {lane.name: lane for lane in wave.lanes}
    assert list(lanes) == ["d", "en", "q", "q (expected)", "odd"]
    assert wave.axis[0] == "6" and wave.axis[wave.mark or 0] == "12"
    assert lanes["q"].values[:7] == ("0x05", "0x06", "0x07", "0x08", "0x09", "0x0a", "0x0X")
    assert lanes["q"].wrong == frozenset(range(6, 12))
    assert lanes["q (expected)"].values[6] == "0x0b"
    assert lanes["en"].values == ("1",) * 12
    drawn = classes(wave.svg, "polygon")
    assert "bus unknown bad" in drawn and "bus expected" in drawn
    assert "wrong: q" in ElementTree.fromstring(wave.svg).attrib["aria-label"]


def test_a_passing_window_shows_what_was_compared() -> None:
    wave = recorded().wave("count", 0, passed=True)
    assert wave is not None and wave.mark is None
    assert [lane.name for lane in wave.lanes] == ["d", "en", "q", "odd"]
    assert wave.lanes[2].values[:3] == ("", "0x00", "0x01")
    assert not any("bad" in c for c in classes(wave.svg, "polygon"))


def test_the_busiest_window_is_chosen() -> None:
    quiet = tuple({"q": 0} for _ in range(40))
    busy = tuple({"q": int(20 <= k < 26) * k} for k in range(40))
    trace = Trace(1, cycles=(CycleScenario("quiet", ({},) * 40, quiet), CycleScenario("busy", ({},) * 40, busy)))
    name, cycle = Recorded(trace, Spec("m", "")).busiest({"quiet", "busy"}) or ("", 0)
    assert name == "busy" and 19 <= cycle <= 27


def test_hostile_names_stay_text_in_a_picture() -> None:
    svg = Wave(HOSTILE, HOSTILE, (HOSTILE,), (Lane(HOSTILE, 8, (HOSTILE,), "input"),)).svg
    assert {e.tag.removeprefix(SVG) for e in ElementTree.fromstring(svg).iter()} <= {"svg", "text", "line", "polygon"}
    assert "\\x1b" in svg


# -- timetables and timelines --------------------------------------------------------------------


def test_a_pipelined_loop_shows_where_the_next_iterations_start() -> None:
    ops = (ScheduledOp("load x", 4, 0, 1, 0.5, 3.0), ScheduledOp("mul 32", 5, 1, 2, 0.0, 4.0, count=3))
    svg = gantt.draw(LoopSchedule("loop", 3, 2, 5, 10.0, ops))
    assert classes(svg, "line").count("next") == 2
    assert classes(svg, "rect") == ["op memory", "op heavy"]
    root = ElementTree.fromstring(svg)
    first, second = root.iter(f"{SVG}rect")
    cell = (float(second.attrib["x"]) - float(first.attrib["x"])) / 0.95
    assert float(first.attrib["width"]) == pytest.approx(1.25 * cell, abs=0.2)
    assert "3 of it" in "".join(root.itertext())


def test_a_loop_of_thousands_of_operations_is_cut() -> None:
    ops = tuple(ScheduledOp(f"add {k}", 1, k, 0, 0.0, 1.0) for k in range(300))
    schedule = LoopSchedule("loop", 1, None, 100_000, 10.0, ops, left_out=7)
    svg = gantt.draw(schedule)
    assert len(classes(svg, "rect")) == 160
    assert gantt.hidden(schedule) == 147
    assert float(ElementTree.fromstring(svg).attrib["width"]) < 8_000
    assert gantt.draw(LoopSchedule("empty", 1, None, 1, 10.0, ())).startswith("<svg")


def test_the_timeline_has_a_row_for_what_failed() -> None:
    good, bad = StepResult("lint", Status.PASS), StepResult("simulate", Status.FAIL)
    runs = (
        Iteration(1, "a", "", (good, bad), passed=False, failed_at="simulate"),
        Iteration(2, "b", "a", (good,), passed=False, failed_at="requirements"),
        Iteration(3, "c", "b"),
    )
    svg = timeline.draw(runs)
    assert classes(svg, "rect") == ["cell good", "cell bad", "cell good", "cell bad", "cell none"]
    assert "requirements" in "".join(ElementTree.fromstring(svg).itertext())
    assert timeline.draw(()).startswith("<svg")


# -- schematics ----------------------------------------------------------------------------------


def test_only_shapes_are_taken_over_from_a_drawing() -> None:
    made = take_shapes(
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:s="x" width="50" height="40" onload="x()">'
        "<style>*{display:none}</style><script>x()</script><foreignObject><p>x</p></foreignObject>"
        '<g id="cell_x" s:type="add" transform="translate(1,2)" onclick="x()"><circle r="2" cx="1" cy="url(#x)"/>'
        '<text class="nodelabel" style="x">a&lt;b&gt;\u202e</text><a href="javascript:x()"><text>no</text></a></g>'
        '<line x1="1" x2="2" y1="3" y2="4" class="net_7 width_1"/></svg>'
    )
    assert (made.width, made.height) == (50, 40)
    assert made.markup == (
        '<g transform="translate(1,2)"><circle r="2" cx="1" class="shape"></circle>'
        '<text text-anchor="middle">a&lt;b&gt;\\u202e</text></g>'
        '<line x1="1" x2="2" y1="3" y2="4" class="net"></line>'
    )


@pytest.mark.parametrize(
    "text", ["", "<svg", "<svg/>", '<!DOCTYPE svg [<!ENTITY a "aa">]><svg width="1" height="1">&a;</svg>']
)
def test_what_is_no_drawing_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="the drawing"):
        take_shapes(text)


def test_netlistsvg_draws_where_it_is_installed() -> None:
    if find_netlistsvg() is None:
        pytest.skip("netlistsvg is not installed (npm install -g netlistsvg)")
    from rtlagent.config import ToolConfig

    cell = {"type": "$not", "port_directions": {"A": "input", "Y": "output"}, "connections": {"A": [2], "Y": [3]}}
    ports = {"a": {"direction": "input", "bits": [2]}, "y": {"direction": "output", "bits": [3]}}
    netlist = {"modules": {"m": {"attributes": {"top": 1}, "ports": ports, "cells": {"n": cell}}}}
    made = take_shapes(draw(netlist, config=ToolConfig()))
    assert ">a</text>" in made.markup and ">y</text>" in made.markup and 'class="net"' in made.markup


def test_a_missing_netlistsvg_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from rtlagent.config import ToolConfig

    monkeypatch.setenv("RTLAGENT_NETLISTSVG", "/nowhere/netlistsvg")
    assert find_netlistsvg() is None
    with pytest.raises(ToolError, match="not installed"):
        draw({"modules": {}}, config=ToolConfig())
