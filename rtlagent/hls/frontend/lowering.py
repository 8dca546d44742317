"""The whole front-end: from C text to a module and its arguments."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from rtlagent.errors import CSourceError, suggestion
from rtlagent.hls import ir
from rtlagent.hls.analysis.loops import find_loops
from rtlagent.hls.check import check
from rtlagent.hls.frontend import library, pragma_targets
from rtlagent.hls.frontend.access import Memories
from rtlagent.hls.frontend.aliases import overlaps
from rtlagent.hls.frontend.brackets import bracketed, dataflow_functions, inlined_calls
from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.declarations import declare, declare_top
from rtlagent.hls.frontend.directives import Directives, label_loops
from rtlagent.hls.frontend.instructions import FunctionLowering
from rtlagent.hls.frontend.llvm import (
    call_order,
    choose_shared,
    prepare,
    reachable,
    read_functions,
    read_value_names,
    without_arguments,
)
from rtlagent.hls.frontend.llvm_module import Function as LlvmFunction
from rtlagent.hls.frontend.llvm_module import LlvmModule
from rtlagent.hls.frontend.llvm_text import UnreadableTextError, read_named_types
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.operands import Scope
from rtlagent.hls.frontend.pointers import Numbering
from rtlagent.hls.frontend.points_to import PointsTo
from rtlagent.hls.frontend.ports import describe
from rtlagent.hls.frontend.pragma_targets import read_markers
from rtlagent.hls.frontend.reach import Reach
from rtlagent.hls.frontend.settle import Accessed, gather, settle
from rtlagent.hls.frontend.signature import Parameter, Signature
from rtlagent.hls.frontend.source import TopText, find_top, hidden_pointers, insert_probes, loop_labels
from rtlagent.hls.frontend.streams import Streams
from rtlagent.hls.frontend.variables import Variables, mentioned_globals
from rtlagent.hls.interface import Argument
from rtlagent.hls.ir import Block, Function, Memory, MemoryKind, Module, Opcode, Place
from rtlagent.hls.options import Clang, HlsOptions, Remarks
from rtlagent.hls.pragmas import MarkedSource, mark_pragmas
from rtlagent.types import SourceFile

_OPTIONS = (library.NO_MACROS, "-D__SYNTHESIS__", "-fno-threadsafe-statics")
_CPP = frozenset({".cc", ".cpp", ".cxx"})


@dataclass(frozen=True)
class LoweredC:
    """What the front-end made."""

    module: Module
    arguments: tuple[Argument, ...]


def lower(source: SourceFile, options: HlsOptions, clang: Clang, remarks: Remarks) -> LoweredC:
    """Lower the function `options.top` of a C or C++ file with all that it calls.

    Raises:
        CSourceError: it does not compile, there is no such function, or something cannot become hardware.
    """
    marked = mark_pragmas(source.text, source.path, remarks, use=options.use_pragmas)
    language = "c++" if PurePosixPath(source.path).suffix.lower() in _CPP else "c"
    found = find_top(marked.text, options.top)
    text = _compile(marked.text, found, language, clang)
    more = library.missing_bodies(text) if language == "c" else ""
    if more:
        text = _compile(marked.text + more, found, language, clang)
    if options.top == "main":
        text = without_arguments(text)
    try:
        return _Lowering(source, options, remarks, marked, found, text).run()
    except UnreadableTextError as error:
        hint = "write it with plain integers, arrays and structures"
        raise CSourceError(f"this cannot become hardware ({error})", where=source.path, hint=hint) from error


def _compile(text: str, found: TopText | None, language: str, clang: Clang) -> str:
    """Compile with probes; where they do not fit (an extent that only the run knows), with fewer or none."""
    if found is None:
        return clang(text, language, _OPTIONS)
    compiled = ""
    for extents in (True, False):
        try:
            compiled = clang(insert_probes(text, found, extents=extents, language=language), language, _OPTIONS)
        except CSourceError:
            continue
        break
    if not compiled:
        return clang(text, language, _OPTIONS)
    hidden = hidden_pointers(found, compiled, language)
    if hidden is not None:
        try:
            return clang(insert_probes(text, hidden, language=language), language, _OPTIONS)
        except CSourceError:
            return compiled
    return compiled


class _Lowering:
    def __init__(
        self,
        source: SourceFile,
        options: HlsOptions,
        remarks: Remarks,
        marked: MarkedSource,
        found: TopText | None,
        text: str,
    ) -> None:
        self.source = source
        self.options = options
        self.remarks = remarks
        self.marked = marked
        self.found = found
        self.text = text
        self.functions = read_functions(text)
        self.first_info = DebugInfo(text, source.path)
        self.top = self._find_symbol()
        self._numbers = itertools.count(1)

    def run(self) -> LoweredC:
        order = call_order(self.functions, self.top, self.first_info)
        self.markers = read_markers(self.text, self.functions, self.marked.pragmas, self.first_info)
        never, always = self._inline_pragmas()
        # Known callbacks become plain calls once they are inlined.
        always |= {name for name in order if self.functions[name].indirect}
        concurrent = dataflow_functions(self.functions, self.markers) if self.options.dataflow else {}
        always |= {callee for name in concurrent for callee, _ in self.functions[name].calls}
        shared = choose_shared(self.functions, order, never, always)
        text, self.brackets = bracketed(self.text, self.functions, concurrent, self.first_info)
        llvm = prepare(text, self.functions, order, shared)
        self.info = DebugInfo(str(llvm), self.source.path)
        self.named = read_named_types(str(llvm))
        kept = [n for n in order if n in shared or n == self.top]
        called = _still_called(llvm, self.top)
        functions = [called[n] for n in kept if n in called]
        return self._lower(llvm, functions)

    def _find_symbol(self) -> str:
        top = self.options.top
        if top in self.functions:
            return top
        mangled = [
            n for n in self.functions if re.match(rf"_Z{len(top)}{re.escape(top)}(?![0-9a-z]*{re.escape(top)})", n)
        ]
        if len(mangled) == 1:
            return mangled[0]
        if len(mangled) > 1:
            raise CSourceError(f"{top} is overloaded", where=self.source.path, hint="give the top a name of its own")
        names = sorted(n for n in self.functions if not n.startswith("_"))
        raise CSourceError(f"there is no function {top!r}", where=self.source.path, hint=suggestion(top, names))

    def _inline_pragmas(self) -> tuple[set[str], set[str]]:
        never: set[str] = set()
        always: set[str] = set()
        by_number = {p.number: p for p in self.marked.pragmas}
        for name, function in self.functions.items():
            for number in function.markers:
                pragma = by_number[number]
                if pragma.kind == "inline":
                    (never if "off" in pragma.options else always).add(name)
                elif pragma.kind == "allocation" and "function" in pragma.options:
                    limited = pragma.options.get("instances", "")
                    never |= {n for n in self.functions if limited in (n, self.first_info.c_name(n))}
        # A call would keep a loop from being pipelined.
        inner = (reachable(self.functions, n) for n in self.markers.pipelined if n in self.functions)
        always |= set().union(*inner) - never
        return never, always

    # --- objects and pointers

    def _lower(self, llvm: LlvmModule, functions: list[LlvmFunction]) -> LoweredC:
        top = next(f for f in functions if f.name == self.top)
        inside = mentioned_globals(llvm, functions)
        variables = Variables(
            llvm, self.info, self.named, self.text, inside, self.functions, self.top, self.remarks, self._number
        )
        shared = {f.name: f for f in functions if f is not top}
        points_to = PointsTo(variables.globals(), self.named, shared)
        locals_: list[Object] = []
        for function in functions:
            for ins, thing in variables.locals(function).items():
                points_to.targets[ins] = {thing: Reach()}
                locals_.append(thing)
        signature = Signature(
            llvm,
            self.options.top,
            self.info,
            self.named,
            self.found,
            self.marked.pragmas,
            self._top_place(),
            self._number,
        )
        parameters = signature.parameters(top)
        for parameter in parameters:
            if parameter.thing is not None:
                points_to.targets[parameter.parts[0]] = {parameter.thing: Reach()}
        points_to.run(functions)
        accessed = gather(points_to, functions, self.named)
        self._check_extents(accessed, signature)
        settle(accessed)
        things = [*points_to.objects.values(), *locals_, *(p.thing for p in parameters if p.thing is not None)]
        _name_uniquely(things)
        return self._write(functions, points_to, accessed, things, parameters)

    def _number(self) -> int:
        return next(self._numbers)

    def _top_place(self) -> Place | None:
        if self.found is None:
            return None
        return Place(self.source.path, self.marked.text.count("\n", 0, self.found.name_at) + 1)

    def _check_extents(self, accessed: Accessed, signature: Signature) -> None:
        """Refuse a pointer argument that is indexed though nobody told its extent."""
        for access in accessed.accesses:
            thing = access.thing
            inside = access.reach.is_constant and 0 <= access.reach.start <= thing.size - access.size
            if thing.assumed and not inside and not self._within_element(thing, access.reach, access.size):
                name = thing.argument
                hint = f"declare it as an array with its size, or add `#pragma HLS interface port={name} depth=N`"
                signature.refuse(f"how many elements {name} has is not known", hint)

    def _within_element(self, thing: Object, reach: Reach, size: int) -> bool:
        """Tell whether subscripts of arrays inside the one element are all that moves an access."""
        return 0 <= reach.start <= thing.size - size and all(0 < s.extent <= thing.size for s in reach.strides)

    # --- writing

    def _write(
        self,
        functions: list[LlvmFunction],
        points_to: PointsTo,
        accessed: Accessed,
        things: list[Object],
        parameters: list[Parameter],
    ) -> LoweredC:
        numbers = {name: thing.number for name, thing in points_to.objects.items()}
        shift = max((t.size for t in things), default=1).bit_length() + 1
        numbering = Numbering(numbers, shift, max(1, (next(self._numbers) - 1).bit_length()))
        memories = Memories(points_to, numbering, lambda t, key: self.info.leaf(t.debug_type, key)[0])
        names = read_value_names(str(functions[0].module), self.info)
        scope = Scope(self.info, points_to, memories, accessed, names, self.remarks)
        depths = {p.options["variable"]: p.number_of("depth") or 0 for p in self.marked.pragmas if p.kind == "stream"}
        streams = Streams(depths, memories.unique)
        made: list[Function] = []
        taken = {self.options.top}
        lowerings: list[FunctionLowering] = []
        for llvm in functions:
            function = Function(self.options.top if llvm.name == self.top else self._function_name(llvm.name, taken))
            lowering = FunctionLowering(scope, streams, llvm, function)
            if llvm.name == self.top:
                declare_top(lowering, parameters, self.info, self._top_place())
            else:
                declare(lowering)
                scope.functions[llvm.name] = function
            lowering.run()
            made.append(function)
            lowerings.append(lowering)
        stored = {op.memory for f in made for b in f.blocks for op in b.ops if op.opcode is Opcode.STORE}
        found = [m for t in things for m in t.memories.values()] + streams.memories
        for memory in found:
            if memory.kind is MemoryKind.STATIC and memory not in stored:
                memory.kind = MemoryKind.ROM
        self._check_overlaps(functions[0].module, parameters, points_to, stored)
        self._sign(things)
        module = Module(made[-1], made[::-1], found, list(streams.ports.values()))
        module.queues = [
            ir.Queue(thing.c_name, q.items, q.head, q.tail, q.asked) for (thing, _), q in streams.queues.items()
        ]
        for lowering in lowerings:
            module.inlined += inlined_calls(lowering.function, lowering.brackets, self.brackets)
        self._directives(module, lowerings, things, points_to, streams.names)
        check(module)
        return LoweredC(module, describe(parameters, points_to.objects, self.info))

    def _function_name(self, name: str, taken: set[str]) -> str:
        """Return the C name of a function, with a number if another has it already."""
        wish = made = re.sub(r"\W", "_", self.info.c_name(name))
        number = 2
        while made in taken:
            made, number = f"{wish}_{number}", number + 1
        taken.add(made)
        return made

    def _check_overlaps(
        self, llvm: LlvmModule, parameters: list[Parameter], points_to: PointsTo, stored: set[Memory | None]
    ) -> None:
        """Refuse a call that hands over one array under two names, one of which is written through."""
        for overlap in overlaps(llvm, self.top, parameters):
            other = overlap.second.thing if overlap.second else points_to.objects.get(overlap.variable)
            things = [t for t in (overlap.first.thing, other) if t is not None and t.memories]
            if len(things) < 2 or not any(m in stored for t in things for m in t.memories.values()):
                continue
            place = self.info.place(overlap.call.text)
            name = overlap.second.name if overlap.second else points_to.objects[overlap.variable].name
            raise CSourceError(
                f"this call hands over one array as {overlap.first.name} and {name}, and hardware keeps them apart",
                where=f"{place.path}:{place.line}:{place.column}" if place else self.source.path,
                hint="pass a copy, or give the function one parameter for both",
            )

    def _sign(self, things: list[Object]) -> None:
        for thing in things:
            for key, memory in thing.memories.items():
                basic = self.info.leaf(thing.debug_type, key)[1]
                memory.signed = basic.signed if basic is not None else thing.signed

    def _directives(
        self,
        module: Module,
        lowerings: list[FunctionLowering],
        things: list[Object],
        points_to: PointsTo,
        streams: frozenset[str],
    ) -> None:
        labels = loop_labels(self.marked.text)
        marked = self.markers.marked
        functions = [lowering.llvm for lowering in lowerings]
        variables = pragma_targets.Variables(things, points_to, functions, self.info)
        resolve, names = variables.memories, variables.names
        follow = self.options.dataflow
        directives = Directives(module, resolve, names, streams, self.remarks, dataflow=follow)
        seen: set[int] = set()
        for lowering in lowerings:
            label_loops(lowering.function, lowering.loop_places, labels, lowering.function.place)
        for lowering in lowerings:
            for number, blocks in sorted(lowering.markers.items()):
                seen.add(number)
                directives.apply(lowering.function, marked[number], blocks, lambda name: _loops_of(lowerings, name))
        reached = {n for name in reachable(self.functions, self.top) for n in self.functions[name].markers}
        for pragma in self.marked.pragmas:
            if pragma.number in reached and pragma.number not in seen and pragma.kind != "inline":
                text = f"#pragma HLS {pragma.kind} is ignored: what it stands in is never reached"
                self.remarks.warn("PRAGMA_IGNORED", text, pragma.place)


def _still_called(llvm: LlvmModule, top: str) -> dict[str, LlvmFunction]:
    """Return the functions that the top function calls after dead code is gone, itself included, by name."""
    by_name = {f.name: f for f in llvm.functions}
    found: dict[str, LlvmFunction] = {}
    waiting = [top]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found[name] = by_name[name]
            instructions = (i for b in by_name[name].blocks for i in b.instructions)
            waiting += [i.operands[-1].name for i in instructions if i.opcode == "call"]
    return found


def _loops_of(lowerings: list[FunctionLowering], name: str) -> list[Block]:
    """Return the headers of the loops that were written in a C function."""
    return [
        loop.header
        for lowering in lowerings
        for loop in find_loops(lowering.function)
        if any(lowering.loop_functions.get(latch) == name for latch in loop.latches)
    ]


def _name_uniquely(things: list[Object]) -> None:
    taken: set[str] = set()
    for thing in sorted(things, key=lambda t: t.kind is not MemoryKind.PARAM):
        base, number = thing.name, 2
        while thing.name in taken:
            thing.name = f"{base}_{number}"
            number += 1
        taken.add(thing.name)
