"""Run CVDP's harness without Docker: its services' commands in the sandbox, with the folders that they expect.

/code holds the repository with the answer, /src the harness, /rundir is where it runs. The commands are pytest's,
whose own report (written under a name that nobody else knows) is the verdict.
"""

from __future__ import annotations

import re
import secrets
import shlex
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from rtlagent.bench.answer_rules import Hidden, Refusal, admit, raw_objection
from rtlagent.bench.cvdp_record import Record
from rtlagent.bench.hidden_test import preprocessed
from rtlagent.bench.input_drivers import driven_input
from rtlagent.bench.problem import BENCHMARK_DEFECT, DESIGN, TOOL, Score
from rtlagent.bench.verilog_tokens import is_verilog
from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import ToolMissingError, UsageError
from rtlagent.tools import icarus, sandbox
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.simulation_job import cocotb_package
from rtlagent.tools.staging import safe_path
from rtlagent.tools.verilator_runtime import verilator_root
from rtlagent.types import SourceFile, Status

_LINKS = {"/code": "/work/code", "/src": "/work/src", "/rundir": "/work/code/rundir"}
_RUNDIR = "code/rundir"
_COMPOSE = ("docker-compose.yml", "docker-compose.yaml", "compose.yml")
_ALLOWED = (
    *(".v", ".sv", ".vh", ".svh", ".md", ".txt", ".hex", ".mem", ".dat", ".bin", ".json", ".f", ".sdc", ".xdc", ".vhd"),
    *(".csv", ".c", ".h"),
)
_MISSING = re.compile(r"(?:No such file or directory: '([\w.+-]+)'|\b([\w.+-]+): (?:command )?not found)")
_PROGRAMS = frozenset({"yosys", "verilator", "xrun", "vcs", "vsim", "nextpnr-ice40", "sby", "ghdl", "make", "g++"})
_COMMERCIAL = re.compile(r"VERIF_EDA|xcelium|xrun|vcs\b", re.I)
_TIME_LIMITS = ("wall", "cpu")
_MAX_MESSAGE = 2000


@dataclass(frozen=True)
class _Service:
    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: str
    """Where it starts, relative to the work folder."""


def run_harness(
    record: Record, answer: Sequence[SourceFile], *, config: ToolConfig, keep_dir: Path | None = None
) -> Score:
    """Lay the answer over the record's context, and run every service of the harness.

    Raises:
        ToolMissingError: pytest, cocotb or a simulator is not installed.
        SandboxError: nothing could be run.
        UsageError: there is no sandbox.
    """
    if config.sandbox == "none":
        raise UsageError("CVDP's tests need folders that only the sandbox can give", hint="leave out --sandbox none")
    if find_spec("pytest") is None:
        raise ToolMissingError("pytest is not installed", hint="pip install pytest")
    start = time.monotonic()
    placed = placed_answer(record, answer)
    refusal = _objection(record, placed, config)
    if refusal:
        return Score(Status.FAIL, DESIGN, None, False, message=refusal, wall_s=time.monotonic() - start)
    try:
        services = _services(record)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, KeyError) as error:
        return Score(Status.FAIL, BENCHMARK_DEFECT, message=f"the harness cannot be read: {error}")
    top = next((s.environment["TOPLEVEL"] for s in services if s.environment.get("TOPLEVEL")), None)
    rtl = [f for f in placed if is_verilog(f)]
    if top is not None and rtl and (driven := driven_input(rtl, top, config)):
        return Score(Status.FAIL, DESIGN, None, False, message=driven, wall_s=time.monotonic() - start)
    score = Score(Status.FAIL, BENCHMARK_DEFECT, message="the harness has no service")
    for service in services:
        score = _run_service(record, placed, service, config, keep_dir)
        if score.status is not Status.PASS:
            break
    versions = (f"icarus {icarus.version()}", f"cocotb {_cocotb_version()}")
    return replace(score, wall_s=time.monotonic() - start, tool_versions=versions)


