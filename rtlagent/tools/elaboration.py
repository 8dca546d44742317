"""Read, elaborate and check a design in Yosys: the part that every Yosys job starts with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError, UsageError
from rtlagent.tools import netlist as netlists
from rtlagent.tools import yosys, yosys_findings
from rtlagent.tools.netlist import Netlist
from rtlagent.tools.staging import Staged, require_size, stage
from rtlagent.tools.yosys import Stage, YosysRun
from rtlagent.types import Diagnostic, Severity, SourceFile, Status

# Yosys's models of what the target's chips have, needed only when a design instantiates them itself.
_PRIMITIVES = {
    "ice40": "read_verilog -D ICE40_HX -lib -nowb +/ice40/cells_sim.v",
    "ecp5": "read_verilog -lib -nowb +/ecp5/cells_sim.v +/ecp5/cells_bb.v",
    "xc7": "read_verilog -lib -nowb +/xilinx/cells_sim.v; read_verilog -lib -nowb +/xilinx/cells_xtra.v",
}
CHECK = "check -force-detailed-loop-check"


@dataclass(frozen=True)
class Design:
    """What is to be elaborated."""

    files: tuple[SourceFile, ...]
    top: str
    parameters: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Elaborated:
    """What came of it."""

    run: YosysRun
    status: Status
    diagnostics: tuple[Diagnostic, ...]
    latches: int | None
    """Latch bits in the whole hierarchy; None when elaboration did not get that far."""
    staged: Staged


def make_design(files: Sequence[SourceFile], top: str, parameters: Mapping[str, int] | None) -> Design:
    """Check the names that will stand in Yosys commands.

    Raises:
        UsageError: a name is not a plain identifier.
    """
    pairs = tuple((yosys.require_identifier(k, "parameter"), int(v)) for k, v in (parameters or {}).items())
    if not files:
        raise UsageError("no Verilog file given")
    return Design(tuple(files), yosys.require_identifier(top, "top module"), pairs)


def elaboration_stages(design: Design, staged: Staged, *, systemverilog: bool, primitives: str | None) -> list[Stage]:
    """Return the stages up to a checked hierarchy; the design is not flattened afterwards."""
    library = [Stage("primitives" + str(i), c) for i, c in enumerate(primitives.split("; "))] if primitives else []
    chparam = "".join(f" -set {name} {value}" for name, value in design.parameters)
    return [
        Stage("read", yosys.read_command(design.files, staged, systemverilog=systemverilog)),
        *library,
        *([Stage("parameters", f"chparam{chparam} {design.top}")] if chparam else []),
        # Without -check, so that every unresolved instance can be named, with its place.
        Stage("hierarchy", f"hierarchy -top {design.top}"),
        Stage("proc", "proc"),
        Stage("netlist", "write_json elaborated.json"),
        Stage("check", CHECK),
        Stage("save", "design -save elaborated"),
        Stage("flatten", "flatten"),
        Stage("flat_netlist", "write_json flat.json"),
        Stage("flat_check", CHECK),
        Stage("stat", "tee -q -o elaborated_stat.json stat -json -width"),
        Stage("load", "design -load elaborated"),
    ]


def elaborate_design(
    design: Design,
    *,
    work: Path,
    config: ToolConfig,
    then: Sequence[Stage] = (),
    target: str = "generic",
    strict: bool = True,
) -> Elaborated:
    """Elaborate `design` and run `then` on it if it is sound, or, not `strict`, if that can be done at all.

    A design in .v files that fails to parse as SystemVerilog is tried again as Verilog-2005, where
    words like `bit` are ordinary names; one with unknown modules, again with the target's primitives.

    Raises:
        UsageError: the design is larger than `limits.source_mb`.
    """
    require_size(design.files, config)
    staged = stage(design.files, work)
    done = _attempt(design, staged, work, config, then, strict=strict, systemverilog=True, primitives=None)
    codes = {d.code for d in done.diagnostics if d.severity is Severity.ERROR}
    plain = all(not p.endswith((".sv", ".svh")) for p in staged.paths)
    if codes & {"SYNTAX", "YOSYS_UNSUPPORTED"} and plain:
        retried = _attempt(design, staged, work, config, then, strict=strict, systemverilog=False, primitives=None)
        if "hierarchy" in retried.run.logs:
            done = retried
    elif "UNRESOLVED_MODULE" in codes and target in _PRIMITIVES:
        done = _attempt(
            design, staged, work, config, then, strict=strict, systemverilog=True, primitives=_PRIMITIVES[target]
        )
    return done


def _attempt(
    design: Design,
    staged: Staged,
    work: Path,
    config: ToolConfig,
    then: Sequence[Stage],
    *,
    strict: bool,
    systemverilog: bool,
    primitives: str | None,
) -> Elaborated:
    stages = elaboration_stages(design, staged, systemverilog=systemverilog, primitives=primitives)
    stop = [Stage("sound", f"{CHECK} -assert")] if then and strict else []
    for stale in ("elaborated.json", "flat.json", "elaborated_stat.json"):
        (work / stale).unlink(missing_ok=True)
    run = yosys.run_script([*stages, *stop, *then], work=work, config=config)
    found = [staged.restore(d) for d in _findings(run, staged, work, design.top)]
    stopped = yosys.failure(run, staged, work=work, config=config)
    if stopped and not (run.failed in ("sound", "hierarchy_check") and has_errors(found)):
        status, diagnostic = stopped
        diagnostic = _placed_latch(diagnostic)
        found = [d for d in found if (d.code, d.line) != (diagnostic.code, diagnostic.line)] + [diagnostic]
    else:
        status = Status.PASS
    if status is Status.PASS and has_errors(found):
        status = Status.FAIL
    return Elaborated(run, status, tuple(_ordered(found)), _latches(work), staged)


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Tell whether one of them is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def _placed_latch(diagnostic: Diagnostic) -> Diagnostic:
    if diagnostic.code != "LATCH":
        return diagnostic
    return replace(diagnostic, hint="assign a default at the start of the process, or cover every branch and case")


def _findings(run: YosysRun, staged: Staged, work: Path, top: str) -> list[Diagnostic]:
    logs = run.logs
    found = [*yosys_findings.read_findings(logs.get("read", "")), *yosys_findings.latch_findings(logs.get("proc", ""))]
    if not (work / "elaborated.json").is_file():
        return found
    design = netlists.load(work / "elaborated.json")
    found += yosys_findings.width_findings(logs.get("hierarchy", ""), design)
    found += yosys_findings.empty_findings(design, top)
    unresolved = list(yosys_findings.unresolved_findings(_own(design, staged)))
    found += unresolved
    if (work / "flat.json").is_file():
        checks = yosys_findings.check_findings(logs.get("check", ""), design)
        flat = yosys_findings.check_findings(logs.get("flat_check", ""), netlists.load(work / "flat.json"))
        seen = {(d.code, d.path, d.line) for d in checks}
        found += [*checks, *(d for d in flat if (d.code, d.path, d.line) not in seen)]
    # What an unknown module drives is unknown too.
    return [d for d in found if not (unresolved and d.code == "UNDRIVEN")]


def _own(design: Netlist, staged: Staged) -> Netlist:
    """Take the black boxes of the target's library for defined."""
    modules = {
        name: replace(m, blackbox=False) if m.blackbox and m.place and m.place.path not in staged.originals else m
        for name, m in design.modules.items()
    }
    return Netlist(modules)


def _latches(work: Path) -> int | None:
    path = work / "elaborated_stat.json"
    if not path.is_file():
        return None
    cells = read_stat(path)
    return sum(
        number * int(kind.rpartition("_")[2])
        for kind, number in cells.items()
        if kind.startswith(("$dlatch_", "$adlatch_", "$dlatchsr_"))
    )


def read_stat(path: Path) -> Mapping[str, int]:
    """Return type -> number of the whole design's cells, from what `stat -json` wrote.

    Raises:
        ToolError: it is missing or not such a report.
    """
    try:
        report = json.loads(path.read_text())
        # Of a design without any cell Yosys 0.70 writes neither the table nor the module.
        some = report["modules"] and report["design"]["num_cells"]
        cells = report["design"]["num_cells_by_type"] if some else {}
        return {str(kind): int(number) for kind, number in cells.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"Yosys's cell statistics are missing or unreadable: {type(error).__name__}") from error


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def _ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    unique = dict.fromkeys(diagnostics)
    return sorted(unique, key=lambda d: (_RANK[d.severity], d.path, d.line, d.column, d.code, d.message))
