"""From queues in memory back to streams: the counters go, an access of the items is a transfer.

```
%t = load 11 s_tail[0];  store s[%t] = %x;  store s_tail[0] = %t + 1     ->     write s, %x
```
"""

from __future__ import annotations

from collections.abc import Mapping

from rtlagent.hls.dataflow.regions import Part, Refusal
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Queue,
    Stream,
    Value,
    predecessors,
)


def is_opening(op: Op, queue: Queue) -> bool:
    """Tell whether an operation is part of what makes a queue empty at its declaration."""
    return op.opcode is Opcode.STORE and op.memory in (queue.head, queue.tail) and isinstance(op.args[0], Const)


def check_queue(queue: Queue, part: Part, function: Function) -> None:
    """Refuse what only a queue in memory can do.

    Raises:
        Refusal: the part asks how many items there are.
    """
    users: dict[Value, list[Op]] = {}
    for block in function.blocks:
        for op in block.ops:
            for value in op.operands():
                users.setdefault(value, []).append(op)
    for op in part.all_ops():
        if op.opcode is not Opcode.LOAD or op.memory not in (queue.head, queue.tail):
            continue
        if not _moves_on(op, users, queue):
            text = f"{part.name} asks the stream {queue.name} whether it is empty or full, which depends on the timing"
            raise Refusal(text, op.place, "use read() and write(), which wait")


def _moves_on(load: Op, users: dict[Value, list[Op]], queue: Queue) -> bool:
    """Tell whether a counter is only used to reach an item and to count on."""
    for user in users.get(load, []):
        after = users.get(user, [])
        if user.opcode is Opcode.TRUNC and all(u.memory is queue.items for u in after):
            continue
        counts = user.opcode is Opcode.ADD and all(u.opcode is Opcode.STORE and u.memory is load.memory for u in after)
        if not counts and user.memory is not queue.items:
            return False
    return True


def raise_queue(blocks: list[Block], queue: Queue, stream: Stream) -> None:
    """Make transfers of the accesses of a queue, in place."""
    ends: set[Memory] = {queue.head, queue.tail}
    gone: set[Value] = set()
    for block in blocks:
        kept = []
        for op in block.ops:
            if op.memory in ends:
                gone.add(op)
                continue
            if op.memory is queue.items:
                op.opcode = Opcode.READ if op.opcode is Opcode.LOAD else Opcode.WRITE
                op.args = op.args[:1] if op.opcode is Opcode.WRITE else []
                op.memory, op.stream = None, stream
            kept.append(op)
        block.ops = kept
    for block in blocks:
        kept = []
        for op in block.ops:
            if gone.intersection(op.args):
                gone.add(op)  # the place of an item, or the counter's next value
            else:
                kept.append(op)
        block.ops = kept


def drop_openings(blocks: list[Block], queue: Queue) -> None:
    """Remove what makes a queue empty."""
    for block in blocks:
        block.ops = [op for op in block.ops if not is_opening(op, queue)]


def drop_guards(module: Module) -> None:
    """Remove what makes `static` streams empty in the first call: they start empty.

    ```
    %g = load 8 made[0];  branch %g == 0, first, on      first: store s_head[0] = 0;  store made[0] = 1;  jump on
    ```
    """
    static = {m for q in module.queues for m in (q.head, q.tail) if m.kind is MemoryKind.STATIC}
    for function in module.functions:
        sources = predecessors(function)
        for block in function.blocks:
            guarded = _guarded(block, sources, static)
            if guarded is None:
                continue
            chain, condition, load = guarded
            assert isinstance(block.terminator, Branch)
            block.terminator = Jump(block.terminator.other)
            block.ops = [op for op in block.ops if op not in (condition, load)]
            function.blocks = [b for b in function.blocks if b not in chain]
            module.inlined = [i for i in module.inlined if i.first not in chain]
    used = {op.memory for f in module.functions for b in f.blocks for op in b.ops}
    guards = [m for m in module.memories if m not in used and m.kind is MemoryKind.STATIC and m not in static]
    module.memories = [m for m in module.memories if m not in guards or any(m is q.items for q in module.queues)]


def _guarded(
    block: Block, sources: Mapping[Block, list[Block]], static: set[Memory]
) -> tuple[list[Block], Op, Op] | None:
    """Return the blocks that run once only to open static streams, with the condition and the load that ask for it."""
    end = block.terminator
    if not isinstance(end, Branch) or not isinstance(end.condition, Op) or end.condition.opcode is not Opcode.EQ:
        return None
    condition = end.condition
    load, zero = condition.args
    if not isinstance(load, Op) or load.opcode is not Opcode.LOAD or not isinstance(zero, Const) or zero.value:
        return None
    if end.other.phis or load not in block.ops or condition not in block.ops:
        return None
    chain: list[Block] = []
    before, here = block, end.then
    while here is not end.other:
        jump = here.terminator
        if sources[here] != [before] or here.phis or not isinstance(jump, Jump):
            return None
        chain.append(here)
        before, here = here, jump.target
    ops = [op for b in chain for op in b.ops]
    opened = {op.memory for op in ops if op.opcode is Opcode.STORE and isinstance(op.args[0], Const)}
    known = len(opened) > 1 and load.memory in opened and opened - {load.memory} <= static
    return (chain, condition, load) if known and all(op.opcode is Opcode.STORE for op in ops) else None
