"""Draw a window of a simulation: a lane a signal, a column a cycle."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from rtlagent.report.svg import CHAR, element, fit, label, picture

_ROW, _BAR, _LEAST_CELL, _MOST_CELL = 26, 16, 26.0, 96.0
_MOST_LABEL = 190.0


@dataclass(frozen=True)
class Lane:
    """One signal over the shown cycles."""

    name: str
    width: int
    """Bits."""
    values: tuple[str, ...]
    """As people write them; empty where nothing is known or compared."""
    kind: str
    """`input`, `output` or `expected`."""
    wrong: frozenset[int] = frozenset()
    """Columns in which it is not what was expected."""


@dataclass(frozen=True)
class Wave:
    """A window of a simulation."""

    title: str
    source: str
    """What it was drawn from."""
    axis: tuple[str, ...]
    """A label a column."""
    lanes: tuple[Lane, ...]
    mark: int | None = None
    """The column of the first fault."""

    @property
    def svg(self) -> Markup:
        """The picture."""
        return _draw(self)


def _draw(wave: Wave) -> Markup:
    longest = max((len(v) for lane in wave.lanes for v in lane.values if lane.width > 1), default=1)
    cell = min(_MOST_CELL, max(_LEAST_CELL, longest * CHAR + 12, max(len(a) for a in wave.axis) * CHAR + 8))
    left = min(_MOST_LABEL, max(len(lane.name) for lane in wave.lanes) * CHAR + 14) if wave.lanes else 40.0
    width, height = left + cell * len(wave.axis) + 8, 26.0 + _ROW * len(wave.lanes) + 6
    parts = []
    if wave.mark is not None:
        parts.append(element("rect", x=left + cell * wave.mark, y=2.0, width=cell, height=height - 4, cls="mark"))
    for k, text in enumerate(wave.axis):
        x = left + cell * k
        parts.append(element("line", x1=x, y1=20.0, x2=x, y2=height - 4, cls="grid"))
        parts.append(label(x + cell / 2, 14, text, "axis", "middle"))
    for row, lane in enumerate(wave.lanes):
        parts += _lane(lane, 26.0 + _ROW * row, left, cell)
    wrong = [lane.name for lane in wave.lanes if lane.wrong]
    says = f"Waveform of {wave.title}" + (f"; wrong: {', '.join(wrong)}" if wrong else "")
    return picture(parts, width, height, says)


def _lane(lane: Lane, top: float, left: float, cell: float) -> list[str]:
    parts = [label(left - 8, top + 13, fit(lane.name, left - 12), f"name {lane.kind}", "end")]
    bits = lane.width == 1 and all(len(v) <= 1 for v in lane.values)
    draw = _bit if bits else _bus
    k = 0
    while k < len(lane.values):
        run = k + 1
        # Equal neighbours of a bus share one box.
        while not bits and run < len(lane.values) and lane.values[run] == lane.values[k] and _same(lane, k, run):
            run += 1
        kind = "bad" if k in lane.wrong else lane.kind
        parts += draw(lane, k, left + cell * k, top, cell * (run - k), kind)
        k = run
    return parts


def _same(lane: Lane, a: int, b: int) -> bool:
    return (a in lane.wrong) == (b in lane.wrong)


def _bit(lane: Lane, k: int, x: float, top: float, width: float, kind: str) -> list[str]:
    value = lane.values[k]
    before = lane.values[k - 1] if k else value
    levels = {"0": top + _BAR, "1": top}
    if not value:
        return []
    if value not in levels:
        return [
            element("rect", x=x, y=top, width=width, height=float(_BAR), cls=f"unknown {kind}"),
            label(x + width / 2, top + 12, value, "value", "middle"),
        ]
    y = levels[value]
    parts = []
    if kind == "bad":
        parts.append(element("rect", x=x, y=top - 2, width=width, height=_BAR + 4.0, cls="wrong"))
    if before in levels and before != value:
        parts.append(element("line", x1=x, y1=top, x2=x, y2=top + _BAR, cls=f"wave {kind}"))
    parts.append(element("line", x1=x, y1=y, x2=x + width, y2=y, cls=f"wave {kind}"))
    return parts


def _bus(lane: Lane, k: int, x: float, top: float, width: float, kind: str) -> list[str]:
    value = lane.values[k]
    if not value:
        return []
    edge = min(4.0, width / 4)
    middle, bottom, right = top + _BAR / 2, top + _BAR, x + width
    corners = (
        (x, middle),
        (x + edge, top),
        (right - edge, top),
        (right, middle),
        (right - edge, bottom),
        (x + edge, bottom),
    )
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in corners)
    unknown = "unknown " if set(value.removeprefix("0x")) & set("xXzZ") else ""
    return [
        element("polygon", points=points, cls=f"bus {unknown}{kind}"),
        label(x + width / 2, top + 12, fit(value, width - 6), "value", "middle"),
    ]
