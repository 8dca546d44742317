"""Split arrays into banks as `array_partition` asks.

```
memory a 32 [16] partitions=cyclic 4      memory a_0 32 [4] .. memory a_3 32 [4]
  %k = add %i, 1       (%i: multiples of 4)
  %v = load a[%k]                   ->      %q = lshr %k, 2;  %v = load a_1[%q]
  %w = load a[%x]                           %b = and %x, 3;  %q.2 = lshr %x, 2
                                            %w.0 = load a_0[%q.2] if %b == 0  (and so on)
                                            %w = select %b == 0, %w.0, ...
```

An access whose bank is known goes to that bank; any other one goes to all of them under predicates. A complete
partition
without computed subscripts makes an element a memory of its own, which later becomes a value or a register.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rtlagent.hls.analysis.ranges import Ranges
from rtlagent.hls.analysis.residues import Residues
from rtlagent.hls.analysis.subscripts import index_bits
from rtlagent.hls.ir import (
    Block,
    Const,
    Function,
    Memory,
    MemoryKind,
    Module,
    Op,
    Opcode,
    Partition,
    Phi,
    Value,
    replace_uses,
)
from rtlagent.hls.options import HlsOptions, Remarks

from .regions import Conditions, merge

MOST_BANKS = 1024
REGISTER_PORTS = 64
"""Accesses a cycle of an array of registers: no limit in practice."""


def run(module: Module, options: HlsOptions, remarks: Remarks) -> None:
    """Split every memory that has partitions."""
    for memory in list(module.memories):
        wanted, memory.partitions = memory.partitions, []
        for partition in _each_dimension(memory, wanted):
            reason = _reason(memory, partition)
            if reason:
                remarks.warn("array-partition", f"{memory.name} is not partitioned: {reason}", partition.place)
                wanted = []
                break
        else:
            _split(module, memory, _each_dimension(memory, wanted))


def _each_dimension(memory: Memory, partitions: list[Partition]) -> list[Partition]:
    """Write out `dim=0` (every dimension), from the last; of two partitions of a dimension the last counts."""
    result: dict[int, Partition] = {}
    for p in partitions:
        for dim in range(len(memory.dims)) if p.dim < 0 else (p.dim,):
            result[dim] = replace(p, dim=dim)
    return [result[dim] for dim in sorted(result, reverse=True)]


def _reason(memory: Memory, partition: Partition) -> str:
    if partition.dim >= len(memory.dims):
        return f"it has {len(memory.dims)} dimension{'s' * (len(memory.dims) != 1)}"
    if partition.kind not in ("complete", "cyclic", "block"):
        return f"{partition.kind} is no kind of partition"
    if partition.kind != "complete" and partition.factor < 2:
        return f"a factor of {partition.factor} splits nothing"
    banks = memory.dims[partition.dim] if partition.kind == "complete" else partition.factor
    if banks > MOST_BANKS:
        return f"{banks} banks are too many"
    return ""


def _split(module: Module, memory: Memory, partitions: list[Partition]) -> None:
    """Split along one dimension after another, the last first, so that the numbers of the others stay."""
    memories = [memory]
    for n, partition in enumerate(partitions):
        last = n == len(partitions) - 1
        split: list[Memory] = []
        for part in memories:
            split += _split_dimension(module, part, partition, registers=last)
        memories = split


@dataclass(frozen=True)
class _Layout:
    """How one dimension of `size` elements is split."""

    dim: int
    kind: str
    size: int
    banks: int
    each: int
    """Elements in a full bank."""

    def length(self, bank: int) -> int:
        """Return the elements of a bank in the dimension."""
        if self.kind == "cyclic":
            return (self.size - bank + self.banks - 1) // self.banks
        return min(self.each, self.size - bank * self.each)

    def place(self, bank: int, index: int) -> int:
        """Return the subscript in the whole dimension."""
        return index * self.banks + bank if self.kind == "cyclic" else bank * self.each + index


def _layout(memory: Memory, partition: Partition) -> _Layout:
    size = memory.dims[partition.dim]
    if partition.kind == "complete":
        return _Layout(partition.dim, "complete", size, size, 1)
    if partition.kind == "cyclic":
        banks = min(partition.factor, size)
        return _Layout(partition.dim, "cyclic", size, banks, -(-size // banks))
    each = -(-size // partition.factor)
    return _Layout(partition.dim, "block", size, -(-size // each), each)


def _split_dimension(module: Module, memory: Memory, partition: Partition, *, registers: bool) -> list[Memory]:
    layout = _layout(memory, partition)
    if layout.banks <= 1 and layout.kind != "complete":
        return [memory]
    one_dimension = layout.kind == "complete" and len(memory.dims) == 1 and memory.kind is not MemoryKind.PARAM
    if registers and one_dimension and not _all_constant(module, memory):
        # Every access would become as many as there are elements: an array of registers says the same.
        memory.storage = memory.storage or "register"
        memory.ports = max(memory.ports, REGISTER_PORTS)
        return [memory]
    banks = [_bank(memory, layout, n) for n in range(layout.banks)]
    at = module.memories.index(memory)
    module.memories[at : at + 1] = banks
    for function in module.functions:
        _Redirection(function, memory, layout, banks).run()
    return banks


def _all_constant(module: Module, memory: Memory) -> bool:
    return all(
        isinstance(s, Const)
        for function in module.functions
        for block in function.blocks
        for op in block.ops
        if op.memory is memory
        for s in op.subscripts
    )


def _bank(memory: Memory, layout: _Layout, n: int) -> Memory:
    dim, length = layout.dim, layout.length(n)
    gone = layout.kind == "complete"
    dims = (*memory.dims[:dim], *(() if gone else (length,)), *memory.dims[dim + 1 :])
    size = (memory.width + 7) // 8
    strides = list(memory.byte_strides)
    if not strides:
        for k in range(len(memory.dims)):
            below = 1
            for d in memory.dims[k + 1 :]:
                below *= d
            strides.append(size * below)
    offset = memory.byte_offset + layout.place(n, 0) * strides[dim]
    step = strides[dim] * (layout.banks if layout.kind == "cyclic" else 1)
    kept = (*strides[:dim], *(() if gone else (step,)), *strides[dim + 1 :])
    return Memory(
        f"{memory.name}_{n}",
        memory.width,
        dims,
        memory.kind,
        init=_bank_init(memory, layout, n),
        signed=memory.signed,
        place=memory.place,
        storage=memory.storage or ("register" if not dims and memory.kind is not MemoryKind.PARAM else None),
        storage_latency=memory.storage_latency,
        ports=memory.ports,
        interface=memory.interface,
        argument=memory.argument or (memory.name if memory.kind is MemoryKind.PARAM else ""),
        field_path=memory.field_path,
        byte_offset=offset,
        byte_strides=kept,
        field_bit_offset=memory.field_bit_offset,
    )


def _bank_init(memory: Memory, layout: _Layout, n: int) -> tuple[int, ...] | None:
    if memory.init is None:
        return None
    below = 1
    for d in memory.dims[layout.dim + 1 :]:
        below *= d
    above = memory.depth // (below * layout.size)
    values: list[int] = []
    for outer in range(above):
        for index in range(layout.length(n)):
            start = (outer * layout.size + layout.place(n, index)) * below
            values += memory.init[start : start + below]
    return tuple(values)


class _Redirection:
    """Sends the accesses of one memory to its banks."""

    def __init__(self, function: Function, memory: Memory, layout: _Layout, banks: list[Memory]) -> None:
        self.function = function
        self.memory = memory
        self.layout = layout
        self.banks = banks
        ranges = Ranges(function)
        self.ranges = ranges
        self.residues = Residues(layout.banks, ranges)
        self.replaced: dict[Value, Value] = {}
        self.ops: list[Op] = []

    def run(self) -> None:
        """Rewrite every access in the function."""
        for block in self.function.blocks:
            if any(op.memory is self.memory for op in block.ops):
                self._block(block)
        replace_uses(self.function, self.replaced)

    def _block(self, block: Block) -> None:
        self.ops = []
        for op in block.ops:
            if op.memory is not self.memory:
                self.ops.append(op)
                continue
            subscript = op.subscripts[self.layout.dim]
            bank = self.known_bank(subscript)
            if bank is not None:
                self._redirect(op, bank, self._index(subscript, op))
                self.ops.append(op)
            else:
                self._everywhere(op, subscript)
        block.ops = self.ops

    def known_bank(self, subscript: Value) -> int | None:
        """Return the bank to which a subscript always goes."""
        layout = self.layout
        low, high = self.ranges.of(subscript)
        if layout.kind == "cyclic":
            residue = self.residues.of(subscript)
            return low % layout.banks if low == high else residue
        first, last = low // layout.each, min(high, layout.size - 1) // layout.each
        return first if first == last and first < layout.banks else None

    def _redirect(self, op: Op, bank: int, index: Value | None) -> None:
        dim = self.layout.dim
        rest = op.subscripts
        kept = [*rest[:dim], *([] if index is None else [index]), *rest[dim + 1 :]]
        op.args = [*op.args[: len(op.args) - len(rest)], *kept]
        op.memory = self.banks[bank]

    def _index(self, subscript: Value, op: Op) -> Value | None:
        """Return the subscript within the bank; None if the dimension is gone."""
        layout = self.layout
        if layout.kind == "complete":
            return None
        if isinstance(subscript, Const):
            value = subscript.value
            return Const(value // layout.banks if layout.kind == "cyclic" else value % layout.each, subscript.width)
        divisor = layout.banks if layout.kind == "cyclic" else layout.each
        if layout.kind == "cyclic":
            return self._divided(subscript, divisor, Opcode.UDIV, op)
        return self._divided(subscript, divisor, Opcode.UREM, op)

    def _divided(self, value: Value, divisor: int, opcode: Opcode, op: Op) -> Value:
        """Return value / divisor or value % divisor, of the bits that a subscript in range has."""
        bits = index_bits(self.layout.size)
        if value.width > bits:
            value = self._add(Op(Opcode.TRUNC, bits, [value], place=op.place))
        if divisor >> value.width:
            return value if opcode is Opcode.UREM else Const(0, value.width)
        if divisor & (divisor - 1):
            return self._add(Op(opcode, value.width, [value, Const(divisor, value.width)], place=op.place))
        shift = divisor.bit_length() - 1
        if opcode is Opcode.UDIV:
            return self._add(Op(Opcode.LSHR, value.width, [value, Const(shift, 8)], place=op.place))
        return self._add(Op(Opcode.AND, value.width, [value, Const(divisor - 1, value.width)], place=op.place))

    def _everywhere(self, op: Op, subscript: Value) -> None:
        """Access every bank under the condition that it is meant."""
        layout = self.layout
        made = Conditions(self.ops)
        made.place = op.place
        number = self._bank_number(subscript, op)
        index = self._index(subscript, op)
        arrivals: list[tuple[Value, Value]] = []
        for n in range(layout.banks):
            if isinstance(number, Const) or n >> number.width:
                condition = made.equal(number, n) if isinstance(number, Const) else Const(0, 1)
            else:
                condition = made.equal(number, n)
            guard = condition if op.predicate is None else made.both(condition, op.predicate)
            if isinstance(guard, Const) and not guard.value:
                continue
            twin = Op(op.opcode, op.width, op.args, predicate=guard, memory=op.memory, name=op.name, place=op.place)
            self._redirect(twin, n, index)
            self.ops.append(twin)
            arrivals.append((condition, twin))
        if op.opcode is Opcode.LOAD:
            target = Phi(op.width, name=op.name, place=op.place)
            self.replaced[op] = merge(arrivals, target, Conditions(self.ops))

    def _bank_number(self, subscript: Value, op: Op) -> Value:
        layout = self.layout
        if layout.kind == "complete":
            bits = index_bits(layout.size)
            if subscript.width > bits:
                return self._add(Op(Opcode.TRUNC, bits, [subscript], place=op.place))
            return subscript
        if layout.kind == "cyclic":
            return self._divided(subscript, layout.banks, Opcode.UREM, op)
        return self._divided(subscript, layout.each, Opcode.UDIV, op)

    def _add(self, op: Op) -> Op:
        self.ops.append(op)
        return op
