"""Show where a design and a trace disagree: a message, and a table of the cycles around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rtlagent.tools.bench_report import Finding, ScenarioFindings
from rtlagent.types import CycleScenario, Mismatch, Port, Trace

_CYCLES_BEFORE = 4
_MAX_STREAM_ROWS = 8
_MAX_FAILURES = 4


def show_bits(text: str) -> str:
    """Return binary text as people write values: decimal up to 4 bits, hex beyond, x and z kept.

    `0101` is 5, `000111110000` is 0x1f0, `1xx0` is 0b1xx0, `xxxx0001` is 0xx1; a hex digit of which
    only some bits are unknown is X.
    """
    if text == "-":
        return text
    known = all(c in "01" for c in text)
    if len(text) == 1:
        return text
    if len(text) <= 4:
        return str(int(text, 2)) if known else f"0b{text}"
    padded = text.rjust(-(-len(text) // 4) * 4, "0")
    return "0x" + "".join(_hex_digit(padded[k : k + 4], text) for k in range(0, len(padded), 4))


def _hex_digit(nibble: str, whole: str) -> str:
    bits = set(nibble)
    if bits <= {"0", "1"}:
        return f"{int(nibble, 2):x}"
    # The top digit of a width that is no multiple of 4 was padded with zeros.
    padding = -len(whole) % 4
    for letter in "xz":
        if bits == {letter} or (bits == {letter, "0"} and nibble == "0" * padding + letter * (4 - padding)):
            return letter
    return "X"


def show_int(value: int, width: int) -> str:
    """Return a number in the same form as `show_bits`."""
    return show_bits(f"{value:0{width}b}")


def mismatch_of(scenario: str, finding: Finding, trace: Trace, ports: Sequence[Port]) -> Mismatch:
    """Return the finding with the inputs of its cycle (or its item) beside it."""
    widths = {p.name: p.width or 1 for p in ports}
    inputs: dict[str, str] = {}
    if finding.stream:
        inputs = {"stream": finding.stream}
        if finding.item is not None:
            inputs["item"] = str(finding.item)
    else:
        recorded = next((s for s in trace.cycles if s.name == scenario), None)
        if recorded is not None:
            inputs = {n: show_int(v, widths[n]) for n, v in inputs_at(recorded, trace, finding.cycle).items()}
    return Mismatch(
        scenario=scenario,
        cycle=finding.cycle,
        time_ns=finding.time_ns,
        signal=finding.signal,
        expected=show_bits(finding.expected),
        got=show_bits(finding.got),
        inputs=inputs,
    )


def inputs_at(scenario: CycleScenario, trace: Trace, cycle: int) -> dict[str, int]:
    """Return all inputs of a cycle, the held ones included."""
    values = dict(trace.idle)
    for step in scenario.inputs[: cycle + 1]:
        values.update(step)
    return values


def first_line(found: ScenarioFindings, mismatches: Sequence[Mismatch]) -> str:
    """Return what went wrong first, in one line."""
    if not mismatches:
        return "; ".join(found.failures[:_MAX_FAILURES])
    first, finding = mismatches[0], found.mismatches[0]
    signals = {m.signal for m in mismatches if m.cycle == first.cycle}
    more = len(signals) - 1
    others = f" (and {more} more signal{'s'[: more != 1]})" if more else ""
    item = "" if finding.item is None else f", item {finding.item} of `{finding.stream}`"
    why = f" ({finding.why})" if finding.why else ""
    return f"cycle {first.cycle}{item}: `{first.signal}` expected {first.expected}, got {first.got}{why}{others}"


def render(found: ScenarioFindings, trace: Trace, ports: Sequence[Port]) -> str:
    """Return the evidence of a failing scenario as text; empty when there is none beyond its message."""
    scenario = next((s for s in trace.cycles if s.name == found.name), None)
    if scenario is not None and found.window:
        return _cycle_table(found, scenario, trace, ports)
    return _stream_table(found, trace, ports)


def _cycle_table(found: ScenarioFindings, scenario: CycleScenario, trace: Trace, ports: Sequence[Port]) -> str:
    """Return inputs, expected and got, cycle by cycle; wrong values are marked with `<`."""
    widths = {p.name: p.width or 1 for p in ports}
    rows = {row.cycle: row.got for row in found.window}
    first = min(rows)
    last = min(max(rows), len(scenario.expected) - 1)
    outputs = [p.name for p in ports if p.direction == "output"]
    outputs = [n for n in outputs if any(e.get(n) is not None for e in scenario.expected)]
    values = inputs_at(scenario, trace, max(0, first - _CYCLES_BEFORE) - 1) if first > _CYCLES_BEFORE else {}
    if not values:
        values = dict(trace.idle)
    inputs = [p.name for p in ports if p.name in inputs_at(scenario, trace, last)]
    table = [["cycle", *inputs, "|", *outputs]]
    for cycle in range(max(0, first - _CYCLES_BEFORE), last + 1):
        values.update(scenario.inputs[cycle])
        cells = [str(cycle), *(show_int(values.get(n, 0), widths[n]) for n in inputs), "|"]
        cells += [_cell(scenario.expected[cycle].get(n), rows.get(cycle), n, widths[n]) for n in outputs]
        table.append(cells)
    total = f"{found.wrong_cycles} wrong cycle{'s'[: found.wrong_cycles != 1]}"
    head = f"{found.name}: {total}, the first at cycle {first} (inputs | outputs; wrong: got!=expected <)"
    return head + "\n" + align(table)


def _cell(expected: int | None, got: Mapping[str, str] | None, name: str, width: int) -> str:
    """Return an output's value; before the first mismatch it is what was expected."""
    wanted = "-" if expected is None else show_int(expected, width)
    if got is None or name not in got:
        return wanted
    shown = show_bits(got[name])
    if expected is None:
        return f"({shown})"
    return shown if shown == wanted else f"{shown}!={wanted} <"


