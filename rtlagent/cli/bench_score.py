"""`rtlagent bench suites | score | fetch`: what can be scored, and scoring without a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtlagent.cli.completion import suite_names

if TYPE_CHECKING:
    from rtlagent.bench.answers import Answers
    from rtlagent.bench.errata import Errata
    from rtlagent.bench.problem import Suite
    from rtlagent.bench.scoring import Rate, Scored, ScoringJob, Summary
    from rtlagent.config import ToolConfig


class _Simulator(StrEnum):
    auto = "auto"
    icarus = "icarus"
    verilator = "verilator"


class _Sandbox(StrEnum):
    bwrap = "bwrap"
    none = "none"


_MESSAGE_CHARS = 90


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the `bench` group."""
    app.command("suites")(suites)
    app.command("score", no_args_is_help=True)(score)
    app.command("fetch", no_args_is_help=True)(fetch)


def suites(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """List the benchmark suites that can be scored and run."""
    from rtlagent.bench.fetch import SOURCES
    from rtlagent.bench.suites import DESCRIPTIONS, SUITES

    if as_json:
        listed = [
            {"name": n, "description": DESCRIPTIONS[n], "url": SOURCES[n].url if n in SOURCES else None} for n in SUITES
        ]
        print(json.dumps({"suites": listed}))
        return
    width = max(len(n) for n in SUITES)
    for name in SUITES:
        origin = f" (bench fetch: {SOURCES[name].url})" if name in SOURCES else ""
        print(f"{name:{width}}  {DESCRIPTIONS[name]}{origin}")


def score(
    suite_name: Annotated[
        str,
        typer.Argument(
            metavar="SUITE", help="See rtlagent bench suites.", show_default=False, autocompletion=suite_names
        ),
    ],
    path: Annotated[Path, typer.Option("--path", "-p", metavar="P", help="The suite's data.", show_default=False)],
    answers: Annotated[
        Path | None,
        typer.Option(
            "--answers",
            "-a",
            metavar="DIR",
            show_default=False,
            help="Answers: NAME.v, NAME_sample01.sv, NAME/*.v, or JSONL with task_id and completion.",
        ),
    ] = None,
    golden: Annotated[bool, typer.Option("--golden", help="Score the suite's own designs.")] = False,
    problem: Annotated[
        list[str] | None,
        typer.Option("--problem", metavar="NAME", help="Only this one (repeatable).", show_default=False),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Answers scored at the same time.")] = 1,
    simulator: Annotated[
        _Simulator, typer.Option("--simulator", help="auto: Icarus, else Verilator.")
    ] = _Simulator.auto,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep a log of each answer here.", show_default=False)
    ] = None,
    errata: Annotated[
        Path | None,
        typer.Option(
            "--errata", metavar="FILE", help="From `bench audit`: print a corrected rate, too.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    sandbox: Annotated[
        _Sandbox | None,
        typer.Option("--sandbox", help="bwrap (default), or none: run the answers unconfined.", show_default=False),
    ] = None,
) -> None:
    """Score answers that are written already, under a suite's hidden tests.

    A problem without an answer counts as not passed. An answer that fails where the suite's own design fails, too, is
    told apart as a benchmark defect; the rate is printed with and without such problems. With --errata, problems that
    an audit found defective are left out of a corrected rate and of the exit code.

    Exit codes: 0 every answer passed (but for benchmark defects), 1 one did not, 2 wrong input, 4 a tool broke.

    Such as:

      rtlagent bench score verilog-eval-v2 --path dataset_spec-to-rtl --answers out --jobs 8

      rtlagent bench score rtllm-v2 --path RTLLM --golden
    """  # fmt: skip
    from rtlagent.bench.answers import golden_answers, read_answers
    from rtlagent.bench.scoring import ScoringJob, score_answers, summarize
    from rtlagent.bench.suites import suite
    from rtlagent.errors import EXIT_FAIL, EXIT_PASS, EXIT_TOOL, UsageError, suggestion

    if golden == (answers is not None):
        raise UsageError("what should be scored?", hint="give either --answers DIR or --golden")
    chosen = suite(suite_name)
    problems = chosen.problems(path)
    if problem:
        known = {p.name: p for p in problems}
        for name in problem:
            if name not in known:
                raise UsageError(f"{path} has no problem {name!r}", hint=suggestion(name, known))
        problems = tuple(known[n] for n in dict.fromkeys(problem))
    names = [p.name for p in problems]
    audited = _errata(errata, chosen, path)
    known_bad = None if audited is None else audited.defective
    found = golden_answers(chosen, path, names) if answers is None else read_answers(answers, chosen, path, names)
    job = ScoringJob(chosen.name, path, _config(sandbox), simulator.value, keep)
    scored: list[Scored] = []
    for one in score_answers(job, problems, found, jobs=jobs):
        scored.append(one)
        if not as_json and sys.stderr.isatty():
            print(f"\r{len(scored)}/{len(found.found) + len(found.missing)}", end="", file=sys.stderr, flush=True)
    if not as_json and sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    order = {n: k for k, n in enumerate(names)}
    scored.sort(key=lambda s: (order[s.problem], s.sample))
    summary = summarize(scored)
    corrected = None if known_bad is None else summarize([s for s in scored if s.problem not in known_bad]).all
    if as_json:
        print(_as_json(job, chosen.data_sha256(path), scored, summary, found, corrected))
    else:
        _print_table(scored, summary, found)
        if corrected is not None and known_bad is not None:
            left_out = sorted(known_bad & {s.problem for s in scored})
            _print_rate("corrected", corrected)
            print(f"corrected: {', '.join(left_out) or 'nothing'} left out as defective by {errata}")
            _print_unaudited(audited.unaudited(names) if audited is not None else ())
    scored = [s for s in scored if s.problem not in (known_bad or ())]
    summary = summarize(scored)
    broke = any(s.score.status == "ERROR" and s.score.failure_class == "tool" for s in scored)
    failed = summary.valid.solved < summary.valid.problems or any(
        s.score.status != "PASS" for s in scored if s.problem not in summary.defects
    )
    raise typer.Exit(EXIT_TOOL if broke else EXIT_FAIL if failed else EXIT_PASS)


def fetch(
    suite_name: Annotated[
        str,
        typer.Argument(
            metavar="SUITE", help="See rtlagent bench suites.", show_default=False, autocompletion=suite_names
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="A new folder for the data.", show_default=False)
    ],
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="SHA", help="The full hash of a commit.", show_default=False)
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", help="Another place of the same repository.", show_default=False)
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option("--sha256", help="What the data must come to; else nothing is kept.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Fetch a suite's public data with git, at one commit, and print their checksum.

    Nothing of a benchmark comes with rtlagent. Note the commit and the checksum that are printed: with --commit and
    --sha256 the same data come again or the command fails.

    Exit codes: 0 the data are there, 2 wrong input or a wrong checksum, 4 git failed.
    """
    from rtlagent.bench.fetch import fetch_suite

    fetched = fetch_suite(suite_name, out, commit=commit, url=url, sha256=sha256)
    if as_json:
        print(json.dumps({"suite": suite_name, "path": str(fetched.path), "commit": fetched.commit,
                          "data_sha256": fetched.data_sha256, "problems": fetched.problems}))  # fmt: skip
    else:
        print(f"{fetched.problems} problems in {fetched.path}")
        print(f"commit {fetched.commit}")
        print(f"sha256 {fetched.data_sha256}")


def _config(sandbox: _Sandbox | None) -> ToolConfig:
    from rtlagent.config import load_config

    return load_config(flags={"sandbox": sandbox.value if sandbox else None}).tools


def _errata(errata: Path | None, chosen: Suite, path: Path) -> Errata | None:
    """Return what an errata file says; None: there is no such file."""
    from rtlagent.bench.errata import read_errata

    if errata is None:
        return None
    return read_errata(errata, suite=chosen.name, data_sha256=chosen.data_sha256(path))


def _print_unaudited(names: Sequence[str]) -> None:
    if names:
        print(f"warning: {len(names)} of the problems were not audited and count as valid", file=sys.stderr)


def _as_json(
    job: ScoringJob, sha: str, scored: Sequence[Scored], summary: Summary, found: Answers, corrected: Rate | None
) -> str:
    from rtlagent.types import to_json

    return json.dumps(
        {
            "suite": job.suite,
            "path": str(job.path),
            "data_sha256": sha,
            "simulator": job.simulator,
            "summary": to_json(summary),
            "corrected": to_json(corrected),
            "missing": list(found.missing),
            "unmatched": list(found.unmatched),
            "results": [to_json(s) for s in scored],
        }
    )


def _print_table(scored: Sequence[Scored], summary: Summary, found: Answers) -> None:
    from rtlagent.printable import printable

    several = any(s.sample for s in scored)
    width = max(len(s.problem) for s in scored) + (4 if several else 0)
    for one in scored:
        name = f"{one.problem} #{one.sample}" if several else one.problem
        first = (one.score.message.splitlines() or [""])[0]
        why = f"{one.score.failure_class}: {first}" if one.score.failure_class else first
        print(printable(f"{one.score.status:7}  {name:{width}}  {one.score.wall_s:6.2f} s  {why[:_MESSAGE_CHARS]}"))
    print()
    for unmatched in found.unmatched:
        print(f"warning: no problem for {printable(unmatched)}", file=sys.stderr)
    if found.missing:
        print(f"{len(found.missing)} without an answer: {', '.join(found.missing)}")
    if summary.defects:
        print(f"{len(summary.defects)} with a benchmark defect: {', '.join(summary.defects)}")
    for kind, number in summary.failure_classes.items():
        print(f"{number} failed by {kind}")
    if summary.syntax is not None:
        print(f"syntax     {summary.syntax:7.1%} of the answers compile")
    _print_rate("pass rate", summary.all)
    if summary.defects:
        _print_rate("of valid", summary.valid)


def _print_rate(name: str, rate: object) -> None:
    from rtlagent.bench.scoring import Rate

    assert isinstance(rate, Rate)
    share = "unknown" if rate.pass_rate is None else f"{rate.pass_rate:7.1%}"
    print(f"{name:10} {share} ({rate.passed} of {rate.answers} answers; {rate.solved} of {rate.problems} problems)")
