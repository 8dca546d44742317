"""Choose what the page of a run shows, and bound it: the page opens quickly however long the run was."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rtlagent.config import ToolConfig
from rtlagent.console import cost_text, figure, requirement_rows, tokens_text, usage_text
from rtlagent.report import timeline
from rtlagent.report.attempts import AttemptView, attempt_views
from rtlagent.report.critical import CriticalPath, read_critical_path
from rtlagent.report.folder import RunFolder
from rtlagent.report.gates import gate_summary
from rtlagent.report.hls_page import HlsView, hls_view
from rtlagent.report.iterations import Iteration
from rtlagent.report.logs import Log, read_logs
from rtlagent.report.mutants import Mutants, read_mutants
from rtlagent.report.story import UNFINISHED, Story
from rtlagent.report.structure import structure_html
from rtlagent.report.tests_table import TestGroup, test_groups
from rtlagent.report.text import duration
from rtlagent.report.wave_choice import Shown, chosen_waves
from rtlagent.types import Grade, SourceFile, StepResult

_WORDS = {
    "pass": "PASS",
    "fail": "FAIL",
    "limit": "STOPPED at a limit",
    "tool": "ERROR: a tool broke",
    "model": "ERROR: the model failed",
    "interrupted": "INTERRUPTED",
    UNFINISHED: "UNFINISHED",
}
_MOST_COMMANDS = 400
_MOST_REMARKS = 300
_MOST_SOURCES = 60


@dataclass(frozen=True)
class GateRow:
    """A gate on the best candidate."""

    step: StepResult
    what: str
    said: str
    """What the tool said, where that is more than the tables show."""


@dataclass(frozen=True)
class Command:
    """A command that ran."""

    attempt: int
    step: StepResult


@dataclass(frozen=True)
class Source:
    """A text to open."""

    title: str
    text: str
    link: str = ""
    """Path in the run folder; empty: it lies nowhere by itself."""


@dataclass(frozen=True)
class RunPage:
    """Everything that the template of a run prints, beside the story itself."""

    verdict_word: str
    headline: str
    started: str
    facts: tuple[tuple[str, str], ...]
    gates: tuple[GateRow, ...]
    requirements: tuple[tuple[str, str, str, str], ...]
    assumptions: tuple[tuple[str, str, str], ...]
    hls: HlsView | None
    timeline: Markup
    attempts: tuple[AttemptView, ...]
    diffs_left_out: int
    talks: tuple[tuple[str, ...], ...]
    remarks: tuple[tuple[float, str], ...]
    waves: tuple[Shown, ...]
    no_wave: str
    tests: tuple[TestGroup, ...]
    mutants: Mutants | None
    no_mutants: str
    path: tuple[StepResult, CriticalPath | None] | None
    schematic_html: Markup
    sources: tuple[Source, ...]
    commands: tuple[Command, ...]
    commands_left_out: int
    logs: tuple[Log, ...]
    logs_left_out: int
    record: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]
    c_text: tuple[str, ...]
    """Lines of the C."""

    def c_line(self, line: int) -> str:
        """Return a line of the C, from 1."""
        return self.c_text[line - 1].strip() if 0 < line <= len(self.c_text) else ""


def run_page(folder: RunFolder, story: Story, *, draws: bool, config: ToolConfig) -> RunPage:
    """Return what the page shows."""
    best = story.best
    files = folder.files(best.sha) if best is not None and best.sha else ()
    attempts, diffs_left_out = attempt_views(folder, story)
    waves, no_wave = chosen_waves(folder, story)
    mutants = read_mutants(folder, best.sha, files) if best is not None else None
    commands = [Command(i.number, s) for i in story.iterations for s in i.steps]
    logs, logs_left_out = read_logs(folder, _log_home(best))
    c_source = story.spec.c_source if story.spec is not None else None
    path = read_critical_path(folder, best, files, story.top, is_c=story.is_c) if best is not None else None
    return RunPage(
        verdict_word=_WORDS.get(story.outcome, "UNFINISHED"),
        headline=_headline(story),
        started=time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(story.started_at)) if story.started_at else "",
        facts=tuple(_facts(story)),
        gates=tuple(GateRow(s, gate_summary(s), _said(s)) for s in (story.verdict.steps if story.verdict else ())),
        requirements=tuple(requirement_rows(story.requirements, story.verdict) if story.verdict else _open(story)),
        assumptions=tuple((a.question, a.assumption, a.reason) for a in story.assumptions),
        hls=hls_view(story),
        timeline=timeline.draw(story.iterations),
        attempts=attempts,
        diffs_left_out=diffs_left_out,
        talks=tuple(_talk_rows(story)),
        remarks=story.remarks[-_MOST_REMARKS:],
        waves=waves,
        no_wave=no_wave,
        tests=test_groups(best),
        mutants=mutants,
        no_mutants=_why_no_mutants(story),
        path=path,
        schematic_html=structure_html(folder, story, files, draws=draws, config=config),
        sources=tuple(_sources(folder, story, files))[:_MOST_SOURCES],
        commands=tuple(commands[-_MOST_COMMANDS:]),
        commands_left_out=max(0, len(commands) - _MOST_COMMANDS),
        logs=logs,
        logs_left_out=logs_left_out,
        record=tuple(_record(story)),
        problems=tuple(folder.problems),
        c_text=tuple(c_source.text.split("\n")) if c_source is not None else (),
    )


def _log_home(best: Iteration | None) -> str:
    paths = [s.log_path for s in best.steps if s.log_path] if best is not None else []
    return "/".join(paths[0].split("/")[:2]) if paths else ""


def _headline(story: Story) -> str:
    best = story.best
    if story.outcome == UNFINISHED:
        done = f"{len(story.iterations)} attempts so far" if story.iterations else "no attempt so far"
        return f"The run has not ended: it still goes on, or it was killed; {done}. rtlagent resume goes on with it."
    if story.outcome == "interrupted":
        return "The run was interrupted. rtlagent resume goes on with it."
    if story.outcome == "pass":
        return "Every gate passed."
    if best is None:
        return "No candidate was judged."
    failing = best.failing
    who = "The design" if story.is_c else "The best candidate"
    if failing is None:
        unmet = story.verdict.unmet if story.verdict else best.unmet
        return f"{who} does not meet: {', '.join(u.name for u in unmet) or 'its requirements'}."
    return f"{who} fails at {failing.step}."


def _open(story: Story) -> Iterator[tuple[str, str, str, str]]:
    """Yield the requirements of a run in which nothing was measured."""
    for name, limit in vars(story.requirements).items():
        if name != "target" and limit is not None:
            yield name, f"{limit:g}", "not measured", "not measured"


def _facts(story: Story) -> Iterator[tuple[str, str]]:
    yield "attempts", str(len(story.iterations))
    best = story.best
    if best is not None and best.tests:
        yield "tests passed", f"{best.tests_passed} of {best.tests}"
    metrics = story.verdict.metrics if story.verdict else None
    if metrics is not None and metrics.luts is not None:
        yield "LUT / FF", f"{figure(metrics.luts)} / {figure(metrics.ffs)}"
    if metrics is not None and (metrics.brams or metrics.dsps):
        yield "BRAM / DSP", f"{figure(metrics.brams)} / {figure(metrics.dsps)}"
    if metrics is not None and metrics.fmax_mhz is not None:
        yield "fmax", f"{metrics.fmax_mhz:.1f} MHz"
    if metrics is not None and metrics.latency_cycles is not None:
        yield "latency", f"{metrics.latency_cycles} cycles"
    if not story.is_c:
        about = "about " if story.usage.estimated else ""
        yield "tokens", f"{about}{tokens_text(story.usage.tokens_in + story.usage.tokens_out)}"
        yield "cost", cost_text(story.usage.cost_usd)
    yield "time", duration(story.seconds)


def _said(step: StepResult) -> str:
    return step.detail if step.detail and step.detail != "no diagnostics" else "\n".join(map(str, step.diagnostics))


def _talk_rows(story: Story) -> Iterator[tuple[str, ...]]:
    for talk in story.talks:
        usage = talk.usage
        about = "about " if usage.estimated else ""
        counts = (tokens_text(n) for n in (usage.tokens_in, usage.tokens_cached, usage.tokens_out))
        first, *others = counts
        yield talk.purpose, str(talk.replies), about + first, *others, cost_text(usage.cost_usd)
    if story.talks:
        whole = story.usage
        counts = (tokens_text(n) for n in (whole.tokens_in, whole.tokens_cached, whole.tokens_out))
        yield "in all", str(sum(t.replies for t in story.talks)), *counts, cost_text(whole.cost_usd)


def _why_no_mutants(story: Story) -> str:
    if story.is_c:
        return "From C, the C itself is the reference: no mutants are made."
    if story.outcome != "pass":
        return "Mutants are made of a passing design only."
    if story.verdict is not None and story.verdict.grade is Grade.NONE:
        return "No mutants were made."
    return "No mutants are kept: none were asked for, or the run is older than their keeping."


def _sources(folder: RunFolder, story: Story, files: Sequence[SourceFile]) -> Iterator[Source]:
    spec = story.spec
    if spec is not None and spec.text:
        yield Source("Specification", spec.text)
    if spec is not None and spec.c_source is not None:
        yield Source(f"C: {spec.c_source.path}", spec.c_source.text)
    for file in files:
        path = f"rtl/{file.path.removeprefix('rtl/')}"
        yield Source(f"Design: {file.path}", file.text, path if folder.holds(path) else "")
    golden = "tb/golden.py"
    data = folder.bytes_of(golden)
    if data is not None:
        yield Source("Golden model and stimulus: golden.py", data.decode(errors="replace"), golden)
    for test in spec.tests if spec is not None else ():
        yield Source(f"Test of the user: {test.source.path}", test.source.text)
    for file in spec.context_files if spec is not None else ():
        yield Source(f"Given: {file.path}", file.text)


def _record(story: Story) -> Iterator[tuple[str, str]]:
    yield "run", story.id
    if story.model:
        named = f" (it called itself {story.model_answered})" if story.model_answered else ""
        yield "model", f"{story.model}{named}"
        yield "spent", usage_text(story.usage)
    yield "sessions", str(story.sessions)
    if story.seed is not None:
        yield "seed", str(story.seed)
    for name, sha in (("specification", story.spec_sha), ("prompts", story.prompts_sha)):
        if sha:
            yield f"{name} (SHA-256)", sha
    if story.best is not None and story.best.sha:
        yield "design (SHA-256)", story.best.sha
    for version in story.tool_versions:
        yield "tool", version
