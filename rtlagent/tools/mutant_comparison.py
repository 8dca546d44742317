"""Is a mutant that the tests let pass a different design at all?

Most that are different show it within some cycles of random inputs, which Icarus plays in a tenth of the time of the
quickest proof. Only those that show nothing are put to formal equivalence.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError, SandboxError, ToolMissingError, UsageError
from rtlagent.tools import icarus
from rtlagent.tools.formal import equiv
from rtlagent.tools.inspect import inspect
from rtlagent.tools.interface import PortShape, find_resets
from rtlagent.tools.mutant_stimuli import Pins, bench_text
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.simulation_job import execute, prepare
from rtlagent.types import Reset, SourceFile, Status, TestFile, TestKind
from rtlagent.verilog import DesignInfo, ModuleInfo

_DEPTH = 20
_ATTEMPT_CPU_S = 4
"""Of each of the prover's attempts: what they can decide, they decide in a fraction of it."""
_CPU_S = 5
"""Of a simulation; what was played until then counts."""
_WIDEST = 4096
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_EDGE = re.compile(r"\b(?:posedge|negedge)\s+([A-Za-z_]\w*)")
_VERILOG = (".v", ".sv", ".vh", ".svh")
_BENCH = "rtlagent_compare"


@dataclass(frozen=True)
class Comparer:
    """Compares mutants with the design that they were made of."""

    files: tuple[SourceFile, ...]
    data_files: tuple[SourceFile, ...]
    top: str
    reset: Reset | None
    config: ToolConfig
    pins: Pins | None
    """None: the design cannot be simulated; proofs alone decide."""
    played: tuple[str, ...] = ()
    """What the design's outputs were."""

    @classmethod
    def of(
        cls,
        files: Sequence[SourceFile],
        *,
        top: str,
        reset: Reset | None,
        config: ToolConfig,
        data_files: Sequence[SourceFile] = (),
    ) -> Comparer:
        """Prepare to compare with `files`.

        Raises:
            SandboxError, ToolMissingError: nothing could be run.
        """
        pins = _pins(files, top, reset, config)
        comparer = cls(tuple(files), tuple(data_files), top, reset, config, pins)
        return comparer if pins is None else replace(comparer, played=comparer._play(files, pins))

    def compare(self, changed: Sequence[SourceFile]) -> Status:
        """Return FAIL if the two differ, PASS if they are proven to be the same design, else UNPROVEN.

        Outputs differ where both are 0 or 1: an unknown may become either.

        Raises:
            SandboxError, ToolMissingError: nothing could be run.
        """
        if self.pins is not None and self.played:
            other = self._play(changed, self.pins)
            if any(_differ(a, b) for a, b in zip(self.played, other, strict=False)):
                return Status.FAIL
        try:
            step = equiv(
                self.files, changed, top=self.top, reset=self.reset, depth=_DEPTH, attempt_cpu_s=_ATTEMPT_CPU_S,
                config=self.config,
            )  # fmt: skip
        except UsageError:
            return Status.UNPROVEN  # the prover does not read this Verilog
        return step.status if step.status in (Status.PASS, Status.FAIL) else Status.UNPROVEN

    def _play(self, files: Sequence[SourceFile], pins: Pins) -> tuple[str, ...]:
        """Return a line of bits for each time that the outputs were read; none if it cannot be simulated."""
        mark = f"rtlagent-{secrets.token_hex(6)}"  # a design that prints cannot know it
        bench = TestFile(SourceFile(f"{_BENCH}.v", bench_text(_BENCH, self.top, pins, mark)), TestKind.SYSTEMVERILOG)
        limits = self.config.limits
        limits = replace(limits, cpu_s=min(limits.cpu_s, _CPU_S), wall_s=min(limits.wall_s, 8.0 * _CPU_S))
        config = replace(self.config, limits=limits)
        try:
            with scratch_folder() as folder:
                job = prepare(folder, files, [bench], top=_BENCH, seed=1, data_files=self.data_files)
                outcome = execute(job, icarus.plan(job, config=config), config=config)
        except (SandboxError, ToolMissingError):
            raise
        except RtlagentError:
            return ()
        if not outcome.built:
            return ()
        # Without `results`, which `execute` writes for names of its own.
        lines = (line.partition(f"{mark} ") for line in outcome.output.splitlines())
        return tuple(bits.strip() for before, found, bits in lines if found and not before)


def _differ(before: str, after: str) -> bool:
    """Say whether a bit that is 0 or 1 in both is another one."""
    return len(before) == len(after) and any(
        a != b and a in "01" and b in "01" for a, b in zip(before, after, strict=True)
    )


def _pins(files: Sequence[SourceFile], top: str, reset: Reset | None, config: ToolConfig) -> Pins | None:
    try:
        design = inspect(files, top=top, config=config)
    except (SandboxError, ToolMissingError):
        raise
    except RtlagentError:
        return None
    module = design.module(top)
    if module is None or not all(_is_plain(p.name, p.width, p.direction) for p in module.ports):
        return None
    inputs = tuple((p.name, p.width or 1) for p in module.ports if p.direction == "input")
    outputs = tuple((p.name, p.width or 1) for p in module.ports if p.direction == "output")
    if not inputs or not outputs:
        return None
    shapes = [PortShape(name, "input", width) for name, width in inputs]
    try:
        resets = find_resets(shapes, reset)
    except UsageError:
        return None
    clocks = _clocks(files, design, module) - {r.port for r in resets}
    return Pins(inputs, outputs, tuple(n for n, w in inputs if w == 1 and n in clocks), resets)


def _is_plain(name: str, width: int | None, direction: str) -> bool:
    return (
        _NAME.match(name) is not None
        and width is not None
        and 0 < width <= _WIDEST
        and direction in ("input", "output")
    )


def _clocks(files: Sequence[SourceFile], design: DesignInfo, module: ModuleInfo) -> set[str]:
    """Name the inputs of the top whose edges something waits for, there or below an instance of it."""
    edges = {name for f in files if f.path.endswith(_VERILOG) for name in _EDGE.findall(f.text)}
    found = {p.name for p in module.ports if p.name in edges}
    if not found:
        # The children call it something else.
        found = {c.text for i in module.instances for c in i.connections if c.port in edges}
    return found
