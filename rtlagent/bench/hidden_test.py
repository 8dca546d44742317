"""Simulate an answer under a suite's own testbench, in one sandbox, and read what the testbench said."""

from __future__ import annotations

import re
import secrets
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from rtlagent.bench.answer_rules import Hidden, Refusal, admit, needs_preprocessing
from rtlagent.bench.marking import Heard, heard, marked, reports_finally, says_when_it_ends
from rtlagent.bench.problem import DESIGN, TOOL, Score
from rtlagent.bench.verilog_tokens import is_verilog
from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import UsageError
from rtlagent.tools import bench_output, icarus, sandbox, verilator
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.simulation_job import Job, Outcome, execute, prepare
from rtlagent.tools.simulator_choice import Simulator
from rtlagent.tools.staging import require_size, safe_path, stage
from rtlagent.types import Diagnostic, Severity, SourceFile, Status, TestFile, TestKind

_ANSWER = "answer"
_TEST = "hidden"
_CPU_S = 60
_OUTPUT_MB = 32.0
_LINE = re.compile(r"^`line .*\n?", re.M)
_COERCED = re.compile(r"input port (\S+) is coerced to inout")
_SIGNALLED = 128
_TIME_LIMITS = ("wall", "cpu")
_MAX_MESSAGE = 2000


@dataclass(frozen=True)
class Said:
    """What is known of a finished simulation when the verdict is made."""

    heard: Heard
    reports: tuple[str, ...]
    """The testbench's `$error` and `$fatal` reports."""
    returncode: int | None
    may_end_early: bool
    """The test prints when the simulation ends, and did not end it itself."""


@dataclass(frozen=True)
class Ruling:
    """A verdict: PASS, FAIL, TIMEOUT, or UNPROVEN when the test gave none."""

    status: Status
    message: str


def judge_prints(said: Said) -> Ruling:
    """Judge any testbench by its prints, as `bench_output` does for a user's own."""
    if said.reports:
        return Ruling(Status.FAIL, "\n".join(said.reports[:5]))
    judged = bench_output.judge(said.heard.text, said.returncode, ())
    return Ruling(judged.status, judged.message)


@dataclass(frozen=True)
class HiddenTest:
    """A testbench with all it needs but the answer."""

    top: str
    """The testbench's module."""
    files: tuple[SourceFile, ...]
    """Verilog that is compiled before the answer (testbench, reference) and files that it includes."""
    data_files: tuple[SourceFile, ...] = ()
    """Laid into the folder where the simulation runs."""
    rule: Callable[[Said], Ruling] = judge_prints
    seed: int = 1
    inout: bool = False
    """An answer may have bidirectional ports, though the test's files have none."""


def run_hidden_test(
    test: HiddenTest,
    answer: Sequence[SourceFile],
    *,
    config: ToolConfig,
    simulator: str = "auto",
    keep_dir: Path | None = None,
) -> Score:
    """Score an answer; whether a failure is the benchmark's own is for the caller to find out.

    Raises:
        UsageError: `simulator` is none.
        ToolMissingError: a simulator is not installed.
        SandboxError: nothing could be run.
    """
    start = time.monotonic()
    if simulator not in ("auto", "icarus", "verilator"):
        raise UsageError(f"there is no simulator {simulator!r}", hint="choose from auto, icarus, verilator")
    try:
        require_size(answer, config)
        return _run(test, answer, config, simulator, keep_dir, start)
    except UsageError as error:  # names or sizes of the answer's files
        return _failed(error.message, start, syntax=False)


