"""Run nextpnr (the YoWASP builds of PyPI) in the sandbox and read what it says."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError, ToolMissingError, UsageError, suggestion
from rtlagent.tools import sandbox
from rtlagent.tools.process import ProcessResult

TOOL = "nextpnr"
REPORT = "report.json"
_log = logging.getLogger("rtlagent")
# Each device with the package that it gets when none is named; the first of a family is its default.
_DEVICES: Mapping[str, Mapping[str, str]] = {
    "ice40": {
        "hx8k": "ct256", "hx4k": "tq144", "hx1k": "tq144", "lp384": "qn32", "lp1k": "cm121", "lp4k": "cm121",
        "lp8k": "cm225", "up3k": "sg48", "up5k": "sg48", "u1k": "sg48", "u2k": "sg48", "u4k": "sg48",
    },
    "ecp5": dict.fromkeys(
        ("25k", "45k", "85k", "12k", "um-25k", "um-45k", "um-85k", "um5g-25k", "um5g-45k", "um5g-85k"), "CABGA381"
    ),
}  # fmt: skip
_GROWING = {"ice40": ("hx8k",), "ecp5": ("25k", "45k", "85k")}
_COMPILING = "Preparing to run"
_WARM_S = 600
_ERROR = re.compile(r"^ERROR: (?P<message>.*)$", re.MULTILINE)
_USAGE_LINE = re.compile(r"^Info:\s+(?P<name>\w+):\s*(?P<used>\d+)/\s*(?P<available>\d+)\s+\d+%", re.MULTILINE)
_FIT = re.compile(
    r"no BELs remaining|[Uu]nable to (?:find|place)|placement|[Ff]ailed to (?:place|find|route)|too many|exceed|"
    r"[Rr]outing (?:design )?failed|legalis|out of"
)
_DESIGN = re.compile(
    r"unsupported|not supported|combinational loop|undriven|multiple drivers|must be|can only|invalid", re.I
)
_USER = re.compile(r"[Uu]nsupported package|[Uu]nknown package|package .* (?:not|does)|[Ii]nvalid (?:device|package)")


@dataclass(frozen=True)
class Part:
    """A device in a package."""

    device: str
    package: str

    def __str__(self) -> str:
        return f"{self.device}, {self.package}"


@dataclass(frozen=True)
class Used:
    """How many of a kind of site are taken."""

    used: int
    available: int


@dataclass(frozen=True)
class PnrRun:
    """What one run said."""

    part: Part
    argv: tuple[str, ...]
    process: ProcessResult
    report: Mapping[str, Any] | None
    """The JSON report as nextpnr wrote it; None: it wrote none."""
    utilisation: Mapping[str, Used]
    """By nextpnr's name of the site, from the report, or as far as the log tells."""

    @property
    def error(self) -> str:
        """The first error message of the log, or an empty string."""
        found = _ERROR.search(self.process.stderr)
        return found["message"] if found else ""

    @property
    def overfull(self) -> list[str]:
        """The kinds of site of which the design needs more than there are."""
        return [name for name, u in self.utilisation.items() if u.used > u.available]

    @property
    def verdict(self) -> str:
        """Say how it ended: `routed`, `limit`, `no_fit`, `design`, `usage` or `broken`."""
        if self.process.limit:
            return "limit"
        if self.report is not None and self.process.returncode == 0:
            return "routed"
        if _USER.search(self.error):
            return "usage"
        if self.overfull or _FIT.search(self.error):
            return "no_fit"
        return "design" if _DESIGN.search(self.error) else "broken"


def parts(target: str, device: str | None, package: str | None) -> list[Part]:
    """Return the parts to try in turn: the one named, or the family's from small to large.

    Raises:
        UsageError: nextpnr does not know the target or the device.
    """
    known = _DEVICES.get(target)
    if known is None:
        hint = f"nextpnr places and routes {' and '.join(_DEVICES)} only"
        raise UsageError(f"no place and route for target {target!r}", hint=hint)
    if package is not None and not re.fullmatch(r"[A-Za-z0-9]+(:\w+)?", package):
        raise UsageError(f"not a package's name: {package!r}")
    if device is None:
        return [Part(d, package or known[d]) for d in _GROWING[target]]
    name = device.lower()
    if name not in known:
        raise UsageError(f"unknown {target} device: {device!r}", hint=suggestion(name, known))
    return [Part(name, package or known[name])]


