"""Icarus Verilog: how it builds and runs a job, and what its messages mean."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from functools import cache

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolMissingError
from rtlagent.tools.diagnostics import parse_iverilog
from rtlagent.tools.simulation_job import WAVE_FILE, Job, Plan, Wave, cocotb_package
from rtlagent.types import Diagnostic, TestKind

NAME = "icarus"
_PROGRAM = "rtlagent_sim.vvp"
_WAVE_PROGRAM = "rtlagent_sim_wave.vvp"
_TIMESCALE = "rtlagent_timescale.f"
_DUMP = "rtlagent_dump"
_UNSUPPORTED = re.compile(
    r"syntax error|sorry|not (?:yet )?supported|[Mm]alformed|[Ii]nvalid module item|[Uu]nknown system"
    r"|not defined by any module"
)
# System tasks that are not there come out only when vvp loads the program.
_NOT_RUNNABLE = re.compile(r"^\S+: Program not runnable, \d+ errors?\.$", re.M)
_LOAD_ERROR = re.compile(r"^(\S+:\d+): Error: (.*)$", re.M)


@cache
def version() -> str:
    """Return the version, such as `11.0`.

    Raises:
        ToolMissingError: it is not installed.
    """
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        raise ToolMissingError("iverilog is not installed", hint="apt-get install iverilog")
    done = subprocess.run(["iverilog", "-V"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\S+)", done.stdout)
    return found.group(1) if found else "unknown"


def plan(job: Job, *, config: ToolConfig, wave: Wave | None = None) -> Plan:
    """Plan a run, and a build unless the folder has it; with `wave` it leaves a VCD in WAVE_FILE."""
    program = _PROGRAM if wave is None else _WAVE_PROGRAM
    compile_argv = ["iverilog", "-g2012", "-f", _TIMESCALE, "-o", program, "-s", job.top]
    compile_argv += [f"-I{d}" for d in job.include_dirs]
    compile_argv += [f"-D{d}" for d in job.defines]
    compile_argv += [f"-P{job.top}.{p}" for p in job.parameters]
    compile_argv += job.sources
    main_argv = tuple(compile_argv)
    build = ""
    if not (job.folder / program).is_file():
        (job.folder / _TIMESCALE).write_text("+timescale+1ns/1ps\n")
        if wave is not None:
            (job.folder / f"{_DUMP}.v").write_text(_dump_module(job.top, wave))
            compile_argv += ["-s", _DUMP, f"{_DUMP}.v"]
        build = shlex.join(compile_argv)
    # -n: $stop ends the simulation instead of asking what to do.
    run_argv = ["vvp", "-n"]
    if job.kind is TestKind.COCOTB:
        run_argv += ["-m", str(cocotb_package() / "libs" / "libcocotbvpi_icarus.so")]
    # -none: a testbench's own $dumpvars costs time and space that nobody asked for.
    run_argv += [program, "-none" if wave is None else "-vcd", f"+seed={job.seed}"]
    return Plan(build, shlex.join(run_argv), main_argv)


def diagnostics(job: Job, log: str) -> tuple[Diagnostic, ...]:
    """Read the compiler's messages."""
    return tuple(job.staged.restore(d) for d in parse_iverilog(log))


def refused_at_start(output: str) -> str:
    """Return the errors for which vvp did not start the program, as the compiler would have put them; else ''."""
    if not _NOT_RUNNABLE.search(output):
        return ""
    return "\n".join(f"{place}: error: {said}" for place, said in _LOAD_ERROR.findall(output))


def unsupported(log: str) -> bool:
    """Say whether the compiler may have refused a construct that it does not know."""
    return _UNSUPPORTED.search(log) is not None


def _dump_module(top: str, wave: Wave) -> str:
    return (
        f'`timescale 1ns/1ps\nmodule {_DUMP};\n  initial begin\n    $dumpfile("{WAVE_FILE}");\n'
        f"    #({wave.from_ns}) $dumplimit({wave.max_mb << 20});\n    $dumpvars(0, {top});\n  end\nendmodule\n"
    )