def _run(
    test: HiddenTest,
    answer: Sequence[SourceFile],
    config: ToolConfig,
    simulator: str,
    keep_dir: Path | None,
    start: float,
) -> Score:
    if not any(is_verilog(f) and f.text.strip() for f in answer):
        return _failed("the answer holds no Verilog", start, syntax=False)
    secret, end_mark = f"Q{secrets.token_hex(8)}", f"E{secrets.token_hex(8)}"
    config = replace(config, limits=_limits(config.limits))
    expanded = preprocessed(answer, config)
    if isinstance(expanded, Refusal):
        return _failed(expanded.message, start, syntax=False)
    admitted = admit(expanded, _hidden((*test.files, *test.data_files), test.inout), end_mark)
    if isinstance(admitted, Refusal):
        return _failed(admitted.message, start)
    with scratch_folder() as folder:
        job = _staged(test, marked(test.files, secret), admitted.files, folder)
        used, outcome, errors = _simulated(job, simulator, config)
    score = _score(test, outcome, errors, secret, end_mark)
    if keep_dir is not None:
        keep_dir.mkdir(parents=True, exist_ok=True)
        log = "\n".join((outcome.build_log, heard(outcome.output, secret).text, score.message))
        (keep_dir / "score.log").write_text(log.strip() + "\n")
    return replace(score, wall_s=time.monotonic() - start, tool_versions=(f"{used.NAME} {used.version()}",))


def _failed(message: str, start: float, *, syntax: bool | None = None) -> Score:
    wall_s = time.monotonic() - start
    simulation = None if syntax is False else False
    return Score(Status.FAIL, DESIGN, syntax, simulation, message=message[:_MAX_MESSAGE], wall_s=wall_s)


def _limits(limits: Limits) -> Limits:
    # By processor time, so that a busy machine fails nobody; and a chatty answer is no failure.
    return replace(limits, cpu_s=min(limits.cpu_s, _CPU_S), output_mb=max(limits.output_mb, _OUTPUT_MB))


@lru_cache(maxsize=512)
def _hidden(files: tuple[SourceFile, ...], inout: bool) -> Hidden:
    return Hidden.of(files, inout=inout)


def preprocessed(answer: Sequence[SourceFile], config: ToolConfig) -> tuple[SourceFile, ...] | Refusal:
    """Expand macros, conditions and includes, if there are any, where nothing but the answer lies.

    Returns:
        The answer's files, or what is wrong with them.
    """
    if not needs_preprocessing(answer):
        return tuple(answer)
    with scratch_folder() as folder:
        staged = stage(answer, folder)
        sources = [p for p in staged.paths if p.lower().endswith((".v", ".sv", ".verilog"))]
        dirs = dict.fromkeys(str(Path(p).parent) for p in staged.paths)
        argv = ["iverilog", "-E", "-g2012", *(f"-I{d}" for d in dirs), "-o", "rtlagent_expanded.sv", *sources]
        done = sandbox.run(argv, work=folder, config=config)
        result = folder / "rtlagent_expanded.sv"
        if done.returncode != 0 or result.is_symlink() or not result.is_file():
            said = (done.stderr or done.stdout).strip().replace("/work/", "")
            return Refusal(f"the preprocessor refuses the answer: {said or done.limit or 'no output'}")
        text = _LINE.sub("", result.read_text(errors="replace"))
    if "\n`line " in f"\n{text}":
        return Refusal("the answer changes line numbers")
    verilog = [f.path for f in answer if f.path.lower().endswith((".v", ".sv", ".verilog"))]
    path = verilog[0] if len(verilog) == 1 else "answer.sv"
    return (SourceFile(path, text), *(f for f in answer if not is_verilog(f)))


def _staged(test: HiddenTest, files: Sequence[SourceFile], answer: Sequence[SourceFile], folder: Path) -> Job:
    """Lay out test and answer, each in a folder of its own, the test first so that no macro reaches it."""
    of_test = [SourceFile(f"{_TEST}/{safe_path(f.path)}", f.text) for f in files]
    design = [SourceFile(f"{_ANSWER}/{safe_path(f.path)}", f.text) for f in answer if is_verilog(f)]
    data = {safe_path(f.path): f for f in (*(f for f in answer if not is_verilog(f)), *test.data_files)}
    bench = TestFile(of_test[0], TestKind.SYSTEMVERILOG, test.top, tuple(of_test[1:]))
    job = prepare(
        folder, design, [bench], top=test.top, seed=test.seed,
        data_files=[SourceFile(path, f.text) for path, f in data.items()],
    )  # fmt: skip
    first = [s for s in job.sources if s.startswith(f"{_TEST}/")]
    second = [s for s in job.sources if s.startswith(f"{_ANSWER}/")]
    return replace(job, sources=(*first, *second))


