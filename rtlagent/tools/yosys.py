"""Run Yosys scripts in the sandbox, one process a job, and read its error messages."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path, PurePosixPath

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import sandbox
from rtlagent.tools.process import ProcessResult
from rtlagent.tools.staging import Staged
from rtlagent.types import Diagnostic, Severity, SourceFile, Status

TOOL = "yosys"
_WORKER = Path(__file__).with_name("yosys_worker.py")
_LEGALITY_WORKER = Path(__file__).with_name("legality_worker.py")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
_SOURCE_SUFFIXES = (".v", ".sv", ".verilog")
_INCLUDE_SUFFIXES = (".vh", ".svh", ".h", ".inc")
_PACKAGE = re.compile(r"^\s*package\s+(?:automatic\s+|static\s+)?(\w+)", re.MULTILINE)
_PLACED_ERROR = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+)(?:\.(?P<column>\d+)\S*)?: ERROR: ?(?P<message>.*)$", re.M)
_ERROR = re.compile(r"^ERROR: ?(?P<message>.*)$", re.MULTILINE)
_SYSTEM_TASK = re.compile(r"System task `\$|task name `\\?\$")
# Yosys's own failures, as against its judgement of the design.
_BROKEN = re.compile(r"ABC: |Assert `|Abort in |internal error|Can't open ABC|\.cc:\d+")


@dataclass(frozen=True)
class Stage:
    """One Yosys command and the name of its log."""

    name: str
    command: str


@dataclass(frozen=True)
class YosysRun:
    """What a script said."""

    stages: tuple[Stage, ...]
    logs: Mapping[str, str]
    """Stage name -> its log; a stage that was not reached has none."""
    failed: str | None
    """The stage at which Yosys stopped; None: all were run."""
    process: ProcessResult

    @property
    def log(self) -> str:
        """All logs in order, each under its command."""
        parts = [f"-- {s.command}\n{self.logs[s.name]}" for s in self.stages if s.name in self.logs]
        return "\n".join([*parts, self.process.stderr]).rstrip() + "\n"

    @property
    def error(self) -> str:
        """The error message that ended the run, or an empty string."""
        return _error_line(self.logs.get(self.failed or "", "")) or _error_line(self.process.stderr)

    @property
    def argv(self) -> tuple[str, ...]:
        """An equivalent command line for a stand-alone Yosys."""
        return ("yosys", "-p", "; ".join(s.command for s in self.stages))


def _error_line(text: str) -> str:
    found = _PLACED_ERROR.search(text) or _ERROR.search(text)
    return found.group(0) if found else ""


@cache
def tool_version() -> str:
    """Return the version of the Yosys that runs, such as `Yosys 0.70`."""
    return f"Yosys {metadata.version('pyosys')}"


def require_identifier(name: str, what: str) -> str:
    """Return `name` if it can stand in a Yosys command.

    Raises:
        UsageError: it is not a plain Verilog identifier.
    """
    if not _IDENTIFIER.fullmatch(name):
        raise UsageError(f"not a Verilog identifier that Yosys takes as {what}: {name!r}")
    return name


def read_command(files: Sequence[SourceFile], staged: Staged, *, systemverilog: bool = True) -> str:
    """Return the command that reads the Verilog among `files`: packages first, headers by include only.

    Raises:
        UsageError: there is no Verilog among them.
    """
    sources = [(p, f.text) for p, f in zip(staged.paths, files, strict=True) if p.endswith(_SOURCE_SUFFIXES)]
    if not sources:
        raise UsageError("no Verilog file given", hint="Verilog files end in .v or .sv")
    folders = sorted({str(PurePosixPath(p).parent) for p in staged.paths if p.endswith(_INCLUDE_SUFFIXES)} | {"."})
    dialect = "-sv " if systemverilog else ""
    return f"read_verilog {dialect}{' '.join(f'-I{f}' for f in folders)} {' '.join(_packages_first(sources))}"


def _packages_first(sources: Sequence[tuple[str, str]]) -> list[str]:
    """Order files so that a package comes before the packages and modules that name it."""
    owner = {name: path for path, text in sources for name in _PACKAGE.findall(text)}
    ordered: list[str] = []

    def place(path: str, text: str, open_paths: frozenset[str]) -> None:
        for name, home in owner.items():
            if home != path and home not in open_paths and re.search(rf"\b{name}\s*::", text):
                place(home, dict(sources)[home], open_paths | {path})
        if path not in ordered:
            ordered.append(path)

    for path, text in sources:
        place(path, text, frozenset({path}))
    return ordered


def run_script(stages: Sequence[Stage], *, work: Path, config: ToolConfig, limits: Limits | None = None) -> YosysRun:
    """Run the commands in one process, with `work` as the current folder.

    Raises:
        SandboxError, ToolMissingError: the process could not be started.
    """
    logs = work / ".yosys"
    # What an earlier run left here must not pass for this one's.
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    (logs / "plan.json").write_text(json.dumps([[s.name, s.command] for s in stages]))
    process = sandbox.run(
        [sys.executable, "-I", str(_WORKER), ".yosys/plan.json"], work=work, config=config, limits=limits
    )
    found = {s.name: _read(logs / f"{s.name}.log") for s in stages if (logs / f"{s.name}.log").is_file()}
    at = _read(logs / "stage") if (logs / "stage").is_file() else (stages[0].name if stages else "")
    return YosysRun(tuple(stages), found, at or None, process)


def _read(path: Path) -> str:
    return path.read_text(errors="replace")


def failure(run: YosysRun, staged: Staged, *, work: Path, config: ToolConfig) -> tuple[Status, Diagnostic] | None:
    """Say why a run stopped early: the status it earns and the message, or None if it did not stop.

    A reader's syntax error in text that slang accepts is Yosys's limitation and is said to be.
    """
    if run.failed is None and run.process.returncode == 0:
        return None
    if run.process.limit:
        text = f"Yosys was stopped at its {run.process.limit} limit in stage {run.failed or 'start'}"
        return Status.TIMEOUT, Diagnostic(TOOL, Severity.ERROR, "LIMIT", text)
    message = run.error
    if not message or _BROKEN.search(message):
        text = message.removeprefix("ERROR: ") or f"Yosys ended with code {run.process.returncode} and no message"
        return Status.ERROR, Diagnostic(TOOL, Severity.ERROR, "YOSYS_BROKE", text)
    diagnostic = staged.restore(parse_error(message))
    if run.failed == "read" and _is_legal(staged, work=work, config=config):
        hint = "this is legal SystemVerilog that Yosys's reader does not take; write it in plainer Verilog"
        if _SYSTEM_TASK.search(message):
            hint = "a system task has no hardware; put it between `ifndef SYNTHESIS and `endif"
        diagnostic = replace(diagnostic, code="YOSYS_UNSUPPORTED", hint=hint)
    return Status.FAIL, diagnostic


def parse_error(line: str) -> Diagnostic:
    """Turn Yosys's error line into a diagnostic whose path is still the staged one."""
    placed = _PLACED_ERROR.match(line)
    message = readable(placed["message"] if placed else line.removeprefix("ERROR: "))
    place = re.search(r"\$proc\$(.+?):(\d+)\$\d+", line)
    path, number = (placed["path"], int(placed["line"])) if placed else ("", 0)
    if not placed and place:
        path, number = place[1], int(place[2])
    column = int(placed["column"] or 0) if placed else 0
    return Diagnostic(TOOL, Severity.ERROR, _error_code(message), message, path, number, column)


