"""The IR verifier: what every pass must leave behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .analysis.dominators import Dominators
from .ir import (
    COMPARISONS,
    DIVISIONS,
    Block,
    Branch,
    Const,
    Function,
    Module,
    Op,
    Opcode,
    Param,
    Phi,
    Return,
    Switch,
    Terminator,
    Value,
    predecessors,
)
from .text import describe

_SAME_WIDTH = DIVISIONS | {Opcode.ADD, Opcode.SUB, Opcode.MUL, Opcode.AND, Opcode.OR, Opcode.XOR}
_SHIFTS = frozenset({Opcode.SHL, Opcode.LSHR, Opcode.ASHR})
_GUARDED = frozenset({Opcode.LOAD, Opcode.STORE, Opcode.READ, Opcode.WRITE})


class IrError(AssertionError):
    """A pass left the IR in a state that it must not have: a fault of the engine, never of the user's program."""


def check(module: Module) -> None:
    """Check the whole module.

    Raises:
        IrError: Naming the function, the block and the operation.
    """
    _check_module(module)
    for function in module.functions:
        _FunctionCheck(module, function).run()
    _check_calls_are_acyclic(module)


def _unique(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise IrError(f"two {what} called {name}")
        seen.add(name)


def _check_module(module: Module) -> None:
    if not module.functions or module.functions[0] is not module.top:
        raise IrError("the top is not the module's first function")
    _unique("functions", (f.name for f in module.functions))
    _unique("memories", (m.name for m in module.memories))
    _unique("streams", (s.name for s in module.streams))
    for memory in module.memories:
        if memory.width < 1 or any(d < 1 for d in memory.dims):
            raise IrError(f"memory {memory.name}: width {memory.width}, dims {memory.dims}")
        if memory.init is not None:
            if len(memory.init) != memory.depth:
                raise IrError(f"memory {memory.name}: {len(memory.init)} initial values for {memory.depth} elements")
            if any(v >> memory.width for v in memory.init):
                raise IrError(f"memory {memory.name}: an initial value does not fit {memory.width} bits")


def _check_calls_are_acyclic(module: Module) -> None:
    position = {f: n for n, f in enumerate(module.functions)}
    for function in module.functions:
        for block in function.blocks:
            for op in block.ops:
                if op.callee is not None and position[op.callee] <= position[function]:
                    raise IrError(f"{function.name}: calls {op.callee.name}, which is not after it in the module")


@dataclass
class _FunctionCheck:
    """The checks of one function; `block` and `what` say where it is, for the message."""

    module: Module
    function: Function

    def __post_init__(self) -> None:
        self.block: Block | None = None
        self.what = ""
        self.memories = set(self.module.memories)
        self.streams = set(self.module.streams)
        self.functions = set(self.module.functions)
        self.params = set(self.function.params)
        self.home: dict[Value, tuple[Block, int]] = {}

    def fail(self, reason: str) -> IrError:
        """Return the error for the present place."""
        where = f"{self.function.name}"
        if self.block is not None:
            where += f", block {self.block.name}"
        return IrError(f"{where}: {reason}" + (f"\n  {self.what}" if self.what else ""))

    def run(self) -> None:
        """Check everything."""
        blocks = self.function.blocks
        if not blocks:
            raise self.fail("no block")
        known = set(blocks)
        if len(known) != len(blocks):
            raise self.fail("a block is listed twice")
        _unique(f"parameters of {self.function.name}", (p.name for p in self.function.params))
        for block in blocks:
            self.block, self.what = block, ""
            for target in block.successors():
                if target not in known:
                    raise self.fail(f"goes to {target.name}, which is not a block of the function")
        self.block = None
        sources = predecessors(self.function)
        if sources[blocks[0]] or blocks[0].phis:
            self.block = blocks[0]
            raise self.fail("the entry has a predecessor or a phi")
        self._find_homes()
        tree = Dominators.of(self.function)
        for block in blocks:
            self._check_block(block, sources[block], tree)

    def _find_homes(self) -> None:
        for block in self.function.blocks:
            self.block = block
            values: list[Phi | Op] = [*block.phis, *block.ops]
            for n, value in enumerate(values):
                if value in self.home:
                    self.what = describe(value)
                    raise self.fail("listed twice")
                self.home[value] = (block, n if isinstance(value, Op) else -1)

    def _check_block(self, block: Block, sources: list[Block], tree: Dominators) -> None:
        self.block = block
        for phi in block.phis:
            self.what = describe(phi)
            if phi.width < 1:
                raise self.fail("width below 1")
            if set(phi.incoming) != set(sources):
                raise self.fail(f"its edges are not the predecessors ({', '.join(s.name for s in sources)})")
            for source, value in phi.incoming.items():
                self._width(value, phi.width)
                self._use(value, source, len(source.phis) + len(source.ops), tree)
        for n, op in enumerate(block.ops):
            # The text is made only for a failing operation: this runs after every pass.
            self.what = ""
            try:
                self._check_op(op)
                for value in op.operands():
                    self._use(value, block, len(block.phis) + n, tree)
            except IrError as error:
                raise IrError(f"{error}\n  {describe(op)}") from None
        self.what = ""
        self._check_terminator(block.terminator, block, tree)

    def _use(self, value: Value, block: Block, position: int, tree: Dominators) -> None:
        """Check that a value used in `block` at `position` is defined on every way there."""
        if isinstance(value, Const):
            if value.value >> value.width:
                raise self.fail(f"the constant {value.value} does not fit {value.width} bits")
            return
        if isinstance(value, Param):
            if value not in self.params:
                raise self.fail(f"the parameter {value} is another function's")
            return
        at = self.home.get(value)
        if at is None:
            raise self.fail(f"uses {value}, which is in no block")
        if value.width < 1:
            raise self.fail(f"uses {value}, which has no result")
        if not tree.reachable(block):
            return
        home, place = at
        if home is block:
            if place >= position:
                raise self.fail(f"uses {value} before it is defined")
        elif not tree.dominates(home, block):
            raise self.fail(f"uses {value}, whose block {home.name} does not dominate this one")

    def _width(self, value: Value, width: int) -> None:
        if value.width != width:
            raise self.fail(f"operand {value} has width {value.width}, not {width}")

    def _check_op(self, op: Op) -> None:
        if op.predicate is not None:
            if op.opcode not in _GUARDED:
                raise self.fail("cannot have a predicate")
            self._width(op.predicate, 1)
        if op.opcode in (Opcode.LOAD, Opcode.STORE):
            self._check_access(op)
        elif op.opcode is Opcode.CALL:
            self._check_call(op)
        elif op.opcode in (Opcode.READ, Opcode.WRITE):
            self._check_channel(op)
        else:
            if op.memory is not None or op.callee is not None or op.stream is not None:
                raise self.fail("names a memory, a function or a stream")
            self._check_plain(op)

    def _count(self, op: Op, count: int) -> None:
        if len(op.args) != count:
            raise self.fail(f"{len(op.args)} operands, not {count}")

    def _check_plain(self, op: Op) -> None:
        if op.width < 1:
            raise self.fail("width below 1")
        if op.opcode is Opcode.SELECT:
            self._count(op, 3)
            self._width(op.args[0], 1)
            self._width(op.args[1], op.width)
            self._width(op.args[2], op.width)
        elif op.opcode in COMPARISONS:
            self._count(op, 2)
            if op.width != 1:
                raise self.fail("a comparison has width 1")
            self._width(op.args[1], op.args[0].width)
        elif op.opcode in _SAME_WIDTH or op.opcode in _SHIFTS:
            self._count(op, 2)
            self._width(op.args[0], op.width)
            if op.opcode in _SAME_WIDTH:
                self._width(op.args[1], op.width)
        else:
            self._count(op, 1)
            width = op.args[0].width
            if op.opcode is Opcode.COPY:
                self._width(op.args[0], op.width)
            elif (width <= op.width) if op.opcode is Opcode.TRUNC else (width >= op.width):
                raise self.fail(f"cannot go from {width} to {op.width} bits")

    def _check_access(self, op: Op) -> None:
        memory = op.memory
        if memory is None or memory not in self.memories:
            raise self.fail(f"the memory {memory} is not the module's")
        if op.opcode is Opcode.LOAD:
            if op.width != memory.width:
                raise self.fail(f"a load of {memory.name} has width {memory.width}")
        else:
            if op.width or not op.args:
                raise self.fail("a store has width 0 and a value")
            self._width(op.args[0], memory.width)
            if memory.kind.value == "rom":
                raise self.fail(f"stores to {memory.name}, which is a ROM")
        if len(op.subscripts) != len(memory.dims):
            raise self.fail(f"{len(op.subscripts)} subscripts for {len(memory.dims)} dimensions")

    def _check_call(self, op: Op) -> None:
        callee = op.callee
        if callee is None or callee not in self.functions:
            raise self.fail(f"the callee {callee} is not the module's")
        self._count(op, len(callee.params))
        for value, param in zip(op.args, callee.params, strict=True):
            self._width(value, param.width)
        if op.width != callee.width:
            raise self.fail(f"{callee.name} gives {callee.width} bits")

    def _check_channel(self, op: Op) -> None:
        stream = op.stream
        if stream is None or stream not in self.streams:
            raise self.fail("the stream is not the module's")
        if op.opcode is Opcode.READ:
            self._count(op, 0)
            if op.width != stream.width:
                raise self.fail(f"{stream.name} carries {stream.width} bits")
        else:
            self._count(op, 1)
            self._width(op.args[0], stream.width)
            if op.width:
                raise self.fail("a write has width 0")

    def _check_terminator(self, end: Terminator, block: Block, tree: Dominators) -> None:
        self.what = describe(end)
        value: Value | None = None
        if isinstance(end, Branch):
            value = end.condition
            self._width(value, 1)
        elif isinstance(end, Switch):
            value = end.value
            numbers = [n for n, _ in end.cases]
            if len(set(numbers)) != len(numbers):
                raise self.fail("a case occurs twice")
            if any(n < 0 or n >> value.width for n in numbers):
                raise self.fail("a case does not fit the value")
        elif isinstance(end, Return):
            value = end.value
            if (value.width if value is not None else 0) != self.function.width:
                raise self.fail(f"the function gives {self.function.width} bits")
        if value is not None:
            self._use(value, block, len(block.phis) + len(block.ops), tree)
