"""Make the golden model and its stimulus, without sight of any RTL, and mend it when it is found wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rtlagent.agent.replies import read_python
from rtlagent.agent.session import Session, Talk
from rtlagent.errors import ModelReplyError
from rtlagent.tools.diagnostics import prompt_text
from rtlagent.types import SourceFile, Spec, StepResult, Trace

GOLDEN_PATH = "golden.py"
MAX_REPAIRS = 3
MAX_TRACE_CYCLES = 20_000
"""Told to the model; tools/golden.py enforces its own cap."""


@dataclass(frozen=True)
class Oracle:
    """A golden model that ran, with the trace it gave."""

    source: SourceFile
    trace: Trace

    @property
    def sha256(self) -> str:
        """Hash of the golden model's text, under which the run keeps both."""
        return self.source.sha256


def make_oracle(session: Session, spec: Spec, base: Talk) -> tuple[Oracle, Talk]:
    """Ask for golden.py and run it until it gives a trace.

    Returns:
        The oracle, and the talk that follows `base`.

    Raises:
        ModelReplyError: it never ran.
    """
    task = session.prompts.render(
        "oracle",
        max_cycles=MAX_TRACE_CYCLES,
        clocked=spec.clock is not None,
        max_latency=spec.requirements.max_latency_cycles,
        existing=bool(spec.context_files),
    )
    return _settle(session, spec, base, [["user", task]], "oracle", earlier=())


def fix_oracle(
    session: Session, spec: Spec, base: Talk, talk: Talk, *, earlier: Sequence[Oracle], ruling: str, problem: str
) -> tuple[Oracle, Talk]:
    """Ask for a corrected golden.py after a ruling against it.

    Args:
        session: Who is asked, and where the oracle is kept.
        spec: Complete with top and ports.
        base: The shared start of every conversation.
        talk: The conversation about the oracle so far.
        earlier: The first oracle and the present one; the corrected one may not check less than either.
        ruling: Why it was found wrong.
        problem: Where the design and the oracle differ.

    Raises:
        ModelReplyError: the correction never ran, or it kept checking less.
    """
    task = session.prompts.render("oracle_fix", ruling=ruling, problem=problem)
    return _settle(session, spec, base, [*talk, ["user", task]], "oracle-fix", earlier=earlier)


def load_oracle(session: Session, sha: str) -> Oracle:
    """Read an oracle back from the run's store."""
    (source,) = session.run.load_files(sha)
    return Oracle(source, session.run.read_record(f"store/{sha}.trace.json", Trace))


def _settle(
    session: Session, spec: Spec, base: Talk, talk: Talk, purpose: str, *, earlier: Sequence[Oracle]
) -> tuple[Oracle, Talk]:
    problem = ""
    for _ in range(1 + MAX_REPAIRS):
        source, whole = session.ask([*base, *talk], purpose, _read)
        talk = whole[len(base) :]
        step, trace = _record(session, spec, source)
        about = _summary(step, trace)
        session.run.emit("oracle", status=step.status, sha=source.sha256, summary=about, detail=step.detail)
        if trace is not None:
            oracle = Oracle(source, trace)
            problem = next((p for o in earlier if (p := weakened(o.trace, trace))), "")
            if not problem:
                _keep(session, oracle)
                return oracle, talk
        else:
            said = "\n".join([*(str(d) for d in step.diagnostics), step.detail]).strip()
            problem = prompt_text(said, [GOLDEN_PATH]) or str(step.status)
        task = session.prompts.render("oracle_fix", ruling="", problem=problem)
        talk = [*talk, ["user", task]]
        purpose = "oracle-fix"
    raise ModelReplyError(
        f"the model wrote no usable golden model in {1 + MAX_REPAIRS} tries: {problem.splitlines()[0]}",
        hint="give tests of your own in the spec (`tests:`), or try a stronger model",
    )


def _read(text: str) -> SourceFile:
    return read_python(text, GOLDEN_PATH)


def _record(session: Session, spec: Spec, source: SourceFile) -> tuple[StepResult, Trace | None]:
    from rtlagent.tools.golden import record_trace

    return record_trace(
        source,
        ports=spec.ports,
        clock=spec.clock,
        reset=spec.reset,
        seed=session.settings.seed,
        random_cycles=session.settings.random_cycles,
        config=session.tools,
    )


def _summary(step: StepResult, trace: Trace | None) -> str:
    if trace is None:
        return str(step.diagnostics[0]) if step.diagnostics else ""
    cycles = sum(len(s.inputs) for s in trace.cycles)
    items = sum(len(rows) for s in trace.streams for rows in s.inputs.values())
    parts = [f"{len(trace.cycles) + len(trace.streams)} scenarios"]
    parts += [f"{count} {what}" for count, what in ((cycles, "cycles"), (items, "stream items")) if count]
    return ", ".join(parts)


def weakened(old: Trace, new: Trace) -> str:
    """Say how a corrected oracle checks less than one before; empty if it does not.

    A model under pressure makes a failing check go away; a correction must keep the scenarios, and go on
    comparing each output at least half as often.
    """
    gone = sorted(_scenarios(old) - _scenarios(new))
    if gone:
        return f"the corrected golden.py drops these scenarios: {', '.join(gone)}; keep them all"
    before, after = _compared(old), _compared(new)
    fewer = [name for name in sorted(before) if 2 * after[name] < before[name]]
    if fewer:
        counts = ", ".join(f"{name} {after[name]} times instead of {before[name]}" for name in fewer)
        return (
            f"the corrected golden.py compares less than half as much as before: {counts}; "
            "leave open only what the specification leaves open"
        )
    return ""


def _scenarios(trace: Trace) -> set[str]:
    return {s.name for s in trace.cycles} | {s.name for s in trace.streams}


def _compared(trace: Trace) -> Counter[str]:
    """Count the compared values of each output."""
    rows = [row for scenario in trace.cycles for row in scenario.expected]
    rows += [row for scenario in trace.streams for items in scenario.expected.values() for row in items]
    return Counter(name for row in rows for name, value in row.items() if value is not None)


def _keep(session: Session, oracle: Oracle) -> None:
    session.run.store_files([oracle.source], oracle.sha256)
    session.run.write_json(f"store/{oracle.sha256}.trace.json", oracle.trace)
