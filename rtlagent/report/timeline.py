"""Draw how far each attempt came: a bar an attempt, as high as the gates it passed."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rtlagent.console import GATES
from rtlagent.report.iterations import Iteration
from rtlagent.report.svg import element, group, label, picture
from rtlagent.types import Status

_HEIGHT, _LEFT, _WIDEST, _MOST_BAR = 96.0, 120.0, 1000.0, 34.0
_GATE_CHARS = 16
_ORDER = (*(g for g in GATES if g != "cross_check"), "requirements", "cross_check")


def draw(iterations: Sequence[Iteration]) -> Markup:
    """Return the picture: one column an attempt, in order."""
    gates = _gates(iterations)
    cell = max(1.0, min(_MOST_BAR, _WIDEST / max(1, len(iterations))))
    row = max(16.0, _HEIGHT / len(gates))
    height = row * len(gates) + 24
    parts = []
    for k, gate in enumerate(gates):
        y = height - 20 - row * k
        parts.append(label(_LEFT - 8, y - row / 2 + 4, gate[:_GATE_CHARS], "axis", "end"))
        parts.append(element("line", x1=_LEFT, y1=y, x2=_LEFT + cell * len(iterations), y2=y, cls="grid"))
    every = max(1, round(len(iterations) / 20))
    for k, iteration in enumerate(iterations):
        x = _LEFT + cell * k
        parts.append(_column(iteration, gates, x, cell, height - 20, row))
        if k % every == 0:
            parts.append(label(x + cell / 2, height - 6, str(iteration.number), "axis", "middle"))
    passed = sum(i.passed is True for i in iterations)
    says = f"{len(iterations)} attempts, {passed} of them passed; a column an attempt, a row a gate"
    return picture(parts, _LEFT + cell * len(iterations) + 10, height, says)


def _gates(iterations: Sequence[Iteration]) -> list[str]:
    """Return the rows; what failed may be no gate: a requirement is compared with figures of the gates before."""
    seen = dict.fromkeys(s.step for i in iterations for s in i.steps)
    seen |= dict.fromkeys(i.failed_at for i in iterations if i.failed_at)
    return sorted(seen, key=lambda g: _ORDER.index(g) if g in _ORDER else len(_ORDER)) or ["-"]


def _column(iteration: Iteration, gates: Sequence[str], x: float, cell: float, floor: float, row: float) -> str:
    kinds = {Status.PASS: "good", Status.SKIPPED: "none"}
    cells = {gates.index(s.step): kinds.get(s.status, "bad") for s in iteration.steps}
    if iteration.failed_at:
        cells[gates.index(iteration.failed_at)] = "bad"
    if not cells:
        cells[0] = "good" if iteration.passed else "none"
    gap = 1.0 if cell > 4 else 0.0
    size, height = cell - 2 * gap, row - 2 * gap
    parts = [
        element("rect", x=x + gap, y=floor - row * (k + 1) + gap, width=size, height=height, cls=f"cell {kind}")
        for k, kind in cells.items()
    ]
    failed = f"failed at {iteration.failed_at}" if iteration.failed_at else "not judged to the end"
    return group(parts, f"attempt {iteration.number}: {'passed' if iteration.passed else failed}")
