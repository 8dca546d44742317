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
from rtlagent.hls.frontend.debug_info import DebugInfo
from rtlagent.hls.frontend.llvm_module import LlvmModule
from rtlagent.hls.frontend.llvm_text import Reader, Type, read_named_types

_SMALL = 60
"""Instructions (unoptimised) up to which a function is inlined at every call."""
_GROWTH = 600
"""Instructions that inlining one function may add in all."""
_LOOPING_GROWTH = 250
"""The same for a function with a loop: beside that, a call costs little time."""
_DEFINE = re.compile(r"^define [^@\n]*@(\"[^\"]*\"|[\w.$]+)\((.*)$")
_CALL = re.compile(r"\bcall\b[^@\n]*?@(\"[^\"]*\"|[\w.$]+)\(")
_INDIRECT = re.compile(r"\bcall\b(?: \w+(?:\([^)]*\))?)* [^@(]*%[\w.]+\(")
_BY_VALUE = re.compile(r"ptr (?:\w+ )*byval\((%\"[^\"]*\"|%[-\w.$]+)\) (?:align \d+ )?(%[-\w.$]+)")
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
    has_loop: bool = False


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
    function.has_loop |= "!llvm.loop" in line
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


def without_arguments(text: str) -> str:
    """Return the unoptimised text with the arguments of main() as an operating system without any gives them."""
    found = re.search(r"^define [^@\n]*@main\(([^)\n]+)\).*?^}", text, re.M | re.S)
    if found is None:
        return text
    body = found[0].replace(f"@main({found[1]})", "@main()")
    for number, parameter in enumerate(found[1].split(", ")):
        kind, *_, name = parameter.split(" ")
        given = "null" if kind == "ptr" else "1" if number == 0 else "0"
        body = re.sub(rf"\b{re.escape(kind)} {re.escape(name)}(?![-\w.$])", f"{kind} {given}", body)
    return text[: found.start()] + body + text[found.end() :]


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
        for callee in sorted(functions[name].globals):
            # Its address is taken: a callback.
            if callee in functions and callee not in order and callee not in open_:
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
    loops = {name for name in order if any(functions[n].has_loop for n in reachable(functions, name))}
    for name in order:
        inner = sum(size[c] for c, _ in functions[name].calls if c in size and c not in shared)
        size[name] = functions[name].instructions + inner
        if name == top or name in always_inline or _returns_aggregate(functions[name].header):
            continue
        calls = sites.get(name, 1)
        growth = _LOOPING_GROWTH if name in loops else _GROWTH
        grows = size[name] > _SMALL and size[name] * (calls - 1) > growth
        if name in never_inline or grows:
            shared.add(name)
    return shared


def _returns_aggregate(header: str) -> bool:
    before = header.split("@", 1)[0]
    return "{" in before or "[" in before or "<" in before


def prepare(text: str, functions: dict[str, TextFunction], order: list[str], shared: set[str]) -> LlvmModule:
    """Inline, clean, and return the module."""
    llvm = _llvm()
    wanted = {n for n in order[:-1] if n not in shared}
    lines = []
    copies: list[str] = []
    types = read_named_types(text)
    for line in text.splitlines():
        if copies and line.startswith("  "):
            lines += copies
            copies = []
        if line.startswith("attributes #"):
            line = re.sub(r"\b(?:noinline|optnone|alwaysinline|inlinehint) ", "", line)  # noqa: PLW2901
        header = _DEFINE.match(line)
        if header:
            name = header[1].strip('"')
            # After the parameters, where attributes stand.
            at = _parameters_end(line) + 1
            address = re.match(r" (?:local_)?unnamed_addr", line[at:])
            at += address.end() if address else 0
            attribute = " alwaysinline" if name in wanted else " noinline"
            line = line[:at] + attribute + line[at:]  # noqa: PLW2901
            if name in shared:
                line, copies = _copy_by_value(line, types)  # noqa: PLW2901
        lines.append(line)
    if "@llvm.memcpy.p0.p0.i64" in "\n".join(lines) and "declare void @llvm.memcpy.p0.p0.i64" not in text:
        lines.append("declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1 immarg)")
    module = llvm.parse_assembly("\n".join(lines))
    machine = llvm.Target.from_triple(module.triple).create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    for _ in range(3 if any(functions[n].indirect for n in order) else 2):
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
        passes.add_simplify_cfg_pass()
        passes.add_sccp_pass()
        passes.add_aggressive_dce_pass()
    passes.add_simplify_cfg_pass()
    passes.add_instruction_namer_pass()
    passes.run(module, builder)
    return LlvmModule(str(module))


def _copy_by_value(header: str, types: dict[str, Type]) -> tuple[str, list[str]]:
    """Let a function copy the structures that it is given by value: what stays a function gets their addresses."""
    copies: list[str] = []
    for found in list(_BY_VALUE.finditer(header)):
        kind, name = found[1], found[2]
        size = Reader(kind, types).type().size
        header = header.replace(found[0], f"ptr {name}.given")
        given = f"ptr {name}.given, i64 {size}, i1 false"
        copies += [f"  {name} = alloca {kind}, align 16", f"  call void @llvm.memcpy.p0.p0.i64(ptr {name}, {given})"]
    return header, copies


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
        variable = info.variable(int(found[2])) if found else None
        if found and variable is not None and variable.name:
            names.setdefault((function, found[1]), variable.name)
    return names
