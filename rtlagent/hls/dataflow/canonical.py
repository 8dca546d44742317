"""Check a region's form, and say what goes from part to part: arrays, streams and scalars, all of them forward.

```
load(in, a);      a: written by load, read by scale      -> two buffers in a loop, else one
scale(a, s);      s: a stream from scale to store        -> a FIFO
store(s, out);    in, out: each the business of one part -> ports
```
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from rtlagent.hls.analysis.loops import find_loops, greatest_trip_count, inductions
from rtlagent.hls.dataflow.items import Count, count_items, equal
from rtlagent.hls.dataflow.queues import check_queue, is_opening
from rtlagent.hls.dataflow.regions import Part, Refusal, Region, streams_of, touched
from rtlagent.hls.dataflow.scopes import Scopes
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Phi,
    Place,
    Queue,
    Return,
    Switch,
    Value,
)
from rtlagent.hls.options import Remarks

DEFAULT_DEPTH = 2
_GREATEST_DEPTH = 1024
"""Of a FIFO whose depth nobody gave, where it has to hold all that is written at a time."""


@dataclass(eq=False)
class ArrayChannel:
    """An array that one part writes for a later one."""

    memory: Memory
    source: Part
    sink: Part
    doubled: bool
    """Two buffers: the next iteration is written while this one is read."""


@dataclass(eq=False)
class StreamChannel:
    """A FIFO between two parts."""

    queue: Queue
    source: Part
    sink: Part
    depth: int
    guarded: bool
    """Not all that is written is surely read: an iteration's items are thrown away before the next one's come."""


@dataclass(eq=False)
class Plan:
    """How a region becomes processes and channels."""

    region: Region
    parts: list[Part]
    arrays: list[ArrayChannel] = field(default_factory=list)
    fifos: list[StreamChannel] = field(default_factory=list)
    shared: dict[Memory, list[Part]] = field(default_factory=dict)
    """Memories outside the processes -> the parts that use them; channels are among them unless doubled."""
    private: dict[Memory, Part] = field(default_factory=dict)
    lasting: set[Memory] = field(default_factory=set)
    """Private ones that may keep values from run to run of the part."""
    reopened: dict[Part, list[Queue]] = field(default_factory=dict)
    """Queues that are private to a part, and that it has to make empty when it begins."""
    inputs: dict[Part, list[Value]] = field(default_factory=dict)
    """Scalars that the part takes, from the controller or from other parts."""
    repeated: dict[Part, list[Op]] = field(default_factory=dict)
    """Pure operations that the part repeats for itself, in order."""
    outputs: dict[Part, list[Value]] = field(default_factory=dict)
    """Scalars that others take from it."""
    late: list[Op] = field(default_factory=list)
    """Pure operations that need results of parts: they run when all is done."""
    results: list[Value] = field(default_factory=list)
    """What the controller takes from parts."""
    narrow: dict[Value, int] = field(default_factory=dict)
    """Bits that hold a value in the region, where fewer than its width do."""

    def bits(self, value: Value) -> int:
        """Return with how many bits a scalar travels."""
        return self.narrow.get(value, value.width)

    def home(self, value: Value) -> Part | None:
        """Return the part that computes a value."""
        return next((p for p in self.parts if value in p.defines()), None)


def analyse(module: Module, region: Region, scopes: Scopes, remarks: Remarks) -> Plan:
    """Return the plan of a region.

    Raises:
        Refusal: it does not have the canonical form.
    """
    return _Analysis(module, region, scopes, remarks).run()


class _Analysis:
    def __init__(self, module: Module, region: Region, scopes: Scopes, remarks: Remarks) -> None:
        self.module = module
        self.region = region
        self.scopes = scopes
        self.remarks = remarks
        self.queues = {m: q for q in module.queues for m in (q.items, q.head, q.tail)}
        self.opened: set[Queue] = set()
        self.counts: dict[Queue, Count] = {}
        self.outside_ops = self._outside_ops()
        self.outside = touched(self.outside_ops)

    def run(self) -> Plan:
        parts = [p for p in self.region.parts if self._does_something(p)]
        plan = self.plan = Plan(self.region, parts)
        self.touches = {p: touched(p.all_ops()) for p in parts}
        if len(parts) < 2:
            raise Refusal("there is only one part, and nothing to overlap it with", self.region.place)
        self._scalars()
        self._streams()
        for memory in dict.fromkeys(m for p in parts for m in self.touches[p]):
            if memory not in self.queues:
                self._memory(memory)
        self._depths()
        self._refuse_a_chain()
        self._narrow()
        return plan

    def _edges(self) -> list[tuple[Part, Part, object]]:
        """Return what goes from part to part: (source, sink, the channel, or the part and the scalar that it takes)."""
        plan = self.plan
        edges: list[tuple[Part, Part, object]] = [(c.source, c.sink, c) for c in plan.arrays]
        edges += [(f.source, f.sink, f) for f in plan.fifos]
        home = {v: p for p in plan.parts for v in p.defines()}
        return edges + [(home[v], p, (p, v)) for p in plan.parts for v in plan.inputs[p] if v in home]

    def _refuse_a_chain(self) -> None:
        """Refuse a region that is entered once and whose parts all wait for one another.

        Raises:
            Refusal: they do.
        """
        if self.region.loop is not None:
            return
        edges = [(a, b) for a, b, edge in self._edges() if not isinstance(edge, StreamChannel)]
        after: dict[Part, set[Part]] = {}
        for part in reversed(self.plan.parts):
            targets = [b for a, b in edges if a is part]
            after[part] = set(targets).union(*(after[t] for t in targets))
        if all(b in after[a] for a, b in pairwise(self.plan.parts)):
            text = "each part waits until the one before it is done, and calls do not overlap"
            hint = "put the pragma into a loop around the parts, or hand the data on through hls::stream"
            raise Refusal(text, self.region.place, hint)

    def _narrow(self) -> None:
        """Give the loop's counter the bits that it needs in the body."""
        loop = self.region.loop
        if loop is None:
            return
        for variable in inductions(loop):
            trips, start = greatest_trip_count(loop), variable.init
            if trips is None or not isinstance(start, Const):
                continue
            ends = (start.value, start.value + (trips - 1) * variable.step)
            if trips > 0 and min(ends) >= 0 and max(ends) < 1 << variable.phi.width:
                self.plan.narrow[variable.phi] = max(1, max(ends).bit_length())

    def _does_something(self, part: Part) -> bool:
        """Tell whether a part is more than the declaration of streams."""
        effects = [op for op in part.all_ops() if op.has_side_effect and op.opcode is not Opcode.CALL]
        opened = [self.queues[op.memory] for op in effects if op.memory is not None and op.memory in self.queues]
        opens = [op for op in effects if op.memory in self.queues and is_opening(op, self.queues[op.memory])]
        if len(opens) == len(effects):
            self.opened.update(opened)
            used = part.defines()
            return any(v in used for other in self.region.parts if other is not part for v in other.uses())
        part.ops = [op for op in part.ops if not self._opens(op)]
        return True

    def _opens(self, op: Op) -> bool:
        queue = self.queues.get(op.memory) if op.memory is not None else None
        if queue is not None and is_opening(op, queue):
            self.opened.add(queue)
            return True
        return False

    def _outside_ops(self) -> list[Op]:
        inside = set(self.region.blocks)
        found: list[Op] = []
        reached = {self.module.top}
        for function in self.module.functions:
            if function not in reached:
                continue
            ops = [op for b in function.blocks if b not in inside for op in b.ops]
            if function is self.region.function and self.region.loop is not None:
                ops += self.region.loop.header.ops
            found += ops
            reached.update(op.callee for op in ops if op.callee is not None)
        return found

    # --- scalars

    def _scalars(self) -> None:
        plan, region = self.plan, self.region
        order = {p: n for n, p in enumerate(plan.parts)}
        home = {v: p for p in plan.parts for v in p.defines()}
        late: dict[Value, None] = {}
        for op in region.glue:
            if any(v in home or v in late for v in op.operands()):
                late[op] = None
        outputs: dict[Part, dict[Value, None]] = {p: {} for p in plan.parts}
        for part in plan.parts:
            taken: dict[Value, None] = {}
            repeated: dict[Op, None] = {}
            self._take(part.uses(), late, taken, repeated)
            for value in taken:
                source = home.get(value)
                if source is not None:
                    if order[source] >= order[part]:
                        raise Refusal(f"{part.name} takes a scalar from a later part", part.place)
                    outputs[source][value] = None
            plan.inputs[part] = list(taken)
            plan.repeated[part] = [op for op in region.glue if op in repeated]
        wanted = self._wanted_by_controller(home, late)
        plan.results = [v for v in wanted if v in home]
        for value in plan.results:
            outputs[home[value]][value] = None
        plan.late = [op for op in region.glue if op in late]
        plan.outputs = {p: list(values) for p, values in outputs.items()}

    def _take(
        self, values: list[Value], late: dict[Value, None], taken: dict[Value, None], repeated: dict[Op, None]
    ) -> None:
        for value in values:
            if isinstance(value, Op) and value in late:
                if value not in repeated:
                    repeated[value] = None
                    self._take(list(value.operands()), late, taken, repeated)
            elif not isinstance(value, Const):
                taken[value] = None

    def _wanted_by_controller(self, home: dict[Value, Part], late: dict[Value, None]) -> dict[Value, None]:
        """Return the values of parts that are used outside of them; a loop may have none."""
        region = self.region
        inside = set(region.blocks)
        used: dict[Value, None] = {}
        for block in region.function.blocks:
            if block in inside and not (region.loop is not None and block is region.loop.header):
                continue
            for phi in block.phis:
                used.update(dict.fromkeys(phi.incoming.values()))
            for op in block.ops:
                used.update(dict.fromkeys(op.operands()))
            used.update(dict.fromkeys(_asked(block)))
        if region.result is not None:
            used[region.result] = None
        if region.loop is not None:
            for value in used:
                if value in home or value in late:
                    part = home.get(value)
                    name = _name_of(value)
                    text = f"the scalar{name} of one iteration is used in the next one or after the loop"
                    raise Refusal(text, _place_of(value) or (part.place if part else None), "keep it inside one part")
            return {}
        for op in region.glue:
            if op in late:
                used.update(dict.fromkeys(op.operands()))
        return used

    # --- memories

    def _memory(self, memory: Memory) -> None:
        plan = self.plan
        users = [p for p in plan.parts if memory in self.touches[p]]
        if memory.kind is MemoryKind.ROM:
            return
        outside = memory in self.outside
        if len(users) == 1 and not outside and memory.kind is not MemoryKind.PARAM:
            plan.private[memory] = users[0]
            if memory.kind is MemoryKind.LOCAL and not self._is_fresh(memory):
                plan.lasting.add(memory)
            return
        plan.shared[memory] = users
        if memory.kind is MemoryKind.PARAM and _is_pointer(memory):
            self._pointer(memory, users, outside=outside)
            return
        if outside:
            name = memory.argument or memory.name
            text = f"{name} is used by {_list(users)} and outside of the {self.region.what}"
            raise Refusal(text, self._place(users[0], memory), "hand it from part to part")
        if len(users) > 1:
            self._several(memory, users)

    def _pointer(self, memory: Memory, users: list[Part], *, outside: bool) -> None:
        """Check an argument of one element: all may read it if none writes."""
        kinds = {kind for p in users for kind in self.touches[p][memory]}
        kinds |= self.outside.get(memory, set())
        once = self.region.loop is None and not self.region.outer_loops
        alone = len(users) == 1 and not outside and (once or len(kinds) == 1)
        if Opcode.STORE in kinds and not alone:
            what = "written in several places" if Opcode.LOAD not in kinds else "read and written"
            raise Refusal(f"*{memory.argument or memory.name} is {what}", self._place(users[-1], memory))

    def _several(self, memory: Memory, users: list[Part]) -> None:
        plan = self.plan
        name = memory.argument or memory.name
        writers = [p for p in users if Opcode.STORE in self.touches[p][memory]]
        readers = [p for p in users if p not in writers]
        if not writers:
            text = f"{name} is read by {_list(readers)}: its ports belong to one part"
            raise Refusal(text, self._place(readers[-1], memory), "let one part read it and hand copies on")
        if len(writers) > 1:
            text = f"{name} is written by {_list(writers)}: an array has one producer"
            raise Refusal(text, self._place(writers[1], memory))
        writer = writers[0]
        if len(readers) > 1:
            text = f"{name} is read by {_list(readers)}: an array has one consumer"
            raise Refusal(text, self._place(readers[1], memory), "let the producer write a copy for each")
        if plan.parts.index(readers[0]) < plan.parts.index(writer):
            text = f"{name} goes back from {writer.name} to {readers[0].name}: data must only go forward"
            raise Refusal(text, self._place(readers[0], memory))
        if memory.kind is MemoryKind.PARAM:
            text = f"the argument {name} is written by {writer.name} and read by {readers[0].name}"
            raise Refusal(text, self._place(readers[0], memory), "use a local array between them")
        looping = self.region.loop is not None
        local = memory.kind is MemoryKind.LOCAL
        doubled = looping and local and self.scopes.in_loop(memory, self.region.place)
        if looping and not doubled:
            text = (
                f"{name} may keep values from iteration to iteration, so that it has one buffer: "
                f"{writer.name} waits for {readers[0].name}"
            )
            self.remarks.note("DATAFLOW_BUFFER", text, memory.place, hint=f"declare {name} in the loop's body")
        plan.arrays.append(ArrayChannel(memory, writer, readers[0], doubled))

    def _is_fresh(self, memory: Memory) -> bool:
        """Tell whether a local array surely has no value when its part begins."""
        region = self.region
        if region.loop is not None:
            if self.scopes.in_loop(memory, region.place):
                return True
        elif not region.outer_loops and region.function is self.module.top:
            return True
        top = self.module.top
        in_top = region.function is top and self.scopes.is_body_of(top.place, region.place)
        return in_top and self.scopes.in_other_function(memory, region.place)

    def _place(self, part: Part, memory: Memory) -> Place | None:
        return next((op.place for op in part.all_ops() if op.memory is memory), None) or part.place

    # --- streams

    def _streams(self) -> None:
        plan = self.plan
        for stream in dict.fromkeys(s for p in plan.parts for s in streams_of(p.all_ops())):
            users = [p for p in plan.parts if stream in streams_of(p.all_ops())]
            if len(users) > 1 or stream in streams_of(self.outside_ops):
                others = _list(users) if len(users) > 1 else f"{users[0].name} and outside of it"
                raise Refusal(f"the stream {stream.name} is used in {others}", users[-1].place)
        for queue in self.module.queues:
            users = [p for p in plan.parts if any(m in self.touches[p] for m in (queue.items, queue.head, queue.tail))]
            if users:
                self._queue(queue, users)

    def _queue(self, queue: Queue, users: list[Part]) -> None:
        plan, region = self.plan, self.region
        own = (queue.items, queue.head, queue.tail)
        used = [op for op in self.outside_ops if op.memory in own and not is_opening(op, queue)]
        if len(users) == 1 and not used:
            self._private_queue(queue, users[0])
            return
        if used:
            raise Refusal(f"the stream {queue.name} is used outside of the {region.what}, too", used[0].place)
        writers = [p for p in users if Opcode.STORE in self.touches[p].get(queue.items, ())]
        readers = [p for p in users if Opcode.LOAD in self.touches[p].get(queue.items, ())]
        for part in users:
            check_queue(queue, part, region.function)
        for what, found in (("producer", writers), ("consumer", readers)):
            if len(found) != 1:
                many = f"used by {_list(found)}" if found else "used by nobody"
                raise Refusal(f"the stream {queue.name} has one {what}, and is {many}", users[-1].place)
        source, sink = writers[0], readers[0]
        if source is sink or plan.parts.index(sink) < plan.parts.index(source):
            text = f"the stream {queue.name} goes back from {source.name} to {sink.name}"
            raise Refusal(text, sink.place, "data must only go forward")
        forest = find_loops(region.function)
        given = count_items(region.function, forest, source, queue.items)
        taken = count_items(region.function, forest, sink, queue.items)
        exact = equal(given, taken)
        if not exact and (region.loop is not None or queue not in self.opened):
            text = f"whether {sink.name} takes all items of the stream {queue.name} cannot be told"
            hint = f"let both count in the same way, or declare {queue.name} in a function that asks for dataflow"
            raise Refusal(text, sink.place, hint)
        self.counts[queue] = given
        plan.fifos.append(StreamChannel(queue, source, sink, 0, guarded=not exact))

    def _private_queue(self, queue: Queue, part: Part) -> None:
        opens = queue in self.opened
        for memory in (queue.items, queue.head, queue.tail):
            if memory in self.touches[part] or opens:
                self.plan.private[memory] = part
        if not opens:
            for memory in (queue.items, queue.head, queue.tail):
                if memory in self.outside:
                    raise Refusal(f"the stream {queue.name} outlives {part.name}", part.place)
        self.plan.lasting.update(m for m in (queue.items, queue.head, queue.tail) if not opens)
        if opens:
            self.plan.reopened.setdefault(part, []).append(queue)

    def _depths(self) -> None:
        """Choose depths: on ways that meet again, a FIFO that is too short stops everything for ever."""
        plan = self.plan
        edges = self._edges()
        for fifo in plan.fifos:
            asked = fifo.queue.depth
            count: Count = self.counts.get(fifo.queue)
            most = count[0] if count is not None and not count[1] else None
            others = [(a, b) for a, b, edge in edges if edge is not fifo]
            fifo.depth = asked or DEFAULT_DEPTH
            if not _connected(fifo.source, fifo.sink, others):
                continue
            needed = most if most is not None else _GREATEST_DEPTH
            sure = self._waits_for(fifo, edges)
            if fifo.depth >= needed:
                continue
            name = fifo.queue.name
            why = f"{fifo.source.name} and {fifo.sink.name} are connected in other ways, too"
            how_many = f"{most} items" if most is not None else "an unknown number of items"
            if not asked or sure:
                fifo.depth = max(fifo.depth, needed)
                if asked or most is None:
                    text = f"the stream {name} gets depth={fifo.depth} where {how_many} may have to wait in it: {why}"
                    self.remarks.warn("DATAFLOW_DEPTH", text, fifo.queue.items.place)
            else:
                text = f"the stream {name} has depth={asked}, and {how_many} may have to wait in it: {why}"
                hint = "if the hardware stops for ever, give it a greater depth"
                self.remarks.warn("DATAFLOW_DEPTH", text, fifo.queue.items.place, hint=hint)

    def _waits_for(self, fifo: StreamChannel, edges: list[tuple[Part, Part, object]]) -> bool:
        """Tell whether the consumer begins only when the producer has ended."""
        waiting, seen = [(fifo.source, False)], {(fifo.source, False)}
        while waiting:
            part, blocked = waiting.pop()
            for a, b, edge in edges:
                state = (b, blocked or not isinstance(edge, StreamChannel))
                if a is part and state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return (fifo.sink, True) in seen


def _asked(block: Block) -> list[Value]:
    end = block.terminator
    if isinstance(end, Branch):
        return [end.condition]
    if isinstance(end, Switch):
        return [end.value]
    return [end.value] if isinstance(end, Return) and end.value is not None else []


def _name_of(value: Value) -> str:
    name = value.name if isinstance(value, Op | Phi) else ""
    return f" {name}" if name else ""


def _place_of(value: Value) -> Place | None:
    return value.place if isinstance(value, Op | Phi) else None


def _connected(a: Part, b: Part, edges: list[tuple[Part, Part]]) -> bool:
    seen, waiting = {a}, [a]
    while waiting:
        part = waiting.pop()
        for x, y in edges:
            for here, there in ((x, y), (y, x)):
                if here is part and there not in seen:
                    seen.add(there)
                    waiting.append(there)
    return b in seen


def _list(parts: list[Part]) -> str:
    names = [p.name for p in parts]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _is_pointer(memory: Memory) -> bool:
    return memory.interface in ("ap_vld", "ap_none") or (memory.interface is None and memory.depth == 1)
