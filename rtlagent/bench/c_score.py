"""Score an answer to a C problem: Verilog, or C with pragmas for the HLS engine, against the problem's own C."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rtlagent.agent.from_c import DEFAULT_CLOCK_NS, compile_spec
from rtlagent.bench.problem import BENCHMARK_DEFECT, DESIGN, TOOL, Score
from rtlagent.bench.verilog_tokens import is_verilog
from rtlagent.config import ToolConfig
from rtlagent.errors import CSourceError, SandboxError, ToolError, ToolMissingError, UsageError
from rtlagent.tools import icarus, verilator
from rtlagent.tools.c_reference import SIMULATORS, CReference, check_against_c
from rtlagent.tools.scratch import scratch_folder
from rtlagent.types import SourceFile, Spec, Status

_C_SUFFIXES = (".c", ".cc", ".cpp", ".cxx")
_MAX_MESSAGE = 2000


def score_against_c(
    spec: Spec,
    files: Sequence[SourceFile],
    *,
    config: ToolConfig,
    simulator: str = "auto",
    keep_dir: Path | None = None,
) -> Score:
    """Compile the answer if it is C, and replay the calls that the problem's own `main()` makes.

    Verilog must have the interface that the HLS engine gives the problem's C.

    Args:
        spec: The problem; `c_source`, `top` and, as `context_files`, headers and testbench.
        files: The answer.
        config: Sandbox, cache and limits.
        simulator: `auto` (both), `icarus` or `verilator`.
        keep_dir: Where logs go; None: nowhere.

    Raises:
        SandboxError, ToolMissingError: nothing could be run.
    """
    assert spec.c_source is not None and spec.top is not None
    start = time.monotonic()
    own_c = next((f for f in files if f.path.lower().endswith(_C_SUFFIXES)), None)
    if own_c is None and not any(is_verilog(f) for f in files):
        return Score(Status.FAIL, DESIGN, False, message="the answer holds neither C nor Verilog")
    asked = spec if own_c is None else replace(spec, c_source=replace(own_c, path=spec.c_source.path))
    try:
        compiled = compile_spec(asked, config)
    except CSourceError as error:
        blame = BENCHMARK_DEFECT if own_c is None or own_c.text == spec.c_source.text else DESIGN
        return Score(Status.FAIL, blame, False, message=str(error)[:_MAX_MESSAGE], wall_s=time.monotonic() - start)
    design = [compiled.design] if own_c is not None else [f for f in files if is_verilog(f)]
    reference = CReference(
        spec.c_source,
        spec.top,
        compiled.interface,
        spec.context_files,
        spec.c_language,
        spec.clock_ns or DEFAULT_CLOCK_NS,
        simulators=SIMULATORS if simulator == "auto" else (simulator,),
    )
    with scratch_folder() as folder:
        try:
            step = check_against_c(design, reference, keep_dir=keep_dir or folder, config=config)
        except (SandboxError, ToolMissingError):
            raise
        except UsageError as error:
            return Score(Status.FAIL, BENCHMARK_DEFECT, message=str(error), wall_s=time.monotonic() - start)
        except ToolError as error:
            return Score(Status.ERROR, TOOL, message=str(error), wall_s=time.monotonic() - start)
    versions = tuple(
        f"{tool.NAME} {tool.version()}" for tool in (icarus, verilator) if tool.NAME in reference.simulators
    )
    said = "\n".join(str(d) for d in step.diagnostics) or step.detail
    return Score(
        status=Status.FAIL if step.status is Status.UNPROVEN else step.status,
        failure_class=_blame(step.step, step.status),
        syntax=bool(step.tests) or None,
        simulation=step.passed if step.tests else None,
        metrics=step.metrics,
        message="" if step.passed else said[:_MAX_MESSAGE],
        wall_s=time.monotonic() - start,
        tool_versions=versions,
    )


def _blame(step: str, status: Status) -> str:
    if status is Status.PASS:
        return ""
    if status is Status.ERROR:
        return TOOL
    return BENCHMARK_DEFECT if step == "csim" else DESIGN
