"""The two ends of a stream: one sends, one receives, compares, and watches the handshake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rtlagent_bench_pins import Pin, Pins, now_ns
from rtlagent_bench_report import MAX_MISMATCHES, ScenarioReport


@dataclass
class Progress:
    """What the ends and domains of one scenario share."""

    report: ScenarioReport
    quiet_ns: float
    """Time without a transfer that means a hang."""
    last_ns: float = 0.0
    longest_wait_ns: float = 0.0
    released: bool = False
    """The resets are over."""
    started: bool = False
    """Items may move."""
    drain_until_ns: float | None = None
    done: bool = False
    stop_at_mismatch: bool = False
    """The first mismatch ends the scenario."""

    def transfer(self) -> float:
        """Note that an item was accepted somewhere, and return when."""
        now = now_ns()
        self.longest_wait_ns = max(self.longest_wait_ns, now - self.last_ns)
        self.last_ns = now
        return now


class Pace:
    """Decides in which cycles valid or ready is withheld, in phases of more or less haste.

    Both ends have a pace of their own, so that a FIFO between them both fills and empties.
    """

    def __init__(self, rng: Random, gap_percent: int) -> None:
        self.rng = rng
        self.choices = (0, gap_percent, gap_percent, min(95, 2 * gap_percent))
        self.left = 0
        self.percent = 0

    def pauses(self) -> bool:
        """Return whether to pause in this cycle."""
        if self.left == 0:
            self.left = self.rng.randint(12, 60)
            self.percent = self.rng.choice(self.choices)
        self.left -= 1
        return self.percent > 0 and self.rng.random() * 100 < self.percent


@dataclass(frozen=True)
class Level:
    """A handshake signal with its polarity."""

    name: str
    active: str
    """`0` or `1`."""

    @classmethod
    def parse(cls, text: str) -> Level:
        """Read `full` or `!full`."""
        return cls(text.removeprefix("!"), "0" if text.startswith("!") else "1")

    @property
    def inactive(self) -> str:
        """The other level."""
        return "1" if self.active == "0" else "0"

    def value(self, asserted: bool) -> dict[str, int]:
        """Return the port's value, to be driven."""
        return {self.name: int(self.active if asserted else self.inactive)}


@dataclass(frozen=True)
class Channel:
    """What both kinds of end are made of."""

    port: Mapping[str, Any]
    """A types.StreamPort, as JSON."""
    pins: Pins
    progress: Progress
    rng: Random
    pace: Pace


class End:
    """One end of a stream."""

    def __init__(self, channel: Channel) -> None:
        self.port = channel.port
        self.pins = channel.pins
        self.progress = channel.progress
        self.rng = channel.rng
        self.pace = channel.pace
        self.valid = Level.parse(self.port["valid"])
        self.ready = Level.parse(self.port["ready"]) if self.port["ready"] else None
        self.index = 0
        self.accepted_ns: list[float] = []

    @property
    def complete(self) -> bool:
        """Whether this end has nothing left to do."""
        raise NotImplementedError

    def drive(self) -> None:
        """Drive this end's pins when inputs may change."""
        raise NotImplementedError

    def sample(self, cycle: int) -> None:
        """Read this end's pins just before the edge."""
        raise NotImplementedError

    def stuck(self) -> str:
        """Say what is missing; empty if nothing is."""
        raise NotImplementedError


class Sender(End):
    """Sends the items of one input stream and holds each until it is accepted."""

    def __init__(self, channel: Channel, items: Sequence[Mapping[str, int]]) -> None:
        super().__init__(channel)
        self.items = items
        self.asserted = False

    @property
    def complete(self) -> bool:
        """Whether every item was accepted."""
        return self.index == len(self.items)

    def drive(self) -> None:
        """Offer an item, or pause with garbage on the data."""
        if self.asserted:
            return
        if not self.complete and self.progress.started and not self.pace.pauses():
            self.asserted = True
            self.pins.drive({**self.items[self.index], **self.valid.value(True)})
            return
        garbage = {d: self.rng.getrandbits(self.pins.inputs[d].width) for d in self.port["data"]}
        self.pins.drive({**garbage, **self.valid.value(False)})

    def sample(self, cycle: int) -> None:
        """See whether the offered item is accepted at the coming edge."""
        if not self.asserted:
            return
        if self.ready is not None:
            got = self.pins.outputs[self.ready.name].read()
            if got not in ("0", "1"):
                report = self.progress.report
                report.wrong_cycles += 1
                report.add_mismatch(cycle, now_ns(), self.ready.name, ("-", got), stream=self.port["name"])
                self.progress.done = True
            if got != self.ready.active:
                return
        self.asserted = False
        self.index += 1
        self.accepted_ns.append(self.progress.transfer())

    def stuck(self) -> str:
        """Say what is missing; empty if nothing is."""
        if self.complete:
            return ""
        why = f" (`{self.ready.name}` stays {self.ready.inactive})" if self.ready else ""
        return f"input stream `{self.port['name']}`: item {self.index} of {len(self.items)} is never accepted{why}"


