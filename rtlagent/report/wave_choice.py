"""Which windows of which simulations are worth showing: where it failed, and the same window where it passed."""

from __future__ import annotations

from dataclasses import dataclass

from rtlagent.report.folder import RunFolder
from rtlagent.report.iterations import Iteration
from rtlagent.report.story import Story
from rtlagent.report.wave_drawing import Wave
from rtlagent.report.waves import dumped_wave, first_failing, read_recorded
from rtlagent.types import Status


@dataclass(frozen=True)
class Shown:
    """A wave and what it shows."""

    heading: str
    wave: Wave


def failing_wave(folder: RunFolder, story: Story, iteration: Iteration) -> Wave | None:
    """Return the window in which an attempt's first failing test went wrong; None: there is nothing to draw."""
    test = first_failing(iteration)
    if test is None:
        return None
    if story.spec is not None and iteration.oracle_sha and iteration.failing is not None:
        recorded = read_recorded(folder, iteration.oracle_sha, story.spec, iteration)
        name = test.mismatches[0].scenario if test.mismatches else test.name
        cycle = test.mismatches[0].cycle if test.mismatches else test.cycle
        if recorded is not None and cycle is not None:
            wave = recorded.wave(name, cycle, passed=False)
            if wave is not None:
                return wave
    return dumped_wave(folder, test, story.spec)


def chosen_waves(folder: RunFolder, story: Story) -> tuple[tuple[Shown, ...], str]:
    """Return the windows to show for the run, and why there is none or only one."""
    failed = [i for i in story.iterations if first_failing(i) is not None]
    shown: list[Shown] = []
    if failed:
        # The last failing attempt is the one that the passing design mended.
        wave = failing_wave(folder, story, failed[-1])
        if wave is not None:
            shown.append(Shown(f"Failing: attempt {failed[-1].number}", wave))
        inside = _dumped(folder, story, failed[-1])
        if inside is not None and (wave is None or inside.source != wave.source):
            shown.append(Shown(f"Inside of the design: attempt {failed[-1].number}", inside))
    passing = _passing(folder, story, failed[-1] if failed else None)
    if passing is not None:
        shown.append(passing)
    return tuple(shown), "" if shown else _why_none(story, bool(failed))


def _dumped(folder: RunFolder, story: Story, iteration: Iteration) -> Wave | None:
    test = first_failing(iteration)
    return dumped_wave(folder, test, story.spec) if test is not None else None


def _passing(folder: RunFolder, story: Story, failed: Iteration | None) -> Shown | None:
    """Return the window of the failure in the design that passes it; without a failure, one with much going on."""
    best = story.best
    if best is None or story.spec is None or not best.oracle_sha:
        return None
    passed = {t.name for s in best.steps if s.step == "simulate" for t in s.tests if t.status is Status.PASS}
    recorded = read_recorded(folder, best.oracle_sha, story.spec, None)
    if recorded is None or not passed:
        return None
    test = first_failing(failed)
    if test is not None and test.name in passed:
        wave = recorded.wave(test.name, test.cycle or 0, passed=True)
        if wave is not None:
            return Shown(f"Passing: the same window in attempt {best.number}", wave)
    busiest = recorded.busiest(passed)
    wave = recorded.wave(*busiest, passed=True) if busiest is not None else None
    return Shown(f"Passing: attempt {best.number}, where most happens", wave) if wave is not None else None


def _why_none(story: Story, failed: bool) -> str:
    if failed:
        return "No waveform of the failing test was kept."
    if story.is_c:
        return "No waveform: a dump is kept of a failing co-simulation only, and none failed."
    return "No waveform: no test failed, and there is no recorded trace of a cycle-accurate scenario."
