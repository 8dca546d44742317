"""The design's description as data: following drivers needs no tool. What reads text is tested by test_inspect."""

from __future__ import annotations

import json

from rtlagent.types import Port, from_json, to_json
from rtlagent.verilog import DesignInfo, DriverInfo, ModuleInfo


def driver(module: str, signal: str, *inputs: str, line: int = 1, child: tuple[str, str] = ("", "")) -> DriverInfo:
    return DriverInfo(module, signal, "assign", "m.v", line, line, "", inputs, line, line, *child)


DESIGN = DesignInfo(
    (
        ModuleInfo("leaf", "m.v", 9, (Port("i", "input"), Port("o", "output")), drivers=(driver("leaf", "o", "i"),)),
        ModuleInfo(
            "top",
            "m.v",
            1,
            drivers=(
                driver("top", "y", "b", "a", line=2),
                driver("top", "a", "c", line=3, child=("leaf", "o")),
                driver("top", "b", "y", line=4),
            ),
        ),
    ),
    ("top",),
)


def test_depth_one_is_the_signal_alone() -> None:
    assert [d.first_line for d in DESIGN.drivers_of("top", "y", depth=1)] == [2]
    assert DESIGN.drivers_of("top", "y", depth=0) == ()


def test_each_step_follows_the_inputs_once() -> None:
    assert [d.first_line for d in DESIGN.drivers_of("top", "y", depth=9)] == [2, 4, 3, 1]


def test_a_step_goes_into_the_instance() -> None:
    assert [(d.module, d.signal) for d in DESIGN.drivers_of("top", "a", depth=2)] == [("top", "a"), ("leaf", "o")]


def test_fan_in_stays_in_the_module() -> None:
    assert DESIGN.fan_in("top", "y", depth=3) == ("b", "a", "c")


def test_it_survives_json() -> None:
    assert from_json(DesignInfo, json.loads(json.dumps(to_json(DESIGN)))) == DESIGN


def test_an_unknown_name_is_none() -> None:
    assert DESIGN.module("nobody") is None
    assert DESIGN.drivers_of("top", "nobody") == ()
