"""`#pragma HLS ...` in C text: read, marked for the compiler, and written back.

clang drops these pragmas without a word. Each one therefore becomes a call of a marker function on the same line, which
stays in its loop and function through inlining, and is read from the IR by its number:

```
for (i = 0; i < 8; i++) {              for (i = 0; i < 8; i++) {
#pragma HLS pipeline II=1        ->    ;extern void rtlagent_pragma_0(void);rtlagent_pragma_0();
  s += a[i];                             s += a[i];
```
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rtlagent.errors import suggestion

from .ir import Place
from .options import Remarks

MARKER = "rtlagent_pragma_"
_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(?:HLS|hls)\b[ \t]*(.*)$")
_OPTIONS: Mapping[str, frozenset[str]] = {
    "pipeline": frozenset({"ii", "off", "rewind", "style", "enable_flush"}),
    "unroll": frozenset({"factor", "off", "skip_exit_check", "region", "complete"}),
    "array_partition": frozenset({"variable", "type", "complete", "cyclic", "block", "factor", "dim"}),
    "inline": frozenset({"off", "recursive", "region"}),
    "loop_tripcount": frozenset({"min", "max", "avg"}),
    "loop_flatten": frozenset({"off"}),
    "dependence": frozenset(
        {"variable", "inter", "intra", "true", "false", "raw", "war", "waw", "class", "type", "direction", "distance"}
        | {"array", "pointer", "dependent"}
    ),
    "allocation": frozenset({"instances", "limit", "operation", "function"}),
    "bind_op": frozenset({"variable", "op", "impl", "latency"}),
    "bind_storage": frozenset({"variable", "type", "impl", "latency"}),
    "interface": frozenset(
        {"mode", "port", "variable", "name", "depth", "bundle", "offset", "register", "latency", "ap_none", "ap_vld"}
        | {"ap_memory", "s_axilite", "m_axi", "axis", "bram", "ap_ctrl_hs", "ap_ctrl_none", "ap_ctrl_chain", "ap_fifo"}
        | {"ap_stable", "ap_ack", "ap_hs", "ap_ovld"}
    ),
    "latency": frozenset({"min", "max"}),
    "dataflow": frozenset({"disable_start_propagation"}),
    "stream": frozenset({"variable", "depth", "type", "off"}),
}
_NUMBERS = frozenset({"ii", "factor", "dim", "min", "max", "avg", "limit", "latency", "depth", "distance"})


@dataclass(frozen=True)
class Pragma:
    """One pragma."""

    number: int
    kind: str
    """Lower case, such as `array_partition`."""
    options: Mapping[str, str]
    """Lower-case option -> its value; empty for a bare word."""
    place: Place

    def number_of(self, option: str) -> int | None:
        """Return an option's value as a number; None if it is not given."""
        value = self.options.get(option)
        return int(value, 0) if value else None


@dataclass
class MarkedSource:
    """A C text whose pragmas are marker calls."""

    text: str
    pragmas: list[Pragma] = field(default_factory=list)


def mark_pragmas(text: str, path: str, remarks: Remarks, *, use: bool = True) -> MarkedSource:
    """Replace each HLS pragma by a marker call on the same line; an unusable one is warned about and blanked.

    Args:
        text: C or C++.
        path: For messages.
        remarks: Takes the warnings.
        use: False: blank them all without a word.
    """
    lines = text.split("\n")
    scan = _Scanner()
    marked = MarkedSource("")
    number = 0
    while number < len(lines):
        line = lines[number]
        found = _PRAGMA.match(line) if scan.in_code else None
        if not found:
            scan.feed(line)
            number += 1
            continue
        first = number
        body = found[1]
        while body.endswith("\\") and number + 1 < len(lines):
            number += 1
            body = body[:-1] + " " + lines[number]
            lines[number] = ""
        number += 1
        lines[first] = ""
        if not use:
            continue
        pragma = _read(body, len(marked.pragmas), Place(path, first + 1), remarks)
        if pragma is None:
            continue
        problem = scan.problem()
        if problem:
            remarks.warn("PRAGMA_PLACE", f"#pragma HLS {pragma.kind} is ignored: {problem}", pragma.place)
            continue
        name = f"{MARKER}{pragma.number}"
        lines[first] = f';extern void {name}(void) __asm__("{name}");{name}();'
        marked.pragmas.append(pragma)
    marked.text = "\n".join(lines)
    return marked


def _read(body: str, number: int, place: Place, remarks: Remarks) -> Pragma | None:
    body = re.sub(r"//.*$|/\*.*?\*/", "", body).strip()
    body = re.sub(r"\s*=\s*", "=", body)
    words = body.split()
    if not words:
        remarks.warn("PRAGMA_EMPTY", "#pragma HLS names nothing", place)
        return None
    kind = words[0].lower()
    if kind not in _OPTIONS:
        remarks.warn("PRAGMA_UNKNOWN", f"unknown pragma HLS {words[0]}", place, hint=suggestion(kind, _OPTIONS))
        return None
    options: dict[str, str] = {}
    for word in words[1:]:
        name, _, value = word.partition("=")
        name = name.lower()
        if name not in _OPTIONS[kind]:
            hint = suggestion(name, sorted(_OPTIONS[kind]))
            remarks.warn("PRAGMA_OPTION", f"#pragma HLS {kind}: unknown option {name}", place, hint=hint)
            continue
        if name in _NUMBERS and not re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", value):
            wrong = f"#pragma HLS {kind} is ignored: {name} takes a number, not {value!r}"
            remarks.warn("PRAGMA_VALUE", wrong, place)
            return None
        options[name] = value
    return Pragma(number, kind, options, place)


class _Scanner:
    """Follows C text line by line: comments, strings, braces, and what stands before the next line."""

    def __init__(self) -> None:
        self.depth = 0
        self._comment = False
        self._before = ";"

    @property
    def in_code(self) -> bool:
        """True unless a block comment is open."""
        return not self._comment

    def problem(self) -> str:
        """Say why a statement cannot stand here; empty if it can."""
        if self.depth == 0:
            return "it stands outside any function"
        if self._before not in "{};:":
            return "it must stand inside the braces of its loop or function"
        return ""

    def feed(self, line: str) -> None:
        """Take the next line."""
        if not self._comment and line.lstrip().startswith("#"):
            return
        at = 0
        while at < len(line):
            if self._comment:
                end = line.find("*/", at)
                if end < 0:
                    return
                self._comment = False
                at = end + 2
                continue
            two = line[at : at + 2]
            if two == "//":
                return
            if two == "/*":
                self._comment = True
                at += 2
                continue
            char = line[at]
            if char in "\"'":
                at = _after_literal(line, at)
                self._before = char
                continue
            self.depth += (char == "{") - (char == "}")
            if not char.isspace():
                self._before = char
            at += 1


def _after_literal(line: str, at: int) -> int:
    quote = line[at]
    at += 1
    while at < len(line) and line[at] != quote:
        at += 2 if line[at] == "\\" else 1
    return at + 1


def write_pragmas(text: str, edits: Mapping[int, list[str]]) -> str:
    """Insert pragma lines after given source lines; everything else stays byte for byte.

    Args:
        text: The source.
        edits: Line number (from 1) of an opening brace's line -> pragmas without `#pragma HLS `.
    """
    lines = text.split("\n")
    for line in sorted(edits, reverse=True):
        indent = re.match(r"\s*", lines[line - 1])
        lead = indent[0] if indent else ""
        lines[line:line] = [f"{lead}#pragma HLS {pragma}" for pragma in edits[line]]
    return "\n".join(lines)
