"""Globals and variables of functions as objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rtlagent.errors import CSourceError
from rtlagent.hls.frontend.debug_info import DebugInfo, Variable
from rtlagent.hls.frontend.llvm import TextFunction, reachable
from rtlagent.hls.frontend.llvm_module import Function, GlobalVariable, Instruction, LlvmModule
from rtlagent.hls.frontend.llvm_text import (
    ArrayType,
    Image,
    PtrType,
    Type,
    UnreadableTextError,
    read_constant,
)
from rtlagent.hls.frontend.objects import Object
from rtlagent.hls.frontend.signature import allocated
from rtlagent.hls.ir import MemoryKind
from rtlagent.hls.options import Remarks

_DEFINITION = re.compile(r"^@(?:\"[^\"]*\"|[-\w.$]+) = (.*?)\b(global|constant) (.*)$", re.S)
_TRAILER = re.compile(r"(, (?:align \d+|section \"[^\"]*\"|comdat\S*|![\w.]+ !\d+))+\s*$")
_MENTION = re.compile(r"@(\"[^\"]*\"|[-\w.$]+)")
_LOCAL = re.compile(r" = (?:dso_local )?(?:internal|private)")


@dataclass
class Variables:
    """Makes the objects."""

    module: LlvmModule
    info: DebugInfo
    named: Mapping[str, Type]
    text: str
    """Of the module before anything was inlined."""
    inside: set[str]
    """Globals that the functions mention, directly or in initial values."""
    functions: Mapping[str, TextFunction]
    top: str
    remarks: Remarks
    new_number: Callable[[], int]

    def globals(self) -> dict[str, Object]:
        """Return the object of each global variable that can be read."""
        outside = self._outside()
        found: dict[str, Object] = {}
        for variable in self.module.global_variables:
            if variable.name not in self.inside:
                continue
            thing = self._global(variable, outside)
            if thing is not None:
                found[variable.name] = thing
        return found

    def _outside(self) -> set[str]:
        """Return the globals that code outside the top function's call tree reaches, or might."""
        if self.top == "main":
            # A main that returns nothing has no other outputs than its globals.
            returns_nothing = re.search(r"^define [^@\n]*\bvoid @main\(", self.text, re.M)
            candidates = [v for v in self.module.global_variables if not _LOCAL.search(v.text)]
            return {v.name for v in candidates if returns_nothing and self._may_be_written(v.name)}
        if "main" in self.functions:
            names = reachable(dict(self.functions), "main", skip=self.top)
            return set().union(*(self.functions[n].globals for n in names)) if names else set()
        return {v.name for v in self.module.global_variables if not _LOCAL.search(v.text)}

    def _global(self, variable: GlobalVariable, outside: set[str]) -> Object | None:
        found = _DEFINITION.match(_TRAILER.sub("", variable.text.strip()))
        if not found:
            return None
        name, constant = variable.name, found[2] == "constant"
        try:
            kind, image = read_constant(found[3], dict(self.named))
        except UnreadableTextError:
            return None
        described = self.info.attached(variable.text)
        is_port = not constant and name in outside & self.inside and image is not None
        if is_port and image is not None and any(image.data) and not self._may_be_written(name):
            is_port = False  # a table that is not declared const
        pointers = image is not None and (image.pointers or _only_pointers(kind))
        if is_port and pointers and not self._may_be_written(name, inside=False):
            self.remarks.note("GLOBAL_INSIDE", f"{name} holds pointers: it stays inside the module")
            is_port = False
        basic = self.info.basic(described.type) if described else None
        return Object(
            _plain(described.name if described else name),
            kind,
            MemoryKind.PARAM if is_port else MemoryKind.STATIC,
            self.new_number(),
            image=None if is_port else (image or Image(bytearray(kind.size))),
            place=described.place if described else None,
            argument=name if is_port else "",
            signed=bool(basic and basic.signed),
            debug_type=described.type if described else None,
            c_name=described.name if described else "",
            function=described.function if described else "",
        )

    def _may_be_written(self, name: str, *, inside: bool = True) -> bool:
        """Tell whether some function may write a global: anything but loads of it, or of elements of it, counts.

        Without `inside`, only functions that are called without the top function count.
        """
        mention = re.compile(rf"@{re.escape(name)}(?![-\w.$])")
        outer = None if inside else reachable(dict(self.functions), "main", skip=self.top)
        for symbol, body in re.findall(r"^(define [^@\n]*@(?:\"[^\"]*\"|[-\w.$]+))(.*?^})$", self.text, re.M | re.S):
            if outer is not None and symbol.partition("@")[2].strip('"') not in outer:
                continue
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

    def locals(self, function: Function) -> dict[Instruction, Object]:
        """Return the objects of a function's variables that have an address.

        Raises:
            CSourceError: the size of one is not constant.
        """
        declared = self.info.declared(str(function))
        found: dict[Instruction, Object] = {}
        for block in function.blocks:
            for ins in block.instructions:
                if ins.opcode == "alloca":
                    found[ins] = self._local(ins, declared.get(ins.name))
        return found

    def _local(self, ins: Instruction, described: Variable | None) -> Object:
        place = self.info.place(ins.text)
        kind = allocated(ins.text, self.named)
        if kind is None:
            where = f"{place.path}:{place.line}:{place.column}" if place else self.info.path
            hint = "give it a constant size"
            raise CSourceError("an array whose size only the run knows cannot become hardware", where=where, hint=hint)
        plain = re.sub(r"(\.(addr|sroa|i|\d+)\d*)+$", "", ins.name)
        basic = self.info.basic(described.type) if described else None
        return Object(
            re.sub(r"\W", "_", described.name if described else plain) or "local",
            kind,
            MemoryKind.LOCAL,
            self.new_number(),
            place=described.place if described and described.place else place,
            signed=bool(basic and basic.signed),
            debug_type=described.type if described else None,
            c_name=described.name if described else "",
            function=described.function if described else "",
        )


def _only_pointers(kind: Type) -> bool:
    return isinstance(kind, PtrType) or (isinstance(kind, ArrayType) and _only_pointers(kind.element))


def mentioned_globals(module: LlvmModule, functions: Iterable[Function]) -> set[str]:
    """Return the globals that functions mention, directly or in initial values of such."""
    texts = {v.name: v.text for v in module.global_variables}
    found: set[str] = set()
    waiting = [str(f) for f in functions]
    while waiting:
        names = {name.strip('"') for name in _MENTION.findall(waiting.pop())} - found
        found |= names
        waiting += [texts[name].split(" = ", 1)[1] for name in names if name in texts]
    return found


def _plain(name: str) -> str:
    """Return a name for a memory; the compiler's own for initial values of locals is `__const.FUNCTION.VARIABLE`."""
    if name.startswith("_ZGV"):
        return "initialised"
    initial = re.fullmatch(r"__const\.\w+\.(\w+)", name)
    return f"{initial[1]}_init" if initial else re.sub(r"\W", "_", name.strip(".")) or "g"
