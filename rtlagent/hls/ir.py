"""The CDFG: typed bit-vector SSA over basic blocks, with arrays as named memories.

Everything is an integer bit pattern of `width` bits, always held unsigned (0 <= value < 2**width);
signedness is a property of the operation, never of the value. Arrays are `Memory` objects that are not
values: only `load` and `store` reach them, one subscript a dimension, so that there are no pointers left.
Blocks own their phis, their operations in program order, and one terminator.

```
entry:
  jump loop
loop:
  %i.2 = phi 32 [entry: 0, loop: %i.3]
  %v.4 = load 32 a[%i.2]
  store b[%i.2] = %v.4
  %i.3 = add 32 %i.2, 1
  %c.5 = slt 1 %i.3, 64
  branch %c.5, loop, exit
```

The IR is mutable: passes edit it in place, and `verify` (hls/check.py) runs between any two.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

_serial = itertools.count(1)


class Opcode(StrEnum):
    """What an operation computes. W is the operation's width; operands are W wide unless said otherwise."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    """The low W bits of the product: the same for signed and unsigned."""
    UDIV = "udiv"
    """Division by zero gives all ones (C leaves it undefined; hardware and interpreter agree)."""
    SDIV = "sdiv"
    """Rounds towards zero; by zero: -1 for a dividend >= 0, else 1; INT_MIN / -1 gives INT_MIN."""
    UREM = "urem"
    """By zero: the dividend."""
    SREM = "srem"
    """The sign of the dividend; by zero: the dividend; INT_MIN % -1 gives 0."""
    AND = "and"
    OR = "or"
    XOR = "xor"
    SHL = "shl"
    """The second operand may have any width; an amount >= W gives 0."""
    LSHR = "lshr"
    """As SHL."""
    ASHR = "ashr"
    """As SHL; an amount >= W gives all sign bits."""
    EQ = "eq"
    """Comparisons: width 1, both operands of one width."""
    NE = "ne"
    ULT = "ult"
    ULE = "ule"
    SLT = "slt"
    SLE = "sle"
    SELECT = "select"
    """(condition of width 1, value if 1, value if 0)."""
    ZEXT = "zext"
    """Operand narrower than W."""
    SEXT = "sext"
    """Operand narrower than W."""
    TRUNC = "trunc"
    """Operand wider than W: its low W bits."""
    COPY = "copy"
    """The operand itself; keeps a value apart from its source (a phi's next value in a pipelined loop)."""
    LOAD = "load"
    """Operands: one subscript a dimension of `memory` (any widths, unsigned, in range where the program is defined).
    W = memory.width."""
    STORE = "store"
    """Operands: the data (memory.width), then the subscripts. Width 0."""
    CALL = "call"
    """Operands: the callee's parameters in order. Width of the callee's result; 0 for void."""
    READ = "read"
    """Take an item from `stream`, waiting while it is empty. W = stream.width."""
    WRITE = "write"
    """Operand: the item to put into `stream`, waiting while it is full. Width 0."""


COMPARISONS = frozenset({Opcode.EQ, Opcode.NE, Opcode.ULT, Opcode.ULE, Opcode.SLT, Opcode.SLE})
DIVISIONS = frozenset({Opcode.UDIV, Opcode.SDIV, Opcode.UREM, Opcode.SREM})
COMMUTATIVE = frozenset({Opcode.ADD, Opcode.MUL, Opcode.AND, Opcode.OR, Opcode.XOR, Opcode.EQ, Opcode.NE})
SIDE_EFFECTS = frozenset({Opcode.STORE, Opcode.CALL, Opcode.READ, Opcode.WRITE})


@dataclass(frozen=True)
class Place:
    """A place in the user's source."""

    path: str
    line: int
    column: int = 0


class Value:
    """Anything an operation can take: a constant, a parameter, a phi or an operation's result."""

    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width


