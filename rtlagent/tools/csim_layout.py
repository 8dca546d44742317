"""Where the arguments of a C function are at the moment of a call, as C tables for the recorder.

x86-64 System V: integers and pointers go into six registers, floating point into eight, the rest on the
stack. `void f(char c, int *a, double d)` gives

    {RTLAGENT_SCALAR, 1, {0, -1}, -1, -1, 0, 0, 1},
    {RTLAGENT_ARRAY, 256, {1, -1}, -1, -1, 0, 0, 4},
    {RTLAGENT_SCALAR, 8, {-1, -1}, 0, -1, 0, 0, 0},
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rtlagent.errors import CSourceError

if TYPE_CHECKING:
    from rtlagent.hls.interface import Argument

MAX_ARGUMENTS = 256
MAX_SCALAR_BYTES = 4096
_INTEGER_REGISTERS = 6
_VECTOR_REGISTERS = 8


@dataclass(frozen=True)
class Place:
    """Where one argument is."""

    registers: tuple[int, ...] = ()
    """Integer registers, eight bytes each."""
    vector: int | None = None
    stack: int | None = None
    """Offset in bytes."""


@dataclass(frozen=True)
class Bounds:
    """The most that is recorded."""

    calls: int
    megabytes: int = 64


def places(arguments: Sequence[Argument]) -> tuple[Place, ...]:
    """Return the place of each argument; a global has an empty one."""
    found: list[Place] = []
    integer = vector = stack = 0
    for a in arguments:
        size = a.size_bytes if a.is_scalar else 8
        needed = -(-size // 8)
        if a.is_global:
            found.append(Place())
        elif a.is_scalar and a.is_float and size <= 8 and vector < _VECTOR_REGISTERS:
            found.append(Place(vector=vector))
            vector += 1
        elif not (a.is_scalar and a.is_float) and needed <= 2 and integer + needed <= _INTEGER_REGISTERS:
            found.append(Place(registers=tuple(range(integer, integer + needed))))
            integer += needed
        else:
            alignment = 16 if _wide(a) else 8
            stack = -(-stack // alignment) * alignment
            found.append(Place(stack=stack))
            stack += needed * 8
    return tuple(found)


def check(arguments: Sequence[Argument]) -> None:
    """Refuse what cannot be recorded.

    Raises:
        CSourceError: there are too many arguments, or a scalar is too big.
    """
    if len(arguments) > MAX_ARGUMENTS:
        raise CSourceError(f"{len(arguments)} arguments are too many to record", hint=f"at most {MAX_ARGUMENTS}")
    for a in arguments:
        if a.is_scalar and a.size_bytes > MAX_SCALAR_BYTES:
            raise CSourceError(f"argument {a.name} of {a.size_bytes} bytes by value", hint="pass a pointer")
        if a.size_bytes <= 0:
            raise CSourceError(f"the size of argument {a.name} is not known", hint="declare it as an array")


def layout_source(
    arguments: Sequence[Argument], *, top: str, symbols: Mapping[str, str], writable: frozenset[str], bounds: Bounds
) -> str:
    """Return rtlagent_layout.c.

    Args:
        arguments: As in the C declaration, then the globals.
        top: Assembly name of the function.
        symbols: Assembly name of each global argument.
        writable: The globals that are not constants.
        bounds: Of the recording.
    """
    lines = ['#include "record.h"']
    rows: list[str] = []
    for index, (a, place) in enumerate(zip(arguments, places(arguments), strict=True)):
        kind = "GLOBAL" if a.is_global else "SCALAR" if a.is_scalar else "ARRAY"
        name = "0"
        if a.is_global:
            name = f"rtlagent_global_{index}"
            lines.append(f'extern unsigned char {name}[] __asm__("{symbols[a.name]}");')
        first, second = (*place.registers, -1, -1)[:2]
        vector = -1 if place.vector is None else place.vector
        stack = -1 if place.stack is None else place.stack
        rows.append(
            f"    {{RTLAGENT_{kind}, {a.size_bytes}, {{{first}, {second}}}, {vector}, {stack}, {name}, "
            f"{int(a.name in writable)}, {0 if a.is_float or is_bool(a) else a.element_bytes}}},"
        )
    lines += [
        "const struct rtlagent_argument rtlagent_arguments[] = {",
        *(rows or ["    {0}"]),
        "};",
        f"const int rtlagent_argument_count = {len(arguments)};",
        f"const uint64_t rtlagent_max_calls = {bounds.calls};",
        f"const uint64_t rtlagent_max_bytes = {bounds.megabytes << 20};",
        *_invocation(arguments, top),
    ]
    return "\n".join(lines) + "\n"


def _invocation(arguments: Sequence[Argument], top: str) -> list[str]:
    """Return the function that calls the top with arguments taken from memory."""
    types: list[str] = []
    values: list[str] = []
    lines: list[str] = []
    for index, a in enumerate(arguments):
        if a.is_global:
            continue
        if a.is_scalar:
            kind = f"rtlagent_type_{index}"
            lines.append(_typedef(a, kind))
            types.append(kind)
            values.append(f"*(const {kind} *)values[{index}]")
        else:
            types.append("unsigned char *")
            values.append(f"values[{index}]")
    # The result is left where it is: the recorder reads the registers.
    lines.append(f'extern void rtlagent_top({", ".join(types) or "void"}) __asm__("{top}");')
    lines.append("void rtlagent_invoke(unsigned char *const *values) {")
    lines.append(f"    (void)values;\n    rtlagent_top({', '.join(values)});\n}}")
    return lines


def _typedef(a: Argument, name: str) -> str:
    integers = {1: "char", 2: "short", 4: "int", 8: "long"}
    floats = {4: "float", 8: "double", 16: "long double"}
    if a.is_float and a.size_bytes in floats:
        return f"typedef {floats[a.size_bytes]} {name};"
    if a.size_bytes in integers:
        return f"typedef {'signed' if a.signed else 'unsigned'} {integers[a.size_bytes]} {name};"
    if _wide(a):
        return f"typedef __int128 {name};"
    return f"typedef struct {{ unsigned char bytes[{a.size_bytes}]; }} {name};"


def is_bool(a: Argument) -> bool:
    """Say whether only 0 and 1 are values of an argument's elements."""
    return a.c_type.split()[-1:] in (["_Bool"], ["bool"])


def _wide(a: Argument) -> bool:
    """Say whether an argument is aligned to 16 bytes on the stack."""
    return a.is_scalar and a.size_bytes == 16 and (a.is_float or "struct" not in a.c_type)
