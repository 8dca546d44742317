"""The DUT's ports and clocks, as cheap to touch as the simulator allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cocotb.handle import Immediate, LogicObject
from cocotb.simtime import get_sim_time
from cocotb.triggers import Timer

RESET_CYCLES = 3
# Not a multiple of any period, so that a reset or an input never moves together with the edge of another clock.
_SKEW_PS = 1003


class Pin:
    """One port of the DUT.

    `read` and `write` go straight to the simulator interface (cocotb 2.1: 64,000 instead of 21,000
    cycles of a small bench a second), and through the public handle where that is not possible.
    """

    def __init__(self, handle: Any, width: int) -> None:
        self.width = width
        raw = getattr(handle, "_handle", None)
        self.read: Callable[[], str] = getattr(raw, "get_signal_val_binstr", lambda: str(handle.value))
        self.write: Callable[[int], None] = self._writer(handle, raw)

    def _writer(self, handle: Any, raw: Any) -> Callable[[int], None]:
        width = self.width
        try:
            from cocotb.handle import _GPISetAction

            action = _GPISetAction.NO_DELAY.value
            put_text, put_int = raw.set_signal_val_binstr, raw.set_signal_val_int
        except (ImportError, AttributeError):
            return lambda value: handle.set(Immediate(value))
        if isinstance(handle, LogicObject):
            return lambda value: put_text(action, "1" if value else "0")
        if width <= 31:
            return lambda value: put_int(action, value)
        return lambda value: put_text(action, f"{value:0{width}b}")


class Pins:
    """All ports of the DUT that the trace knows, found and measured before anything is driven."""

    def __init__(self, dut: Any, ports: Iterable[Mapping[str, Any]]) -> None:
        self.problems: list[dict[str, str]] = []
        self.inputs: dict[str, Pin] = {}
        self.outputs: dict[str, Pin] = {}
        for port in ports:
            pin = self._find(dut, port)
            if pin is not None and port["direction"] != "inout":
                (self.inputs if port["direction"] == "input" else self.outputs)[port["name"]] = pin
        self._values: dict[str, int] = {}

    def _find(self, dut: Any, port: Mapping[str, Any]) -> Pin | None:
        name, width = port["name"], port["width"]
        try:
            handle = getattr(dut, name)
        except AttributeError:
            self.problems.append({"port": name, "problem": f"the design has no {port['direction']} port `{name}`"})
            return None
        if not hasattr(getattr(handle, "_handle", handle), "get_signal_val_binstr") or not hasattr(handle, "value"):
            self.problems.append({"port": name, "problem": f"port `{name}` is not a plain vector"})
            return None
        found = 1 if isinstance(handle, LogicObject) else len(handle)
        if found != width:
            text = f"port `{name}` is {found} bits wide in the design, and must be {width}"
            self.problems.append({"port": name, "problem": text})
            return None
        return Pin(handle, width)

    def drive(self, values: Mapping[str, int]) -> None:
        """Drive inputs, touching only those that change."""
        for name, value in values.items():
            if self._values.get(name) != value:
                self._values[name] = value
                self.inputs[name].write(value)

    def sample(self) -> dict[str, str]:
        """Return every output as binary text."""
        return {name: pin.read() for name, pin in self.outputs.items()}


class ClockPin:
    """A clock that the bench moves by hand, so that it is never in doubt what comes before the edge.

    One cycle: `after_edge` waits until inputs may change, `before_edge` waits until just before the
    active edge (the inactive edge passes in between), `edge` makes it.
    """

    def __init__(self, pin: Pin | None, edge: str, period_ns: float, name: str) -> None:
        self.pin = pin
        self.name = name
        self.active = 1 if edge == "posedge" else 0
        # Timers count in steps of the simulator's precision, which a design's `timescale may coarsen.
        step_ps = 10.0 ** (_precision() + 12)
        self.period_steps = max(8, round(period_ns * 1000 / step_ps))
        half = self.period_steps // 2
        skew = max(1, min(half - 1, round(_SKEW_PS / step_ps)))
        self.period_ns = self.period_steps * step_ps / 1000
        self._to_inputs = Timer(skew, "step")
        self._to_middle = Timer(half - skew, "step")
        self._to_end = Timer(self.period_steps - half, "step")
        if pin is not None:
            pin.write(1 - self.active)

    async def after_edge(self) -> None:
        """Wait until inputs may change."""
        await self._to_inputs

    async def before_edge(self) -> None:
        """Wait until the outputs have settled and the active edge is due."""
        await self._to_middle
        if self.pin is not None:
            self.pin.write(1 - self.active)
        await self._to_end

    def edge(self) -> None:
        """Make the active edge."""
        if self.pin is not None:
            self.pin.write(self.active)


def _precision() -> int:
    from cocotb import simulator

    return int(simulator.get_precision())


def now_ns() -> float:
    """Return the simulation time."""
    return float(get_sim_time("ns"))
