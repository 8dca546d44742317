"""`#pragma HLS dataflow`: parts of a function or of a loop's body that run at the same time, as modules of their own.

```
load(in, a);  scale(a, s);  store(s, out);     ->     three modules, two buffers for `a`, a FIFO for `s`, a controller
```

It runs before all passes, while the calls that were inlined are still known. What does not have the canonical form
(Vitis HLS, "dataflow regions") is refused as a whole: the program is then compiled without dataflow.
"""

from __future__ import annotations

from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.dataflow.canonical import Plan, analyse
from rtlagent.hls.dataflow.outline import Outlined, outline
from rtlagent.hls.dataflow.queues import drop_guards
from rtlagent.hls.dataflow.regions import Refusal, find_regions
from rtlagent.hls.dataflow.scopes import Scopes
from rtlagent.hls.ir import Function, Module
from rtlagent.hls.options import Remarks
from rtlagent.hls.transform.cloning import insert_block

__all__ = ["Outlined", "Refusal", "split"]


def split(
    module: Module,
    text: str,
    path: str,
    remarks: Remarks,
    *,
    read_first: bool,
    whole: frozenset[str] = frozenset(),
) -> list[Outlined]:
    """Take every region that asks for dataflow out of a module fresh from the front end.

    Args:
        module: Changed in place.
        text: The C source, for where things are declared.
        path: Of the source.
        remarks: Gets what became of each region.
        read_first: See `Memory.read_first`; of the memories between the processes.
        whole: Names of arrays between processes that are not to be partitioned.

    Raises:
        Refusal: a region does not have the canonical form; the module is spoilt then.
    """
    found: list[Outlined] = []
    if module.inlined or any(_asks(f) for f in module.functions):
        drop_guards(module)
        for function in module.functions:
            _part_loops(function)
    scopes = Scopes(text, path)
    while regions := find_regions(module):
        region, refusal = regions[0]
        if refusal is None and region.function is not module.top:
            refusal = Refusal(f"{region.function.name} is a function that is shared by several calls", region.place)
        if refusal is not None:
            refusal.where, refusal.what = region.place, f"{region.what} {region.name}"
            raise refusal
        try:
            plan = analyse(module, region, scopes, remarks)
        except Refusal as refused:
            refused.where, refused.what = region.place, f"{region.what} {region.name}"
            raise
        for channel in plan.arrays:
            if channel.memory.name in whole:
                channel.memory.partitions = []
        number = len(found) + 1
        prefix = module.top.name if number == 1 else f"{module.top.name}_{number}"
        made = outline(module, plan, number, prefix, read_first=read_first)
        module.top.dataflow = module.top.dataflow and region.what != "function"
        found.append(made)
        remarks.note("DATAFLOW", _told(plan), region.place)
    return found


def _asks(function: Function) -> bool:
    headers = [b.directives for b in function.blocks if b.directives is not None]
    return function.dataflow or any(d.dataflow for d in headers)


def _part_loops(function: Function) -> None:
    """Give each loop a block of its own before it: where one ends and the next begins, no value belongs to both."""
    for loop in find_loops(function):
        if loop.preheader is None and loop.entries:
            insert_block(function, f"{loop.header.name}_entry", list(loop.entries), loop.header)


def _told(plan: Plan) -> str:
    region = plan.region
    channels = [f"{c.memory.name} ({'two buffers' if c.doubled else 'one buffer'})" for c in plan.arrays]
    channels += [f"{f.queue.name} (FIFO of {f.depth})" for f in plan.fifos]
    between = f"; between them {', '.join(channels)}" if channels else "; nothing between them"
    return f"{region.what} {region.name}: {', '.join(p.name for p in plan.parts)} run at the same time{between}"
