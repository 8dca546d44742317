"""What the loop remembers between its steps; plain JSON values, so that any checkpointer takes it."""

from __future__ import annotations

from typing import TypedDict


class Attempt(TypedDict):
    """One judged candidate."""

    iteration: int
    sha: str
    parent: str
    step: str
    """The failing gate; empty for a pass."""
    signature: str
    """Equal for equal failures."""
    score: list[float]
    """Higher is better, compared from the left: gates passed, tests passed, first failing cycle."""
    note: str
    """The model's own words on what it changed."""
    line: int
    """Which fresh start it descends from, from 0."""


class LoopState(TypedDict, total=False):
    """The state of a run. Texts live in the run's store; here are their hashes."""

    base: list[list[str]]
    """The shared start of every conversation: [role, content], system and specification first."""
    design_talk: list[list[str]]
    """What follows `base` in the conversation about the design."""
    oracle_talk: list[list[str]]
    understanding: dict[str, object]
    decisions: list[list[str]]
    golden: str
    """Hash of golden.py; empty: only the user's tests judge."""
    first_golden: str
    """Hash of the first golden.py, which no correction may fall short of."""
    candidate: str
    edited: bool
    """Whether the candidate came from edits, so that the model has not seen it whole."""
    note: str
    attempts: list[Attempt]
    best: int
    """Index into attempts; -1: none."""
    line: int
    rulings: list[list[str]]
    """[failure signature, wrong side, quote and reason]."""
    dispute: str
    oracle_fixes: int
    next: str
    """The node to go to."""
    outcome: str
    """`pass`, `fail`, or empty while the loop runs."""
    reason: str
