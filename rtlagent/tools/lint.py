"""Lint a design with pyslang (all errors, exact places) and Verilator (latches, drivers, widths), as one answer."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools.diagnostics import format_table, merge, quoted_name
from rtlagent.tools.filelist import compile_order, include_dirs
from rtlagent.tools.lint_rules import CANONICAL, HINTS, SYSTEMVERILOG_KEYWORDS, severity_of
from rtlagent.tools.lint_worker import LintJob, LintReport, verilator_argv
from rtlagent.tools.process import ProcessResult
from rtlagent.tools.sandbox import run
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.staging import Staged, require_size, stage
from rtlagent.tools.verilator_runtime import verilator_version
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, StepResult

LANGUAGES = ("verilog", "systemverilog")


def lint(
    files: Sequence[SourceFile],
    *,
    top: str | None = None,
    language: str = "systemverilog",
    policy: bool = False,
    allow: Sequence[str] = (),
    config: ToolConfig,
) -> StepResult:
    """Check a design without running it.

    Args:
        files: All files of the design; headers and memory images too.
        top: The top module; None: every module that nobody instantiates.
        language: `verilog` (Verilog-2005) or `systemverilog` (IEEE 1800-2017).
        policy: Also apply the rules for model-written RTL (`tools/policy.py`).
        allow: Codes such as `LATCH` that are to be warnings at most. POLICY_ codes cannot be allowed.
        config: How tools are run.

    Raises:
        UsageError: the language is unknown, two files have the same path, or all are too large together.
        SandboxError: the sandbox cannot be set up.
    """
    if language not in LANGUAGES:
        raise UsageError(f"unknown language {language!r}", hint=f"one of: {', '.join(LANGUAGES)}")
    require_size(files, config)
    with scratch_folder() as folder:
        staged = stage(files, folder)
        job = _job(files, staged, top=top, language=language, policy=policy, wall_s=config.limits.wall_s)
        process = run(
            [sys.executable, "-I", "-m", "rtlagent.tools.lint_worker"],
            work=staged.folder,
            config=config,
            stdin=json.dumps(asdict(job)),
        )
    argv = tuple(verilator_argv(job, "verilator_bin", "lint.sarif"))
    try:
        report = LintReport.from_json(process.stdout)
    except ValueError:
        return _broken(process, argv)
    found = _judge(report, job, staged, frozenset(allow))
    return StepResult(
        step="lint",
        status=_status(found, report),
        diagnostics=found,
        argv=argv,
        returncode=process.returncode,
        wall_s=process.wall_s,
        tool_version=f"pyslang {report.pyslang_version}, verilator {verilator_version()}",
        detail=_detail(found, files, report),
    )


def _job(
    files: Sequence[SourceFile], staged: Staged, *, top: str | None, language: str, policy: bool, wall_s: float
) -> LintJob:
    return LintJob(
        sources=tuple(staged.place(f.path) for f in compile_order(files)),
        given=staged.paths,
        include_dirs=include_dirs(staged.paths),
        top=top,
        language=language,
        policy=policy,
        verilator_wall_s=wall_s * 0.8,
    )


def _status(found: Iterable[Diagnostic], report: LintReport) -> Status:
    """Judge: an error found by one tool stands, whatever became of the other."""
    if any(d.severity is Severity.ERROR for d in found):
        return Status.FAIL
    return {"done": Status.PASS, "timeout": Status.TIMEOUT}.get(report.verilator, Status.ERROR)


def _detail(found: Sequence[Diagnostic], files: Sequence[SourceFile], report: LintReport) -> str:
    text = format_table(found, files)
    state = {"timeout": "Verilator did not finish in time.", "broken": "Verilator broke on this design."}
    return f"{text}\n{state[report.verilator]}" if report.verilator in state else text


def _broken(process: ProcessResult, argv: tuple[str, ...]) -> StepResult:
    """Report a worker that died: TIMEOUT at a limit, which is how much this design asks for, ERROR otherwise."""
    status = Status.TIMEOUT if process.limit else Status.ERROR
    reason = f"{process.limit} limit reached" if process.limit else "it left no report"
    last = process.stderr.strip().splitlines()[-1:] or [""]
    return StepResult(
        step="lint",
        status=status,
        argv=argv,
        returncode=process.returncode,
        wall_s=process.wall_s,
        detail=f"lint did not finish: {reason}. {last[0][:200]}".rstrip(),
    )


def _judge(report: LintReport, job: LintJob, staged: Staged, allow: frozenset[str]) -> tuple[Diagnostic, ...]:
    """Merge both tools' diagnostics and give each its name, severity and hint."""
    if not job.sources:
        reason = (
            "no Verilog file was given" if not staged.paths else "no file to compile; headers and data do not count"
        )
        return (Diagnostic("rtlagent", Severity.ERROR, "NoModules", reason),)
    if any(d.code == "MacroTooLarge" for d in report.diagnostics):
        return tuple(staged.restore(d) for d in report.diagnostics)
    known = set(job.given)
    groups: dict[str, list[Diagnostic]] = {"policy": [], "pyslang": [], "verilator": []}
    for raw in report.diagnostics:
        if (judged := _judge_one(raw, job, known, allow)) is not None:
            groups[judged.tool].append(judged)
    if any(d.code == "IncludeNotGiven" for d in groups["pyslang"]):
        groups["verilator"] = []
    else:
        groups["verilator"] = _without_echoes(groups["pyslang"], groups["verilator"])
    found = [*_top_diagnostics(report, job), *groups["policy"], *groups["pyslang"]]
    return tuple(staged.restore(d) for d in merge(found, groups["verilator"]))


