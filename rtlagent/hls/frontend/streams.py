"""hls::stream: an argument of the top is a FIFO port, any other stream a queue in memory.

The functions of a module run one after the other, so that a queue has to hold all that is written before it is read:

```
s.write(x);     ->     %t = load 11 s_tail[0];  store s[%t] = %x;  store s_tail[0] = %t + 1
```
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rtlagent.hls.frontend.llvm_module import Instruction, Operand
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.operands import Operands
from rtlagent.hls.frontend.reach import Reach
from rtlagent.hls.frontend.steps import constant_of
from rtlagent.hls.ir import Const, Memory, MemoryKind, Op, Opcode, Stream, Value

PREFIX = "rtlagent_stream_"
_ROOM = 1024
"""Least number of items that a queue has room for."""
_WORD = 64


@dataclass(frozen=True)
class Queue:
    """A stream in memory; both counters have one bit more than a place has."""

    items: Memory
    head: Memory
    tail: Memory
    bits: int
    """Of a place."""
    asked: int = 0
    """Depth that the program asks for; 0: not said."""


@dataclass
class Streams:
    """The streams of a module."""

    depths: Mapping[str, int]
    """From pragmas, by C name."""
    unique: Callable[[str], str]
    """Makes a name of a memory unique."""
    ports: dict[Object, Stream] = field(default_factory=dict)
    queues: dict[tuple[Object, int], Queue] = field(default_factory=dict)
    parts: dict[tuple[Object, int], list[Value]] = field(default_factory=dict)
    """What was read, or is going to be written, of the item in hand."""

    @property
    def memories(self) -> list[Memory]:
        """Return the memories of all queues."""
        return [m for q in self.queues.values() for m in (q.items, q.head, q.tail)]

    @property
    def names(self) -> frozenset[str]:
        """C names of all streams."""
        return frozenset(t.c_name for t in (*self.ports, *(thing for thing, _ in self.queues)))


def lower_stream_call(f: Operands, streams: Streams, ins: Instruction) -> None:
    """Lower a call of one of the functions that hls_stream.h declares."""
    *arguments, callee = ins.operands
    what = callee.name.removeprefix(PREFIX)
    pointer = f.accessible(arguments[0])
    if pointer is None:
        return
    reach = pointer.targets[pointer.objects[0]]
    if what == "open" and len(pointer.targets) == 1 and not reach.is_constant:
        _open_all(f, streams, ins, pointer.objects[0], reach)
        return
    if len(pointer.targets) > 1 or not reach.is_constant:
        f.fail("which stream this is only shows at run time", "use the stream itself, not one of several")
    thing = pointer.objects[0]
    width, depth = 8 * (constant_of(arguments[1]) or 0), constant_of(arguments[2]) or 0
    if thing.kind is MemoryKind.PARAM:
        _Port(f, streams, thing).call(what, ins, arguments, width)
    else:
        _Queued(f, streams, thing, reach.start).call(what, ins, arguments, (width, depth))


def _open_all(f: Operands, streams: Streams, ins: Instruction, thing: Object, reach: Reach) -> None:
    """Open every stream of an array: its elements are made in a loop, one after the other, before any is used."""
    *arguments, _ = ins.operands
    width, depth = 8 * (constant_of(arguments[1]) or 0), constant_of(arguments[2]) or 0
    if thing.kind is not MemoryKind.PARAM:
        for at in range(reach.start % reach.unit, thing.size, reach.unit):
            _Queued(f, streams, thing, at).call("open", ins, arguments, (width, depth))


def _split(f: Operands, value: Value) -> list[Value]:
    """Return an item as words."""
    b = f.b
    count = -(-value.width // _WORD)
    words = [b.op(Opcode.LSHR, value.width, [value, Const(_WORD * k, 16)]) for k in range(count)]
    return [b.resize(word, _WORD) for word in words]


def _joined(f: Operands, words: list[Value], width: int) -> Value:
    """Return the item that words are."""
    b, wide = f.b, _WORD * len(words)
    total: Value = Const(0, wide)
    for number, word in enumerate(words):
        moved = b.op(Opcode.SHL, wide, [b.resize(word, wide), Const(_WORD * number, 16)])
        total = b.op(Opcode.OR, wide, [moved, total])
    return b.resize(total, width)


class _Items:
    """Reads and writes items word by word, as the calls come."""

    def __init__(self, f: Operands, streams: Streams, key: tuple[Object, int]) -> None:
        self._f = f
        self._streams = streams
        self._key = key

    def _read_item(self, width: int) -> Value:
        raise NotImplementedError

    def _write_item(self, item: Value) -> None:
        raise NotImplementedError

    def _transfer(self, what: str, ins: Instruction, arguments: list[Operand], width: int) -> None:
        part = constant_of(arguments[3]) or 0
        if what == "read":
            if part == 0:
                self._streams.parts[self._key] = _split(self._f, self._read_item(width))
            self._f.set(ins, self._streams.parts[self._key][part])
            return
        words = self._streams.parts.setdefault(self._key, [])
        if part == 0:
            words = self._streams.parts[self._key] = []
        words.append(self._f.value(arguments[4]))
        if _WORD * len(words) >= width:
            self._write_item(_joined(self._f, words, width))


class _Port(_Items):
    """A stream that is an argument of the top."""

    def __init__(self, f: Operands, streams: Streams, thing: Object) -> None:
        super().__init__(f, streams, (thing, 0))
        self._thing = thing
        self._width = 0

    def call(self, what: str, ins: Instruction, arguments: list[Operand], width: int) -> None:
        """Lower a call."""
        if what in ("read", "write"):
            self._width = width
            self._transfer(what, ins, arguments, width)
        elif what != "open":
            self._f.fail(f"{what}() of a stream that is a port", "use read() and write(), which wait")

    def _port(self, kind: str) -> Stream:
        thing = self._thing
        known = self._streams.ports.get(thing)
        if known is None:
            known = self._streams.ports[thing] = Stream(thing.argument, self._width, kind=kind, place=thing.place)
        if known.kind != kind:
            hint = "use one stream for each direction"
            self._f.fail(f"the stream {thing.argument} is both read and written", hint)
        return known

    def _read_item(self, width: int) -> Value:
        return self._f.b.append(Op(Opcode.READ, width, (), stream=self._port("input")))

    def _write_item(self, item: Value) -> None:
        self._f.b.append(Op(Opcode.WRITE, 0, [item], stream=self._port("output")))


class _Queued(_Items):
    """A stream inside the module."""

    def __init__(self, f: Operands, streams: Streams, thing: Object, at: int) -> None:
        super().__init__(f, streams, (thing, at))
        self._thing = thing

    def call(self, what: str, ins: Instruction, arguments: list[Operand], form: tuple[int, int]) -> None:
        """Lower a call; `form` is the width of an item and the depth that the program asks for."""
        f, b = self._f, self._f.b
        width, depth = form
        queue = self._queue(width, depth)
        counter = queue.head.width
        if what in ("read", "write"):
            self._transfer(what, ins, arguments, width)
        elif what == "open":
            for memory in (queue.head, queue.tail):
                b.store(memory, Const(0, counter), [Const(0, 1)])
        else:
            ends: list[Value] = [b.load(m, [Const(0, 1)]) for m in (queue.tail, queue.head)]
            count = b.op(Opcode.SUB, counter, ends)
            if what == "size":
                f.set(ins, b.resize(count, f.width(ins.type)))
            else:
                bound = Const(0 if what == "empty" else 1 << queue.bits, counter)
                f.set(ins, b.op(Opcode.EQ, 1, [count, bound]))

    def _queue(self, width: int, depth: int) -> Queue:
        known = self._streams.queues.get(self._key)
        if known is not None:
            return known
        thing = self._thing
        asked = max(depth, self._streams.depths.get(thing.c_name, 0))
        bits = (max(asked, _ROOM) - 1).bit_length()
        name = self._streams.unique(thing.name)
        start = (0,) if thing.kind is MemoryKind.STATIC else None
        items = Memory(name, width, (1 << bits,), thing.kind, place=thing.place)
        ends = [
            Memory(self._streams.unique(f"{name}_{end}"), bits + 1, (1,), thing.kind, init=start, place=thing.place)
            for end in ("head", "tail")
        ]
        known = self._streams.queues[self._key] = Queue(items, ends[0], ends[1], bits, asked)
        return known

    def _read_item(self, width: int) -> Value:
        return self._advance(self._streams.queues[self._key].head, None)

    def _write_item(self, item: Value) -> None:
        self._advance(self._streams.queues[self._key].tail, item)

    def _advance(self, end: Memory, item: Value | None) -> Value:
        """Load or store the item at an end of the queue, and move the end."""
        b, queue = self._f.b, self._streams.queues[self._key]
        at = b.load(end, [Const(0, 1)])
        place = b.resize(at, queue.bits)
        moved = b.load(queue.items, [place]) if item is None else b.store(queue.items, item, [place])
        b.store(end, b.sum(at, Const(1, end.width)), [Const(0, 1)])
        return moved
