"""Memory dependences of a single-block loop, found by running its addresses.

```
loop:  %i = phi [.. 0, loop: %n]        a: the element stored in one iteration is loaded in the next but one
       %p = sub %i, 2                   -> {a: 2}
       %v = load a[%p] if %late
       store a[%i] = %v
       %n = add %i, 1
       branch ...
```

Works for every loop whose subscripts follow from constants (counted loops and flattened nests of these, with any
arithmetic), since then nothing is left to prove. Loops over unknown bounds are run until a subscript leaves its array,
which no defined execution does.
"""

from __future__ import annotations

from collections import deque

from rtlagent.hls.interpret import Interpreter, OutOfRangeError, OutOfStepsError
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
    Phi,
    Return,
    Stream,
    Value,
    same_value,
)

from .loops import is_pure

MAX_STEPS = 400_000
"""Operations that are run for one loop; beyond that its dependences count as unknown."""
NEVER = 1 << 30
"""The distance of accesses that never meet."""


def least_distances(block: Block) -> dict[Memory, int]:
    """Return, for each memory that a single-block loop stores to, how near a store is to a later access of its element.

    Distance d: the store of an iteration touches no element that is accessed later in the same iteration (d >= 1) or in
    the d - 1 following ones. Memories about which nothing is known are left out.
    """
    groups: dict[Memory, list[Op]] = {}
    for op in block.ops:
        if op.memory is not None:
            groups.setdefault(op.memory, []).append(op)
    result: dict[Memory, int] = {}
    wanted: list[Op] = []
    for memory, ops in groups.items():
        if all(op.opcode is Opcode.LOAD for op in ops):
            continue
        if len(ops) == 1:
            # Its own order is kept in any case.
            result[memory] = NEVER
        elif _can_run(block, [s for op in ops for s in op.subscripts]):
            wanted += ops
    traces = _trace(block, wanted)
    if traces is None:
        return result
    for memory in [m for m in groups if any(op.memory is m for op in wanted)]:
        result[memory] = _nearest([(op, traces[op]) for op in wanted if op.memory is memory])
    return result


def _can_run(block: Block, values: list[Value]) -> bool:
    return _slice(block, values) is not None


def _slice(block: Block, values: list[Value]) -> list[Value] | None:
    """Return the phis and operations that values depend on in any iteration, or None if not only on constants."""
    inside = set(block.ops)
    phis = set(block.phis)
    seen: set[Value] = set()
    work = list(values)
    while work:
        value = work.pop()
        if isinstance(value, Const) or value in seen:
            continue
        seen.add(value)
        if isinstance(value, Phi) and value in phis:
            starts = [v for source, v in value.incoming.items() if source is not block]
            if any(not same_value(v, starts[0]) for v in starts):
                return None
            work += value.incoming.values()
        elif isinstance(value, Op) and value in inside and is_pure(value):
            work += value.args
        else:
            return None
    return [*(p for p in block.phis if p in seen), *(op for op in block.ops if op in seen)]


def _trace(block: Block, accesses: list[Op]) -> dict[Op, list[int | None]] | None:
    """Run the loop; return for each access its element (row-major), None where it certainly is not executed."""
    if not accesses:
        return {}
    loop = _Replay(block, accesses)
    return loop.run()


