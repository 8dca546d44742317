"""`rtlagent grade`: how many wrong designs would these tests let pass?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtlagent.cli.tool_commands import AsJson, Files, Sandbox, Simulator, Top

if TYPE_CHECKING:
    from rtlagent.tools.mutants import MutationResult
    from rtlagent.types import SourceFile, TestFile

_VERILOG = frozenset({".v", ".sv"})
_MOST_MUTANTS = 10_000


def grade(
    files: Files,
    tests: Annotated[
        list[Path] | None,
        typer.Option(
            "--tests",
            "-t",
            metavar="PATH",
            show_default=False,
            help="A cocotb module (.py), a testbench (.v, .sv), or a folder of them (repeatable).",
        ),
    ] = None,
    support: Annotated[
        list[Path] | None,
        typer.Option(
            "--support", metavar="FILE", help="What the tests import or read (repeatable).", show_default=False
        ),
    ] = None,
    top: Top = None,
    mutants: Annotated[int, typer.Option("--mutants", "-n", min=1, max=_MOST_MUTANTS, help="Wrong designs.")] = 100,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which ones.")] = 1,
    least: Annotated[
        float | None,
        typer.Option(
            "--min",
            min=0,
            max=1,
            metavar="SHARE",
            show_default=False,
            help="Fail when a smaller share is killed, such as 0.95.",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Mutants at a time (default: as there are processors).", show_default=False
        ),
    ] = None,
    simulator: Annotated[
        Simulator, typer.Option("--simulator", help="auto: Icarus, unless the design passes on Verilator only.")
    ] = Simulator.auto,
    as_json: AsJson = False,
    sandbox: Sandbox = None,
) -> None:
    """Measure tests by the wrong designs that they catch.

    Each mutant is the design with one small change, made on its syntax tree. One that fails under the tests is killed;
    one that passes is a wrong design that the tests do not notice, shown as a diff, unless Yosys proves that it is the
    same design after all. What could be neither proven the same nor told apart counts as noticed by nobody. The design
    itself has to pass first.

    Exit codes: 0 graded (and at least --min killed), 1 fewer killed or the design fails its tests, 2 wrong input,
    3 limit, 4 a tool broke.

    Such as:

      rtlagent grade fifo.v --tests test_fifo.py --min 0.95
    """
    from rtlagent.cli.inputs import find_top, read_files
    from rtlagent.cli.render import show
    from rtlagent.config import load_config
    from rtlagent.errors import EXIT_FAIL, EXIT_PASS
    from rtlagent.tools.inspect import inspect
    from rtlagent.tools.mutants import kill_mutants, make_mutants
    from rtlagent.tools.simulate import simulate

    config = load_config(flags={"sandbox": sandbox.value if sandbox else None}).tools
    sources = read_files(files)
    found = _tests(tests or (), support or ())
    chosen = find_top(sources, top, config)
    if top is not None:
        inspect(sources, top=top, config=config)
    own = simulate(sources, found, top=chosen, simulator=simulator.value, seed=1, wave="never", config=config)
    if not own.passed:
        print("error: the design itself does not pass these tests, so its mutants would tell nothing", file=sys.stderr)
        code = show(own, (*sources, *(t.source for t in found)), as_json=as_json)
        raise typer.Exit(code or EXIT_FAIL)
    made = make_mutants(sources, top=chosen, limit=mutants, seed=seed, config=config)
    if not as_json and sys.stderr.isatty():
        print(f"{len(made)} mutants of {chosen} ...", end="\r", file=sys.stderr, flush=True)
    result = kill_mutants(
        sources, made, None, top=chosen, ports=(), clock=None, reset=None, tests=found, config=config,
        jobs=jobs or os.cpu_count() or 2, comparisons=len(made), simulator=simulator.value,
    )  # fmt: skip
    score = result.killed / result.counted if result.counted else None
    print(_as_json(sources, chosen, result, score, seed) if as_json else _as_text(sources, chosen, result, score))
    missed = least is not None and (score is None or score < least)
    if missed and not as_json:
        told = "nothing could be counted" if score is None else f"{score:.1%} are killed"
        print(f"error: {told}, and --min wants {least:.1%}", file=sys.stderr)
    raise typer.Exit(EXIT_FAIL if missed else EXIT_PASS)


def _tests(paths: Sequence[Path], support: Sequence[Path]) -> tuple[TestFile, ...]:
    """Sort tests by their kind; of a folder, those that look like tests, with the rest as their support."""
    from rtlagent.cli.inputs import read_tests
    from rtlagent.errors import UsageError

    cocotb: list[Path] = []
    benches: list[Path] = []
    beside = list(support)
    for path in paths:
        inside = sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]
        for file in inside:
            if file.suffix == ".py" and (not path.is_dir() or file.name.startswith("test")):
                cocotb.append(file)
            elif file.suffix in _VERILOG:
                benches.append(file)
            elif path.is_dir():
                beside.append(file)
            else:
                raise UsageError("is not a test", where=str(path), hint="give a cocotb module (.py) or a testbench")
    if not cocotb and not benches:
        raise UsageError("there is no test to grade", hint="name one with --tests: a .py, a .v or .sv, or a folder")
    return read_tests(cocotb, benches, beside)


def _as_text(files: Sequence[SourceFile], top: str, result: MutationResult, score: float | None) -> str:
    from rtlagent.printable import printable
    from rtlagent.tools.mutants import grade as grade_of

    word, reason = grade_of(result)
    counts = [
        (result.killed, "killed"),
        (len(result.survived) - result.undecided - result.not_compared, "survived"),
        (result.undecided, "survived, perhaps the same design (neither proven nor told apart)"),
        (result.not_compared, "survived, not compared with the design"),
        (result.equivalent, "the same design (proven by Yosys, not counted)"),
        (result.invalid, "not built (not counted)"),
        (result.broken, "broke the simulator or the bench (not counted)"),
    ]
    lines = [f"{result.total} mutants of {top}"]
    lines += [f"{number:6}  {what}" for number, what in counts if number]
    share = "unknown" if score is None else f"{score:.1%}, {result.killed} of {result.counted}"
    lines.append(f"score: {share}: {word.value} ({reason.partition(';')[0]})")
    for mutant in result.survived:
        lines += ["", mutant.patch(files)]
    return printable("\n".join(lines))


def _as_json(files: Sequence[SourceFile], top: str, result: MutationResult, score: float | None, seed: int) -> str:
    from rtlagent.tools.mutants import grade as grade_of

    word, reason = grade_of(result)
    patches = {m: m.patch(files) for m in result.survived}
    judged = [
        {"path": j.mutant.path, "line": j.mutant.line, "column": j.mutant.column, "kind": j.mutant.kind,
         "original": j.mutant.original, "mutated": j.mutant.mutated, "outcome": j.outcome,
         "patch": patches.get(j.mutant)}
        for j in result.judged
    ]  # fmt: skip
    figures = {
        "top": top, "seed": seed, "mutants": result.total, "killed": result.killed, "survived": len(result.survived),
        "undecided": result.undecided, "not_compared": result.not_compared, "equivalent": result.equivalent,
        "not_built": result.invalid, "broken": result.broken, "score": score, "grade": word.value, "reason": reason,
    }  # fmt: skip
    return json.dumps({**figures, "judged": judged})
