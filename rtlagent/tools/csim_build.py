"""Compile a C program natively, with a recorder around one of its functions, and run it.

Compiling and running both happen in the sandbox.
"""

from __future__ import annotations

import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import CSourceError, ToolError
from rtlagent.tools import sandbox
from rtlagent.tools.csim_compiler import Compiler, choose_compiler, compiled_files, require
from rtlagent.tools.staging import Staged, stage
from rtlagent.types import SourceFile

BUILDS = ("plain", "checked")
_COMPILE_S = 60
_KILLED = (137, -9)
_LOG_BYTES = {"plain": 1 << 16, "checked": 1 << 20}
_ERROR = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>.*)$", re.M
)
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<name>[^']+)'")
_MULTIPLE = re.compile(r"multiple definition of [`'](?P<name>[^']+)'")


@dataclass(frozen=True)
class Program:
    """A staged C program and its assembly text."""

    staged: Staged
    units: tuple[str, ...]
    """Staged paths of the files that are compiled, the one with the function first."""
    compiler: Compiler
    assembly: Mapping[str, tuple[str, ...]]
    """Of each build, the text of each unit."""


@dataclass(frozen=True)
class Execution:
    """One run of a build."""

    returncode: int
    log: str
    record: bytes
    wall_s: int = 0


def compile_program(
    files: Sequence[SourceFile],
    folder: Path,
    *,
    language: str,
    builds: Sequence[str],
    config: ToolConfig,
    include_dirs: Sequence[Path] = (),
) -> Program:
    """Compile `files` (the first one holds the function) to assembly text.

    Raises:
        CSourceError: a file does not compile.
        ToolMissingError: there is no gcc.
        ToolError: this machine is not an x86-64 one, or gcc broke.
    """
    if platform.machine() != "x86_64":
        raise ToolError("recording the calls of C code needs an x86-64 machine")
    staged = stage(files, folder)
    units = compiled_files(files, staged.paths)
    program = Program(staged, units, choose_compiler(files, units, language, staged.paths, include_dirs), {})
    compiler = program.compiler
    require(compiler.linker)
    lines = ["rm -f rtlagent_*.s rtlagent_*.rc"]
    for build in builds:
        for index, unit in enumerate(program.units):
            command = [*compiler.argv(unit, build), "-S", "-o", f"rtlagent_{build}_{index}.s", unit]
            lines.append(f"( {shlex.join(command)}; echo $? > rtlagent_{build}_{index}.rc ) &")
    lines.append("wait")
    limits = replace(config.limits, wall_s=min(config.limits.wall_s, _COMPILE_S))
    done = sandbox.run(
        ["/bin/sh", "-c", "\n".join(lines)],
        work=folder, config=config, limits=limits, readonly=compiler.readonly,
    )  # fmt: skip
    _raise_compile_error(program, done.stderr)
    if done.limit:
        raise CSourceError(
            f"compiling the C was stopped at the {done.limit} limit", where=staged.originals[staged.paths[0]]
        )
    texts: dict[str, tuple[str, ...]] = {}
    for build in builds:
        names = [f"rtlagent_{build}_{index}" for index in range(len(program.units))]
        if any(_text(folder / f"{name}.rc").strip() != "0" for name in names):
            raise ToolError(f"gcc failed without an error message: {done.stderr.strip()[-300:]}")
        texts[build] = tuple(_text(folder / f"{name}.s") for name in names)
    return replace(program, assembly=texts)


@dataclass(frozen=True)
class Run:
    """How a build is to be linked and run."""

    build: str
    assembly: tuple[str, ...]
    """Of each unit, edited."""
    arguments: tuple[str, ...] = ()
    wall_s: float = 20.0


def execute(
    program: Program,
    runs: Sequence[Run],
    *,
    layout: str,
    defines: Mapping[str, str],
    driven: bool,
    stimuli: bytes = b"",
    halt: bool = False,
    config: ToolConfig,
) -> dict[str, Execution]:
    """Link the recorder to each build and run them one after the other.

    Args:
        program: What was compiled.
        runs: The builds, with their edited assembly.
        layout: Text of rtlagent_layout.c.
        defines: Macros of the trampoline.
        driven: Whether drive.c, not the user's main, makes the calls.
        stimuli: The file `rtlagent_stimuli`.
        halt: Whether the first undefined behaviour ends a process of the checked build.
        config: Sandbox and limits.

    Returns:
        Of each build how it ran; the second is missing if the first was cut off.

    Raises:
        CSourceError: the program does not link.
    """
    folder = program.staged.folder
    (folder / "rtlagent_layout.c").write_text(layout)
    (folder / "rtlagent_stimuli").write_bytes(stimuli)
    for run in runs:
        for index, text in enumerate(run.assembly):
            (folder / f"rtlagent_{run.build}_{index}.s").write_text(text)
    script = _link_script(program, runs, defines, driven) + _run_script(runs, halt)
    limits = replace(config.limits, wall_s=_COMPILE_S + 2 * sum(r.wall_s for r in runs))
    done = sandbox.run(
        ["/bin/sh", "-c", "\n".join(script)],
        work=folder, config=config, limits=limits, readonly=(resource_dir("sim"),),
    )  # fmt: skip
    if any(_text(folder / f"rtlagent_{r.build}.linked").strip() != "0" for r in runs):
        raise _link_error(program, done.stderr, done.limit)
    found: dict[str, Execution] = {}
    for run in runs:
        name = f"rtlagent_{run.build}"
        code, _, seconds = _text(folder / f"{name}.rc").strip().partition(" ")
        if found and not code:
            continue  # not started, since the run before was cut off
        if not code and not done.limit and done.returncode in _KILLED:
            code = str(_KILLED[0])  # and the shell with it
        if not code.isdigit():
            raise ToolError(f"running the C was stopped at the {done.limit or 'sandbox'} limit")
        log, record = _text(folder / f"{name}.log"), _bytes(folder / f"{name}.rec")
        found[run.build] = Execution(int(code), log, record, int(seconds) if seconds.isdigit() else 0)
    return found


def _link_script(program: Program, runs: Sequence[Run], defines: Mapping[str, str], driven: bool) -> list[str]:
    source = resource_dir("sim") / "cosim"
    names = ["trampoline.S", "record.c", *(["drive.c"] if driven else [])]
    compile_argv = ["gcc", "-O1", "-w", "-c", "-fno-pie", f"-I{source}", *(f"-D{k}={v}" for k, v in defines.items())]
    compile_argv += [*(str(source / n) for n in names), "rtlagent_layout.c"]
    objects = [f"{PurePosixPath(n).stem}.o" for n in names] + ["rtlagent_layout.o"]
    lines = ["rm -f rtlagent_*.linked rtlagent_*.rc rtlagent_*.rec", f"{shlex.join(compile_argv)} || exit 3"]
    for run in runs:
        units = [f"rtlagent_{run.build}_{i}.s" for i in range(len(run.assembly))]
        command = [
            program.compiler.linker,
            "-no-pie",
            "-Wl,--wrap=fopen",
            "-o",
            f"rtlagent_{run.build}",
            *units,
            *objects,
        ]
        command += [*program.compiler.link_flags(run.build), "-lm"]
        lines.append(f"( {shlex.join(command)}; echo $? > rtlagent_{run.build}.linked ) &")
    return [*lines, "wait"]


def _run_script(runs: Sequence[Run], halt: bool) -> list[str]:
    # The sanitizers of some kernels' time fail at random addresses (vm.mmap_rnd_bits).
    fixed = "$(command -v setarch >/dev/null && echo setarch x86_64 -R)"
    options = f"detect_leaks=0:halt_on_error={int(halt)}:abort_on_error=0:exitcode=1:allocator_may_return_null=1"
    lines = [
        f"export ASAN_OPTIONS={options}:symbolize={int(not halt)} "
        f"UBSAN_OPTIONS=halt_on_error={int(halt)}:print_stacktrace=0"
    ]
    for run in runs:
        name = f"rtlagent_{run.build}"
        # Of the checked build only what the sanitizers say matters.
        streams = "2>&1 >/dev/null" if run.build == "checked" else "2>&1"
        command = f"timeout -k 1 {run.wall_s:g} {fixed} ./{name} {shlex.join(run.arguments)}"
        lines.append(
            f"{{ began=$(date +%s); RTLAGENT_RECORD={name}.rec {command}; "
            f'echo "$? $(($(date +%s) - began))" > {name}.rc; }} </dev/null {streams} '
            f"| {{ head -c {_LOG_BYTES[run.build]} > {name}.log; cat > /dev/null; }}"
        )
        lines.append(f'case "$(cat {name}.rc)" in "124 "*|"137 "*) exit 0;; esac')
    return lines


def _raise_compile_error(program: Program, stderr: str) -> None:
    found = _ERROR.search(stderr)
    if found is None:
        return
    path = program.staged.originals.get(found["path"].removeprefix("./"), found["path"].rpartition("/")[2])
    column = f":{found['column']}" if found["column"] else ""
    raise CSourceError(found["text"], where=f"{path}:{found['line']}{column}")


def _link_error(program: Program, stderr: str, limit: str | None) -> Exception:
    path = program.staged.originals[program.staged.paths[0]]
    undefined = _UNDEFINED.search(stderr)
    if undefined:
        hint = "give the file that defines it too; an `inline` function needs `static`"
        return CSourceError(f"{undefined['name']} is used but not defined", where=path, hint=hint)
    multiple = _MULTIPLE.search(stderr)
    if multiple:
        return CSourceError(f"{multiple['name']} is defined twice", where=path)
    return ToolError(f"the C program does not link: {limit or stderr.strip()[-300:]}")


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace")


def _bytes(path: Path) -> bytes:
    return b"" if path.is_symlink() or not path.is_file() else path.read_bytes()
