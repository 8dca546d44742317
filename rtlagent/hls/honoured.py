"""Say which directives were read but are not followed, each with the reason: no pragma is dropped without a word."""

from __future__ import annotations

from collections.abc import Sequence

from rtlagent.types import LoopReport

from .ir import Function, LoopDirectives, Module, Place
from .options import Remarks

_SHARED = frozenset({"mul", "sdiv", "udiv", "srem", "urem"})


def warn_unfollowed(module: Module, remarks: Remarks) -> None:
    """Warn about directives that no pass follows; before the passes, which drop what they have used."""
    for function in module.functions:
        _function(function, remarks)
        for block in function.blocks:
            if block.directives is not None and block.directives.dataflow:
                _dataflow("loop", block.directives.place, remarks)


def _dataflow(what: str, place: Place | None, remarks: Remarks) -> None:
    """Warn about a region inside another one, or beside one that was refused, unless it was that one."""
    if not remarks.spoke_of("DATAFLOW", place):
        text = f"#pragma HLS dataflow is not followed: the {what}'s parts run one after the other"
        remarks.warn("DATAFLOW", text, place, hint="merge the loops, or pipeline and unroll them")


def note_queues(module: Module, remarks: Remarks) -> None:
    """Say which streams are memories, because those who write and read them run one after the other."""
    for queue in module.queues:
        if queue.items.depth > queue.depth:
            text = f"the stream {queue.name} has room for {queue.items.depth} items: its parts run one after the other"
            remarks.note("STREAM_DEPTH", text, queue.items.place)


def _function(function: Function, remarks: Remarks) -> None:
    if function.dataflow:
        _dataflow("function", function.place, remarks)
    if function.pipeline_ii is not None:
        text = f"{function.name} is not pipelined from call to call: a call begins when the one before is done"
        remarks.warn("PIPELINE_FUNCTION", text, function.place, hint="put the pragma into a loop")
    for name in sorted(set(function.allocation) - _SHARED):
        text = f"#pragma HLS allocation of {name} is not followed: only multipliers and dividers are shared"
        remarks.warn("ALLOCATION", text, function.place)


def latency_wishes(module: Module) -> dict[str, LoopDirectives]:
    """Return the loops with a latency directive by label; before the passes."""
    found = [b.directives for f in module.functions for b in f.blocks if b.directives is not None]
    return {d.label: d for d in found if d.latency_min is not None or d.latency_max is not None}


def warn_latency(
    top: Function,
    wishes: dict[str, LoopDirectives],
    loops: Sequence[LoopReport],
    latency: tuple[int | None, int | None],
    remarks: Remarks,
) -> None:
    """Warn where a latency directive is not met by the schedule.

    Args:
        top: The top function.
        wishes: From `latency_wishes`.
        loops: What became of the loops.
        latency: Least and greatest of the top.
        remarks: Takes the warnings.
    """
    depths = {report.label: report.depth for report in loops}
    for label, wish in wishes.items():
        depth = depths.get(label)
        if depth is not None:
            _compare(f"an iteration of {label}", depth, depth, wish.latency_min, wish.latency_max, wish, remarks)
    least, most = latency
    if top.latency_min is not None or top.latency_max is not None:
        _compare(top.name, least, most, top.latency_min, top.latency_max, top, remarks)


def _compare(
    what: str,
    least: int | None,
    most: int | None,
    wanted_min: int | None,
    wanted_max: int | None,
    owner: Function | LoopDirectives,
    remarks: Remarks,
) -> None:
    if wanted_max is not None and (most is None or most > wanted_max):
        took = "an unbounded number of" if most is None else str(most)
        text = f"#pragma HLS latency max={wanted_max} is not met: {what} takes {took} cycles"
        remarks.warn("LATENCY", text, owner.place)
    if wanted_min is not None and least is not None and least < wanted_min:
        text = f"#pragma HLS latency min={wanted_min} is not met: {what} takes {least} cycles"
        remarks.warn("LATENCY", text, owner.place)
