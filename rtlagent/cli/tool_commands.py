"""`rtlagent lint | sim | synth | pnr | equiv`: one tool at a time, over the user's own files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rtlagent.config import ToolConfig
    from rtlagent.types import Requirements, SourceFile, StepResult


class _Language(StrEnum):
    verilog = "verilog"
    systemverilog = "systemverilog"


class Simulator(StrEnum):
    """Which simulators a command may use."""

    auto = "auto"
    icarus = "icarus"
    verilator = "verilator"


class _Wave(StrEnum):
    always = "always"
    on_failure = "on_failure"
    never = "never"


class _Target(StrEnum):
    generic = "generic"
    ice40 = "ice40"
    ecp5 = "ecp5"
    xc7 = "xc7"


class _Routed(StrEnum):
    ice40 = "ice40"
    ecp5 = "ecp5"


class _Sandbox(StrEnum):
    bwrap = "bwrap"
    none = "none"


Files = Annotated[
    list[Path], typer.Argument(metavar="FILES", help="Verilog files, headers and memory images.", show_default=False)
]
Top = Annotated[
    str | None,
    typer.Option("--top", help="Top module (default: the only one that nobody instantiates).", show_default=False),
]
Keep = Annotated[
    Path | None,
    typer.Option("--keep", metavar="DIR", help="Keep logs, reports and waveforms here.", show_default=False),
]
Sandbox = Annotated[
    _Sandbox | None,
    typer.Option("--sandbox", help="bwrap (default), or none: run the files' text unconfined.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object and nothing else.")]
MaxLuts = Annotated[int | None, typer.Option("--max-luts", min=0, help="Fail above this many.", show_default=False)]
MaxFfs = Annotated[int | None, typer.Option("--max-ffs", min=0, help="Fail above this many.", show_default=False)]
MaxBrams = Annotated[int | None, typer.Option("--max-brams", min=0, help="Fail above this many.", show_default=False)]
MaxDsps = Annotated[int | None, typer.Option("--max-dsps", min=0, help="Fail above this many.", show_default=False)]


def lint(
    files: Files,
    top: Top = None,
    language: Annotated[
        _Language, typer.Option("--language", help="Which words are keywords.")
    ] = _Language.systemverilog,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings, too.")] = False,
    policy: Annotated[
        bool, typer.Option("--policy", help="Apply the rules for model-written text: no $system, no $fopen, ...")
    ] = False,
    as_json: AsJson = False,
    sandbox: Sandbox = None,
) -> None:
    """Check Verilog without running it.

    Two tools read the files and their findings are merged: pyslang (every error, with its exact place) and
    Verilator (latches, incomplete cases, widths, several drivers).

    Exit codes: 0 no errors, 1 errors (with --strict also warnings), 2 wrong input, 3 limit, 4 a tool broke.
    """
    from rtlagent.cli.inputs import read_files
    from rtlagent.cli.render import show
    from rtlagent.tools.lint import lint as run_lint
    from rtlagent.types import Severity, Status

    sources = read_files(files)
    result = run_lint(sources, top=top, language=language.value, policy=policy, config=_config(sandbox))
    warned = any(d.severity is Severity.WARNING for d in result.diagnostics)
    if strict and warned and result.status is Status.PASS:
        result = replace(result, status=Status.FAIL)
    raise typer.Exit(show(result, sources, as_json=as_json))


def sim(
    files: Files,
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", "-t", metavar="T.py", help="cocotb test (repeatable).", show_default=False),
    ] = None,
    tb: Annotated[
        list[Path] | None, typer.Option("--tb", metavar="TB.sv", help="Testbench (repeatable).", show_default=False)
    ] = None,
    support: Annotated[
        list[Path] | None,
        typer.Option(
            "--support", metavar="FILE", help="What the tests import or read (repeatable).", show_default=False
        ),
    ] = None,
    top: Top = None,
    simulator: Annotated[Simulator, typer.Option("--simulator", help="auto: by what the files need.")] = Simulator.auto,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Of everything random (default: by content).", show_default=False),
    ] = None,
    wave: Annotated[_Wave, typer.Option("--wave", help="When to write a VCD (needs --keep).")] = _Wave.on_failure,
    keep: Keep = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.", show_default=False)
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("-P", metavar="NAME=VALUE", help="Set a parameter of the top.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    sandbox: Sandbox = None,
) -> None:
    """Simulate Verilog under cocotb tests or a testbench.

    A cocotb test drives the design's top module; a testbench is a top of its own. FILES that are not Verilog are
    laid beside the design, for $readmemh.

    Exit codes: 0 all tests pass, 1 one fails, 2 wrong input, 3 limit, 4 a tool broke.

    Such as:

      rtlagent sim fifo.v --test test_fifo.py --seed 7 --keep out

      rtlagent sim fifo.v --tb fifo_tb.sv --simulator verilator
    """
    from rtlagent.cli.inputs import find_top, pairs, read_files, read_tests, split_data
    from rtlagent.cli.render import show
    from rtlagent.errors import UsageError
    from rtlagent.tools.simulate import simulate
    from rtlagent.types import Status

    if wave is _Wave.always and keep is None:
        raise UsageError("--wave always has nowhere to put the waveform", hint="add --keep DIR")
    sources, data = split_data(read_files(files))
    tests = read_tests(test or (), tb or (), support or ())
    config = _config(sandbox)
    result = simulate(
        sources,
        tests,
        # Only cocotb drives the design's own top; a testbench names what it wants.
        top=find_top(sources, top, config) if test or top else "",
        simulator=simulator.value,
        seed=seed,
        wave=wave.value if keep is not None else "never",
        keep_dir=keep,
        data_files=data,
        defines=pairs(define or (), "-D", bare=True),
        parameters=pairs(parameter or (), "-P", bare=False),
        config=config,
    )
    quoted = (*sources, *(t.source for t in tests))
    if result.status is Status.FAIL and keep is None:
        print("hint: --keep DIR keeps the log and the waveform of a failure", file=sys.stderr)
    raise typer.Exit(show(result, quoted, as_json=as_json, keep_dir=keep))


def synth(
    files: Files,
    top: Top = None,
    target: Annotated[_Target, typer.Option("--target", help="What to map to.")] = _Target.generic,
    max_luts: MaxLuts = None,
    max_ffs: MaxFfs = None,
    max_brams: MaxBrams = None,
    max_dsps: MaxDsps = None,
    keep: Keep = None,
    as_json: AsJson = False,
    sandbox: Sandbox = None,
) -> None:
    """Synthesize Verilog and count what it takes.

    Latches, combinational loops, nets with several drivers and nets with none are reported as diagnostics.

    Exit codes: 0 synthesizable and within the limits, 1 not, 2 wrong input, 3 limit, 4 a tool broke.
    """
    from rtlagent.cli.inputs import find_top, read_files
    from rtlagent.cli.render import show
    from rtlagent.tools.synthesize import synthesize
    from rtlagent.types import Requirements

    sources = read_files(files)
    config = _config(sandbox)
    needs = Requirements(target.value, max_luts=max_luts, max_ffs=max_ffs, max_brams=max_brams, max_dsps=max_dsps)
    chosen = find_top(sources, top, config)
    result = synthesize(sources, top=chosen, target=target.value, keep_dir=keep, config=config)
    result = _within(result, needs, sources)
    raise typer.Exit(show(result, sources, as_json=as_json, keep_dir=keep, needs=needs))


def pnr(
    files: Files,
    target: Annotated[_Routed, typer.Option("--target", help="Which FPGA family.", show_default=False)],
    top: Top = None,
    freq: Annotated[
        float | None, typer.Option("--freq", min=0.001, metavar="MHZ", help="Fail below this.", show_default=False)
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", help="Such as hx8k or 45k (default: by size).", show_default=False)
    ] = None,
    package: Annotated[str | None, typer.Option("--package", help="Such as ct256.", show_default=False)] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the placer.")] = 1,
    keep: Keep = None,
    as_json: AsJson = False,
    sandbox: Sandbox = None,
) -> None:
    """Place and route, and find the highest clock frequency.

    Synthesizes first. The critical path is told in terms of the source.

    Exit codes: 0 it fits and meets --freq, 1 not, 2 wrong input, 3 limit, 4 a tool broke.
    """
    from rtlagent.cli.inputs import find_top, read_files
    from rtlagent.cli.render import show
    from rtlagent.tools.place_and_route import place_and_route
    from rtlagent.types import Requirements

    sources = read_files(files)
    config = _config(sandbox)
    result = place_and_route(
        sources,
        top=find_top(sources, top, config),
        target=target.value,
        min_fmax_mhz=freq,
        device=device,
        package=package,
        seed=seed,
        keep_dir=keep,
        config=config,
    )
    needs = Requirements(target.value, min_fmax_mhz=freq)
    raise typer.Exit(show(result, sources, as_json=as_json, keep_dir=keep, needs=needs))


def equiv(
    gold: Annotated[Path, typer.Argument(metavar="A", help="The version to keep to: a file or a folder.")],
    gate: Annotated[Path, typer.Argument(metavar="B", help="The changed version: a file or a folder.")],
    top: Top = None,
    reset: Annotated[
        str | None,
        typer.Option("--reset", metavar="PORT", help="Reset (default: inputs named like one).", show_default=False),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", min=1, help="Cycles to search for a difference.")] = 20,
    keep: Keep = None,
    as_json: AsJson = False,
    sandbox: Sandbox = None,
) -> None:
    """Tell whether two versions of a module are the same.

    PASS is a proof, FAIL comes with inputs that tell the two apart, UNPROVEN means that no difference was found
    up to the depth reached and no proof either. A --reset whose name ends like rst_n is active low.

    Exit codes: 0 the same, 1 different or unproven, 2 wrong input, 3 limit, 4 a tool broke.
    """
    from rtlagent.cli.inputs import find_top, read_design
    from rtlagent.cli.render import show
    from rtlagent.spec.names import is_active_low
    from rtlagent.tools.formal import equiv as run_equiv
    from rtlagent.types import Reset

    first, second = read_design(gold), read_design(gate)
    config = _config(sandbox)
    chosen = find_top(first, top, config)
    driven = Reset(reset, "low" if is_active_low(reset) else "high") if reset else None
    result = run_equiv(first, second, top=chosen, reset=driven, depth=depth, keep_dir=keep, config=config)
    raise typer.Exit(show(result, (*first, *second), as_json=as_json, keep_dir=keep))


def _config(sandbox: _Sandbox | None) -> ToolConfig:
    from rtlagent.config import load_config

    return load_config(flags={"sandbox": sandbox.value if sandbox else None}).tools


def _within(result: StepResult, needs: Requirements, sources: Sequence[SourceFile]) -> StepResult:
    """Fail a result whose figures exceed the limits, with a diagnostic for each."""
    from rtlagent.conformance import find_unmet
    from rtlagent.types import Diagnostic, Severity, Status

    if result.status is not Status.PASS:
        return result
    unmet = tuple(
        Diagnostic(
            "rtlagent",
            Severity.ERROR,
            "UNMET",
            f"{u.name}: {'not measured' if u.measured is None else f'{u.measured:g}'}, limit {u.limit:g}",
            path=sources[0].path,
        )
        for u in find_unmet(needs, result.metrics)
    )
    if not unmet:
        return result
    return replace(result, status=Status.FAIL, diagnostics=(*result.diagnostics, *unmet))