def tool_version(target: str) -> str:
    """Return the version of the build that runs, such as `nextpnr-ice40 0.11.1.0.post826`."""
    try:
        return f"nextpnr-{target} {metadata.version(f'yowasp-nextpnr-{target}')}"
    except metadata.PackageNotFoundError as error:
        raise ToolMissingError(
            f"nextpnr-{target} is not installed", hint=f"pip install yowasp-nextpnr-{target}"
        ) from error


def run(
    target: str,
    part: Part,
    *,
    work: Path,
    config: ToolConfig,
    freq_mhz: float | None,
    seed: int,
    netlist: str,
    top: str,
) -> PnrRun:
    """Place and route `netlist`, a file in `work`.

    A missed frequency does not make nextpnr fail here: the report has the figures to judge by.

    Raises:
        SandboxError, ToolMissingError, ToolError: the process could not be started.
    """
    arguments = [
        *(f"--{part.device}", "--package", part.package, "--json", netlist, "--top", top),
        *("--report", REPORT, "--seed", str(seed), "--timing-allow-fail"),
        *(("--freq", f"{freq_mhz:g}") if freq_mhz is not None else ()),
    ]
    (work / REPORT).unlink(missing_ok=True)
    for attempt in range(2):
        cache = warm_cache(target, config)
        process = sandbox.run(
            [*_interpreter(target), *arguments],
            work=work,
            config=config,
            env={"YOWASP_CACHE_DIR": str(cache)},
            readonly=(cache,),
        )
        if _COMPILING not in process.stderr or attempt:
            break
        # The cached code was not taken (another wasmtime, a damaged file): make it anew.
        shutil.rmtree(cache, ignore_errors=True)
    report = _read_report(work / REPORT)
    used = _utilisation(report, process.stderr)
    return PnrRun(part, (f"nextpnr-{target}", *arguments), process, report, used)


def _interpreter(target: str) -> tuple[str, ...]:
    start = f"import sys, yowasp_nextpnr_{target} as t; sys.exit(t.run_nextpnr_{target}(sys.argv[1:]))"
    return sys.executable, "-I", "-c", start


def warm_cache(target: str, config: ToolConfig) -> Path:
    """Return the folder with nextpnr's WebAssembly compiled to machine code; make it at the first call.

    That takes some seconds, needs no text of a user's or a model's, and must not count against a
    design's limits: so it is done by a `--version` run outside the sandbox, which then sees the
    folder read-only.

    Raises:
        ToolError: the program does not start, or the cache cannot be written.
    """
    versions = "-".join(metadata.version(n) for n in ("yowasp-runtime", "wasmtime"))
    version = tool_version(target).rpartition(" ")[2]
    home = config.cache_dir.absolute() / "yowasp"
    final = home / f"{target}-{version}-{versions}"
    if final.is_dir():
        return final
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _locked(home / f"{target}.lock"):
            if not final.is_dir():
                _log.warning("preparing nextpnr-%s once, up to a minute", target)
                for left in home.glob(f"building-{target}-*"):  # half done by a process that was killed
                    shutil.rmtree(left, ignore_errors=True)
                building = Path(tempfile.mkdtemp(prefix=f"building-{target}-", dir=home))
                try:
                    _compile(target, building)
                    building.chmod(0o755)
                    building.rename(final)
                finally:
                    shutil.rmtree(building, ignore_errors=True)
    except OSError as error:
        raise ToolError(f"cannot write to the cache: {error}", hint="set RTLAGENT_CACHE_DIR") from error
    return final


def _compile(target: str, folder: Path) -> None:
    env = {"PATH": os.defpath, "HOME": str(folder), "YOWASP_CACHE_DIR": str(folder)}
    try:
        done = subprocess.run(
            [*_interpreter(target), "--version"],
            env=env,
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=_WARM_S,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"nextpnr-{target} was not ready after {_WARM_S} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ToolError(f"nextpnr-{target} does not start: {last}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read_report(path: Path) -> Mapping[str, Any] | None:
    try:
        report = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def _utilisation(report: Mapping[str, Any] | None, log: str) -> dict[str, Used]:
    if report is not None and isinstance(report.get("utilization"), dict):
        table = report["utilization"]
        return {str(n): Used(int(u["used"]), int(u["available"])) for n, u in table.items()}
    return {m["name"]: Used(int(m["used"]), int(m["available"])) for m in _USAGE_LINE.finditer(log)}


def utilisation_table(used: Mapping[str, Used], names: Sequence[str] = ()) -> str:
    """Return the sites that the design takes, and those in `names`, as a table."""
    rows = [(n, u) for n, u in used.items() if u.used or n in names]
    return "\n".join(
        f"{name:<16} {u.used:>6} of {u.available:>6} {100 * u.used / max(u.available, 1):>5.0f} %" for name, u in rows
    )
