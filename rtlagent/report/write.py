"""Write reports to disk, whole or not at all."""

from __future__ import annotations

from pathlib import Path

from rtlagent import __version__
from rtlagent.config import ToolConfig
from rtlagent.errors import RunError
from rtlagent.report.bench_page import BenchPage
from rtlagent.report.folder import RunFolder
from rtlagent.report.page import render
from rtlagent.report.run_page import run_page
from rtlagent.report.story import read_story
from rtlagent.workspace import write_atomic

_RUN_SECTIONS = (
    ("verdict", "Verdict"),
    ("requirements", "Requirements"),
    ("assumptions", "Assumptions"),
    ("loops", "Loops"),
    ("attempts", "Attempts"),
    ("tests", "Tests"),
    ("mutants", "Mutants"),
    ("timing", "Critical path"),
    ("structure", "Structure"),
    ("sources", "Sources"),
    ("commands", "Commands"),
    ("logs", "Logs"),
    ("record", "Record"),
)


def write_run(run_dir: Path, out: Path, *, schematic: bool, config: ToolConfig | None) -> Path:
    """Write the report of a run folder.

    Raises:
        RunError: there is no run in the folder, or the file cannot be written.
    """
    folder = RunFolder(run_dir)
    story = read_story(folder)
    page = run_page(folder, story, draws=schematic, config=config or ToolConfig())
    absent = set() if story.assumptions or story.decisions or story.rulings else {"assumptions"}
    absent |= set() if page.hls is not None else {"loops"}
    sections = tuple(s for s in _RUN_SECTIONS if s[0] not in absent)
    return _write(out, render("run.html.j2", story=story, page=page, sections=sections, version=__version__))


def write_bench(page: BenchPage, out: Path) -> Path:
    """Write the report of a benchmark run.

    Raises:
        RunError: the file cannot be written.
    """
    return _write(out, bench_text(page))


def bench_text(page: BenchPage) -> str:
    """Return the report of a benchmark run."""
    sections = [("figures", "Figures"), ("spending", "Spending"), ("failures", "Failures")]
    sections += [("categories", "Categories")] if page.categories else []
    sections += [("problems", "Problems"), ("record", "Record")]
    return render("bench.html.j2", page=page, sections=sections, version=__version__)


def _write(out: Path, text: str) -> Path:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(out, text)
    except OSError as error:
        hint = "make room, or name another file with --out"
        raise RunError(f"the report cannot be written: {error.strerror}", where=str(out), hint=hint) from error
    return out
