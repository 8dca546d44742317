"""Read nextpnr's timing report: clocks, and the critical path in the words of the source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rtlagent.errors import ToolError
from rtlagent.tools.netlist import Module, Place, parse_place

_MAX_ROWS = 24
# What Yosys's autoname and nextpnr append to a user's name, such as `_SB_LUT4_O_I3` or `$TRELLIS_IO_IN`.
_CELL_SUFFIX = re.compile(r"_(?:SB_|TRELLIS_|LUT4|CCU2C|MULT\d|DP16KD|PDPW16KD|PFUMX|L6MUX|DFF|\$).*$|\$.*$")
_CLOCK_SUFFIX = re.compile(r"\$SB_IO_IN(?:_\$glb_\w+)?$|\$TRELLIS_IO_IN$|_\$glb_\w+$")
_REGISTER_EDGE = re.compile(r"(?P<edge>posedge|negedge) (?P<clock>.+)")


@dataclass(frozen=True)
class ClockFigure:
    """How fast one clock can be."""

    clock: str
    fmax_mhz: float

    @property
    def period_ns(self) -> float:
        """The shortest period."""
        return 1000 / self.fmax_mhz


@dataclass(frozen=True)
class Hop:
    """A cell that a path passes, and the net that it drives."""

    kind: str
    """`clk-to-q`, `logic`, `source` or `setup`."""
    logic_ns: float
    routing_ns: float
    cell: str
    net: str
    place: Place | None
    cells: int = 1
    """How many cells in a row this stands for, such as those of a carry chain."""


@dataclass(frozen=True)
class TimingPath:
    """The slowest path between two clock domains, or from or to a pin."""

    start: str
    """`posedge clk`, `negedge clk` or `<async>` for a pin."""
    end: str
    hops: tuple[Hop, ...]

    @property
    def delay_ns(self) -> float:
        """The delay of all hops."""
        return sum(h.logic_ns + h.routing_ns for h in self.hops)

    @property
    def need_ns(self) -> float:
        """The clock period that the path needs: twice its delay between opposite edges."""
        start, end = _REGISTER_EDGE.fullmatch(self.start), _REGISTER_EDGE.fullmatch(self.end)
        opposite = start and end and start["edge"] != end["edge"]
        return self.delay_ns * (2 if opposite else 1)


@dataclass(frozen=True)
class TimingReport:
    """A design's timing after routing."""

    clocks: tuple[ClockFigure, ...]
    """Clocks with paths between their registers, the slowest first."""
    paths: tuple[TimingPath, ...]

    @property
    def worst(self) -> ClockFigure | None:
        """The slowest clock; None: there is no path from register to register."""
        return self.clocks[0] if self.clocks else None

    def critical_path(self) -> TimingPath | None:
        """Return the slowest clock's slowest path; without a clock, the slowest path of all."""
        clock = self.worst.clock if self.worst else None
        own = [p for p in self.paths if clock is None or {_clock_of(p.start), _clock_of(p.end)} == {clock}]
        return max(own, key=lambda p: p.need_ns, default=None)


def read_timing(report: Mapping[str, Any], *, module: Module, known: Iterable[str], without: str = "") -> TimingReport:
    """Take apart the JSON that nextpnr's `--report` wrote.

    Args:
        report: the parsed JSON.
        module: the netlist that was routed, for the places of its cells.
        known: the design's own files; places in others (cell libraries) are passed over.
        without: a clock that is not the design's own.

    Raises:
        ToolError: the report has another form.
    """
    files = frozenset(known)
    try:
        found = [ClockFigure(clock_name(n), float(v["achieved"])) for n, v in report["fmax"].items()]
        paths = [_path(p, module, files) for p in report["critical_paths"]]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise ToolError(f"nextpnr's report is unreadable: {type(error).__name__}") from error
    clocks = sorted((c for c in found if c.clock != without), key=lambda c: (c.fmax_mhz, c.clock))
    # A pin that only the harness uses is nobody's timing.
    own = [p for p in paths if without not in (_clock_of(p.start), _clock_of(p.end)) or not without]
    return TimingReport(tuple(clocks), tuple(own))


def clock_name(name: str) -> str:
    """Return a clock net's name in the source: `clk` for `$glbnet$clk$TRELLIS_IO_IN`."""
    return _CLOCK_SUFFIX.sub("", name.removeprefix("$glbnet$"))


