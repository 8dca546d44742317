"""Record the trace of a model-written golden model, without any RTL.

`golden.py` is one file of plain Python 3.11 (standard library only), written from the spec alone.

```python
class Golden:                        # cycle style: the spec says in which cycle an output changes
    def reset(self): ...             # set the state after reset (no reset in the design: at power-up; optional)
    def outputs(self, i): ...        # -> dict of outputs just before the active edge, for the present state and
                                     #    inputs i (dict of unsigned ints, with reset); None or missing: not compared
    def clock(self, i): ...          # advance the state by one active edge (combinational designs have no clock())

def directed(): ...                  # -> {scenario name: [inputs of each cycle]}; a missing port keeps its last value,
                                     #    but the reset returns to inactive
def random_inputs(rng, golden, n): ...   # optional generator of n input dicts; `golden` is the live model

IDLE_INPUTS = {"rx": 1}              # optional: inputs during reset and at a scenario's start (default 0)
RESETS = {"rd_rst_n": "low"}         # optional: reset ports beside the spec's, driven together with it

STREAMS = [                          # stream style: only the order of the data is specified
    {"name": "in", "direction": "input", "data": ["wr_data"], "valid": "wr_en", "ready": "!full", "clock": "wr_clk"},
    {"name": "out", "direction": "output", "data": ["rd_data"], "valid": "!empty", "ready": "rd_en",
     "clock": "rd_clk", "data_delay": 1},   # "!": active low; ready None: always; data_delay: cycles after the transfer
]
def transact(items): ...             # {input stream: [item dicts]} -> {output stream: [item dicts]}; None: not compared
def directed_items(): ...            # optional: {scenario: {input stream: [items], "settings": {port: held value}}}
def random_items(rng, n): ...        # optional: {input stream: [n items]}

MAX_LATENCY = 12                     # optional: cycles from an item's acceptance to its result, at full rate
TIMEOUT_CYCLES = 5000                # optional: cycles without a transfer that mean a hang (default 1000)
```

One cycle: the inputs are applied after the active edge, `outputs(i)` is compared just before the
next one, then `clock(i)` runs. While the reset is active `reset()` runs instead of `clock()`; an
asynchronous reset runs it already before `outputs()`. One Golden lives through all scenarios, so
state that a reset leaves alone (a memory) stays, as in the design. We add: idle, random, resets in
the middle of activity, and, for combinational designs of at most 12 input bits, every input.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rtlagent.config import Limits, ToolConfig, resource_dir
from rtlagent.errors import ToolError, UsageError
from rtlagent.tools import sandbox
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.trace import Coverage, measure_coverage, trace_from_data
from rtlagent.types import Clock, Diagnostic, Port, Reset, Severity, SourceFile, Status, StepResult, Trace, to_json

MAX_DIRECTED_CYCLES = 50_000
"""Cycles of all directed scenarios together."""
DEADLINE_S = 20.0
"""Time for one of the two runs of a golden model."""
MAX_WIDTH = 8192
"""Bits of a port; Python prints no longer numbers by default."""
_TOOL = "golden"


def record_trace(
    golden: SourceFile,
    *,
    ports: Sequence[Port],
    clock: Clock | None,
    reset: Reset | None,
    seed: int,
    random_cycles: int,
    config: ToolConfig,
) -> tuple[StepResult, Trace | None]:
    """Run `golden` alone in the sandbox and return what it drives and expects.

    The result fails, with diagnostics at golden.py's lines, when the file raises, breaks the
    protocol, differs between two runs with the same seed, or compares nothing.

    Raises:
        UsageError: a port's width is unknown, or clock and reset are not input ports.
    """
    _check_ports(ports, clock, reset)
    start = time.monotonic()
    request = {
        "ports": to_json(ports),
        "clock": to_json(clock),
        "reset": to_json(reset),
        "seed": seed,
        "random_cycles": random_cycles,
        "max_directed_cycles": MAX_DIRECTED_CYCLES,
        "deadline_s": min(DEADLINE_S, config.limits.wall_s / 3),
    }
    answer, limit = _run_worker(golden, request, config)
    step = StepResult("golden", Status.ERROR, wall_s=time.monotonic() - start, tool_version=sys.version.split()[0])
    if answer is None:
        return _without_answer(step, golden.path, limit), None
    if "trace" not in answer:
        return _with_problem(step, golden.path, answer), None
    try:
        trace = trace_from_data(answer["trace"], ports=ports)
    except ToolError as error:
        # Only a model that tampers with the recorder gets here.
        found = _error(golden.path, "GOLDEN_TAMPERED", f"the recording is damaged: {error.message}")
        return replace(step, status=Status.FAIL, diagnostics=(found,)), None
    return _with_trace(step, golden.path, trace, ports)


def _check_ports(ports: Sequence[Port], clock: Clock | None, reset: Reset | None) -> None:
    widths = {p.name: p.width for p in ports}
    inputs = {p.name for p in ports if p.direction == "input"}
    for name, width in widths.items():
        if width is None or not 1 <= width <= MAX_WIDTH:
            raise UsageError(f"the width of port {name} must be known and 1 to {MAX_WIDTH} bits")
    for what, port in (("clock", clock), ("reset", reset)):
        if port is not None and port.port not in inputs:
            raise UsageError(f"the {what} {port.port} is not an input port", hint="add it to the ports")
    if not any(p.direction == "output" for p in ports):
        raise UsageError("the design has no output port, so nothing can be checked")


def _run_worker(golden: SourceFile, request: dict[str, Any], config: ToolConfig) -> tuple[dict[str, Any] | None, str]:
    """Return the worker's answer, or None and the limit (or nothing) that ended it."""
    worker = resource_dir("sim") / "rtlagent_golden.py"
    base = config.limits
    limits = Limits(
        wall_s=min(base.wall_s, 2 * DEADLINE_S + 10),
        cpu_s=base.cpu_s,
        memory_mb=min(base.memory_mb, 2048),
        processes=min(base.processes, 16),
        output_mb=0.5,
        work_mb=base.work_mb,
    )
    with scratch_folder() as work:
        (work / "golden.py").write_text(golden.text)
        (work / "request.json").write_text(json.dumps(request))
        # -E would drop PYTHONHASHSEED, which makes the order of sets repeatable.
        argv = [sys.executable, "-s", "-S", "-B", str(worker)]
        done = sandbox.run(argv, work=work, config=config, limits=limits, env={"PYTHONHASHSEED": "0"})
        text = _read_result(work / "result.json")
        if text is None:
            return None, done.limit or f"stderr: {done.stderr[-2000:]}"
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            answer = None
        return (answer if isinstance(answer, dict) else None), done.limit or ""


