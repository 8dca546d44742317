"""The whole front-end: from C text to a module and its arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from rtlagent.errors import CSourceError, suggestion
from rtlagent.hls.check import check
from rtlagent.hls.frontend.address import Pointer
from rtlagent.hls.frontend.c_types import CTypes
from rtlagent.hls.frontend.copies import check_copy
from rtlagent.hls.frontend.directives import Directives, label_loops
from rtlagent.hls.frontend.instructions import FunctionLowering, Lowered, Scope, make_params
from rtlagent.hls.frontend.llvm import (
    DebugInfo,
    TextFunction,
    call_order,
    choose_shared,
    names_global,
    prepare,
    reachable,
    read_debug_info,
    read_functions,
    read_value_names,
)
from rtlagent.hls.frontend.llvm_text import (
    ArrayType,
    FloatType,
    Image,
    IntType,
    PtrType,
    Reader,
    StructType,
    Type,
    UnreadableTextError,
    VoidType,
    read_named_types,
)
from rtlagent.hls.frontend.objects import Object, scalar_width
from rtlagent.hls.frontend.points_to import PointsTo, check_access
from rtlagent.hls.frontend.source import ELEMENT, EXTENT, TopText, find_top, insert_probes, loop_labels
from rtlagent.hls.interface import Argument
from rtlagent.hls.ir import Function, Memory, MemoryKind, Module, Param, Place
from rtlagent.hls.options import Clang, HlsOptions, Remarks
from rtlagent.hls.pragmas import MarkedSource, mark_pragmas
from rtlagent.types import SourceFile

_CPP = frozenset({".cc", ".cpp", ".cxx"})
_GLOBAL = re.compile(r"^@(?:\"[^\"]*\"|[-\w.$]+) = (.*?)\b(global|constant) (.*)$", re.S)


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
    return _Lowering(source, options, remarks, marked, found, text).run()


def _compile(text: str, found: TopText | None, language: str, clang: Clang) -> str:
    """Compile with probes; where they do not fit (an extent that only the run knows), with fewer or none."""
    if found is not None:
        for extents in (True, False):
            try:
                return clang(insert_probes(text, found, extents=extents), language, ())
            except CSourceError:
                continue
    return clang(text, language, ())


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
        self.first_info = read_debug_info(text, source.path)
        self.top = self._find_symbol()
        self.c_types = CTypes(text)
        self.assumed: dict[Object, str] = {}
        """Argument objects whose extent nobody told -> argument."""

    def run(self) -> LoweredC:
        order = call_order(self.functions, self.top, self.first_info)
        self._check_indirect(order)
        never, always = self._inline_pragmas()
        shared = choose_shared(self.functions, order, never, always)
        self.llvm = prepare(self.text, order, shared)
        cleaned = str(self.llvm)
        self.info = read_debug_info(cleaned, self.source.path)
        self.named = read_named_types(cleaned)
        kept = [n for n in order if n in shared or n == self.top]
        llvm_functions = {f.name: f for f in self.llvm.functions if f.name in kept}
        points_to = self._objects(llvm_functions)
        self._analyse(points_to, llvm_functions)
        return self._write(points_to, llvm_functions, kept, read_value_names(cleaned, self.info))

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

    def _check_indirect(self, order: list[str]) -> None:
        for name in order:
            if self.functions[name].indirect:
                place = self.first_info.at(self.functions[name].indirect[0])
                where = f"{place.path}:{place.line}:{place.column}" if place else self.source.path
                hint = "call it by name: use a switch over the choices"
                raise CSourceError("a function is called through a pointer", where=where, hint=hint)

    def _inline_pragmas(self) -> tuple[set[str], set[str]]:
        never: set[str] = set()
        always: set[str] = set()
        by_number = {p.number: p for p in self.marked.pragmas}
        for name, function in self.functions.items():
            for number in function.markers:
                pragma = by_number[number]
                if pragma.kind == "inline":
                    (never if "off" in pragma.options else always).add(name)
        return never, always

    # --- objects

    def _objects(self, functions: dict[str, Any]) -> PointsTo:
        points_to = PointsTo({}, {}, self.named)
        outside = self._outside_globals()
        for variable in self.llvm.global_variables:
            if ELEMENT in variable.name or EXTENT in variable.name or variable.name.startswith("llvm."):
                continue
            thing = self._global_object(variable, len(points_to.objects) + 1, outside)
            if thing is not None:
                points_to.objects[variable.name] = thing
        count = len(points_to.objects)
        for name, function in functions.items():
            for block in function.blocks:
                for ins in block.instructions:
                    if ins.opcode == "alloca":
                        count += 1
                        points_to.allocas[name, ins.name] = self._alloca_object(ins, count)
        self.argument_objects: dict[str, Object] = {}
        for number, argument in enumerate(functions[self.top].arguments):
            if str(argument.type) == "ptr":
                count += 1
                thing = self._argument_object(argument, number, count)
                self.argument_objects[argument.name] = thing
                points_to.tops[self.top, argument.name] = {(thing, 0)}
        for thing in (*points_to.objects.values(), *points_to.allocas.values(), *self.argument_objects.values()):
            thing.find_leaves()
        return points_to

    def _outside_globals(self) -> set[str]:
        """Return the globals that code outside the top function's call tree reaches, or might."""
        if "main" in self.functions and self.top != "main":
            names = reachable(self.functions, "main", skip=self.top)
            return set().union(*(self.functions[n].globals for n in names)) if names else set()
        if self.top == "main":
            return set()
        return {
            v.name
            for v in self.llvm.global_variables
            if not re.search(r" = (?:dso_local )?(?:internal|private)", str(v))
        }

    def _may_be_written(self, name: str) -> bool:
        """Tell whether some function may write a global: anything but loads of it, or of elements of it, counts."""
        mention = re.compile(rf"@{re.escape(name)}(?![-\w.$])")
        for body in re.findall(r"^define .*?^}$", self.text, re.M | re.S):
            lines = [line for line in body.splitlines() if not line.lstrip().startswith("#dbg")]
            waiting = [mention]
            while waiting:
                pattern = waiting.pop()
                for line in lines:
                    if not pattern.search(line):
                        continue
                    step = re.match(r"\s+(%[-\w.$]+) = getelementptr ", line)
                    if step:
                        waiting.append(re.compile(rf"{re.escape(step[1])}(?![-\w.$])(?! = )"))
                    elif not re.match(r"\s+%[-\w.$]+ = load ", line):
                        return True
        return False

    def _global_object(self, variable: Any, number: int, outside: set[str]) -> Object | None:
        text = re.sub(r"(, (?:align \d+|section \"[^\"]*\"|comdat.*|!dbg !\d+))+\s*$", "", str(variable).strip())
        found = _GLOBAL.match(text)
        if not found:
            return None
        name = variable.name
        constant = found[2] == "constant"
        reader = Reader(found[3], self.named)
        try:
            kind = reader.type()
            image = reader.constant(kind) if reader.peek() else None
        except UnreadableTextError:
            return None
        basic = self.c_types.global_variable(name)
        is_port = not constant and name in outside and image is not None
        if is_port and image is not None and any(image.data) and not self._may_be_written(name):
            is_port = False  # a table that is not declared const
        if is_port and image is not None and image.pointers:
            self.remarks.note("GLOBAL_INSIDE", f"{name} holds pointers: it stays inside the module")
            is_port = False
        return Object(
            re.sub(r"\W", "_", name.rsplit(".", 1)[-1] if not name.startswith(".") else name).strip("_") or "g",
            kind,
            MemoryKind.PARAM if is_port else MemoryKind.STATIC,
            number,
            image=None if is_port else (image or Image(bytearray(kind.size))),
            argument=name if is_port else "",
            signed=bool(basic and basic.signed),
        )

    def _alloca_object(self, ins: Any, number: int) -> Object:
        text = str(ins)
        place = self.info.place(text)
        reader = Reader(_allocated(text), self.named)
        kind = reader.type()
        if reader.peek() == ",":
            where = f"{place.path}:{place.line}:{place.column}" if place else self.source.path
            hint = "give it a constant size"
            raise CSourceError("an array whose size only the run knows cannot become hardware", where=where, hint=hint)
        name = re.sub(r"(\.(addr|sroa|i|\d+)\d*)+$", "", ins.name)
        return Object(re.sub(r"\W", "_", name) or "local", kind, MemoryKind.LOCAL, number, place=place)

    def _argument_object(self, argument: Any, number: int, tag: int) -> Object:
        name = self._argument_name(argument, number)
        if re.search(r"\b(?:byval|sret)\b", str(argument)):
            self._refuse(f"{name} is a structure by value", "pass the structure by pointer")
        element = self._probe(ELEMENT + name)
        kind: Type = element.element if isinstance(element, ArrayType) else IntType(8)
        extent = self._probe(EXTENT + name)
        count = extent.count if isinstance(extent, ArrayType) else None
        count = count or self._pragma_depth(name) or self._caller_extent(number, kind)
        if isinstance(kind, VoidType) or not kind.size:
            self._refuse(f"{name} points to nothing that has a size", "give it an element type")
        basic = self.c_types.arguments(self.top).get(number + 1)
        thing = Object(
            re.sub(r"\W", "_", name),
            ArrayType(count or 1, kind),
            MemoryKind.PARAM,
            tag,
            argument=name,
            signed=bool(basic and basic.signed),
        )
        if count is None:
            self.assumed[thing] = name
        return thing

    def _refuse(self, message: str, hint: str) -> None:
        line = 0
        if self.found is not None:
            line = self.source.text.count("\n", 0, min(self.found.name_at, len(self.source.text))) + 1
        raise CSourceError(message, where=f"{self.source.path}:{line}", hint=hint)

    def _argument_name(self, argument: Any, number: int) -> str:
        if self.found is not None and number < len(self.found.parameters) and self.found.parameters[number].name:
            return self.found.parameters[number].name
        return str(argument.name) or f"arg{number}"

    def _probe(self, name: str) -> Type | None:
        for variable in self.llvm.global_variables:
            if re.search(rf"(?:^|[^A-Za-z_]){re.escape(name)}(?:\.\d+)?$", variable.name):
                found = _GLOBAL.match(str(variable).strip())
                if found:
                    return Reader(found[3], self.named).type()
        return None

    def _pragma_depth(self, name: str) -> int | None:
        for pragma in self.marked.pragmas:
            if pragma.kind == "interface" and name in (pragma.options.get("port"), pragma.options.get("variable")):
                depth = pragma.number_of("depth")
                if depth:
                    return depth
        return None

    def _caller_extent(self, number: int, kind: Type) -> int | None:
        """Return the extent of what callers in the same file pass, if they agree on its size."""
        sizes = set()
        for function in self.llvm.functions:
            instructions = {i.name: i for b in function.blocks for i in b.instructions if i.name}
            for block in function.blocks:
                for ins in block.instructions:
                    if ins.opcode != "call":
                        continue
                    operands = list(ins.operands)
                    if operands[-1].name == self.top and number < len(operands) - 1:
                        sizes.add(self._passed_size(operands[number], instructions))
        if not sizes or None in sizes or not kind.size:
            return None
        return max(s for s in sizes if s is not None) // kind.size or None

    def _passed_size(self, operand: Any, instructions: dict[str, Any]) -> int | None:
        text = str(operand).strip()
        try:
            if names_global(operand):
                found = _GLOBAL.match(text)
                return Reader(found[3], self.named).type().size if found else None
            if " alloca " in text:
                return Reader(_allocated(text), self.named).type().size
            if " = getelementptr " in text and operand.name in instructions:
                base, *steps = instructions[operand.name].operands
                if all(re.fullmatch(r"i\d+ 0", str(o)) for o in steps):
                    return self._passed_size(base, instructions)
        except UnreadableTextError:
            return None
        return None

    # --- analysis

    def _analyse(self, points_to: PointsTo, functions: dict[str, Any]) -> None:
        points_to.seed()
        shared = {n: f for n, f in functions.items() if n != self.top}
        for _ in range(100):
            points_to.changed = False
            for function in functions.values():
                points_to.visit(function, shared)
            if not points_to.changed:
                break
        everything = [(name, i) for name, f in functions.items() for b in f.blocks for i in b.instructions]
        for name, ins in everything:
            self._check_instruction(points_to, name, ins)
        while any([self._check_copy(points_to, name, ins) for name, ins in everything]):  # noqa: C419 - check them all
            pass
        self._check_extents(points_to)
        for targets in points_to.tops.values():
            for thing, offset in targets:
                if offset < 0:
                    thing.make_raw("an address inside it is computed by bytes")
        self._flatten_dynamic(points_to, functions)

    def _check_instruction(self, points_to: PointsTo, name: str, ins: Any) -> None:
        if ins.opcode not in ("load", "store"):
            return
        operands = list(ins.operands)
        pointer = operands[0] if ins.opcode == "load" else operands[1]
        text = str(ins.type if ins.opcode == "load" else operands[0].type)
        try:
            kind = Reader(text, self.named).type()
        except UnreadableTextError:
            return
        if isinstance(kind, IntType | PtrType | FloatType):
            place = self.info.place(str(ins))
            what = f"line {place.line} accesses it against its type" if place else "it is accessed against its type"
            check_access(points_to.targets(name, pointer), kind, what)

    def _check_copy(self, points_to: PointsTo, name: str, ins: Any) -> bool:
        if ins.opcode != "call":
            return False
        operands = list(ins.operands)
        callee = operands[-1].name
        what = callee.removeprefix("llvm.").split(".")[0]
        if what not in ("memcpy", "memmove", "memset"):
            return False
        sides = [points_to.targets(name, operands[0])]
        if what != "memset":
            sides.append(points_to.targets(name, operands[1]))
        size = re.fullmatch(r"i\d+ (\d+)", str(operands[2]).strip())
        return check_copy(sides, int(size[1]) if size else None)

    def _check_extents(self, points_to: PointsTo) -> None:
        """Refuse a pointer argument that is indexed though nobody told its extent."""
        for (function, value), step in points_to.steps.items():
            for thing, _ in points_to.tops.get((function, value), ()):
                walks = step.first_stride or (step.byte and step.terms[0][1] >= thing.size)
                if thing in self.assumed and walks:
                    name = self.assumed[thing]
                    self._refuse(
                        f"how many elements {name} has is not known",
                        f"declare it as an array with its size, or add `#pragma HLS interface port={name} depth=N`",
                    )

    def _flatten_dynamic(self, points_to: PointsTo, functions: dict[str, Any]) -> None:
        """Merge dimensions of what pointers reach whose offset only the run decides: they walk across rows."""
        for (name, value), targets in points_to.tops.items():
            function = functions.get(name)
            if function is None or (name, value) in points_to.allocas or (name, value) in points_to.steps:
                continue
            if name == self.top and value in self.argument_objects:
                continue
            for thing, _ in targets:
                thing.flat = True

    # --- writing

    def _write(
        self, points_to: PointsTo, functions: dict[str, Any], kept: list[str], names: dict[tuple[str, str], str]
    ) -> LoweredC:
        things = [*points_to.objects.values(), *points_to.allocas.values(), *self.argument_objects.values()]
        self._name_uniquely(things)
        tags = {name: thing.number for name, thing in points_to.objects.items()}
        scope = Scope(self.info, points_to, tags, {t.number: t for t in things}, names, self.remarks)
        made: dict[str, Function] = {}
        lowerings: list[FunctionLowering] = []
        for name in kept:
            function, values = self._declare(functions[name], scope)
            made[name] = function
            if name != self.top:
                scope.functions[name] = function
            lowering = FunctionLowering(scope, functions[name], function, values)
            lowering.run()
            lowerings.append(lowering)
        for thing in things:
            if thing.kind is MemoryKind.STATIC and not thing.written:
                for memory in thing.memories.values():
                    memory.kind = MemoryKind.ROM
        memories = [m for t in things for m in t.memories.values()]
        functions_in_order = [made[n] for n in reversed(kept)]
        module = Module(made[self.top], functions_in_order, memories)
        self._directives(module, lowerings, things)
        check(module)
        return LoweredC(module, self._arguments(module, points_to))

    def _name_uniquely(self, things: list[Object]) -> None:
        taken: set[str] = set()
        for thing in sorted(things, key=lambda t: t.kind is not MemoryKind.PARAM):
            base, number = thing.name, 2
            while thing.name in taken:
                thing.name = f"{base}_{number}"
                number += 1
            taken.add(thing.name)

    def _declare(self, llvm: Any, scope: Scope) -> tuple[Function, dict[str, Lowered]]:
        before_name = re.split(r"\bdefine\b", str(llvm), maxsplit=1)[1].split("@", 1)[0].rstrip()
        kind = (
            StructType(()) if before_name.endswith(("}", "]")) else Reader(before_name.split()[-1], self.named).type()
        )
        name = self.options.top if llvm.name == self.top else re.sub(r"\W", "_", llvm.name)
        place = self._function_place(llvm.name)
        function = Function(name, width=0 if isinstance(kind, VoidType) else scalar_width(kind), place=place)
        if isinstance(kind, StructType | ArrayType):
            self._refuse(f"{name} returns a structure", "return it through a pointer")
        if llvm.name != self.top:
            params, values = make_params(llvm, lambda t: Reader(t, self.named).type(), scope.points_to)
            function.params = params
            return function, values
        result = self.c_types.result(self.top)
        function.signed = bool(result and result.signed)
        given: dict[str, Lowered] = {}
        basics = self.c_types.arguments(self.top)
        for number, argument in enumerate(llvm.arguments):
            if argument.name in self.argument_objects:
                thing = self.argument_objects[argument.name]
                given[argument.name] = Pointer(frozenset({(thing, 0)}), thing)
                continue
            basic = basics.get(number + 1)
            width = scalar_width(Reader(str(argument.type), self.named).type())
            param = Param(
                self._argument_name(argument, number), width, signed=bool(basic and basic.signed), place=place
            )
            function.params.append(param)
            given[argument.name] = param
        return function, given

    def _function_place(self, name: str) -> Place | None:
        if name == self.top and self.found is not None:
            line = self.marked.text.count("\n", 0, self.found.name_at) + 1
            return Place(self.source.path, line)
        return None

    def _directives(self, module: Module, lowerings: list[FunctionLowering], things: list[Object]) -> None:
        memories: dict[str, list[Memory]] = {}
        for thing in things:
            found = list(thing.memories.values())
            if found:
                memories.setdefault(thing.argument or thing.name, []).extend(found)
                if thing.argument and thing.argument != thing.name:
                    memories.setdefault(thing.name, []).extend(found)
        labels = loop_labels(self.marked.text)
        by_number = {p.number: p for p in self.marked.pragmas}
        directives = Directives(module, memories, self.remarks)
        seen: set[int] = set()
        for lowering in lowerings:
            label_loops(lowering.function, lowering.loop_places, labels, lowering.function.place)
            for number, blocks in sorted(lowering.markers.items()):
                seen.add(number)
                directives.apply(lowering.function, by_number[number], blocks)
        reached = {n for name in reachable(self.functions, self.top) for n in self.functions[name].markers}
        for number, pragma in by_number.items():
            if number in reached and number not in seen and pragma.kind != "inline":
                text = f"#pragma HLS {pragma.kind} is ignored: what it stands in is never reached"
                self.remarks.warn("PRAGMA_IGNORED", text, pragma.place)

    def _arguments(self, module: Module, points_to: PointsTo) -> tuple[Argument, ...]:
        found: list[Argument] = []
        basics = self.c_types.arguments(self.top)
        top = next(f for f in self.llvm.functions if f.name == self.top)
        for number, argument in enumerate(top.arguments):
            basic = basics.get(number + 1)
            name = self._argument_name(argument, number)
            size = basic.size if basic else 0
            signed, c_type = bool(basic and basic.signed), basic.name if basic else ""
            thing = self.argument_objects.get(argument.name)
            if thing is None:
                width = scalar_width(Reader(str(argument.type), self.named).type())
                found.append(
                    Argument(name, size or -(-width // 8), True, signed=signed, c_type=c_type, element_bytes=size or 1)
                )
            else:
                is_float = bool(basic and basic.is_float)
                found.append(
                    Argument(
                        name,
                        thing.size,
                        False,
                        signed=signed,
                        c_type=c_type,
                        element_bytes=size or _smallest(thing.type),
                        is_float=is_float,
                    )
                )
        for name, thing in points_to.objects.items():
            if thing.kind is MemoryKind.PARAM and thing.memories:
                basic = self.c_types.global_variable(name)
                found.append(
                    Argument(
                        name,
                        thing.size,
                        False,
                        is_global=True,
                        signed=thing.signed,
                        c_type=basic.name if basic else "",
                        element_bytes=basic.size if basic else _smallest(thing.type),
                    )
                )
        return tuple(found)


def _allocated(text: str) -> str:
    """Return the text of an alloca's type (and count, if it has one)."""
    return re.split(r", align|, !", text.split(" alloca ", 1)[1], maxsplit=1)[0]


def _smallest(kind: Type) -> int:
    """Return the bytes of the smallest scalar in a type."""
    if isinstance(kind, ArrayType):
        return _smallest(kind.element)
    if isinstance(kind, StructType):
        return min((_smallest(f) for f in kind.fields), default=1)
    return max(1, kind.size)


__all__ = ["DebugInfo", "LoweredC", "TextFunction", "lower"]
