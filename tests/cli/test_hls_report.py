"""The loop table and the totals say what is known, and `-` for what is not."""

from __future__ import annotations

import io

from rtlagent.agent.report import HlsReport
from rtlagent.cli.hls_report import print_hls
from rtlagent.report.loops import latency_text
from rtlagent.types import Diagnostic, LoopReport, Metrics, Requirements, Severity

REPORT = HlsReport(
    source="k.c",
    function="f",
    target="ecp5",
    clock_ns=8.0,
    loops=(
        LoopReport("outer", 3, None, None, None, 9, None),
        LoopReport("inner", 5, 16, 2, 1, 4, 34, "port of `a`: 4 reads, 1 port: array_partition a cyclic 4"),
    ),
    latency_min_cycles=12,
    latency_max_cycles=None,
    estimate=Metrics(luts=100, ffs=50, brams=0, dsps=2),
    diagnostics=(
        Diagnostic("hls", Severity.WARNING, "PRAGMA_UNKNOWN", "unknown pragma\x1b[31m", "k.c", 2, 1, "did you mean x?"),
        Diagnostic("hls", Severity.NOTE, "auto-pipeline", "in the table", "k.c", 5, 1),
    ),
)


def printed(report: HlsReport, measured: Metrics | None, needs: Requirements) -> str:
    stream = io.StringIO()
    print_hls(report, measured, needs, stream)
    return stream.getvalue()


def test_before_and_after_the_tools() -> None:
    text = printed(REPORT, None, Requirements("ecp5"))
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0].startswith("k.c:2:1: warning: unknown pragma")
    assert lines[1:4] == ["  hint: did you mean x?", "", "f: k.c for ecp5, clock 8 ns"]
    assert lines[4:] == [
        "loop   line  trip count  II (target)  depth  latency  limited by",
        "outer     3           -            -      9        -  -",
        "inner     5          16        2 (1)      4       34"
        "  port of `a`: 4 reads, 1 port: array_partition a cyclic 4",
        "",
        "total              estimated  measured  limit",
        "latency (cycles)  12 or more         -  -",
        "LUT                      100         -  -",
        "FF                        50         -  -",
        "BRAM                       0         -  -",
        "DSP                        2         -  -",
        "clock (MHz)                -         -  -",
    ]


def test_measured_figures_stand_beside_their_limits() -> None:
    needs = Requirements("ecp5", max_luts=90, min_fmax_mhz=125.0, max_latency_cycles=40, max_ii=1)
    text = printed(REPORT, Metrics(luts=95, ffs=44, latency_cycles=38, ii=2, fmax_mhz=131.26), needs)
    assert "latency (cycles)  12 or more        38  max 40" in text
    assert "II                         2         2  max 1" in text
    assert "LUT                      100        95  max 90" in text
    assert "clock (MHz)                -     131.3  min 125.0" in text


def test_a_target_without_place_and_route_says_so() -> None:
    report = HlsReport("k.c", "f", "xc7", 10.0, (), 4, 4, Metrics(), ())
    text = printed(report, Metrics(latency_cycles=4), Requirements("xc7"))
    assert "no loop is left" in text
    assert "clock (MHz)               -  no place and route  -" in text


def test_latencies_are_spelled() -> None:
    assert [latency_text(*p) for p in ((4, 4), (4, 9), (4, None), (None, None))] == [
        "4",
        "4 to 9",
        "4 or more",
        "unknown",
    ]
