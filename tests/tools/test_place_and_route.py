"""Place and route: frequency, critical path, fit, and designs with too many ports."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import nextpnr
from rtlagent.tools.place_and_route import place_and_route
from rtlagent.types import SourceFile, Status, StepResult

SUM = """module top(input clk, input [7:0] a, b, output reg [7:0] q);
  reg [7:0] ra, rb;
  always @(posedge clk) begin
    ra <= a;
    rb <= b;
    q <= (ra + rb) ^ (q + ra);
  end
endmodule
"""
WIDE = """module top(input clk, input [149:0] a, output reg [149:0] y);
  always @(posedge clk) y <= {y[148:0], y[149]} ^ a;
endmodule
"""
GATES = "module top(input [3:0] a, b, output y);\n  assign y = a < b;\nendmodule\n"
QUICK = pytest.mark.parametrize("target", ["ice40", pytest.param("ecp5", marks=pytest.mark.slow)])
TARGETS = pytest.mark.parametrize("target", ["ice40", "ecp5"])


def route(text: str, target: str, config: ToolConfig, **options: object) -> StepResult:
    files = [SourceFile("rtl/top.v", text)]
    return place_and_route(files, top="top", target=target, config=config, **options)  # type: ignore[arg-type]


@TARGETS
def test_a_frequency_that_is_reached_passes(tool_config: ToolConfig, target: str) -> None:
    result = route(SUM, target, tool_config, min_fmax_mhz=50.0)
    assert result.status is Status.PASS, result.diagnostics
    metrics = result.metrics
    assert metrics.fmax_mhz is not None and 50 < metrics.fmax_mhz < 1000
    assert metrics.wns_ns == pytest.approx(20 - 1000 / metrics.fmax_mhz)
    assert metrics.ffs == 24
    assert "clock clk" in result.detail


@TARGETS
def test_a_missed_frequency_fails_with_the_path_in_the_source(
    tool_config: ToolConfig, target: str, tmp_path: Path
) -> None:
    result = route(SUM, target, tool_config, min_fmax_mhz=900.0, keep_dir=tmp_path)
    assert result.status is Status.FAIL
    assert [d.code for d in result.diagnostics] == ["FMAX"]
    assert result.diagnostics[0].path == "rtl/top.v"
    assert result.metrics.fmax_mhz is not None and result.metrics.fmax_mhz < 900
    assert result.metrics.wns_ns is not None and result.metrics.wns_ns < 0
    assert "rtl/top.v:6" in result.detail
    assert "share/" not in result.detail
    assert result.log_path == "nextpnr.log" and (tmp_path / "report.json").is_file()
    assert (tmp_path / "netlist.json").is_file()


def test_the_same_seed_gives_the_same_result(tool_config: ToolConfig, tmp_path: Path) -> None:
    first = route(SUM, "ecp5", tool_config, seed=7, keep_dir=tmp_path)
    again = route(SUM, "ecp5", tool_config, seed=7, netlist=tmp_path / "netlist.json")
    assert (first.detail, first.metrics.fmax_mhz) == (again.detail, again.metrics.fmax_mhz)
    assert first.metrics.wns_ns is None


@QUICK
def test_more_port_bits_than_pins_still_route(tool_config: ToolConfig, target: str) -> None:
    result = route(WIDE, target, tool_config, min_fmax_mhz=100.0)
    assert result.status is Status.PASS, result.diagnostics
    assert result.metrics.ffs == 150
    assert "150 inputs and 150 outputs are held by shift registers" in result.detail
    assert "harness" not in result.detail.split("critical path")[1]


@QUICK
def test_without_registers_no_frequency_is_measured(tool_config: ToolConfig, target: str) -> None:
    result = route(GATES, target, tool_config)
    assert result.status is Status.PASS
    assert result.metrics.fmax_mhz is None
    assert "fmax is not measured" in result.detail


def test_without_registers_the_slowest_path_decides(tool_config: ToolConfig) -> None:
    assert route(GATES, "ecp5", tool_config, min_fmax_mhz=20.0).status is Status.PASS
    result = route(GATES, "ecp5", tool_config, min_fmax_mhz=800.0)
    assert result.status is Status.FAIL
    assert [d.code for d in result.diagnostics] == ["FMAX"]
    assert result.metrics.fmax_mhz is None


def test_a_design_that_does_not_fit_fails_with_its_utilisation(tool_config: ToolConfig) -> None:
    text = SUM.replace("[7:0]", "[99:0]")
    result = route(text, "ice40", tool_config, device="lp384")
    assert result.status is Status.FAIL
    assert [d.code for d in result.diagnostics] == ["DOES_NOT_FIT"]
    assert "ICESTORM_LC" in result.diagnostics[0].message
    assert "of    384" in result.detail


def test_a_design_that_synthesis_refuses_is_not_routed(tool_config: ToolConfig) -> None:
    result = route("module top(input a, output y);\n  wire z;\n  assign y = z;\nendmodule\n", "ice40", tool_config)
    assert (result.step, result.status) == ("place_and_route", Status.FAIL)
    assert [d.code for d in result.diagnostics] == ["UNDRIVEN"]


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("xc7", {}),
        ("generic", {}),
        ("ice40", {"device": "hx9k"}),
        ("ice40", {"package": "../etc"}),
        ("ecp5", {"min_fmax_mhz": 0.0}),
        ("ice40", {"package": "qn999"}),
    ],
)
def test_what_does_not_exist_is_refused(tool_config: ToolConfig, target: str, options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        route(GATES, target, tool_config, **options)


def test_a_broken_netlist_is_an_error_not_a_failure(tool_config: ToolConfig, tmp_path: Path) -> None:
    broken = tmp_path / "netlist.json"
    broken.write_text('{"modules": ')
    result = route(GATES, "ice40", tool_config, netlist=broken)
    assert result.status is Status.ERROR
    assert [d.code for d in result.diagnostics] == ["PNR_BROKE"]
    assert route(GATES, "ice40", tool_config, netlist=tmp_path / "absent.json").status is Status.ERROR


def test_the_time_limit_is_a_timeout(tool_config: ToolConfig, tmp_path: Path) -> None:
    route(SUM, "ice40", tool_config, keep_dir=tmp_path)
    hurried = replace(tool_config, limits=replace(tool_config.limits, wall_s=0.05))
    result = route(SUM, "ice40", hurried, netlist=tmp_path / "netlist.json")
    assert result.status is Status.TIMEOUT
    assert [d.code for d in result.diagnostics] == ["LIMIT"]


@pytest.mark.slow
def test_the_first_run_compiles_outside_the_limits_and_later_ones_do_not(
    tool_config: ToolConfig, tmp_path: Path
) -> None:
    config = replace(tool_config, cache_dir=tmp_path / "cache", limits=replace(tool_config.limits, cpu_s=30))
    folder = nextpnr.warm_cache("ice40", config)
    compiled = [p for p in folder.rglob("*") if p.is_file()]
    assert len(compiled) == 1 and compiled[0].stat().st_size > 1_000_000
    keep = tmp_path / "kept"
    assert route(SUM, "ice40", config, keep_dir=keep).status is Status.PASS
    assert "Preparing to run" not in (keep / "nextpnr.log").read_text()
    compiled[0].write_bytes(b"damaged")
    assert route(SUM, "ice40", config, keep_dir=keep).status is Status.PASS
    assert "Preparing to run" not in (keep / "nextpnr.log").read_text()
    shutil.rmtree(folder)
