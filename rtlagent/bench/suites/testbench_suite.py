"""What the suites have in common whose hidden test is a Verilog testbench."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rtlagent.bench.blame import blamed
from rtlagent.bench.hidden_test import HiddenTest, run_hidden_test
from rtlagent.bench.problem import Problem, Score
from rtlagent.bench.verilog_tokens import declared, normal, tokens
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError, suggestion
from rtlagent.tools import icarus, verilator
from rtlagent.types import SourceFile, digest

_DATA_BYTES = 16 << 20


class TestbenchSuite(ABC):
    """Scores an answer by simulating it under the suite's own testbench."""

    __test__ = False  # not a pytest class
    name: str

    @abstractmethod
    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the problems, from the files that a model may see only."""

    @abstractmethod
    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return the suite's own solution; None: it has none."""

    @abstractmethod
    def hidden_test(self, path: Path, name: str) -> HiddenTest:
        """Return the testbench of a problem with all it needs.

        Raises:
            UsageError: there is no such problem.
        """

    @abstractmethod
    def data_sha256(self, path: Path) -> str:
        """Return a hex digest of everything the suite consists of."""

    def score(
        self,
        path: Path,
        name: str,
        files: Sequence[SourceFile],
        *,
        config: ToolConfig,
        simulator: str = "auto",
        keep_dir: Path | None = None,
    ) -> Score:
        """Run the hidden test over `files`; a failure that the golden design shares is the benchmark's."""
        golden = self.golden(path, name)
        test = self.hidden_test(path, name)
        test = replace(test, inout=any("inout" in f.text for f in golden or ()))

        def judge(design: Sequence[SourceFile]) -> Score:
            return run_hidden_test(test, design, config=config, simulator=simulator)

        score = run_hidden_test(test, files, config=config, simulator=simulator, keep_dir=keep_dir)
        key = [simulator, icarus.version(), verilator.version(), test.top, [(f.path, f.sha256) for f in test.files]]
        key.append([(f.path, f.sha256) for f in test.data_files])
        return blamed(score, files, golden, key=digest(key), judge=judge, config=config)

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Turn what a system wrote for a problem, such as a function body in a JSONL file, into an answer."""
        return (SourceFile(f"{name}.sv", text),)


def read_source(path: Path, name: str | None = None) -> SourceFile:
    """Read a text file of a suite; bytes that are no UTF-8 become question marks.

    Raises:
        UsageError: it is missing, unreadable or larger than 16 MiB.
    """
    try:
        if path.stat().st_size > _DATA_BYTES:
            raise UsageError(f"{path} is too large", hint="a file of a benchmark may have 16 MiB")
        return SourceFile(name or path.name, path.read_bytes().decode(errors="replace"))
    except OSError as error:
        raise UsageError(f"{path}: cannot read: {error.strerror}") from error


def unknown_problem(suite: str, path: Path, name: str, known: Iterable[str]) -> UsageError:
    """Return the error for a name that is none of a suite's problems."""
    return UsageError(f"{suite} at {path} has no problem {name!r}", hint=suggestion(name, known))


def require_folder(suite: str, path: Path) -> Path:
    """Return `path`, an existing folder.

    Raises:
        UsageError: it is none.
    """
    if not path.is_dir():
        raise UsageError(f"{path} is not a folder", hint=f"give --path the folder that holds the data of {suite}")
    return path


def files_sha256(root: Path, files: Iterable[Path]) -> str:
    """Return a hex digest of the names and contents of files below `root`."""
    total = hashlib.sha256()
    for file in sorted(files):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        total.update(f"{file.relative_to(root).as_posix()}\0{content}\n".encode())
    return total.hexdigest()


def defines_module(text: str, module: str | None = None) -> bool:
    """Say whether `text` declares a module, or the one called `module`."""
    found = frozenset(declared(tokens(normal(text))))
    return bool(found) if module is None else module in found


def with_header(header: str, body: str, module: str) -> str:
    """Return `body` as a whole module: with `header` in front unless it has the module already."""
    return body if defines_module(body, module) else f"{header.rstrip()}\n{body}"
