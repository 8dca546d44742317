"""Read what tools print, merge it, and say it so that a person (or a prompt) can use it."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rtlagent.types import Diagnostic, Severity, SourceFile

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}

_VERILATOR = re.compile(r"%(Error|Warning)(?:-([A-Z0-9_]+))?: (?:([^:\s][^:]*):(\d+):(\d+): )?(.*)")
_VERILATOR_HINT = re.compile(r"\s*(?:: )?\.\.\. (Suggest.*)")
_IVERILOG = re.compile(r"([^:\s][^:]*):(\d+): (?:(error|warning|sorry): )?(.*)")
_YOSYS = re.compile(r"(?:([^:\s][^:]*):(\d+): )?(ERROR|Warning): (.*)")
_PYTHON_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)')
_PYTHON_ERROR = re.compile(r"([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Failure)): ?(.*)")
_QUOTED = re.compile(r"'([^']+)'")
# Places that tell where our machinery ran; they differ between runs and are none of the prompt's business.
_MACHINE_PATH = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+[\w.+-]*")


def parse_verilator(text: str) -> tuple[Diagnostic, ...]:
    """Read Verilator's `%Error...`/`%Warning...` lines; a suggestion in a continuation line becomes the hint."""
    found: list[Diagnostic] = []
    for line in text.splitlines():
        if match := _VERILATOR.match(line):
            level, code, path, row, column, message = match.groups()
            if message.startswith("Exiting due to"):
                continue
            severity = Severity.ERROR if level == "Error" else Severity.WARNING
            found.append(
                Diagnostic(
                    "verilator", severity, code or "", message, _clean_path(path or ""), int(row or 0), int(column or 0)
                )
            )
        elif found and (hint := _VERILATOR_HINT.match(line)):
            found[-1] = replace(found[-1], hint=hint[1])
    return tuple(found)


def parse_verilator_sarif(text: str, root: str) -> tuple[Diagnostic, ...]:
    """Read the file that `--diagnostics-sarif-output` writes.

    Args:
        text: The file's text.
        root: The folder Verilator ran in; paths become relative to it.

    Raises:
        ValueError: the text is no such report.
    """
    try:
        results = load_sarif(text)["results"]
        return tuple(_from_sarif(result, root) for result in results)
    except (KeyError, IndexError, TypeError) as wrong:
        raise ValueError(f"not a Verilator SARIF report: {wrong!r}") from wrong


def load_sarif(text: str) -> dict[str, Any]:
    """Return the only run of a SARIF report.

    Raises:
        ValueError: the text is no such report.
    """
    # Verilator 5.48 forgets a comma when no coded warning was given.
    repaired = re.sub(r'\}(\s*)"invocations"', r'},\1"invocations"', text, count=1)
    try:
        run: dict[str, Any] = json.loads(repaired)["runs"][0]
    except (KeyError, IndexError, TypeError) as wrong:
        raise ValueError(f"not a Verilator SARIF report: {wrong!r}") from wrong
    return run


def _from_sarif(result: dict[str, Any], root: str) -> Diagnostic:
    message, _, more = str(result["message"]["text"]).partition("\n")
    hint = next((m[1] for line in more.splitlines() if (m := _VERILATOR_HINT.match(line))), "")
    path, line, column = "", 0, 0
    for place in result.get("locations") or ():
        physical = place["physicalLocation"]
        path = str(physical["artifactLocation"]["uri"]).removeprefix("file://").removeprefix(f"{root}/")
        line, column = int(physical["region"]["startLine"]), int(physical["region"]["startColumn"])
        break
    severity = Severity.ERROR if result["level"] == "error" else Severity.WARNING
    code = str(result.get("ruleId") or "")
    return Diagnostic("verilator", severity, code, message, _clean_path(path), line, column, hint)


