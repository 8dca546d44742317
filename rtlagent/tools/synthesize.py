"""Elaborate a design, or map it to the cells of a target, with Yosys."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import SandboxError, ToolError, ToolMissingError
from rtlagent.tools import cell_counts, yosys
from rtlagent.tools.cell_counts import CellCounts
from rtlagent.tools.elaboration import Elaborated, elaborate_design, make_design, read_stat
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.yosys import Stage
from rtlagent.types import Diagnostic, Metrics, Severity, SourceFile, Status, StepResult

NETLIST = "netlist.json"


def elaborate(
    files: Sequence[SourceFile],
    *,
    top: str,
    parameters: Mapping[str, int] | None = None,
    target: str = "generic",
    config: ToolConfig,
) -> StepResult:
    """Elaborate and check a design without mapping it.

    Latches are warnings (code LATCH); combinational loops (COMB_LOOP), nets with several drivers
    (MULTIDRIVEN) or none (UNDRIVEN) and modules that are nowhere defined (UNRESOLVED_MODULE) are
    errors. Only `metrics.latches` is measured. With a `target` its primitives, such as SB_PLL40_CORE,
    may be instantiated.

    Raises:
        UsageError: no Verilog file, or a name that cannot be one.
        SandboxError, ToolMissingError: Yosys could not be started.
    """
    start = time.monotonic()
    cell_counts.require_target(target)
    design = make_design(files, top, parameters)
    with scratch_folder() as work:
        try:
            done = elaborate_design(design, work=work, config=config, target=target)
        except (SandboxError, ToolMissingError):
            raise
        except ToolError as error:
            return _broken("elaborate", error, start)
    return _result("elaborate", done, Metrics(latches=done.latches), start)


def synthesize(
    files: Sequence[SourceFile],
    *,
    top: str,
    target: str = "generic",
    keep_dir: Path | None = None,
    parameters: Mapping[str, int] | None = None,
    flatten: bool = True,
    device: str | None = None,
    config: ToolConfig,
) -> StepResult:
    """Map a design to a target's cells and count them (see `cell_counts` for what counts as what).

    Elaboration's checks come first, in the same process; a design that they refuse is not mapped.
    `generic` maps logic to 6-input LUTs and leaves writable memories of 64 words or more whole.
    On ice40, DSP blocks and single-port RAM exist only on the UltraPlus: they are used with
    `device="up5k"`. `keep_dir` receives `netlist.json` and `synthesize.log`.

    Raises:
        UsageError: an unknown target, no Verilog file, or a name that cannot be one.
        SandboxError, ToolMissingError: Yosys could not be started.
    """
    start = time.monotonic()
    cell_counts.require_target(target)
    design = make_design(files, top, parameters)
    stages = mapping_stages(top, target, flatten=flatten, device=device)
    with scratch_folder() as work:
        try:
            done = elaborate_design(design, work=work, config=config, then=stages, target=target)
            cells = read_stat(work / "stat.json") if done.status is Status.PASS else None
        except (SandboxError, ToolMissingError):
            raise
        except ToolError as error:
            return _broken("synthesize", error, start)
        if keep_dir is not None:
            _keep(work, done, keep_dir)
    counts = cell_counts.count(cells, target) if cells is not None else None
    metrics = Metrics(latches=done.latches)
    if counts is not None:
        metrics = Metrics(counts.luts, counts.ffs, counts.brams, counts.dsps, done.latches)
    detail = _table(target, counts, cells, done.latches) if counts is not None and cells is not None else ""
    log_path = "synthesize.log" if keep_dir is not None else None
    return _result("synthesize", done, metrics, start, detail=detail, log_path=log_path)


def mapping_stages(top: str, target: str, *, flatten: bool = True, device: str | None = None) -> list[Stage]:
    """Return the commands that map an elaborated design, count its cells and write `netlist.json`."""
    keep = "" if flatten else " -noflatten"
    if target == "generic":
        mapping = _generic(top, flatten)
    elif target == "ice40":
        special = " -device u -dsp -spram" if device == "up5k" else ""
        # Latches have been reported as warnings already; they are then built of LUTs.
        mapping = [Stage("map", f"synth_ice40 -top {top} -latches warn{special}{keep}")]
    elif target == "ecp5":
        mapping = [Stage("map", f"synth_ecp5 -top {top} -latches warn{keep}")]
    else:
        hierarchy = " -flatten" if flatten else ""
        mapping = [Stage("map", f"synth_xilinx -family xc7 -top {top} -noiopad{hierarchy}")]
    return [
        *mapping,
        Stage("stat_mapped", "tee -q -o stat.json stat -json"),
        Stage("write", f"write_json {NETLIST}"),
    ]


def _generic(top: str, flatten: bool) -> list[Stage]:
    """Follow `synth -lut 6`, but keep large memories: as flip-flops they take minutes and mean nothing."""
    return [
        Stage("map", f"synth -top {top} -lut 6 -run begin:fine" + (" -flatten" if flatten else "")),
        Stage("blocks", "select -set blocks t:$mem_v2 r:SIZE>=64 %i r:WR_PORTS>=1 %i"),
        Stage("memory_map", "memory_map t:$mem_v2 @blocks %d"),
        Stage("optimise", "opt -full"),
        Stage("gates", "techmap"),
        Stage("luts", "abc -lut 6"),
        Stage("clean", "opt_clean -purge"),
    ]


def _keep(work: Path, done: Elaborated, keep_dir: Path) -> None:
    keep_dir.mkdir(parents=True, exist_ok=True)
    (keep_dir / "synthesize.log").write_text(done.run.log)
    # A netlist of an earlier candidate must not pass for this one's.
    (keep_dir / NETLIST).unlink(missing_ok=True)
    if done.status is Status.PASS:
        shutil.copyfile(work / NETLIST, keep_dir / NETLIST)


def _table(target: str, counts: CellCounts, cells: Mapping[str, int], latches: int | None) -> str:
    rows = [("LUTs", counts.luts), ("FFs", counts.ffs), ("BRAMs", counts.brams), ("DSPs", counts.dsps)]
    if latches is not None:
        rows.append(("latches", latches))
    shown = {kind: number for kind, number in cells.items() if kind != "$scopeinfo"}
    lines = [f"target {target}", *(f"{name:<8} {number:>7}" for name, number in rows), "", "cells"]
    return "\n".join([*lines, *(f"{kind:<20} {number:>7}" for kind, number in sorted(shown.items()))])


def _result(
    step: str, done: Elaborated, metrics: Metrics, start: float, *, detail: str = "", log_path: str | None = None
) -> StepResult:
    return StepResult(
        step=step,
        status=done.status,
        diagnostics=done.diagnostics,
        metrics=metrics,
        argv=done.run.argv,
        returncode=done.run.process.returncode,
        log_path=log_path,
        wall_s=time.monotonic() - start,
        tool_version=yosys.tool_version(),
        detail=detail,
    )


def _broken(step: str, error: ToolError, start: float) -> StepResult:
    diagnostic = Diagnostic(yosys.TOOL, Severity.ERROR, "YOSYS_BROKE", error.message, hint=error.hint)
    return StepResult(
        step=step,
        status=Status.ERROR,
        diagnostics=(diagnostic,),
        wall_s=time.monotonic() - start,
        tool_version=yosys.tool_version(),
    )