def placed_answer(record: Record, answer: Sequence[SourceFile]) -> tuple[SourceFile, ...]:
    """Give the answer's files the places that the record names: by path, by name, or the only one that is left."""
    targets = {t: PurePosixPath(t).name for t in record.targets}
    known = {*targets, *(f.path for f in record.context)}
    placed = []
    for file in answer:
        path = safe_path(file.path.removeprefix("/code/").removeprefix("./"))
        if path not in known:
            same = [t for t, name in targets.items() if name == PurePosixPath(path).name]
            alone = [*targets] if len(targets) == 1 and len(answer) == 1 else []
            path = next(iter([*same, *alone]), path)
        placed.append(SourceFile(path, file.text))
    return tuple(placed)


def _objection(record: Record, answer: Sequence[SourceFile], config: ToolConfig) -> str:
    """Say why an answer must not come near the harness, or ''."""
    if not any(f.text.strip() for f in answer):
        return "the answer is empty"
    for file in answer:
        path = PurePosixPath(file.path)
        if path.suffix.lower() not in _ALLOWED or path.parts[0] in ("src", "rundir"):
            return f"{file.path}: the harness would run what the answer brings"
    rtl = [f for f in answer if is_verilog(f)]
    for file in rtl:
        objection = raw_objection(file)
        if objection:
            return objection
    # CVDP's tests drive the pins themselves; whoever has bidirectional ones was asked for them.
    hidden = Hidden.of((f for f in record.harness if is_verilog(f)), inout=True)
    expanded = preprocessed(rtl, config) if not any("`include" in f.text for f in rtl) else None
    if expanded is None or isinstance(expanded, Refusal):
        return ""  # the harness's own macros and includes may be needed; the raw text has been judged
    admitted = admit(expanded, hidden, "ended")
    return admitted.message if isinstance(admitted, Refusal) else ""


def _services(record: Record) -> list[_Service]:
    files = {f.path: f.text for f in record.harness}
    compose = next((files[n] for n in _COMPOSE if n in files), None)
    if compose is None:
        raise ValueError("it has no docker-compose.yml")
    data: Any = yaml.safe_load(compose)
    return [_service(str(name), body or {}, files) for name, body in data["services"].items()]


def _service(name: str, body: Mapping[str, Any], files: Mapping[str, str]) -> _Service:
    listed = body.get("env_file") or ()
    env_files = [listed] if isinstance(listed, str) else list(listed)
    environment: dict[str, str] = {}
    for file in env_files:
        environment |= _env(files.get(str(file).removeprefix("./"), ""))
    given = body.get("environment") or {}
    rows = given.items() if isinstance(given, Mapping) else (str(r).partition("=")[::2] for r in given)
    environment |= {str(k): "" if v is None else str(v) for k, v in rows}
    command = body.get("command") or body.get("entrypoint") or ""
    argv = tuple(shlex.split(command) if isinstance(command, str) else map(str, command))
    folder = str(body.get("working_dir") or "/code/rundir")
    folder = next(
        (t.removeprefix("/work/") + folder[len(p) :] for p, t in _LINKS.items() if folder.startswith(p)), _RUNDIR
    )
    return _Service(name, argv, environment, folder)


def _env(text: str) -> dict[str, str]:
    rows = (line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, _, value in rows}


def _pytest_arguments(argv: Sequence[str]) -> list[str] | None:
    """Return what pytest is given (also a script that Python would run); None: it is another program."""
    words = list(argv)
    if words[:2] in (["sh", "-c"], ["bash", "-c"]) and len(words) == 3:
        words = shlex.split(words[2])
    if words[:3] in (["python", "-m", "pytest"], ["python3", "-m", "pytest"]):
        return words[3:]
    if words[:1] == ["pytest"]:
        return words[1:]
    if words[:1] in (["python"], ["python3"]) and len(words) > 1 and words[1].endswith(".py"):
        return words[1:2]
    return None


