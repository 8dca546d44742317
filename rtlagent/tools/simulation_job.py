"""Lay out one simulation in a work folder, run it in the sandbox, and say what happened.

A job is a design with the tests that share one build: all cocotb tests together, or one
SystemVerilog testbench. Build and run are one shell script, so that they cost one sandbox.
"""

from __future__ import annotations

import re
import secrets
import shlex
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import ToolMissingError, UsageError
from rtlagent.tools import sandbox
from rtlagent.tools.staging import Staged, stage
from rtlagent.types import SourceFile, TestFile, TestKind

WAVE_FILE = "rtlagent_dump.vcd"
_VERILOG = frozenset((".v", ".sv"))
_HEADER = frozenset((".vh", ".svh", ".h", ".inc"))
_PYTHON = frozenset((".py", ".pyc", ".pyd", ".pth", ".so"))
_SIGNALLED = 128
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")


@dataclass(frozen=True)
class Job:
    """A staged design and what is to be built of it."""

    staged: Staged
    sources: tuple[str, ...]
    """Verilog files to compile, relative to the folder."""
    design_paths: frozenset[str]
    """The staged paths that belong to the design, not to a test."""
    include_dirs: tuple[str, ...]
    python_dirs: tuple[str, ...]
    """Folders of the cocotb modules, relative to the folder."""
    kind: TestKind
    top: str
    """Root module of the simulation: the design's, or a SystemVerilog testbench's."""
    defines: tuple[str, ...]
    parameters: tuple[str, ...]
    seed: int

    @property
    def folder(self) -> Path:
        """The work folder on the host."""
        return self.staged.folder


@dataclass(frozen=True)
class Wave:
    """What to record of a run."""

    max_mb: int = 64
    """The dump stops at about this size."""
    from_ns: int = 0
    """The dump starts at this simulation time."""


@dataclass(frozen=True)
class Plan:
    """How one simulator builds and runs a job: shell text, to be run in the work folder."""

    build: str
    """Empty when the folder holds the build already."""
    run: str
    main_argv: tuple[str, ...]
    readonly: tuple[Path, ...] = ()
    prepare: Callable[[], object] | None = None
    """Makes what the build needs and what takes long; None: all is there."""
    check: str = ""
    """A part of the build that has to succeed before `prepare` is worth its time."""


@dataclass(frozen=True)
class Outcome:
    """What one run of a plan left behind."""

    build_rc: int | None
    """None: the build was cut off."""
    build_log: str
    run_rc: int | None
    """None: the run was cut off or did not start."""
    output: str
    """Everything the simulation printed."""
    limit: str | None
    wall_s: float
    results_xml: str | None = None
    """Text of cocotb's report; None when there is none."""
    cocotb_ended: bool = False
    """Whether cocotb came to its own end; if not, its report may be anybody's."""

    @property
    def built(self) -> bool:
        """Whether there was a program to run."""
        return self.build_rc == 0


def prepare(
    folder: Path,
    files: Sequence[SourceFile],
    tests: Sequence[TestFile],
    *,
    top: str,
    seed: int,
    defines: Sequence[str] = (),
    parameters: Sequence[str] = (),
    data_files: Sequence[SourceFile] = (),
) -> Job:
    """Stage `files` and `tests` (of one kind, sharing one build) into `folder`.

    Raises:
        UsageError: a file has a name that cannot be used, or two files the same name.
    """
    for file in files:
        # Such a file would be imported by the tests' Python and could report what it likes.
        if PurePosixPath(file.path).suffix.lower() in _PYTHON:
            raise UsageError(f"{file.path} is not a Verilog file", hint="pass Python modules as support of a test")
    for name, values in (("define", defines), ("parameter", parameters)):
        for value in values:
            if not _IDENTIFIER.match(value.partition("=")[0]) or (name == "parameter" and "=" not in value):
                raise UsageError(f"not a {name}: {value!r}", hint="write NAME=VALUE")
    kind = tests[0].kind
    for test in tests if kind is TestKind.COCOTB else ():
        path = PurePosixPath(test.source.path)
        if path.suffix != ".py" or not re.fullmatch(r"[\w-]+", path.stem):
            raise UsageError(f"{test.source.path} cannot be a Python module")
    of_tests = [f for t in tests for f in (t.source, *t.support)]
    staged = stage(_distinct([*files, *of_tests, *data_files]), folder)
    suffix = {path: PurePosixPath(path).suffix.lower() for path in staged.paths}
    verilog = [p for p in staged.paths if suffix[p] in _VERILOG]
    headers = [p for p in staged.paths if suffix[p] in _HEADER]
    return Job(
        staged=staged,
        sources=tuple(verilog),
        design_paths=frozenset(staged.place(f.path) for f in files),
        include_dirs=_parents([*headers, *verilog]),
        python_dirs=_parents(staged.place(f.path) for f in of_tests if kind is TestKind.COCOTB),
        kind=kind,
        top=top,
        defines=tuple(defines),
        parameters=tuple(parameters),
        seed=seed,
    )