class Const(Value):
    """A constant; two constants are equal if width and value are, but compare with `same_value`, not `==`."""

    __slots__ = ("value",)

    def __init__(self, value: int, width: int) -> None:
        super().__init__(width)
        self.value = value & ((1 << width) - 1)

    @property
    def signed(self) -> int:
        """The value as two's complement."""
        return to_signed(self.value, self.width)

    def __repr__(self) -> str:
        return f"{self.value}"


class Param(Value):
    """A scalar argument of a function."""

    __slots__ = ("name", "place", "signed")

    def __init__(self, name: str, width: int, *, signed: bool = False, place: Place | None = None) -> None:
        super().__init__(width)
        self.name = name
        self.signed = signed
        self.place = place

    def __repr__(self) -> str:
        return f"%{self.name}"


class Phi(Value):
    """A value chosen by the edge on which its block was entered."""

    __slots__ = ("incoming", "name", "place", "serial")

    def __init__(self, width: int, *, name: str = "", place: Place | None = None) -> None:
        super().__init__(width)
        self.incoming: dict[Block, Value] = {}
        self.name = name
        self.place = place
        self.serial = next(_serial)

    def __repr__(self) -> str:
        return f"%{self.name or 'v'}.{self.serial}"


class Op(Value):
    """One operation.

    `predicate` (width 1) guards the side effect of STORE, READ and WRITE, and says for a LOAD when its result is
    needed; None: always. A guarded LOAD whose predicate is 0 gives an unspecified value that nobody uses.
    """

    __slots__ = ("args", "callee", "memory", "name", "opcode", "place", "predicate", "serial", "stream")

    def __init__(
        self,
        opcode: Opcode,
        width: int,
        args: list[Value] | tuple[Value, ...] = (),
        *,
        memory: Memory | None = None,
        callee: Function | None = None,
        stream: Stream | None = None,
        predicate: Value | None = None,
        name: str = "",
        place: Place | None = None,
    ) -> None:
        super().__init__(width)
        self.opcode = opcode
        self.args = list(args)
        self.memory = memory
        self.callee = callee
        self.stream = stream
        self.predicate = predicate
        self.name = name
        """The source variable it computes, from debug info; empty if none."""
        self.place = place
        self.serial = next(_serial)

    def operands(self) -> Iterator[Value]:
        """Yield every value it uses, the predicate last."""
        yield from self.args
        if self.predicate is not None:
            yield self.predicate

    @property
    def subscripts(self) -> list[Value]:
        """The subscripts of a LOAD or STORE."""
        return self.args[1:] if self.opcode is Opcode.STORE else self.args

    @property
    def has_side_effect(self) -> bool:
        """True if it cannot be dropped when nobody uses its result."""
        return self.opcode in SIDE_EFFECTS

    def __repr__(self) -> str:
        return f"%{self.name or 'v'}.{self.serial}"


@dataclass(eq=False)
class Jump:
    """Go on with `target`."""

    target: Block


@dataclass(eq=False)
class Branch:
    """Go on with `then` if `condition` (width 1) is 1, else with `other`."""

    condition: Value
    then: Block
    other: Block


@dataclass(eq=False)
class Switch:
    """Go on with the target of the case whose constant equals `value`, else with `default`."""

    value: Value
    cases: list[tuple[int, Block]]
    default: Block


@dataclass(eq=False)
class Return:
    """Leave the function; `value` has the function's `width`, None for void."""

    value: Value | None = None


Terminator = Jump | Branch | Switch | Return


@dataclass(eq=False)
class LoopDirectives:
    """What pragmas (or the defaults) ask of the loop whose header carries them."""

    label: str = ""
    """The C label, else `loop_LINE`."""
    place: Place | None = None
    pipeline_ii: int | None = None
    """Wanted II; 0: as small as possible; None: not asked."""
    pipeline_off: bool = False
    unroll: int | None = None
    """Factor; 0: completely; 1: never; None: not asked."""
    flatten: bool | None = None
    """None: not asked."""
    trip_min: int | None = None
    trip_max: int | None = None
    """From loop_tripcount; only for reports."""
    independent: tuple[str, ...] = ()
    """Names of arrays said to carry no dependence between iterations; `*`: all. With `:raw`, `:war` or `:waw` after the
    name only that kind is meant."""
    latency_min: int | None = None
    latency_max: int | None = None
    dataflow: bool = False
    known_trips: int | None = None
    """The constant trip count, when a pass found one; kept here so that it survives later changes of the loop."""
    distances: dict[str, int] = field(default_factory=dict)
    """Memory name -> how near a STORE is to a later access of the same element, when a pass could tell.

    Distance d: what an iteration stores is neither loaded nor stored again later in that iteration (in program order)
    if
    d >= 1, nor in the d - 1 iterations after it. A LOAD before a STORE of the same element keeps its order in any case.
    Memories that are absent: nothing is known.
    """


