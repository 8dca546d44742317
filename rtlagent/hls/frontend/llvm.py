"""LLVM's part: choose what is inlined, let LLVM clean the IR, and read its debug information.

llvmlite parses, verifies and runs the passes; loops keep their shape because nothing above SROA and CFG simplification
runs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rtlagent.errors import CSourceError
from rtlagent.hls.frontend.llvm_module import Function, GlobalVariable, LlvmModule, Symbol
from rtlagent.hls.frontend.llvm_text import Type, read_named_types
from rtlagent.hls.ir import Place

_SMALL = 60
"""Instructions (unoptimised) up to which a function is inlined at every call."""
_GROWTH = 600
"""Instructions that inlining one function may add in all."""
_DEFINE = re.compile(r"^define [^@\n]*@(\"[^\"]*\"|[\w.$]+)\((.*)$")
_CALL = re.compile(r"\bcall\b[^@\n]*?@(\"[^\"]*\"|[\w.$]+)\(")
_INDIRECT = re.compile(r"\bcall\b(?: \w+(?:\([^)]*\))?)* [^@(]*%[\w.]+\(")
_LOCATION = re.compile(r"!dbg !(\d+)")


@dataclass
class TextFunction:
    """A function in the unoptimised text."""

    name: str
    header: str
    instructions: int = 0
    calls: list[tuple[str, int]] = field(default_factory=list)
    """(callee, number of its debug location)."""
    indirect: list[int] = field(default_factory=list)
    """Debug locations of calls through pointers."""
    globals: set[str] = field(default_factory=set)
    markers: set[int] = field(default_factory=set)


@dataclass
class DebugInfo:
    """Lines and names, from the module's metadata."""

    path: str
    locations: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Metadata number -> (line, column, scope)."""
    scopes: dict[int, tuple[int | None, int | None]] = field(default_factory=dict)
    """Scope -> (outer scope, file)."""
    files: dict[int, str] = field(default_factory=dict)
    variables: dict[int, str] = field(default_factory=dict)
    loops: dict[int, int] = field(default_factory=dict)
    """llvm.loop metadata -> location of the loop's start."""

    def place(self, instruction: str) -> Place | None:
        """Return where in the source an instruction's text comes from."""
        found = _LOCATION.search(instruction)
        return self.at(int(found[1])) if found else None

    def at(self, number: int) -> Place | None:
        """Return the place of a debug location."""
        known = self.locations.get(number)
        if known is None or known[0] == 0:
            return None
        line, column, scope = known
        return Place(self._file(scope), line, column)

    def _file(self, scope: int) -> str:
        seen: set[int] = set()
        current: int | None = scope
        while current is not None and current in self.scopes and current not in seen:
            seen.add(current)
            outer, file = self.scopes[current]
            if file is not None and file in self.files:
                return self.files[file]
            current = outer
        return self.path


def read_functions(text: str) -> dict[str, TextFunction]:
    """Read which function calls and uses what, from the unoptimised text."""
    functions: dict[str, TextFunction] = {}
    current: TextFunction | None = None
    for line in text.splitlines():
        header = _DEFINE.match(line)
        if header:
            current = TextFunction(header[1].strip('"'), line)
            functions[current.name] = current
        elif line == "}":
            current = None
        elif current is not None and line.startswith("  ") and not line.startswith("    #dbg"):
            _read_instruction(current, line)
    return functions


def _read_instruction(function: TextFunction, line: str) -> None:
    function.instructions += 1
    location = _LOCATION.search(line)
    number = int(location[1]) if location else 0
    code = line.split(", !", 1)[0]
    call = _CALL.search(code)
    if call:
        name = call[1].strip('"')
        marker = re.fullmatch(r"rtlagent_pragma_(\d+)", name)
        if marker:
            function.markers.add(int(marker[1]))
        elif not name.startswith("llvm."):
            function.calls.append((name, number))
    elif _INDIRECT.search(code):
        function.indirect.append(number)
    function.globals.update(n.strip('"') for n in re.findall(r'@("[^"]*"|[\w.$]+)', code))


def reachable(functions: dict[str, TextFunction], root: str, skip: str = "") -> set[str]:
    """Return the defined functions that `root` calls, itself included, without going through `skip`."""
    found: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name in found or name not in functions or name == skip:
            continue
        found.add(name)
        waiting += [callee for callee, _ in functions[name].calls]
        # A function whose address is taken may be called from anywhere.
        waiting += [g for g in functions[name].globals if g in functions]
    return found


def call_order(functions: dict[str, TextFunction], top: str, info: DebugInfo) -> list[str]:
    """Return the functions below `top`, callees before callers.

    Raises:
        CSourceError: there is recursion.
    """
    order: list[str] = []
    open_: list[str] = []

    def visit(name: str) -> None:
        open_.append(name)
        for callee, location in functions[name].calls:
            if callee in open_:
                place = info.at(location)
                where = f"{place.path}:{place.line}:{place.column}" if place else info.path
                chain = " -> ".join([*open_[open_.index(callee) :], callee])
                raise CSourceError(
                    f"recursion cannot become hardware: {chain}",
                    where=where,
                    hint="write it as a loop with an explicit stack array",
                )
            if callee in functions and callee not in order:
                visit(callee)
        open_.pop()
        order.append(name)

    visit(top)
    return order


