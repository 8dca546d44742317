"""Types and operands in the text of one LLVM instruction."""

from __future__ import annotations

import re
from collections.abc import Callable

_CASTS = frozenset(
    {"zext", "sext", "trunc", "ptrtoint", "ptrtoaddr", "inttoptr", "bitcast", "addrspacecast"}
    | {"fptosi", "fptoui", "sitofp", "uitofp", "fptrunc", "fpext"}
)
_FLAGS = frozenset(
    {"nuw", "nsw", "exact", "disjoint", "samesign", "nneg", "inbounds", "nusw", "volatile", "atomic", "fast", "nnan"}
    | {"ninf", "nsz", "arcp", "contract", "afn", "reassoc", "tail", "musttail", "notail"}
)
_ATTRIBUTE = re.compile(r"(?:align|dereferenceable\w*) \d+ |[a-z_]+\(|[a-z_]+ ")
_VALUE = re.compile(
    r"[-%@\d\[{<]|(?:true|false|null|undef|poison|none|zeroinitializer)\b|c\"|metadata |splat |asm "
    r"|(?:getelementptr|inttoptr|ptrtoint|bitcast|addrspacecast|add|sub|xor|trunc|blockaddress|dso_local_equivalent)\b"
)


def closing(text: str, at: int) -> int:
    """Return where the bracket at `at` is closed."""
    depth = 0
    quoted = False
    for k in range(at, len(text)):
        char = text[k]
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
            if depth == 0:
                return k
    raise ValueError(text)


def split_commas(text: str) -> list[str]:
    """Split at the commas outside brackets and strings."""
    if not any(bracket in text for bracket in '([{<"'):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    parts, start, depth, quoted = [], 0, 0, False
    for k, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in "([{<":
            depth += 1
        elif char in ")]}>":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def take_type(text: str) -> tuple[str, str]:
    """Split a type from what follows it."""
    if text[0] in "[{<":
        end = closing(text, 0) + 1
    elif text.startswith('%"'):
        end = text.index('"', 2) + 1
    else:
        space = text.find(" ")
        end = space if space >= 0 else len(text)
    rest = text[end:].lstrip()
    if rest.startswith("addrspace("):
        rest = rest[rest.index(")") + 1 :].lstrip()
    return text[:end], rest


def _typed(text: str) -> tuple[str, str]:
    """Read `type attributes value`."""
    kind, rest = take_type(text)
    while rest and not _VALUE.match(rest):
        attribute = _ATTRIBUTE.match(rest)
        if not attribute:
            break
        end = closing(rest, attribute.end() - 1) + 1 if attribute[0].endswith("(") else attribute.end()
        rest = rest[end:].lstrip()
    if rest.startswith(("%", "@")) and '"' not in rest:
        rest = rest.split(" ", 1)[0]  # without the ordering of an atomic access
    return kind, rest


def _without_flags(text: str) -> str:
    while True:
        word, _, rest = text.partition(" ")
        if word not in _FLAGS and not word.startswith(("samesign", "inrange")):
            return text
        text = rest


Found = tuple[str, list[tuple[str, str]]]


def read_operands(opcode: str, body: str) -> Found:
    """Return the result's type and the operands as (type, value)."""
    if opcode == "call":
        return _read_call(body)
    rest = _without_flags(body[len(opcode) :].lstrip())
    reader = _READERS.get(opcode)
    if reader is not None:
        return reader(rest)
    if opcode in _CASTS:
        value, _, kind = rest.rpartition(" to ")
        return kind, [_typed(value)]
    parts = split_commas(rest)
    if not parts:
        return "void", []
    kind, first = _typed(parts[0])
    return kind, [(kind, first), *((kind, part) for part in parts[1:])]


def _read_call(body: str) -> Found:
    rest = _without_flags(body)
    rest = rest.removeprefix("call ")
    callee = re.search(r"(?:^| )(@\"[^\"]*\"|[@%][-\w.$]+|asm .*?)\(", rest)
    while callee and callee[1].startswith("%") and callee[1][1:].startswith(("struct.", "union.", "class.")):
        callee = re.compile(r" (@\"[^\"]*\"|[@%][-\w.$]+|asm .*?)\(").search(rest, callee.end())
    if not callee:
        return "void", [("ptr", "null")]
    before = rest[: callee.start()].strip()
    if before.endswith(")"):
        before = before[: before.rindex("(")].strip() if "(" in before else before
    result = _result_type(before)
    opening = callee.end() - 1
    given = [_typed(part) for part in split_commas(rest[opening + 1 : closing(rest, opening)])]
    name = callee[1] if not callee[1].startswith("asm") else "null"
    return result, [*given, ("ptr", name)]


def _result_type(before: str) -> str:
    """Return the type at the end of `attributes type`."""
    if before.endswith(("}", "]", ">")):
        for k in range(len(before)):
            if before[k] in "[{<" and closing(before, k) == len(before) - 1:
                return before[k:]
    return before.rsplit(" ", 1)[-1]


def _read_br(rest: str) -> Found:
    parts = [_typed(p) for p in split_commas(rest)]
    return "void", parts if len(parts) == 1 else [parts[0], parts[2], parts[1]]


def _read_switch(rest: str) -> Found:
    head, _, cases = rest.partition("[")
    value, default = split_commas(head)
    targets = re.findall(r", label (%\"[^\"]*\"|%[-\w.$]+)", cases)
    return "void", [_typed(value), _typed(default), *(("label", target) for target in targets)]


def _read_phi(rest: str) -> Found:
    kind, pairs = take_type(rest)
    return kind, [(kind, split_commas(pair[1:-1])[0]) for pair in split_commas(pairs)]


def _read_select(rest: str) -> Found:
    parts = [_typed(p) for p in split_commas(rest)]
    return parts[1][0], parts


def _read_load(rest: str) -> Found:
    parts = split_commas(rest)
    return parts[0], [_typed(parts[1])]


def _read_store(rest: str) -> Found:
    parts = split_commas(rest)
    return "void", [_typed(parts[0]), _typed(parts[1])]


def _read_getelementptr(rest: str) -> Found:
    return "ptr", [_typed(p) for p in split_commas(rest)[1:]]


def _read_alloca(rest: str) -> Found:
    parts = split_commas(rest)
    return "ptr", [_typed(p) for p in parts[1:] if not p.startswith(("align", "addrspace"))]


def _read_comparison(rest: str) -> Found:
    first, second = split_commas(rest.split(" ", 1)[1])
    kind, value = _typed(first)
    return "i1", [(kind, value), (kind, second)]


def _read_ret(rest: str) -> Found:
    return "void", [] if rest == "void" else [_typed(rest)]


def _read_extractvalue(rest: str) -> Found:
    kind, value = _typed(split_commas(rest)[0])
    return "", [(kind, value)]


def _read_insertvalue(rest: str) -> Found:
    whole, part = (_typed(p) for p in split_commas(rest)[:2])
    return whole[0], [whole, part]


_READERS: dict[str, Callable[[str], Found]] = {
    "br": _read_br,
    "switch": _read_switch,
    "phi": _read_phi,
    "select": _read_select,
    "load": _read_load,
    "store": _read_store,
    "getelementptr": _read_getelementptr,
    "alloca": _read_alloca,
    "icmp": _read_comparison,
    "fcmp": _read_comparison,
    "ret": _read_ret,
    "extractvalue": _read_extractvalue,
    "insertvalue": _read_insertvalue,
}
