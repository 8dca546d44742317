"""Fetch what helps to find a fault: the lines that drive a wrong output, and their waveform."""

from __future__ import annotations

from rtlagent.agent.failure import wrong_signals
from rtlagent.agent.session import Session
from rtlagent.errors import RtlagentError
from rtlagent.types import Candidate, Mismatch, Spec, Verdict

MAX_SIGNALS = 10
"""Columns of the waveform, the wrong outputs first."""
WINDOW_CYCLES = 10
FAN_IN_DEPTH = 2


def collect(session: Session, spec: Spec, verdict: Verdict, candidate: Candidate) -> tuple[str, str]:
    """Return the driving lines of the wrong outputs and a waveform of them and their fan-in.

    Both are empty unless a simulation found wrong outputs. What cannot be had (no dump, a design that
    does not elaborate) is left out and said in the run's events: a repair can do without it.
    """
    wrong = wrong_signals(verdict)
    if not wrong or spec.top is None:
        return "", ""
    try:
        drivers, related = _drivers(session, spec.top, wrong, candidate)
    except RtlagentError as error:
        session.run.emit("no_evidence", what="drivers", reason=error.message)
        drivers, related = "", []
    try:
        waveform = _waveform(session, spec, verdict, list(dict.fromkeys([*wrong, *related]))[:MAX_SIGNALS])
    except RtlagentError as error:
        session.run.emit("no_evidence", what="waveform", reason=error.message)
        waveform = ""
    return drivers, waveform


def _drivers(session: Session, top: str, wrong: tuple[str, ...], candidate: Candidate) -> tuple[str, list[str]]:
    from rtlagent.tools.inspect import inspect

    info = inspect(candidate.files, top=top, config=session.tools)
    blocks: list[str] = []
    related: list[str] = []
    for signal in wrong:
        for driver in info.drivers_of(top, signal, depth=FAN_IN_DEPTH):
            text = f"{driver.path}:{driver.first_line}: {driver.text.strip()}"
            if text not in blocks:
                blocks.append(text)
        related += [name for name in info.fan_in(top, signal, depth=FAN_IN_DEPTH) if name not in related]
    return "\n".join(blocks)[:4000], related


def _waveform(session: Session, spec: Spec, verdict: Verdict, signals: list[str]) -> str:
    from rtlagent.waveform import find_signal, list_signals, window

    found = _first_mismatch(verdict)
    if found is None:
        return ""
    wave, mismatch = found
    path = session.run.folder / wave
    dumped = list_signals(path)
    present = []
    for name in signals:
        try:
            find_signal(dumped, name)
        except RtlagentError:
            continue  # constants, parameters and optimised-away signals are not in a dump
        present.append(name)
    if not present:
        return ""
    clock = spec.clock.port if spec.clock else None
    edge = spec.clock.edge if spec.clock else "posedge"
    return window(path, present, around_ns=mismatch.time_ns, cycles=WINDOW_CYCLES, clock=clock, edge=edge)


def _first_mismatch(verdict: Verdict) -> tuple[str, Mismatch] | None:
    step = verdict.failing
    for test in step.tests if step else ():
        if test.wave_path and test.mismatches:
            return test.wave_path, test.mismatches[0]
    return None
