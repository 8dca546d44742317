"""The scheduling problem of one block: operations by number, with what each has to wait for.

```
%a = load x[%i]      0: latency 1
%b = add %a, %s      1: operand 0 (data: chained if it is ready in the same cycle)
store x[%i] = %b     2: operand 1; after 0 (order: not before its cycle)
%s.next = %b         1 of the next iteration: operand 1 of this one (order: at least its cycle + 1 - ii)
```
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rtlagent.hls.analysis.dependence import WRITE_AFTER_READ, Dependence
from rtlagent.hls.ir import Block, Branch, Memory, Op, Phi, Stream, Switch, Value

from .delays import Delays, OpTiming

Reason = Phi | Memory | Stream | None
"""What a recurrence goes through."""


@dataclass
class Graph:
    """Operations are numbers in program order; every list is indexed by them."""

    block: Block
    ops: list[Op]
    number: dict[Op, int]
    timing: list[OpTiming]
    data_in: list[list[tuple[int, float]]]
    """(operand, ns to add on its way here)."""
    data_out: list[list[int]]
    order_in: list[list[tuple[int, int, int, Reason]]]
    """(before, cycles, distance, reason): cycle >= cycle of before + cycles - distance * ii."""
    order_out: list[list[int]]
    condition: int | None = None
    """The operation that the terminator asks for, if it is in this block."""
    condition_next: int | None = None
    """If a phi of this pipelined loop is its condition: what computes the phi's next value."""
    back_edges: int = 0
    """How many orders have a distance."""
    tails: list[float] = field(default_factory=list)
    """What must still fit into the cycle behind each result."""


def build(block: Block, dependences: list[Dependence], delays: Delays, *, pipelined: bool, skip: Op | None) -> Graph:
    """Return the problem of a block.

    Args:
        block: Its operations are in program order.
        dependences: As `analysis.dependence` finds them; those with a distance only count if `pipelined`.
        delays: Of the target.
        pipelined: Whether phis are fed by the iteration before.
        skip: An operation that is not scheduled with the others: the one that the block waits for.
    """
    ops = [op for op in block.ops if op is not skip]
    number = {op: n for n, op in enumerate(ops)}
    tails = _tails(block, ops, delays, pipelined=pipelined)
    timing = [delays.timing(op, tail_ns=tails[n]) for n, op in enumerate(ops)]
    count = len(ops)
    graph = Graph(
        block,
        ops,
        number,
        timing,
        [[] for _ in range(count)],
        [[] for _ in range(count)],
        [[] for _ in range(count)],
        [[] for _ in range(count)],
        tails=tails,
    )
    _connect_operands(graph, delays, pipelined=pipelined)
    for dependence in dependences:
        if dependence.distance and not pipelined:
            continue
        source, sink = number.get(dependence.source), number.get(dependence.sink)
        if source is not None and sink is not None:
            _add_order(graph, source, sink, _cycles(dependence), dependence.distance, _place(dependence.source))
    _find_condition(graph, pipelined=pipelined)
    return graph


def _cycles(dependence: Dependence) -> int:
    """Return the least distance in cycles: mostly, a store in the cycle of an earlier load does not disturb it."""
    memory = dependence.source.memory
    if dependence.kind == WRITE_AFTER_READ:
        return 0 if memory is None or memory.read_first else 1
    if dependence.source.stream is not None and dependence.source.stream is not dependence.sink.stream:
        return 0
    return 1


def _place(op: Op) -> Reason:
    return op.memory or op.stream


def _add_order(graph: Graph, source: int, sink: int, cycles: int, distance: int, reason: Reason) -> None:
    graph.order_in[sink].append((source, cycles, distance, reason))
    graph.order_out[source].append(sink)
    graph.back_edges += distance > 0


def _connect_operands(graph: Graph, delays: Delays, *, pipelined: bool) -> None:
    block, number = graph.block, graph.number
    for n, op in enumerate(graph.ops):
        for position, value in enumerate(op.operands()):
            if isinstance(value, Op) and value in number:
                source = number[value]
                graph.data_in[n].append((source, delays.edge(value, op, position)))
                graph.data_out[source].append(n)
            elif pipelined and isinstance(value, Phi):
                following = value.incoming.get(block)
                if isinstance(following, Op) and following in number:
                    source = number[following]
                    _add_order(graph, source, n, graph.timing[source].latency + 1, 1, value)


def _find_condition(graph: Graph, *, pipelined: bool) -> None:
    value = asked_value(graph.block)
    if isinstance(value, Op):
        graph.condition = graph.number.get(value)
    elif pipelined and isinstance(value, Phi):
        following = value.incoming.get(graph.block)
        if isinstance(following, Op):
            graph.condition_next = graph.number.get(following)


def asked_value(block: Block) -> Value | None:
    """Return what a block's terminator decides by."""
    end = block.terminator
    if isinstance(end, Branch):
        return end.condition
    return end.value if isinstance(end, Switch) else None


def _tails(block: Block, ops: list[Op], delays: Delays, *, pipelined: bool) -> list[float]:
    """Return for each result what lies behind it in its cycle: a register, multiplexers of phis, the next state."""
    t = delays.technology
    tails: dict[Value, float] = {}
    for target in block.successors():
        if pipelined and target is not block:
            continue  # other blocks read registers
        for phi in target.phis:
            value = phi.incoming.get(block)
            if isinstance(value, Op):
                behind = t.setup + delays.select_from(len(phi.incoming))
                tails[value] = max(tails.get(value, 0.0), behind)
    value = asked_value(block)
    if isinstance(value, Op):
        behind = t.setup + t.select + (t.equal if isinstance(block.terminator, Switch) else 0.0)
        tails[value] = max(tails.get(value, 0.0), behind)
    return [tails.get(op, t.setup) for op in ops]