class Receiver(End):
    """Receives one output stream, compares it, and checks that offered items stay."""

    def __init__(self, channel: Channel, items: Sequence[Mapping[str, int | None]], *, endless: bool) -> None:
        super().__init__(channel)
        self.items = items
        # Nothing is sent: such a stream may go on for ever.
        self.endless = endless
        self.is_ready = self.ready is None
        self.data: list[tuple[str, Pin]] = [(d, self.pins.outputs[d]) for d in self.port["data"]]
        self.delay: int = self.port["data_delay"]
        self.due: list[tuple[int, int]] = []
        self.held: list[str] | None = None
        self.compared = 0

    @property
    def complete(self) -> bool:
        """Whether every expected item came and was compared."""
        return self.compared >= len(self.items)

    def drive(self) -> None:
        """Decide whether an item is taken at the coming edge."""
        if self.ready is not None:
            draining = self.progress.drain_until_ns is not None
            self.is_ready = self.progress.started and (draining or not self.pace.pauses())
            self.pins.drive(self.ready.value(self.is_ready))

    def sample(self, cycle: int) -> None:
        """Take and compare an item, and check the handshake."""
        if self.due and self.due[0][0] == cycle:
            self.compare(cycle, self.due.pop(0)[1])
        got = self.pins.outputs[self.valid.name].read()
        if got not in ("0", "1"):
            self.wrong(cycle, self.valid.name, ("-", got), self.index, "is unknown")
            self.progress.done = True
            return
        offered = got == self.valid.active
        if self.ready is not None:
            self.check_held(cycle, offered, got)
        if not (offered and self.is_ready):
            return
        self.accepted_ns.append(self.progress.transfer())
        if self.index >= len(self.items):
            if not self.endless:
                values = (self.valid.inactive, got)
                self.wrong(cycle, self.valid.name, values, self.index, "nobody expects this item")
        elif self.delay:
            self.due.append((cycle + self.delay, self.index))
        else:
            self.compare(cycle, self.index)
        self.index += 1

    def check_held(self, cycle: int, offered: bool, got: str) -> None:
        """Check that what was offered and not taken is still offered, unchanged."""
        now = [pin.read() for _, pin in self.data] if offered and not self.delay else []
        if self.held is not None:
            if not offered:
                values = (self.valid.active, got)
                self.wrong(cycle, self.valid.name, values, self.index, "dropped before it was accepted")
            for (name, _), before, after in zip(self.data, self.held, now, strict=False):
                if before != after:
                    self.wrong(cycle, name, (before, after), self.index, "changed before it was accepted")
        self.held = now if offered and not self.is_ready else None

    def compare(self, cycle: int, index: int) -> None:
        """Compare the data that are on the ports now with item `index`."""
        self.compared += 1
        self.progress.report.checked += 1
        wanted = self.items[index]
        for name, pin in self.data:
            value = wanted.get(name)
            if value is not None:
                text = f"{value:0{pin.width}b}"
                got = pin.read()
                if got != text:
                    self.wrong(cycle, name, (text, got), index)

    def wrong(self, cycle: int, signal: str, values: tuple[str, str], item: int, why: str = "") -> None:
        """Report (expected, got); too many of them end the scenario, for order errors never end."""
        report = self.progress.report
        report.wrong_cycles += 1
        where: dict[str, int | str] = {"stream": self.port["name"], "item": item}
        if why:
            where["why"] = why
        report.add_mismatch(cycle, now_ns(), signal, values, **where)
        if len(report.mismatches) >= MAX_MISMATCHES:
            self.progress.done = True

    def stuck(self) -> str:
        """Say what is missing; empty if nothing is."""
        if self.complete:
            return ""
        return f"output stream `{self.port['name']}`: item {self.index} of {len(self.items)} never comes"
