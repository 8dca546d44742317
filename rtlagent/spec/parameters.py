"""The parameters of a spec's module: `WIDTH: 8`, `WIDTH = 8`, `{name: WIDTH, default: 8}`."""

from __future__ import annotations

from rtlagent.spec.fields import as_integer, entries, identifier, items, kind_of, text
from rtlagent.spec.front_matter import Mapping, Node, Scalar
from rtlagent.spec.interface import description
from rtlagent.spec.problems import Place, Problems
from rtlagent.types import Parameter

_KEYS = ("name", "default", "description")
_FORMS = "such as `WIDTH: 8`, `WIDTH = 8` or `{name: WIDTH, default: 8}`"


def read_parameters(node: Node, problems: Problems) -> tuple[Parameter, ...]:
    """Read a mapping or a list of parameters; note doubles."""
    found: dict[str, Parameter] = {}
    for place, parameter in _declared(node, problems):
        if parameter.name in found:
            problems.add(place, f"parameter {parameter.name!r} is declared twice")
        found[parameter.name] = parameter
    return tuple(found.values())


def defaults(parameters: tuple[Parameter, ...]) -> dict[str, int | None]:
    """Return each parameter's default as a number; None where it is none."""
    return {p.name: as_integer(p.default) for p in parameters}


def _declared(node: Node, problems: Problems) -> list[tuple[Place, Parameter]]:
    found: list[tuple[Place, Parameter]] = []
    for item in items(node):
        if isinstance(item, Mapping) and not any(k.text in _KEYS for k, _ in item.entries):
            pairs = [(key, value) for key, value in item.entries]
        elif isinstance(item, Mapping):
            found += _long(item, problems)
            continue
        elif isinstance(item, Scalar) and not item.is_null:
            name, _, default = item.text.partition("=")
            pairs = [(Scalar(item.place, name.strip(), True), Scalar(item.place, default.strip(), True))]
        else:
            problems.add(item.place, f"a parameter cannot be {kind_of(item)}", f"write it {_FORMS}")
            continue
        for key, value in pairs:
            if isinstance(value, Mapping):
                named = ((Scalar(key.place, "name", True), key), *value.entries)
                found += _long(Mapping(key.place, named), problems)
                continue
            known = identifier(key, "parameter", problems)
            if known:
                found.append((key.place, Parameter(known, _default(value, problems))))
    return found


def _long(node: Mapping, problems: Problems) -> list[tuple[Place, Parameter]]:
    keys = entries(node, "a parameter", _KEYS, problems)
    if "name" not in keys:
        problems.add(node.place, "a parameter has no name", f"write it {_FORMS}")
        return []
    name = identifier(keys["name"], "parameter", problems)
    default = _default(keys["default"], problems) if "default" in keys else ""
    return [(node.place, Parameter(name, default, description(keys, problems)))] if name else []


def _default(node: Node, problems: Problems) -> str:
    if isinstance(node, Scalar) and node.text.strip() == "":
        return ""
    return text(node, "a parameter's default", problems) or ""