def parse_iverilog(text: str) -> tuple[Diagnostic, ...]:
    """Read iverilog's `file:line: ...` lines; `sorry` (not supported) counts as an error."""
    found: list[Diagnostic] = []
    for line in text.splitlines():
        match = _IVERILOG.match(line)
        if match:
            path, row, level, message = match.groups()
            if message.lstrip().startswith(":") and found:
                found[-1] = replace(found[-1], message=f"{found[-1].message} {message.lstrip(': ')}")
                continue
            severity = Severity.WARNING if level == "warning" else Severity.ERROR
            code = {"sorry": "Unsupported", None: "SyntaxError" if message == "syntax error" else ""}.get(level, "")
            found.append(Diagnostic("iverilog", severity, code, message, _clean_path(path), int(row)))
        elif line.startswith(("error: ", "No top level modules", "Unable to find the root module")):
            found.append(Diagnostic("iverilog", Severity.ERROR, "", line.removeprefix("error: ")))
    return tuple(found)


def parse_yosys(text: str) -> tuple[Diagnostic, ...]:
    """Read Yosys's `ERROR:` and `Warning:` lines, with or without a place."""
    found: list[Diagnostic] = []
    for line in text.splitlines():
        if match := _YOSYS.match(line):
            path, row, level, message = match.groups()
            severity = Severity.ERROR if level == "ERROR" else Severity.WARNING
            found.append(Diagnostic("yosys", severity, "", message, _clean_path(path or ""), int(row or 0)))
    return tuple(found)


def parse_python(text: str, known: Iterable[str] = ()) -> tuple[Diagnostic, ...]:
    """Read Python tracebacks, as cocotb logs them.

    The place is the innermost frame in a file of `known` (paths relative to the work folder), because
    a frame in a library does not help the author of the test; without one the place stays empty.
    """
    names = tuple(known)
    found: list[Diagnostic] = []
    place = ("", 0)
    for raw in text.splitlines():
        line = re.sub(r"^\s*[\d.]+ns (?:INFO|WARNING|ERROR|CRITICAL)\s+\S+\s+", "", raw)
        if frame := _PYTHON_FRAME.match(line):
            path = next((n for n in names if frame[1] == n or frame[1].endswith(f"/{n}")), None)
            place = (path, int(frame[2])) if path else place
        elif match := _PYTHON_ERROR.match(line.strip()):
            found.append(Diagnostic("python", Severity.ERROR, match[1].rsplit(".", 1)[-1], match[2], *place))
            place = ("", 0)
    return tuple(found)


def merge(*groups: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Make one sorted list of several tools' diagnostics, each defect once.

    Two diagnostics are the same defect when path, line and code agree and they quote the same first name
    (or one quotes none). The earlier group's text is kept, with the worse severity, and with the other's
    column and hint where it has none: give the tool with the better places first.
    """
    kept: list[Diagnostic] = []
    index: dict[tuple[str, int, str], list[int]] = {}
    for diagnostic in (d for group in groups for d in group):
        same = index.setdefault((diagnostic.path, diagnostic.line, diagnostic.code), [])
        twin = next((i for i in same if _same_names(kept[i], diagnostic)), None)
        if twin is None:
            same.append(len(kept))
            kept.append(diagnostic)
            continue
        first = kept[twin]
        worse = min(first.severity, diagnostic.severity, key=_RANK.__getitem__)
        kept[twin] = replace(
            first, severity=worse, column=first.column or diagnostic.column, hint=first.hint or diagnostic.hint
        )
    return ordered(kept)


def _same_names(one: Diagnostic, other: Diagnostic) -> bool:
    if not one.code and one.message != other.message:
        return False
    first, second = quoted_name(one.message), quoted_name(other.message)
    return not first or not second or first == second


def quoted_name(message: str) -> str:
    """Return the last part of the first name that a message quotes, such as `q` of "'top.u0.q'"."""
    match = _QUOTED.search(message)
    return match[1].rsplit(".", 1)[-1] if match else ""


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sort by path, line, column, then severity; the order never depends on the tools' timing."""
    return tuple(
        sorted(diagnostics, key=lambda d: (d.path, d.line, d.column, _RANK[d.severity], d.code, d.message, d.tool))
    )


def most_important(diagnostics: Iterable[Diagnostic], limit: int = 8) -> tuple[Diagnostic, ...]:
    """Return the few to act on: errors before warnings before notes, each in the order of the text."""
    return tuple(sorted(ordered(diagnostics), key=lambda d: _RANK[d.severity])[:limit])


@dataclass(frozen=True)
class Counts:
    """How many diagnostics of each severity there are."""

    errors: int
    warnings: int
    notes: int

    def __str__(self) -> str:
        parts = ((self.errors, "error"), (self.warnings, "warning"), (self.notes, "note"))
        return ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for n, word in parts if n) or "no diagnostics"