def execute(
    job: Job,
    plan: Plan,
    *,
    config: ToolConfig,
    env: Mapping[str, str] | None = None,
    module: str = "",
) -> Outcome:
    """Build (unless built) and run; for cocotb, `module` is the staged path of the test module.

    Raises:
        SandboxError: nothing was run.
        ToolMissingError: a program is not installed.
        ToolError: what the build needs cannot be made.
    """
    if plan.prepare is not None:
        checked = execute(job, replace(plan, build=plan.check, run="true", readonly=(), prepare=None), config=config)
        if not checked.built:
            return checked
        plan.prepare()
    # The names cannot be guessed by the design, which could otherwise write its own results.
    mark = f"rtlagent-{secrets.token_hex(8)}"
    results = job.folder / f"{mark}.xml"
    end = job.folder / f"rtlagent-{secrets.token_hex(8)}.end"
    setup = cocotb_environment(job, module, results.name, end.name) if module else ""
    script = "\n".join(
        (
            "set -u",
            *([f"{{ {plan.build}\n}} >&2 2>&1; rc=$?"] if plan.build else ["rc=0"]),
            f'echo; echo "{mark} build $rc" >&2',
            "[ $rc -eq 0 ] || exit 0",
            setup,
            f"{{ {plan.run}\n}} 2>&1; rc=$?",
            f'echo "{mark} run $rc" >&2',
        )
    )
    readonly = (*plan.readonly, *((resource_dir("sim"),) if module else ()))
    done = sandbox.run(["/bin/sh", "-c", script], work=job.folder, config=config, env=env, readonly=readonly)
    build_log, _, rest = done.stderr.partition(f"{mark} build ")
    text = _read(results)
    build_rc, run_rc = _leading_int(rest), _leading_int(rest.partition(f"{mark} run ")[2])
    # The shell outlives a program that the kernel stopped, and ends well.
    stopped = _SIGNALLED + signal.SIGXCPU in (build_rc, run_rc)
    return Outcome(
        build_rc=build_rc,
        build_log=_tidy(build_log, job, mark),
        run_rc=run_rc,
        output=_tidy(done.stdout, job, mark),
        limit=done.limit or ("cpu" if stopped else None),
        wall_s=done.wall_s,
        results_xml=None if text is None else _tidy(text, job, mark),
        cocotb_ended=end.is_file(),
    )


def cocotb_environment(job: Job, module: str, results: str, end: str) -> str:
    """Return shell text that exports what cocotb 2.1 reads, as its own runner would set it.

    `results` is the name of the report, `end` that of the file that sim/rtlagent_cocotb_end.py leaves.
    """
    package = cocotb_package()
    extension = next(iter(sorted(package.glob("simulator.*.so"))), None)
    if extension is None:
        raise ToolMissingError("cocotb has no compiled simulator module", hint="pip install --force-reinstall cocotb")
    # The test's own folder first: another test may have a module of the same name.
    order = dict.fromkeys([str(PurePosixPath(module).parent), *job.python_dirs])
    folders = [f'"$PWD"/{shlex.quote(d)}' if d != "." else '"$PWD"' for d in order]
    values = {
        "GPI_USERS": f"{_libpython()};{extension},initialize",
        "PYGPI_PYTHON_BIN": sys.executable,
        "PYGPI_USERS": "rtlagent_cocotb_end:watch",
        "RTLAGENT_COCOTB_END": end,
        "COCOTB_TEST_MODULES": PurePosixPath(module).stem,
        "COCOTB_TOPLEVEL": job.top,
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_RANDOM_SEED": str(job.seed),
        "COCOTB_RESULTS_FILE": results,
        "COCOTB_ANSI_OUTPUT": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        # pytest's rewriting of asserts loads every installed pytest plugin: 3 s instead of 0.1 s.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
    lines.append("export PYTHONPATH=" + ":".join([*folders, shlex.quote(str(resource_dir("sim")))]))
    return "\n".join(lines)


@cache
def cocotb_package() -> Path:
    """Return cocotb's folder without importing it (0.2 s).

    Raises:
        ToolMissingError: it is not installed.
    """
    spec = find_spec("cocotb")
    if spec is None or not spec.submodule_search_locations:
        raise ToolMissingError("cocotb is not installed", hint="pip install cocotb")
    return Path(spec.submodule_search_locations[0])


@cache
def _libpython() -> Path:
    for name in ("INSTSONAME", "LDLIBRARY"):
        path = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib") / str(sysconfig.get_config_var(name))
        if ".so" in path.name and path.is_file():
            return path
    from find_libpython import find_libpython

    found = find_libpython()
    if found is None:
        raise ToolMissingError(
            "this Python has no shared library, which cocotb needs", hint="use a Python built with --enable-shared"
        )
    return Path(found)


def _distinct(files: Iterable[SourceFile]) -> list[SourceFile]:
    return list(dict.fromkeys(files))


def _parents(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(str(PurePosixPath(p).parent) for p in paths), "."]))


def _tidy(text: str, job: Job, mark: str) -> str:
    """Take out what differs between two equal runs."""
    return text.replace(f"{job.folder}/", "").replace("/work/", "").replace(mark, "results").strip("\n")


def _leading_int(text: str) -> int | None:
    found = re.match(r"\d+", text)
    return int(found.group()) if found else None


def _read(path: Path) -> str | None:
    # A hostile run may have put a device or a link there.
    if path.is_symlink() or not path.is_file():
        return None
    return path.read_bytes()[: 16 << 20].decode(errors="replace")
