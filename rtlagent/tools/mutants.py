"""How strong was the oracle that passed a design? Count the wrong designs that it catches.

A mutant is the design with one small change (DeMillo, Lipton and Sayward, 1978: mutation testing).
The oracle that passed the design judges each mutant; the share that it kills tells how much its PASS is worth.
Mutants that formal equivalence proves to be the same design are not counted.
"""

from __future__ import annotations

import difflib
import json
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError, UsageError
from rtlagent.tools.filelist import compile_order, include_dirs
from rtlagent.tools.mutant_comparison import Comparer
from rtlagent.tools.mutant_worker import MutantJob, RawMutant
from rtlagent.tools.sandbox import run
from rtlagent.tools.scoreboard import check_trace
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.simulate import simulate
from rtlagent.tools.staging import stage
from rtlagent.types import Clock, Grade, Port, Reset, SourceFile, Status, StepResult, TestFile, Trace

STRONG_PERCENT = 90
MODERATE_PERCENT = 70
MIN_MUTANTS = 8
"""Fewer say too little for STRONG. All three are our judgement, not a measured optimum."""
MAX_NAMED = 3
"""Survivors that a grade's reason names."""
MAX_EQUIVALENCE_CHECKS = 5
_SLOWER = 10
"""A mutant that takes this many times as long as the design, and some seconds more, has hung."""
_SHOWN_CHARS = 60
_REMOVED = ";"


@dataclass(frozen=True)
class Mutant:
    """One small change of a design."""

    path: str
    line: int
    """From 1."""
    column: int
    """From 1."""
    kind: str
    """`operator`, `dropped operand`, `dropped negation`, `condition` (negated), `constant`, `index`,
    `removed assignment` or `stuck output`."""
    original: str
    """The text that is replaced."""
    mutated: str

    @property
    def diff(self) -> str:
        """Return one line, such as `rtl/fifo.v:42: count == DEPTH  ->  count != DEPTH`."""
        after = "(removed)" if self.mutated == _REMOVED else _shown(self.mutated)
        return f"{self.path}:{self.line}: {_shown(self.original)}  ->  {after}"

    def patch(self, files: Sequence[SourceFile], context: int = 1) -> str:
        """Return the change as a unified diff with `context` lines around it.

        Raises:
            UsageError: `files` are not the design that the mutant was made of.
        """
        before = next((f.text for f in files if self._fits(f)), "")
        after = next(f.text for f in self.apply(files) if f.path == self.path)
        lines = difflib.unified_diff(
            before.splitlines(), after.splitlines(), self.path, f"{self.path} ({self.kind})", n=context, lineterm=""
        )
        return "\n".join(lines)

    def apply(self, files: Sequence[SourceFile]) -> tuple[SourceFile, ...]:
        """Return the design with the change made.

        Raises:
            UsageError: `files` are not the design that the mutant was made of.
        """
        if not any(self._fits(f) for f in files):
            raise UsageError("the mutant was made of another design", where=f"{self.path}:{self.line}:{self.column}")
        return tuple(self._applied(f) if self._fits(f) else f for f in files)

    def _offset(self, text: str) -> int:
        start = 0
        for _ in range(self.line - 1):
            start = text.find("\n", start) + 1
            if not start:
                return len(text)
        return start + self.column - 1

    def _fits(self, file: SourceFile) -> bool:
        return file.path == self.path and file.text.startswith(self.original, self._offset(file.text))

    def _applied(self, file: SourceFile) -> SourceFile:
        at = self._offset(file.text)
        return replace(file, text=file.text[:at] + self.mutated + file.text[at + len(self.original) :])


@dataclass(frozen=True)
class JudgedMutant:
    """A mutant and what became of it."""

    mutant: Mutant
    outcome: str
    """`killed`, `survived`, `equivalent`, `undecided` or `not compared` (these two are survivors), `invalid` or
    `broken`."""


@dataclass(frozen=True)
class MutationResult:
    """What became of the mutants."""

    total: int
    """All that were tried."""
    killed: int
    """Found wrong by the oracle (FAIL or TIMEOUT)."""
    survived: tuple[Mutant, ...]
    """Passed by the oracle, and not known to be equivalent; in the order given."""
    invalid: int
    """Not built by the simulator: not counted."""
    equivalent: int
    """Proven to be the same design: not counted."""
    broken: int = 0
    """The simulator or the bench broke on them: not counted."""
    undecided: int = 0
    """Of the survivors: compared with the design, but neither proven the same nor shown to differ."""
    not_compared: int = 0
    """Of the survivors: beyond the number of comparisons."""
    judged: tuple[JudgedMutant, ...] = field(default=(), compare=False)
    """Each mutant with what became of it, in the order given."""

    @property
    def counted(self) -> int:
        """Mutants that the oracle should kill."""
        return self.killed + len(self.survived)