def _clock_of(domain: str) -> str | None:
    found = _REGISTER_EDGE.fullmatch(domain)
    return found["clock"] if found else None


def _domain(name: str) -> str:
    found = _REGISTER_EDGE.fullmatch(name)
    return f"{found['edge']} {clock_name(found['clock'])}" if found else name


def _path(value: Mapping[str, Any], module: Module, files: frozenset[str]) -> TimingPath:
    hops: list[Hop] = []
    for step in value["path"]:
        delay = float(step["delay"])
        if step["type"] == "routing" and hops:
            places = [p for s in step.get("sources", ()) if (p := parse_place(s, files))]
            place = places[0] if places else hops[-1].place
            hops[-1] = replace(hops[-1], routing_ns=delay, net=str(step["net"]), place=place)
        else:
            cell = str(step["from"]["cell"])
            hops.append(Hop(str(step["type"]), delay, 0.0, cell, "", _cell_place(cell, module, files)))
    return TimingPath(_domain(value["from"]), _domain(value["to"]), tuple(hops))


def _cell_place(name: str, module: Module, files: frozenset[str]) -> Place | None:
    """Find a routed cell's origin: nextpnr appends to the netlist's name (`_LC`, `$CCU2_COMB1`)."""
    while name:
        cell = module.cells.get(name)
        if cell is not None:
            return parse_place(cell.source, files)
        cut = max(name.rfind("_"), name.rfind("$"))
        name = name[:cut] if cut > 0 else ""
    return None


def signal_name(name: str) -> str:
    """Return the part of a net's or cell's name that the user wrote; `>q` for logic on its way to q."""
    short = _CELL_SUFFIX.sub("", name)
    if not short:
        return name
    return f">{short}" if re.search(r"_(?:SB_|TRELLIS_|LUT4|CCU2C|MULT\d|DP16KD)", name[len(short) :]) else short


def path_table(path: TimingPath) -> str:
    """Lay a path out as a table: delays, what adds them, the signal, its file and line.

    Neighbouring cells that come from the same line and lead to the same signal share a row.
    """
    hops = _merged(path.hops)
    logic = sum(h.logic_ns for h in path.hops)
    head = (
        f"critical path: {path.delay_ns:.2f} ns = {logic:.2f} logic + {path.delay_ns - logic:.2f} routing, "
        f"{_describe(path.start)} to {_describe(path.end)}"
    )
    rows = [("total", "logic", "routing", "what", "signal", "source")]
    total = 0.0
    for hop in hops:
        total += hop.logic_ns + hop.routing_ns
        what = hop.kind if hop.cells == 1 else f"{hop.kind} x{hop.cells}"
        where = f"{hop.place.path}:{hop.place.line}" if hop.place else "-"
        shown = signal_name(hop.net or hop.cell)
        rows.append((f"{total:.2f}", f"{hop.logic_ns:.2f}", f"{hop.routing_ns:.2f}", what, shown, where))
    if len(rows) > _MAX_ROWS:
        cut = len(rows) - _MAX_ROWS
        middle = _MAX_ROWS * 2 // 3
        rows = [*rows[:middle], ("...", "", "", f"{cut} more", "", ""), *rows[middle + cut :]]
    widths = [max(len(r[i]) for r in rows) for i in range(6)]
    lines = [
        "  ".join(c.rjust(w) if i < 3 else c.ljust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True)))
        for r in rows
    ]
    return "\n".join([head, *(line.rstrip() for line in lines)])


def _describe(domain: str) -> str:
    return "a pin" if domain == "<async>" else f"a register on {domain}"


def _merged(hops: Iterable[Hop]) -> list[Hop]:
    rows: list[Hop] = []
    for hop in hops:
        last = rows[-1] if rows else None
        same = last and (last.kind, last.place, _stem(last)) == (hop.kind, hop.place, _stem(hop))
        if last and same and hop.kind == "logic":
            rows[-1] = replace(
                last,
                logic_ns=last.logic_ns + hop.logic_ns,
                routing_ns=last.routing_ns + hop.routing_ns,
                net=hop.net or last.net,
                cells=last.cells + hop.cells,
            )
        else:
            rows.append(hop)
    return rows


def _stem(hop: Hop) -> str:
    return re.sub(r"\[\d+\]$", "", signal_name(hop.net or hop.cell))