def count(diagnostics: Iterable[Diagnostic]) -> Counts:
    """Count by severity."""
    severities = [d.severity for d in diagnostics]
    return Counts(*(severities.count(s) for s in (Severity.ERROR, Severity.WARNING, Severity.NOTE)))


def format_lines(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one line a diagnostic: `path:line:col: severity: message [code]`."""
    return "\n".join(str(d) for d in diagnostics)


def format_table(diagnostics: Sequence[Diagnostic], files: Sequence[SourceFile] = (), limit: int = 8) -> str:
    """Return the `limit` most important diagnostics with source line, caret and hint, and a count of all."""
    shown = most_important(diagnostics, limit)
    blocks = []
    for diagnostic in shown:
        lines = [str(diagnostic)]
        if quote := excerpt(diagnostic, files):
            lines.append(quote)
        if diagnostic.hint:
            lines.append(f"    hint: {diagnostic.hint}")
        blocks.append("\n".join(lines))
    left = len(diagnostics) - len(shown)
    total = f"{count(diagnostics)}{f' ({left} not shown)' if left else ''}"
    return "\n".join([*blocks, total])


def excerpt(diagnostic: Diagnostic, files: Sequence[SourceFile], width: int = 160) -> str:
    """Return the source line with a caret below it; empty when the place is not in `files`."""
    text = next((f.text for f in files if f.path == diagnostic.path), None)
    rows = _rows(text) if text is not None else ()
    if not 1 <= diagnostic.line <= len(rows):
        return ""
    row = "".join(c if c.isprintable() else " " for c in rows[diagnostic.line - 1].rstrip("\r"))
    column = min(diagnostic.column, len(row) + 1)
    start = max(0, column - width * 3 // 4)
    cut = row[start : start + width]
    gutter = f"{diagnostic.line:5} | "
    if column < 1:
        return f"{gutter}{cut}"
    return f"{gutter}{cut}\n{' ' * 5} | {' ' * (column - 1 - start)}^"


@lru_cache(maxsize=4)
def _rows(text: str) -> tuple[str, ...]:
    """Split a text once for all its diagnostics; a large one may have a thousand."""
    # Not splitlines(): form feeds and Unicode line ends do not count as lines for the tools.
    return tuple(text.split("\n"))


def prompt_text(text: str, files: Sequence[str], limit_chars: int = 4000) -> str:
    """Reduce a tool's text to what a prompt may contain.

    Lines that name a place in a file outside `files` (paths relative to the work folder) go, together with
    the indented lines that quote it; absolute paths are cut to their last part; the middle of a long text
    is left out.
    """
    known = set(files)
    kept: list[str] = []
    dropping = False
    for line in text.replace("/work/", "").splitlines():
        place = re.search(r"(?:^|[\s(\"'])((?:/|\.{1,2}/)?[\w./+-]+):(\d+)(?::\d+)?:", line)
        foreign = place is not None and _clean_path(place[1]) not in known and re.search(r"[/.]", place[1])
        if foreign:
            dropping = True
        elif dropping and re.match(r"\s+(\d+ \||\||:|\.\.\.)", line):
            continue
        else:
            dropping = False
            kept.append(_MACHINE_PATH.sub(lambda m: posixpath.basename(m[0]) or "...", line.rstrip()))
    result = "\n".join(kept).strip("\n")
    if len(result) <= limit_chars:
        return result
    half = limit_chars // 2
    return f"{result[:half]}\n... ({len(result) - 2 * half} characters left out)\n{result[-half:]}"


def _clean_path(path: str) -> str:
    """Normalise `./a//b.v` and a work-folder prefix away."""
    path = path.removeprefix("/work/")
    return posixpath.normpath(path) if path else ""
