"""What a co-simulation found, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rtlagent.tools.cosim_report import Problem
from rtlagent.tools.csim import summary
from rtlagent.tools.csim_record import CallRecord
from rtlagent.types import Status, TestResult

if TYPE_CHECKING:
    from rtlagent.hls.interface import Interface
    from rtlagent.tools.cosim_run import Run

_PROBLEMS = {
    "unknown_ce": "{port}_ce{n} is unknown (x or z)",
    "unknown_we": "{port}_we{n} is unknown (x or z)",
    "unknown_address": "{port}_address{n} is unknown (x or z) while {port}_ce{n} is 1",
    "unknown_vld": "{port}_o_ap_vld is unknown (x or z)",
    "address": "{port}_address{n} is {value}, beyond the {depth} elements",
    "write_collision": "{port}_address{n} is {value} on two ports that write at once",
    "write_idle": "{port} is written outside a call",
    "done_idle": "ap_done is not 0 outside a call (it is to be 1 for one cycle)",
    "result_lost": "ap_return does not hold until the next ap_start",
    "unknown_read": "{stream}_read is unknown (x or z)",
    "unknown_write": "{stream}_write is unknown (x or z)",
    "stream_idle": "{stream} is written outside a call",
    "ready": "ap_ready differs from ap_done",
    "bus_response": "the bus answers an access at {offset} with an error",
    "bus_unknown": "a signal of the bus, or what was read at {offset}, is unknown (x or z)",
    "bus_read_back": "the register at {offset} does not read as it should",
    "bus_done_kept": "reading AP_CTRL does not clear ap_done and ap_ready",
    "bus_unasked": "the bus answers an access at {offset} before it has taken it",
    "bus_unstable": "RVALID or RDATA changes before RREADY, in a read at {offset}",
    "bus_no_interrupt": "AP_CTRL says ap_done, but `interrupt` is not 1",
    "bus_irq_kept": "`interrupt` is 1 though ISR was cleared",
    "bus_not_done": "`interrupt` is 1, but AP_CTRL does not say ap_done",
    "bus_busy": "AP_CTRL does not say only ap_idle before the call",
}


def describe(run: Run, interface: Interface, record: CallRecord) -> list[str]:
    """Return what is wrong, one line each, first things first."""
    lines = [run.message] if run.message and run.status is not Status.PASS else []
    lines += [_problem(p, interface) for p in run.report.problems]
    found = run.comparison
    lines += [f"{m.scenario}: {m.signal} = {m.got}, expected {m.expected}" for m in found.mismatches]
    if found.mismatch_count > len(found.mismatches):
        lines.append(f"... {found.mismatch_count - len(found.mismatches)} more mismatches")
    if found.aliased:
        first, second = found.aliased
        lines.append(f"note: {first} and {second} overlap in that call, while the hardware keeps them apart")
    return lines


def findings(runs: Sequence[Run], interface: Interface, record: CallRecord) -> list[tuple[str, list[str]]]:
    """Return what is wrong under which simulators; what several found alike is said once."""
    found: list[tuple[str, list[str]]] = []
    for run in runs:
        lines = describe(run, interface, record)
        if not lines:
            continue
        same = next((n for n, (_, known) in enumerate(found) if known == lines), None)
        if same is None:
            found.append((run.simulator, lines))
        else:
            found[same] = f"{found[same][0]}, {run.simulator}", lines
    return found


def _problem(p: Problem, interface: Interface) -> str:
    array = interface.arrays[p.memory] if p.memory < len(interface.arrays) else None
    stream = interface.streams[p.memory].name if p.memory < len(interface.streams) else ""
    digits = p.value.lower()
    value = str(int(digits, 16)) if not set(digits) & {"x", "z"} else "unknown"
    text = _PROBLEMS.get(p.code, p.code).format(
        port=array.name if array else "", stream=stream, n=p.port, value=value, depth=array.depth if array else 0,
        offset=f"0x{digits.lstrip('0') or '0'}",
    )  # fmt: skip
    idle = p.code in ("write_idle", "stream_idle", "done_idle", "result_lost")
    place = f"before call {p.call}" if idle else f"call {p.call}, cycle {p.latency}"
    return f"{place}: {text}"


def test_result(run: Run, interface: Interface, record: CallRecord) -> TestResult:
    """Return one simulator's verdict."""
    lines = describe(run, interface, record)
    if run.cut_off and run.status is Status.PASS:
        lines = [f"checked the first {len(run.report.calls)} of {len(record.calls)} calls within its time"]
    mismatches = run.comparison.mismatches
    cycle = mismatches[0].cycle if mismatches else run.report.problems[0].latency if run.report.problems else None
    return TestResult(
        run.simulator, run.status, cycle, message="\n".join(lines), wave_path=run.wave,
        checked_cycles=run.comparison.outputs, mismatches=tuple(mismatches),
    )  # fmt: skip


def table(runs: Sequence[Run], interface: Interface, record: CallRecord) -> str:
    """Return the calls, what was compared, and the latency, then what is wrong."""
    rows: list[tuple[str, ...]] = [("simulator", "status", "calls", "outputs", "latency min", "max", "total cycles")]
    for run in runs:
        latencies = [c.latency for c in run.report.calls]
        figures = [str(f) for f in (min(latencies), max(latencies), sum(latencies))] if latencies else ["-"] * 3
        calls = f"{len(latencies)}/{len(record.calls)}"
        rows.append((run.simulator, str(run.status), calls, str(run.comparison.outputs), *figures))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [summary(record)]
    for row in rows:
        cells = [c.ljust(w) if n < 2 else c.rjust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    undefined = max((r.comparison.undefined for r in runs), default=0)
    if undefined:
        lines.append(f"{undefined} outputs were not compared: C leaves their value undefined")
    repeated = max((r.comparison.repeated for r in runs), default=0)
    if repeated:
        lines.append(f"outputs of calls that are like earlier ones, not counted: {repeated}")
    if not any(r.comparison.outputs for r in runs) and all(r.status is Status.PASS for r in runs):
        lines.append("no output was compared, which proves nothing")
    for names, found in findings(runs, interface, record):
        lines += [f"{names}: {line}" for line in found]
    for run in runs:
        if run.cut_off and run.status is Status.PASS:
            lines.append(f"{run.simulator}: {test_result(run, interface, record).message}")
    return "\n".join(lines)