class Block:
    """A basic block: phis, operations in program order, one terminator."""

    __slots__ = ("directives", "name", "ops", "phis", "terminator")

    def __init__(self, name: str) -> None:
        self.name = name
        self.phis: list[Phi] = []
        self.ops: list[Op] = []
        self.terminator: Terminator = Return()
        self.directives: LoopDirectives | None = None
        """Set on loop headers only."""

    def successors(self) -> list[Block]:
        """Return the targets of the terminator, each once, in order."""
        end = self.terminator
        if isinstance(end, Jump):
            targets = [end.target]
        elif isinstance(end, Branch):
            targets = [end.then, end.other]
        elif isinstance(end, Switch):
            targets = [*(b for _, b in end.cases), end.default]
        else:
            targets = []
        return list(dict.fromkeys(targets))

    def __repr__(self) -> str:
        return self.name


class MemoryKind(StrEnum):
    """Where an array lives."""

    PARAM = "param"
    """An argument of the top function (or a global that code outside the top reaches): ports of the module."""
    LOCAL = "local"
    """An array of a function, without a value at entry."""
    STATIC = "static"
    """A global or static array with state that survives calls; `init` at power-up."""
    ROM = "rom"
    """Never written: `init` for ever."""


@dataclass(frozen=True)
class Partition:
    """How one dimension is split into banks of their own."""

    dim: int
    """From 0; -1: every dimension."""
    kind: str
    """`complete`, `cyclic` or `block`."""
    factor: int = 0
    place: Place | None = None


@dataclass(eq=False)
class Memory:
    """An array: elements of `width` bits, `dims` subscripts from outermost to innermost."""

    name: str
    width: int
    dims: tuple[int, ...]
    kind: MemoryKind
    init: tuple[int, ...] | None = None
    """Row-major element values, unsigned; None: no value at power-up."""
    signed: bool = False
    place: Place | None = None
    partitions: list[Partition] = field(default_factory=list)
    storage: str | None = None
    """bind_storage impl: `bram`, `lutram`, `register`; None: chosen by size."""
    storage_latency: int | None = None
    ports: int = 2
    """Accesses a cycle: each a read or a write."""
    interface: str | None = None
    """For PARAM: `ap_memory`, `ap_none`, `ap_vld`, `s_axilite`, `axis`; None: chosen by use (one element: ap_vld,
    else ap_memory)."""
    argument: str = ""
    """For PARAM: the C parameter or global it stands for."""
    field_path: tuple[str, ...] = ()
    """For PARAM of a struct type: which field of the argument this is."""
    byte_offset: int = 0
    """For PARAM: where the first element lies in the C object, in bytes."""
    byte_strides: tuple[int, ...] = ()
    """For PARAM: bytes between neighbours in each dimension of the C object."""
    field_bit_offset: int = 0
    """For PARAM: bit offset of the element within the byte at its place (0 unless a bit-field)."""
    shape: tuple[int, ...] | None = None
    """The dimensions before linearization, which `byte_strides` belongs to; None: `dims` still are these."""
    built_of: str = ""
    """`bram`, `lutram` or `register`, as the scheduler decided for a memory inside the module; empty before."""
    read_first: bool = True
    """Whether a LOAD in the cycle in which another port stores to its element still gets what was there before."""

    @property
    def depth(self) -> int:
        """Number of elements."""
        result = 1
        for d in self.dims:
            result *= d
        return result

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False)
class Stream:
    """A FIFO channel between processes, or a stream port of the top."""

    name: str
    width: int
    depth: int = 2
    kind: str = "local"
    """`local`, `input` or `output`."""
    place: Place | None = None


