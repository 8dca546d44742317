"""Read the files that a command is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.spec.files import read_text_file
from rtlagent.tools.testbench_top import top_modules
from rtlagent.types import SourceFile, TestFile, TestKind

MAX_BYTES = 32_000_000
"""Netlists are larger than hand-written text."""
RTL_SUFFIXES = frozenset({".v", ".sv", ".vh", ".svh"})


def read_files(paths: Iterable[Path]) -> tuple[SourceFile, ...]:
    """Read text files, under the names that the user gave them.

    Raises:
        UsageError: one is missing, a folder, unreadable, not text, or given twice.
    """
    found: dict[str, SourceFile] = {}
    for path in paths:
        try:
            text = read_text_file(path, max_bytes=MAX_BYTES)
        except UsageError as error:
            raise UsageError(error.message, where=str(path), hint=error.hint) from None
        if path.as_posix() in found:
            raise UsageError("is given twice", where=str(path))
        found[path.as_posix()] = SourceFile(path.as_posix(), text)
    return tuple(found.values())


def read_design(path: Path) -> tuple[SourceFile, ...]:
    """Read one file, or all Verilog files of a folder and those below it.

    Raises:
        UsageError: as for `read_files`, or the folder has no Verilog.
    """
    if not path.is_dir():
        return read_files([path])
    inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in RTL_SUFFIXES and p.is_file())
    if not inside:
        raise UsageError("the folder has no Verilog file", where=str(path))
    return read_files(inside)


def split_data(files: Sequence[SourceFile]) -> tuple[tuple[SourceFile, ...], tuple[SourceFile, ...]]:
    """Separate Verilog from files that the design reads, such as memory images."""
    rtl = tuple(f for f in files if Path(f.path).suffix.lower() in RTL_SUFFIXES)
    return rtl, tuple(f for f in files if f not in rtl)


def read_tests(cocotb: Sequence[Path], testbenches: Sequence[Path], support: Sequence[Path]) -> tuple[TestFile, ...]:
    """Read tests and what they all need.

    Raises:
        UsageError: as for `read_files`, or there is no test.
    """
    shared = read_files(support)
    tests = [TestFile(f, TestKind.COCOTB, support=shared) for f in read_files(cocotb)]
    tests += [TestFile(f, TestKind.SYSTEMVERILOG, support=shared) for f in read_files(testbenches)]
    if not tests:
        raise UsageError("there is no test to run", hint="name one with --test T.py (cocotb) or --tb TB.sv")
    for test in tests:
        is_python = Path(test.source.path).suffix == ".py"
        if is_python != (test.kind is TestKind.COCOTB):
            hint = "--test takes a cocotb module (.py), --tb a Verilog testbench"
            raise UsageError("is not this kind of test", where=test.source.path, hint=hint)
    return tuple(tests)


def pairs(options: Sequence[str], flag: str, *, bare: bool) -> tuple[str, ...]:
    """Check `NAME=VALUE` options; with `bare`, `NAME` alone is one too.

    Raises:
        UsageError: one is something else.
    """
    for option in options:
        name, equals, _ = option.partition("=")
        if not name.isidentifier() or not (equals or bare):
            raise UsageError(f"not {'NAME or ' if bare else ''}NAME=VALUE: {option!r}", where=flag)
    return tuple(options)


def find_top(files: Sequence[SourceFile], top: str | None, config: ToolConfig) -> str:
    """Return `top`, or the only module that nobody instantiates.

    Raises:
        UsageError: there is none, or more than one (the names are in the message); or the files are too large.
    """
    if top is not None:
        return top
    from rtlagent.tools.inspect import inspect
    from rtlagent.tools.staging import require_size

    require_size(files, config)
    try:
        tops = list(inspect(files, config=config).tops)
    except UsageError:
        tops = []
    if len(tops) != 1:
        # Of a design with errors the reader may see nothing, yet the tool has to say what is wrong with it.
        tops = top_modules(files) or tops
    if len(tops) == 1:
        return tops[0]
    what = f"several modules could be the top: {', '.join(tops)}" if tops else "no module is instantiated by nobody"
    raise UsageError(what, hint="name it with --top")
