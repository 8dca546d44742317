"""Read a design with pyslang: modules, ports, instances, and which statements drive which signal.

The dataclasses are for everybody; what reads text is for use inside the sandbox only, as the text may be hostile.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtlagent.types import Port


@dataclass(frozen=True)
class ParameterInfo:
    """A parameter with its value, as the tool writes it; empty where it has none."""

    name: str
    value: str
    local: bool = False


@dataclass(frozen=True)
class ConnectionInfo:
    """What an instance's port is connected to, as written; empty when left open."""

    port: str
    """The port's name, or its position from 0 when the module is unknown."""
    text: str


@dataclass(frozen=True)
class InstanceInfo:
    """An instance; each turn of a generate loop has its own, named like `lane[0].u`."""

    name: str
    module: str
    path: str
    line: int
    parameters: tuple[ParameterInfo, ...] = ()
    connections: tuple[ConnectionInfo, ...] = ()


@dataclass(frozen=True)
class SignalInfo:
    """A net or variable of a module, also below a generate block."""

    name: str
    width: int
    signed: bool
    type: str
    """Such as `reg[7:0]$[0:15]`: the part after `$` is unpacked."""
    line: int


@dataclass(frozen=True)
class DriverInfo:
    """A statement that gives a signal its value."""

    module: str
    signal: str
    kind: str
    """`assign`, `always`, `initial`, `declaration`, `instance`, `gate` or `subroutine`."""
    path: str
    first_line: int
    last_line: int
    text: str
    """The lines, as they are in the file."""
    reads: tuple[str, ...]
    """Signals that the value depends on, conditions around the statement included, sorted."""
    block_first_line: int
    """Of the whole always block, where there is one."""
    block_last_line: int
    child_module: str = ""
    """For an instance: the module that drives the signal ..."""
    child_port: str = ""
    """... through this port."""


@dataclass(frozen=True)
class ModuleInfo:
    """A module, with its parameters at their defaults."""

    name: str
    path: str
    line: int
    ports: tuple[Port, ...] = ()
    parameters: tuple[ParameterInfo, ...] = ()
    signals: tuple[SignalInfo, ...] = ()
    instances: tuple[InstanceInfo, ...] = ()
    drivers: tuple[DriverInfo, ...] = ()


@dataclass(frozen=True)
class DesignInfo:
    """What a design consists of."""

    modules: tuple[ModuleInfo, ...]
    """Sorted by name."""
    tops: tuple[str, ...]
    """Modules that nobody instantiates, or the one that was asked for."""
    complete: bool = True
    """False if the files have errors, so that something may be missing."""

    def module(self, name: str) -> ModuleInfo | None:
        """Return the module called `name`."""
        return next((m for m in self.modules if m.name == name), None)

    def drivers_of(self, module: str, signal: str, depth: int = 2) -> tuple[DriverInfo, ...]:
        """Return the statements that drive a signal, then those that drive their inputs, and so on.

        Args:
            module: The module that the signal belongs to.
            signal: Its name.
            depth: 1: only the signal's own drivers. Through an output of an instance, the next step goes
                on inside the instantiated module.
        """
        found: dict[DriverInfo, None] = {}
        seen = {(module, signal)}
        level = [(module, signal)]
        for _ in range(depth):
            following: list[tuple[str, str]] = []
            for owner, name in level:
                info = self.module(owner)
                for driver in info.drivers if info else ():
                    if driver.signal != name or driver in found:
                        continue
                    found[driver] = None
                    inner = [(driver.child_module, driver.child_port)] if driver.child_module else []
                    following += [*inner, *((owner, i) for i in driver.reads)]
            level = [place for place in dict.fromkeys(following) if place not in seen]
            seen.update(level)
        return tuple(found)

    def fan_in(self, module: str, signal: str, depth: int = 2) -> tuple[str, ...]:
        """Return the names of the module's signals that `signal` depends on, nearest first."""
        drivers = self.drivers_of(module, signal, depth)
        names = dict.fromkeys(i for d in drivers if d.module == module for i in d.reads)
        return tuple(n for n in names if n != signal)


@dataclass(frozen=True)
class Parsed:
    """A design as pyslang holds it: one compilation unit, so that macros reach later files, as in every simulator."""

    sources: Any
    """The pyslang SourceManager."""
    tree: Any
    """The pyslang SyntaxTree of all files."""
    compilation: Any
    """The pyslang Compilation, with the top modules chosen."""
    buffers: Mapping[str, Any]
    """Path -> SourceBuffer of each compiled file."""
    options: Any
    """The pyslang Bag, for a further compilation of the same tree."""


