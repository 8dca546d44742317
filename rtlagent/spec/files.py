"""The files that a spec names: tests of the user's own, and context (RTL and documents)."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from rtlagent.errors import UsageError
from rtlagent.spec import boundary
from rtlagent.spec.fields import choice, entries, identifier, items, text
from rtlagent.spec.front_matter import Mapping, Node
from rtlagent.spec.names import is_plain_path
from rtlagent.spec.problems import Place, Problems, shown
from rtlagent.types import SourceFile, TestFile, TestKind

MAX_FILE_BYTES = 1_000_000
MAX_TOTAL_BYTES = 8_000_000
MAX_FILES = 500
_KINDS = {
    ".py": TestKind.COCOTB,
    ".sv": TestKind.SYSTEMVERILOG,
    ".v": TestKind.SYSTEMVERILOG,
}
_CONTEXT_SUFFIXES = frozenset(
    {".v", ".sv", ".svh", ".vh", ".md", ".rst", ".txt", ".py", ".c", ".cc", ".cpp", ".h", ".hpp", ".mem", ".hex"}
    | {".csv", ".json", ".yaml", ".yml", ".toml", ".pcf", ".lpf", ".xdc", ".sdc"}
)

_DESIGN_SUFFIXES = frozenset({".v", ".sv", ".svh", ".vh", ".mem", ".hex"})


def read_text_file(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> str:
    """Read a regular UTF-8 text file; line ends are normalised and a byte order mark is dropped.

    Raises:
        UsageError: its name is not UTF-8, or it is missing, not regular, unreadable, too large, or not text; or it
            lies outside the boundary that the caller has set.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError("has a name that is not UTF-8", hint="rename the file") from None
    boundary.check(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise UsageError("is a folder, not a file")
        if not stat.S_ISREG(mode):
            raise UsageError("is not a regular file")
        with boundary.open_inside(path) as stream:
            data = stream.read(max_bytes + 1)
    except FileNotFoundError:
        raise UsageError("does not exist", hint=close_names(path)) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a possible path"
        raise UsageError(f"cannot be read: {reason}") from None
    if len(data) > max_bytes:
        raise UsageError(f"is larger than {max_bytes // 1_000_000} MB")
    if b"\0" in data:
        raise UsageError("is a binary file, not text")
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"is not UTF-8 text (line {line})", hint="save it as UTF-8") from None
    return decoded.replace("\r\n", "\n").replace("\r", "\n")


def close_names(path: Path) -> str:
    """Return a hint that lists files with a similar name, in the same folder."""
    try:
        names = sorted(p.name for p in islice(path.parent.iterdir(), 2000) if not p.name.startswith("."))
    except OSError:
        return f"the folder {path.parent} does not exist"
    close = difflib.get_close_matches(path.name, names, n=3, cutoff=0.7)
    return f"did you mean {' or '.join(close)}?" if close else ""


