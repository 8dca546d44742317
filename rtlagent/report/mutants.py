"""The mutants on which the tests were judged: how many died, and each as a change of the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rtlagent.report.changes import FileChange, change_at
from rtlagent.report.folder import RunFolder
from rtlagent.tools.mutants import JudgedMutant
from rtlagent.types import SourceFile

SURVIVORS = ("survived", "undecided", "not compared")
_MOST = 200


@dataclass(frozen=True)
class MutantView:
    """A mutant in its place."""

    outcome: str
    kind: str
    title: str
    change: FileChange | None

    @property
    def survived(self) -> bool:
        """The tests did not find it."""
        return self.outcome in SURVIVORS


@dataclass(frozen=True)
class Mutants:
    """All mutants of the passing design."""

    counts: tuple[tuple[str, int], ...]
    """Outcome -> how many, the survivors first."""
    survivors: tuple[MutantView, ...]
    killed: tuple[MutantView, ...]
    others: tuple[MutantView, ...]
    """Equivalent ones, and ones that could not be judged."""


def read_mutants(folder: RunFolder, sha: str, files: Sequence[SourceFile]) -> Mutants | None:
    """Return the mutants of a design; None: none were made, or the run is older than their keeping."""
    value = folder.json_of(f"store/{folder.newest(f'mutants-{sha}*.json')}") if sha.isalnum() else None
    if not isinstance(value, list):
        return None
    judged = [m for v in value[:_MOST] if (m := folder.record(JudgedMutant, v, "a kept mutant")) is not None]
    texts = {f.path: f.text for f in files}
    views = [_view(m, texts) for m in judged]
    tally = Counter(v.outcome for v in views)
    order = [*SURVIVORS, "killed", "equivalent", "invalid", "broken"]
    return Mutants(
        counts=tuple((name, tally[name]) for name in order if tally[name]),
        survivors=tuple(v for v in views if v.survived),
        killed=tuple(v for v in views if v.outcome == "killed"),
        others=tuple(v for v in views if not v.survived and v.outcome != "killed"),
    )


def _view(judged: JudgedMutant, texts: dict[str, str]) -> MutantView:
    mutant = judged.mutant
    change = change_at(
        mutant.path, texts.get(mutant.path, ""), mutant.line, mutant.column, mutant.original, mutant.mutated
    )
    return MutantView(judged.outcome, mutant.kind, mutant.diff, change)
