"""Turn what Yosys's `read_verilog`, `proc` and `check` report into diagnostics with places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rtlagent.tools.netlist import Cell, Module, Netlist, Place
from rtlagent.tools.yosys import TOOL, readable
from rtlagent.types import Diagnostic, Severity

_READ_WARNING = re.compile(r"^(?P<path>[^\s:]+):(?P<line>\d+): Warning: (?P<message>.*)$", re.MULTILINE)
_RESIZED = re.compile(
    r"^Warning: Resizing cell port (?P<names>\S+) from (?P<old>\d+) bits to (?P<new>\d+) bits\.", re.M
)
_LATCH = re.compile(
    r"Latch inferred for signal `(?P<module>[^']*?)\.\\(?P<signal>[^'\s]+)(?: \[(?P<bits>[^\]]*)\])?' "
    r"from (?P<kind>always_latch |always_comb )?process `[^']*?\$proc\$(?P<path>[^']+?):(?P<line>\d+)\$\d+'"
)
_DRIVERS = re.compile(r"^Warning: multiple conflicting drivers for (?P<name>.+):$")
_CONSTANT = re.compile(r"^Warning: Driver-driver conflict for (?P<name>.+?) between cell (?P<cell>.+) and constant")
_UNDRIVEN = re.compile(r"^Warning: Wire (?P<name>.+) is used but has no driver\.$")
_LOOP = re.compile(r"^Warning: found logic loop in module (?P<module>.+):$")
_SIGNAL = re.compile(r"^(?P<module>.+?)\.(?P<signal>\\?[^\s]+)(?: \[(?P<bits>[\d:]+)\])?$")
_PORT_DRIVER = re.compile(r"^\s+port \S+ of cell (?P<cell>.+) \(.+\)$")
_LOOP_CELL = re.compile(r"^\s+cell (?P<cell>\S+) \((?P<type>[^)]*)\)")
_LOOP_SOURCE = re.compile(r"source: (?P<path>[^\s|:]+):(?P<line>\d+)")
_SHOWN_PLACES = 6


@dataclass(frozen=True)
class _Finding:
    """One line of `check` with the lines that belong to it."""

    head: str
    rest: tuple[str, ...]


def read_findings(log: str) -> Iterator[Diagnostic]:
    """Yield the warnings of `read_verilog`."""
    for found in _READ_WARNING.finditer(log):
        message = readable(found["message"])
        implicit = "implicitly declared" in message
        yield Diagnostic(
            TOOL,
            Severity.WARNING,
            "IMPLICIT_WIRE" if implicit else "YOSYS_WARNING",
            message,
            found["path"],
            int(found["line"]),
            hint="declare it, or correct its name; `default_nettype none finds such names" if implicit else "",
        )


def width_findings(log: str, netlist: Netlist) -> Iterator[Diagnostic]:
    """Yield the port connections whose widths differ."""
    for found in _RESIZED.finditer(log):
        module, _, rest = found["names"].partition(".")
        instance, _, port = rest.rpartition(".")
        owner = _module_named(netlist, module)
        cell = owner.cells.get(instance.removeprefix("\\")) if owner else None
        text = f"port '{port}' of instance '{instance}' has {found['new']} bits but is connected to {found['old']}"
        yield _at(cell.place if cell else None, Severity.WARNING, "PORT_WIDTH", text)


def latch_findings(log: str) -> Iterator[Diagnostic]:
    """Yield one warning a signal for which `proc` inferred latches that nobody asked for."""
    bits: dict[tuple[str, int, str], list[str]] = {}
    for found in _LATCH.finditer(log):
        if found["kind"] != "always_latch ":
            key = (found["path"], int(found["line"]), found["signal"])
            bits.setdefault(key, []).append(found["bits"] or "")
    for (path, line, signal), ranges in bits.items():
        shown = signal + (f"[{','.join(reversed(ranges))}]" if all(ranges) else "")
        yield Diagnostic(
            TOOL,
            Severity.WARNING,
            "LATCH",
            f"latch inferred for '{shown}': the process at line {line} does not assign it on every path",
            path,
            line,
            hint="assign a default at the start of the process, or cover every branch and case",
        )


def check_findings(log: str, netlist: Netlist) -> list[Diagnostic]:
    """Return the errors that `check` reports: MULTIDRIVEN, UNDRIVEN and COMB_LOOP."""
    undriven: dict[tuple[str, str], list[str]] = {}
    driven: dict[tuple[str, str], list[_Finding]] = {}
    found: list[Diagnostic] = []
    for finding in _blocks(log):
        if match := _LOOP.match(finding.head):
            found.append(_loop(finding, _module_named(netlist, match["module"])))
        elif match := _DRIVERS.match(finding.head) or _CONSTANT.match(finding.head):
            driven.setdefault(_owner_and_signal(match["name"]), []).append(finding)
        elif match := _UNDRIVEN.match(finding.head):
            name = match["name"]
            bits = re.search(r" \[([\d:]+)\]$", name)
            undriven.setdefault(_owner_and_signal(name), []).append(bits[1] if bits else "")
    found += [_multidriven(_module_named(netlist, m), s, findings) for (m, s), findings in driven.items()]
    found += [_undriven(_module_named(netlist, m), s, ranges) for (m, s), ranges in undriven.items()]
    return found


def unresolved_findings(netlist: Netlist) -> Iterator[Diagnostic]:
    """Yield an error for each instance of a module that is not among the files."""
    for module, cell in netlist.unresolved():
        empty = cell.type in netlist.modules
        text = f"module '{cell.type}', instantiated as '{cell.name}' in '{module}', "
        text += "has an empty body" if empty else "is not defined"
        hint = "write what it does, or add the file that does" if empty else "add the file that defines it"
        yield _at(cell.place, Severity.ERROR, "UNRESOLVED_MODULE", text, hint)


def empty_findings(netlist: Netlist, top: str) -> Iterator[Diagnostic]:
    """Yield a warning if the top has outputs and an empty body, which Yosys takes for a black box."""
    module = netlist.modules.get(top)
    outputs = [p.name for p in module.ports if p.direction != "input"] if module and module.blackbox else []
    if module and outputs:
        text = f"module '{top}' has an empty body: nothing drives {', '.join(outputs)}"
        yield _at(module.place, Severity.WARNING, "EMPTY_MODULE", text, "write what it does")


def _blocks(log: str) -> Iterable[_Finding]:
    blocks: list[tuple[str, list[str]]] = []
    for line in log.splitlines():
        if line.startswith("Warning: "):
            blocks.append((line, []))
        elif line.startswith("    ") and blocks:
            blocks[-1][1].append(line)
    return [_Finding(head, tuple(rest)) for head, rest in blocks]


def _owner_and_signal(name: str) -> tuple[str, str]:
    found = _SIGNAL.match(name)
    return (found["module"], found["signal"].removeprefix("\\")) if found else ("", name)


def _module_named(netlist: Netlist, name: str) -> Module | None:
    return netlist.modules.get(name.removeprefix("\\"))


def _at(place: Place | None, severity: Severity, code: str, message: str, hint: str = "") -> Diagnostic:
    where = place or Place("", 0)
    return Diagnostic(TOOL, severity, code, message, where.path, where.line, where.column, hint)


def _loop(finding: _Finding, module: Module | None) -> Diagnostic:
    places: list[str] = []
    signals: list[str] = []
    first: Place | None = None
    for line in finding.rest:
        source = _LOOP_SOURCE.search(line)
        if source:
            first = first or Place(source["path"], int(source["line"]))
            places.append(f"{source['path']}:{source['line']}")
        cell = _LOOP_CELL.match(line)
        if cell and module and (driver := module.cells.get(cell["cell"].removeprefix("\\"))):
            signals += [n.name for n in module.names_of(_outputs(driver))][:1]
    through = ", ".join(f"'{s}'" for s in dict.fromkeys(signals)) or "unnamed logic"
    route = ", ".join(list(dict.fromkeys(places))[:_SHOWN_PLACES])
    text = f"combinational loop through {through}" + (f" ({route})" if route else "")
    return _at(first, Severity.ERROR, "COMB_LOOP", text, "break the loop with a register")


def _outputs(cell: Cell) -> set[int | str]:
    return {b for port, bits in cell.connections.items() if cell.directions.get(port) == "output" for b in bits}


def _multidriven(module: Module | None, signal: str, findings: list[_Finding]) -> Diagnostic:
    shown, place = signal, None
    drivers: list[Place] = []
    if module:
        cells = [m["cell"] for f in findings for line in f.rest if (m := _PORT_DRIVER.match(line))]
        cells += [m["cell"].rpartition(".")[2] for f in findings if (m := _CONSTANT.match(f.head))]
        found = [module.cells.get(name.removeprefix("\\")) for name in cells]
        drivers = sorted({c.place for c in found if c and c.place}, key=lambda p: (p.path, p.line))
        net = _shorted_net(module, signal)
        shown, place = (net or signal), module.nets[net or signal].place if (net or signal) in module.nets else None
    where = ", ".join(dict.fromkeys(f"{p.path}:{p.line}" for p in drivers))
    text = f"'{shown}' has more than one driver" + (f": {where}" if where else "")
    return _at(
        drivers[0] if drivers else place, Severity.ERROR, "MULTIDRIVEN", text, "drive a signal from one place only"
    )


def _shorted_net(module: Module, signal: str) -> str | None:
    """Return the signal that joins two inputs, when Yosys blames an input of the module itself."""
    ports = {p.name: p for p in module.ports if p.direction == "input"}
    if signal not in ports:
        return None
    others = module.names_of(set(ports[signal].bits))
    return next((n.name for n in others if n.name not in ports), None)


def _undriven(module: Module | None, signal: str, ranges: list[str]) -> Diagnostic:
    net = module.nets.get(signal) if module else None
    shown = signal + (f"[{','.join(ranges)}]" if all(ranges) else "")
    return _at(
        net.place if net else None,
        Severity.ERROR,
        "UNDRIVEN",
        f"'{shown}' is used but nothing drives it",
        "assign it, connect it, or correct its name",
    )
