"""The top function's parameters: what is a port, and how large what a pointer leads to is.

C forgets how many elements `int a[N]` has. It is taken from the declaration (through a probe that the compiler
evaluates), a pragma's depth, or what callers in the same file pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rtlagent.errors import CSourceError
from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.debug_types import pointed_type
from rtlagent.hls.frontend.llvm_module import Argument as LlvmArgument
from rtlagent.hls.frontend.llvm_module import Function as LlvmFunction
from rtlagent.hls.frontend.llvm_module import GlobalVariable, Instruction, LlvmModule, Operand
from rtlagent.hls.frontend.llvm_text import ArrayType, IntType, Reader, Type, UnreadableTextError, VoidType
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.source import ELEMENT, EXTENT, TopText
from rtlagent.hls.ir import MemoryKind, Place
from rtlagent.hls.pragmas import Pragma

_DEFINITION = re.compile(r"^@(?:\"[^\"]*\"|[-\w.$]+) = .*?\b(?:global|constant) (.*)$", re.S)


@dataclass(eq=False)
class Parameter:
    """A parameter of the top function, as C declares it."""

    name: str
    parts: list[LlvmArgument]
    """Several for a structure by value that is passed in registers."""
    type: int | None = None
    """Metadata number of its C type."""
    thing: Object | None = None
    """What a pointer leads to, or a structure by value that is passed on the stack."""
    size: int = 0
    """Bytes, of a scalar or a structure by value."""
    by_value: bool = True
    place: Place | None = None


@dataclass
class Signature:
    """Finds the parameters."""

    module: LlvmModule
    top: str
    """C name."""
    info: DebugInfo
    named: Mapping[str, Type]
    found: TopText | None
    pragmas: list[Pragma]
    place: Place | None
    new_number: Callable[[], int]

    def parameters(self, top: LlvmFunction) -> list[Parameter]:
        """Return the parameters of the top function, with new objects for what pointers lead to.

        Raises:
            CSourceError: one cannot be a port.
        """
        groups: dict[str, Parameter] = {}
        for number, argument in enumerate(top.arguments):
            base = re.sub(r"\.coerce\d*$", "", argument.name) or f"arg{number}"
            groups.setdefault(base, Parameter(base, [], place=self.place)).parts.append(argument)
        types = self._types(top.name)
        for number, parameter in enumerate(groups.values()):
            parameter.name = self._c_name(parameter.name, number)
            parameter.type = types.get(number + 1)
            if parameter.parts[0].type == "ptr":
                self._pointer(top, parameter, number)
            else:
                parameter.size = self._size_of(parameter)
        return list(groups.values())

    def _c_name(self, name: str, number: int) -> str:
        if self.found is not None and number < len(self.found.parameters) and self.found.parameters[number].name:
            return self.found.parameters[number].name
        return name

    def _types(self, top: str) -> dict[int, int | None]:
        """Return the C types of the parameters, from 1."""
        return self.info.argument_types(top)

    def _size_of(self, parameter: Parameter) -> int:
        known = self.info.size(parameter.type)
        if known:
            return known
        return sum(self._read(part.type).size for part in parameter.parts)

    def _read(self, text: str) -> Type:
        return Reader(text, dict(self.named)).type()

    def _pointer(self, top: LlvmFunction, parameter: Parameter, number: int) -> None:
        argument = parameter.parts[0]
        by_value = re.search(r"\bbyval\((.*?)\)(?= |$)", argument.text)
        if "sret(" in argument.text:
            self.refuse(f"{top.name} returns a structure of more than 16 bytes", "return it through a pointer")
        if by_value:
            kind = self._read(by_value[1])
            parameter.size = kind.size
            parameter.thing = Object(
                parameter.name,
                kind,
                MemoryKind.LOCAL,
                self.new_number(),
                place=self.place,
                debug_type=parameter.type,
                c_name=parameter.name,
                function=self.top,
            )
            return
        parameter.by_value = False
        name = parameter.name
        element = self._probe(ELEMENT + name)
        known = element.element if isinstance(element, ArrayType) else pointed_type(self.info, parameter.type)
        kind = known if known is not None else IntType(8)
        if isinstance(kind, VoidType) or not kind.size:
            self.refuse(f"{name} points to nothing that has a size", "give it an element type")
        extent = self._probe(EXTENT + name)
        count = extent.count if isinstance(extent, ArrayType) else None
        node = self.info.stripped(parameter.type)
        if node is not None and "reference" in node.text("tag"):
            count = 1
        count = count or self._depth(name) or self._passed(top.name, number, kind)
        parameter.thing = Object(
            re.sub(r"\W", "_", name),
            kind if count == 1 and isinstance(kind, ArrayType) else ArrayType(count or 1, kind),
            MemoryKind.PARAM,
            self.new_number(),
            place=self.place,
            argument=name,
            debug_type=node.number("baseType") if node is not None else None,
            c_name=name,
            function=self.top,
            assumed=count is None,
        )

    def refuse(self, message: str, hint: str) -> None:
        """Refuse the top function's declaration.

        Raises:
            CSourceError: always.
        """
        where = f"{self.place.path}:{self.place.line}" if self.place else self.info.path
        raise CSourceError(message, where=where, hint=hint)

    def _probe(self, name: str) -> Type | None:
        for variable in self.module.global_variables:
            if re.search(rf"(?:^|[^A-Za-z_]){re.escape(name)}(?:\.\d+)?$", variable.name):
                return self._definition(variable)
        return None

    def _definition(self, variable: GlobalVariable) -> Type | None:
        found = _DEFINITION.match(variable.text)
        return self._read(found[1]) if found else None

    def _depth(self, name: str) -> int | None:
        for pragma in self.pragmas:
            if pragma.kind == "interface" and name in (pragma.options.get("port"), pragma.options.get("variable")):
                depth = pragma.number_of("depth")
                if depth:
                    return depth
        return None

    def _passed(self, top: str, number: int, kind: Type) -> int | None:
        """Return the extent of what callers in the same file pass, if all of it is known: the greatest."""
        sizes: set[int | None] = set()
        for function in self.module.functions:
            if f"@{top}(" not in str(function):
                continue
            for block in function.blocks:
                for ins in block.instructions:
                    if ins.opcode == "call" and ins.operands[-1].name == top and number < len(ins.operands) - 1:
                        sizes.add(self._passed_size(ins.operands[number]))
        if not sizes or None in sizes:
            return None
        return max(s for s in sizes if s is not None) // kind.size or None

    def _passed_size(self, operand: Operand) -> int | None:
        try:
            if isinstance(operand, GlobalVariable):
                kind = self._definition(operand)
                return kind.size if kind is not None else None
            if isinstance(operand, Instruction) and operand.opcode == "alloca":
                room = allocated(operand.text, self.named)
                return room.size if room is not None else None
            if isinstance(operand, Instruction) and operand.opcode == "getelementptr":
                base, *steps = operand.operands
                if all(re.fullmatch(r"i\d+ 0", str(s)) for s in steps):
                    return self._passed_size(base)
        except UnreadableTextError:
            return None
        return None


def allocated(text: str, named: Mapping[str, Type]) -> Type | None:
    """Return the type that an alloca's text makes room for; None if only the run knows how much."""
    inside = re.split(r", align|, !", text.split("alloca ", 1)[1].removeprefix("inalloca "), maxsplit=1)[0]
    reader = Reader(inside, dict(named))
    kind = reader.type()
    if reader.peek() != ",":
        return kind
    reader.take()
    reader.type()
    return ArrayType(int(reader.peek()), kind) if reader.peek().isdigit() else None
