"""`rtlagent bench audit`: is a benchmark fair, and what is a pass of its tests worth?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtlagent.cli.completion import suite_names

if TYPE_CHECKING:
    from rtlagent.bench.audit import ProblemAudit
    from rtlagent.bench.errata import Errata


class _Simulator(StrEnum):
    icarus = "icarus"
    verilator = "verilator"


class _Sandbox(StrEnum):
    bwrap = "bwrap"
    none = "none"


def register(app: typer.Typer) -> None:
    """Add the command of this module to the `bench` group."""
    app.command("audit", no_args_is_help=True)(audit)


def audit(
    suite_name: Annotated[
        str,
        typer.Argument(
            metavar="SUITE", help="See rtlagent bench suites.", show_default=False, autocompletion=suite_names
        ),
    ],
    path: Annotated[Path, typer.Option("--path", "-p", metavar="P", help="The suite's data.", show_default=False)],
    problem: Annotated[
        list[str] | None,
        typer.Option("--problem", metavar="NAME", help="Only this one (repeatable).", show_default=False),
    ] = None,
    mutants: Annotated[int, typer.Option("--mutants", min=0, help="Wrong designs for each problem; 0: none.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which ones.")] = 1,
    simulator: Annotated[
        list[_Simulator] | None,
        typer.Option(
            "--simulator",
            show_default=False,
            help="Where to run the golden designs (repeatable; default: icarus and verilator).",
        ),
    ] = None,
    errata: Annotated[
        Path | None,
        typer.Option(
            "--errata", metavar="FILE", help="Write the errata, for `score` and `report`.", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            show_default=False,
            help="Keep a record of each problem here (default: below runs/), so that a killed audit goes on.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Problems at a time (default: as there are processors).", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    sandbox: Annotated[
        _Sandbox | None,
        typer.Option(
            "--sandbox", help="bwrap (default), or none: run the suite's text unconfined.", show_default=False
        ),
    ] = None,
) -> None:
    """Find what is wrong with a benchmark before it is quoted.

    For each problem: does the golden design pass its own test, on each simulator here; do the ports in prompt, golden
    design and testbench agree; does a design pass whose outputs are all zero, or all X; which share of the golden
    design's mutants does the test kill; does the test use names that the prompt never gives (as far as text can tell).

    A defect makes a problem invalid: --errata writes a file with which `score` and `report` show a corrected score
    beside the raw one. Doubts are for the reader; the problem still counts.

    Exit codes: 0 no defect, 1 a defect, 2 wrong input, 4 something could not be audited.

    Such as:

      rtlagent bench audit rtllm-v2 --path RTLLM --errata rtllm.errata.json
    """  # fmt: skip
    from rtlagent.bench.audit import AuditJob
    from rtlagent.bench.audit import audit as audited
    from rtlagent.bench.audit.findings import NOT_AUDITED
    from rtlagent.bench.errata import errata_of, write_errata
    from rtlagent.bench.suites import suite
    from rtlagent.config import load_config
    from rtlagent.errors import EXIT_FAIL, EXIT_PASS, EXIT_TOOL, UsageError, suggestion
    from rtlagent.tools import icarus, verilator

    config = load_config(flags={"sandbox": sandbox.value if sandbox else None})
    chosen = suite(suite_name)
    problems = chosen.problems(path)
    known = {p.name: p for p in problems}
    for name in problem or ():
        if name not in known:
            raise UsageError(f"{path} has no problem {name!r}", hint=suggestion(name, known))
    if problem:
        problems = tuple(known[n] for n in dict.fromkeys(problem))
    sha = chosen.data_sha256(path)
    folder = out or config.runs_dir / f"audit-{chosen.name}-{sha[:8]}"
    simulators = tuple(s.value for s in dict.fromkeys(simulator or _Simulator))
    job = AuditJob(chosen.name, path, config.tools, folder, mutants, seed, jobs or os.cpu_count() or 2, simulators)
    found: list[ProblemAudit] = []
    for one in audited(job, problems):
        found.append(one)
        if not as_json:
            _print_one(one, f"{len(found)}/{len(problems)}")
    summary = errata_of(chosen.name, sha, (f"Icarus {icarus.version()}", f"Verilator {verilator.version()}"), found)
    if errata is not None:
        write_errata(summary, errata)
    print(_as_json(summary, found)) if as_json else _print_summary(summary, found, errata)
    broken = any(f.kind == NOT_AUDITED for a in found for f in a.findings)
    raise typer.Exit(EXIT_FAIL if summary.defective else EXIT_TOOL if broken else EXIT_PASS)


def _print_one(found: ProblemAudit, place: str) -> None:
    from rtlagent.printable import printable

    share = found.mutation.share if found.mutation is not None else None
    killed = "" if share is None else f"  {share:4.0%} of mutants killed"
    print(printable(f"{'valid ' if found.valid else 'DEFECT'}  {found.problem}{killed}  ({place})"))
    for finding in found.findings:
        print(printable(f"        {finding.severity}: {finding.kind}: {finding.text}"))
    sys.stdout.flush()


def _print_summary(errata: Errata, found: Sequence[ProblemAudit], path: Path | None) -> None:
    from rtlagent.printable import printable

    counted = [a.mutation for a in found if a.mutation is not None]
    killed = sum(m.killed for m in counted)
    of = killed + sum(m.survived for m in counted)
    print()
    print(f"{len(found)} problems of {errata.suite}, data {errata.data_sha256[:16]}: {len(errata.defective)} defective")
    if errata.defective:
        print(printable(f"defective: {', '.join(sorted(errata.defective))}"))
    if of:
        undecided = sum(m.undecided for m in counted)
        doubt = f"; {undecided} of those that survived may be the same design" if undecided else ""
        print(f"the tests kill {killed} of {of} mutants ({killed / of:.1%}{doubt})")
    if path is not None:
        print(printable(f"errata: {path}"))


def _as_json(errata: Errata, found: Sequence[ProblemAudit]) -> str:
    from rtlagent.types import to_json

    return json.dumps(
        {
            "suite": errata.suite,
            "data_sha256": errata.data_sha256,
            "tools": list(errata.tools),
            "defective": sorted(errata.defective),
            "problems": [{**to_json(a), "valid": a.valid} for a in found],
        }
    )
