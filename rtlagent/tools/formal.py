"""Decide whether two versions of a module behave the same."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import BaselineError, SandboxError, ToolError, ToolMissingError, UsageError
from rtlagent.tools import elaboration, miter, model_checker, yosys
from rtlagent.tools import netlist as netlists
from rtlagent.tools.counterexample import Counterexample, read_counterexample
from rtlagent.tools.elaboration import Elaborated
from rtlagent.tools.interface import clocking, compare_ports, find_resets, shapes
from rtlagent.tools.miter import Problem
from rtlagent.tools.netlist import Module
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.yosys import Stage, YosysRun
from rtlagent.types import Diagnostic, Reset, Severity, SourceFile, Status, StepResult, TestResult

_STEP = "equiv"
_LOG = "equiv.log"
_MIN_S = 1.0
_QUICK_S = 20.0
_PDR_S = 40.0
# What an existing design may have without being beyond comparison.
_TOLERATED = frozenset({"UNDRIVEN"})


def equiv(
    gold: Sequence[SourceFile],
    gate: Sequence[SourceFile],
    *,
    top: str,
    reset: Reset | None = None,
    depth: int = 20,
    attempt_cpu_s: int | None = None,
    keep_dir: Path | None = None,
    config: ToolConfig,
) -> StepResult:
    """Compare `gate`, a new version of module `top`, with `gold`, the reference.

    Both are elaborated apart, so that modules of one name do not collide. Then, in order:

    1. the ports must be the same; else FAIL. A new version that Yosys cannot read though it is legal
       (a `$finish`, say) is UNPROVEN, one that is wrong FAIL;
    2. a bounded search for a difference, some cycles deep;
    3. Yosys's equivalence, signal by signal (equiv_simple, equiv_induct), with a base case;
    4. signal correspondence (ABC's scorr), temporal induction over the outputs;
    5. the search of 2 in rising steps, up to `depth` cycles after the reset;
    6. property-directed reachability (ABC's pdr).

    A difference found is FAIL, with the cycles as a table and a VCD. PASS is a proof for all time, by 3, 4
    or 6: from power-up with every register that has no initial value at 0 (as FPGAs start), resets
    active for two cycles. (Combinational designs are decided by 2 alone.) UNPROVEN means no
    difference within the depth named, and no proof; an equiv_induct that fails means no more.

    The search of 2 and 5 holds the resets active for two cycles and leaves all inputs free
    afterwards. The reference's registers without an initial value start undefined, and where its
    outputs are undefined the new version may do anything; the new version's start with arbitrary
    values. One step is one cycle, and an asynchronous reset acts within its cycle; in designs with
    several clocks, both edges or latches the clocks are inputs like others and two steps a cycle.

    Args:
        gold: the reference's files.
        gate: the new version's files.
        top: the module to compare, with its parameters' defaults.
        reset: None: the inputs with a reset's name, such as `rst` or `aresetn`.
        depth: how many cycles after the reset are searched.
        attempt_cpu_s: processor time for each attempt at a search or a proof, so that the answer does not
            depend on how busy the machine is; None: attempts share the wall time that is left.
        keep_dir: receives `equiv.log` and `counterexample.vcd`.
        config: how tools are run; `limits.wall_s` bounds the whole comparison, and its end is UNPROVEN.

    Raises:
        UsageError: no Verilog file, a name that cannot be one, a reset that is no input.
        BaselineError: the reference cannot be elaborated, of which no new version is guilty.
        SandboxError, ToolMissingError: Yosys could not be started.
    """
    start = time.monotonic()
    if depth < 1:
        raise UsageError(f"the depth must be at least 1, not {depth}")
    designs = [elaboration.make_design(files, top, None) for files in (gold, gate)]
    with scratch_folder() as folder:
        comparison = _Comparison(folder, config, start + config.limits.wall_s, attempt_cpu_s)
        try:
            result = comparison.run(designs[0], designs[1], reset, depth)
        except ToolError as error:
            if isinstance(error, SandboxError | ToolMissingError):
                raise
            broken = Diagnostic(yosys.TOOL, Severity.ERROR, "YOSYS_BROKE", error.message, hint=error.hint)
            result = StepResult(_STEP, Status.ERROR, (broken,))
        log_path = comparison.keep(keep_dir, result) if keep_dir is not None else None
    if keep_dir is None:
        result = replace(result, tests=tuple(replace(t, wave_path=None) for t in result.tests))
    return replace(
        result,
        argv=comparison.argv,
        log_path=log_path,
        wall_s=time.monotonic() - start,
        tool_version=yosys.tool_version(),
    )


class _Comparison:
    """One call of `equiv`: its folder, its clock, and the logs so far."""

    def __init__(self, folder: Path, config: ToolConfig, deadline: float, attempt_cpu_s: int | None) -> None:
        self._folder = folder
        self._work = folder / "work"
        self._work.mkdir()
        self._config = config
        self._deadline = deadline
        self._attempt_cpu_s = attempt_cpu_s
        self._runs: list[YosysRun] = []

    @property
    def argv(self) -> tuple[str, ...]:
        """A command line that repeats the first comparison from both sides' netlists."""
        return next((r.argv for r in self._runs if r.stages and r.stages[0].name == "model00"), ())

    def keep(self, keep_dir: Path, result: StepResult) -> str:
        keep_dir.mkdir(parents=True, exist_ok=True)
        (keep_dir / _LOG).write_text("\n".join(r.log for r in self._runs))
        (keep_dir / miter.WAVE).unlink(missing_ok=True)
        if result.status is Status.FAIL and result.tests:
            shutil.copyfile(self._work / miter.WAVE, keep_dir / miter.WAVE)
        return _LOG

    def run(self, gold: elaboration.Design, gate: elaboration.Design, reset: Reset | None, depth: int) -> StepResult:
        modules: list[Module] = []
        for name, design in (("gold", gold), ("gate", gate)):
            done = self._prepare(name, design)
            refused = _refusal(name, done)
            if refused is not None:
                return refused
            shutil.copyfile(self._folder / name / f"{name}.il", self._work / f"{name}.il")
            modules.append(_place_restored(netlists.load(self._folder / name / f"{name}.json").modules[name], done))
        different = compare_ports(modules[0], modules[1], yosys.TOOL)
        if different:
            return StepResult(_STEP, Status.FAIL, tuple(different), detail="the interfaces differ")
        ports = shapes(modules[0])
        if any(p.direction == "inout" for p in ports):
            return _unproven("bidirectional ports cannot be compared", "")
        if not any(p.direction == "output" for p in ports):
            return _unproven("there is no output to compare", "")
        problem = Problem(ports, find_resets(ports, reset), clocking(modules))
        return self._decide(problem, modules[1], depth)

    def _prepare(self, name: str, design: elaboration.Design) -> Elaborated:
        work = self._folder / name
        work.mkdir()
        stages = miter.preparation(name)
        done = elaboration.elaborate_design(design, work=work, config=self._config, then=stages, strict=False)
        self._runs.append(done.run)
        return done

    def _decide(self, problem: Problem, gate: Module, depth: int) -> StepResult:
        (self._work / "bench.v").write_text(miter.bench_text(problem))
        (self._work / "any_start.v").write_text(miter.ANY_START)
        shallow = 1 if problem.clocking.stateless else min(miter.SHALLOW_CYCLES, depth)
        search = miter.bounded_stage(problem, shallow)
        structural = [] if problem.clocking.stateless else miter.structural_stages(problem)
        first = self._yosys([*miter.model_stages(problem), search, *structural], 0.5 if structural else 0.95)
        log = first.logs.get(search.name)
        if log is None and not first.process.limit:
            raise ToolError(f"the comparison broke: {first.error or 'Yosys gave no reason'}")
        if miter.refuted(log):
            return self._different(log or "", problem, gate)
        if problem.clocking.stateless:
            found = "by SAT, for all inputs" if miter.proven(log) else None
            return _proven(found, problem) if found else _unproven("no proof within the time limit", "")
        searched = shallow if miter.proven(log) else 0
        method = self._structural_proof(first) or self._quick_proof(problem, depth) if searched else None
        if method is None:
            for cycles in [c for c in (depth // 2, depth) if c > shallow] if searched else []:
                search = miter.bounded_stage(problem, cycles)
                log = self._yosys([*miter.load_stages(), search], 0.5).logs.get(search.name)
                if miter.refuted(log):
                    return self._different(log or "", problem, gate)
                if not miter.proven(log):
                    break
                searched = cycles
            method = self._reachability_proof(miter.PDR, 0.9, _PDR_S) if searched else None
        if method is not None:
            return _proven(method, problem)
        return _unproven(_searched(searched, depth, problem), _setting(problem))

    def _structural_proof(self, run: YosysRun) -> str | None:
        proven = miter.structurally_proven(run.logs.get("equiv_status")) and miter.proven(run.logs.get("equiv_base"))
        return "by Yosys's equivalence of each signal (equiv_simple, equiv_induct)" if proven else None

    def _quick_proof(self, problem: Problem, depth: int) -> str | None:
        """Try what succeeds soon or never."""
        written = self._yosys([*miter.load_stages(), *miter.aiger_stages()], 0.3)
        if written.failed is None:
            method = self._reachability_proof(miter.CORRESPONDENCE, 0.3, _QUICK_S)
            if method is not None:
                return method
        induction = miter.induction_stage(problem, depth)
        log = self._yosys([*miter.load_stages(), induction], 0.3, at_most_s=_QUICK_S).logs.get(induction.name)
        return "by temporal induction over the outputs" if miter.proven(log) else None

    def _reachability_proof(self, method: miter.AbcMethod, part: float, at_most_s: float) -> str | None:
        if not (self._work / miter.AIGER).is_file():
            return None
        limits = self._limits(part, at_most_s)
        proven = model_checker.proves(self._work, miter.AIGER, method.script, config=self._config, limits=limits)
        return method.name if proven else None

    def _limits(self, part: float, at_most_s: float = float("inf")) -> Limits:
        """Return what the next attempt may use: its processor time, or a part of the wall time that is left."""
        limits = self._config.limits
        if self._attempt_cpu_s is not None:
            return replace(limits, cpu_s=min(limits.cpu_s, self._attempt_cpu_s))
        left_s = (self._deadline - time.monotonic()) * part
        return replace(limits, wall_s=max(_MIN_S, min(left_s, at_most_s)))

    def _yosys(self, stages: Sequence[Stage], part: float, at_most_s: float = float("inf")) -> YosysRun:
        limits = self._limits(part, at_most_s)
        run = yosys.run_script(stages, work=self._work, config=self._config, limits=limits)
        self._runs.append(run)
        return run

    def _different(self, log: str, problem: Problem, gate: Module) -> StepResult:
        found = read_counterexample(log, problem)
        if found is None:
            raise ToolError("Yosys found a difference but its counterexample is unreadable")
        diagnostics = tuple(_difference(found, name, gate) for name in found.differing())
        test = TestResult(
            _STEP,
            Status.FAIL,
            cycle=found.last,
            message=diagnostics[0].message if diagnostics else "",
            wave_path=miter.WAVE,
            mismatches=found.mismatches(),
        )
        detail = f"{_setting(problem)}\n\n{found.table()}"
        return StepResult(_STEP, Status.FAIL, diagnostics, (test,), detail=detail)


def _refusal(name: str, done: Elaborated) -> StepResult | None:
    """Return the result if a side cannot be compared at all.

    Raises:
        BaselineError: it is the reference that is wrong.
    """
    errors = tuple(d for d in done.diagnostics if d.severity is Severity.ERROR and d.code not in _TOLERATED)
    if done.run.failed is None and not errors:
        return None
    errors = errors or (Diagnostic(yosys.TOOL, Severity.ERROR, "YOSYS_ERROR", "Yosys stopped and gave no reason"),)
    if done.status is Status.TIMEOUT:
        return _unproven("a version is too large to be prepared within the limits", "")
    side = "reference" if name == "gold" else "new version"
    if done.status is Status.ERROR:
        return StepResult(_STEP, Status.ERROR, errors, detail=f"Yosys broke on the {side}")
    if name == "gold":
        raise _wrong_reference(errors)
    if all(d.code == "YOSYS_UNSUPPORTED" for d in errors):
        return replace(_unproven("Yosys cannot read the new version", ""), diagnostics=errors)
    return StepResult(_STEP, Status.FAIL, errors, detail=f"the {side} cannot be elaborated")


def _wrong_reference(errors: tuple[Diagnostic, ...]) -> BaselineError:
    first, *rest = errors
    message = "\n".join([f"the reference cannot be elaborated: {first.message}", *map(str, rest)])
    where = f"{first.path}:{first.line}" if first.path else ""
    hint = first.hint or "give a reference that rtlagent synth takes"
    return BaselineError(message, diagnostics=errors, where=where, hint=hint)


def _place_restored(module: Module, done: Elaborated) -> Module:
    """Give places the paths that the user knows."""
    known = done.staged.originals
    nets = {
        n: replace(v, place=replace(v.place, path=known.get(v.place.path, v.place.path))) if v.place else v
        for n, v in module.nets.items()
    }
    return replace(module, nets=nets)


def _searched(cycles: int, depth: int, problem: Problem) -> str:
    since = "after the reset" if problem.resets else "from power-up"
    ran_out = "; the time limit came first" if cycles < depth else ""
    return f"no difference within {cycles} cycles {since}, and no proof{ran_out}"


def _setting(problem: Problem) -> str:
    if problem.clocking.stateless:
        return "combinational"
    if not problem.resets:
        return "no reset found; compared from power-up"
    named = ", ".join(f"{r.port} (active {r.active})" for r in problem.resets)
    return f"reset {named}, active in the first {miter.RESET_CYCLES} cycles"


def _proven(method: str, problem: Problem) -> StepResult:
    return StepResult(_STEP, Status.PASS, detail=f"equivalent: proven {method}\n{_setting(problem)}")


def _unproven(why: str, setting: str) -> StepResult:
    diagnostic = Diagnostic(yosys.TOOL, Severity.WARNING, "UNPROVEN", why)
    return StepResult(_STEP, Status.UNPROVEN, (diagnostic,), detail=f"unproven: {why}\n{setting}".strip())


def _difference(found: Counterexample, name: str, gate: Module) -> Diagnostic:
    mismatch = next(m for m in found.mismatches() if m.signal == name)
    net = gate.nets.get(name)
    place = net.place if net else None
    text = (
        f"output '{name}' differs from the reference at {found.problem.unit} {mismatch.cycle}: "
        f"{mismatch.got} instead of {mismatch.expected}"
    )
    where = (place.path, place.line, place.column) if place else ("", 0, 0)
    return Diagnostic(yosys.TOOL, Severity.ERROR, "NOT_EQUIVALENT", text, *where)
