"""Icarus Verilog: how it builds and runs a job, and what its messages mean."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from functools import cache

from rtlagent.errors import ToolMissingError
from rtlagent.tools.simulation_job import Job, Plan, cocotb_package
from rtlagent.types import Diagnostic, Severity, TestKind

_PROGRAM = "sim.vvp"
_DUMP = "rtlagent_dump"
WAVE_FILE = "rtlagent_dump.vcd"
_MESSAGE = re.compile(
    r"(?P<path>[^\s:][^:\n]*):(?P<line>\d+): (?:(?P<severity>error|warning|sorry|note|Error): )?(?P<text>.*)"
)
_UNSUPPORTED = re.compile(
    r"syntax error|sorry|not (?:yet )?supported|I give up|[Mm]alformed|[Ii]nvalid module|Errors in", re.I
)


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


def plan(job: Job, *, build: bool = True, wave_mb: int | None = None) -> Plan:
    """Plan a run; with `wave_mb` it leaves a VCD of at most about that size in WAVE_FILE."""
    compile_argv = ["iverilog", "-g2012", "-f", "rtlagent_timescale.f", "-o", _PROGRAM, "-s", job.top]
    compile_argv += [f"-I{d}" for d in job.include_dirs]
    compile_argv += [f"-D{d}" for d in job.defines]
    compile_argv += [f"-P{job.top}.{p}" for p in job.parameters]
    shown = (*compile_argv, *job.sources)
    if build:
        (job.folder / "rtlagent_timescale.f").write_text("+timescale+1ns/1ps\n")
        extra = []
        if wave_mb is not None:
            (job.folder / f"{_DUMP}.v").write_text(_dump_module(job.top, wave_mb))
            extra = ["-s", _DUMP, f"{_DUMP}.v"]
        compile_argv += [*job.sources, *extra]
    run_argv = ["vvp", "-n"]
    if job.kind is TestKind.COCOTB:
        run_argv += ["-m", str(cocotb_package() / "libs" / "libcocotbvpi_icarus.so")]
    # -none: a testbench's own $dumpvars costs time and space that nobody asked for.
    run_argv += [_PROGRAM, "-vcd" if wave_mb is not None else "-none", f"+seed={job.seed}"]
    return Plan(build=shlex.join(compile_argv) if build else "", run=shlex.join(run_argv), main_argv=shown)


def diagnostics(job: Job, log: str) -> tuple[Diagnostic, ...]:
    """Read the compiler's messages."""
    found = []
    for line in log.splitlines():
        match = _MESSAGE.match(line)
        if match is None or match["text"].startswith(" "):
            continue
        severity = Severity.WARNING if match["severity"] == "warning" else Severity.ERROR
        text = match["text"] if match["severity"] != "sorry" else f"sorry: {match['text']}"
        found.append(job.staged.restore(Diagnostic("iverilog", severity, "", text, match["path"], int(match["line"]))))
    return tuple(found)


def unsupported(log: str) -> bool:
    """Say whether the compiler may have refused a construct that it does not know."""
    return _UNSUPPORTED.search(log) is not None


def _dump_module(top: str, wave_mb: int) -> str:
    return (
        f'module {_DUMP};\n  initial begin\n    $dumpfile("{WAVE_FILE}");\n    $dumplimit({wave_mb << 20});\n'
        f"    $dumpvars(0, {top});\n  end\nendmodule\n"
    )
