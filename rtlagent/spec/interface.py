"""Ports, parameters, clock and reset of a spec, in all the forms that people write."""

from __future__ import annotations

from rtlagent.spec.fields import boolean, choice, entries, identifier, kind_of, positive_number, text
from rtlagent.spec.front_matter import Mapping, Node, Scalar
from rtlagent.spec.names import is_active_low
from rtlagent.spec.problems import Place, Problems, suggestion
from rtlagent.types import Clock, Port, Reset

_EDGES = {"posedge": "posedge", "rising": "posedge", "negedge": "negedge", "falling": "negedge"}


def read_clock(node: Node, problems: Problems) -> tuple[Clock, Place] | None:
    """Read `clock: clk` or `clock: {port: clk, edge: posedge, period_ns: 10}`."""
    if not isinstance(node, Mapping):
        name = _port_name(node, "clock", "{port: clk, edge: posedge, period_ns: 10}", problems)
        return (Clock(name), node.place) if name else None
    keys = entries(node, "clock", ("port", "edge", "period_ns"), problems)
    port = _port_key(node, keys, "clock", problems)
    edge = choice(keys["edge"], "clock edge", tuple(_EDGES), problems) if "edge" in keys else "posedge"
    period = positive_number(keys["period_ns"], "period_ns", problems) if "period_ns" in keys else 10.0
    if port is None or edge is None or period is None:
        return None
    return Clock(port, _EDGES[edge], period), keys["port"].place


def read_reset(node: Node, problems: Problems) -> tuple[Reset, Place] | None:
    """Read `reset: rst_n` or `reset: {port: rst_n, active: low, synchronous: true}`.

    Without `active`, the name decides: `rst_n`, `reset_b`, `resetn`, `nrst` and the like are active
    low, all others high. Without `synchronous` (or its opposite, `async`) it is synchronous.
    """
    if not isinstance(node, Mapping):
        name = _port_name(node, "reset", "{port: rst_n, active: low, synchronous: true}", problems)
        return (Reset(name, "low" if is_active_low(name) else "high"), node.place) if name else None
    keys = entries(node, "reset", ("port", "active", "synchronous", "async"), problems)
    port = _port_key(node, keys, "reset", problems)
    if port is None:
        return None
    active: str | None = "low" if is_active_low(port) else "high"
    if "active" in keys:
        active = choice(keys["active"], "reset level", ("high", "low"), problems)
    synchronous = _synchronous(keys, problems)
    if active is None or synchronous is None:
        return None
    return Reset(port, active, synchronous), keys["port"].place


def _synchronous(keys: dict[str, Node], problems: Problems) -> bool | None:
    plain = boolean(keys["synchronous"], "synchronous", problems) if "synchronous" in keys else None
    opposite = boolean(keys["async"], "async", problems) if "async" in keys else None
    if ("synchronous" in keys and plain is None) or ("async" in keys and opposite is None):
        return None
    if plain is not None and plain == opposite:
        problems.add(keys["async"].place, "async contradicts synchronous", "give only one of the two")
        return None
    if plain is not None:
        return plain
    return opposite is not True


def _port_name(node: Node, what: str, long_form: str, problems: Problems) -> str | None:
    if isinstance(node, Scalar):
        if len(node.text.split()) > 1:
            problems.add(node.place, f"{what} must be one port's name", f"for more, write {what}: {long_form}")
            return None
        return identifier(node, f"{what} port", problems)
    problems.add(node.place, f"{what} must be a port's name or keys, not {kind_of(node)}", f"{what}: {long_form}")
    return None


def _port_key(node: Mapping, keys: dict[str, Node], what: str, problems: Problems) -> str | None:
    if "port" in keys:
        return identifier(keys["port"], f"{what} port", problems)
    problems.add(node.place, f"{what} has no port", f"write {what}: {{port: NAME}}")
    return None


def check_driven(what: str, name: str, place: Place, ports: tuple[Port, ...], problems: Problems) -> None:
    """Note a clock or reset that the listed ports contradict."""
    port = next((p for p in ports if p.name == name), None)
    if port is None:
        hint = suggestion(name, [p.name for p in ports if p.direction == "input"])
        problems.add(place, f"{what} {name!r} is not among the ports", hint)
    elif port.direction != "input":
        problems.add(place, f"{what} {name!r} is an {port.direction}, not an input")
    elif port.width not in (1, None):
        problems.add(place, f"{what} {name!r} is {port.width} bits wide, not 1")


def description(keys: dict[str, Node], problems: Problems) -> str:
    """Return the `description` among `keys`, or an empty text."""
    return (text(keys["description"], "description", problems) or "") if "description" in keys else ""
