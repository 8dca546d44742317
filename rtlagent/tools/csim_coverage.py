"""Measure how much of the C ran under the recorded calls: gcov's count of the lines that the function reaches.

The calls are replayed from their recorded bytes by a generated program that includes the C file, so that
static functions and variables are in reach:

    #define main rtlagent_user_main
    #include "kernel.c"
    int main(void) { ... f(*(int *)argument_0, (void *)argument_1); ... }
"""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import sandbox
from rtlagent.tools.csim_record import CallRecord
from rtlagent.tools.staging import stage
from rtlagent.types import SourceFile

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument

_DRIVER, _CALLS, _REPORT = "rtlagent_driver", "rtlagent_calls", "rtlagent_coverage.json"
_UNITS = frozenset((".c",))
_WALL_S = 40.0
_RUN_S = 15
_EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', re.M)


@dataclass(frozen=True)
class Coverage:
    """The lines of the functions that the top function reaches."""

    lines: int
    """Lines with code."""
    executed: int
    missed: tuple[tuple[str, int], ...]
    """Path and line of each one that did not run, in order."""

    @property
    def percent(self) -> float:
        """Part of the lines that ran."""
        return 100.0 * self.executed / self.lines if self.lines else 100.0


def measure_coverage(
    record: CallRecord, source: SourceFile, *, extra_files: Sequence[SourceFile] = (), config: ToolConfig
) -> Coverage | None:
    """Replay the recorded calls and count the lines of C that run.

    Returns:
        None if it cannot be measured: what C's compiler refuses in this form, such as C++, or a replay that does
        not end normally.

    Raises:
        SandboxError, ToolMissingError: nothing could be run.
    """
    is_main = record.top == "main"
    with tempfile.TemporaryDirectory(prefix="rtlagent-") as name:
        folder = Path(name)
        try:
            staged = stage([source, *extra_files], folder)
        except UsageError:
            return None
        place = staged.paths[0]
        main = "" if is_main else "#define main rtlagent_user_main\n"
        text = f'{main}#include "{place}"\n'
        (folder / f"{_DRIVER}.c").write_text(text if is_main else text + _driver(record))
        (folder / _CALLS).write_bytes(b"".join(b for call in record.calls for b in call.before))
        script = _script(place, staged.paths[1:], [source, *extra_files], is_main=is_main)
        limits = replace(config.limits, wall_s=min(config.limits.wall_s, _WALL_S))
        sandbox.run(["/bin/sh", "-c", script], work=folder, config=config, limits=limits)
        try:
            report = json.loads((folder / _REPORT).read_text())
            graph = (folder / f"{_DRIVER}.ci").read_text()
        except (OSError, ValueError):
            return None
        return _count(report, reachable(graph, record.top), staged.originals)


def reachable(graph: str, top: str) -> frozenset[str]:
    """Return the functions that `top` calls, and those that these call, by gcc's call graph; `top` is one of them."""
    calls: dict[str, list[str]] = {}
    for caller, callee in _EDGE.findall(graph):
        calls.setdefault(_plain(caller), []).append(_plain(callee))
    found, queue = {top}, [top]
    while queue:
        for callee in calls.get(queue.pop(), []):
            if callee not in found:
                found.add(callee)
                queue.append(callee)
    return frozenset(found)


def _plain(symbol: str) -> str:
    """Strip the file from `file.c:name`, gcc's form for a static function."""
    return symbol.rpartition(":")[2]


def _driver(record: CallRecord) -> str:
    sizes = [len(b) for b in record.calls[0].before] if record.calls else []
    buffers = [
        f"static unsigned char argument_{i}[{max(1, n)}] __attribute__((aligned(16)));" for i, n in enumerate(sizes)
    ]
    reads = [f"if (fread(argument_{i}, 1, {n}, calls) != {n}) return 1;" for i, n in enumerate(sizes)]
    sets = [
        f"if (memcmp(&{a.name}, argument_{i}, {n})) memcpy((void *)&{a.name}, argument_{i}, {n});"
        for i, (a, n) in enumerate(zip(record.arguments, sizes, strict=True))
        if a.is_global
    ]
    values = ", ".join(_value(i, a) for i, a in enumerate(record.arguments) if not a.is_global)
    return "\n".join(
        [
            "#undef main", "#include <stdio.h>", "#include <string.h>", *buffers, "int main(void) {",
            f'  FILE *calls = fopen("{_CALLS}", "rb");', "  if (!calls) return 1;",
            f"  for (long call = 0; call < {len(record.calls)}; ++call) {{",
            *(f"    {line}" for line in [*reads, *sets, f"{record.top}({values});"]), "  }", "  return 0;", "}", "",
        ]
    )  # fmt: skip


def _value(index: int, argument: Argument) -> str:
    return f"*({argument.c_type} *)argument_{index}" if argument.is_scalar else f"(void *)argument_{index}"


def _script(source: str, others: Sequence[str], files: Sequence[SourceFile], *, is_main: bool) -> str:
    """Compile, run and ask gcov; nothing is left over if anything goes wrong."""
    included = {
        PurePosixPath(n).name for f in files for n in re.findall(r'^\s*#\s*include\s*"([^"\n]+)"', f.text, re.M)
    }
    units = [p for p in others if PurePosixPath(p).suffix in _UNITS and PurePosixPath(p).name not in included]
    folders = dict.fromkeys(["-I.", *(f"-I{PurePosixPath(p).parent}" for p in (source, *others))])
    common = ["gcc", "-std=gnu17", "-O0", "-w", "-ftrivial-auto-var-init=zero", *folders]
    watched = [*common, "--coverage", "-fcallgraph-info", "-c", "-o", f"{_DRIVER}.o", f"{_DRIVER}.c"]
    renamed = [] if is_main else ["-Dmain=rtlagent_user_main"]
    link = [*common, *renamed, "--coverage", "-o", _DRIVER, f"{_DRIVER}.o", *units, "-lm"]
    # main's own result says nothing here.
    run = f"timeout -k 1 {_RUN_S} ./{_DRIVER} </dev/null >/dev/null 2>&1"
    run += "; [ $? -lt 124 ]" if is_main else ""
    ask = f"gcov --json-format --stdout {_DRIVER}.o > {_REPORT}.part && mv {_REPORT}.part {_REPORT}"
    return f"{{ {shlex.join(watched)} && {shlex.join(link)}; }} || exit 1\n{{ {run}; }} || exit 1\n{ask}\n"


def _count(report: Mapping[str, Any], functions: frozenset[str], originals: Mapping[str, str]) -> Coverage | None:
    counts: dict[tuple[str, int], int] = {}
    for file in report.get("files", []):
        path = str(file["file"]).removeprefix("./")
        if path not in originals:
            continue  # the generated program, or a system header
        for line in file["lines"]:
            if line.get("function_name") in functions:
                key = originals[path], int(line["line_number"])
                counts[key] = max(counts.get(key, 0), int(line["count"]))
    if not counts:
        return None
    missed = tuple(sorted(key for key, count in counts.items() if not count))
    return Coverage(len(counts), len(counts) - len(missed), missed)