def parse(
    paths: Sequence[str],
    *,
    top: str | None = None,
    language: str = "systemverilog",
    include_dirs: Sequence[str] = (),
    root: Path = Path(),
) -> Parsed:
    """Parse the files at `paths` (relative to `root`) and prepare their elaboration."""
    import pyslang
    from pyslang import ast, parsing, syntax

    versions = {
        "verilog": pyslang.LanguageVersion.v1364_2005,
        "systemverilog": pyslang.LanguageVersion.v1800_2017,
    }
    version = versions[language]
    bag = pyslang.Bag()
    preprocessor = parsing.PreprocessorOptions()
    preprocessor.languageVersion = version
    preprocessor.maxIncludeDepth = 32
    bag.preprocessorOptions = preprocessor
    lexer = parsing.LexerOptions()
    lexer.languageVersion = version
    bag.lexerOptions = lexer
    parser = parsing.ParserOptions()
    parser.languageVersion = version
    parser.maxRecursionDepth = 256
    bag.parserOptions = parser
    options = ast.CompilationOptions()
    options.languageVersion = version
    options.maxGenerateSteps = 16384
    options.maxInstanceDepth = 64
    if top is not None:
        options.topModules = {top}
    bag.compilationOptions = options
    sources = pyslang.SourceManager()
    sources.setDisableProximatePaths(True)
    for folder in include_dirs:
        sources.addUserDirectories(str(root / folder))
    buffers = {path: sources.assignText(path, (root / path).read_text(encoding="utf-8")) for path in paths}
    tree = syntax.SyntaxTree.fromBuffers(list(buffers.values()), sources, bag)
    compilation = ast.Compilation(bag)
    compilation.addSyntaxTree(tree)
    return Parsed(sources, tree, compilation, buffers, bag)


class Places:
    """Turns pyslang's locations into path, line and column, untouched by `line directives."""

    def __init__(self, sources: Any) -> None:
        self._sources = sources
        self._starts: dict[int, list[int]] = {}
        self._bytes: dict[int, bytes] = {}
        self._buffer_of: dict[str, int] = {}

    def of(self, location: Any) -> tuple[str, int, int]:
        """Return the place in a file; inside a macro, where the macro is used."""
        location = self._sources.getFullyExpandedLoc(location)
        buffer = location.buffer
        path = self._sources.getRawFileName(buffer)
        if not path:
            return "", 0, 0
        if buffer.id not in self._starts:
            # pyslang counts bytes and ends each buffer with a NUL.
            data = self._sources.getSourceText(buffer).encode("utf-8", "surrogateescape")
            self._bytes[buffer.id] = data
            self._buffer_of[os.path.normpath(path)] = buffer.id
            self._starts[buffer.id] = [0, *(i + 1 for i, b in enumerate(data) if b == 10)]
        starts = self._starts[buffer.id]
        line = bisect_right(starts, location.offset)
        prefix = self._bytes[buffer.id][starts[line - 1] : location.offset]
        return os.path.normpath(path), line, len(prefix.decode("utf-8", "replace")) + 1

    def lines(self, path: str, first: int, last: int) -> str:
        """Return whole lines of a file that was compiled."""
        number = self._buffer_of.get(path)
        if number is None:
            return ""
        starts = self._starts[number]
        end = starts[last] if last < len(starts) else len(self._bytes[number])
        return self._bytes[number][starts[first - 1] : end].decode("utf-8", "replace").rstrip("\0\r\n")


_MAX_MEMBERS = 20_000
"""Of one module, generate loops unrolled."""


def read_design(parsed: Parsed, *, given: Sequence[str], top: str | None = None) -> DesignInfo:
    """Return what the parsed files define, as far as they can be understood.

    Args:
        parsed: The files, parsed without a chosen top.
        given: Paths whose text may be shown; modules from other files are left out.
        top: The module to take as the only top.
    """
    from pyslang import ast

    from rtlagent.verilog_drivers import read_drivers

    names = sorted(
        d.name
        for d in parsed.compilation.getDefinitions()
        if d.kind == ast.SymbolKind.Definition and d.definitionKind == ast.DefinitionKind.Module and d.name
    )
    tops = (top,) if top is not None else tuple(sorted({i.name for i in parsed.compilation.getRoot().topInstances}))
    complete = not any(d.isError() for d in parsed.compilation.getAllDiagnostics())
    bodies = _bodies_at_defaults(parsed, names)
    places = Places(parsed.sources)
    known = {os.path.normpath(p) for p in given}
    modules = [_read_module(bodies[name], places) for name in names if name in bodies]
    modules = [m for m in modules if m.path in known]
    drivers = read_drivers(parsed.tree.root, places, modules)
    return DesignInfo(
        tuple(replace(m, drivers=tuple(d for d in drivers.get(m.name, ()) if d.path in known)) for m in modules),
        tops,
        complete,
    )


