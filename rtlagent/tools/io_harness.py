"""Give a mapped netlist with more port bits than the chip has pins a few pins and shift registers.

Every port bit but clocks and bidirectional ones is connected to a flip-flop of the harness: the
inputs to a shift register that is filled from one pin, the outputs to another that folds each of
them (XOR) into a signal to one pin. The design's own cells stay as they are, so that its area and
the paths between its registers are what they would be without. The harness has a clock of its own:
its paths never take part in a design clock's fmax, and, as ever, neither do paths from and to pins.

    a[0] -> pin              harness_in -> FF -> FF -> ...
    a[1] -> pin                             |     |
    y    <- pin              harness:     a[0]  a[1]      y -> XOR -> FF -> harness_out
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtlagent.errors import ToolError

CLOCK = "rtlagent_harness_clk"
_IN, _OUT = "rtlagent_harness_in", "rtlagent_harness_out"
_CLOCK_PORTS = frozenset(
    {"CLK", "CLKA", "CLKB", "CLK0", "CLK1", "CLK2", "CLK3", "CLKI", "CLOCK", "RCLK", "WCLK", "RCLKN", "WCLKN", "WCK"}
    | {"USER_SIGNAL_TO_GLOBAL_BUFFER"}
)
_XOR = format(0x6666, "016b")
_Bit = int | str


@dataclass(frozen=True)
class Harness:
    """What was added."""

    inputs: int
    outputs: int

    @property
    def note(self) -> str:
        """One line for a report."""
        return (
            f"more port bits than pins: {self.inputs} inputs and {self.outputs} outputs are held by shift registers "
            f"on a clock of their own, which take {self.inputs + self.outputs} FFs and {self.outputs} LUTs more"
        )


def add_harness(source: Path, target: str, top: str, out: Path) -> Harness:
    """Write the netlist `source` (Yosys JSON of ice40 or ecp5 cells) with a harness to `out`.

    Raises:
        ToolError: it is not such a netlist.
    """
    try:
        netlist = json.loads(source.read_text())
        builder = _Builder(netlist["modules"][top], target)
        harness = builder.build()
        out.write_text(json.dumps(netlist))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"the netlist is missing or unreadable: {type(error).__name__}") from error
    return harness


class _Builder:
    """Changes the JSON of one module in place."""

    def __init__(self, module: dict[str, Any], target: str) -> None:
        self._ports: dict[str, Any] = module["ports"]
        self._nets: dict[str, Any] = module["netnames"]
        self._cells: dict[str, Any] = module["cells"]
        self._target = target
        cells = self._cells.values()
        bits = [b for c in cells for bits in c["connections"].values() for b in bits]
        bits += [b for p in [*self._ports.values(), *self._nets.values()] for b in p["bits"]]
        self._next = 1 + max((b for b in bits if isinstance(b, int)), default=1)
        self._clocks = set(self._clock_bits(cells))

    def _clock_bits(self, cells: Any) -> Iterator[_Bit]:
        for cell in cells:
            for port, bits in cell["connections"].items():
                # Port C of ecp5's LUT4 is a data input.
                if port in _CLOCK_PORTS or (port == "C" and cell["type"].startswith("SB_DFF")):
                    yield from bits

    def build(self) -> Harness:
        clock, data = self._pin(CLOCK, "input"), self._pin(_IN, "input")
        folded: _Bit = "0"
        inputs = outputs = 0
        for name, port in list(self._ports.items()):
            kept = port["direction"] == "inout" or self._clocks & set(port["bits"])
            if kept or name in (CLOCK, _IN):
                continue
            del self._ports[name]
            for bit in port["bits"]:
                if port["direction"] == "input":
                    self._flip_flop(f"i{inputs}", clock, data, bit)
                    data, inputs = bit, inputs + 1
                else:
                    folded, outputs = self._fold(f"o{outputs}", clock, folded, bit), outputs + 1
        if not outputs:
            folded = self._fold("o0", clock, folded, data)
        self._pin(_OUT, "output", folded)
        return Harness(inputs, outputs)

    def _new(self) -> int:
        self._next += 1
        return self._next - 1

    def _pin(self, name: str, direction: str, bit: _Bit | None = None) -> _Bit:
        bits = [self._new() if bit is None else bit]
        self._ports[name] = {"direction": direction, "bits": bits}
        self._nets[name] = {"hide_name": 0, "bits": bits, "attributes": {}}
        return bits[0]

    def _fold(self, name: str, clock: _Bit, before: _Bit, bit: _Bit) -> _Bit:
        mixed, held = self._new(), self._new()
        names = ("I0", "I1", "I2", "I3", "O") if self._target == "ice40" else ("A", "B", "C", "D", "Z")
        values = (before, "0" if bit == "x" else bit, "0", "0", mixed)
        parameter = "LUT_INIT" if self._target == "ice40" else "INIT"
        kind = "SB_LUT4" if self._target == "ice40" else "LUT4"
        self._cell(f"lut_{name}", kind, {parameter: _XOR}, dict(zip(names, values, strict=True)))
        self._flip_flop(name, clock, mixed, held)
        return held

    def _flip_flop(self, name: str, clock: _Bit, data: _Bit, out: _Bit) -> None:
        if self._target == "ice40":
            self._cell(f"ff_{name}", "SB_DFF", {}, {"C": clock, "D": data, "Q": out})
            return
        settings = {"GSR": "DISABLED", "CEMUX": "1 ", "CLKMUX": "CLK", "LSRMUX": "LSR", "REGSET": "RESET"}
        settings["SRMODE"] = "LSR_OVER_CE"
        self._cell(f"ff_{name}", "TRELLIS_FF", settings, {"CLK": clock, "DI": data, "LSR": "0", "Q": out})

    def _cell(self, name: str, kind: str, parameters: Mapping[str, str], connections: Mapping[str, _Bit]) -> None:
        self._cells[f"rtlagent_harness_{name}"] = {
            "hide_name": 0,
            "type": kind,
            "parameters": parameters,
            "attributes": {},
            "port_directions": {p: "output" if p in ("O", "Q", "Z") else "input" for p in connections},
            "connections": {p: [b] for p, b in connections.items()},
        }
