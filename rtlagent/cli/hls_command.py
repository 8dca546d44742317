"""`rtlagent hls`: compile a C function and show what became of it, without judging it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rtlagent.cli.c_options import Clock, NoPragmas, Target, Testbench, Top

if TYPE_CHECKING:
    from rtlagent.hls import HlsResult


def hls(
    file: Annotated[Path, typer.Argument(help="A C or C++ file, or a Markdown spec with a C code block.")],
    top: Top = None,
    target: Target = None,
    clock: Clock = None,
    no_pragmas: NoPragmas = False,
    dump_ir: Annotated[
        str | None,
        typer.Option("--dump-ir", metavar="PASS", help="Print the IR after this pass.", show_default=False),
    ] = None,
    tb: Testbench = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder that the Verilog is written to.", show_default="here")
    ] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Plain lines even in a terminal.")] = False,
) -> None:
    """Compile a C function to Verilog and print the loop table; nothing is simulated or synthesized.

    `rtlagent generate` does the same and judges the result. A wrong name after `--dump-ir` lists the passes.

    Exit codes: 0 compiled, 2 the C is wrong or cannot become hardware, 4 tool error.

    Such as:

      rtlagent hls fir.c --top fir --target ecp5 --clock 10ns --out rtl
    """
    from rtlagent.agent.from_c import compile_spec, hls_report
    from rtlagent.cli.c_options import load_c_spec, shown_from
    from rtlagent.cli.hls_report import print_hls
    from rtlagent.config import load_config
    from rtlagent.errors import EXIT_PASS, RunError
    from rtlagent.types import to_json

    tools = load_config(env=os.environ, start=Path.cwd()).tools
    if dump_ir is not None:
        _check_pass(dump_ir)
    with shown_from(file):
        spec = load_c_spec(file, tools, top=top, target=target, clock=clock, files=tb or [])
        result = compile_spec(spec, tools, use_pragmas=not no_pragmas, dump_after=dump_ir or "")
    path = out / Path(result.design.path).name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(result.design.text)
    except OSError as error:
        raise RunError(f"cannot write the Verilog: {error.strerror}", where=str(path)) from error
    report = hls_report(spec, result)
    if as_json:
        dumped = {"dump": result.dump} if dump_ir else {}
        print(json.dumps({**to_json(report), "verilog": str(path), "interface": to_json(result.interface), **dumped}))
    else:
        _print_dump(result, dump_ir)
        print_hls(report, None, spec.requirements, sys.stdout, plain=plain)
        print(f"verilog: {path}")
    raise typer.Exit(EXIT_PASS)


def _print_dump(result: HlsResult, dump_ir: str | None) -> None:
    from rtlagent.printable import printable

    if dump_ir is not None:
        print(printable(result.dump))


def _check_pass(name: str) -> None:
    """Refuse an unknown pass with the list of all."""
    from rtlagent.errors import UsageError
    from rtlagent.hls.transform import PASSES

    names = ["frontend", *(name for name, *_ in PASSES)]
    if name not in names:
        raise UsageError(f"there is no pass {name!r}", where="--dump-ir", hint=f"the passes are: {', '.join(names)}")