class SpecFiles:
    """Reads the files that one spec names, relative to its folder."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        self.folder = folder
        self.problems = problems
        self._total = 0

    def tests(self, node: Node) -> tuple[TestFile, ...]:
        """Read `tests:`: paths, globs, or `{path, kind, top, support}`."""
        found: dict[str, TestFile] = {}
        for item in items(node):
            for test in self._test(item):
                if test.source.path in found:
                    self.problems.add(item.place, f"the test {test.source.path} is named twice")
                found[test.source.path] = test
        return tuple(found.values())

    def source(self, node: Node) -> SourceFile | None:
        """Read `source:`: one C file."""
        found = self._files(node, "source")
        if len(found) > 1:
            self.problems.add(node.place, "source must be one file", "name the others under context:")
        return found[0] if len(found) == 1 else None

    def context(self, node: Node) -> tuple[SourceFile, ...]:
        """Read `context:`: paths, globs and folders; a file named twice is taken once.

        Existing RTL becomes part of the design, so the model must be able to name it in its answers.
        """
        found: dict[str, SourceFile] = {}
        for item in items(node):
            for file in self._files(item, "context", folders=True):
                found[file.path] = file
                self._check_editable(file, item.place)
        return tuple(found.values())

    def _check_editable(self, file: SourceFile, place: Place) -> None:
        if Path(file.path).suffix.lower() not in _DESIGN_SUFFIXES or is_plain_path(file.path):
            return
        outside = file.path.startswith(("../", "/"))
        what = "lies outside the spec's folder" if outside else "has a name that cannot be used in the design"
        hint = "put the spec in a folder above it" if outside else "use letters, digits, _, - and + only"
        self.problems.add(place, f"the existing design's file {shown(file.path)} {what}", hint)

    def _test(self, node: Node) -> list[TestFile]:
        if not isinstance(node, Mapping):
            return [t for f in self._files(node, "test") if (t := self._classified(f, node.place)) is not None]
        keys = entries(node, "a test", ("path", "kind", "top", "support"), self.problems)
        if "path" not in keys:
            self.problems.add(node.place, "a test has no path", "write {path: tests/test_it.py}")
            return []
        files = self._files(keys["path"], "test")
        support = (
            tuple(f for s in items(keys["support"]) for f in self._files(s, "support file"))
            if "support" in keys
            else ()
        )
        kind = choice(keys["kind"], "test kind", tuple(TestKind), self.problems) if "kind" in keys else ""
        top = identifier(keys["top"], "test top", self.problems) if "top" in keys else None
        if kind is None or not files:
            return []
        tests = []
        for file in files:
            test = self._classified(file, keys["path"].place, kind, top, support)
            if test is not None:
                tests.append(test)
                if top and test.kind is TestKind.COCOTB:
                    hint = "name the design's top with the spec's own top:"
                    self.problems.add(keys["top"].place, "a cocotb test has no top module of its own", hint)
        return tests

    def _classified(
        self,
        file: SourceFile,
        place: Place,
        kind: str = "",
        top: str | None = None,
        support: tuple[SourceFile, ...] = (),
    ) -> TestFile | None:
        known = TestKind(kind) if kind else _KINDS.get(Path(file.path).suffix.lower())
        if known is None:
            hint = "write {path: ..., kind: cocotb} or kind: systemverilog"
            self.problems.add(place, f"cannot tell what kind of test {file.path} is", hint)
            return None
        if known is TestKind.COCOTB and not Path(file.path).stem.isidentifier():
            hint = "rename it to letters, digits and _"
            self.problems.add(place, f"the cocotb test {file.path} cannot be imported by that name", hint)
            return None
        return TestFile(file, known, top, support)

    def _files(self, node: Node, what: str, *, folders: bool = False) -> list[SourceFile]:
        """Read what one path, glob or folder names; anything wrong is noted."""
        name = text(node, f"a {what} path" if what != "context" else "a context path", self.problems)
        if name is None:
            return []
        if name.startswith("~"):
            self.problems.add(
                node.place, f"{what} {shown(name)}: ~ is not expanded", "write the path relative to the spec"
            )
            return []
        path = self.folder / name
        try:
            boundary.check(path)
        except UsageError as error:
            self.problems.add(node.place, f"{what} {shown(name)} {error.message}", error.hint)
            return []
        if re.search(r"[*?\[]", name) and not _is(path.exists):
            return self._glob(name, what, node)
        is_folder = _is(path.is_dir)
        if is_folder and folders:
            return self._folder(path, node)
        if is_folder:
            hint = f"name its files, or use {name.rstrip('/')}/*"
            self.problems.add(node.place, f"{what} {shown(name)} is a folder", hint)
            return []
        file = self._read(path, f"{what} {shown(name)}", node.place)
        return [file] if file else []

    def _glob(self, pattern: str, what: str, node: Node) -> list[SourceFile]:
        if Path(pattern).is_absolute() or pattern.count("**") > 1:
            self.problems.add(node.place, f"{what} {shown(pattern)}: a glob is relative, with ** at most once")
            return []
        try:
            matches = [
                p
                for p in islice(self.folder.glob(pattern), 20 * MAX_FILES)
                if p.is_file() and not _hidden(p, self.folder)
            ]
        except (ValueError, OSError, NotImplementedError, re.error):
            self.problems.add(node.place, f"{what} {shown(pattern)} is not a possible glob")
            return []
        if not matches:
            self.problems.add(
                node.place, f"{what} {shown(pattern)} matches no file", f"it is taken relative to {self.folder}"
            )
        return self._several(sorted(matches), what, node.place)

    def _folder(self, folder: Path, node: Node) -> list[SourceFile]:
        inside = (p for p in folder.rglob("*") if p.suffix.lower() in _CONTEXT_SUFFIXES)
        matches = sorted(p for p in islice(inside, 20 * MAX_FILES) if p.is_file() and not _hidden(p, folder))
        if not matches:
            self.problems.add(node.place, f"the context folder {folder.name} has no RTL or document")
        return self._several(matches, "context", node.place)

    def _several(self, paths: list[Path], what: str, place: Place) -> list[SourceFile]:
        if len(paths) > MAX_FILES:
            self.problems.add(place, f"{len(paths)} {what} files are more than {MAX_FILES}", "name fewer")
            return []
        return [f for p in paths if (f := self._read(p, f"{what} {shown(p.name)}", place)) is not None]

    def _read(self, path: Path, what: str, place: Place) -> SourceFile | None:
        relative = Path(os.path.relpath(path, self.folder)).as_posix()
        try:
            content = read_text_file(path)
        except UsageError as error:
            self.problems.add(place, f"{what} {error.message}", error.hint)
            return None
        self._total += len(content)
        if self._total > MAX_TOTAL_BYTES:
            self.problems.add(
                place, f"the spec's files together exceed {MAX_TOTAL_BYTES // 1_000_000} MB", "name fewer"
            )
            return None
        return SourceFile(relative, content)


def _is(question: Callable[[], bool]) -> bool:
    """Ask a path something; one that the system cannot even look at is nothing."""
    try:
        return question()
    except OSError:
        return False


def _hidden(path: Path, folder: Path) -> bool:
    return any(p.startswith(".") and p != ".." for p in Path(os.path.relpath(path, folder)).parts)
