"""Co-simulate a module with the C function that it was made from.

The recorded calls are replayed on the hardware under two simulators, and everything that the C left behind
is compared bit for bit: Verilator is fast and gives what nobody may read random values, Icarus makes it x.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.cosim_bench import make_bench
from rtlagent.tools.cosim_run import SIMULATORS, Plan, Run, record_wave, run_simulator
from rtlagent.tools.cosim_text import findings, table, test_result
from rtlagent.tools.csim_record import CallRecord
from rtlagent.types import Diagnostic, Metrics, Severity, SourceFile, Status, StepResult, digest

if TYPE_CHECKING:
    from rtlagent.hls.interface import Interface

_WORST_FIRST = (Status.ERROR, Status.FAIL, Status.TIMEOUT, Status.UNPROVEN, Status.PASS)
# A C statement rarely takes a hundred cycles, but a division, or a chain of them, comes near.
_CYCLES_PER_BLOCK = 400
_LEAST_TIMEOUT = 100_000
_UNCOUNTED_TIMEOUT = 5_000_000
_FUNCTIONS = (
    "clog2",
    "signed",
    "unsigned",
    "bits",
    "size",
    "left",
    "right",
    "low",
    "high",
    "countones",
    "onehot",
    "onehot0",
)
_TASKS = ("readmemh", "readmemb", "display", "write", "time", "error", "warning", "info")
_ALLOWED = frozenset((*_FUNCTIONS, *_TASKS))
"""System tasks that can neither end a simulation nor write a file."""

_SYSTEM_NAME = re.compile(r"(?<![\w$\\])\$\s*(?P<name>[A-Za-z_][\w$]*|``)")
_COMMENT_OR_STRING = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", re.S)


def cosimulate(
    design: SourceFile | Sequence[SourceFile],
    interface: Interface,
    record: CallRecord,
    *,
    simulators: Sequence[str] = ("verilator", "icarus"),
    clock_ns: float = 10.0,
    timeout_cycles: int | None = None,
    config: ToolConfig,
    keep_dir: Path | None = None,
    wave: str = "on_failure",
) -> StepResult:
    """Replay recorded calls on a module.

    PASS needs all calls to have run and agreed under the simulators (Icarus may be stopped after a prefix
    if it is slow, when another one ran them all), at least one output to have been compared, and the C
    itself to have passed.

    Args:
        design: The Verilog files.
        interface: What the module looks like.
        record: The calls, from `csim.record_calls`.
        simulators: `verilator`, `icarus` or both.
        clock_ns: Period.
        timeout_cycles: Of one call; None: estimated generously from the C's work.
        config: Sandbox, cache and limits.
        keep_dir: Where the log and waveforms go; None: nowhere.
        wave: `never` or `on_failure` (a failing run is repeated, with a VCD).

    Raises:
        UsageError: the arguments make no sense, or the interface cannot be driven.
        ToolMissingError: a simulator is not installed.
        SandboxError: nothing could be run.
    """
    files = (design,) if isinstance(design, SourceFile) else tuple(design)
    unknown = [s for s in simulators if s not in SIMULATORS]
    if unknown or not simulators or wave not in ("never", "on_failure"):
        raise UsageError(f"not simulators and a wave setting: {tuple(simulators)!r}, {wave!r}")
    start = time.monotonic()
    early = _without_simulation(files, interface, record)
    if early is not None:
        return replace(early, wall_s=time.monotonic() - start)
    timeout = timeout_cycles if timeout_cycles is not None else estimated_timeout(record)
    seed = int(digest([[f.text for f in files], len(record.calls)])[:7], 16) + 1
    bench = make_bench(
        interface, record, nonce=secrets.token_hex(8), timeout_cycles=timeout, clock_ns=clock_ns, seed=seed
    )
    plan = Plan(files, interface, record, bench, timeout, seed, config)
    with ThreadPoolExecutor(max_workers=len(simulators)) as pool:
        runs = list(pool.map(lambda name: run_simulator(name, plan), simulators))
    if wave == "on_failure" and keep_dir is not None:
        runs = _with_wave(runs, plan, keep_dir)
    return _step(files, interface, record, runs, keep_dir, time.monotonic() - start)


def estimated_timeout(record: CallRecord) -> int:
    """Return how many cycles a call may take, from the basic blocks that the C ran through."""
    blocks = [c.blocks for c in record.calls if c.blocks is not None]
    if not blocks:
        return _UNCOUNTED_TIMEOUT
    return max(_LEAST_TIMEOUT, _CYCLES_PER_BLOCK * max(blocks))


def forbidden_system_task(files: Sequence[SourceFile]) -> Diagnostic | None:
    """Find the first system task that a design could use against its judge."""
    for file in files:
        text = _COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), file.text)
        for found in _SYSTEM_NAME.finditer(text):
            if found["name"] not in _ALLOWED:
                line = text.count("\n", 0, found.start()) + 1
                column = found.start() - text.rfind("\n", 0, found.start())
                message = f"the design uses ${found['name']}, so that its simulation proves nothing"
                return Diagnostic("cosim", Severity.ERROR, "COSIM_SYSTEM_TASK", message, file.path, line, column)
    return None


def _without_simulation(files: Sequence[SourceFile], interface: Interface, record: CallRecord) -> StepResult | None:
    """Return the result where there is nothing to simulate."""
    task = forbidden_system_task(files)
    if task is not None:
        return StepResult("cosim", Status.FAIL, (task,), detail=str(task))
    if record.status is not Status.PASS:
        text = f"the C itself did not pass, so there is nothing to compare with: {record.problem}"
        found = Diagnostic("cosim", Severity.ERROR, "COSIM_C_FAILED", text)
        return StepResult("cosim", record.status, (*record.diagnostics, found), detail=text)
    if not record.calls:
        text = f"no call of {record.top}() was recorded"
        return StepResult("cosim", Status.UNPROVEN, record.diagnostics, detail=text)
    streams = any(not s.is_input for s in interface.streams)
    changes = streams or any(b != a for c in record.calls for b, a in zip(c.before, c.after, strict=True) if a)
    if not interface.result_width and not any(a.writes for a in interface.arrays) and not changes:
        text = f"{record.top}() returns nothing and writes nothing: there is no output to compare"
        return StepResult("cosim", Status.UNPROVEN, record.diagnostics, detail=text)
    return None


def _with_wave(runs: Sequence[Run], plan: Plan, keep_dir: Path) -> list[Run]:
    """Record one failing run; Icarus needs no new build for it, and shows what is unknown."""
    failing = [r for r in runs if r.status is Status.FAIL and (r.report.calls or r.report.end)]
    chosen = next((r for r in failing if r.simulator == "icarus"), next(iter(failing), None))
    return [record_wave(r, plan, keep_dir) if r is chosen else r for r in runs]


def _step(
    files: Sequence[SourceFile],
    interface: Interface,
    record: CallRecord,
    runs: Sequence[Run],
    keep_dir: Path | None,
    wall_s: float,
) -> StepResult:
    complete = any(r.status is Status.PASS for r in runs)
    # One simulator has done all calls; the other agreed as far as it came.
    runs = [
        replace(r, status=Status.PASS) if r.cut_off and complete and r.report.calls else r for r in runs
    ]  # fmt: skip
    status = next(s for s in _WORST_FIRST if any(r.status is s for r in runs))
    if status is Status.PASS and not all(r.comparison.outputs for r in runs):
        status = Status.UNPROVEN
    where = files[0].path
    diagnostics = [*record.diagnostics]
    for run in runs:
        diagnostics += run.diagnostics
    for names, lines in findings(runs, interface, record):
        diagnostics += [
            Diagnostic("cosim", Severity.ERROR, "COSIM_MISMATCH", f"{names}: {line}", where) for line in lines[:5]
        ]
    latencies = [c.latency for r in runs for c in r.report.calls]
    if keep_dir is not None:
        keep_dir.mkdir(parents=True, exist_ok=True)
        (keep_dir / "cosim.log").write_text("\n".join(f"== {r.simulator}\n{r.log}" for r in runs) + "\n")
    return StepResult(
        "cosim", status, tuple(diagnostics), tuple(test_result(r, interface, record) for r in runs),
        Metrics(latency_cycles=max(latencies, default=None) if status is Status.PASS else None), runs[0].argv,
        log_path="cosim.log" if keep_dir is not None else None, wall_s=wall_s,
        tool_version=", ".join(r.version for r in runs), detail=table(runs, interface, record),
    )  # fmt: skip
