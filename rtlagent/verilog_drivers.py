"""Find, on pyslang's syntax tree, the statements that drive each signal of each module.

The tree is used rather than the elaborated design because it is there for a design with errors too. Runs
inside the sandbox only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyslang import ast, syntax

from rtlagent.verilog import DriverInfo, ModuleInfo, Places

_K = syntax.SyntaxKind
_MAX_TEXT = 4000
_ALWAYS = (_K.AlwaysBlock, _K.AlwaysCombBlock, _K.AlwaysFFBlock, _K.AlwaysLatchBlock)
_STEPS = (
    _K.PostincrementExpression,
    _K.PostdecrementExpression,
    _K.UnaryPreincrementExpression,
    _K.UnaryPredecrementExpression,
)


def read_drivers(root: Any, places: Places, modules: Sequence[ModuleInfo]) -> dict[str, list[DriverInfo]]:
    """Return the drivers of each module's signals, in the order of the text."""
    by_name = {m.name: m for m in modules}
    found: dict[str, list[DriverInfo]] = {}

    def declaration(node: Any) -> None:
        module = by_name.get(node.header.name.valueText)
        if module is not None and module.name not in found:
            found[module.name] = _ModuleReader(module, by_name, places).read(node)

    root.visit(lookup_table={_K.ModuleDeclaration: declaration})
    return found


