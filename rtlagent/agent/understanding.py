"""What the model read in the specification, checked and merged with what the user fixed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rtlagent.agent.replies import UnusableReplyError
from rtlagent.types import Clock, Port, Reset, Spec

REQUESTS = ("new", "extend", "fix", "optimise")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*")
_MAX_WIDTH = 8192
"""As many as the recorder of the golden model takes."""


@dataclass(frozen=True)
class Assumption:
    """Something the specification left open, and how it was settled."""

    question: str
    assumption: str
    reason: str = ""


@dataclass(frozen=True)
class Understanding:
    """The model's reading of a specification."""

    request: str
    """`new`, `extend`, `fix` or `optimise`."""
    top: str
    ports: tuple[Port, ...]
    clock: Clock | None
    reset: Reset | None
    behaviours: tuple[str, ...]
    assumptions: tuple[Assumption, ...]

    def complete(self, spec: Spec) -> Spec:
        """Fill the gaps of a spec; what the user fixed stays as it is."""
        widths = {p.name: p.width for p in self.ports}
        fixed = tuple(replace(p, width=widths.get(p.name)) if p.width is None else p for p in spec.ports)
        ports = fixed or self.ports
        names = {p.name for p in ports}
        clock = spec.clock or (self.clock if self.clock and self.clock.port in names else None)
        reset = spec.reset or (self.reset if self.reset and self.reset.port in names else None)
        return replace(spec, top=spec.top or self.top, ports=ports, clock=clock, reset=reset)


def read_understanding(value: Mapping[str, Any], spec: Spec) -> Understanding:
    """Check a model's JSON answer.

    Raises:
        UnusableReplyError: a field is missing or wrong; the text names it.
    """
    request = value.get("request", "new")
    if request not in REQUESTS:
        raise UnusableReplyError(f"`request` must be one of {', '.join(REQUESTS)}")
    if request != "new" and not spec.context_files:
        request = "new"
    top = spec.top or value.get("top")
    if not isinstance(top, str) or not _NAME.fullmatch(top):
        raise UnusableReplyError("`top` must be a module name")
    ports = tuple(_port(p) for p in _list(value, "ports"))
    if not ports and not spec.ports:
        raise UnusableReplyError("`ports` is empty")
    names = [p.name for p in ports]
    if len(set(names)) != len(names):
        raise UnusableReplyError("`ports` names a port twice")
    clock, reset = _clock(value.get("clock")), _reset(value.get("reset"))
    found = Understanding(
        request=request,
        top=top,
        ports=ports,
        clock=clock,
        reset=reset,
        behaviours=tuple(str(b) for b in _list(value, "behaviours")),
        assumptions=tuple(_assumption(a) for a in _list(value, "assumptions")),
    )
    _check_complete(found, spec)
    return found


def _check_complete(found: Understanding, spec: Spec) -> None:
    """Refuse an interface that no bench could drive: its later failure would look like the user's mistake."""
    ports = {p.name: p for p in found.complete(spec).ports}
    for role, part in (("clock", found.clock), ("reset", found.reset)):
        port = ports.get(part.port) if part else None
        if part and port is None:
            raise UnusableReplyError(f"`{role}` names {part.port!r}, which is not among the ports")
        if port and (port.direction, port.width) != ("input", 1):
            raise UnusableReplyError(f"`{role}` names {port.name!r}, which is not an input of one bit")
    unknown = [p.name for p in ports.values() if p.width is None]
    if unknown:
        raise UnusableReplyError(f"`ports` lacks the width of {', '.join(unknown)}")
    if not any(p.direction == "output" for p in ports.values()):
        raise UnusableReplyError("`ports` has no output, so that nothing could be checked")


def _list(value: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = value.get(key) or []
    if not isinstance(found, list):
        raise UnusableReplyError(f"`{key}` must be a list")
    return found


def _port(value: object) -> Port:
    if not isinstance(value, dict):
        raise UnusableReplyError("each port must be an object")
    name, direction, width = value.get("name"), value.get("direction"), value.get("width", 1)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UnusableReplyError(f"the port name {name!r} is not an identifier")
    if direction not in ("input", "output", "inout"):
        raise UnusableReplyError(f"the direction of port {name} must be input, output or inout")
    if isinstance(width, str) and re.fullmatch(r"[0-9]{1,9}", width):
        width = int(width)
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= _MAX_WIDTH:
        raise UnusableReplyError(f"the width of port {name} must be a number of bits from 1 to {_MAX_WIDTH}")
    return Port(name, direction, width, bool(value.get("signed", False)))


def _clock(value: object) -> Clock | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("port"), str):
        raise UnusableReplyError("`clock` must be null or an object with `port`")
    edge = value.get("edge", "posedge")
    if edge not in ("posedge", "negedge"):
        raise UnusableReplyError("`clock.edge` must be posedge or negedge")
    return Clock(value["port"], edge)


def _reset(value: object) -> Reset | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("port"), str):
        raise UnusableReplyError("`reset` must be null or an object with `port`")
    active = value.get("active", "high")
    if active not in ("high", "low"):
        raise UnusableReplyError("`reset.active` must be high or low")
    return Reset(value["port"], active, bool(value.get("synchronous", True)))


def _assumption(value: object) -> Assumption:
    if isinstance(value, str):
        return Assumption("", value)
    if not isinstance(value, dict) or not value.get("assumption"):
        raise UnusableReplyError("each assumption needs `question` and `assumption`")
    return Assumption(str(value.get("question", "")), str(value["assumption"]), str(value.get("reason", "")))