def _run_service(
    record: Record, answer: Sequence[SourceFile], service: _Service, config: ToolConfig, keep_dir: Path | None
) -> Score:
    arguments = _pytest_arguments(service.argv)
    if arguments is None or any(c in {"&&", ";", "|", "||"} for c in service.argv):
        what = shlex.join(service.argv) or "nothing"
        if _COMMERCIAL.search(what):
            return Score(Status.ERROR, TOOL, message=f"{service.name} needs a commercial simulator: {what}")
        return Score(Status.ERROR, TOOL, message=f"{service.name} runs something else than pytest: {what}")
    report = f"rtlagent-{secrets.token_hex(8)}.xml"
    shim = resource_dir("sim") / "cocotb1"
    # The script waits for nothing and hides no exit code; the report is what counts.
    argv = [sys.executable, "-m", "pytest", *arguments, f"--junitxml=/work/{report}"]
    script = f"cd {shlex.quote(service.folder)} && exec {shlex.join(argv)}"
    env = dict(service.environment)
    env["PYTHONPATH"] = ":".join([str(shim), env.get("PYTHONPATH", "/src")])
    env["PATH"] = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:{verilator_root() / 'bin'}"
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", "COCOTB_ANSI_OUTPUT": "0"}
    # By default pytest would load cocotb's own modules, too, in place of the finder that amends them.
    env |= {"VERILATOR_ROOT": str(verilator_root()), "COCOTB_REWRITE_ASSERTION_FILES": "test_*.py"}
    with scratch_folder() as folder:
        _lay_out(folder, record, answer)
        done = sandbox.run(
            ["/bin/sh", "-c", script], work=folder, config=config, env=env,
            readonly=(shim, verilator_root(), cocotb_package()), links=_LINKS,
        )  # fmt: skip
        xml = folder / report
        text = xml.read_text(errors="replace") if xml.is_file() and not xml.is_symlink() else None
    output = f"{done.stdout}\n{done.stderr}".strip()
    if keep_dir is not None:
        keep_dir.mkdir(parents=True, exist_ok=True)
        (keep_dir / f"{service.name}.log").write_text(output + "\n")
    if done.limit is not None:
        status = Status.TIMEOUT if done.limit in _TIME_LIMITS else Status.FAIL
        return Score(status, DESIGN, None, False, message=f"{service.name} reached the {done.limit} limit")
    return _judge(text, output)


def _lay_out(folder: Path, record: Record, answer: Sequence[SourceFile]) -> None:
    files = {f"code/{safe_path(f.path)}": f.text for f in record.context}
    files |= {f"code/{f.path}": f.text for f in answer}
    for file in record.harness:
        path = safe_path(file.path)
        files[path if path.startswith("src/") else f"code/{path}"] = file.text
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", errors="replace")
    for name in (_RUNDIR, "code/rtl", "code/verif", "code/docs", "src"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    # Empty folders are not copied into the sandbox.
    (folder / _RUNDIR / ".keep").touch()


def _judge(xml: str | None, output: str) -> Score:
    """Go by pytest's report; a program that is not there is nobody's wrong design."""
    missing = sorted({m[1] or m[2] for m in _MISSING.finditer(output)} & _PROGRAMS)
    if xml is None:
        last = "\n".join(output.splitlines()[-5:])
        return Score(Status.ERROR, TOOL, message=f"pytest left no report: {last}"[:_MAX_MESSAGE])
    try:
        cases = list(ET.fromstring(xml).iter("testcase"))
    except ET.ParseError as error:
        return Score(Status.ERROR, TOOL, message=f"pytest's report cannot be read: {error}")
    bad = [(c, b) for c in cases for b in (*c.findall("failure"), *c.findall("error"))]
    ran = [c for c in cases if c.find("skipped") is None]
    if bad:
        if missing:
            return Score(Status.ERROR, TOOL, message=f"the harness needs {', '.join(missing)}, which is not installed")
        syntax = False if re.search(r"error\(s\) during elaboration|: (?:syntax )?error", output) else None
        simulated = None if syntax is False else False
        lines = [
            f"{c.get('name')}: {(b.get('message') or '').splitlines()[0] if b.get('message') else b.tag}"
            for c, b in bad
        ]
        told = re.findall(r"^.*(?:AssertionError|Error): .*$|^.*: (?:syntax )?error.*$", output, re.M)
        text = "\n".join([*lines[:3], *dict.fromkeys(t.strip() for t in told[:5])])
        return Score(Status.FAIL, DESIGN, syntax, simulated, message=text[:_MAX_MESSAGE])
    if not ran:
        return Score(Status.FAIL, BENCHMARK_DEFECT, True, None, message="the harness ran no test")
    return Score(Status.PASS, "", True, True, message=f"{len(ran)} tests passed")


def _cocotb_version() -> str:
    from importlib.metadata import version

    return version("cocotb")
