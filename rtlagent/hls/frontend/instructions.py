"""LLVM instructions as operations of the CDFG, one function at a time."""

from __future__ import annotations

import re
from collections.abc import Callable

from rtlagent.hls.frontend.builder import phi_of
from rtlagent.hls.frontend.llvm_module import Block as LlvmBlock
from rtlagent.hls.frontend.llvm_module import Function as LlvmFunction
from rtlagent.hls.frontend.llvm_module import Instruction, Operand
from rtlagent.hls.frontend.llvm_text import FloatType, IntType, PtrType, StructType, Type, UnreadableTextError
from rtlagent.hls.frontend.operands import INTEGERS_HINT, Lowered, Operands, Scope, split_constant
from rtlagent.hls.frontend.pointers import Address64, Difference, Form, Pointer, form_of
from rtlagent.hls.frontend.steps import Elements, Field, Walk, constant_of
from rtlagent.hls.frontend.streams import Streams
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    MemoryKind,
    Opcode,
    Phi,
    Place,
    Return,
    Switch,
    Value,
)

_BINARY = {
    name: Opcode(name)
    for name in ("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr")
}
_FLOAT_OPERATIONS = frozenset(
    {"fadd", "fsub", "fmul", "fdiv", "frem", "fneg", "fcmp", "fptosi", "fptoui", "sitofp", "uitofp", "fptrunc", "fpext"}
)
_PREDICATES = {
    "eq": (Opcode.EQ, False),
    "ne": (Opcode.NE, False),
    "ult": (Opcode.ULT, False),
    "ule": (Opcode.ULE, False),
    "slt": (Opcode.SLT, False),
    "sle": (Opcode.SLE, False),
    "ugt": (Opcode.ULT, True),
    "uge": (Opcode.ULE, True),
    "sgt": (Opcode.SLT, True),
    "sge": (Opcode.SLE, True),
}


