"""Tell before any tool runs whether macros would blow a small file up to gigabytes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rtlagent.types import Diagnostic, Severity

MAX_CHARS = 20_000_000
"""An expanded design of this size takes the tools more memory than they get."""

_DEFINE = re.compile(r"`define\s+([A-Za-z_]\w*)(\([^)\n]*\))?((?:\\\r?\n|[^\n])*)")
_USE = re.compile(r"`([A-Za-z_]\w*)")


def oversized_macro(texts: Mapping[str, str]) -> Diagnostic | None:
    """Return an error at the first use of a macro whose text, macros in it expanded, exceeds MAX_CHARS.

    Macros that are defined twice count with their longest text; what arguments add is not counted.
    """
    bodies: dict[str, list[str]] = {}
    for text in texts.values():
        for name, _, body in _DEFINE.findall(text):
            bodies.setdefault(name, []).append(body)
    sizes: dict[str, int] = {}
    for name in bodies:
        _measure(name, bodies, sizes)
    for path, text in texts.items():
        for match in _USE.finditer(text):
            if sizes.get(match[1], 0) > MAX_CHARS:
                line = text.count("\n", 0, match.start()) + 1
                column = match.start() - text.rfind("\n", 0, match.start())
                message = f"the macro '`{match[1]}' expands to more than {MAX_CHARS // 1_000_000} million characters"
                return Diagnostic("rtlagent", Severity.ERROR, "MacroTooLarge", message, path, line, column)
    return None


def _measure(start: str, bodies: Mapping[str, list[str]], sizes: dict[str, int]) -> None:
    """Fill in the sizes of `start` and of all macros it uses, without recursion; a cycle adds nothing."""
    pending = [(start, False)]
    open_names: set[str] = set()
    while pending:
        name, ready = pending.pop()
        if ready:
            sizes[name] = max(len(b) + sum(sizes.get(u, 0) for u in _USE.findall(b)) for b in bodies[name])
            open_names.discard(name)
        elif name not in sizes and name not in open_names:
            open_names.add(name)
            pending.append((name, True))
            used = {u for b in bodies[name] for u in _USE.findall(b) if u in bodies}
            pending += [(u, False) for u in sorted(used)]