def _stream_table(found: ScenarioFindings, trace: Trace, ports: Sequence[Port]) -> str:
    """Return the mismatching items, and what was sent and expected around the first of them."""
    if not found.mismatches and not found.failures:
        return ""
    lines = [f"{found.name}:"]
    lines += [f"  {failure}" for failure in found.failures[:_MAX_FAILURES]]
    if found.mismatches:
        table = [["cycle", "stream", "item", "signal", "expected", "got", ""]]
        for m in found.mismatches[:_MAX_STREAM_ROWS]:
            item = "-" if m.item is None else str(m.item)
            table.append([str(m.cycle), m.stream, item, m.signal, show_bits(m.expected), show_bits(m.got), m.why])
        lines += [f"  {line}" for line in align(table).splitlines()]
    first = next((m.item for m in found.mismatches if m.item is not None), None)
    if first is not None:
        lines += _items_around(found.name, first, trace, ports)
    return "\n".join(lines) + "\n"


def _items_around(name: str, item: int, trace: Trace, ports: Sequence[Port]) -> list[str]:
    scenario = next((s for s in trace.streams if s.name == name), None)
    if scenario is None:
        return []
    widths = {p.name: p.width or 1 for p in ports}
    first = max(0, item - 2)
    lines = []
    for title, sides in (("sent", scenario.inputs), ("expected", scenario.expected)):
        for stream, items in sides.items():
            shown = [_item(values, widths) for values in items[first : item + 3]]
            if shown:
                lines.append(f"  {title} on `{stream}`, from item {first}: {', '.join(shown)}")
    return lines


def _item(values: Mapping[str, int | None], widths: Mapping[str, int]) -> str:
    texts = ["-" if v is None else show_int(v, widths[n]) for n, v in values.items()]
    return texts[0] if len(texts) == 1 else "(" + " ".join(f"{n}={t}" for n, t in zip(values, texts, strict=True)) + ")"


def align(table: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as text with straight columns."""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)
    return "\n".join(lines) + "\n"