class FunctionLowering(Operands):
    """Lowers one function; `run` returns nothing, the function is filled."""

    def __init__(self, scope: Scope, streams: Streams, llvm: LlvmFunction, function: Function) -> None:
        super().__init__(scope, llvm, function)
        self.streams = streams
        self.markers: dict[int, list[Block]] = {}
        self.brackets: list[tuple[str, int, Block]] = []
        """(`enter` or `leave`, number, the block that begins there)."""
        self.loop_places: dict[Block, Place] = {}
        self.loop_functions: dict[Block, str] = {}
        """End of a loop's body -> C function in which it was written."""
        self.exit_status: dict[Block, Value] = {}
        """Of blocks of main that end the program: what they give to exit."""
        self.entry: Callable[[], None] | None = None
        """Writes what comes first, such as copies of arguments."""
        self._blocks: dict[Operand, Block] = {}
        self._tails: dict[Operand, Block] = {}
        self._phis: list[tuple[Instruction, Phi, Form | None]] = []

    def run(self) -> None:
        """Lower every reachable block, in reverse post-order, so that definitions come before uses."""
        order = self._order()
        for block in order:
            self._blocks[block] = Block(re.sub(r"\W", "_", block.name) or "block")
        for block in order:
            made = self._blocks[block]
            self.function.blocks.append(made)
            self.b.enter(made)
            if self.entry is not None and block is order[0]:
                self.entry()
            for ins in block.instructions:
                self.b.place = self.scope.info.place(ins.text)
                try:
                    self._instruction(ins)
                except UnreadableTextError as error:
                    self.fail(f"this cannot become hardware ({error})", "write it with plain integers and arrays")
            self._tails[block] = self.b.block
        self._finish_phis()

    def _order(self) -> list[LlvmBlock]:
        first = self.llvm.blocks[0]
        done: list[LlvmBlock] = []
        seen = {first}
        stack = [(first, iter(_successors(first)))]
        while stack:
            block, waiting = stack[-1]
            for target in waiting:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(_successors(target))))
                    break
            else:
                done.append(block)
                stack.pop()
        return done[::-1]

    def _finish_phis(self) -> None:
        for ins, phi, form in self._phis:
            for operand, source in zip(ins.operands, ins.incoming_blocks, strict=True):
                tail = self._tails.get(source)
                if tail is None:
                    continue
                self.b.enter(tail)
                if form is None:
                    phi.incoming[tail] = self.value(operand)
                else:
                    phi.incoming[tail] = self.pointers.packed(self.pointer(operand), form)

    # --- instructions

    def _instruction(self, ins: Instruction) -> None:
        code = ins.opcode
        handler = _HANDLERS.get(code)
        if handler is not None:
            handler(self, ins)
        elif code in _BINARY:
            self._binary(ins)
        elif code in _FLOAT_OPERATIONS:
            self.fail(f"floating-point operation ({code}) at run time", INTEGERS_HINT)
        else:
            self.fail(f"{code} cannot become hardware", "write it with plain integers, arrays and loops")

    def _binary(self, ins: Instruction) -> None:
        first, second = ins.operands
        if ins.opcode == "sub":
            a, z = self.lowered(first), self.lowered(second)
            if isinstance(a, Address64) and isinstance(z, Address64):
                self.set(ins, Difference(a.pointer, z.pointer))
                return
        if ins.opcode == "sdiv":
            a, divisor = self.lowered(first), constant_of(second)
            exact = self.pointers.difference(a, divisor) if isinstance(a, Difference) and divisor else None
            if exact is not None:
                self.set(ins, exact)
                return
        sides = [self.value(o) for o in ins.operands]
        self.set(ins, self.b.op(_BINARY[ins.opcode], sides[0].width, sides, name=self.wish(ins)))

    def _cast(self, ins: Instruction) -> None:
        value = self.value(ins.operands[0])
        self.set(ins, self.b.resize(value, self.width(ins.type), signed=ins.opcode == "sext"))

    def _bitcast(self, ins: Instruction) -> None:
        if ins.opcode == "bitcast" and ins.type.startswith("<"):
            self.fail("a vector is used", "write it with plain integers, arrays and loops")
        self.set(ins, self.lowered(ins.operands[0]))

    def _to_integer(self, ins: Instruction) -> None:
        pointer = self.pointer(ins.operands[0])
        width = self.width(ins.type)
        if width == 64:
            self.set(ins, Address64(pointer))
        else:
            self.set(ins, self.b.resize(self.pointers.as_integer(pointer), width))

    def _to_pointer(self, ins: Instruction) -> None:
        found = self.lowered(ins.operands[0])
        if isinstance(found, Address64):
            self.set(ins, found.pointer)
            return
        value = self.b.resize(self.value(ins.operands[0]), 64)
        self.set(ins, self.pointers.from_integer(value, self.scope.points_to.of(ins)))

    def _icmp(self, ins: Instruction) -> None:
        found = re.search(r"icmp (?:samesign )?(\w+) ", ins.text)
        assert found
        opcode, swapped = _PREDICATES[found[1]]
        first, second = reversed(ins.operands) if swapped else ins.operands
        if first.type == "ptr":
            self.set(ins, self.pointers.compared(opcode, self.pointer(first), self.pointer(second)))
        else:
            self.set(ins, self.b.op(opcode, 1, [self.value(first), self.value(second)]))

    def _select(self, ins: Instruction) -> None:
        condition = self.value(ins.operands[0])
        yes, no = ins.operands[1:]
        if ins.type != "ptr":
            a, z = self.value(yes), self.value(no)
            self.set(ins, self.b.op(Opcode.SELECT, a.width, [condition, a, z], name=self.wish(ins)))
            return
        targets = self.scope.points_to.of(ins)
        form = form_of(targets)
        sides = [self.pointers.packed(self.pointer(o), form) for o in (yes, no)]
        chosen = self.b.op(Opcode.SELECT, sides[0].width, [condition, *sides], name=self.wish(ins))
        self.set(ins, self.pointers.unpacked(chosen, form, targets))

    def _phi(self, ins: Instruction) -> None:
        form = None
        if ins.type == "ptr":
            targets = self.scope.points_to.of(ins)
            form = form_of(targets)
            if form.thing is not None and not form.unit:
                self.set(ins, self.pointers.unpacked(None, form, targets))
                return
        phi = phi_of(self.b.block, self.width(ins.type) if form is None else self.pointers.width(form), self.wish(ins))
        phi.place = self.b.place
        self.set(ins, phi if form is None else self.pointers.unpacked(phi, form, targets))
        self._phis.append((ins, phi, form))

    def _alloca(self, ins: Instruction) -> None:
        targets = self.scope.points_to.of(ins)
        self.set(ins, Pointer(targets, form_of(targets), origin=targets))

    def _getelementptr(self, ins: Instruction) -> None:
        base = self.pointer(ins.operands[0])
        moved = 0
        terms: list[tuple[int, Value]] = []
        for step in self.scope.points_to.steps[ins]:
            if isinstance(step, Walk | Elements):
                moved += step.bytes
            elif isinstance(step, Field):
                moved += step.offset
            else:
                terms.append((step.stride.bytes, self.value(step.operand)))
        self.set(ins, base.plus(self.scope.points_to.of(ins), moved, tuple(terms)))

    def _load(self, ins: Instruction) -> None:
        kind = self.kind(ins.type)
        pointer = self.accessible(ins.operands[0])
        self.set(ins, self._loaded(pointer, kind, ins) if pointer else split_constant(kind, bytes(kind.size)))

    def _loaded(self, pointer: Pointer, kind: Type, ins: Instruction) -> Lowered:
        if isinstance(kind, PtrType):
            self.keep_inside(pointer)
            return self.accesses.load_pointer(pointer, self.scope.points_to.of(ins))
        if isinstance(kind, IntType | FloatType):
            bits = kind.width if isinstance(kind, IntType) else kind.size * 8
            return self.accesses.load(pointer, bits, self.wish(ins))
        if isinstance(kind, StructType):
            parts = zip(kind.fields, kind.offsets, strict=True)
            return tuple(self._loaded(self.moved(pointer, at), part, ins) for part, at in parts)
        self.fail("a whole array is loaded as a value", "copy it element by element")

    def keep_inside(self, pointer: Pointer) -> None:
        """Refuse pointers in what lies outside: an address there says nothing about a memory here."""
        for thing in pointer.objects:
            if thing.kind is MemoryKind.PARAM:
                name = thing.argument or thing.name
                hint = "pass a subscript instead, or compile the function that sets the pointer too"
                self.fail(f"{name} holds a pointer, and code outside the module reaches it", hint)

    def _store(self, ins: Instruction) -> None:
        data, target = ins.operands
        pointer = self.accessible(target)
        if pointer is not None:
            self._stored(pointer, self.kind(data.type), self.lowered(data), data)

    def _stored(self, pointer: Pointer, kind: Type, data: Lowered, operand: Operand) -> None:
        if isinstance(data, tuple) and isinstance(kind, StructType):
            for part, at, value in zip(kind.fields, kind.offsets, data, strict=True):
                self._stored(self.moved(pointer, at), part, value, operand)
        elif isinstance(kind, PtrType) or isinstance(data, Pointer | Address64):
            held = data.pointer if isinstance(data, Address64) else data
            if not isinstance(held, Pointer):
                held = self.pointer(operand)
            self.keep_inside(pointer)
            self.accesses.store_pointer(pointer, held)
        elif isinstance(kind, IntType | FloatType):
            self.accesses.store(pointer, data if isinstance(data, Value) else self.value(operand))
        else:
            self.fail("a whole array is stored as a value", "copy it element by element")

    def _br(self, ins: Instruction) -> None:
        operands = ins.operands
        end = self.b.block
        if len(operands) == 1:
            end.terminator = Jump(self._blocks[operands[0]])
        else:
            yes, no = self._blocks[operands[2]], self._blocks[operands[1]]
            end.terminator = Jump(yes) if yes is no else Branch(self.value(operands[0]), yes, no)
        loop = re.search(r"!llvm\.loop !(\d+)", ins.text)
        if loop:
            place = self.scope.info.loop_start(int(loop[1]))
            if place is not None:
                self.loop_places[end] = place
                self.loop_functions[end] = self.scope.info.loop_function(int(loop[1]))

    def _switch(self, ins: Instruction) -> None:
        value = self.value(ins.operands[0])
        numbers = re.findall(r"^\s*i\d+ (-?\d+|true|false), label ", ins.text, re.M)
        values = [int(n) if n.lstrip("-").isdigit() else int(n == "true") for n in numbers]
        cases = [
            (Const(number, value.width).value, self._blocks[target])
            for number, target in zip(values, ins.operands[2:], strict=True)
        ]
        self.b.block.terminator = Switch(value, cases, self._blocks[ins.operands[1]])

    def _ret(self, ins: Instruction) -> None:
        if not ins.operands or not self.function.width:
            self.b.block.terminator = Return(None)
            return
        form = self.scope.results.get(self.name)
        if form is not None:
            value = self.pointers.packed(self.pointer(ins.operands[0]), form)
        else:
            value = self._joined(self.lowered(ins.operands[0]), ins.operands[0])
        self.b.block.terminator = Return(self.b.resize(value, self.function.width))

    def _joined(self, found: Lowered, operand: Operand) -> Value:
        """Return a structure as one wide value, as it lies in registers of eight bytes."""
        if not isinstance(found, tuple):
            return self.value(operand)
        total: Value = Const(0, 64 * len(found))
        for number, part in enumerate(found):
            if not isinstance(part, Value):
                self.fail("a structure with pointers is returned", "return it through a pointer")
            wide = self.b.resize(part, total.width)
            moved = self.b.op(Opcode.SHL, total.width, [wide, Const(64 * number, 16)])
            total = self.b.op(Opcode.OR, total.width, [moved, total])
        return total

    def _unreachable(self, _ins: Instruction) -> None:
        width = self.function.width
        value = self.exit_status.get(self.b.block, Const(0, max(width, 1)))
        self.b.block.terminator = Return(self.b.resize(value, width) if width else None)

    def _extractvalue(self, ins: Instruction) -> None:
        whole = self.lowered(ins.operands[0])
        for index in _indices(ins):
            if not isinstance(whole, tuple):
                self.fail("a structure is used as a value here", "pass it by pointer")
            whole = whole[index]
        self.set(ins, whole)

    def _insertvalue(self, ins: Instruction) -> None:
        whole, part = (self.lowered(o) for o in ins.operands[:2])
        self.set(ins, self._inserted(whole, part, _indices(ins)))

    def _inserted(self, whole: Lowered, part: Lowered, indices: list[int]) -> Lowered:
        if not indices:
            return part
        if not isinstance(whole, tuple):
            self.fail("a structure is used as a value here", "pass it by pointer")
        at = indices[0]
        return (*whole[:at], self._inserted(whole[at], part, indices[1:]), *whole[at + 1 :])

    def _call(self, ins: Instruction) -> None:
        from rtlagent.hls.frontend.calls import lower_call

        lower_call(self, ins)


