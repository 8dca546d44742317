"""Score one final answer: the only half of a task that opens hidden files."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import ClassVar

from rtlagent.bench.problem import TOOL, Score
from rtlagent.bench.tasks.final_answer import held, keep_score, kept_score
from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, SandboxError, ToolMissingError, UsageError
from rtlagent.types import Candidate, SourceFile, Status


@dataclass(frozen=True)
class ScoreJob:
    """One answer to be scored."""

    kind: ClassVar[str] = "score"

    suite: str
    path: Path
    suite_sha256: str
    """Empty: the data are known to be those of the plan."""
    problem: str
    files: tuple[SourceFile, ...]
    folder: Path
    """The task's."""
    config: ToolConfig
    simulator: str = "auto"
    synthesis_top: str | None = None
    """Module to be synthesized where the suite did not measure it; None: not wanted, or not known."""
    context: tuple[SourceFile, ...] = ()
    """Files of the problem that the answer may instantiate."""

    def __call__(self) -> Score:
        """Return the score, and keep it in the task's folder.

        Raises:
            UsageError: the suite's data are not those that the run began with.
            SandboxError, ToolMissingError: nothing can be run here.
        """
        with held(self.folder):
            sha = Candidate(self.files).sha256
            score = kept_score(self.folder, sha)
            if score is None:
                if self.suite_sha256:
                    _require_data(self.suite, self.path, self.suite_sha256)
                score = self._with_synthesis(self._scored())
                keep_score(self.folder, score, sha)
            return score

    def _scored(self) -> Score:
        from rtlagent.bench.suites import suite

        started = time.monotonic()
        keep = self.folder / "score"
        keep.mkdir(exist_ok=True)
        try:
            score = suite(self.suite).score(
                self.path, self.problem, self.files, config=self.config, simulator=self.simulator, keep_dir=keep
            )
        except (SandboxError, ToolMissingError):
            raise
        except RtlagentError as error:
            return Score(Status.ERROR, TOOL, message=str(error), wall_s=time.monotonic() - started)
        return replace(score, wall_s=time.monotonic() - started)

    def _with_synthesis(self, score: Score) -> Score:
        """Add whether the design synthesizes, and what it takes, unless that is known already."""
        if self.synthesis_top is None or score.synthesis is not None or score.syntax is not True:
            return score
        from rtlagent.tools.synthesize import synthesize

        given = {f.path for f in self.files}
        files = (*self.files, *(f for f in self.context if f.path not in given and f.path.endswith((".v", ".sv"))))
        started = time.monotonic()
        try:
            step = synthesize(files, top=self.synthesis_top, config=self.config)
        except UsageError:
            return score  # nothing that Yosys could be given: it stays unmeasured
        measured = {Status.PASS: True, Status.FAIL: False}.get(step.status)
        metrics = replace(
            score.metrics,
            luts=step.metrics.luts,
            ffs=step.metrics.ffs,
            brams=step.metrics.brams,
            dsps=step.metrics.dsps,
            latches=step.metrics.latches,
        )
        versions = (*score.tool_versions, *([step.tool_version] if step.tool_version else []))
        wall_s = score.wall_s + time.monotonic() - started
        return replace(score, synthesis=measured, metrics=metrics, tool_versions=versions, wall_s=wall_s)


@cache
def _require_data(name: str, path: Path, sha256: str) -> None:
    """Check once a process that a machine has the same suite."""
    from rtlagent.bench.suites import suite

    if suite(name).data_sha256(path) != sha256:
        hint = "every machine needs the suite at the same path, with the same content"
        raise UsageError("the suite's data differ from those that the run began with", where=str(path), hint=hint)
