"""Rename symbols in gcc's assembly text, so that calls of a C function meet a recorder first.

In the text of

    top:    pushq %rbp ...
    main:   call top

the definition becomes `top_body:`, while the call still names `top`, which the recorder defines and
which goes on to `top_body`. This holds for static functions, K&R style, macros and function pointers,
since nothing of the C is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rtlagent.errors import CSourceError

_LABEL = re.compile(r"^([A-Za-z_][\w.$]*):", re.M)
_COMMON = re.compile(r"^\s*\.(?:comm|lcomm)\s+([A-Za-z_][\w.$]*)\s*,", re.M)
_FUNCTION = re.compile(r"^\s*\.type\s+([A-Za-z_][\w.$]*),\s*[@%]function", re.M)
_SECTION = re.compile(r"^\s*\.(?:section\s+(\S+?)(?:,.*)?|(text|data|bss))\s*$", re.M)


def functions(assembly: str) -> frozenset[str]:
    """Return the functions defined in an assembly text."""
    return frozenset(_FUNCTION.findall(assembly)) & frozenset(_LABEL.findall(assembly))


def objects(assembly: str) -> frozenset[str]:
    """Return the data symbols defined in an assembly text."""
    return (frozenset(_LABEL.findall(assembly)) | frozenset(_COMMON.findall(assembly))) - functions(assembly)


def matching(name: str, symbols: frozenset[str]) -> list[str]:
    """Return the symbols that a C or C++ name can stand for: itself, or mangled as gcc does it."""
    if name in symbols:
        return [name]
    last = re.escape(f"{len(name)}{name}")
    # The length says where the name ends; a parameter of a class type begins with a digit, too.
    mangled = re.compile(rf"_ZL?{last}.*|_ZNK?(?:\d+\w+?)*?{last}E.*")
    return sorted(s for s in symbols if mangled.fullmatch(s))


def find_function(name: str, assembly: str) -> str | None:
    """Return the assembly name of the function `name`, or None.

    Raises:
        CSourceError: there are several (C++ overloads).
    """
    found = [s for s in matching(name, functions(assembly)) if not re.search(r"\.(?:cold|part|constprop)", s)]
    if len(found) > 1:
        raise CSourceError(f"there are {len(found)} functions {name}", hint="give the top function a name of its own")
    return found[0] if found else None


def rename_definition(assembly: str, symbol: str, new: str) -> str:
    """Give the definition of `symbol` another name and leave all uses of it."""
    s = re.escape(symbol)
    edge = r"(?![\w.$])"
    text = re.sub(rf"^{s}:", f"{new}:", assembly, flags=re.M)
    directives = r"globl|global|type|size|weak|local|hidden|internal|protected"
    text = re.sub(rf"^(\s*\.(?:{directives})\s+){s}{edge}", rf"\g<1>{new}", text, flags=re.M)
    return re.sub(rf"^(\s*\.size\s+.*-\s*){s}{edge}", rf"\g<1>{new}", text, flags=re.M)


def export(assembly: str, symbols: Sequence[str]) -> str:
    """Make data symbols visible to other files."""
    for symbol in symbols:
        s = re.escape(symbol)
        assembly = re.sub(rf"^\s*\.local\s+{s}\s*$\n?", "", assembly, flags=re.M)
        assembly += f"\t.globl\t{symbol}\n"
    return assembly


def is_constant(assembly: str, symbol: str) -> bool:
    """Say whether a data symbol lies in a section that cannot be written."""
    label = re.search(rf"^{re.escape(symbol)}:", assembly, flags=re.M)
    if label is None:
        return False
    sections = list(_SECTION.finditer(assembly, 0, label.start()))
    return bool(sections) and ".rodata" in (sections[-1][1] or "")
