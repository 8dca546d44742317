"""The command line: parse, call, print.

Nothing heavy is imported here: each command's module is loaded when the command is called, so that
`rtlagent --help` stays quick.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from rtlagent.errors import EXIT_INTERRUPTED, EXIT_TOOL, EXIT_USAGE, RtlagentError, suggestion
from rtlagent.printable import printable

__all__ = ["app", "main"]

_EXIT_BROKEN_PIPE = 141
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
_AS_JSON = "rtlagent.as_json"
"""Where a context keeps whether --json was given: known before the command's own options are parsed."""


@dataclass(frozen=True)
class _Command:
    """Where a command's function or group is, and its line in the overview (the function's own first line)."""

    module: str
    function: str
    summary: str


_COMMANDS = {
    "generate": _Command(
        "rtlagent.cli.generate", "generate", "Turn a specification or C into Verilog that real tools have judged."
    ),
    "resume": _Command(
        "rtlagent.cli.generate", "resume", "Go on with a run that was killed, interrupted, or stopped at a limit."
    ),
    "hls": _Command(
        "rtlagent.cli.hls_command",
        "hls",
        "Compile a C function to Verilog and print the loop table; nothing is simulated or synthesized.",
    ),
    "lint": _Command("rtlagent.cli.tool_commands", "lint", "Check Verilog without running it."),
    "sim": _Command("rtlagent.cli.tool_commands", "sim", "Simulate Verilog under cocotb tests or a testbench."),
    "synth": _Command("rtlagent.cli.tool_commands", "synth", "Synthesize Verilog and count what it takes."),
    "pnr": _Command("rtlagent.cli.tool_commands", "pnr", "Place and route, and find the highest clock frequency."),
    "equiv": _Command("rtlagent.cli.tool_commands", "equiv", "Tell whether two versions of a module are the same."),
    "grade": _Command("rtlagent.cli.grade", "grade", "Measure tests by the wrong designs that they catch."),
    "bench": _Command("rtlagent.cli.bench", "bench_app", "Run, score, audit and compare benchmark suites."),
    "report": _Command(
        "rtlagent.cli.report",
        "report",
        "Write a run's report: one HTML file that needs no network, with everything that the run did.",
    ),
    "view": _Command(
        "rtlagent.cli.view", "view", "List runs and open one, in the terminal or the browser, also while it goes on."
    ),
    "compare": _Command(
        "rtlagent.cli.compare",
        "compare",
        "Compare two runs: verdict, evidence, resources, clock, latency, cost, settings and designs.",
    ),
    "bundle": _Command(
        "rtlagent.cli.bundle",
        "bundle",
        "Pack a failing gate with everything that it judged by into one zip file, to be run again anywhere.",
    ),
    "init": _Command("rtlagent.cli.init", "init", "Write the first spec of a project, after four questions."),
    "mcp": _Command("rtlagent.cli.mcp", "mcp", "Serve the tools to a coding agent over MCP."),
    "vscode": _Command("rtlagent.cli.vscode", "vscode", "Give a VS Code folder tasks, diagnostics and the MCP server."),
    "watch": _Command("rtlagent.cli.watch", "watch", "Lint and simulate again whenever a file is saved."),
    "explain": _Command("rtlagent.cli.explain", "explain", "Say what a diagnostic's code means and how to fix it."),
    "config": _Command("rtlagent.cli.config", "config", "Show each setting and where its value came from."),
    "clean": _Command("rtlagent.cli.clean", "clean", "List old runs and caches, and with --yes remove them."),
    "doctor": _Command("rtlagent.cli.doctor", "doctor", "List the tools: found, version, needed, what for."),
}
_WITHOUT_ARGUMENTS = frozenset({"doctor", "init", "mcp", "vscode", "config", "clean", "view"})


