"""Audit a benchmark: is each problem fair, and how much is a pass of its hidden test worth?"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from rtlagent.bench.answers import Answer, Answers
from rtlagent.bench.audit.bench_ports import bench_port_findings, is_reference
from rtlagent.bench.audit.findings import (
    DEFECT,
    DOUBT,
    GOLDEN,
    NOT_AUDITED,
    SIMULATORS,
    TRIVIAL,
    WEAK,
    Finding,
    Mutation,
    ProblemAudit,
    Run,
)
from rtlagent.bench.audit.prompt import port_findings, unstated_findings
from rtlagent.bench.audit.trivial import trivial_designs
from rtlagent.bench.problem import Problem, Score, Suite
from rtlagent.bench.scoring import ScoringJob, score_answers, score_one
from rtlagent.bench.suites import suite
from rtlagent.bench.suites.cvdp import Cvdp
from rtlagent.bench.suites.folder import Folder
from rtlagent.bench.suites.testbench_suite import TestbenchSuite
from rtlagent.bench.verilog_tokens import is_verilog
from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, SandboxError, ToolMissingError, UsageError
from rtlagent.tools import icarus, verilator
from rtlagent.tools.inspect import inspect
from rtlagent.tools.mutant_comparison import Comparer
from rtlagent.tools.mutants import Mutant, make_mutants
from rtlagent.types import SourceFile, Status, digest, from_json, to_json
from rtlagent.verilog import ModuleInfo
from rtlagent.workspace import write_atomic

__all__ = ["AuditJob", "Finding", "Mutation", "ProblemAudit", "Run", "audit"]

GOOD_SHARE = 0.95
"""Of the mutants; a test that kills fewer is called weak. Our judgement."""
_VERSION = 4
"""Of the rules: records of another version are made anew."""
SIMULATORS_HERE = ("icarus", "verilator")
_MOST_MESSAGE = 300
_SLOWER = 10
_AT_LEAST_CPU_S = 3
_CODE = (".py", ".v", ".sv")
_MOST_SURVIVORS = 20


@dataclass(frozen=True)
class AuditJob:
    """What is audited, and how thoroughly."""

    suite: str
    path: Path
    config: ToolConfig
    folder: Path
    """Where each problem's record is kept, so that a killed audit goes on."""
    mutants: int = 20
    """For each problem; 0: none."""
    seed: int = 1
    jobs: int = 2
    """Problems at a time; of a single problem, mutants."""
    simulators: tuple[str, ...] = SIMULATORS_HERE
    """On which the golden design is run, beside the one that answers are scored with."""

    @property
    def settings(self) -> str:
        """What the records depend on, beside the problem's data."""
        return digest([_VERSION, self.mutants, self.seed, self.simulators, icarus.version(), verilator.version()])


def audit(job: AuditJob, problems: Sequence[Problem]) -> Iterator[ProblemAudit]:
    """Audit problems, some at a time, and give them in their order; those that have a record are not repeated.

    Raises:
        UsageError: there is no such suite, or the records cannot be kept.
        SandboxError, ToolMissingError: nothing could be run.
    """
    chosen = suite(job.suite)
    sha = chosen.data_sha256(job.path)
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot keep records: {error.strerror}", where=str(job.folder)) from error
    alone = min(job.jobs, len(problems)) <= 1
    stopping = threading.Event()
    each = job if alone else replace(job, jobs=1)

    def one(problem: Problem) -> ProblemAudit:
        place = job.folder / f"{digest([problem.name])[:8]}-{problem.name.replace('/', '_')[:60]}.json"
        key = [sha, job.settings]
        found = _read(place, key)
        if found is None:
            found = _Audit(each, chosen, problem, stopping).run()
            if not any(f.kind == NOT_AUDITED for f in found.findings):  # what broke may work tomorrow
                _write(place, json.dumps({"key": key, "audit": to_json(found)}, indent=1) + "\n")
        return found

    if alone:
        yield from map(one, problems)
        return
    pool = ThreadPoolExecutor(job.jobs)
    try:
        yield from pool.map(one, problems)
    finally:
        stopping.set()
        pool.shutdown(cancel_futures=True)


