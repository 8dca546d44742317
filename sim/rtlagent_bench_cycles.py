"""Replay cycle scenarios: drive, sample just before the active edge, compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rtlagent_bench_pins import RESET_CYCLES, ClockPin, Pins, now_ns
from rtlagent_bench_report import ScenarioReport

# A scenario with this many wrong cycles is beyond doubt; the rest is driven but not compared.
_MAX_WRONG_CYCLES = 32
_CYCLES_AFTER = 4

Check = tuple[str, Any, str]


async def apply_reset(pins: Pins, clock: ClockPin, idle: Mapping[str, int], resets: Mapping[str, int]) -> None:
    """Hold every reset for RESET_CYCLES edges of `clock`; `resets` maps each to its active level."""
    for _ in range(RESET_CYCLES):
        await clock.after_edge()
        pins.drive({**idle, **resets})
        await clock.before_edge()
        clock.edge()


async def run_cycles(
    pins: Pins, clock: ClockPin, scenario: Mapping[str, Any], report: ScenarioReport, *, stop: bool = False
) -> None:
    """Replay one scenario (with `stop`, up to the first wrong cycle); the resets before it are done."""
    steps = compile_checks(pins, scenario["expected"])
    drive = pins.drive
    # After the first mismatch a few cycles are kept whole, as evidence.
    evidence_until = -1
    compared_until = 0
    for cycle, (inputs, checks) in enumerate(zip(scenario["inputs"], steps, strict=True)):
        report.cycle = cycle
        await clock.after_edge()
        drive(inputs)
        await clock.before_edge()
        if checks and report.wrong_cycles < _MAX_WRONG_CYCLES:
            wrong = [(name, wanted, got) for name, read, wanted in checks if (got := read()) != wanted]
            report.checked += 1
            compared_until = cycle + 1
            if wrong:
                report.add_wrong_cycle(cycle, now_ns(), wrong)
                if evidence_until < 0:
                    evidence_until = cycle + _CYCLES_AFTER
        if cycle <= evidence_until:
            report.window.append({"cycle": cycle, "got": pins.sample()})
        if cycle == 0 and scenario["reset_first"]:
            report.note_unknown(pins)
        clock.edge()
        if stop and report.wrong_cycles:
            break
    report.count_comparisons(scenario["expected"][:compared_until], {n: p.width for n, p in pins.outputs.items()})


def compile_checks(pins: Pins, expected: Sequence[Mapping[str, int | None]]) -> list[list[Check]]:
    """Return, for each cycle, what to read and the text that must come of it."""
    ports = {name: (pin.read, f"0{pin.width}b") for name, pin in pins.outputs.items()}
    steps: list[list[Check]] = []
    known: dict[tuple[str, int], Check] = {}
    for wanted in expected:
        checks = []
        for name, value in wanted.items():
            if value is None:
                continue
            check = known.get((name, value))
            if check is None:
                read, form = ports[name]
                check = known[name, value] = (name, read, format(value, form))
            checks.append(check)
        steps.append(checks)
    return steps