class _Commands(TyperGroup):
    """Loads commands when they are called, and turns expected failures into messages and exit codes."""

    # The contexts are `Any` because typer's own annotation of them is a private class.
    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the overview."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command."""
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        function = getattr(importlib.import_module(entry.module), entry.function)
        if isinstance(function, typer.Typer):
            return typer.main.get_command(function)
        single = typer.Typer(rich_markup_mode=None, add_completion=False)
        single.command(cmd_name, no_args_is_help=cmd_name not in _WITHOUT_ARGUMENTS)(function)
        return typer.main.get_command(single)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Note whether errors, too, are to be told as JSON."""
        ctx.meta[_AS_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or say which one may be meant."""
        # A shell that asks for completions has no place for a complaint.
        if args and args[0] not in _COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"no command {args[0]!r}; {suggestion(args[0], _COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Print the overview without loading anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in _COMMANDS.items()])

    def invoke(self, ctx: Any) -> Any:
        """Run the command; no traceback reaches the user."""
        try:
            return super().invoke(ctx)
        except RtlagentError as error:
            _tell(error, as_json=ctx.meta[_AS_JSON])
            raise typer.Exit(error.exit_code) from None
        except BrokenPipeError:
            _silence(sys.stdout)
            raise typer.Exit(_EXIT_BROKEN_PIPE) from None
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                _tell_no_room(error)
                raise typer.Exit(EXIT_TOOL) from None
            if isinstance(error, typer.Exit | typer.Abort | typer.TyperException):
                if ctx.meta[_AS_JSON] and hasattr(error, "format_message"):
                    _print_error("UsageError", error.format_message(), "", "", EXIT_USAGE)
                raise
            message, hint = _report_unexpected(error)
            _tell(RtlagentError(message, hint=hint), as_json=ctx.meta[_AS_JSON], kind=type(error).__name__)
            raise typer.Exit(EXIT_TOOL) from None


app = typer.Typer(cls=_Commands, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback(no_args_is_help=True, invoke_without_command=True)
def _options(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """From a spec in prose to Verilog that real tools have judged.

    Exit codes: 0 pass, 1 fail, 2 wrong input, 3 limit reached, 4 tool or model error.
    """
    if version:
        from rtlagent import __version__

        print(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line and exit with its code."""
    # Python has None for a stream that is closed from the start, and nothing here or in typer expects it.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        # A polite kill ends a run as Ctrl-C does.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        try:
            app(prog_name="rtlagent")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        _silence(sys.stdout)
        sys.exit(_EXIT_BROKEN_PIPE)
    except OSError as error:
        _tell_no_room(error)
        sys.exit(EXIT_TOOL)


def _tell(error: RtlagentError, *, as_json: bool, kind: str = "") -> None:
    """Say what failed, on standard error, and with --json on standard output, too."""
    _complain(str(error))
    if as_json:
        _print_error(kind or type(error).__name__, error.message, error.where, error.hint, error.exit_code)


def _print_error(kind: str, message: str, where: str, hint: str, exit_code: int) -> None:
    said = {"kind": kind, "message": message, "where": where, "hint": hint, "exit_code": exit_code}
    print(json.dumps({"error": said}))


def _complain(text: str) -> None:
    try:
        print(f"error: {printable(text)}", file=sys.stderr, flush=True)
    except OSError:
        _silence(sys.stderr)  # there is nobody left to tell


def _tell_no_room(error: OSError) -> None:
    """Say that something could not be written; most often it is the output itself."""
    where = f"{error.filename}: " if error.filename else ""
    _complain(f"{where}cannot write: {error.strerror}\n\nhint: make room, or send the output elsewhere")
    _silence(sys.stdout)


def _silence(stream: TextIO) -> None:
    """Let the interpreter flush into nothing when it exits: the reader has gone."""
    with suppress(OSError, ValueError):  # a stream of a test has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _report_unexpected(error: Exception) -> tuple[str, str]:
    """Write the traceback where it can be found; return the message and a hint that says where."""
    import tempfile
    import traceback

    first = (str(error).splitlines() or [""])[0]
    said = f"unexpected {type(error).__name__}: {first}"
    if os.environ.get("RTLAGENT_DEBUG", "").strip() not in ("", "0"):
        return f"{said}\n\n{''.join(traceback.format_exception(error))}", ""
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="rtlagent-traceback-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
        ) as file:
            file.write("".join(traceback.format_exception(error)))
        place = f"the traceback is in {file.name}"
    except OSError:
        place = "set RTLAGENT_DEBUG=1 to see the traceback"
    return said, f"this is a fault of rtlagent; {place}"
