"""The whole way from a C function to a Verilog module."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rtlagent.errors import CSourceError
from rtlagent.types import Diagnostic, LoopReport, LoopSchedule, Metrics, SourceFile

from .bind import bind
from .emit import emit
from .emit.names import legal
from .estimate.features import Features
from .honoured import latency_wishes, warn_latency, warn_unfollowed
from .interface import Interface
from .ir import Memory, Module
from .options import Clang, HlsOptions, Remarks

_MOST_ELEMENTS, _MOST_BITS = 1 << 21, 1 << 26
"""Of an array; the largest 7-series part holds 68 Mbit in block RAM."""


@dataclass(frozen=True)
class HlsResult:
    """A compiled function."""

    design: SourceFile
    """`rtl/TOP.v`, one file with everything."""
    interface: Interface
    loops: tuple[LoopReport, ...]
    """In source order."""
    latency_min_cycles: int | None
    """From ap_start to ap_done; None: not bounded by constants or loop_tripcount."""
    latency_max_cycles: int | None
    estimate: Metrics
    """Before synthesis; its calibration is in benchmarks/perf."""
    diagnostics: tuple[Diagnostic, ...]
    """Warnings and notes, such as pragmas that could not be honoured."""
    features: Features | None = None
    """What the estimate was made of."""
    dump: str = ""
    """The IR after the pass that `options.dump_after` names."""
    schedules: tuple[LoopSchedule, ...] = ()
    """When the operations of each loop run, in source order."""


def compile_c(source: SourceFile, options: HlsOptions, clang: Clang) -> HlsResult:
    """Compile the function `options.top` of a C file.

    Raises:
        CSourceError: it does not compile, or something in it cannot become hardware.
        ToolError: clang could not be run.
    """
    # Imported here: llvmlite takes a noticeable part of a second.
    from .estimate import count, estimate
    from .frontend import lower
    from .schedule import schedule
    from .schedule.report import report_loops
    from .schedule.storage import storage_of
    from .schedule.timetable import timetables
    from .text import dump
    from .transform import run_all

    remarks = Remarks()
    dumped: list[str] = []

    def after(name: str, module: Module) -> None:
        if options.dump_after == name:
            dumped.append(dump(module))

    with _without_collection():
        lowered = lower(source, options, clang, remarks)
        module = lowered.module
        _check_sizes(module, source.path)
        after("frontend", module)
        warn_unfollowed(module, remarks)
        wishes = latency_wishes(module)
        run_all(module, options, remarks, after)
        plans = schedule(module, options, remarks)
        binding = bind(module, plans)
        storage: dict[Memory, str] = {m: storage_of(m) for m in module.memories}
        loops, least, most = report_loops(module, plans)
        schedules = timetables(module, plans, options.clock_ns)
        warn_latency(module.top, wishes, loops, (_after_start(least), _after_start(most)), remarks)
        header = f"{legal(options.top)}: compiled from {source.path} for {options.clock_ns:g} ns on {options.target}"
        emitted = emit(module, plans, binding, arguments=lowered.arguments, storage=storage, header=header)
        features = count(module, plans, binding, storage, options.target)
    return HlsResult(
        design=SourceFile(f"rtl/{legal(options.top)}.v", emitted.verilog),
        interface=emitted.interface,
        loops=tuple(loops),
        latency_min_cycles=_after_start(least),
        latency_max_cycles=_after_start(most),
        estimate=estimate(features, options.target),
        features=features,
        diagnostics=tuple(remarks.diagnostics),
        dump="\n".join(dumped),
        schedules=schedules,
    )


def _check_sizes(module: Module, path: str) -> None:
    """Refuse arrays that no chip holds; each element of an array is handled here, too."""
    for memory in module.memories:
        if memory.depth <= _MOST_ELEMENTS and memory.depth * memory.width <= _MOST_BITS:
            continue
        where = f"{memory.place.path}:{memory.place.line}" if memory.place else path
        what = f"{memory.argument or memory.name} has {memory.depth} elements of {memory.width} bits"
        hint = f"at most {_MOST_ELEMENTS} elements and {_MOST_BITS >> 20} Mbit fit; work on a part of it at a time"
        raise CSourceError(f"{what}: more than a chip holds", where=where, hint=hint)


def _after_start(states: int | None) -> int | None:
    """Return how many cycles after ap_start's cycle ap_done comes, for a path through so many states."""
    return None if states is None else max(states, 2) - 1


@contextmanager
def _without_collection() -> Iterator[None]:
    """Keep the cyclic garbage collector still: a compilation makes many long-lived objects and little garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