_HANDLERS: dict[str, Callable[[FunctionLowering, Instruction], None]] = {
    "zext": FunctionLowering._cast,
    "sext": FunctionLowering._cast,
    "trunc": FunctionLowering._cast,
    "ptrtoint": FunctionLowering._to_integer,
    "inttoptr": FunctionLowering._to_pointer,
    "bitcast": FunctionLowering._bitcast,
    "freeze": FunctionLowering._bitcast,
    "icmp": FunctionLowering._icmp,
    "select": FunctionLowering._select,
    "phi": FunctionLowering._phi,
    "alloca": FunctionLowering._alloca,
    "getelementptr": FunctionLowering._getelementptr,
    "load": FunctionLowering._load,
    "store": FunctionLowering._store,
    "br": FunctionLowering._br,
    "switch": FunctionLowering._switch,
    "ret": FunctionLowering._ret,
    "unreachable": FunctionLowering._unreachable,
    "extractvalue": FunctionLowering._extractvalue,
    "insertvalue": FunctionLowering._insertvalue,
    "call": FunctionLowering._call,
}


def _successors(block: LlvmBlock) -> list[LlvmBlock]:
    return [o for o in block.instructions[-1].operands if isinstance(o, LlvmBlock)]


def _indices(ins: Instruction) -> list[int]:
    return [int(n) for n in re.findall(r", (\d+)(?=,|$)", ins.text.split(", !", 1)[0])]