def make_mutants(
    files: Sequence[SourceFile], *, top: str, limit: int, seed: int, config: ToolConfig
) -> tuple[Mutant, ...]:
    """Make at most `limit` mutants of a design, spread over kinds of change and lines, in the order of the text.

    The same files, limit and seed give the same mutants. Modules that are not used below `top` are left alone.

    Raises:
        ToolError: pyslang broke on the design, or did not finish.
        SandboxError: nothing could be run.
    """
    with scratch_folder() as folder:
        staged = stage([replace(f, text=f.text.encode("utf-8", "replace").decode()) for f in files], folder)
        sources = tuple(staged.place(f.path) for f in compile_order(files))
        job = MutantJob(sources, include_dirs(staged.paths), top, limit, seed)
        argv = [sys.executable, "-I", "-m", "rtlagent.tools.mutant_worker"]
        process = run(argv, work=staged.folder, config=config, stdin=json.dumps(asdict(job)))
    try:
        raw = [RawMutant(**m) for m in json.loads(process.stdout)]
        mutants = [Mutant(**{**asdict(m), "path": staged.originals[m.path]}) for m in raw]
    except (ValueError, TypeError, KeyError) as error:
        why = f"stopped at the {process.limit} limit" if process.limit else "it left no report"
        raise ToolError(f"no mutants could be made: {why}") from error
    return tuple(m for m in mutants if any(m._fits(f) for f in files))


def kill_mutants(
    files: Sequence[SourceFile],
    mutants: Sequence[Mutant],
    trace: Trace | None,
    *,
    top: str,
    ports: Sequence[Port],
    clock: Clock | None,
    reset: Reset | None,
    tests: Sequence[TestFile] = (),
    config: ToolConfig,
    jobs: int = 2,
    comparisons: int = MAX_EQUIVALENCE_CHECKS,
    simulator: str = "auto",
) -> MutationResult:
    """Let the oracle that passed `files` judge each mutant: first the trace, then the user's tests.

    `simulator` runs them; `auto` is Icarus, unless the design does not pass there. Of the survivors the first
    `comparisons` are compared with the design; what is proven the same is not counted.

    Raises:
        UsageError: there is neither a trace nor a test, or the design itself does not pass them.
        ToolMissingError: a simulator is not installed.
        SandboxError: nothing could be run.
    """
    if trace is None and not tests:
        raise UsageError("there is neither a trace nor a test to kill mutants with")
    oracle = _Oracle(trace, tuple(tests), top, tuple(ports), clock, reset, simulator, config)
    if mutants:
        oracle = oracle.tried_on(files)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        statuses = list(pool.map(lambda m: oracle.judge(m.apply(files)), mutants))
        survived = [m for m, s in zip(mutants, statuses, strict=True) if s in (Status.PASS, Status.UNPROVEN)]
        asked = survived[:comparisons]
        compared: list[Status] = []
        if asked:
            comparer = Comparer.of(files, top=top, reset=reset, config=config)
            compared = list(pool.map(lambda m: comparer.compare(m.apply(files)), asked))
    same = [status is Status.PASS for status in compared]
    return MutationResult(
        total=len(mutants),
        killed=sum(s in (Status.FAIL, Status.TIMEOUT) for s in statuses),
        survived=(*(m for m, equal in zip(asked, same, strict=True) if not equal), *survived[len(asked) :]),
        invalid=statuses.count(None),
        equivalent=sum(same),
        broken=statuses.count(Status.ERROR),
        undecided=sum(status not in (Status.PASS, Status.FAIL) for status in compared),
        not_compared=len(survived) - len(asked),
        judged=_judged(mutants, statuses, compared),
    )


def _judged(
    mutants: Sequence[Mutant], statuses: Sequence[Status | None], compared: Sequence[Status]
) -> tuple[JudgedMutant, ...]:
    """Say of each mutant what became of it; `compared` are the comparisons of the first survivors."""
    found, comparisons = [], iter(compared)
    for mutant, status in zip(mutants, statuses, strict=True):
        if status is None or status is Status.ERROR:
            outcome = "broken" if status is Status.ERROR else "invalid"
        elif status in (Status.FAIL, Status.TIMEOUT):
            outcome = "killed"
        else:
            same = next(comparisons, None)
            outcome = "undecided" if same is not None else "not compared"
            outcome = {Status.PASS: "equivalent", Status.FAIL: "survived"}.get(same, outcome) if same else outcome
        found.append(JudgedMutant(mutant, outcome))
    return tuple(found)