def _bodies_at_defaults(parsed: Parsed, names: Sequence[str]) -> dict[str, Any]:
    """Elaborate each module as a top, so that also an instantiated one shows its own defaults."""
    from pyslang import ast

    options = parsed.options.compilationOptions
    options.topModules = set(names)
    bag = parsed.options
    bag.compilationOptions = options
    compilation = ast.Compilation(bag)
    compilation.addSyntaxTree(parsed.tree)
    _KEPT.append(compilation)
    tops = [i.body for i in compilation.getRoot().topInstances]
    bodies = {body.definition.name: body for body in tops}
    for body in tops:  # a parameter without a default: then as somebody instantiates it
        for member in _members(body):
            if member.kind == ast.SymbolKind.Instance:
                bodies.setdefault(member.body.definition.name, member.body)
    return bodies


_KEPT: list[Any] = []
"""Compilations own the symbols that were taken from them, which pyslang does not track."""


def _read_module(body: Any, places: Places) -> ModuleInfo:
    from pyslang import ast

    kind = ast.SymbolKind
    path, line, _ = places.of(body.definition.location)
    directions = {"In": "input", "Out": "output", "InOut": "inout", "Ref": "ref"}
    ports = tuple(
        Port(p.name, directions[p.direction.name], _width(p.type), p.type.isSigned)
        if p.kind == kind.Port
        else Port(p.name, "interface", None)
        for p in body.portList
    )
    signals: list[SignalInfo] = []
    instances: list[InstanceInfo] = []
    for member in _members(body):
        name = member.hierarchicalPath.removeprefix(f"{body.hierarchicalPath}.")
        if member.kind in (kind.Net, kind.Variable) and member.name:
            type_ = member.type
            signals.append(SignalInfo(name, _width(type_), type_.isSigned, str(type_), places.of(member.location)[1]))
        elif member.kind in (kind.Instance, kind.UninstantiatedDef):
            instances.append(_read_instance(name, member, places))
    return ModuleInfo(body.definition.name, path, line, ports, _parameters(body), tuple(signals), tuple(instances))


def _members(body: Any) -> Iterator[Any]:
    """Yield the members of a module and, after them, those of its generate blocks and instance arrays."""
    from pyslang import ast

    kind = ast.SymbolKind
    pending, count = deque([body]), 0
    while pending:
        for member in pending.popleft():
            count += 1
            if count > _MAX_MEMBERS:
                return
            if member.kind not in (kind.GenerateBlock, kind.GenerateBlockArray, kind.InstanceArray):
                yield member
            elif member.kind != kind.GenerateBlock or not member.isUninstantiated:
                pending.append(member)


def _read_instance(name: str, symbol: Any, places: Places) -> InstanceInfo:
    known = hasattr(symbol, "body")
    module = symbol.body.definition.name if known else symbol.definitionName
    ports = [p.name for p in symbol.body.portList] if known else []
    path, line, _ = places.of(symbol.location)
    parameters = _parameters(symbol.body) if known else ()
    connections = tuple(_connections(symbol.syntax, ports))
    return InstanceInfo(name, module, path, line, parameters, connections)


def _connections(node: Any, ports: Sequence[str]) -> Iterator[ConnectionInfo]:
    from pyslang import syntax

    from rtlagent.verilog_drivers import connections

    if node is None or node.kind != syntax.SyntaxKind.HierarchicalInstance:
        return  # such as a nested module, which instantiates itself
    for port, expression in connections(node, ports):
        yield ConnectionInfo(port, expression if isinstance(expression, str) else str(expression).strip())


def _parameters(body: Any) -> tuple[ParameterInfo, ...]:
    return tuple(ParameterInfo(p.name, str(getattr(p, "value", "")), p.isLocalParam) for p in body.parameters)


def _width(type_: Any) -> int:
    return int(type_.bitstreamWidth if type_.isUnpackedArray else type_.bitWidth)
