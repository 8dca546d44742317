"""Take a planned region apart: a module for each part, and in its place the controller's start and wait.

```
load(i, a);  store(a, i);      ->     call start(%i)   (and behind the loop: call wait())
                                      module load(i): writes a          module store(i): reads a
```

`start` writes the scalars into the stream `go`, from which every process takes its own; `wait` reads from the stream
`back`, which has an item when all processes are at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rtlagent.hls.dataflow.canonical import Plan, StreamChannel
from rtlagent.hls.dataflow.queues import drop_openings, raise_queue
from rtlagent.hls.dataflow.regions import Part, callees
from rtlagent.hls.ir import (
    Block,
    Const,
    Function,
    Inlined,
    Jump,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Place,
    Return,
    Stream,
    Value,
)
from rtlagent.hls.transform.cloning import clone_blocks, clone_op, rename_incoming, retarget


@dataclass(eq=False)
class Process:
    """A part as a module of its own."""

    part: Part
    module: Module
    inputs: list[Value]
    """The values outside that its parameters stand for, in order."""
    outputs: list[Value]
    """The values of the part that its result is made of, the first one lowest."""
    memories: dict[Memory, Memory] = field(default_factory=dict)
    """Memory outside -> its own name for it."""
    fifos: dict[StreamChannel, Stream] = field(default_factory=dict)


@dataclass(eq=False)
class Outlined:
    """A region that was taken out of its module."""

    plan: Plan
    processes: list[Process]
    go: Stream
    """Of the controller: what `sent` holds, the first one lowest."""
    back: Stream
    """Of the controller: a zero, then what `plan.results` holds."""
    sent: list[Value]
    start: Function
    wait: Function


def outline(module: Module, plan: Plan, number: int, prefix: str, *, read_first: bool) -> Outlined:
    """Take the region out of the module, which keeps a start and a wait.

    Args:
        module: Changed in place.
        plan: What becomes of the region.
        number: Of the region in the module.
        prefix: Of the processes' names.
        read_first: See `Memory.read_first`; of the memories between the processes.
    """
    processes = [_Outliner(module, plan, part, prefix, read_first).run() for part in plan.parts]
    home = {v: p for p in plan.parts for v in p.defines()}
    sent = list(dict.fromkeys(v for p in processes for v in p.inputs if v not in home))
    suffix = "" if number == 1 else f"_{number}"
    go = Stream(f"dataflow_go{suffix}", max(1, sum(plan.bits(v) for v in sent)), kind="output")
    back = Stream(f"dataflow_back{suffix}", 1 + sum(v.width for v in plan.results), kind="input")
    module.streams += [go, back]
    start = _start(f"dataflow_start{suffix}", go, plan, sent)
    wait = _wait(f"dataflow_wait{suffix}", back, plan)
    module.functions += [start, wait]
    _replace(module, plan, start, wait, sent)
    gone = set(plan.private) | {m for c in plan.arrays if c.doubled for m in (c.memory,)}
    gone |= {m for f in plan.fifos for m in (f.queue.items, f.queue.head, f.queue.tail)}
    for fifo in plan.fifos:
        for function in module.functions:
            drop_openings(function.blocks, fifo.queue)
    module.memories = [m for m in module.memories if m not in gone]
    module.queues = [q for q in module.queues if q.items not in gone]
    inside = set(plan.region.blocks)
    module.inlined = [i for i in module.inlined if i.first not in inside]
    called = {module.top, *callees([op for b in module.top.blocks for op in b.ops])}
    module.functions = [f for f in module.functions if f in called]
    return Outlined(plan, processes, go, back, sent, start, wait)


def joined(block: Block, values: list[Value], place: Place | None = None) -> Value:
    """Append operations that put values side by side, the first one lowest."""
    width = max(1, sum(v.width for v in values))
    total: Value | None = None
    low = 0
    for value in values:
        wide: Value = value
        if value.width < width:
            wide = Op(Opcode.ZEXT, width, [value], place=place)
            block.ops.append(wide)
        if low:
            wide = Op(Opcode.SHL, width, [wide, Const(low, 16)], place=place)
            block.ops.append(wide)
        if total is not None:
            wide = Op(Opcode.OR, width, [total, wide], place=place)
            block.ops.append(wide)
        total, low = wide, low + value.width
    return total if total is not None else Const(0, width)


def parted(block: Block, whole: Value, low: int, width: int) -> Value:
    """Append operations that take some bits out of a value."""
    if low:
        whole = Op(Opcode.LSHR, whole.width, [whole, Const(low, 16)])
        block.ops.append(whole)
    if whole.width > width:
        whole = Op(Opcode.TRUNC, width, [whole])
        block.ops.append(whole)
    return whole


def _start(name: str, go: Stream, plan: Plan, sent: list[Value]) -> Function:
    function = Function(name, [Param(f"go_{n}", v.width) for n, v in enumerate(sent)])
    block = Block("entry")
    taken = [parted(block, p, 0, plan.bits(v)) for p, v in zip(function.params, sent, strict=True)]
    item = joined(block, taken)
    block.ops.append(Op(Opcode.WRITE, 0, [item], stream=go))
    block.terminator = Return()
    function.blocks = [block]
    return function


def _wait(name: str, back: Stream, plan: Plan) -> Function:
    """Return the function that waits; it shares no array with what is around it, so that its place alone matters."""
    width = sum(v.width for v in plan.results)
    function = Function(name, width=width)
    block = Block("entry")
    item = Op(Opcode.READ, back.width, [], stream=back)
    block.ops.append(item)
    result = parted(block, item, 1, width) if width else None
    after = Block("after")
    block.terminator = Jump(after)
    after.terminator = Return(result)
    function.blocks = [block, after]
    return function


def _replace(module: Module, plan: Plan, start: Function, wait: Function, sent: list[Value]) -> None:
    """Put the calls where the region was."""
    region, function = plan.region, plan.region.function
    early = [op for op in region.glue if op not in set(plan.late)]
    block = Block(f"dataflow_{region.name}")
    begin = Op(Opcode.CALL, 0, list(sent), callee=start, place=region.place)
    end = Op(Opcode.CALL, wait.width, [], callee=wait, place=region.place)
    if region.loop is not None:
        header = region.loop.header
        (latch,) = region.loop.latches
        (body,) = [t for t in header.successors() if t in region.loop]
        (_, leaving) = region.loop.exits[0]
        block.ops = [*(op for op in early if op not in set(header.ops)), begin]
        block.terminator = Jump(header)
        done = Block(f"{block.name}_done")
        done.ops, done.terminator = [end], Jump(leaving)
        at = function.blocks.index(body)
        function.blocks[at:at] = [block, done]
        retarget(header, body, block)
        retarget(header, leaving, done)
        rename_incoming(header, latch, block)
        rename_incoming(leaving, header, done)
        header.directives = replace(header.directives, dataflow=False) if header.directives else None
        gone = set(region.blocks) - {header}
        function.blocks = [b for b in function.blocks if b not in gone]
        return
    assert region.first is not None
    block.ops = [*early, begin, end]
    values: dict[Value, Value] = {}
    low = 0
    for value in plan.results:
        values[value] = parted(block, end, low, value.width)
        low += value.width
    block.ops += plan.late
    inside = set(region.blocks)
    block.terminator = Return(region.result) if region.after is None else Jump(region.after)
    at = function.blocks.index(region.first)
    for other in function.blocks:
        if other not in inside:
            retarget(other, region.first, block)
    if region.after is not None:
        for last in inside:
            rename_incoming(region.after, last, block)
    function.blocks.insert(at, block)
    function.blocks = [b for b in function.blocks if b not in inside]
    _use(function, values)


def _use(function: Function, values: dict[Value, Value]) -> None:
    from rtlagent.hls.ir import replace_uses

    replace_uses(function, values)


class _Outliner:
    def __init__(self, module: Module, plan: Plan, part: Part, prefix: str, read_first: bool) -> None:
        self.outer = module
        self.plan = plan
        self.part = part
        self.read_first = read_first
        self.between = {c.memory for c in plan.arrays}
        self.name = f"{prefix}_{part.name}"
        self.values: dict[Value, Value] = {}
        self.blocks: dict[Block, Block] = {}
        self.inlined: list[Inlined] = []

    def run(self) -> Process:
        """Return the process."""
        plan, part = self.plan, self.part
        inputs = plan.inputs[part]
        function = Function(self.name, place=part.place)
        entry, done = Block("entry"), Block("done")
        for number, value in enumerate(inputs):
            name = value.name if isinstance(value, Op | Phi | Param) and value.name else "value"
            param = Param(f"p{number}_{name}", plan.bits(value))
            self.values[value] = param
            function.params.append(param)
            if param.width < value.width:
                whole = Op(Opcode.ZEXT, value.width, [param], name=value.name if isinstance(value, Phi) else "")
                entry.ops.append(whole)
                self.values[value] = whole
        for op in plan.repeated[part]:
            entry.ops.append(clone_op(op, self.values))
        if part.blocks:
            self._blocks(function, entry, done)
        else:
            entry.ops += [clone_op(op, self.values) for op in part.ops]
            entry.terminator = Jump(done)
        outputs = plan.outputs[part]
        function.width = sum(v.width for v in outputs)
        result = joined(done, [self.values[v] for v in outputs], part.place) if outputs else None
        done.terminator = Return(result)
        function.blocks = [entry, *(self.blocks[b] for b in part.blocks), done]
        self._settings(function)
        module = Module(function, [function, *self._functions(function)])
        process = Process(part, module, inputs, outputs)
        self._memories(process)
        self._streams(process)
        module.inlined = self.inlined
        return process

    def _blocks(self, function: Function, entry: Block, done: Block) -> None:
        part = self.part
        first, inside = part.blocks[0], set(part.blocks)
        assert part.after is not None
        self.blocks[part.after] = done
        for phi in first.phis:
            for source in phi.incoming:
                if source not in inside:
                    self.blocks[source] = entry
        clone_blocks(part.blocks, self.values, self.blocks, "")
        entry.terminator = Jump(self.blocks[first])
        if part.merges:
            for phi in part.after.phis:
                twin = Phi(phi.width, name=phi.name, place=phi.place)
                twin.incoming = {self.blocks[b]: self.values.get(v, v) for b, v in phi.incoming.items()}
                done.phis.append(twin)
                self.values[phi] = twin
        for call in self.outer.inlined:
            if call.first in inside and call.first is not first:
                self.inlined.append(
                    replace(call, function=function, first=self.blocks[call.first], after=self.blocks[call.after])
                )
            elif call.first is first and call.dataflow is not None and call.after is part.after:
                self.inlined.append(replace(call, function=function, first=self.blocks[first], after=done))

    def _settings(self, function: Function) -> None:
        outer = self.plan.region.function
        function.allocation = dict(outer.allocation)
        function.bind_ops = dict(outer.bind_ops)

    def _functions(self, function: Function) -> list[Function]:
        """Copy the functions that the process calls, each process having its own."""
        wanted = callees([op for b in function.blocks for op in b.ops])
        position = {f: n for n, f in enumerate(self.outer.functions)}
        wanted.sort(key=lambda f: position[f])
        copies: dict[Function, Function] = {}
        for original in wanted:
            copy = replace(original, params=[], blocks=[])
            values: dict[Value, Value] = {}
            for param in original.params:
                twin = Param(param.name, param.width, signed=param.signed, place=param.place)
                values[param] = twin
                copy.params.append(twin)
            copy.blocks = clone_blocks(original.blocks, values, {}, "")
            copies[original] = copy
        for made in (function, *copies.values()):
            for block in made.blocks:
                for op in block.ops:
                    if op.callee is not None:
                        op.callee = copies[op.callee]
        return list(copies.values())

    def _ops(self, module: Module) -> list[Op]:
        return [op for f in module.functions for b in f.blocks for op in b.ops]

    def _memories(self, process: Process) -> None:
        plan, module = self.plan, process.module
        for queue in plan.reopened.get(self.part, []):
            opening = [
                Op(Opcode.STORE, 0, [Const(0, m.width), Const(0, 1)], memory=m) for m in (queue.head, queue.tail)
            ]
            module.top.entry.ops[:0] = opening
            module.queues.append(queue)
        queued = {m for f in plan.fifos for m in (f.queue.items, f.queue.head, f.queue.tail)}
        for op in self._ops(module):
            memory = op.memory
            if memory is None or memory in queued:
                continue
            if memory not in process.memories:
                process.memories[memory] = self._own(memory)
                module.memories.append(process.memories[memory])
            op.memory = process.memories[memory]

    def _own(self, memory: Memory) -> Memory:
        plan = self.plan
        if plan.private.get(memory) is self.part:
            lasting = memory in plan.lasting and memory.kind is MemoryKind.LOCAL
            return replace(memory, kind=MemoryKind.STATIC) if lasting else memory
        if memory.kind is MemoryKind.ROM:
            return replace(memory, partitions=list(memory.partitions))
        pointer = memory.kind is MemoryKind.PARAM and memory.interface in (None, "ap_vld", "ap_none")
        return replace(
            memory,
            kind=MemoryKind.PARAM,
            init=None,
            argument=memory.name,
            partitions=list(memory.partitions),
            interface=memory.interface if pointer else "ap_memory",
            read_first=self.read_first if memory in self.between else memory.read_first,
        )

    def _streams(self, process: Process) -> None:
        module = process.module
        for fifo in self.plan.fifos:
            if self.part not in (fifo.source, fifo.sink):
                continue
            kind = "output" if self.part is fifo.source else "input"
            stream = Stream(fifo.queue.items.name, fifo.queue.items.width, fifo.depth, kind, fifo.queue.items.place)
            process.fifos[fifo] = stream
            for function in module.functions:
                raise_queue(function.blocks, fifo.queue, stream)
                drop_openings(function.blocks, fifo.queue)
            module.streams.append(stream)
        for op in self._ops(module):
            if op.stream is not None and op.stream not in module.streams:
                module.streams.append(op.stream)
