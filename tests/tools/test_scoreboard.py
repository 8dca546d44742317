"""The bench on designs of every style, correct and wrong, and on designs that misbehave."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from designs.catalog import DESIGNS, Design, Wrong

from rtlagent.config import Limits, ToolConfig
from rtlagent.tools.golden import record_trace
from rtlagent.tools.mismatch_table import show_bits
from rtlagent.tools.scoreboard import check_trace
from rtlagent.types import CycleScenario, SourceFile, Status, StepResult, Trace

CONFIG = ToolConfig()
WRONG = [pytest.param(n, w, id=f"{n}-{k}") for n, d in DESIGNS.items() for k, w in enumerate(d.wrong)]


@cache
def trace_of(name: str, random_cycles: int = 300) -> Trace:
    design = DESIGNS[name]
    step, trace = record_trace(
        design.golden_file,
        ports=design.ports,
        clock=design.clock,
        reset=design.reset,
        seed=5,
        random_cycles=random_cycles,
        config=CONFIG,
    )
    assert step.status is Status.PASS, step.diagnostics
    assert trace is not None
    return trace


def check(
    design: Design,
    source: SourceFile,
    trace: Trace,
    *,
    simulator: str = "icarus",
    keep_dir: Path | None = None,
    config: ToolConfig = CONFIG,
) -> StepResult:
    return check_trace(
        [source],
        trace,
        top=design.name,
        ports=design.ports,
        clock=design.clock,
        reset=design.reset,
        simulator=simulator,
        keep_dir=keep_dir,
        config=config,
    )


@pytest.mark.parametrize("name", DESIGNS)
def test_correct_design_passes(name: str) -> None:
    trace = trace_of(name)
    result = check(DESIGNS[name], DESIGNS[name].source, trace)
    assert result.status is Status.PASS, result.detail
    assert [t.name for t in result.tests] == [s.name for s in trace.cycles] + [s.name for s in trace.streams]
    assert all(t.status is Status.PASS for t in result.tests)
    assert all(t.checked_cycles for t in result.tests)


@pytest.mark.parametrize(("name", "wrong"), WRONG)
def test_wrong_design_fails_where_it_is_wrong(name: str, wrong: Wrong) -> None:
    design = DESIGNS[name]
    result = check(design, design.broken(wrong), trace_of(name))
    assert result.status is Status.FAIL
    test = next(t for t in result.tests if t.name == wrong.scenario)
    assert test.status is Status.FAIL, result.detail
    if wrong.signal:
        first = test.mismatches[0]
        assert first.signal == wrong.signal, test.message
        assert f"`{wrong.signal}` expected" in test.message
    if wrong.cycle is not None:
        assert test.cycle == wrong.cycle, test.message
    if wrong.expected:
        assert (test.mismatches[0].expected, test.mismatches[0].got) == (wrong.expected, wrong.got)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["edge_detector", "alu", "toggler", "squarer", "async_fifo"])
def test_verilator_agrees_with_icarus(name: str) -> None:
    design, trace = DESIGNS[name], trace_of(name)
    good = check(design, design.source, trace, simulator="verilator")
    assert good.status is Status.PASS
    assert good.tool_version.startswith("verilator")
    wrong = design.wrong[0]
    results = [check(design, design.broken(wrong), trace, simulator=s) for s in ("icarus", "verilator")]
    assert [r.tool_version.split()[0] for r in results] == ["icarus", "verilator"]
    firsts = [[(t.name, t.status, t.cycle) for t in r.tests] for r in results]
    assert firsts[0] == firsts[1]


def test_detail_shows_the_cycles_around_the_first_mismatch() -> None:
    design = DESIGNS["edge_detector"]
    detail = check(design, design.broken(design.wrong[0]), trace_of("edge_detector")).detail
    assert (
        """\