class _Replay:
    """A program that does nothing but compute the addresses of a loop."""

    def __init__(self, block: Block, accesses: list[Op]) -> None:
        self.block = block
        self.accesses = accesses
        self.entry, self.loop, self.done = Block("entry"), Block("loop"), Block("done")
        self.function = Function("replay", blocks=[self.entry, self.loop, self.done])
        self.memories: list[Memory] = []
        self.streams: list[Stream] = []
        self.values: dict[Value, Value] = {}

    def run(self) -> dict[Op, list[int | None]] | None:
        """Run it; None if it does not come to an end soon."""
        self._copy()
        module = Module(self.function, [self.function], self.memories, self.streams)
        queues: dict[str, deque[int]] = {s.name: deque() for s in self.streams}
        try:
            Interpreter(module).call({}, {}, streams=queues, max_steps=MAX_STEPS)
        except OutOfRangeError:
            # The iteration that went out of range is never executed by a defined program.
            shortest = min(len(q) for q in queues.values())
            for queue in queues.values():
                while len(queue) > shortest:
                    queue.pop()
        except OutOfStepsError:
            return None
        return {op: self._elements(op, queues) for op in self.accesses}

    def _copy(self) -> None:
        end = self.block.terminator
        assert isinstance(end, Branch)
        wanted: list[Value] = [s for op in self.accesses for s in op.subscripts]
        guards = [op.predicate for op in self.accesses if op.predicate is not None and _known(self.block, op.predicate)]
        stop = [end.condition] if _known(self.block, end.condition) else []
        needed = _slice(self.block, [*wanted, *guards, *stop])
        assert needed is not None
        for value in needed:
            if isinstance(value, Phi):
                phi = Phi(value.width)
                self.values[value] = phi
                self.loop.phis.append(phi)
        for value in needed:
            if isinstance(value, Op):
                twin = Op(value.opcode, value.width, [self._of(a) for a in value.args])
                self.values[value] = twin
                self.loop.ops.append(twin)
        for value in needed:
            if isinstance(value, Phi):
                phi = self.values[value]  # type: ignore[assignment]
                for source, incoming in value.incoming.items():
                    phi.incoming[self.loop if source is self.block else self.entry] = self._of(incoming)
        for n, op in enumerate(self.accesses):
            self._record(n, op)
        self.entry.terminator = Jump(self.loop)
        again: Value = self._of(end.condition) if stop else Const(end.then is self.block, 1)
        stays = end.then is self.block
        self.loop.terminator = Branch(again, self.loop if stays else self.done, self.done if stays else self.loop)
        self.done.terminator = Return()

    def _of(self, value: Value) -> Value:
        return self.values.get(value, value)

    def _record(self, n: int, op: Op) -> None:
        """Write the guard and the subscripts to streams; a certain access out of range ends the run."""
        assert op.memory is not None
        guard: Value | None = None
        if op.predicate is not None and self._of(op.predicate) is not op.predicate:
            guard = self._of(op.predicate)
        self._write(f"guard{n}", guard if guard is not None else Const(1, 1))
        for dim, subscript in enumerate(op.subscripts):
            self._write(f"subscript{n}.{dim}", self._of(subscript))
        if op.predicate is None or guard is not None:
            memory = Memory(f"m{n}", 1, op.memory.dims, MemoryKind.LOCAL)
            self.memories.append(memory)
            subscripts = [self._of(s) for s in op.subscripts]
            self.loop.ops.append(Op(Opcode.LOAD, 1, subscripts, memory=memory, predicate=guard))

    def _write(self, name: str, value: Value) -> None:
        stream = Stream(name, value.width)
        self.streams.append(stream)
        self.loop.ops.append(Op(Opcode.WRITE, 0, [value], stream=stream))

    def _elements(self, op: Op, queues: dict[str, deque[int]]) -> list[int | None]:
        n = self.accesses.index(op)
        assert op.memory is not None
        columns = [list(queues[f"subscript{n}.{dim}"]) for dim in range(len(op.memory.dims))]
        guards = queues[f"guard{n}"]
        flat = [0] * len(guards)
        for column, size in zip(columns, op.memory.dims, strict=True):
            flat = [f * size + s for f, s in zip(flat, column, strict=True)]
        return [f if g else None for f, g in zip(flat, guards, strict=True)]


def _known(block: Block, value: Value) -> bool:
    return _slice(block, [value]) is not None


def _nearest(traces: list[tuple[Op, list[int | None]]]) -> int:
    """Return the least distance from a store to a later access of the same element."""
    last: dict[int, int] = {}
    nearest = NEVER
    rows = [(op.opcode is Opcode.STORE, elements) for op, elements in traces]
    for n in range(len(rows[0][1])):
        for stores, elements in rows:
            element = elements[n]
            if element is None:
                continue
            stored = last.get(element)
            if stored is not None and n - stored < nearest:
                nearest = n - stored
            if stores:
                last[element] = n
    return nearest
