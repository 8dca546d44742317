"""Decide which of the given files a tool compiles, in which order, and where it looks for includes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from rtlagent.types import SourceFile

_SOURCE_SUFFIXES = (".v", ".sv")
_TEXT_ONLY = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_INCLUDE = re.compile(r"`include\s+[\"<]([^\"<>\n]+)[\">]")
_PACKAGE = re.compile(r"\bpackage\s+(?:automatic\s+|static\s+)?([A-Za-z_]\w*)")
_PACKAGE_USE = re.compile(r"\b([A-Za-z_]\w*)\s*::")


def compile_order(files: Sequence[SourceFile]) -> tuple[SourceFile, ...]:
    """Return the Verilog files to name on a command line, each package before its users.

    Headers (named by an `include of another file) and other kinds of file (memory images, Python) are left
    out. Otherwise the given order stays; a cycle of packages is left for the tool to report.
    """
    included = {posixpath.basename(name) for f in files for name in _INCLUDE.findall(f.text)}
    sources = [f for f in files if f.path.endswith(_SOURCE_SUFFIXES) and posixpath.basename(f.path) not in included]
    bodies = [_TEXT_ONLY.sub(" ", f.text) for f in sources]
    provider = {name: i for i, body in reversed(list(enumerate(bodies))) for name in _PACKAGE.findall(body)}
    if not provider:
        return tuple(sources)
    needs = [{provider[n] for n in _PACKAGE_USE.findall(body) if n in provider} - {i} for i, body in enumerate(bodies)]
    order: list[int] = []
    pending = list(range(len(sources)))
    while pending:
        ready = next((i for i in pending if needs[i] <= set(order)), pending[0])
        pending.remove(ready)
        order.append(ready)
    return tuple(sources[i] for i in order)


def include_dirs(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the folders of `paths` (POSIX, relative), each once, in order of appearance."""
    return tuple(dict.fromkeys(posixpath.dirname(p) or "." for p in paths))