def grade(result: MutationResult) -> tuple[Grade, str]:
    """Grade an oracle by the mutants that it killed, and say why.

    STRONG: at least STRONG_PERCENT of at least MIN_MUTANTS counted ones; MODERATE: MODERATE_PERCENT, of
    any number; WEAK: fewer; NONE: nothing was counted, so that nothing is known.
    """
    counted = result.counted
    if not counted:
        return Grade.NONE, "no mutant could be judged"
    reason = f"{result.killed} of {counted} mutants killed"
    if result.survived:
        named = "; ".join(m.diff for m in result.survived[:MAX_NAMED])
        more = len(result.survived) - MAX_NAMED
        reason += f"; {'survivor' if len(result.survived) == 1 else 'survivors'}: {named}"
        reason += f" (and {more} more)" if more > 0 else ""
    open_ones = [(result.undecided, "undecided"), (result.not_compared, "not compared")]
    if any(number for number, _ in open_ones):
        told = ", ".join(f"{number} {what}" for number, what in open_ones if number)
        reason += f"; some may be the same design ({told})"
    if 100 * result.killed < MODERATE_PERCENT * counted:
        return Grade.WEAK, reason
    if 100 * result.killed < STRONG_PERCENT * counted:
        return Grade.MODERATE, reason
    if counted < MIN_MUTANTS:
        return Grade.MODERATE, f"{reason}; fewer than {MIN_MUTANTS} tell little"
    return Grade.STRONG, reason


@dataclass(frozen=True)
class _Oracle:
    """The trace and the tests that passed a design."""

    trace: Trace | None
    tests: tuple[TestFile, ...]
    top: str
    ports: tuple[Port, ...]
    clock: Clock | None
    reset: Reset | None
    simulator: str
    config: ToolConfig

    def tried_on(self, files: Sequence[SourceFile]) -> _Oracle:
        """Return the oracle with a simulator that takes the design, and limits that fit its length.

        Raises:
            UsageError: the design does not pass.
        """
        steps: list[StepResult] = []
        for simulator in ("icarus", "verilator") if self.simulator == "auto" else (self.simulator,):
            oracle = replace(self, simulator=simulator)
            steps = oracle._steps(files)
            if all(s.passed for s in steps):
                break
        failing = next((s for s in steps if not s.passed), None)
        if failing is not None:
            detail = failing.detail.strip().splitlines()[:1]
            message = "the design does not pass its own oracle, so its mutants would tell nothing"
            raise UsageError(": ".join([message, *detail]))
        limits = self.config.limits
        cpu_s = min(limits.cpu_s, math.ceil(_SLOWER * max(s.wall_s for s in steps)) + 3)
        # On a busy machine the wall time says little: the CPU limit is what stops an endless loop.
        limits = replace(limits, cpu_s=cpu_s, wall_s=min(limits.wall_s, 4.0 * cpu_s))
        return replace(oracle, config=replace(self.config, limits=limits))

    def judge(self, files: Sequence[SourceFile]) -> Status | None:
        """Return FAIL or TIMEOUT (killed), PASS or UNPROVEN (survived), ERROR, or None if it is not built."""
        status: Status | None = None
        for step in self._steps(files):
            if _not_built(step):
                return None
            status = step.status
        return status

    def _steps(self, files: Sequence[SourceFile]) -> list[StepResult]:
        """Run the trace and, if it did not find a fault, the tests."""
        steps: list[StepResult] = []
        if self.trace is not None:
            steps.append(
                check_trace(
                    files,
                    self.trace,
                    top=self.top,
                    ports=self.ports,
                    clock=self.clock,
                    reset=self.reset,
                    simulator=self.simulator,
                    wave="never",
                    stop_at_mismatch=True,
                    config=self.config,
                )
            )
        if self.tests and all(s.status in (Status.PASS, Status.UNPROVEN) for s in steps):
            steps.append(
                simulate(
                    files,
                    self.tests,
                    top=self.top,
                    simulator=self.simulator,
                    seed=1,
                    # Nothing is kept, so that nothing is run again; `never` would have asserts explained.
                    wave="on_failure",
                    stop_at_failure=True,
                    config=self.config,
                )
            )
        return steps


def _not_built(step: StepResult) -> bool:
    """Say whether the simulator (or the bench, for its ports) refused the design."""
    refused = step.status is Status.FAIL and not step.tests
    return refused or any(d.code == "PORT_MISMATCH" for d in step.diagnostics)


def _shown(text: str) -> str:
    """Return text on one line, cut to a readable length."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 3] + "..."
