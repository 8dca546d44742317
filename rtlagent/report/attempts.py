"""Each attempt as the page shows it: what it changed, what failed, and the wave of the failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlagent.console import cost_text, figure, tokens_text
from rtlagent.report.changes import FileChange, changes
from rtlagent.report.folder import RunFolder
from rtlagent.report.iterations import Iteration
from rtlagent.report.story import Story
from rtlagent.report.text import duration
from rtlagent.report.wave_choice import failing_wave
from rtlagent.report.wave_drawing import Wave
from rtlagent.types import SourceFile

_MOST_WAVES = 12
_MOST_DIFF_CHARS = 1_500_000
"""Of all changes together."""
_SAID_CHARS = 4_000


@dataclass(frozen=True)
class AttemptView:
    """An attempt in the timeline."""

    iteration: Iteration
    word: str
    line: str
    """Figures in one line."""
    said: str
    """What the failing gate said."""
    changes: tuple[FileChange, ...] | None
    """None: left out."""
    changed_from: str
    wave: Wave | None = None
    opened: bool = False

    @property
    def is_first(self) -> bool:
        """It changes nothing that was there before."""
        return bool(self.changes) and not any(c.removed for c in self.changes or ()) and not self.iteration.parent


def attempt_views(folder: RunFolder, story: Story) -> tuple[tuple[AttemptView, ...], int]:
    """Return all attempts, and of how many the changes are left out: those in the middle."""
    iterations = story.iterations
    shas = {i.sha: i.number for i in iterations}
    views: dict[int, AttemptView] = {}
    room, left_out = _MOST_DIFF_CHARS, 0
    for position, k in enumerate(_from_both_ends(len(iterations))):
        iteration = iterations[k]
        parent = iteration.parent or (iterations[k - 1].sha if k else "")
        before, after = _files(folder, story, parent), folder.files(iteration.sha)
        found: tuple[FileChange, ...] | None = None
        if room > 0:
            found = changes(before, after)
            room -= sum(len(part.text) + 40 for change in found for part in change.lines)
        else:
            left_out += 1
        wave = failing_wave(folder, story, iteration) if position < _MOST_WAVES and not iteration.passed else None
        views[k] = AttemptView(
            iteration, _word(iteration), _line(iteration), _said(iteration), found, _from(parent, shas, found), wave
        )
    shown = [views[k] for k in range(len(iterations))]
    if shown and len(shown) <= 12:
        shown[-1] = replace(shown[-1], opened=True)
    return tuple(shown), left_out


def _from_both_ends(count: int) -> Sequence[int]:
    """Return positions so that the last ones and the first ones come before the middle."""
    order: list[int] = []
    low, high = 0, count - 1
    while low <= high:
        order.append(high)
        high -= 1
        if low <= high:
            order.append(low)
            low += 1
    return order


def _files(folder: RunFolder, story: Story, sha: str) -> Sequence[SourceFile]:
    """Return the files that an attempt started from: a candidate's, else the user's own design."""
    if sha:
        return folder.files(sha)
    given = story.spec.context_files if story.spec is not None and not story.is_c else ()
    return [f for f in given if f.path.endswith((".v", ".sv", ".vh", ".svh"))]


def _from(parent: str, shas: dict[str, int], found: tuple[FileChange, ...] | None) -> str:
    if not parent:
        return "The first candidate."
    origin = f"attempt {shas[parent]}" if parent in shas else "the candidate before"
    return f"Changes from {origin}:" if found else f"The same files as {origin}."


def _word(iteration: Iteration) -> str:
    return "-" if iteration.passed is None and not iteration.failed_at else "PASS" if iteration.passed else "FAIL"


def _line(iteration: Iteration) -> str:
    metrics, usage = iteration.metrics, iteration.usage
    parts = [f"failed at {iteration.failed_at}"] if iteration.failed_at else []
    if iteration.tests:
        parts.append(f"tests {iteration.tests_passed}/{iteration.tests}")
    if metrics.luts is not None:
        parts.append(f"{figure(metrics.luts)} LUT, {figure(metrics.ffs)} FF")
    if metrics.fmax_mhz is not None:
        parts.append(f"{metrics.fmax_mhz:.1f} MHz")
    if usage.tokens_in or usage.tokens_out:
        parts.append(f"{tokens_text(usage.tokens_in + usage.tokens_out)} tokens, {cost_text(usage.cost_usd)}")
    if iteration.seconds is not None:
        parts.append(duration(iteration.seconds))
    return " \u00b7 ".join(parts)


def _said(iteration: Iteration) -> str:
    failing = iteration.failing
    if failing is None:
        return ""
    said = "\n".join(str(d) for d in failing.diagnostics) or failing.detail
    if not said:
        said = "\n".join(t.message for t in failing.tests if t.message)
    return (
        said if len(said) <= _SAID_CHARS else f"{said[:_SAID_CHARS]}\n... {len(said) - _SAID_CHARS:,} characters more"
    )
