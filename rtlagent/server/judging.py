"""Carry out the requests that judge: verify, grade, compile_c and whole runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rtlagent.errors import RunError, UsageError
from rtlagent.server import replies, requests
from rtlagent.server.replies import Reply
from rtlagent.server.site import Site
from rtlagent.server.workspace import RUNS, choose_top
from rtlagent.spec import boundary
from rtlagent.types import Candidate, Spec, Status, StepResult, Trace
from rtlagent.workspace import Event

if TYPE_CHECKING:
    from rtlagent.agent import RunReport
    from rtlagent.workspace import Run

_Number = TypeVar("_Number", int, float)
MAX_MUTANTS = 64
_SEED = 1


def verify(request: requests.Verify, site: Site) -> Reply:
    """Put a design through every gate of its spec."""
    from rtlagent.gates import Bench, Verifier
    from rtlagent.tools.scratch import scratch_folder

    spec = _spec(request.spec, site)
    if spec.c_source is not None:
        raise UsageError("this is a spec in C", where=request.spec, hint="use start_run, which compiles and judges it")
    candidate = Candidate(site.workspace.read(request.files))
    spec = _complete(spec, candidate, site)
    trace = None
    if request.golden is not None:
        site.tell("golden model")
        step, trace = _record(request, spec, site)
        if trace is None:
            return replace(replies.of_step(step, tool=request.tool), summary="the golden model cannot judge")
    elif not spec.tests:
        hint = "write a golden model (see the prompt `implement_spec`) and give it as `golden`, or name `tests:` in it"
        raise UsageError("nothing judges what the design does", where=request.spec, hint=hint)
    with scratch_folder() as store:
        # What was judged is not taken from the workspace: whoever wrote the design can write there.
        verifier = Verifier(
            site.config.tools,
            Bench(trace, simulator=site.config.simulator, mutants=_mutants(request.mutants)),
            store=store,
            logs=site.keep_dir / "logs",
            on_step=lambda step: site.tell(f"{step.step}: {step.status}"),
        )
        verdict = verifier(candidate, spec)
    site.workspace.written(site.folder)
    return replies.of_verdict(verdict, tool=request.tool, folder=site.folder)


def grade(request: requests.Grade, site: Site) -> Reply:
    """Measure tests by the wrong designs that they catch."""
    from rtlagent.tools import mutants

    files = site.workspace.read(request.files)
    tests = site.workspace.read_tests(request.tests, request.support)
    if not tests:
        raise UsageError("there is no test to grade", hint="name a cocotb module (.py) or a testbench in `tests`")
    top = choose_top(files, request.top, site.config.tools)
    site.tell("making mutants")
    made = mutants.make_mutants(
        files, top=top, limit=_mutants(request.mutants), seed=request.seed, config=site.config.tools
    )  # fmt: skip
    site.tell(f"{len(made)} mutants to judge")
    result = mutants.kill_mutants(
        files, made, None, top=top, ports=(), clock=None, reset=None, tests=tests, config=site.config.tools
    )
    measured, reason = mutants.grade(result)
    survivors = "\n".join(m.diff for m in result.survived[:20])
    return Reply(
        request.tool,
        "DONE",
        replies.clip(reason, 600),
        metrics={
            "mutants": result.total,
            "killed": result.killed,
            "survived": len(result.survived),
            "equivalent": result.equivalent,
            "not_built": result.invalid,
        },
        grade=measured.value,
        detail=f"survivors (each a wrong design that the tests pass):\n{survivors}" if survivors else "",
    )


def compile_c(request: requests.CompileC, site: Site) -> Reply:
    """Compile a C function to Verilog."""
    from rtlagent.agent.from_c import choose_top as choose_function
    from rtlagent.agent.from_c import compile_spec, hls_report

    spec = _spec(request.file, site, request.top, request.target, request.clock)
    if spec.c_source is None:
        hint = "give a .c or .cpp file, or a Markdown spec with a C code block"
        raise UsageError("there is no C to compile", where=request.file, hint=hint)
    spec = replace(spec, top=choose_function(spec, site.config.tools))
    result = compile_spec(spec, site.config.tools, use_pragmas=request.use_pragmas)
    folder = request.out or site.folder
    path = site.workspace.path(f"{folder}/{Path(result.design.path).name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(result.design.text)
    except OSError as error:
        raise RunError(f"cannot write the Verilog: {error.strerror}", where=folder) from error
    report = hls_report(spec, result)
    step = StepResult("compile_c", Status.PASS, diagnostics=report.diagnostics, metrics=report.estimate)
    latency = f"{_count(report.latency_min_cycles)} to {_count(report.latency_max_cycles)} cycles"
    loops = [
        f"loop {loop.label} line {loop.line}: trips {_count(loop.trip_count)}, II {_count(loop.ii)},"
        f" depth {loop.depth}, latency {_count(loop.latency_cycles)}"
        f"{f', limited by {loop.limited_by}' if loop.limited_by else ''}"
        for loop in report.loops
    ]
    reply = replies.of_step(step, files=(site.workspace.name(path),))
    return replace(
        reply,
        status="DONE",
        summary=f"{report.function} compiled for {report.target} at {report.clock_ns:g} ns: latency {latency};"
        " figures are estimates, nothing is judged yet (start_run judges)",
        detail=replies.clip("\n".join(loops), 4000),
    )


def generate(request: requests.Generate, site: Site) -> Reply:
    """Do a whole run, as `rtlagent generate` does."""
    from rtlagent.agent import Continuation, start_run
    from rtlagent.agent.from_c import CRun, choose_top, compile_spec, start_c_run
    from rtlagent.models import resolve

    spec = _spec(request.spec, site, request.top, request.target, request.clock)
    budget = site.config.budget
    budget = replace(
        budget,
        max_iterations=_least(budget.max_iterations, request.max_iterations),
        max_cost_usd=_least(budget.max_cost_usd, request.max_cost_usd),
        max_time_s=_least(budget.max_time_s, request.max_time_s),
    )
    config = replace(site.config, budget=budget, runs_dir=site.workspace.path(RUNS), out=None, ask=False)
    listener = _Progress(site)
    if spec.c_source is not None:
        spec = replace(spec, top=choose_top(spec, config.tools))
        compiled = compile_spec(spec, config.tools)
        run = start_c_run(spec, config)
        site.tell(f"run {run.id}")
        return _run_reply(CRun(run, config, compiled, [listener]).go(), run, site)
    resolve(config.model.name, config.model)  # fails before a folder is made if no model can be asked
    run = start_run(spec, config)
    site.tell(f"run {run.id}")
    return _run_reply(Continuation(run, config, None, [listener]).go(), run, site)


class _Progress:
    """Tells the events of a run in a few words."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def __call__(self, event: Event) -> None:
        words = [str(event["event"]), *(str(event[k]) for k in ("purpose", "step", "status", "reason") if event.get(k))]
        self._site.tell(" ".join(words)[:200])


