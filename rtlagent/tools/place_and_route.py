"""Place and route a design with nextpnr and judge the clock frequency that it reaches."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import SandboxError, ToolError, ToolMissingError, UsageError
from rtlagent.tools import io_harness, nextpnr, yosys
from rtlagent.tools import netlist as netlists
from rtlagent.tools.io_harness import Harness
from rtlagent.tools.netlist import Module
from rtlagent.tools.nextpnr import TOOL, PnrRun
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.staging import Staged, stage
from rtlagent.tools.synthesize import NETLIST, synthesize
from rtlagent.tools.timing_report import Hop, TimingPath, TimingReport, path_table, read_timing, signal_name
from rtlagent.types import Diagnostic, Metrics, Severity, SourceFile, Status, StepResult

_STEP = "place_and_route"
_LOG = "nextpnr.log"
_ROUTED = "routed.json"
_PINS = frozenset({"SB_IO", "TRELLIS_IO"})
_ALWAYS_SHOWN = ("ICESTORM_LC", "TRELLIS_COMB", "TRELLIS_FF")


def place_and_route(
    files: Sequence[SourceFile],
    *,
    top: str,
    target: str,
    min_fmax_mhz: float | None = None,
    device: str | None = None,
    package: str | None = None,
    seed: int = 1,
    netlist: Path | None = None,
    keep_dir: Path | None = None,
    config: ToolConfig,
) -> StepResult:
    """Route a design for ice40 (hx8k, ct256) or ecp5 (the smallest of 25k, 45k and 85k that it fits).

    `metrics.fmax_mhz` is that of the slowest clock, over the paths between its registers. Where
    there is no such path it stays None; a frequency asked for is then judged by the slowest path of
    any kind, pins included, whose delay must be within one period: stricter than what the clock
    needs, so that PASS never promises too much. `metrics.wns_ns` is the slack of the slowest clock,
    negative when missed, None when no frequency was asked for. `detail` has the critical path by
    file and line, and the utilisation.

    A design with more port bits than pins is routed in a harness (see `io_harness`).

    Args:
        files: the design's sources; with `netlist`, only for their paths.
        top: the top module.
        target: `ice40` or `ecp5`.
        min_fmax_mhz: less is a FAIL with the diagnostic FMAX.
        device: such as `up5k` or `um-45k`; None: as above.
        package: in nextpnr's spelling.
        seed: of the placer: the same seed gives the same result.
        netlist: what `synthesize` wrote for this target; None: it is run first.
        keep_dir: receives `nextpnr.log`, `report.json` and, when synthesis ran here, its files.
        config: how tools are run.

    Raises:
        UsageError: a target, device, package or name that does not exist.
        SandboxError, ToolMissingError: a tool could not be started.
    """
    start = time.monotonic()
    candidates = nextpnr.parts(target, device, package)
    yosys.require_identifier(top, "top module")
    if min_fmax_mhz is not None and not min_fmax_mhz > 0:
        raise UsageError(f"not a frequency: {min_fmax_mhz} MHz")
    version = nextpnr.tool_version(target)
    with scratch_folder() as folder:
        (folder / "synthesis").mkdir()
        (folder / "work").mkdir()
        metrics = Metrics()
        if netlist is None:
            kept = keep_dir or folder / "synthesis"
            synthesis = synthesize(files, top=top, target=target, keep_dir=kept, device=device, config=config)
            if synthesis.status is not Status.PASS:
                return replace(synthesis, step=_STEP, wall_s=time.monotonic() - start)
            metrics, netlist = synthesis.metrics, kept / NETLIST
        known = stage(files, folder / "sources")
        job = _Job(top, target, min_fmax_mhz, seed, folder / "work", config, netlist, known)
        try:
            result = _judged(job, *_routed(job, candidates), metrics)
        except (SandboxError, ToolMissingError):
            raise
        except ToolError as error:
            result = StepResult(_STEP, Status.ERROR, (_diagnostic("PNR_BROKE", error.message, hint=error.hint),))
        kept_log = _keep(folder / "work", keep_dir)
    return replace(result, tool_version=version, wall_s=time.monotonic() - start, log_path=kept_log)


@dataclass(frozen=True)
class _Job:
    top: str
    target: str
    min_fmax_mhz: float | None
    seed: int
    work: Path
    config: ToolConfig
    netlist: Path
    sources: Staged


def _routed(job: _Job, candidates: Sequence[nextpnr.Part]) -> tuple[PnrRun, Harness | None]:
    """Try parts from small to large, and the harness when it is only pins that are missing."""
    try:
        shutil.copyfile(job.netlist, job.work / NETLIST)
    except OSError as error:
        raise ToolError(f"the netlist cannot be read: {error.strerror}") from error
    harness: Harness | None = None
    name = NETLIST
    for part in candidates:
        done = _run(job, part, name)
        if done.verdict == "no_fit" and harness is None and done.overfull and _PINS.issuperset(done.overfull):
            harness = io_harness.add_harness(job.netlist, job.target, job.top, job.work / _ROUTED)
            name = _ROUTED
            done = _run(job, part, name)
        if done.verdict != "no_fit":
            break
    return done, harness


def _run(job: _Job, part: nextpnr.Part, netlist: str) -> PnrRun:
    done = nextpnr.run(
        job.target,
        part,
        work=job.work,
        config=job.config,
        freq_mhz=job.min_fmax_mhz,
        seed=job.seed,
        netlist=netlist,
        top=job.top,
    )
    (job.work / _LOG).write_text(done.process.stderr)
    return done


def _judged(job: _Job, done: PnrRun, harness: Harness | None, metrics: Metrics) -> StepResult:
    result = StepResult(_STEP, Status.ERROR, argv=done.argv, returncode=done.process.returncode, metrics=metrics)
    notes = [f"target {job.target} ({done.part}), seed {job.seed}", *([harness.note] if harness else [])]
    used = nextpnr.utilisation_table(done.utilisation, _ALWAYS_SHOWN)
    if done.verdict != "routed" or done.report is None:
        status, diagnostic = _stopped(done)
        return replace(result, status=status, diagnostics=(diagnostic,), detail="\n".join([*notes, "", used]).strip())
    module = netlists.load(job.netlist).modules.get(job.top)
    if module is None:
        raise ToolError(f"the netlist has no module '{job.top}'")
    timing = _read_timing(job, done, module)
    status, found, verdict = _timing_verdict(timing, job.min_fmax_mhz)
    path = timing.critical_path()
    table = path_table(path) if path and path.hops else "no timing path at all"
    worst = timing.worst
    wns = 1000 / job.min_fmax_mhz - worst.period_ns if worst and job.min_fmax_mhz is not None else None
    return replace(
        result,
        status=status,
        diagnostics=found,
        metrics=replace(metrics, fmax_mhz=worst.fmax_mhz if worst else None, wns_ns=wns),
        detail="\n".join([*notes, verdict, *_clock_lines(timing), "", table, "", used]),
    )


def _read_timing(job: _Job, done: PnrRun, module: Module) -> TimingReport:
    assert done.report is not None
    known = job.sources.originals
    timing = read_timing(done.report, module=module, known=known, without=io_harness.CLOCK)
    paths = [replace(p, hops=tuple(_restored(h, known) for h in p.hops)) for p in timing.paths]
    return replace(timing, paths=tuple(paths))


def _restored(hop: Hop, known: Mapping[str, str]) -> Hop:
    place = hop.place
    return hop if place is None else replace(hop, place=replace(place, path=known.get(place.path, place.path)))


def _clock_lines(timing: TimingReport) -> list[str]:
    return [f"clock {c.clock}: {c.fmax_mhz:.2f} MHz" for c in timing.clocks] if len(timing.clocks) > 1 else []


def _timing_verdict(timing: TimingReport, min_fmax_mhz: float | None) -> tuple[Status, tuple[Diagnostic, ...], str]:
    worst, path = timing.worst, timing.critical_path()
    if worst is not None:
        text = f"fmax {worst.fmax_mhz:.2f} MHz (clock {worst.clock})"
        if min_fmax_mhz is None:
            return Status.PASS, (), text
        slack = 1000 / min_fmax_mhz - worst.period_ns
        text += f", {min_fmax_mhz:g} MHz asked for: " + (f"missed by {-slack:.2f} ns" if slack < 0 else "met")
        if slack >= 0:
            return Status.PASS, (), text
        said = f"clock '{worst.clock}' reaches {worst.fmax_mhz:.2f} MHz of the {min_fmax_mhz:g} MHz asked for"
        return Status.FAIL, (_too_slow(said, path),), text
    text = "no path from register to register: fmax is not measured"
    if min_fmax_mhz is None:
        return Status.PASS, (), text
    period = 1000 / min_fmax_mhz
    if path is None or not path.hops:
        said = f"no timing path, so that {min_fmax_mhz:g} MHz cannot be shown"
        return Status.FAIL, (_diagnostic("FMAX_UNMEASURED", said),), text
    delay = path.delay_ns
    text += (
        f"; the slowest path of any kind takes {delay:.2f} ns of the {period:.2f} ns that {min_fmax_mhz:g} MHz allow"
    )
    if delay <= period:
        return Status.PASS, (), text
    said = f"the slowest path, from pin to pin or register, takes more than the {period:.2f} ns of {min_fmax_mhz:g} MHz"
    return Status.FAIL, (_too_slow(said, path),), text


def _too_slow(text: str, path: TimingPath | None) -> Diagnostic:
    if path is None or not path.hops:
        return _diagnostic("FMAX", text)
    first, last = path.hops[0], path.hops[-1]
    driving = path.hops[-2] if len(path.hops) > 1 and not last.net else last
    place = last.place or driving.place or first.place
    origin = f" ({first.place.path}:{first.place.line})" if first.place else ""
    goal = signal_name(driving.net or last.cell).removeprefix(">")
    ends = f"from '{signal_name(first.net or first.cell)}'{origin} to '{goal}'"
    message = f"{text}: the longest path, {path.delay_ns:.2f} ns, leads {ends}"
    hint = "shorten the logic between the registers of the critical path, or split it with a pipeline register"
    diagnostic = _diagnostic("FMAX", message, hint=hint)
    return replace(diagnostic, path=place.path, line=place.line, column=place.column) if place else diagnostic


def _stopped(done: PnrRun) -> tuple[Status, Diagnostic]:
    if done.verdict == "limit":
        said = f"nextpnr was stopped at its {done.process.limit} limit"
        return Status.TIMEOUT, _diagnostic("LIMIT", said)
    if done.verdict == "usage":
        raise UsageError(f"nextpnr: {done.error}", hint="name the package as nextpnr does")
    if done.verdict == "no_fit":
        over = ", ".join(f"{n} {done.utilisation[n].used} of {done.utilisation[n].available}" for n in done.overfull)
        said = f"the design does not fit into {done.part}: {over or done.error}"
        return Status.FAIL, _diagnostic("DOES_NOT_FIT", said, hint="use less of it, or a larger device")
    if done.verdict == "design":
        return Status.FAIL, _diagnostic("PNR_REFUSED", f"nextpnr: {done.error}")
    said = done.error or f"it ended with code {done.process.returncode} and no report"
    return Status.ERROR, _diagnostic("PNR_BROKE", f"nextpnr: {said}")


def _diagnostic(code: str, message: str, *, hint: str = "") -> Diagnostic:
    return Diagnostic(TOOL, Severity.ERROR, code, message, hint=hint)


def _keep(work: Path, keep_dir: Path | None) -> str | None:
    if keep_dir is None:
        return None
    keep_dir.mkdir(parents=True, exist_ok=True)
    for name in (_LOG, nextpnr.REPORT):
        (keep_dir / name).unlink(missing_ok=True)
        if (work / name).is_file():
            shutil.copyfile(work / name, keep_dir / name)
    return _LOG if (keep_dir / _LOG).is_file() else None