def _judge_one(raw: Diagnostic, job: LintJob, known: set[str], allow: frozenset[str]) -> Diagnostic | None:
    """Rename and grade one diagnostic; None when it is not to be shown."""
    if raw.tool == "policy":
        return raw if raw.path in known else None
    if raw.code in _TOP_CODES or _TOP_MESSAGES.search(raw.message):
        return None  # said better by _top_diagnostics
    name = quoted_name(raw.message)
    if raw.path and raw.path not in known:
        # Its text may quote that file; only the fact may leave the sandbox.
        return Diagnostic(raw.tool, Severity.ERROR, "IncludeNotGiven", "an error in a file that was not given")
    code = CANONICAL.get(raw.code, raw.code) or _verilator_code(raw.message)
    message = raw.message.removeprefix("Unsupported: ")
    if job.language == "verilog":
        if code == "UndeclaredIdentifier" and name in SYSTEMVERILOG_KEYWORDS:
            code = "SystemVerilogKeyword"
            message = f"'{name}' is SystemVerilog, and the design is to be Verilog-2005"
    elif code == "NEWERSTD":
        return None
    severity = severity_of(raw.tool, code, raw.severity)
    if code == "NEWERSTD":
        severity = Severity.ERROR
    if severity is Severity.ERROR and (code in allow or raw.code in allow) and raw.severity is not Severity.ERROR:
        severity = Severity.WARNING
    if severity is None:
        return None
    return replace(raw, code=code, message=message, severity=severity, hint=_hint(raw, code))


def _hint(raw: Diagnostic, code: str) -> str:
    """Prefer our hint, except to a tool's guess at the name that was meant."""
    return raw.hint if "alternative" in raw.hint else HINTS.get(code, raw.hint)


_TOP_CODES = frozenset({"InvalidTopModule", "NoTopModules", "TopModuleUninstantiated"})
_TOP_MESSAGES = re.compile(r"No top level module found|^Specified --top-module '")
_ECHO = re.compile(r"Cannot continue$|^Exiting due to")

_UNCODED = (
    (re.compile(r"syntax error"), "SyntaxError"),
    (re.compile(r"Can't find definition of|Can't find typedef"), "UndeclaredIdentifier"),
    (re.compile(r"Duplicate declaration"), "Redefinition"),
    (re.compile(r"Cannot find include file"), "CouldNotOpenIncludeFile"),
    (re.compile(r"Define or directive not defined"), "UnknownDirective"),
)


def _verilator_code(message: str) -> str:
    """Name an error that Verilator gives no code, so that it can meet pyslang's."""
    return next((code for pattern, code in _UNCODED if pattern.search(message)), "VerilatorError")


def _without_echoes(pyslang: Sequence[Diagnostic], verilator: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Drop Verilator's uncoded errors where pyslang has already told what is wrong.

    Verilator stops at the first syntax error and says less about it, and what it says of a line that does
    not parse or resolve is an echo of the same mistake.
    """
    errors = {(d.path, d.line) for d in pyslang if d.severity is Severity.ERROR}
    uncoded = {code for _, code in _UNCODED} | {"VerilatorError", "PROCASSWIRE", "MODMISSING", "PINNOTFOUND"}
    return [
        d
        for d in verilator
        if not (errors and _ECHO.search(d.message))
        and not (d.code in uncoded and ((d.path, d.line) in errors or (errors and d.code == "SyntaxError")))
        and not (errors and d.code == "UndeclaredIdentifier")
    ]


def _top_diagnostics(report: LintReport, job: LintJob) -> list[Diagnostic]:
    """Report a missing top module together with the modules that there are."""
    if any(d.code == "IncludeNotGiven" for d in report.diagnostics):
        return []
    if job.top is not None and job.top not in report.modules:
        there = ", ".join(report.modules[:20]) or "none"
        message = f"top module '{job.top}' not found; the files define: {there}"
    elif not report.modules:
        message = "the files define no module"
    else:
        return []
    code = "TopNotFound" if job.top is not None else "NoModules"
    return [Diagnostic("rtlagent", Severity.ERROR, code, message, job.sources[0], 1, 1, HINTS.get(code, ""))]
