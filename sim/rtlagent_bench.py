"""The cocotb bench that replays a recorded trace on the DUT and compares.

Reads the request (ports, clock, reset, trace) from the file RTLAGENT_BENCH_REQUEST and writes its
findings to RTLAGENT_BENCH_REPORT, both relative to this folder. sim/README.md has the protocol.
"""

from __future__ import annotations

import json
import os
import traceback
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer
from rtlagent_bench_cycles import apply_reset, run_cycles
from rtlagent_bench_pins import ClockPin, Pins
from rtlagent_bench_report import BenchReport
from rtlagent_bench_streams import run_streams


@cocotb.test()
async def trace(dut: Any) -> None:
    """Replay every scenario of the trace."""
    work = Path.cwd()
    request = json.loads((work / os.environ["RTLAGENT_BENCH_REQUEST"]).read_text())
    report = BenchReport(work / os.environ["RTLAGENT_BENCH_REPORT"])
    try:
        report.finished = await replay(dut, request, report)
    except Exception:
        report.error = traceback.format_exc()
        raise
    finally:
        # Also when the design ends the simulation: cocotb then cancels this task.
        report.write()
    assert not report.ports, "the design's ports differ from the specification"
    wrong = [s.name for s in report.scenarios if s.failed]
    assert not wrong, f"scenarios failed: {', '.join(wrong)}"


async def replay(dut: Any, request: dict[str, Any], report: BenchReport) -> bool:
    """Check the ports, then run all scenarios one after the other; return whether all were run."""
    recorded, reset = request["trace"], request["reset"]
    stop = request.get("stop_at_mismatch", False)
    pins = Pins(dut, request["ports"])
    report.ports = pins.problems
    if pins.problems:
        return True
    # Icarus 11 loses what is written before its nets have got their first value.
    await Timer(1, "step")
    clocks = make_clocks(pins, request)
    main = clocks[0]
    further = {r["port"]: int(r["active"] == "high") for r in recorded["resets"]}
    active = further | ({reset["port"]: int(reset["active"] == "high")} if reset else {})
    inactive = {name: 1 - level for name, level in active.items()}
    idle = {n: 0 for n in pins.inputs if n not in request["clock_ports"]} | recorded["idle"] | inactive
    pins.drive(idle)
    for scenario in recorded["cycles"]:
        found = report.begin(scenario["name"])
        if scenario["reset_first"]:
            await apply_reset(pins, main, idle, active)
        await run_cycles(pins, main, scenario, found, stop=stop)
        found.finished = True
        if stop and found.failed:
            return False
    for scenario in recorded["streams"]:
        found = report.begin(scenario["name"])
        await run_streams(pins, clocks, request, scenario, found, idle=idle, active=active)
        found.finished = True
        if stop and found.failed:
            return False
    return True


def make_clocks(pins: Pins, request: dict[str, Any]) -> list[ClockPin]:
    """Return the spec's clock, then the trace's further ones; a clock without a pin for a design without any."""
    given = ([request["clock"]] if request["clock"] else []) + request["trace"]["clocks"]
    clocks = [ClockPin(pins.inputs[c["port"]], c["edge"], c["period_ns"], c["port"]) for c in given]
    return clocks or [ClockPin(None, "posedge", 10.0, "")]