def _run_reply(report: RunReport, run: Run, site: Site) -> Reply:
    folder = site.workspace.name(run.folder)
    files = (f"{folder}/report.json", *(f"{folder}/rtl/{f.removeprefix('rtl/')}" for f in report.files))
    status = {"pass": "PASS", "fail": "FAIL", "limit": "TIMEOUT"}.get(report.record.exit_reason, "ERROR")
    if report.verdict is None:
        return Reply("generate", status, replies.clip(report.reason or "no candidate was judged", 600), files=files)
    reply = replies.of_verdict(report.verdict, tool="generate", folder=folder, files=files)
    summary = reply.summary if report.passed else f"{report.record.exit_reason}: {report.reason or reply.summary}"
    return replace(reply, status=status, summary=replies.clip(summary, 600))


def _spec(
    name: str, site: Site, top: str | None = None, target: str | None = None, clock: str | None = None
) -> Spec:  # fmt: skip
    """Read a spec with all that it names; nothing outside the workspace is read."""
    from rtlagent.spec import TARGETS, Asked, load_spec
    from rtlagent.spec.clock_period import CLOCK_FORMS, period_ns

    if target is not None and target not in TARGETS:
        raise UsageError(f"unknown target {target!r}", hint=f"choose from {', '.join(TARGETS)}")
    try:
        period = None if clock is None else period_ns(clock)
    except ValueError as error:
        raise UsageError(str(error), where="clock", hint=f"write {CLOCK_FORMS}") from None
    path = site.workspace.path(name)
    with boundary.only_below(site.workspace.root):
        try:
            return load_spec(path, Asked(top, target, period))
        except UsageError as error:
            root = f"{site.workspace.root}/"
            error.message, error.where = error.message.replace(root, ""), error.where.replace(root, "")
            raise


def _complete(spec: Spec, candidate: Candidate, site: Site) -> Spec:
    """Give a spec that names no top or ports those of the design."""
    if spec.top is not None and spec.ports:
        return spec
    from rtlagent.tools.inspect import inspect

    top = choose_top(candidate.files, spec.top, site.config.tools)
    module = inspect(candidate.files, top=top, config=site.config.tools).module(top)
    if module is None:
        raise UsageError(f"the design has no module {top!r}", hint="the spec's `top` names another one")
    return replace(spec, top=top, ports=spec.ports or module.ports)


def _record(request: requests.Verify, spec: Spec, site: Site) -> tuple[StepResult, Trace | None]:
    from rtlagent.tools.golden import record_trace

    (golden,) = site.workspace.read([request.golden or ""])
    return record_trace(
        golden,
        ports=spec.ports,
        clock=spec.clock,
        reset=spec.reset,
        seed=_SEED if site.config.seed is None else site.config.seed,
        random_cycles=request.random_cycles,
        config=site.config.tools,
    )


def _mutants(asked: int) -> int:
    if not 0 <= asked <= MAX_MUTANTS:
        raise UsageError(f"mutants must be 0 to {MAX_MUTANTS}, not {asked}")
    return asked


def _least(allowed: _Number | None, asked: _Number | None) -> _Number | None:
    """Return the tighter of two limits: the client may lower the user's, not raise it."""
    given = [v for v in (allowed, asked) if v is not None]
    return min(given) if given else None


def _count(value: int | None) -> str:
    return "unknown" if value is None else str(value)
