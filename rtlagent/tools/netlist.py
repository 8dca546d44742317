"""Read the JSON that Yosys's `write_json` writes, as far as places and names go."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtlagent.errors import ToolError

MAX_BYTES = 256_000_000
_PLACE = re.compile(r"^(?P<path>[^|]+?):(?P<line>\d+)(?:\.(?P<column>\d+))?")


@dataclass(frozen=True)
class Place:
    """Where something stands in the source."""

    path: str
    line: int
    column: int = 0


@dataclass(frozen=True)
class Net:
    """A named signal of a module."""

    name: str
    bits: tuple[int | str, ...]
    """Net numbers, least significant first; `0`, `1`, `x` or `z` for constants."""
    place: Place | None
    hidden: bool
    """True for a name that Yosys made up."""


@dataclass(frozen=True)
class Cell:
    """An instance in a module."""

    name: str
    type: str
    place: Place | None
    connections: Mapping[str, tuple[int | str, ...]]
    directions: Mapping[str, str]
    source: str = ""
    """All its places, as Yosys writes them: `a.v:3.1-3.9|b.v:7.2-7.5`."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Numbers as binary digits."""


@dataclass(frozen=True)
class ModulePort:
    """A port of a module as elaborated."""

    name: str
    direction: str
    bits: tuple[int | str, ...]


@dataclass(frozen=True)
class Module:
    """A module of a netlist."""

    name: str
    """As declared, without parameter values."""
    ports: tuple[ModulePort, ...]
    nets: Mapping[str, Net]
    cells: Mapping[str, Cell]
    blackbox: bool
    place: Place | None = None

    def names_of(self, bits: Container[int | str]) -> list[Net]:
        """Return the signals with a name of the user's that carry one of `bits`, in order of place."""
        found = [n for n in self.nets.values() if not n.hidden and any(b in bits for b in n.bits)]
        return sorted(found, key=lambda n: (n.place.path, n.place.line) if n.place else ("", 0))


@dataclass(frozen=True)
class Netlist:
    """All modules, by the name that Yosys gives them."""

    modules: Mapping[str, Module] = field(default_factory=dict)

    def unresolved(self) -> Iterator[tuple[str, Cell]]:
        """Yield (module name, cell) for each instance of a module that nobody defines, or only as a black box."""
        for module in self.modules.values():
            for cell in module.cells.values():
                known = self.modules.get(cell.type)
                internal = cell.type.startswith("$") and not cell.type.startswith("$paramod")
                if not internal and (known is None or known.blackbox):
                    yield module.name, cell


def load(path: Path) -> Netlist:
    """Read a file that `write_json` wrote.

    Raises:
        ToolError: it is missing, too large or not such a file.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ToolError(f"the netlist is larger than {MAX_BYTES // 1_000_000} MB")
        modules = json.loads(path.read_text())["modules"]
        return Netlist({name: _module(name, body) for name, body in modules.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"Yosys's netlist is missing or unreadable: {type(error).__name__}") from error


def parse_place(source: str, known: Container[str] | None = None) -> Place | None:
    """Return the first place of a `src` attribute such as `a.v:3.1-3.9|b.v:7.2-7.5`.

    Places in files outside `known` (Yosys's own cell libraries) are passed over.
    """
    for part in source.split("|"):
        found = _PLACE.match(part)
        if found and (known is None or found["path"] in known):
            return Place(found["path"], int(found["line"]), int(found["column"] or 0))
    return None


def _module(name: str, body: Mapping[str, Any]) -> Module:
    attributes = body.get("attributes", {})
    return Module(
        name=declared_name(name),
        ports=tuple(ModulePort(n, p["direction"], tuple(p["bits"])) for n, p in body.get("ports", {}).items()),
        nets={n: _net(n, v) for n, v in body.get("netnames", {}).items()},
        cells={n: _cell(n, c) for n, c in body.get("cells", {}).items()},
        blackbox=bool({"blackbox", "whitebox"} & attributes.keys()),
        place=parse_place(attributes.get("src", "")),
    )


def _net(name: str, value: Mapping[str, Any]) -> Net:
    hidden = bool(value.get("hide_name", 0))
    return Net(name, tuple(value["bits"]), parse_place(value.get("attributes", {}).get("src", "")), hidden)


def _cell(name: str, value: Mapping[str, Any]) -> Cell:
    return Cell(
        name=name,
        type=value["type"],
        place=parse_place(value.get("attributes", {}).get("src", "")),
        connections={p: tuple(b) for p, b in value.get("connections", {}).items()},
        directions=value.get("port_directions", {}),
        source=value.get("attributes", {}).get("src", ""),
        parameters={n: str(p) for n, p in value.get("parameters", {}).items()},
    )


def declared_name(name: str) -> str:
    r"""Return a module's name in the source: `fifo` for `$paramod\fifo\W=s32'...` and `$paramod$3f2a\fifo`."""
    found = re.match(r"\$paramod(?:\$[0-9a-f]+)?\\([^\\]+)", name)
    return found[1] if found else name.removeprefix("\\")
