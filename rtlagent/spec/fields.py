"""Read typed values out of the front matter's tree; what does not fit is noted and read as None."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping as Named
from collections.abc import Sequence as Words

from rtlagent.spec.front_matter import Mapping, Node, Scalar, Sequence
from rtlagent.spec.names import why_not_identifier
from rtlagent.spec.problems import Problems, shown, suggestion

_INTEGER = re.compile(r"[+-]?[0-9](?:_?[0-9]){0,18}")
_HEX = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_WITH_UNIT = re.compile(r"([+-]?[0-9][0-9_.]*)\s*([A-Za-z%][\w/%]*)")
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def entries(
    node: Node, what: str, allowed: Words[str], problems: Problems, *, hints: Named[str, str] | None = None
) -> dict[str, Node]:
    """Return the keys of a mapping that are known and not null; note the unknown ones."""
    if not isinstance(node, Mapping):
        problems.add(node.place, f"{what} must have keys, not be {kind_of(node)}", f"keys: {', '.join(allowed)}")
        return {}
    found: dict[str, Node] = {}
    for key, value in node.entries:
        if key.text not in allowed:
            hint = (hints or {}).get(key.text) or suggestion(key.text, allowed)
            problems.add(key.place, f"unknown key {shown(key.text)} in {what}", hint)
        elif not (isinstance(value, Scalar) and value.is_null):
            found[key.text] = value
    return found


def items(node: Node) -> tuple[Node, ...]:
    """Return a list's items; a single value counts as a list of one."""
    if isinstance(node, Sequence):
        return node.items
    return () if isinstance(node, Scalar) and node.is_null else (node,)


def text(node: Node, what: str, problems: Problems) -> str | None:
    """Return the text of a scalar that is not empty."""
    if isinstance(node, Scalar) and node.text.strip():
        return node.text.strip()
    found = "empty" if isinstance(node, Scalar) else kind_of(node)
    problems.add(node.place, f"{what} must be text, not {found}")
    return None


def identifier(node: Node, what: str, problems: Problems) -> str | None:
    """Return the name of a module, port or parameter."""
    name = text(node, what, problems)
    if name is None:
        return None
    reason = why_not_identifier(name)
    if reason:
        problems.add(node.place, f"{what} {shown(name)} {reason}", identifier_hint(name))
        return None
    return name


def identifier_hint(name: str) -> str:
    """Suggest a valid name that resembles `name`."""
    near = re.sub(r"[^A-Za-z0-9_$]+", "_", name).strip("_")[:255]
    if near and why_not_identifier(near) and not why_not_identifier(f"{near}_i"):
        near = f"{near}_i"
    return f"for example {near}" if near and not why_not_identifier(near) else "letters, digits and _, no digit first"


def choice(node: Node, what: str, choices: Words[str], problems: Problems) -> str | None:
    """Return one of `choices`, whatever its case."""
    word = text(node, what, problems)
    if word is None:
        return None
    if word.lower() in choices:
        return word.lower()
    problems.add(node.place, f"unknown {what} {shown(word)}", suggestion(word, choices))
    return None


def boolean(node: Node, what: str, problems: Problems) -> bool | None:
    """Return true or false (also yes, no, on, off)."""
    word = text(node, what, problems)
    if word is None:
        return None
    value = _BOOLEANS.get(word.lower())
    if value is None:
        problems.add(node.place, f"{what} must be true or false, not {shown(word)}")
    return value


def integer(node: Node, what: str, problems: Problems, *, low: int, high: int) -> int | None:
    """Return a whole number between `low` and `high`, both included."""
    word = text(node, what, problems)
    if word is None:
        return None
    value = as_integer(word)
    if value is None:
        hint = _unit_hint(word, what)
        problems.add(node.place, f"{what} must be a whole number, not {shown(word)}", hint)
    elif not low <= value <= high:
        problems.add(node.place, f"{what} must be between {low} and {high}, not {value}")
    else:
        return value
    return None


def as_integer(word: str) -> int | None:
    """Return the value of a decimal (`010` is ten) or `0x` number; None for anything else."""
    if _INTEGER.fullmatch(word):
        return int(word)
    return int(word, 16) if _HEX.fullmatch(word) else None


def positive_number(node: Node, what: str, problems: Problems) -> float | None:
    """Return a finite number above zero."""
    word = text(node, what, problems)
    if word is None:
        return None
    if not _NUMBER.fullmatch(word) or not math.isfinite(float(word)):
        problems.add(node.place, f"{what} must be a number, not {shown(word)}", _unit_hint(word, what))
        return None
    if float(word) <= 0:
        problems.add(node.place, f"{what} must be above zero, not {word}")
        return None
    return float(word)


def _unit_hint(word: str, what: str) -> str:
    match = _WITH_UNIT.fullmatch(word)
    if not match:
        return ""
    number, unit = match.groups()
    scale = {"ghz": 1000.0, "mhz": 1.0, "khz": 0.001, "hz": 1e-6}.get(unit.lower())
    if scale and what.endswith("_mhz") and _NUMBER.fullmatch(number):
        number = f"{float(number) * scale:g}"
    return f"write the number alone, without its unit: {number}"


def kind_of(node: Node) -> str:
    """Name what a node is, for a message."""
    if isinstance(node, Mapping):
        return "a set of keys"
    if isinstance(node, Sequence):
        return "a list"
    return "empty" if node.is_null else shown(node.text)
