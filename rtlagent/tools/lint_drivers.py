"""Find signals with more than one driver, which neither pyslang nor Verilator reports for plain always blocks and nets.

Runs inside the sandbox.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from pyslang import analysis, ast

from rtlagent.types import Diagnostic, Severity

_MAX_INSTANCES = 2000
_MAX_DRIVERS = 64
"""Of one signal: each pair is compared, and a bus assigned bit by bit has as many drivers as bits."""


def multiple_drivers(compilation: Any, manager: Any, places: Any) -> list[Diagnostic]:
    """Return an error for each signal that two processes, assigns or outputs drive at the same bits.

    Left out: `initial` beside another driver, integers (loop variables), memories (a true dual-port RAM has
    two writers), wired nets, and tri-state drivers.
    """
    found = []
    for signal in _signals(compilation.getRoot()):
        if signal.type.isPredefinedInteger or signal.type.isUnpackedArray or not _single(signal):
            continue
        drivers = [d for d in manager.getDrivers(signal)[:_MAX_DRIVERS] if _counts(d)]
        clash = next((pair for pair in combinations(drivers, 2) if _overlap(*pair)), None)
        if clash is None:
            continue
        first, second = sorted((places.of(d.sourceRange.start) for d in clash), key=lambda p: (p[1], p[2]))
        message = f"'{signal.name}' has more than one driver, another one in line {first[1]}"
        found.append(Diagnostic("pyslang", Severity.ERROR, "MULTIDRIVEN", message, *second))
    return list(dict.fromkeys(found))


def _signals(root: Any) -> Iterator[Any]:
    """Yield the variables and nets of every module once for each set of its parameters."""
    seen: set[tuple[str, ...]] = set()
    pending = list(root.topInstances)
    count = 0
    while pending and count < _MAX_INSTANCES:
        scope = pending.pop()
        if scope.kind == ast.SymbolKind.Instance:
            count += 1
            values = (f"{p.name}={getattr(p, 'value', '')}" for p in scope.body.parameters)
            key = (scope.body.definition.name, *values)
            if key in seen:
                continue
            seen.add(key)
            scope = scope.body
        elif scope.kind == ast.SymbolKind.GenerateBlock and scope.isUninstantiated:
            continue
        for member in scope:
            if member.kind in (ast.SymbolKind.Variable, ast.SymbolKind.Net):
                yield member
            elif member.kind in _SCOPES:
                pending.append(member)


_SCOPES = (
    ast.SymbolKind.Instance,
    ast.SymbolKind.InstanceArray,
    ast.SymbolKind.GenerateBlock,
    ast.SymbolKind.GenerateBlockArray,
)


def _single(signal: Any) -> bool:
    return signal.kind != ast.SymbolKind.Net or signal.netType.name in ("wire", "uwire")


def _counts(driver: Any) -> bool:
    if driver.source in (analysis.DriverSource.Initial, analysis.DriverSource.Subroutine):
        return False
    if driver.kind == analysis.DriverKind.Procedural and driver.source == analysis.DriverSource.Other:
        return False  # a variable's value in its declaration
    if driver.containingSymbol.kind == ast.SymbolKind.Instance and not driver.isUnidirectionalPort:
        return False
    syntax = driver.containingSymbol.syntax
    return syntax is None or driver.kind != analysis.DriverKind.Continuous or not _high_impedance(str(syntax))


def _high_impedance(text: str) -> bool:
    low = text.lower()
    return any(z in low for z in ("'z", "'bz", "'hz", "'oz", "z}", "bufif", "notif"))


def _overlap(one: Any, other: Any) -> bool:
    same_process = one.containingSymbol == other.containingSymbol and one.kind == analysis.DriverKind.Procedural
    return not same_process and one.bounds[0] <= other.bounds[1] and other.bounds[0] <= one.bounds[1]