def connections(instance: Any, ports: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield port and expression (a node, or a name) of each connection of a HierarchicalInstance.

    Args:
        instance: The syntax node.
        ports: The module's ports in order; empty if it is unknown.
    """
    nodes: list[Any] = [c for c in instance.connections if isinstance(c, syntax.SyntaxNode)]
    named = {c.name.valueText for c in nodes if c.kind == _K.NamedPortConnection}
    for position, node in enumerate(nodes):
        if node.kind == _K.NamedPortConnection:
            name = node.name.valueText
            implicit = not node.openParen.rawText
            yield name, name if implicit else node.expr if node.expr is not None else ""
        elif node.kind == _K.WildcardPortConnection:
            yield from ((p, p) for p in ports if p not in named)
        else:
            port = ports[position] if position < len(ports) else str(position)
            yield port, node.expr if node.kind == _K.OrderedPortConnection else ""


class _ModuleReader:
    """Collects the drivers of one module."""

    def __init__(self, module: ModuleInfo, modules: Mapping[str, ModuleInfo], places: Places) -> None:
        self._module = module
        self._modules = modules
        self._places = places
        self._signals = {s.name.rsplit(".", 1)[-1] for s in module.signals} | {p.name for p in module.ports}
        self._found: list[DriverInfo] = []

    def read(self, node: Any) -> list[DriverInfo]:
        """Return the drivers below a ModuleDeclaration."""
        skip = ast.VisitAction.Skip

        def process(kind: str) -> Any:
            def read(block: Any) -> Any:
                self._process(block, kind)
                return skip

            return read

        table = {
            **{kind: process("always") for kind in _ALWAYS},
            _K.ModuleDeclaration: lambda _: skip,
            _K.InitialBlock: process("initial"),
            _K.FunctionDeclaration: process("subroutine"),
            _K.TaskDeclaration: process("subroutine"),
            _K.ContinuousAssign: process("assign"),
            _K.NetDeclaration: self._declaration,
            _K.DataDeclaration: self._declaration,
            _K.HierarchyInstantiation: self._instantiation,
            _K.PrimitiveInstantiation: self._gates,
        }
        for member in node.members:
            member.visit(lookup_table=table)
        return sorted(self._found, key=lambda d: (d.path, d.first_line, d.signal, d.kind))

    def _process(self, block: Any, kind: str) -> None:
        for node, controls in _assignments(block):
            left = node.operand if node.kind in _STEPS else node.left
            right = _names(left) if node.kind in _STEPS else _names(node.right)
            if node.kind not in (_K.AssignmentExpression, _K.NonblockingAssignmentExpression):
                right |= _names(left)  # such as +=
            for target in _targets(left):
                indices = _names(left) - set(_targets(left))
                self._add(target, kind, node, right | indices | controls, block)

    def _declaration(self, node: Any) -> None:
        for declarator in node.declarators:
            value = getattr(declarator, "initializer", None)
            if value is not None:
                self._add(declarator.name.valueText, "declaration", declarator, _names(value), declarator)

    def _instantiation(self, node: Any) -> None:
        child = self._modules.get(node.type.valueText)
        directions = {p.name: p.direction for p in child.ports} if child else {}
        for instance in node.instances:
            if not isinstance(instance, syntax.SyntaxNode):
                continue
            pairs = list(connections(instance, list(directions)))
            inputs: set[str] = set()
            for port, expression in pairs:
                if directions.get(port) != "output":
                    inputs |= {expression} if isinstance(expression, str) else _names(expression)
            for port, expression in pairs:
                if child is None or directions.get(port) not in ("output", "inout"):
                    continue
                targets = [expression] if isinstance(expression, str) else _targets(expression)
                for target in targets:
                    self._add(target, "instance", instance, inputs - {target}, instance, (child.name, port))

    def _gates(self, node: Any) -> None:
        for gate in node.instances:
            if not isinstance(gate, syntax.SyntaxNode):
                continue
            expressions = [e for _, e in connections(gate, ()) if not isinstance(e, str)]
            if expressions:
                inputs = {n for e in expressions[1:] for n in _names(e)}
                for target in _targets(expressions[0]):
                    self._add(target, "gate", gate, inputs, gate)

    def _add(
        self, signal: str, kind: str, node: Any, inputs: set[str], block: Any, child: tuple[str, str] = ("", "")
    ) -> None:
        if signal not in self._signals:
            return
        path, first, last = self._span(node)
        _, block_first, block_last = self._span(block)
        text = self._places.lines(path, first, last)[:_MAX_TEXT]
        known = tuple(sorted(inputs & self._signals))
        self._found.append(
            DriverInfo(self._module.name, signal, kind, path, first, last, text, known, block_first, block_last, *child)
        )

    def _span(self, node: Any) -> tuple[str, int, int]:
        path, first, _ = self._places.of(node.getFirstToken().location)
        _, last, _ = self._places.of(node.getLastToken().location)
        return path, first, max(first, last)


def _assignments(block: Any) -> Iterator[tuple[Any, set[str]]]:
    """Yield each assignment below a node, with the signals that decide whether it happens.

    A stack instead of recursion: a chain of `else if` is as deep as it is long.
    """
    pending: list[tuple[Any, frozenset[str]]] = [(block, frozenset())]
    while pending:
        node, controls = pending.pop()
        if node.kind in _STEPS or node.kind.name.endswith("AssignmentExpression"):
            yield node, set(controls)
            continue
        if node.kind == _K.ConditionalStatement:
            controls |= _names(node.predicate)
        elif node.kind == _K.CaseStatement:
            controls |= _names(node.expr)
        elif node.kind == _K.StandardCaseItem:
            controls |= {n for e in node.expressions if isinstance(e, syntax.SyntaxNode) for n in _names(e)}
        elif isinstance(node, syntax.ExpressionSyntax) and node.kind not in (_K.ParenthesizedExpression,):
            continue  # nothing is assigned inside other expressions
        pending += [(child, controls) for child in reversed(list(node)) if isinstance(child, syntax.SyntaxNode)]


def _names(node: Any) -> set[str]:
    """Return the first parts of all names below a node."""
    names: set[str] = set()

    def add(name: Any) -> None:
        names.add(name.getFirstToken().valueText)

    def scoped(name: Any) -> Any:
        while name.kind == _K.ScopedName:
            names.add(name.right.getFirstToken().valueText)
            name = name.left
        add(name)

    node.visit(lookup_table={_K.IdentifierName: add, _K.IdentifierSelectName: add, _K.ScopedName: scoped})
    return names


def _targets(left: Any) -> list[str]:
    """Return the signals that an assignment to `left` changes."""
    pending, found = [left], []
    while pending:
        node = pending.pop()
        if node.kind in (_K.ConcatenationExpression, _K.AssignmentPatternExpression, _K.SimpleAssignmentPattern):
            pending += [c for part in node for c in _nodes(part)]
        elif node.kind in (_K.SimplePropertyExpr, _K.SimpleSequenceExpr, _K.ParenthesizedExpression):
            pending += [c for c in node if isinstance(c, syntax.SyntaxNode)]
        elif node.kind == _K.ScopedName:
            pending.append(node.right if node.left.kind == _K.IdentifierSelectName else node.left)
        elif node.kind in (_K.IdentifierName, _K.IdentifierSelectName, _K.ElementSelectExpression):
            found.append(node.getFirstToken().valueText)
        elif node.kind == _K.MemberAccessExpression:
            pending.append(node.left)
    return list(dict.fromkeys(reversed(found)))


def _nodes(part: Any) -> list[Any]:
    return [part] if isinstance(part, syntax.SyntaxNode) else []
