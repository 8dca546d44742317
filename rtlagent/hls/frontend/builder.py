"""Makes operations in the block that is being written, with trivial folding so that addresses stay readable."""

from __future__ import annotations

from rtlagent.hls.ir import Block, Const, Function, Jump, Memory, Op, Opcode, Phi, Place, Value


class Builder:
    """Appends to `block`; `place` and `name` go to the operations it makes."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.block = Block("entry")
        self.place: Place | None = None
        self._count = 0

    def op(self, opcode: Opcode, width: int, args: list[Value], *, name: str = "") -> Value:
        """Append a pure operation; constants fold, identities vanish."""
        folded = _fold(opcode, width, args)
        if folded is not None:
            return folded
        made = Op(opcode, width, args, name=name, place=self.place)
        self.block.ops.append(made)
        return made

    def append(self, op: Op) -> Op:
        """Append an operation as it is."""
        op.place = self.place
        self.block.ops.append(op)
        return op

    def resize(self, value: Value, width: int, *, signed: bool = False) -> Value:
        """Return a value as `width` bits."""
        if value.width == width:
            return value
        if value.width > width:
            return self.op(Opcode.TRUNC, width, [value])
        return self.op(Opcode.SEXT if signed else Opcode.ZEXT, width, [value])

    def scaled(self, value: Value, factor: int) -> Value:
        """Return value * factor."""
        width = value.width
        if factor == 1:
            return value
        if factor > 0 and factor & (factor - 1) == 0:
            return self.op(Opcode.SHL, width, [value, Const(factor.bit_length() - 1, 6)])
        return self.op(Opcode.MUL, width, [value, Const(factor, width)])

    def divided(self, value: Value, factor: int) -> Value:
        """Return value / factor, unsigned."""
        width = value.width
        if factor == 1:
            return value
        if factor & (factor - 1) == 0:
            return self.op(Opcode.LSHR, width, [value, Const(factor.bit_length() - 1, 6)])
        return self.op(Opcode.UDIV, width, [value, Const(factor, width)])

    def remainder(self, value: Value, factor: int) -> Value:
        """Return value % factor, unsigned."""
        if factor & (factor - 1) == 0:
            return self.op(Opcode.AND, value.width, [value, Const(factor - 1, value.width)])
        return self.op(Opcode.UREM, value.width, [value, Const(factor, value.width)])

    def sum(self, a: Value, b: Value) -> Value:
        """Return a + b."""
        return self.op(Opcode.ADD, a.width, [a, b])

    def load(self, memory: Memory, subscripts: list[Value], predicate: Value | None = None, name: str = "") -> Op:
        """Append a load."""
        return self.append(Op(Opcode.LOAD, memory.width, subscripts, memory=memory, predicate=predicate, name=name))

    def store(self, memory: Memory, data: Value, subscripts: list[Value], predicate: Value | None = None) -> Op:
        """Append a store."""
        return self.append(Op(Opcode.STORE, 0, [data, *subscripts], memory=memory, predicate=predicate))

    def new_block(self, name: str) -> Block:
        """Make a block after the current one, without entering it."""
        self._count += 1
        block = Block(f"{name}_{self._count}")
        self.function.blocks.append(block)
        return block

    def enter(self, block: Block) -> None:
        """Go on writing into `block`."""
        self.block = block

    def jump(self, block: Block) -> None:
        """End the current block and go on in `block`."""
        self.block.terminator = Jump(block)
        self.block = block


def phi_of(block: Block, width: int, name: str = "") -> Phi:
    """Add a phi to a block."""
    phi = Phi(width, name=name)
    block.phis.append(phi)
    return phi


def _fold(opcode: Opcode, width: int, args: list[Value]) -> Value | None:
    first = args[0]
    if len(args) == 1:
        if not isinstance(first, Const):
            return None
        return Const(first.signed if opcode is Opcode.SEXT else first.value, width)
    second = args[1]
    if isinstance(first, Const) and isinstance(second, Const):
        return _fold_constants(opcode, width, first, second)
    if (
        isinstance(second, Const)
        and second.value == 0
        and opcode
        in (
            Opcode.ADD,
            Opcode.SUB,
            Opcode.OR,
            Opcode.XOR,
            Opcode.SHL,
            Opcode.LSHR,
        )
    ):
        return first
    if isinstance(first, Const) and first.value == 0 and opcode in (Opcode.ADD, Opcode.OR, Opcode.XOR):
        return second
    return None


def _fold_constants(opcode: Opcode, width: int, a: Const, b: Const) -> Value | None:
    x, y = a.value, b.value
    results = {
        Opcode.ADD: x + y,
        Opcode.SUB: x - y,
        Opcode.MUL: x * y,
        Opcode.AND: x & y,
        Opcode.OR: x | y,
        Opcode.XOR: x ^ y,
        Opcode.EQ: int(x == y),
        Opcode.NE: int(x != y),
    }
    if opcode in results:
        return Const(results[opcode], width)
    if opcode is Opcode.SHL and y < width:
        return Const(x << y, width)
    if opcode is Opcode.LSHR:
        return Const(x >> min(y, width), width)
    if opcode is Opcode.UDIV and y:
        return Const(x // y, width)
    if opcode is Opcode.UREM and y:
        return Const(x % y, width)
    return None