rise_and_fall: 3 wrong cycles, the first at cycle 4 (inputs | outputs; wrong: got!=expected <)
cycle  rst  a     |  pulse
0      0    0x00  |  0x00
1      0    0x01  |  0x00
2      0    0x01  |  0x01
3      0    0x00  |  0x00
4      0    0xff  |  0x01!=0x00 <
5      0    0xff  |  0xff
"""
        in detail
    )


def test_detail_is_the_same_in_every_run(tmp_path: Path) -> None:
    design = DESIGNS["squarer"]
    runs = [check(design, design.broken(design.wrong[0]), trace_of("squarer")) for _ in range(2)]
    assert runs[0].detail == runs[1].detail
    assert runs[0].tests == runs[1].tests


def test_latency_is_measured_and_bounded() -> None:
    design, trace = DESIGNS["squarer"], trace_of("squarer")
    assert check(design, design.source, trace).metrics.latency_cycles == 2
    result = check(design, design.source, replace(trace, max_latency_cycles=1))
    assert result.status is Status.FAIL
    assert "the latency is 2 cycles, more than 1" in result.tests[0].message


def test_hanging_stream_names_what_never_came() -> None:
    design = DESIGNS["squarer"]
    deaf = SourceFile(
        "rtl/squarer.v", design.source.text.replace("mid_free = !mid_valid || out_free", "mid_free = 1'b0")
    )
    mute = SourceFile("rtl/squarer.v", design.source.text.replace("out_valid <= mid_valid", "out_valid <= 1'b0"))
    trace = replace(trace_of("squarer"), timeout_cycles=100)
    assert "input stream `in`: item 0 of 5 is never accepted (`in_ready` stays 0)" in check(design, deaf, trace).detail
    assert "output stream `out`: item 0 of 5 never comes" in check(design, mute, trace).detail


def test_item_too_many_is_found() -> None:
    design = DESIGNS["squarer"]
    text = design.source.text.replace(
        "mid_valid <= in_valid", "mid_valid <= in_valid || (mid_valid && mid_data == 8'd16)"
    )
    result = check(design, SourceFile("rtl/squarer.v", text), trace_of("squarer"))
    test = next(t for t in result.tests if t.name == "corners@0")
    assert test.status is Status.FAIL
    assert "item 5 of `out`: `out_valid` expected 0, got 1 (nobody expects this item)" in test.message


def test_missing_port_and_wrong_width_are_named() -> None:
    design, trace = DESIGNS["edge_detector"], trace_of("edge_detector")
    renamed = SourceFile("rtl/e.v", design.source.text.replace("pulse", "pulses"))
    narrow = SourceFile("rtl/e.v", design.source.text.replace("[7:0] pulse", "[6:0] pulse"))
    for source, message in (
        (renamed, "the design has no output port `pulse`"),
        (narrow, "port `pulse` is 7 bits wide in the design, and must be 8"),
    ):
        result = check(design, source, trace)
        assert result.status is Status.FAIL
        (found,) = result.diagnostics
        assert (found.code, found.message, found.path, found.line) == ("PORT_MISMATCH", message, "rtl/e.v", 2)


def test_design_that_ends_the_simulation_fails() -> None:
    design, trace = DESIGNS["edge_detector"], trace_of("edge_detector")
    for addition, scenario in (
        ("always @(posedge clk) if (a == 8'hff) $finish;", "rise_and_fall"),
        ("initial $finish;", "rise_and_fall"),
        ("always @(posedge clk) if (a == 8'hff) $stop;", "rise_and_fall"),
    ):
        text = design.source.text.replace("endmodule", f"{addition}\nendmodule")
        result = check(design, SourceFile("rtl/e.v", text), trace)
        assert result.status is Status.FAIL, addition
        assert result.tests[0].name == scenario
        assert result.tests[0].status is Status.FAIL
        assert "the design ended the simulation" in result.tests[0].message
        assert {t.status for t in result.tests[1:]} == {Status.SKIPPED}


def test_zero_delay_loop_is_a_timeout() -> None:
    design, trace = DESIGNS["edge_detector"], trace_of("edge_detector")
    loop = "reg h = 0; always @(posedge clk) if (a == 8'hff) h = 1; always @(h) if (h) forever #0 h = 1;"
    text = design.source.text.replace("endmodule", f"{loop}\nendmodule")
    config = ToolConfig(limits=Limits(wall_s=3))
    result = check(design, SourceFile("rtl/e.v", text), trace, config=config)
    assert result.status is Status.TIMEOUT
    assert result.tests[0].status is Status.TIMEOUT


def test_nothing_compared_is_unproven() -> None:
    design, trace = DESIGNS["edge_detector"], trace_of("edge_detector")
    blind = tuple(replace(s, expected=tuple({} for _ in s.expected)) for s in trace.cycles)
    result = check(design, design.source, replace(trace, cycles=blind))
    assert result.status is Status.UNPROVEN
    assert {t.status for t in result.tests} == {Status.UNPROVEN}


def test_unknown_control_output_is_noted_even_if_not_compared() -> None:
    design = DESIGNS["squarer"]
    text = design.source.text.replace("out_valid <= 1'b0;", "")
    steps = ({"in_valid": 0, "out_ready": 0, "in_data": 0, "rst": 0},)
    trace = Trace(seed=1, cycles=(CycleScenario("quiet", steps, ({"in_ready": None},)),))
    result = check(design, SourceFile("rtl/s.v", text), trace)
    assert result.status is Status.UNPROVEN
    assert [(d.code, d.message) for d in result.diagnostics] == [
        ("UNKNOWN_AFTER_RESET", "output out_valid is X or Z just after reset")
    ]


def test_bench_keeps_its_report_and_a_wave(tmp_path: Path) -> None:
    design = DESIGNS["edge_detector"]
    result = check(design, design.broken(design.wrong[0]), trace_of("edge_detector"), keep_dir=tmp_path)
    assert (tmp_path / "scoreboard.json").is_file()
    assert result.log_path is not None
    assert (tmp_path / result.log_path).is_file()
    wave = result.tests[0].wave_path
    assert wave is not None
    assert (tmp_path / wave).is_file()


def test_wide_ports_are_driven_and_compared() -> None:
    text = "module wide(input wire clk, input wire rst, input wire [199:0] d, output reg [199:0] q);\n"
    text += "always @(posedge clk) if (rst) q <= 0; else q <= ~d;\nendmodule\n"
    golden = (
        "class Golden:\n"
        "    def reset(self): self.q = 0\n"
        "    def outputs(self, i): return {'q': self.q}\n"
        "    def clock(self, i): self.q = ~i['d'] & (2**200 - 1)\n"
        "def directed(): return {'one': [{'d': 1}, {'d': 2**199}, {}]}\n"
    )
    ports = DESIGNS["edge_detector"].ports
    wide = (*ports[:2], replace(ports[2], name="d", width=200), replace(ports[3], name="q", width=200))
    design = replace(DESIGNS["edge_detector"], name="wide", ports=wide)
    _, trace = record_trace(
        SourceFile("golden.py", golden),
        ports=wide,
        clock=design.clock,
        reset=design.reset,
        seed=1,
        random_cycles=50,
        config=CONFIG,
    )
    assert trace is not None
    assert check(design, SourceFile("w.v", text), trace).status is Status.PASS
    bad = check(design, SourceFile("w.v", text.replace("~d", "~d ^ (200'd1 << 150)")), trace)
    assert bad.status is Status.FAIL
    assert bad.tests[0].cycle == 1


@pytest.mark.parametrize(
    ("bits", "shown"),
    [
        ("1", "1"),
        ("x", "x"),
        ("0101", "5"),
        ("1x0", "0b1x0"),
        ("000111110000", "0x1f0"),
        ("xxxxxxxx", "0xxx"),
        ("xxxx0001", "0xx1"),
        ("1xxx0001", "0xX1"),
        ("xx0001", "0xx1"),
        ("zzzzz", "0xzz"),
        ("-", "-"),
    ],
)
def test_values_are_shown_as_people_write_them(bits: str, shown: str) -> None:
    assert show_bits(bits) == shown
