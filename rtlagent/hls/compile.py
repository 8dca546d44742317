"""The whole way from a C function to a Verilog module."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rtlagent.errors import CSourceError
from rtlagent.types import Diagnostic, LoopReport, LoopSchedule, Metrics, SourceFile

from .bind import Binding, bind
from .emit import Piece, as_file, emit_piece
from .emit.names import legal
from .estimate.features import Features
from .honoured import latency_wishes, note_queues, warn_latency, warn_unfollowed
from .interface import Argument, Interface
from .ir import Function, Memory, Module
from .options import Clang, HlsOptions, Remarks

if TYPE_CHECKING:
    from .dataflow import Outlined
    from .schedule.plan import FunctionPlan
    from .schedule.report import Bounds

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
    schedules: tuple[LoopSchedule, ...] = ()
    """When the operations of each loop run, in source order."""
    dump: str = ""
    """The IR after the pass that `options.dump_after` names."""


def compile_c(source: SourceFile, options: HlsOptions, clang: Clang) -> HlsResult:
    """Compile the function `options.top` of a C file.

    Raises:
        CSourceError: it does not compile, or something in it cannot become hardware.
        ToolError: clang could not be run.
    """
    # Imported here: llvmlite takes a noticeable part of a second.
    from .dataflow import Refusal

    whole: frozenset[str] = frozenset()
    with _without_collection():
        while True:
            remarks = Remarks()
            try:
                return _Compilation(source, options, clang, remarks, whole).run()
            except Refusal as refused:
                refusal = refused
            if not refusal.array or refusal.array in whole:
                break
            whole |= {refusal.array}
        remarks = Remarks()
        line = f" (line {refusal.place.line})" if refusal.place is not None else ""
        text = f"#pragma HLS dataflow is not followed for {refusal.what}: {refusal.reason}{line}"
        remarks.warn("DATAFLOW", text, refusal.where, hint=refusal.hint)
        return _Compilation(source, replace(options, dataflow=False), clang, remarks).run()


@dataclass(frozen=True)
class _Hardware:
    """A module on its way to Verilog."""

    module: Module
    plans: dict[Function, FunctionPlan]
    binding: Binding
    storage: dict[Memory, str]


class _Compilation:
    """One attempt."""

    def __init__(
        self,
        source: SourceFile,
        options: HlsOptions,
        clang: Clang,
        remarks: Remarks,
        whole: frozenset[str] = frozenset(),
    ) -> None:
        self.whole = whole
        self.source = source
        self.options = options
        self.clang = clang
        self.remarks = remarks
        self.dumped: list[str] = []

    def run(self) -> HlsResult:
        """Compile.

        Raises:
            Refusal: a dataflow region cannot be had.
        """
        from .estimate import count, estimate
        from .frontend import lower

        options, remarks = self.options, self.remarks
        lowered = lower(self.source, options, self.clang, remarks)
        module = lowered.module
        _check_sizes(module, self.source.path)
        self._after("frontend", module)
        wishes = latency_wishes(module)
        regions = self._regions(module)
        for part in (module, *(p.module for r in regions for p in r.processes)):
            note_queues(part, remarks)
            warn_unfollowed(part, remarks)
        hardware = self._schedule(module)
        inner = [[self._schedule(p.module) for p in r.processes] for r in regions]
        loops, least, most = self._report(hardware, regions, inner)
        warn_latency(module.top, wishes, loops, (_after_start(least), _after_start(most)), remarks)
        header = (
            f"{legal(options.top)}: compiled from {self.source.path} for {options.clock_ns:g} ns on {options.target}"
        )
        name = legal(options.top)
        piece = self._emit(hardware, f"{name}_control" if regions else name, lowered.arguments)
        features = self._count(count, hardware, inner, regions)
        if regions:
            from .emit.composition import compose

            pieces = [
                (r, [self._emit(h, legal(p.module.top.name), ()) for p, h in zip(r.processes, made, strict=True)])
                for r, made in zip(regions, inner, strict=True)
            ]
            piece = compose(name, module, piece, pieces, read_first=self._read_first())
        emitted = as_file(piece, module, header)
        return HlsResult(
            design=SourceFile(f"rtl/{name}.v", emitted.verilog),
            interface=emitted.interface,
            loops=tuple(loops),
            latency_min_cycles=_after_start(least),
            latency_max_cycles=_after_start(most),
            estimate=estimate(features, options.target),
            features=features,
            schedules=self._timetables([hardware, *(h for made in inner for h in made)]),
            diagnostics=tuple(remarks.diagnostics),
            dump="\n".join(self.dumped),
        )

    def _after(self, name: str, module: Module) -> None:
        from .text import dump

        if self.options.dump_after == name:
            self.dumped.append(dump(module))

    def _read_first(self) -> bool:
        from .schedule.technology import TECHNOLOGIES

        return TECHNOLOGIES[self.options.target].read_first

    def _regions(self, module: Module) -> list[Outlined]:
        """Take the dataflow regions out of a module."""
        from .dataflow import split

        if not self.options.dataflow:
            return []
        for memory in module.memories:
            if memory.name in self.whole:
                text = f"{memory.name} is not partitioned: the parts on both sides would divide it differently"
                self.remarks.warn("PARTITION", text, memory.place)
        text, path = self.source.text, self.source.path
        return split(module, text, path, self.remarks, read_first=self._read_first(), whole=self.whole)

    def _schedule(self, module: Module) -> _Hardware:
        from .schedule import schedule
        from .schedule.storage import storage_of
        from .transform import run_all

        run_all(module, self.options, self.remarks, self._after)
        plans = schedule(module, self.options, self.remarks)
        storage: dict[Memory, str] = {m: storage_of(m) for m in module.memories}
        return _Hardware(module, plans, bind(module, plans), storage)

    def _emit(self, hardware: _Hardware, name: str, arguments: tuple[Argument, ...]) -> Piece:
        made = (hardware.module, hardware.plans, hardware.binding)
        return emit_piece(*made, arguments=arguments, storage=hardware.storage, name=name)

    def _report(
        self, hardware: _Hardware, regions: list[Outlined], inner: list[list[_Hardware]]
    ) -> tuple[list[LoopReport], int | None, int | None]:
        """Return the rows of all loops, and the bounds of the whole."""
        from .dataflow.latency import region_report
        from .schedule.report import report_loops

        loops: list[LoopReport] = []
        waits: dict[Function, Bounds] = {}
        rows: dict[str, LoopReport] = {}
        for region, made in zip(regions, inner, strict=True):
            bounds: list[Bounds] = []
            for part in made:
                found, least, most = report_loops(part.module, part.plans)
                loops += found
                bounds.append((least, most))
            waits[region.wait], row = region_report(region, bounds)
            rows |= {row.label: row} if row is not None else {}
        own, least, most = report_loops(hardware.module, hardware.plans, waits)
        loops += [_with_turns(r, rows[r.label]) if r.label in rows else r for r in own]
        loops.sort(key=lambda r: (r.line, r.label))
        return loops, least, most

    def _timetables(self, modules: list[_Hardware]) -> tuple[LoopSchedule, ...]:
        from .schedule.timetable import timetables

        found = [t for h in modules for t in timetables(h.module, h.plans, self.options.clock_ns)]
        return tuple(sorted(found, key=lambda t: (t.line, t.label)))

    def _count(
        self,
        count: Callable[..., Features],
        hardware: _Hardware,
        inner: list[list[_Hardware]],
        regions: list[Outlined],
    ) -> Features:
        """Count what all modules consist of, with the channels between them."""
        target = self.options.target
        features = Features()
        for made in (hardware, *(h for region in inner for h in region)):
            features = features + count(made.module, made.plans, made.binding, made.storage, target)
        for region in regions:
            for array in region.plan.arrays:
                copies = 2 if array.doubled else 1
                features.add_storage(copies, array.memory.depth, array.memory.width, target)
            for fifo in region.plan.fifos:
                features.add_storage(1, fifo.depth, fifo.queue.items.width, target)
        return features


def _with_turns(own: LoopReport, row: LoopReport) -> LoopReport:
    """Return the report of a loop whose iterations are turns of processes."""
    return replace(row, trip_count=own.trip_count, target_ii=own.target_ii, line=own.line)


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
