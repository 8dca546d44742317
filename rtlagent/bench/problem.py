"""What every benchmark suite gives and what scoring an answer to one of its problems returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rtlagent.config import ToolConfig
from rtlagent.types import Metrics, SourceFile, Status

DESIGN = "design"
TESTBENCH = "testbench"
BENCHMARK_DEFECT = "benchmark defect"
TOOL = "tool"
ENDPOINT = "endpoint"
BUDGET = "budget"
FAILURE_CLASSES = (DESIGN, TESTBENCH, BENCHMARK_DEFECT, TOOL, ENDPOINT, BUDGET)


@dataclass(frozen=True)
class Problem:
    """One problem of a suite, as a model may see it; it holds nothing hidden."""

    suite: str
    name: str
    spec_text: str
    """The prompt, with front matter where that is useful."""
    top: str | None = None
    """Module that the answer has to define; None: the prompt says it, or nothing does."""
    language: str = "verilog"
    """`verilog`, `systemverilog` or `c`."""
    category: str = ""
    """Of the suite's own division, such as `Arithmetic/Adder`; empty: it has none."""
    context: tuple[SourceFile, ...] = ()
    """Further files that the model may see."""
    c_source: SourceFile | None = None
    """The C file that becomes hardware; None: the prose rules."""


@dataclass(frozen=True)
class Score:
    """The judgement of a suite's hidden tests over one answer."""

    status: Status
    """PASS, FAIL, ERROR or TIMEOUT."""
    failure_class: str = ""
    """One of FAILURE_CLASSES; empty for PASS."""
    syntax: bool | None = None
    """The answer compiles with the tests; None: not found out."""
    simulation: bool | None = None
    """The tests ran to their end and passed; None: they did not get to run."""
    synthesis: bool | None = None
    """None: not measured."""
    metrics: Metrics = field(default_factory=Metrics)
    message: str = ""
    """What is wrong, for people."""
    wall_s: float = 0.0
    tool_versions: tuple[str, ...] = ()
    """Such as `Icarus Verilog 11.0`."""


class Suite(Protocol):
    """An adapter of one benchmark's layout. Nothing of a benchmark is copied into rtlagent."""

    name: str

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the problems below `path`, by name, from the files that a model may see only.

        Raises:
            UsageError: `path` does not hold this suite.
        """

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return the suite's own solution of a problem; None: it has none.

        Raises:
            UsageError: there is no such problem.
        """

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
        """Run the hidden tests of a problem over `files`, in the sandbox.

        Args:
            path: Where the suite's data are.
            name: Of the problem.
            files: The answer.
            config: Sandbox, cache and limits.
            simulator: `auto`, `icarus` or `verilator`.
            keep_dir: Where logs go; None: nowhere.

        Raises:
            UsageError: there is no such problem, or it cannot run on this simulator.
            ToolMissingError: a tool is not installed.
            SandboxError: nothing could be run.
        """

    def data_sha256(self, path: Path) -> str:
        """Return a hex digest of everything the suite consists of, hidden files included."""

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Turn what a system wrote for a problem (a completion in a JSONL file, a reply's code) into an answer.

        Raises:
            UsageError: there is no such problem.
        """
