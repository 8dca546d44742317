"""C types of arguments and globals, from debug information."""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Basic:
    """The scalar at the bottom of a C type."""

    name: str
    size: int
    """Bytes."""
    signed: bool
    is_float: bool = False


@dataclass
class _Node:
    kind: str
    fields: dict[str, str] = field(default_factory=dict)


class CTypes:
    """Answers questions about types by metadata number."""

    def __init__(self, text: str) -> None:
        self._nodes: dict[int, _Node] = {}
        self._lists: dict[int, list[int | None]] = {}
        for line in text.splitlines():
            found = re.match(r"!(\d+) = (?:distinct )?!(\w*)[({](.*)[)}]$", line)
            if not found:
                continue
            number, kind, rest = int(found[1]), found[2], found[3]
            if kind:
                self._nodes[number] = _Node(kind, dict(re.findall(r"(\w+): (\"[^\"]*\"|[^,()]+)", rest)))
            else:
                self._lists[number] = [
                    int(part[1:]) if part.startswith("!") and part[1:].isdigit() else None
                    for part in (p.strip() for p in rest.split(","))
                ]

    def arguments(self, linkage_name: str) -> dict[int, Basic]:
        """Return argument number (from 1) -> basic type, for a function."""
        function = self._function(linkage_name)
        found = {}
        for node in self._nodes.values():
            scope = node.fields.get("scope", "")
            if node.kind == "DILocalVariable" and "arg" in node.fields and scope == f"!{function}":
                basic = self.basic(_number(node.fields.get("type")))
                if basic is not None:
                    found[int(node.fields["arg"])] = basic
        return found

    def result(self, linkage_name: str) -> Basic | None:
        """Return the basic type of a function's result."""
        function = self._nodes.get(self._function(linkage_name) or -1)
        if function is None:
            return None
        kind = self._nodes.get(_number(function.fields.get("type")) or -1)
        types = self._lists.get(_number(kind.fields.get("types")) or -1, []) if kind else []
        return self.basic(types[0]) if types and types[0] is not None else None

    def global_variable(self, name: str) -> Basic | None:
        """Return the basic type of a global."""
        for node in self._nodes.values():
            if node.kind == "DIGlobalVariable" and name in (
                node.fields.get("name", "").strip('"'),
                node.fields.get("linkageName", "").strip('"'),
            ):
                return self.basic(_number(node.fields.get("type")))
        return None

    def basic(self, number: int | None) -> Basic | None:
        """Follow typedefs, qualifiers, pointers and arrays down to a basic type."""
        for _ in range(50):
            node = self._nodes.get(number) if number is not None else None
            if node is None:
                return None
            if node.kind == "DIBasicType":
                encoding = node.fields.get("encoding", "")
                return Basic(
                    node.fields.get("name", "").strip('"'),
                    -(-int(node.fields.get("size", "8")) // 8),
                    encoding in ("DW_ATE_signed", "DW_ATE_signed_char"),
                    encoding == "DW_ATE_float",
                )
            if (
                node.kind == "DICompositeType"
                and "enumeration" in node.fields.get("tag", "")
                and "baseType" not in node.fields
            ):
                return Basic("unsigned int", 4, signed=False)
            number = _number(node.fields.get("baseType"))
        return None

    def _function(self, linkage_name: str) -> int | None:
        for number, node in self._nodes.items():
            if node.kind == "DISubprogram" and linkage_name in (
                node.fields.get("linkageName", "").strip('"'),
                node.fields.get("name", "").strip('"') if "linkageName" not in node.fields else "",
            ):
                return number
        return None


def _number(text: str | None) -> int | None:
    return int(text[1:]) if text and re.fullmatch(r"!\d+", text) else None
