"""The folder that a client's agent works in: what is read and written for it stays inside."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from rtlagent.config import ToolConfig
from rtlagent.errors import RunError, UsageError
from rtlagent.spec import boundary
from rtlagent.spec.files import read_text_file
from rtlagent.tools.testbench_top import top_modules
from rtlagent.types import SourceFile, TestFile, TestKind

MAX_BYTES = 32_000_000
MAX_FILES = 500
RTL_SUFFIXES = frozenset({".v", ".sv", ".vh", ".svh"})
RUNS = "runs"
"""Where runs go, and below it, in `mcp/`, what single calls leave."""
_CALLS = "mcp"


@dataclass(frozen=True)
class Workspace:
    """A client's workspace.

    Everything is read under `boundary.only_below(root)`; paths are those that the client knows, relative to the root.
    """

    root: Path
    """Real path of an existing folder."""

    def path(self, name: str) -> Path:
        """Return where a client's path is: relative to the root, or absolute and inside.

        Raises:
            UsageError: it leads out of the workspace, by itself or over a link.
        """
        try:
            with boundary.only_below(self.root):
                return boundary.check(self.root / name)
        except UsageError as error:
            raise UsageError(error.message, where=name, hint=error.hint) from None

    def name(self, path: Path) -> str:
        """Return a path inside as the client knows it."""
        return path.relative_to(self.root).as_posix()

    def read(self, names: Sequence[str]) -> tuple[SourceFile, ...]:
        """Read files, and of folders all Verilog in and below them; each once.

        Raises:
            UsageError: none is given, or one is missing, not text, or outside.
        """
        if not names:
            raise UsageError("no file was given", hint="name files by their path in the workspace")
        found: dict[str, SourceFile] = {}
        for path in self._files(names):
            name = self.name(path)
            if name in found:
                continue
            if len(found) == MAX_FILES:
                raise UsageError(f"more than {MAX_FILES} files", hint="name fewer")
            try:
                with boundary.only_below(self.root):
                    found[name] = SourceFile(name, read_text_file(path, max_bytes=MAX_BYTES))
            except UsageError as error:
                raise UsageError(error.message, where=name, hint=error.hint) from None
        return tuple(found.values())

    def read_tests(self, tests: Sequence[str], support: Sequence[str]) -> tuple[TestFile, ...]:
        """Read tests (`.py`: cocotb, else a testbench) and what they all need.

        Raises:
            UsageError: as for `read`.
        """
        shared = self.read(support) if support else ()
        return tuple(
            TestFile(f, TestKind.COCOTB if f.path.endswith(".py") else TestKind.SYSTEMVERILOG, support=shared)
            for f in (self.read(tests) if tests else ())
        )

    def call_folder(self, tool: str) -> str:
        """Make a new folder for what one call leaves, and return its name in the workspace.

        Raises:
            UsageError: a link in its place leads out of the workspace.
            RunError: it cannot be made.
        """
        stamp = time.strftime("%Y%m%d-%H%M%S")
        for number in count(1):
            name = f"{RUNS}/{_CALLS}/{stamp}-{tool}{f'-{number}' if number > 1 else ''}"
            try:
                self.path(name).mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise RunError(f"cannot make the folder: {error.strerror}", where=name) from error
            return name
        raise AssertionError

    def written(self, folder: str) -> tuple[str, ...]:
        """Return the files in a call's folder; an empty folder is taken away again."""
        path = self.path(folder)
        files = tuple(sorted(self.name(p) for p in path.rglob("*") if p.is_file()))
        if not files:
            path.rmdir()
        return files

    def _files(self, names: Iterable[str]) -> Iterable[Path]:
        for name in names:
            path = self.path(name)
            if not path.is_dir():
                yield path
                continue
            inside = (p for p in path.rglob("*") if p.suffix.lower() in RTL_SUFFIXES and p.is_file())
            # A link inside that leads out is refused when it is read.
            found = sorted(p for p in islice(inside, 20 * MAX_FILES) if not _hidden(p.relative_to(path)))
            if not found:
                raise UsageError("the folder has no Verilog file", where=name)
            yield from found


def from_uris(uris: Iterable[str]) -> Workspace:
    """Return the workspace of a client's roots: the first of them that is a folder here.

    Raises:
        UsageError: none is.
    """
    tried = list(uris)
    for uri in tried:
        parts = urlsplit(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost"):
            path = Path(unquote(parts.path))
            if path.is_absolute() and path.is_dir():
                return workspace(path)
    named = f"none of the client's roots is a folder here: {', '.join(tried)}" if tried else "the client names no root"
    raise UsageError(named, hint="start the server with `rtlagent mcp --root FOLDER`")


def workspace(folder: Path) -> Workspace:
    """Return the workspace in `folder`.

    Raises:
        UsageError: it is no folder, or the whole file system.
    """
    try:
        root = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no such folder"
        raise UsageError(f"cannot be the workspace: {reason}", where=str(folder)) from None
    if not root.is_dir():
        raise UsageError("cannot be the workspace: it is not a folder", where=str(folder))
    if root == Path(root.anchor):
        raise UsageError("the whole file system cannot be the workspace", where=str(folder), hint="name a project")
    return Workspace(root)


def split_data(files: Sequence[SourceFile]) -> tuple[tuple[SourceFile, ...], tuple[SourceFile, ...]]:
    """Separate Verilog from files that the design reads, such as memory images."""
    rtl = tuple(f for f in files if PurePosixPath(f.path).suffix.lower() in RTL_SUFFIXES)
    return rtl, tuple(f for f in files if f not in rtl)


def choose_top(files: Sequence[SourceFile], top: str | None, config: ToolConfig) -> str:
    """Return `top`, or the only module that nobody instantiates.

    Raises:
        UsageError: there is none, or more than one; or the files are too large.
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
    what = f"several modules could be the top: {', '.join(tops)}" if tops else "no module could be the top"
    raise UsageError(what, hint="name it with the argument `top`")


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
