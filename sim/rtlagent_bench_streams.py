"""Run stream scenarios: one loop a clock domain, and a watch that says when all is over."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import cocotb
from rtlagent_bench_ends import Channel, End, Pace, Progress, Receiver, Sender
from rtlagent_bench_pins import RESET_CYCLES, ClockPin, Pins, now_ns
from rtlagent_bench_report import ScenarioReport

# After the reset of a design with several clocks: its own reset synchronizers need a few cycles.
_WARM_UP_CYCLES = 4
# How long to look for items that nobody expects, once all expected ones have come.
_DRAIN_CYCLES = 40


async def run_streams(
    pins: Pins,
    clocks: Sequence[ClockPin],
    request: Mapping[str, Any],
    scenario: Mapping[str, Any],
    report: ScenarioReport,
    *,
    idle: Mapping[str, int],
    active: Mapping[str, int],
) -> None:
    """Run one scenario in all its clock domains, resets included; `active` maps each reset to its active level."""
    trace = request["trace"]
    slowest_ns = max(c.period_ns for c in clocks)
    progress = Progress(report, trace["timeout_cycles"] * slowest_ns, last_ns=now_ns())
    progress.stop_at_mismatch = request.get("stop_at_mismatch", False)
    senders, receivers = make_ends(pins, trace, scenario, progress)
    pins.drive({**idle, **scenario["settings"], **active})
    ends: list[End] = [*senders, *receivers]
    for end in ends:
        end.drive()
    watch = Watch(senders, receivers, progress, slowest_ns)
    inactive = {name: 1 - level for name, level in active.items()}
    release = math.ceil(RESET_CYCLES * slowest_ns / clocks[0].period_ns) + (len(clocks) > 1)
    warm_up = _WARM_UP_CYCLES if len(clocks) > 1 else 0
    leader = Leader(pins, inactive, release, release + warm_up, watch)
    tasks = []
    for clock in clocks:
        mine = [e for e in ends if (e.port["clock"] or clocks[0].name) == clock.name]
        tasks.append(cocotb.start_soon(run_domain(clock, mine, progress, leader if clock is clocks[0] else None)))
    for task in tasks:
        await task
    widths = {n: p.width for n, p in pins.outputs.items()}
    for receiver in receivers:
        report.count_comparisons(receiver.items[: receiver.compared], widths)
    if scenario["gap_percent"] == 0 and not report.failed:
        periods = {c.name: c.period_ns for c in clocks}
        report.latency_cycles = latency(senders, receivers, periods, clocks[0].name)
        bound = trace["max_latency_cycles"]
        if bound is not None and report.latency_cycles is not None and report.latency_cycles > bound:
            report.failures.append(f"the latency is {report.latency_cycles} cycles, more than {bound}")


def make_ends(
    pins: Pins, trace: Mapping[str, Any], scenario: Mapping[str, Any], progress: Progress
) -> tuple[list[Sender], list[Receiver]]:
    """Return a sender or receiver for each stream of the scenario."""
    senders: list[Sender] = []
    receivers: list[Receiver] = []
    endless = not any(scenario["inputs"].values())
    for port in trace["stream_ports"]:
        rng = Random(f"{trace['seed']}:{scenario['name']}:{port['name']}")
        channel = Channel(port, pins, progress, rng, Pace(rng, scenario["gap_percent"]))
        if port["direction"] == "input":
            senders.append(Sender(channel, scenario["inputs"].get(port["name"], [])))
        else:
            receivers.append(Receiver(channel, scenario["expected"].get(port["name"], []), endless=endless))
    return senders, receivers


class Watch:
    """Ends the scenario when all is received and nothing more comes, or when nothing moves."""

    def __init__(
        self, senders: Sequence[Sender], receivers: Sequence[Receiver], progress: Progress, slowest_ns: float
    ) -> None:
        self.senders = senders
        self.receivers = receivers
        self.progress = progress
        self.slowest_ns = slowest_ns

    def look(self) -> None:
        """Look once a cycle."""
        progress, now = self.progress, now_ns()
        if progress.stop_at_mismatch and progress.report.failed:
            progress.done = True
        elif progress.drain_until_ns is not None:
            progress.done = progress.done or now >= progress.drain_until_ns
        elif all(s.complete for s in self.senders) and all(r.complete for r in self.receivers):
            # An item too many takes about as long as the slowest that was right.
            wait = _DRAIN_CYCLES * self.slowest_ns + min(2 * progress.longest_wait_ns, progress.quiet_ns)
            progress.drain_until_ns = now + (0 if any(r.endless for r in self.receivers) else wait)
        elif now - progress.last_ns > progress.quiet_ns:
            ends: list[End] = [*self.senders, *self.receivers]
            progress.report.failures += [text for end in ends if (text := end.stuck())]
            progress.done = True


class Leader:
    """What only the first clock's domain does: end the resets, start the streams, watch."""

    def __init__(self, pins: Pins, inactive: Mapping[str, int], release: int, start: int, watch: Watch) -> None:
        self.pins = pins
        self.inactive = inactive
        self.release = release
        self.start = start
        self.watch = watch

    def before_drive(self, cycle: int) -> None:
        """Act when inputs may change."""
        progress = self.watch.progress
        if cycle == self.release:
            self.pins.drive(self.inactive)
            progress.released = True
            progress.last_ns = now_ns()
        progress.started = cycle >= self.start

    def after_sample(self, cycle: int) -> None:
        """Act when everything of this cycle is known."""
        progress = self.watch.progress
        progress.report.cycle = cycle
        if cycle == self.release:
            progress.report.note_unknown(self.pins)
        if progress.started:
            self.watch.look()


async def run_domain(clock: ClockPin, ends: Sequence[End], progress: Progress, leader: Leader | None) -> None:
    """Run one clock until the scenario is done."""
    cycle = 0
    while not progress.done:
        await clock.after_edge()
        if leader is not None:
            leader.before_drive(cycle)
        released = progress.released
        if released:
            for end in ends:
                end.drive()
        await clock.before_edge()
        if released:
            for end in ends:
                end.sample(cycle)
        if leader is not None:
            leader.after_sample(cycle)
        clock.edge()
        cycle += 1


def latency(
    senders: Sequence[Sender], receivers: Sequence[Receiver], periods: Mapping[str, float], main: str
) -> int | None:
    """Return the cycles (of the output's clock) from acceptance to result, at full rate; None if nothing is paired.

    Where every input stream has as many items as the output stream: the worst item's. Otherwise
    from the first item in to the first one out.
    """
    sent = [s.accepted_ns for s in senders if s.accepted_ns]
    worst: int | None = None
    for receiver in receivers:
        got = receiver.accepted_ns
        if not got or not sent:
            continue
        if all(len(times) == len(got) for times in sent):
            spans = [out - max(times[k] for times in sent) for k, out in enumerate(got)]
        else:
            spans = [got[0] - min(times[0] for times in sent)]
        cycles = math.ceil(max(spans) / periods[receiver.port["clock"] or main] - 1e-6)
        worst = cycles if worst is None else max(worst, cycles)
    return worst
