"""What an audit says of a problem."""

from __future__ import annotations

from dataclasses import dataclass

DEFECT = "defect"
"""No answer can be judged fairly: the problem does not count in a corrected score."""
DOUBT = "doubt"
"""Something to know; the problem still counts."""

GOLDEN = "golden design"
PORTS = "ports"
TRIVIAL = "trivial design passes"
WEAK = "weak test"
SIMULATORS = "simulators differ"
UNSTATED = "unstated"
NOT_AUDITED = "not audited"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may be."""

    kind: str
    severity: str
    """`defect` or `doubt`."""
    text: str


@dataclass(frozen=True)
class Run:
    """A design under the hidden test on one simulator."""

    design: str
    """`golden`, `all zero` or `all X`."""
    simulator: str
    status: str
    """PASS, FAIL, TIMEOUT, ERROR, or empty: this simulator cannot run the test."""
    message: str = ""


@dataclass(frozen=True)
class Mutation:
    """How many wrong designs the hidden test catches."""

    killed: int
    survived: int
    """Wrong, or perhaps wrong, designs that pass."""
    undecided: int
    """Of the survivors: neither proven the same design nor told apart."""
    equivalent: int
    """Proven the same design; not counted."""
    not_built: int
    survivors: tuple[str, ...] = ()
    """The changes, as `path:line: before -> after`."""

    @property
    def share(self) -> float | None:
        """Killed of all that should be; None: nothing was counted."""
        counted = self.killed + self.survived
        return self.killed / counted if counted else None


@dataclass(frozen=True)
class ProblemAudit:
    """Everything that is known of one problem."""

    problem: str
    runs: tuple[Run, ...]
    findings: tuple[Finding, ...]
    mutation: Mutation | None = None
    """None: there is no golden design that passes, or it is no Verilog."""

    @property
    def defects(self) -> tuple[Finding, ...]:
        """Return what makes the problem invalid."""
        return tuple(f for f in self.findings if f.severity == DEFECT)

    @property
    def valid(self) -> bool:
        """Whether answers to it can be judged fairly."""
        return not self.defects