_ERROR_CODES = (
    ("syntax error", "SYNTAX"),
    ("is not part of the design", "UNRESOLVED_MODULE"),
    ("not found!", "TOP_MISSING"),
    ("Latch inferred", "LATCH"),
    ("does not have a port", "PORT_MISSING"),
    ("does not have a parameter", "PARAMETER_MISSING"),
    ("Can't open", "FILE_MISSING"),
    ("Re-definition of module", "DUPLICATE_MODULE"),
    ("recursion", "RECURSION"),
)


def _error_code(message: str) -> str:
    return next((code for words, code in _ERROR_CODES if words in message), "YOSYS_ERROR")


def readable(message: str) -> str:
    """Write Yosys's names as a user knows them: without backslashes and internal numbers."""
    message = re.sub(r"process `[^']*?\$proc\$(.+?):(\d+)\$\d+'", r"process at line \2", message)
    message = re.sub(r"\$(?:auto|flatten)\$?[\w.]*:\d+:[\w$]+", "an internal cell", message)
    message = re.sub(r"\$paramod(?:\$[0-9a-f]+)?\\(\w+)[^\s'.]*", r"\1", message)
    return message.replace("`\\", "`").replace(".\\", ".").replace("\\", "").replace("`", "'")


def _is_legal(staged: Staged, *, work: Path, config: ToolConfig) -> bool:
    paths = [p for p in staged.paths if p.endswith(_SOURCE_SUFFIXES)]
    result = sandbox.run(
        [sys.executable, "-I", str(_LEGALITY_WORKER), *(f"./{p}" for p in paths)], work=work, config=config
    )
    try:
        return bool(json.loads(result.stdout)["legal"])
    except (ValueError, KeyError, TypeError):
        return False