def _read_result(path: Path) -> str | None:
    """Return the text of a regular file, never through a link that the model may have left."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        return file.read()


def _error(path: str, code: str, message: str, *, line: int = 0, hint: str = "") -> Diagnostic:
    return Diagnostic(_TOOL, Severity.ERROR, code, message, path, line, hint=hint)


def _without_answer(step: StepResult, path: str, limit: str) -> StepResult:
    if limit == "wall":
        found = _error(path, "GOLDEN_TIMEOUT", "did not end in time", hint="look for an endless loop")
        return replace(step, status=Status.TIMEOUT, diagnostics=(found,))
    if limit and not limit.startswith("stderr:"):
        found = _error(path, "GOLDEN_LIMIT", f"reached the {limit} limit of the sandbox")
        return replace(step, status=Status.FAIL, diagnostics=(found,))
    found = _error(path, "GOLDEN_RECORDER", "the recorder left no readable result")
    return replace(step, diagnostics=(found,), detail=limit)


def _with_problem(step: StepResult, path: str, answer: dict[str, Any]) -> StepResult:
    """Turn the worker's problem into a diagnostic; its fields are checked, for a model may forge them."""
    if isinstance(answer.get("error"), str):
        found = _error(path, "GOLDEN_RECORDER", "the recorder broke on this file")
        return replace(step, diagnostics=(found,), detail=answer["error"][:4000])
    problem = answer.get("problem")
    fields = problem if isinstance(problem, dict) else {}
    code, message, hint = (str(fields.get(k, ""))[:1000] for k in ("code", "message", "hint"))
    line = fields.get("line")
    found = _error(path, code or "GOLDEN_TAMPERED", message, line=line if isinstance(line, int) else 0, hint=hint)
    status = Status.TIMEOUT if code == "GOLDEN_TIMEOUT" else Status.FAIL
    return replace(step, status=status, diagnostics=(found,))


def _with_trace(step: StepResult, path: str, trace: Trace, ports: Sequence[Port]) -> tuple[StepResult, Trace | None]:
    coverage = measure_coverage(trace, ports=ports)
    if not coverage.compared:
        found = _error(path, "GOLDEN_NO_CHECKS", "no output is ever compared: every expected value is None or missing")
        return replace(step, status=Status.FAIL, diagnostics=(found,)), None
    detail = _coverage_table(trace, coverage)
    return replace(step, status=Status.PASS, diagnostics=_weaknesses(path, coverage, ports), detail=detail), trace


def _weaknesses(path: str, coverage: Coverage, ports: Sequence[Port]) -> tuple[Diagnostic, ...]:
    """Return a warning for each output that the trace hardly tests."""
    found = []
    for output in coverage.outputs:
        if not output.compared:
            message = f"output {output.port} is never compared"
            found.append(Diagnostic(_TOOL, Severity.WARNING, "GOLDEN_UNCHECKED_OUTPUT", message, path))
        elif output.distinct < 2:
            message = f"output {output.port} is always expected to have the same value"
            hint = "add a scenario in which it changes"
            found.append(Diagnostic(_TOOL, Severity.WARNING, "GOLDEN_CONSTANT_OUTPUT", message, path, hint=hint))
    for port in coverage.inputs:
        if not port.bits_toggled:
            message = f"input {port.port} never changes"
            found.append(Diagnostic(_TOOL, Severity.WARNING, "GOLDEN_CONSTANT_INPUT", message, path))
    for inout in (p for p in ports if p.direction == "inout"):
        message = f"inout {inout.name} is neither driven nor compared"
        found.append(Diagnostic(_TOOL, Severity.WARNING, "GOLDEN_INOUT", message, path))
    return tuple(found)


def _coverage_table(trace: Trace, coverage: Coverage) -> str:
    """Return the scenarios and what they exercise, as text."""
    lines = ["scenarios:"]
    lines += [f"  {s.name}: {len(s.inputs)} cycles" for s in trace.cycles]
    for stream in trace.streams:
        counts = [f"{len(items)} items on {name}" for name, items in [*stream.inputs.items(), *stream.expected.items()]]
        lines.append(f"  {stream.name}: {', '.join(counts)}")
    lines.append("outputs:")
    lines += [f"  {o.port}: {o.compared} values compared, {o.distinct} distinct" for o in coverage.outputs]
    lines.append("inputs:")
    lines += [f"  {i.port}: {i.bits_toggled} of {i.width} bits toggled" for i in coverage.inputs]
    return "\n".join(lines) + "\n"
