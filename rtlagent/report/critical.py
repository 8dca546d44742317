"""The slowest path between two registers, each hop with the line of the source that it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from rtlagent.errors import ToolError
from rtlagent.report.folder import RunFolder
from rtlagent.report.iterations import Iteration
from rtlagent.tools.netlist import Module, load
from rtlagent.tools.timing_report import Hop, TimingPath, read_timing, signal_name
from rtlagent.types import SourceFile, StepResult

_MOST_HOPS = 60
_ASSIGNED = re.compile(r"^\s*assign (\w+)[^\n]*// [^\n]*?:(\d+)$", re.MULTILINE)
"""How the compiler says which line of the C a signal computes."""
_STAGE = re.compile(r"_r\d*$")
"""What it appends to a signal's name for the registers that carry it on."""
_NO_MODULE = Module("", (), {}, {}, blackbox=False)


@dataclass(frozen=True)
class PathRow:
    """A hop of the path; neighbours from one line to one signal share it."""

    total_ns: float
    logic_ns: float
    routing_ns: float
    what: str
    signal: str
    place: str
    """`path:line`; empty: the tools cannot say."""
    source: str
    """That line's text."""
    c_line: int = 0
    """Of the C that was compiled; 0: unknown."""


@dataclass(frozen=True)
class CriticalPath:
    """The path as a table."""

    start: str
    end: str
    delay_ns: float
    logic_ns: float
    rows: tuple[PathRow, ...]
    left_out: int = 0

    @property
    def routing_ns(self) -> float:
        """Spent on wires."""
        return self.delay_ns - self.logic_ns


def read_critical_path(
    folder: RunFolder, iteration: Iteration, files: Sequence[SourceFile], top: str, *, is_c: bool
) -> tuple[StepResult, CriticalPath | None] | None:
    """Return the routing step and its path; None: nothing was routed. A path that cannot be read is None, too."""
    step = next((s for s in reversed(iteration.steps) if s.step == "place_and_route"), None)
    if step is None:
        return None
    home = (step.log_path or "").rpartition("/")[0]
    report = folder.json_of(f"{home}/report.json") if home else None
    if not isinstance(report, dict):
        return step, None
    netlist = folder.inside(f"{home.rpartition('/')[0]}/synthesize/netlist.json")
    modules: Mapping[str, Module] = {}
    if netlist is not None:
        with suppress(ToolError):  # without it, places come from the nets alone
            modules = load(netlist).modules
    try:
        found = read_timing(report, module=modules.get(top, _NO_MODULE), known=[f.path for f in files])
    except ToolError as error:
        folder.note(f"{home}/report.json: {error.message}")
        return step, None
    path = found.critical_path()
    return step, _table(path, files, is_c=is_c) if path is not None else None


def _table(path: TimingPath, files: Sequence[SourceFile], *, is_c: bool) -> CriticalPath:
    texts = {f.path: f.text.split("\n") for f in files}
    c_lines = {n: int(k) for f in files for n, k in _ASSIGNED.findall(f.text)} if is_c else {}
    rows: list[PathRow] = []
    total = 0.0
    for hop in path.hops:
        total += hop.logic_ns + hop.routing_ns
        row = _row(hop, total, texts, c_lines)
        last = rows[-1] if rows else None
        if last and (last.what.split(" ")[0], last.place, last.signal) == (row.what, row.place, row.signal):
            count = int(last.what.rpartition("x")[2]) + 1 if " x" in last.what else 2
            rows[-1] = PathRow(
                total,
                last.logic_ns + row.logic_ns,
                last.routing_ns + row.routing_ns,
                f"{row.what} x{count}",
                row.signal,
                row.place,
                row.source,
                row.c_line,
            )
        else:
            rows.append(row)
    logic = sum(h.logic_ns for h in path.hops)
    shown = tuple(rows[:_MOST_HOPS])
    return CriticalPath(path.start, path.end, path.delay_ns, logic, shown, len(rows) - len(shown))


def _row(hop: Hop, total: float, texts: Mapping[str, list[str]], c_lines: Mapping[str, int]) -> PathRow:
    lines = texts.get(hop.place.path, []) if hop.place else []
    place = f"{hop.place.path}:{hop.place.line}" if hop.place else ""
    source = lines[hop.place.line - 1].strip() if hop.place and 0 < hop.place.line <= len(lines) else ""
    signal = re.sub(r"\[\d+\]$", "", signal_name(hop.net or hop.cell))
    name = _STAGE.sub("", signal.removeprefix(">"))
    return PathRow(total, hop.logic_ns, hop.routing_ns, hop.kind, signal, place, source, c_lines.get(name, 0))
