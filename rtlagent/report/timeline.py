"""Draw how far each attempt came: a bar an attempt, as high as the gates it passed."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from rtlagent.report.story import Iteration
from rtlagent.report.svg import element, group, label, picture
from rtlagent.types import Status

_HEIGHT, _LEFT, _WIDEST, _MOST_BAR = 96.0, 120.0, 1000.0, 34.0
_GATE_CHARS = 16


def draw(iterations: Sequence[Iteration]) -> Markup:
    """Return the picture: one column an attempt, in order."""
    gates = list(dict.fromkeys(s.step for i in iterations for s in i.steps)) or ["judged"]
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


def _column(iteration: Iteration, gates: Sequence[str], x: float, cell: float, floor: float, row: float) -> str:
    gap = 1.0 if cell > 4 else 0.0
    parts = []
    for step in iteration.steps:
        y = floor - row * (gates.index(step.step) + 1)
        kind = "good" if step.status is Status.PASS else "none" if step.status is Status.SKIPPED else "bad"
        parts.append(
            element("rect", x=x + gap, y=y + gap, width=cell - 2 * gap, height=row - 2 * gap, cls=f"cell {kind}")
        )
    if not iteration.steps:
        kind = "good" if iteration.passed else "none" if iteration.passed is None else "bad"
        parts.append(
            element(
                "rect", x=x + gap, y=floor - row + gap, width=cell - 2 * gap, height=row - 2 * gap, cls=f"cell {kind}"
            )
        )
    failed = f"failed at {iteration.failed_at}" if iteration.failed_at else "not judged to the end"
    return group(parts, f"attempt {iteration.number}: {'passed' if iteration.passed else failed}")
