"""Calls: of shared functions, intrinsics, memory functions, and of what hardware leaves out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NoReturn

from rtlagent.hls.frontend.brackets import BRACKET
from rtlagent.hls.frontend.copies import Item, Loop, Move
from rtlagent.hls.frontend.intrinsics import INTRINSICS, lower_intrinsic
from rtlagent.hls.frontend.llvm_module import Constant, Function, Instruction, Operand, Symbol
from rtlagent.hls.frontend.objects import NULL
from rtlagent.hls.frontend.operands import INTEGERS_HINT
from rtlagent.hls.frontend.pointers import Form, Pointer, form_of
from rtlagent.hls.frontend.points_to import Targets
from rtlagent.hls.frontend.reach import Kind, Reach, Stride, join
from rtlagent.hls.frontend.settle import copy_name
from rtlagent.hls.frontend.steps import constant_of
from rtlagent.hls.frontend.streams import PREFIX, lower_stream_call
from rtlagent.hls.ir import Branch, Const, LoopDirectives, Op, Opcode, Value

from .builder import phi_of

if TYPE_CHECKING:
    from rtlagent.hls.frontend.instructions import FunctionLowering

_PRINTING = frozenset(
    {
        "printf",
        "puts",
        "putchar",
        "fprintf",
        "fflush",
        "fputs",
        "perror",
        "vprintf",
        "fputc",
        "putc",
        "fwrite",
    }
)
_ENDING = frozenset({"exit", "abort", "__assert_fail", "_exit", "__assert"})
_ALLOCATING = frozenset(
    {"malloc", "calloc", "realloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "alloca"}
)
_FLOATING = frozenset(
    "sqrt sin cos tan pow exp log log2 log10 floor ceil round fabs fmod atan atan2 sqrtf powf fabsf sinf cosf".split()  # noqa: SIM905
)
_NOTHING = (
    "llvm.lifetime",
    "llvm.dbg",
    "llvm.assume",
    "llvm.experimental.noalias",
    "llvm.donothing",
    "llvm.trap",
    "llvm.debugtrap",
    "llvm.var.annotation",
)
_COUNT_BITS = 32


def _marker(f: FunctionLowering, name: str) -> bool:
    """Note a call that only marks a place; tell whether it was one."""
    marker = re.fullmatch(r"rtlagent_pragma_(\d+)", name)
    bracket = BRACKET.fullmatch(name)
    if marker:
        f.markers.setdefault(int(marker[1]), []).append(f.b.block)
    elif bracket:
        f.b.jump(f.b.new_block(bracket[1]))
        f.brackets.append((bracket[1], int(bracket[2]), f.b.block))
    return bool(marker or bracket)


def lower_call(f: FunctionLowering, ins: Instruction) -> None:
    """Lower a call."""
    *arguments, callee = ins.operands
    if not isinstance(callee, Function | Symbol):
        _indirect(f, callee)
    name = callee.name
    if _marker(f, name):
        return
    if name in f.scope.functions:
        _call_shared(f, ins, name, arguments)
    elif name.startswith(PREFIX):
        lower_stream_call(f, f.streams, ins)
    elif copy_name(callee):
        _copy(f, ins, copy_name(callee), arguments)
    elif name.startswith(_NOTHING):
        return
    elif name.startswith("llvm.") or name in ("abs", "labs", "llabs"):
        _intrinsic(f, ins, name, arguments)
    elif name in _PRINTING:
        if any(ins is operand for block in ins.function.blocks for i in block.instructions for operand in i.operands):
            f.fail(f"the result of {name} is used, and {name} is left out of the hardware", "do not use its result")
        f.scope.remarks.warn("PRINT_DROPPED", f"{name} is left out of the hardware", f.b.place)
    elif f.name == "main" and name in ("exit", "_exit"):
        f.exit_status[f.b.block] = f.value(arguments[0])  # as good as a return from main
    elif name in _ENDING:
        text = f"{name} is left out of the hardware: the function just ends there"
        f.scope.remarks.warn("EXIT_DROPPED", text, f.b.place)
    else:
        _unknown(f, name)


_FLOATS = ("half", "float", "double", "x86_fp80", "fp128")


def _intrinsic(f: FunctionLowering, ins: Instruction, name: str, arguments: list[Operand]) -> None:
    base = name.split(".")[1] if name.startswith("llvm.") else "abs"
    if base in ("stacksave", "stackrestore"):
        if ins.type == "ptr":
            f.set(ins, Pointer({NULL: Reach()}, Form(None), origin={NULL: Reach()}))
    elif base == "objectsize":
        f.set(ins, Const(-1, f.width(ins.type)))
    elif base in INTRINSICS:
        f.set(ins, lower_intrinsic(f.b, name.removeprefix("llvm."), [f.value(a) for a in arguments]))
    else:
        if ins.type in _FLOATS:
            f.fail(f"floating-point operation ({base}) at run time", INTEGERS_HINT)
        f.fail(f"{name} cannot become hardware", "write it with plain integers")


def _indirect(f: FunctionLowering, callee: Operand) -> NoReturn:
    if isinstance(callee, Constant):
        f.fail("inline assembly cannot become hardware", "write it in C")
    f.fail("a function is called through a pointer", "call it by name: use a switch over the choices")


def _unknown(f: FunctionLowering, name: str) -> NoReturn:
    if name in _ALLOCATING:
        f.fail(f"{name} cannot become hardware", "declare an array of constant size")
    if name in _FLOATING:
        f.fail(f"{name} works on floating point", INTEGERS_HINT)
    if name in ("sprintf", "snprintf"):
        f.fail(f"{name} cannot become hardware", "write the digits with a loop of `/ 10` and `% 10`")
    if name in ("rand", "srand"):
        f.fail(f"{name} cannot become hardware", "write a generator, such as `seed = seed * 1664525u + 1013904223u`")
    if any(known.name == name for known in f.llvm.module.functions):
        f.fail(f"{name} takes a variable number of arguments", "give it a fixed number, or an array")
    f.fail(f"{name} has no body here", "put its definition into this file, or include it")


def _call_shared(f: FunctionLowering, ins: Instruction, name: str, arguments: list[Operand]) -> None:
    callee = f.scope.functions[name]
    values: list[Value] = []
    for argument, form in zip(arguments, f.scope.parameters[name], strict=True):
        if form is None:
            values.append(f.value(argument))
        elif form.thing is None or form.unit:
            values.append(f.pointers.packed(f.pointer(argument), form))
    op = f.b.append(Op(Opcode.CALL, callee.width, values, callee=callee, name=f.wish(ins)))
    result = f.scope.results.get(name)
    if result is not None:
        f.set(ins, f.pointers.unpacked(op if callee.width else None, result, f.scope.points_to.of(ins)))
    elif callee.width:
        f.set(ins, op)


# --- memcpy and its like


def _copy(f: FunctionLowering, ins: Instruction, what: str, arguments: list[Operand]) -> None:
    target = f.pointer(arguments[0])
    if ins.type == "ptr":
        f.set(ins, target)
    if constant_of(arguments[2]) == 0:
        return
    copy = f.scope.accessed.copies.get(ins)
    ends = [f.accessible(a) for a in (arguments[:1] if what == "memset" else arguments[:2])]
    to, source = ends[0], ends[1] if len(ends) > 1 else None
    if copy is None or to is None or (source is None and what != "memset"):
        return
    byte = f.b.resize(f.value(arguments[1]), 8) if what == "memset" else None
    _Writer(f, byte, f.value(arguments[2]), overlap=what == "memmove").write(copy.plan(), to, source)


class _Writer:
    """Writes the moves of one copy."""

    def __init__(self, f: FunctionLowering, byte: Value | None, length: Value, *, overlap: bool) -> None:
        self._f = f
        self._byte = byte
        self._length = length
        self._overlap = overlap

    def write(self, items: tuple[Item, ...], target: Pointer, source: Pointer | None) -> None:
        """Write moves: all loads of a straight run before its stores, as source and target may be the same."""
        f = self._f
        waiting: list[tuple[Pointer, Value | Pointer]] = []
        for item in items:
            if isinstance(item, Loop):
                self._store(waiting)
                waiting = []
                self._loop(item, target, source)
                continue
            to = f.moved(target, item.at)
            if source is None:
                waiting.append((to, self._replicated(item.size * 8)))
            else:
                waiting.append((to, self._loaded(item, f.moved(source, item.at))))
        self._store(waiting)

    def _store(self, waiting: list[tuple[Pointer, Value | Pointer]]) -> None:
        for to, data in waiting:
            if isinstance(data, Pointer):
                self._f.keep_inside(to)
                self._f.accesses.store_pointer(to, data)
            else:
                self._f.accesses.store(to, data)

    def _loaded(self, move: Move, source: Pointer) -> Value | Pointer:
        f = self._f
        if not move.is_pointer:
            return f.accesses.load(source, move.size * 8)
        held: Targets = {}
        for thing in source.objects:
            for content in f.scope.points_to.contents.get(thing, ()):
                if source.targets[thing].distance(content.region) == 0:
                    for target, reach in content.holds.items():
                        held[target] = join(held[target], reach) if target in held else reach
        if not held or (form_of(held).thing is not None and not form_of(held).unit):
            return f.accesses.load(source, move.size * 8)
        f.keep_inside(source)
        return f.accesses.load_pointer(source, held)

    def _replicated(self, width: int) -> Value:
        b, byte = self._f.b, self._byte
        assert byte is not None
        if isinstance(byte, Const):
            return Const(int.from_bytes(bytes([byte.value]) * (width // 8), "little"), width)
        result = b.resize(byte, width)
        have = 8
        while have < width:
            result = b.op(Opcode.OR, width, [b.op(Opcode.SHL, width, [result, Const(have, 16)]), result])
            have *= 2
        return result

    def _loop(self, loop: Loop, target: Pointer, source: Pointer | None) -> None:
        """Write a loop; a memmove that could overwrite what it still has to read runs backwards."""
        b = self._f.b
        if loop.count is not None:
            bound: Value = Const(loop.count, _COUNT_BITS)
        else:
            bound = b.divided(b.resize(self._length, _COUNT_BITS), loop.stride)
        backwards = None
        if self._overlap and source is not None and set(target.objects) & set(source.objects):
            backwards = self._f.pointers.compared(Opcode.ULT, source, target)
        before = b.block
        head, inner, after = b.new_block("copy"), b.new_block("copy_body"), b.new_block("copied")
        line = b.place.line if b.place else 0
        head.directives = LoopDirectives(label=f"copy_{line}", place=b.place)
        b.jump(head)
        index = phi_of(head, _COUNT_BITS, "i")
        head.terminator = Branch(b.op(Opcode.ULT, 1, [index, bound]), inner, after)
        b.enter(inner)
        at: Value = index
        if backwards is not None:
            last = b.op(Opcode.SUB, _COUNT_BITS, [bound, Const(1, _COUNT_BITS)])
            mirrored = b.op(Opcode.SUB, _COUNT_BITS, [last, index])
            at = b.op(Opcode.SELECT, _COUNT_BITS, [backwards, mirrored, index])
        length = loop.count * loop.stride if loop.count is not None else 0
        stride = Stride(loop.stride, Kind.TYPED if length else Kind.WALK, length)
        ends = [
            p and p.plus({t: r.with_stride(stride) for t, r in p.targets.items()}, 0, ((loop.stride, at),))
            for p in (target, source)
        ]
        assert ends[0] is not None
        self.write(loop.body, ends[0], ends[1])
        following = b.sum(index, Const(1, _COUNT_BITS))
        tail = b.block
        b.jump(head)
        index.incoming = {before: Const(0, _COUNT_BITS), tail: following}
        b.enter(after)