def choose_shared(
    functions: dict[str, TextFunction], order: list[str], never_inline: set[str], always_inline: set[str]
) -> set[str]:
    """Return the functions that stay functions: big ones with several calls, and those with `inline off`."""
    top = order[-1]
    sites: dict[str, int] = {}
    for name in order:
        for callee, _ in functions[name].calls:
            sites[callee] = sites.get(callee, 0) + 1
    shared: set[str] = set()
    size: dict[str, int] = {}
    for name in order:
        inner = sum(size[c] for c, _ in functions[name].calls if c in size and c not in shared)
        size[name] = functions[name].instructions + inner
        if name == top or name in always_inline or _returns_aggregate(functions[name].header):
            continue
        calls = sites.get(name, 1)
        grows = size[name] > _SMALL and size[name] * (calls - 1) > _GROWTH
        if name in never_inline or grows:
            shared.add(name)
    return shared


def _returns_aggregate(header: str) -> bool:
    before = header.split("@", 1)[0]
    return "{" in before or "[" in before or "<" in before


def prepare(text: str, order: list[str], shared: set[str]) -> LlvmModule:
    """Inline, clean, and return the module."""
    llvm = _llvm()
    wanted = {n for n in order[:-1] if n not in shared}
    lines = []
    for line in text.splitlines():
        if line.startswith("attributes #"):
            line = re.sub(r"\b(?:noinline|optnone|alwaysinline|inlinehint) ", "", line)  # noqa: PLW2901
        header = _DEFINE.match(line)
        if header:
            name = header[1].strip('"')
            # After the parameters, where attributes stand.
            at = _parameters_end(line)
            attribute = " alwaysinline" if name in wanted else " noinline"
            line = line[: at + 1] + attribute + line[at + 1 :]  # noqa: PLW2901
        lines.append(line)
    module = llvm.parse_assembly("\n".join(lines))
    machine = llvm.Target.from_triple(module.triple).create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    for _ in range(2):
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_sccp_pass()
        passes.add_aggressive_dce_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_namer_pass()
    passes.run(module, builder)
    return LlvmModule(str(module))


def _parameters_end(line: str) -> int:
    depth = 0
    for k in range(line.index("@"), len(line)):
        depth += (line[k] == "(") - (line[k] == ")")
        if depth == 0 and line[k] == ")":
            return k
    raise ValueError(line)


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm


def read_debug_info(text: str, path: str) -> DebugInfo:
    """Read locations, scopes, files, variables and loops from a module's text."""
    info = DebugInfo(path)
    for line in text.splitlines():
        if not line.startswith("!"):
            continue
        found = re.match(r"!(\d+) = (?:distinct )?!(\w*)(.*)$", line)
        if not found:
            continue
        number, kind, rest = int(found[1]), found[2], found[3]
        if kind == "DILocation":
            values = dict(re.findall(r"(\w+): !?(\d+)", rest))
            info.locations[number] = (
                int(values.get("line", 0)),
                int(values.get("column", 0)),
                int(values.get("scope", 0)),
            )
        elif kind in ("DISubprogram", "DILexicalBlock", "DILexicalBlockFile"):
            outer, file = re.search(r"\bscope: !(\d+)", rest), re.search(r"\bfile: !(\d+)", rest)
            info.scopes[number] = (int(outer[1]) if outer else None, int(file[1]) if file else None)
        elif kind == "DIFile":
            name = re.search(r'filename: "([^"]*)"', rest)
            info.files[number] = name[1] if name else path
        elif kind == "DILocalVariable":
            name = re.search(r'name: "([^"]*)"', rest)
            info.variables[number] = name[1] if name else ""
        elif kind == "" and rest.startswith("{"):
            parts = re.findall(r"!(\d+)", rest)
            if len(parts) > 1 and int(parts[0]) == number:
                info.loops[number] = int(parts[1])
    return info


def read_value_names(text: str, info: DebugInfo) -> dict[tuple[str, str], str]:
    """Return (function, value) -> the C variable that the value becomes, from `#dbg_value` records."""
    names: dict[tuple[str, str], str] = {}
    function = ""
    for line in text.splitlines():
        header = _DEFINE.match(line)
        if header:
            function = header[1].strip('"')
            continue
        found = re.match(r"\s+#dbg_value\(\S+ %([-\w.$]+), !(\d+), !DIExpression\(\)", line)
        if found and info.variables.get(int(found[2])):
            names.setdefault((function, found[1]), info.variables[int(found[2])])
    return names


def names_global(operand: Any) -> bool:
    """Tell whether an operand is a global variable or a function."""
    return isinstance(operand, GlobalVariable | Function | Symbol)


def named_types(text: str) -> dict[str, Type]:
    """Read the module's named struct types."""
    return read_named_types(text)
