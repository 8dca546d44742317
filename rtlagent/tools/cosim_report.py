"""Read what the testbench of a co-simulation wrote.

    NONCE C call latency time result      a call ended
    NONCE W memory index value            an element that it wrote, as it was left
    NONCE S stream index value            an item that it put into an output stream
    NONCE R stream count                  how many items it took from an input stream
    NONCE P call latency time code memory port value
    NONCE X call latency time why         the end: `end`, `hang`, `never_idle`, `unknown_done`, `bus_stuck`

Every line starts with a number that the design cannot know; one that does not, or is out of order, or
a missing end, is never taken for a result.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LINE = re.compile(
    r"C (?P<c_call>\d+) (?P<c_latency>\d+) (?P<c_time>\d+) (?P<result>-|[0-9a-fxz]+)"
    r"|W (?P<memory>\d+) (?P<index>\d+) (?P<value>[0-9a-fxz]+)"
    r"|S (?P<stream>\d+) (?P<item>\d+) (?P<item_value>[0-9a-fxz]+)"
    r"|R (?P<source>\d+) (?P<taken>\d+)"
    r"|P (?P<p_call>\d+) (?P<p_latency>\d+) (?P<p_time>\d+) (?P<code>\w+)"
    r" (?P<p_memory>\d+) (?P<port>\d+) (?P<p_value>[0-9a-fxz]+)"
    r"|X (?P<x_call>\d+) (?P<x_latency>\d+) (?P<x_time>\d+) (?P<why>\w+)",
    re.I,
)


@dataclass(frozen=True)
class CallResult:
    """What the design did in one call."""

    latency: int
    """Cycles from the one with ap_start to the one with ap_done; those of accesses to a bus do not count."""
    time_ns: int
    """When it ended, in simulation time."""
    result: str
    """ap_return as hex digits, x and z among them; `-` if there is none."""
    written: dict[tuple[int, int], str] = field(default_factory=dict)
    """(number of the array port, index) -> value as hex digits."""
    items: dict[int, list[str]] = field(default_factory=dict)
    """Number of the stream -> what was put into it."""
    taken: dict[int, int] = field(default_factory=dict)
    """Number of the stream -> how many items were taken from it."""


@dataclass(frozen=True)
class Problem:
    """A breach of the protocol."""

    call: int
    latency: int
    """Cycle within the call."""
    time_ns: int
    code: str
    memory: int
    port: int
    value: str


@dataclass(frozen=True)
class Report:
    """A whole report."""

    calls: tuple[CallResult, ...] = ()
    problems: tuple[Problem, ...] = ()
    end: str = ""
    """Why it ended; empty: the report just stops."""
    end_latency: int = 0
    end_time_ns: int = 0
    forged: str = ""
    """The first line that the testbench cannot have written; empty if there is none."""


def parse_report(text: str, nonce: str) -> Report:
    """Read a report; the calls up to the first line that is out of order count."""
    calls: list[CallResult] = []
    problems: list[Problem] = []
    lines = text.split("\n")
    for line in lines[:-1]:  # what follows the last line end was cut off
        prefix, _, rest = line.partition(" ")
        found = _LINE.fullmatch(rest) if prefix == nonce else None
        if found is None:
            return Report(tuple(calls), tuple(problems), forged=line[:80] or "(an empty line)")
        if found["c_call"]:
            if int(found["c_call"]) != len(calls):
                return Report(tuple(calls), tuple(problems), forged=rest[:80])
            calls.append(CallResult(int(found["c_latency"]), int(found["c_time"]), found["result"].lower()))
        elif found["memory"] or found["stream"] or found["source"]:
            if not calls or not _add_output(calls[-1], found):
                return Report(tuple(calls), tuple(problems), forged=rest[:80])
        elif found["code"]:
            call, latency, time_ns = (int(found[f"p_{name}"]) for name in ("call", "latency", "time"))
            memory, port = int(found["p_memory"]), int(found["port"])
            problems.append(Problem(call, latency, time_ns, found["code"], memory, port, found["p_value"]))
        else:
            end = found["why"]
            whole = line == lines[-2] and not lines[-1]
            if not whole:
                return Report(tuple(calls), tuple(problems), forged=lines[-2][:80])
            return Report(tuple(calls), tuple(problems), end, int(found["x_latency"]), int(found["x_time"]))
    return Report(tuple(calls), tuple(problems))


def _add_output(call: CallResult, found: re.Match[str]) -> bool:
    """Add an output to its call; False if it is out of order."""
    if found["memory"]:
        call.written[int(found["memory"]), int(found["index"])] = found["value"].lower()
    elif found["source"]:
        call.taken[int(found["source"])] = int(found["taken"])
    else:
        items = call.items.setdefault(int(found["stream"]), [])
        if int(found["item"]) != len(items):
            return False
        items.append(found["item_value"].lower())
    return True
