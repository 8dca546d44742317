"""Verilator: how it builds and runs a job, and what its messages mean."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.tools.diagnostics import parse_verilator
from rtlagent.tools.initial_blocks import schedule_assignments
from rtlagent.tools.simulation_job import WAVE_FILE, Job, Plan, Wave, cocotb_package
from rtlagent.tools.verilator_runtime import (
    MODEL_OPTIMIZATION,
    Runtime,
    compile_flags,
    find_runtime,
    linker_flags,
    runtime,
    source_version,
    verilator_root,
    verilator_version,
)
from rtlagent.types import Diagnostic, TestKind

NAME = "verilator"
_OBJECTS = "rtlagent_obj"
_PROGRAM = "rtlagent_sim"
_WAVE_PROGRAM = "rtlagent_sim_wave"
_SCHEDULES_INITIAL = (5, 50)


def version() -> str:
    """Return the version, such as `5.48.0`."""
    return verilator_version()


def plan(job: Job, *, config: ToolConfig, wave: Wave | None = None) -> Plan:
    """Plan a run, and a build unless the folder has it; with `wave` it leaves a VCD in WAVE_FILE."""
    verilate = _verilate_argv(job, wave=wave is not None)
    program = _PROGRAM if wave is None else _WAVE_PROGRAM
    run_argv = [f"./{program}", "+verilator+rand+reset+2", f"+verilator+seed+{job.seed}", f"+seed={job.seed}"]
    # As cocotb's own runner sets it for Verilator.
    run = "export COCOTB_TRUST_INERTIAL_WRITES=1; " if job.kind is TestKind.COCOTB else ""
    if wave is not None:
        run_argv += ["--trace", "--trace-file", WAVE_FILE]
        run += f"export RTLAGENT_WAVE_FROM_NS={wave.from_ns} RTLAGENT_WAVE_BYTES={wave.max_mb << 20}; "
    cached = find_runtime(config, cocotb_main_source())
    build = "" if (job.folder / program).is_file() else _build_script(job, cached, verilate, program, wave is not None)
    return Plan(
        build,
        run + shlex.join(run_argv),
        (*verilate, *job.sources),
        (cached.folder, _sim_folder()),
        prepare=None if cached.complete else partial(runtime, config, cocotb_main_source()),
        check="( " + "\n".join(_verilate_lines(job, verilate)) + " )",
    )


def _version_tuple() -> tuple[int, ...]:
    return tuple(int(part) for part in source_version().split(".") if part.isdecimal())


def _sim_folder() -> Path:
    return resource_dir("sim") / "verilator"


def cocotb_main_source() -> Path:
    """Return cocotb's own main program for Verilator."""
    return cocotb_package() / "share" / "lib" / "verilator" / "verilator.cpp"


def _build_script(job: Job, cached: Runtime, verilate: list[str], program: str, trace: bool) -> str:
    if job.kind is TestKind.COCOTB:
        libs = cocotb_package() / "libs"
        link = [str(cached.main_object("cocotb_main")), f"-L{libs}", f"-Wl,-rpath,{libs}", "-lcocotbvpi_verilator"]
    else:
        link = [str(cached.main_object("testbench_main"))]
    compile_argv = ["g++", *compile_flags(), MODEL_OPTIMIZATION, "-include", str(cached.header), f"-I{_OBJECTS}"]
    compile_argv += ["-DVM_TRACE=1", "-DVM_TRACE_VCD=1", "-DRTLAGENT_TRACE"] if trace else []
    compile_argv += ["-o", program, f"{_OBJECTS}/all.cc", *link, str(cached.archive), *linker_flags()]
    if job.kind is TestKind.SYSTEMVERILOG and _version_tuple() < _SCHEDULES_INITIAL:
        for path in set(job.sources) - job.design_paths:
            file = job.folder / path
            file.write_text(schedule_assignments(file.read_text()))
    include_model = '#include "' + str(_sim_folder() / "model.cpp") + '"'
    lines = (
        *_verilate_lines(job, verilate),
        # One translation unit: the headers are read once.
        rf'for f in {_OBJECTS}/*.cpp; do echo "#include \"${{f##*/}}\""; done > {_OBJECTS}/all.cc',
        f"echo {shlex.quote(include_model)} >> {_OBJECTS}/all.cc",
        f"{shlex.join(compile_argv)} || exit 2",
    )
    return "( " + "\n".join(lines) + " )"


def _verilate_lines(job: Job, verilate: list[str]) -> tuple[str, ...]:
    """Return shell text that turns the design into C++, which needs nothing of the runtime."""
    verilator_bin = str(verilator_root() / "bin" / "verilator_bin")
    return (
        f"rm -rf {_OBJECTS}",
        f"export VERILATOR_ROOT={shlex.quote(str(verilator_root()))}",
        f"{shlex.join([verilator_bin, *verilate[1:], *job.sources])} || exit 1",
    )


def _verilate_argv(job: Job, *, wave: bool) -> list[str]:
    argv = ["verilator", "--cc", "--timing", "--assert", "-Mdir", _OBJECTS, "--prefix", "Vrtl", "--top-module", job.top]
    argv += ["--timescale", "1ns/1ps", "--x-assign", "unique", "--x-initial", "unique", "--output-split", "0"]
    # Verilator 5.048 drops assignments in nested loops (V3Life, its issue 7921): a testbench that counts mismatches
    # in one then finds none and prints PASS.
    argv += ["-fno-life"]
    # Lint is a gate of its own; here its warnings would only hide the errors.
    argv += ["-Wno-fatal", "-Wno-lint", "-Wno-style", "--quiet"]
    argv += ["--vpi", "--public-flat-rw"] if job.kind is TestKind.COCOTB else []
    argv += ["--trace-vcd"] if wave else []
    argv += [f"-I{d}" for d in job.include_dirs]
    argv += [f"-D{d}" for d in job.defines]
    return argv + [f"-G{p}" for p in job.parameters]


def diagnostics(job: Job, log: str) -> tuple[Diagnostic, ...]:
    """Read the compiler's messages."""
    found = (job.staged.restore(d) for d in parse_verilator(log))
    return tuple(d for d in found if not d.message.startswith("Cannot continue"))


def refused_at_start(output: str) -> str:
    """Return '': what was compiled can be started."""
    return ""


def unsupported(log: str) -> bool:
    """Say whether the compiler may have refused a construct that it does not know."""
    return "-UNSUPPORTED" in log or "syntax error" in log
