"""LLVM instructions as operations of the CDFG, one function at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from rtlagent.errors import CSourceError
from rtlagent.hls.frontend.address import Accesses, Pointer
from rtlagent.hls.frontend.builder import Builder, phi_of
from rtlagent.hls.frontend.copies import copied_type
from rtlagent.hls.frontend.intrinsics import INTRINSICS, lower_intrinsic
from rtlagent.hls.frontend.llvm import DebugInfo, names_global
from rtlagent.hls.frontend.llvm_text import FloatType, IntType, PtrType, Reader, Type, UnreadableTextError
from rtlagent.hls.frontend.objects import OFFSET_BITS, TAG_BITS, Object, encode, scalar_width
from rtlagent.hls.frontend.points_to import PointsTo
from rtlagent.hls.ir import (
    Block,
    Branch,
    Const,
    Function,
    Jump,
    Op,
    Opcode,
    Param,
    Phi,
    Place,
    Return,
    Switch,
    Value,
)
from rtlagent.hls.options import Remarks

Lowered = Value | Pointer | tuple[Any, ...]

_BINARY = {o.value: o for o in Opcode if o.value in "add sub mul udiv sdiv urem srem and or xor shl lshr ashr".split()}  # noqa: SIM905
_GENERIC = re.compile(
    r"(add|sub|mul|inc|dec|conv|cmp|arrayidx|arraydecay|call|shl|shr|and|or|xor|rem|div|cond|idxprom|idx|tobool|lnot|land|lor"
    r"|retval|neg|not|frombool|spec|i|tmp|incdec|loadedv|storedv|bf|ret|lor|sext|zext|trunc|agg|coerce|this|ref|add\.ptr|sub\.ptr)?\d*$"
)
_PRINTING = frozenset({"printf", "puts", "putchar", "fprintf", "fflush", "fputs", "perror", "vprintf", "fputc", "putc"})
_ENDING = frozenset({"exit", "abort", "__assert_fail", "_exit", "__assert"})
_FLOAT_OPS = frozenset(
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
_INTEGERS_HINT = "use integers, or fixed point such as `int` with a shift after each product"


@dataclass
class Scope:
    """What all functions of a module share while they are lowered."""

    info: DebugInfo
    points_to: PointsTo
    tags: dict[str, int]
    by_number: dict[int, Object]
    names: dict[tuple[str, str], str]
    remarks: Remarks
    functions: dict[str, Function] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)


class FunctionLowering:
    """Lowers one function; `run` returns nothing, the function is filled."""

    def __init__(self, scope: Scope, llvm: Any, function: Function, arguments: dict[str, Lowered]) -> None:
        self.scope = scope
        self.llvm = llvm
        self.name: str = llvm.name
        self.function = function
        self.values: dict[str, Lowered] = dict(arguments)
        self.b = Builder(function)
        self.accesses = Accesses(self.b, scope.tags)
        self.markers: dict[int, list[Block]] = {}
        self.loop_places: dict[Block, Place] = {}
        self._blocks: dict[str, Block] = {}
        self._tails: dict[str, Block] = {}
        self._phis: list[tuple[Any, list[Phi]]] = []

    def run(self) -> None:
        """Lower every reachable block, in reverse post-order, so that definitions come before uses."""
        order = self._order()
        for block in order:
            self._blocks[block.name] = Block(_block_name(block.name))
        for block in order:
            made = self._blocks[block.name]
            self.function.blocks.append(made)
            self.b.enter(made)
            for ins in block.instructions:
                self.b.place = self.scope.info.place(str(ins))
                try:
                    self._instruction(ins)
                except UnreadableTextError as error:
                    self.fail(f"this cannot become hardware ({error})", "write it with plain integers and arrays")
            self._tails[block.name] = self.b.block
        self._finish_phis()

    def fail(self, message: str, hint: str) -> NoReturn:
        """Refuse the source at the current place."""
        place = self.b.place
        where = f"{place.path}:{place.line}:{place.column}" if place else self.scope.info.path
        raise CSourceError(message, where=where, hint=hint)

    def _order(self) -> list[Any]:
        blocks = {b.name: b for b in self.llvm.blocks}
        successors = {name: _targets(block, blocks) for name, block in blocks.items()}
        first = next(iter(blocks))
        done: list[str] = []
        seen = {first}
        stack = [(first, iter(successors[first]))]
        while stack:
            name, waiting = stack[-1]
            for target in waiting:
                if target not in seen:
                    seen.add(target)
                    stack.append((target, iter(successors[target])))
                    break
            else:
                done.append(name)
                stack.pop()
        return [blocks[n] for n in reversed(done)]

    def _finish_phis(self) -> None:
        for ins, phis in self._phis:
            for operand, source in zip(ins.operands, ins.incoming_blocks, strict=True):
                tail = self._tails.get(source.name)
                if tail is None:
                    continue
                self.b.enter(tail)
                for phi, value in zip(phis, self._parts(operand, len(phis)), strict=True):
                    phi.incoming[tail] = value

    def _parts(self, operand: Any, count: int) -> list[Value]:
        if count == 1:
            return [self.value(operand)]
        pointer = self.pointer(operand)
        return [self.accesses.tag_of(pointer), self.accesses.offset_of(pointer)]

    def kind(self, text: str) -> Type:
        """Read a type; each text once."""
        found = self.scope.types.get(text)
        if found is None:
            found = Reader(text, self.scope.points_to.named).type()
            self.scope.types[text] = found
        return found

    def value(self, operand: Any) -> Value:
        """Return an operand as a value; a pointer packed in 64 bits."""
        found = self.lowered(operand)
        if isinstance(found, Pointer):
            return self.accesses.pack(found)
        if isinstance(found, tuple):
            self.fail("a structure is used as a value here", "pass it by pointer")
        return found

    def pointer(self, operand: Any) -> Pointer:
        """Return an operand as a pointer."""
        found = self.lowered(operand)
        if isinstance(found, Pointer):
            return found
        if isinstance(found, tuple):
            self.fail("a structure is used as a pointer here", "pass it by pointer")
        return self.accesses.unpack(found, frozenset(self.scope.points_to.targets(self.name, operand)))

    def lowered(self, operand: Any) -> Lowered:
        """Return what an operand became."""
        known = self.values.get(operand.name) if operand.name and not names_global(operand) else None
        if known is not None:
            return known
        if names_global(operand):
            return self._global(operand.name, 0)
        text = str(operand).strip()
        return self._constant(text)

    def _global(self, name: str, offset: int) -> Pointer:
        thing = self.scope.points_to.objects.get(name)
        if thing is None:
            self.fail(f"the address of {name} is used", "function pointers cannot become hardware: use a switch")
        targets = frozenset(self.scope.points_to.constant_targets(name, offset))
        found = thing.resolve(offset)
        if found is None or thing.raw:
            return Pointer(targets, thing, field=offset)
        terms = tuple((stride, Const(index, OFFSET_BITS)) for stride, index in found[1])
        return Pointer(targets, thing, field=offset - sum(s * i for s, i in found[1]), terms=terms)

    def _constant(self, text: str) -> Lowered:
        reader = Reader(text, self.scope.points_to.named)
        kind = reader.type()
        if isinstance(kind, PtrType):
            address = reader.address()
            if not address.name:
                null = Const(0, TAG_BITS), Const(address.offset, OFFSET_BITS)
                return Pointer(frozenset(), None, *null)
            return self._global(address.name, address.offset)
        image = reader.constant(kind)
        if image.pointers:
            width = scalar_width(kind)
            return Const(encode(image.pointers[0], self.scope.tags), width)
        if isinstance(kind, IntType | FloatType):
            return Const(int.from_bytes(image.data, "little"), scalar_width(kind))
        parts = getattr(kind, "fields", None)
        if parts is None:
            self.fail(f"a constant of type {text.split(' ', maxsplit=1)[0]} is used", "use plain integers and arrays")
        return tuple(
            Const(int.from_bytes(image.data[at : at + part.size], "little"), scalar_width(part))
            for part, at in zip(parts, kind.offsets, strict=True)  # type: ignore[union-attr]
        )

    def wish(self, ins: Any) -> str:
        """Return the C variable that an instruction computes; empty if none is known."""
        known = self.scope.names.get((self.name, ins.name))
        if known:
            return known
        base = re.sub(r"(\.(addr|sroa|i|lcssa|pre|\d+)\d*)+$", "", ins.name)
        return "" if _GENERIC.match(base) else re.sub(r"\W", "_", base)

    def _instruction(self, ins: Any) -> None:
        code = ins.opcode
        handler = _HANDLERS.get(code)
        if handler is not None:
            handler(self, ins)
        elif code in _BINARY:
            a, b = (self.value(o) for o in ins.operands)
            self._set(ins, self.b.op(_BINARY[code], a.width, [a, b], name=self.wish(ins)))
        elif code in _FLOAT_OPS:
            self.fail(f"floating-point operation ({code}) at run time", _INTEGERS_HINT)
        else:
            self.fail(f"{code} cannot become hardware", "write it with plain integers, arrays and loops")

    def _set(self, ins: Any, value: Lowered) -> None:
        self.values[ins.name] = value

    def _cast(self, ins: Any) -> None:
        value = self.value(next(iter(ins.operands)))
        width = scalar_width(self.kind(str(ins.type)))
        made = self.b.resize(value, width, signed=ins.opcode == "sext")
        self._set(ins, made)

    def _bitcast(self, ins: Any) -> None:
        self._set(ins, self.lowered(next(iter(ins.operands))))

    def _icmp(self, ins: Any) -> None:
        found = re.search(r"= icmp (?:samesign )?(\w+) (\S+)", str(ins))
        assert found
        opcode, swapped = _PREDICATES[found[1]]
        first, second = ins.operands
        if swapped:
            first, second = second, first
        if str(first.type) == "ptr":
            self._set(ins, self._compare(opcode, self.pointer(first), self.pointer(second)))
            return
        self._set(ins, self.b.op(opcode, 1, [self.value(first), self.value(second)]))

    def _compare(self, opcode: Opcode, a: Pointer, b: Pointer) -> Value:
        offsets: list[Value] = [self.accesses.offset_of(a), self.accesses.offset_of(b)]
        if opcode not in (Opcode.EQ, Opcode.NE):
            return self.b.op(opcode, 1, offsets)
        same_tag = self.b.op(Opcode.EQ, 1, [self.accesses.tag_of(a), self.accesses.tag_of(b)])
        same_offset = self.b.op(Opcode.EQ, 1, offsets)
        both = self.b.op(Opcode.AND, 1, [same_tag, same_offset])
        return both if opcode is Opcode.EQ else self.b.op(Opcode.XOR, 1, [both, Const(1, 1)])

    def _select(self, ins: Any) -> None:
        condition, yes, no = ins.operands
        c = self.value(condition)
        if str(ins.type) != "ptr":
            a, b = self.value(yes), self.value(no)
            self._set(ins, self.b.op(Opcode.SELECT, a.width, [c, a, b], name=self.wish(ins)))
            return
        p, q = self.pointer(yes), self.pointer(no)
        tag = self.b.op(Opcode.SELECT, TAG_BITS, [c, self.accesses.tag_of(p), self.accesses.tag_of(q)])
        at = self.b.op(Opcode.SELECT, OFFSET_BITS, [c, self.accesses.offset_of(p), self.accesses.offset_of(q)])
        self._set(ins, Pointer(p.targets | q.targets, None, tag, at))

    def _phi(self, ins: Any) -> None:
        block, name = self.b.block, self.wish(ins)
        if str(ins.type) == "ptr":
            phis = [phi_of(block, TAG_BITS), phi_of(block, OFFSET_BITS, name)]
            targets = frozenset(self.scope.points_to.tops.get((self.name, ins.name), set()))
            self._set(ins, Pointer(targets, None, phis[0], phis[1]))
        else:
            phis = [phi_of(block, scalar_width(self.kind(str(ins.type))), name)]
            self._set(ins, phis[0])
        for phi in phis:
            phi.place = self.b.place
        self._phis.append((ins, phis))

    def _alloca(self, ins: Any) -> None:
        thing = self.scope.points_to.allocas[self.name, ins.name]
        self._set(ins, Pointer(frozenset({(thing, 0)}), thing))

    def _getelementptr(self, ins: Any) -> None:
        step = self.scope.points_to.steps[self.name, ins.name]
        base = self.pointer(next(iter(ins.operands)))
        targets = frozenset(self.scope.points_to.tops.get((self.name, ins.name), set()))
        if step.byte:
            moved = self.accesses.moved(base, step.terms[0][1])
            self._set(ins, Pointer(targets, moved.base, moved.tag, moved.offset, moved.field, moved.terms))
            return
        terms = []
        for stride, index in step.terms:
            terms.append((stride, Const(index, OFFSET_BITS) if isinstance(index, int) else self.value(index)))
        self._set(
            ins,
            Pointer(targets, base.base, base.tag, base.offset, base.field + step.field, (*base.terms, *terms)),
        )

    def _accessible(self, operand: Any) -> Pointer:
        pointer = self.pointer(operand)
        if not pointer.objects():
            hint = "point it to an array or variable of this program before it is used"
            self.fail("a pointer without a known object is used", hint)
        return pointer

    def _load(self, ins: Any) -> None:
        kind = self.kind(str(ins.type))
        pointer = self._accessible(next(iter(ins.operands)))
        if not isinstance(kind, IntType | PtrType | FloatType):
            self.fail("a whole structure is loaded as a value", "copy it field by field")
        loaded = self.accesses.load(pointer, kind, self.wish(ins))
        if isinstance(kind, PtrType):
            targets = frozenset(self.scope.points_to.tops.get((self.name, ins.name), set()))
            self._set(ins, self.accesses.unpack(loaded, targets))
        else:
            self._set(ins, loaded)

    def _store(self, ins: Any) -> None:
        data, target = ins.operands
        kind = self.kind(str(data.type))
        pointer = self._accessible(target)
        if not isinstance(kind, IntType | PtrType | FloatType):
            self.fail("a whole structure is stored as a value", "copy it field by field")
        self.accesses.store(pointer, kind, self.value(data))

    def _br(self, ins: Any) -> None:
        operands = list(ins.operands)
        end = self.b.block
        if len(operands) == 1:
            end.terminator = Jump(self._blocks[operands[0].name])
        else:
            yes, no = self._blocks[operands[2].name], self._blocks[operands[1].name]
            end.terminator = Jump(yes) if yes is no else Branch(self.value(operands[0]), yes, no)
        loop = re.search(r"!llvm\.loop !(\d+)", str(ins))
        if loop:
            start = self.scope.info.loops.get(int(loop[1]))
            place = self.scope.info.at(start) if start is not None else None
            if place is not None:
                self.loop_places[end] = place

    def _switch(self, ins: Any) -> None:
        # The case values are no operands in LLVM 22: the text has them in every version.
        text = str(ins)
        value = self.value(next(iter(ins.operands)))
        default = re.search(r"switch i\d+ [^,]+, label %(\"[^\"]*\"|[-\w.$]+)", text)
        assert default
        cases = [
            (Const(int(number), value.width).value, self._blocks[target.strip('"')])
            for number, target in re.findall(r"^\s*i\d+ (-?\d+), label %(\"[^\"]*\"|[-\w.$]+)", text, re.M)
        ]
        self.b.block.terminator = Switch(value, cases, self._blocks[default[1].strip('"')])

    def _ret(self, ins: Any) -> None:
        operands = list(ins.operands)
        value = self.value(operands[0]) if operands and self.function.width else None
        self.b.block.terminator = Return(value)

    def _unreachable(self, _ins: Any) -> None:
        self.b.block.terminator = Return(Const(0, self.function.width) if self.function.width else None)

    def _extractvalue(self, ins: Any) -> None:
        whole = self.lowered(next(iter(ins.operands)))
        indices = [int(n) for n in re.findall(r", (\d+)", str(ins).split(", !dbg")[0])]
        for index in indices:
            if not isinstance(whole, tuple):
                self.fail("a structure is used as a value here", "pass it by pointer")
            whole = whole[index]
        self._set(ins, whole)

    def _insertvalue(self, ins: Any) -> None:
        whole_operand, part = list(ins.operands)[:2]
        whole = self.lowered(whole_operand)
        indices = [int(n) for n in re.findall(r", (\d+)", str(ins).split(", !dbg")[0])]
        if not isinstance(whole, tuple) or len(indices) != 1:
            self.fail("a structure is used as a value here", "pass it by pointer")
        self._set(ins, (*whole[: indices[0]], self.lowered(part), *whole[indices[0] + 1 :]))

    def _call(self, ins: Any) -> None:
        operands = list(ins.operands)
        callee = operands[-1]
        name: str = callee.name
        arguments = operands[:-1]
        if not names_global(callee) or not name:
            self.fail("a function is called through a pointer", "call it by name: use a switch over the choices")
        marker = re.fullmatch(r"rtlagent_pragma_(\d+)", name)
        if marker:
            self.markers.setdefault(int(marker[1]), []).append(self.b.block)
        elif name in self.scope.functions:
            self._call_shared(ins, self.scope.functions[name], arguments)
        elif name.startswith(("llvm.memcpy", "llvm.memmove", "llvm.memset")) or name in ("memcpy", "memmove", "memset"):
            self._block_copy(ins, name.removeprefix("llvm.").split(".")[0], arguments)
        elif name.startswith(
            ("llvm.lifetime", "llvm.dbg", "llvm.assume", "llvm.experimental.noalias", "llvm.donothing")
        ):
            return
        elif name.split(".", maxsplit=1)[0] == "llvm" or name in ("abs", "labs", "llabs"):
            base = name.split(".")[1] if name.startswith("llvm.") else "abs"
            if base not in INTRINSICS:
                self.fail(f"{name} cannot become hardware", "write it with plain integers")
            self._set(ins, lower_intrinsic(self.b, base, [self.value(a) for a in arguments]))
        elif name in _PRINTING:
            self.scope.remarks.warn("PRINT_DROPPED", f"{name} is left out of the hardware", self.b.place)
            self._set(ins, Const(0, scalar_width(self.kind(str(ins.type)))) if str(ins.type) != "void" else ())
        elif name in _ENDING:
            text = f"{name} is left out of the hardware: the function just ends there"
            self.scope.remarks.warn("EXIT_DROPPED", text, self.b.place)
        else:
            self._unknown(name)

    def _unknown(self, name: str) -> NoReturn:
        if name in ("malloc", "calloc", "realloc", "free"):
            self.fail(f"{name} cannot become hardware", "declare an array of constant size")
        if name in ("sqrt", "sin", "cos", "pow", "exp", "log", "floor", "ceil", "fabs", "sqrtf", "powf"):
            self.fail(f"{name} works on floating point", _INTEGERS_HINT)
        self.fail(f"{name} has no body here", "put its definition into this file, or include it")

    def _call_shared(self, ins: Any, callee: Function, arguments: list[Any]) -> None:
        values: list[Value] = []
        for argument in arguments:
            if str(argument.type) == "ptr":
                pointer = self.pointer(argument)
                values += [self.accesses.tag_of(pointer), self.accesses.offset_of(pointer)]
            else:
                values.append(self.value(argument))
        op = self.b.append(Op(Opcode.CALL, callee.width, values, callee=callee, name=self.wish(ins)))
        if str(ins.type) == "ptr":
            targets = frozenset(self.scope.points_to.tops.get((self.name, ins.name), set()))
            self._set(ins, self.accesses.unpack(op, targets))
        elif callee.width:
            self._set(ins, op)

    def _block_copy(self, ins: Any, what: str, arguments: list[Any]) -> None:
        target = self.pointer(arguments[0])
        if str(ins.type) == "ptr":
            self._set(ins, target)
        source = None if what == "memset" else self.pointer(arguments[1])
        if not target.objects() or (source is not None and not source.objects()):
            hint = "point it to an array or variable of this program before it is used"
            self.fail("a pointer without a known object is used", hint)
        length = self.value(arguments[2])
        sides = [target] if source is None else [target, source]
        if not isinstance(length, Const):
            self._variable_copy(sides, self.value(arguments[1]) if source is None else None, length)
            return
        if not length.value:
            return
        kind = copied_type([p.targets for p in sides], length.value)
        if source is None:
            self.accesses.fill(target, kind, self.b.resize(self.value(arguments[1]), 8))
        else:
            self.accesses.copy(target, source, kind)

    def _variable_copy(self, sides: list[Pointer], byte: Value | None, length: Value) -> None:
        kind = copied_type([p.targets for p in sides], None)
        count = self.b.divided(self.b.resize(length, OFFSET_BITS), kind.size)

        def body(index: Value) -> None:
            at = [self.accesses.walked(p, kind.size, index) for p in sides]
            if byte is None:
                self.accesses.copy(at[0], at[1], kind)
            else:
                self.accesses.fill(at[0], kind, self.b.resize(byte, 8))

        self.accesses.loop(count, body)

    def _int_to_pointer(self, ins: Any) -> None:
        value = self.b.resize(self.value(next(iter(ins.operands))), 64)
        targets = frozenset(self.scope.points_to.tops.get((self.name, ins.name), set()))
        self._set(ins, self.accesses.unpack(value, targets))


_HANDLERS: dict[str, Callable[[FunctionLowering, Any], None]] = {
    "zext": FunctionLowering._cast,
    "sext": FunctionLowering._cast,
    "trunc": FunctionLowering._cast,
    "ptrtoint": FunctionLowering._cast,
    "bitcast": FunctionLowering._bitcast,
    "freeze": FunctionLowering._bitcast,
    "inttoptr": FunctionLowering._int_to_pointer,
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


def make_params(llvm: Any, kind: Callable[[str], Type], points_to: PointsTo) -> tuple[list[Param], dict[str, Lowered]]:
    """Return the parameters of a shared function; a pointer is a tag and an offset."""
    params: list[Param] = []
    values: dict[str, Lowered] = {}
    for argument in llvm.arguments:
        name = re.sub(r"\W", "_", argument.name) or f"p{len(params)}"
        if str(argument.type) == "ptr":
            tag, offset = Param(f"{name}_object", TAG_BITS), Param(f"{name}_offset", OFFSET_BITS)
            params += [tag, offset]
            targets = frozenset(points_to.tops.get((llvm.name, argument.name), set()))
            values[argument.name] = Pointer(targets, None, tag, offset)
        else:
            param = Param(name, scalar_width(kind(str(argument.type))))
            params.append(param)
            values[argument.name] = param
    return params, values


def _targets(block: Any, blocks: dict[str, Any]) -> list[str]:
    last = None
    for ins in block.instructions:
        last = ins
    assert last is not None
    return [o.name for o in last.operands if str(o.type) == "label" and o.name in blocks]


def _block_name(name: str) -> str:
    base = re.sub(r"\W", "_", name)
    return base or "block"
