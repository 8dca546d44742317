"""Compare the ports of two versions of a module, and find resets and clocks among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rtlagent.errors import UsageError, suggestion
from rtlagent.tools.netlist import Module
from rtlagent.types import Diagnostic, Reset, Severity

_RESET = re.compile(
    r"(?:i_|sys_|core_)?(?P<low>n)?(?:[apsh]|async_|sync_)?(?:rst|reset)(?P<tail>_?(?:n|b|l|ni|n_i|in|i)?)",
    re.IGNORECASE,
)
_LATCHES = ("$dlatch", "$adlatch", "$dlatchsr", "$sr")


@dataclass(frozen=True)
class PortShape:
    """A port as elaborated."""

    name: str
    direction: str
    width: int


@dataclass(frozen=True)
class Clocking:
    """What a flattened module's storage elements listen to."""

    edges: frozenset[tuple[str, bool]]
    """(input port, True for the rising edge)."""
    simple: bool
    """True when one step of time may stand for one cycle: at most one edge of one input, no latch."""
    stateless: bool = False
    """True when nothing stores anything."""


def shapes(module: Module) -> tuple[PortShape, ...]:
    """Return the ports of a module."""
    return tuple(PortShape(p.name, p.direction, len(p.bits)) for p in module.ports)


def compare_ports(gold: Module, gate: Module, tool: str) -> list[Diagnostic]:
    """Return an error for each port in which `gate` differs from `gold`, at its place in `gate`."""
    want, have = ({p.name: p for p in shapes(m)} for m in (gold, gate))
    return list(_differences(want, have, gate, tool))


def _differences(
    want: dict[str, PortShape], have: dict[str, PortShape], gate: Module, tool: str
) -> Iterator[Diagnostic]:
    for name in sorted(want.keys() | have.keys()):
        gold, got = want.get(name), have.get(name)
        if got is None:
            yield _at(gate, name, tool, "PORT_MISSING", f"port '{name}' of the reference is missing")
        elif gold is None:
            yield _at(gate, name, tool, "PORT_EXTRA", f"port '{name}' is not in the reference")
        elif gold.direction != got.direction:
            text = f"port '{name}' is an {got.direction}, in the reference an {gold.direction}"
            yield _at(gate, name, tool, "PORT_DIRECTION", text)
        elif gold.width != got.width:
            text = f"port '{name}' has {got.width} bits, in the reference {gold.width}"
            yield _at(gate, name, tool, "PORT_WIDTH", text)


def _at(module: Module, name: str, tool: str, code: str, message: str) -> Diagnostic:
    net = module.nets.get(name)
    place = (net.place if net else None) or module.place
    where = (place.path, place.line, place.column) if place else ("", 0, 0)
    return Diagnostic(tool, Severity.ERROR, code, message, *where, hint="keep the interface as it is")


def find_resets(ports: Iterable[PortShape], reset: Reset | None) -> tuple[Reset, ...]:
    """Return the reset named, or the inputs whose names say that they are resets.

    Names such as `rst`, `reset`, `arst_i` are active high; `rst_n`, `aresetn`, `presetn`, `nrst` low.

    Raises:
        UsageError: the reset named is no one-bit input.
    """
    inputs = [p.name for p in ports if p.direction == "input" and p.width == 1]
    if reset is not None:
        if reset.port not in inputs:
            raise UsageError(f"the reset '{reset.port}' is no one-bit input", hint=suggestion(reset.port, inputs))
        return (reset,)
    found = [(n, m) for n in inputs if (m := _RESET.fullmatch(n))]
    return tuple(Reset(n, "low" if _is_low(m) else "high") for n, m in found)


def _is_low(found: re.Match[str]) -> bool:
    return bool(found["low"]) or found["tail"].strip("_").lower() in ("n", "b", "l", "ni", "n_i")


def clocking(modules: Iterable[Module]) -> Clocking:
    """Find the clock edges of flattened modules with the same ports."""
    edges: set[tuple[str, bool]] = set()
    latches = internal = registers = False
    for module in modules:
        inputs = {p.bits[0]: p.name for p in module.ports if p.direction == "input" and len(p.bits) == 1}
        for cell in module.cells.values():
            latches = latches or cell.type in _LATCHES
            registers = registers or "dff" in cell.type or cell.type == "$ff"
            for bit in cell.connections.get("CLK", ()) if "dff" in cell.type else ():
                if bit in inputs:
                    edges.add((inputs[bit], cell.parameters.get("CLK_POLARITY", "1").endswith("1")))
                else:
                    internal = True
    simple = not latches and not internal and len(edges) <= 1
    return Clocking(frozenset(edges), simple, stateless=not latches and not registers)