@dataclass(eq=False)
class Function:
    """A function: the top, or one that is shared by its callers. All others were inlined."""

    name: str
    params: list[Param] = field(default_factory=list)
    width: int = 0
    """Of the result; 0: void."""
    signed: bool = False
    blocks: list[Block] = field(default_factory=list)
    """The first is the entry; it has no predecessor and no phi."""
    place: Place | None = None
    dataflow: bool = False
    pipeline_ii: int | None = None
    allocation: dict[str, int] = field(default_factory=dict)
    """Operation (`mul`, `sdiv`, ...) or function name -> greatest number of instances."""
    bind_ops: dict[str, tuple[str, int | None]] = field(default_factory=dict)
    """Source variable -> (impl: `dsp`, `fabric`; latency or None)."""
    latency_min: int | None = None
    latency_max: int | None = None

    @property
    def entry(self) -> Block:
        """The block where it begins."""
        return self.blocks[0]

    def __repr__(self) -> str:
        return self.name


@dataclass(eq=False)
class Queue:
    """A stream in memory: `items` with counters of the next item to take and the next place to fill."""

    name: str
    """The C name."""
    items: Memory
    head: Memory
    tail: Memory
    depth: int
    """That the program asks for; 0: not said."""


@dataclass(eq=False)
class Inlined:
    """A call that was inlined: the blocks from `first` on until `after`. Known only until the first pass runs."""

    callee: str
    """C name."""
    function: Function
    """That it is in now."""
    first: Block
    after: Block
    place: Place | None = None
    dataflow: Place | None = None
    """Where its function asks for dataflow."""


@dataclass(eq=False)
class Module:
    """Everything that becomes one hardware module."""

    top: Function
    functions: list[Function] = field(default_factory=list)
    """The top first; callees after their callers."""
    memories: list[Memory] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    control: str = "ap_ctrl_hs"
    """`ap_ctrl_hs`, `ap_ctrl_none` or `s_axilite`."""
    scalar_interfaces: dict[str, str] = field(default_factory=dict)
    """Scalar argument -> `ap_none`, `ap_vld` (outputs) or `s_axilite`."""
    queues: list[Queue] = field(default_factory=list)
    """The streams inside the module, as the front end lowered them."""
    inlined: list[Inlined] = field(default_factory=list)
    """The calls that dataflow speaks about."""


def to_signed(value: int, width: int) -> int:
    """Return an unsigned bit pattern as two's complement."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


def same_value(a: Value, b: Value) -> bool:
    """Tell whether two operands are the same: identical, or equal constants."""
    if isinstance(a, Const) and isinstance(b, Const):
        return a.width == b.width and a.value == b.value
    return a is b


def predecessors(function: Function) -> dict[Block, list[Block]]:
    """Map each block to the blocks that can go to it, in block order."""
    result: dict[Block, list[Block]] = {b: [] for b in function.blocks}
    for block in function.blocks:
        for target in block.successors():
            result[target].append(block)
    return result


def replace_uses(function: Function, replacement: dict[Value, Value]) -> None:
    """Replace values wherever the function uses them; chains (a -> b -> c) are followed."""
    if not replacement:
        return

    def final(value: Value) -> Value:
        while value in replacement:
            value = replacement[value]
        return value

    for block in function.blocks:
        for phi in block.phis:
            for source, value in phi.incoming.items():
                phi.incoming[source] = final(value)
        for op in block.ops:
            op.args = [final(a) for a in op.args]
            if op.predicate is not None:
                op.predicate = final(op.predicate)
        end = block.terminator
        if isinstance(end, Branch):
            end.condition = final(end.condition)
        elif isinstance(end, Switch):
            end.value = final(end.value)
        elif isinstance(end, Return):
            end.value = None if end.value is None else final(end.value)
