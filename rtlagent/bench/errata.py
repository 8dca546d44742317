"""Errata of a suite: what an audit found, for one state of the suite's data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.audit import ProblemAudit
from rtlagent.bench.audit.findings import Finding
from rtlagent.errors import UsageError
from rtlagent.types import from_json, to_json
from rtlagent.workspace import write_atomic

_FORMAT = "rtlagent errata 1"
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Erratum:
    """What is known to be wrong, or doubtful, about one problem."""

    problem: str
    findings: tuple[Finding, ...]
    killed_share: float | None = None
    """Of mutants, by the hidden test; None: not measured."""

    @property
    def valid(self) -> bool:
        """Whether answers to the problem count in a corrected score."""
        return not any(f.severity == "defect" for f in self.findings)


@dataclass(frozen=True)
class Errata:
    """All that an audit found."""

    suite: str
    data_sha256: str
    """Of the data that were audited; the errata say nothing of others."""
    tools: tuple[str, ...]
    audited: tuple[str, ...]
    """Names of the problems that were looked at."""
    problems: tuple[Erratum, ...]
    """Those with a finding."""

    @property
    def defective(self) -> frozenset[str]:
        """Names of the problems that a corrected score leaves out."""
        return frozenset(e.problem for e in self.problems if not e.valid)

    def unaudited(self, problems: Iterable[str]) -> tuple[str, ...]:
        """Return those of which nothing is known; a corrected score counts them as they are."""
        known = frozenset(self.audited)
        return tuple(p for p in problems if p not in known)


def errata_of(suite: str, data_sha256: str, tools: Sequence[str], audits: Sequence[ProblemAudit]) -> Errata:
    """Sum up an audit."""
    found = tuple(
        Erratum(a.problem, a.findings, None if a.mutation is None else a.mutation.share) for a in audits if a.findings
    )
    return Errata(suite, data_sha256, tuple(tools), tuple(a.problem for a in audits), found)


def write_errata(errata: Errata, path: Path) -> None:
    """Write an errata file.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json.dumps({"format": _FORMAT, **to_json(errata)}, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(path)) from error


def read_errata(path: Path, *, suite: str, data_sha256: str) -> Errata:
    """Read an errata file for a suite's data.

    Raises:
        UsageError: it is missing, damaged, or of another suite or other data.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError("is too large for an errata file", where=str(path))
        data = json.loads(path.read_bytes())
        if data.pop("format") != _FORMAT:
            raise ValueError("another format")
        errata = from_json(Errata, data)
    except OSError as error:
        raise UsageError(f"cannot read: {error.strerror}", where=str(path)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        hint = "make one with `rtlagent bench audit SUITE --path P --errata FILE`"
        raise UsageError(f"is no errata file ({error})", where=str(path), hint=hint) from error
    if errata.suite != suite:
        raise UsageError(f"is of the suite {errata.suite}, not of {suite}", where=str(path))
    if errata.data_sha256 != data_sha256:
        message = f"is of other data ({errata.data_sha256[:12]}; these are {data_sha256[:12]})"
        raise UsageError(message, where=str(path), hint="audit the data that are scored")
    return errata