def _simulated(job: Job, simulator: str, config: ToolConfig) -> tuple[Simulator, Outcome, tuple[Diagnostic, ...]]:
    """Build and run with the first simulator that knows the constructs."""
    candidates: dict[str, Simulator] = {"icarus": icarus, "verilator": verilator}
    order = list(candidates.values()) if simulator == "auto" else [candidates[simulator]]
    for used in order:
        outcome = execute(job, used.plan(job, config=config), config=config)
        if late := used.refused_at_start(outcome.output):
            outcome = replace(outcome, build_rc=1, build_log=f"{outcome.build_log}\n{late}".strip())
        found = used.diagnostics(job, outcome.build_log) if not outcome.built else ()
        errors = tuple(d for d in found if d.severity is Severity.ERROR)
        if outcome.built or outcome.limit is not None or (errors and not used.unsupported(outcome.build_log)):
            break
    return used, outcome, errors


def _score(test: HiddenTest, outcome: Outcome, errors: Sequence[Diagnostic], secret: str, end_mark: str) -> Score:
    if outcome.limit is not None:
        status = Status.TIMEOUT if outcome.limit in _TIME_LIMITS else Status.FAIL
        what = "the compiler" if outcome.build_rc is None else "the simulation"
        built = outcome.built or None
        return Score(
            status, DESIGN, built, False if built else None, message=f"{what} reached the {outcome.limit} limit"
        )
    if not outcome.built:
        if errors:
            lines = [str(d) for d in errors[:5]]
            return Score(Status.FAIL, DESIGN, False, None, message=_plain("\n".join(lines)))
        said = _plain(outcome.build_log) or "no message"
        return Score(Status.ERROR, TOOL, None, None, message=f"the compiler broke: {said}")
    if coerced := _COERCED.search(outcome.build_log):
        message = f"the answer drives its own input {coerced[1]}"
        return Score(Status.FAIL, DESIGN, True, False, message=message)
    if outcome.run_rc == _SIGNALLED + signal.SIGXCPU:
        return Score(Status.TIMEOUT, DESIGN, True, False, message="the simulation reached the cpu limit")
    if outcome.run_rc is not None and outcome.run_rc > _SIGNALLED:
        reports = bench_output.severity_reports(outcome.output)
        if reports:  # Verilator aborts on a design that does not settle, and says so
            return Score(Status.FAIL, DESIGN, True, False, message=_plain("\n".join(reports[:5])))
        crash = f"the simulator crashed with signal {outcome.run_rc - _SIGNALLED}"
        return Score(Status.ERROR, TOOL, True, None, message=crash)
    if end_mark in outcome.output:
        return Score(Status.FAIL, DESIGN, True, False, message="the answer ends the simulation with $finish")
    ruling = test.rule(_said(test, outcome, secret))
    if ruling.status is Status.PASS and outcome.run_rc != 0:
        ruling = Ruling(Status.FAIL, f"the simulation exited with {outcome.run_rc}")
    passed = ruling.status is Status.PASS
    status = Status.FAIL if ruling.status is Status.UNPROVEN else ruling.status
    return Score(status, "" if passed else DESIGN, True, passed, message=_plain(ruling.message))


def _said(test: HiddenTest, outcome: Outcome, secret: str) -> Said:
    voice = heard(outcome.output, secret)
    reports = [r for r in bench_output.severity_reports(outcome.output) if r.startswith(f"{_TEST}/")]
    early = reports_finally(test.files) and says_when_it_ends(test.files) and not voice.ended
    return Said(voice, tuple(reports), outcome.run_rc, early)


def _plain(text: str) -> str:
    return text.replace(f"{_ANSWER}/", "").replace(f"{_TEST}/", "").strip()[:_MAX_MESSAGE]