def _read(place: Path, key: list[str]) -> ProblemAudit | None:
    """Return a record; one that is damaged, or was made for other data, counts for nothing."""
    try:
        data = json.loads(place.read_text())
        return from_json(ProblemAudit, data["audit"]) if data["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(place: Path, text: str) -> None:
    try:
        write_atomic(place, text)
    except OSError as error:
        raise UsageError(f"cannot keep records: {error.strerror}", where=str(place)) from error


class _StoppedError(Exception):
    """Nobody wants the result any more."""


class _Audit:
    def __init__(self, job: AuditJob, chosen: Suite, problem: Problem, stopping: threading.Event) -> None:
        self.stopping = stopping
        self.job = job
        self.suite = chosen
        self.problem = problem
        self.runs: list[Run] = []
        self.findings: list[Finding] = []
        self.tests: tuple[SourceFile, ...] = ()
        self.golden_s = 0.0

    def run(self) -> ProblemAudit:
        """Audit the problem."""
        mutation = None
        try:
            self.tests = _hidden_files(self.suite, self.job.path, self.problem.name)
            golden = self.suite.golden(self.job.path, self.problem.name)
            if golden is None:
                self._find(NOT_AUDITED, DOUBT, "there is no golden design, so that nothing can be tried")
            else:
                mutation = self._with_golden(golden)
        except (SandboxError, ToolMissingError):
            raise
        except RtlagentError as error:
            self._find(NOT_AUDITED, DOUBT, f"the audit broke off: {error}")
        return ProblemAudit(self.problem.name, tuple(self.runs), tuple(self.findings), mutation)

    def _go_on(self) -> None:
        """Stop where others wait for this problem, such as after Ctrl-C."""
        if self.stopping.is_set():
            raise _StoppedError

    def _find(self, kind: str, severity: str, text: str) -> None:
        self.findings.append(Finding(kind, severity, text))

    def _with_golden(self, golden: tuple[SourceFile, ...]) -> Mutation | None:
        passes = self._golden(golden)
        if self.problem.language == "c":
            return None
        module = self._module(golden)
        if module is not None:
            seen = "\n".join([self.problem.spec_text, *(f.text for f in self.problem.context)])
            self.findings += port_findings(seen, module.ports)
            tests = self.tests
            self.findings += bench_port_findings(module, golden, tests, self.job.config)
            self.findings += unstated_findings(seen, module.name, module.ports, tests)
            if passes:
                self._trivial(module)
        return self._mutants(golden, module.name) if passes and module is not None and self.job.mutants else None

    def _module(self, golden: tuple[SourceFile, ...]) -> ModuleInfo | None:
        """Return the golden design's top."""
        try:
            design = inspect([f for f in golden if is_verilog(f)], config=self.job.config)
        except UsageError as error:
            self._find(NOT_AUDITED, DOUBT, f"the golden design cannot be read: {error.message}")
            return None
        name = self.problem.top if self.problem.top and design.module(self.problem.top) else None
        if name is None and len(design.tops) == 1:
            name = design.tops[0]
        return design.module(name) if name else None

    def _score(self, what: str, files: Sequence[SourceFile], simulator: str) -> Score | None:
        job = self.job
        self._go_on()
        try:
            score = self.suite.score(job.path, self.problem.name, files, config=job.config, simulator=simulator)
        except UsageError as error:
            self.runs.append(Run(what, simulator, "", _cut(error.message)))
            return None
        self.runs.append(Run(what, simulator, score.status.value, _cut(score.message)))
        return score

    def _golden(self, golden: tuple[SourceFile, ...]) -> bool:
        """Run the golden design everywhere; tell whether it passes where answers would be scored."""
        # CVDP's harness names its simulator itself.
        simulators = () if isinstance(self.suite, Cvdp) else self.job.simulators
        scores = {s: self._score("golden", golden, s) for s in simulators}
        usual = self._score("golden", golden, "auto")
        passes = usual is not None and usual.status is Status.PASS
        self.golden_s = usual.wall_s if usual is not None else 0.0
        known = {s: score for s, score in scores.items() if score is not None}
        bad = {s: score for s, score in known.items() if score.status is not Status.PASS}
        if usual is not None and usual.status is Status.ERROR:
            self._find(NOT_AUDITED, DOUBT, f"a tool broke over the golden design: {_cut(usual.message)}")
        elif not passes:
            what = "times out under" if usual is not None and usual.status is Status.TIMEOUT else "does not pass"
            reasons = [_told(name, score) for name, score in bad.items()]
            reasons = reasons or [_told("", usual) if usual is not None else self.runs[-1].message]
            text = f"the golden design {what} its own test ({'; '.join(reasons)})"
            if usual is not None and usual.status is Status.FAIL and usual.syntax and self._is_reference(golden):
                text += "; the test compares it with itself, so that a race or the simulator makes the difference"
            self._find(GOLDEN, DEFECT, text)
        if bad and len(bad) < len(known):
            others = ", ".join(sorted(set(known) - set(bad)))
            for name, score in bad.items():
                text = f"the golden design passes with {others} and not with {_told(name, score)}"
                self._find(SIMULATORS, DOUBT, text)
        return passes

    def _is_reference(self, golden: tuple[SourceFile, ...]) -> bool:
        module = self._module(golden)
        return module is not None and is_reference(golden, module.name, self.tests)

    def _trivial(self, module: ModuleInfo) -> None:
        for what, design in trivial_designs(module).items():
            score = self._score(what, [design], "auto")
            if score is not None and score.status is Status.PASS:
                self._find(TRIVIAL, DEFECT, f"a design whose outputs are {what} passes the hidden test")

    def _mutants(self, golden: tuple[SourceFile, ...], top: str) -> Mutation:
        config = self.job.config
        files = [f for f in golden if is_verilog(f)]
        data = [f for f in golden if not is_verilog(f)]
        made = make_mutants(files, top=top, limit=self.job.mutants, seed=self.job.seed, config=config)
        answers = [Answer(self.problem.name, n, (*mutant.apply(files), *data)) for n, mutant in enumerate(made)]
        # A mutant that takes much longer than the golden design has hung.
        limits = config.limits
        cpu_s = min(limits.cpu_s, math.ceil(_SLOWER * self.golden_s) + _AT_LEAST_CPU_S)
        hasty = replace(config, limits=replace(limits, cpu_s=cpu_s))
        job = ScoringJob(self.job.suite, self.job.path, hasty)
        if self.job.jobs == 1:
            scores = {}
            for answer in answers:
                self._go_on()
                scores[answer.sample] = score_one(job, answer)
        else:
            given = Answers(tuple(answers), (), ())
            scores = {s.sample: s.score for s in score_answers(job, [self.problem], given, jobs=self.job.jobs)}
        broken = [n for n, s in scores.items() if s.status is Status.ERROR]
        for number in broken:  # once more, alone: a busy machine is no verdict
            scores[number] = score_one(job, answers[number])
        not_built = [n for n, s in scores.items() if s.status is Status.ERROR or s.syntax is False]
        passed = [n for n, s in sorted(scores.items()) if s.status is Status.PASS]
        same: list[Mutant] = []
        undecided = 0
        survivors: list[Mutant] = []
        comparer = Comparer.of(files, top=top, reset=None, config=config, data_files=data) if passed else None
        for number in passed:
            self._go_on()
            status = comparer.compare(made[number].apply(files)) if comparer is not None else Status.UNPROVEN
            if status is Status.PASS:
                same.append(made[number])
                continue
            undecided += status is not Status.FAIL
            survivors.append(made[number])
        mutation = Mutation(
            killed=len(made) - len(not_built) - len(passed),
            survived=len(survivors),
            undecided=undecided,
            equivalent=len(same),
            not_built=len(not_built),
            survivors=tuple(m.diff for m in survivors[:_MOST_SURVIVORS]),
        )
        share = mutation.share
        if share is not None and share < GOOD_SHARE:
            perhaps = f", {undecided} of them perhaps the same design" if undecided else ""
            passing = f"{len(survivors)} {'passes' if len(survivors) == 1 else 'pass'}{perhaps}"
            text = f"the hidden test kills {share:.0%} of the mutants; {passing}"
            self._find(WEAK, DOUBT, text)
        return mutation


def _hidden_files(chosen: Suite, path: Path, name: str) -> tuple[SourceFile, ...]:
    """Return the text of a problem's hidden test, where the suite's layout says what it is."""
    if isinstance(chosen, TestbenchSuite):
        return chosen.hidden_test(path, name).files
    if isinstance(chosen, Folder):
        return tuple(f for f in chosen.tests(path, name) if f.path.endswith(_CODE))
    if isinstance(chosen, Cvdp):
        return tuple(f for f in chosen.harness(path, name) if f.path.endswith(_CODE))
    return ()


def _told(simulator: str, score: Score) -> str:
    """Say which simulator did not pass a golden design, and why, as far as is known."""
    version = ", ".join(score.tool_versions) or simulator
    note = ""
    if "[Unsupported]" in score.message:
        note = " (this version does not know the construct; a newer one may)"
    elif simulator == "verilator" and score.syntax and score.status is Status.FAIL:
        note = " (Verilator has no X: what is unknown at the start is random)"
    return f"{version}: {_why(score)}{note}"


def _why(score: Score) -> str:
    """Return the line of a message that says most."""
    lines = [line.strip() for line in score.message.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith("the benchmark's own design"):
        lines = lines[1:]
    return _cut(lines[0]) if lines else score.status.value


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MOST_MESSAGE else f"{text[: _MOST_MESSAGE - 3]}..."
