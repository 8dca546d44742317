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

import ast
import re
from collections.abc import Callable, Collection, Mapping
from copy import copy
from dataclasses import dataclass, field, replace

from rtlagent.errors import CSourceError, suggestion

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
    "allocation": frozenset({"instances", "limit", "operation", "function", "core"}),
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
_WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = {
    "pipeline": {
        "rewind": "a loop begins anew when its last iteration has ended",
        "style": "a pipeline stalls as a whole",
        "enable_flush": "a pipeline runs empty at its end only",
    },
    "unroll": {
        "skip_exit_check": "the exit is checked in every copy, so that any trip count is right",
        "region": "only the loop around it is unrolled",
    },
    "inline": {"region": "it speaks about the function that it stands in"},
    "dependence": {"distance": "a dependence is either false or as the code has it"},
    "dataflow": {"disable_start_propagation": "every part begins as soon as its inputs are there"},
    "allocation": {"core": "it limits operations and functions"},
    "interface": {
        "register": "ports are registered where the protocol needs it",
        "latency": "a memory answers in the next cycle",
        "name": "a port is called as its argument",
        "offset": "registers have fixed addresses, as the register map says",
    },
}
"""Options that Vitis HLS knows and that change nothing here, and why."""
_OF_LOOPS = frozenset({"pipeline", "unroll", "loop_tripcount", "loop_flatten"})
_OPERATOR = re.compile(r"_Pragma\s*\(\s*\"\s*(?:HLS|hls)\s+([^\"]*)\"\s*\)")
_LITERAL = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
# A literal, or a comment that ends in the line.
_TOKEN = re.compile(_LITERAL.pattern + r"|//.*|/\*.*?\*/")
_OPEN_COMMENT = re.compile(r"/\*")
_NESTING = 10
_SHOWN = 60
_LONGEST_VALUE = 200
_GREATEST = 1 << 32
_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.Div: int.__floordiv__,
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

    Raises:
        CSourceError: the text uses the markers' names.
    """
    if MARKER in text:
        where = f"{path}:{text[: text.index(MARKER)].count(chr(10)) + 1}"
        raise CSourceError(f"names with {MARKER} are taken", where=where, hint="choose another name")
    if "pragma" not in text.lower():
        return MarkedSource(text)
    lines = text.split("\n")
    scan = _Scanner()
    marked = MarkedSource("")
    constants = Constants(text)
    number = 0
    while number < len(lines):
        line = lines[number]
        goes_on = number > 0 and lines[number - 1].rstrip("\r").endswith("\\")
        found = _PRAGMA.match(line.rstrip("\r")) if scan.in_code and not goes_on else None
        if not found:
            if use and "_Pragma" in line:
                lines[number] = _mark_operators(line, marked, Place(path, number + 1), remarks, constants, scan)
            scan.feed(line)
            number += 1
            continue
        first = number
        body = found[1]
        while body.rstrip().endswith("\\") and number + 1 < len(lines):
            number += 1
            body = body.rstrip()[:-1] + " " + lines[number]
            lines[number] = ""
        number += 1
        lines[first] = ""
        if not use:
            continue
        place = Place(path, first + 1, line.index("#") + 1)
        pragma = _read(body, len(marked.pragmas), place, remarks, constants)
        if pragma is None:
            continue
        problem = scan.problem()
        if not problem and _stands_before_loop(pragma, lines[number:], scan):
            if scan.depth == 1:
                problem = "it stands before its loop; put it inside the loop's braces"
            else:
                told = f"#pragma HLS {pragma.kind} speaks about the loop around it, not about the one below"
                remarks.warn("PRAGMA_PLACE", told, pragma.place, hint="put it inside the braces of its loop")
        if problem:
            remarks.warn("PRAGMA_PLACE", f"#pragma HLS {pragma.kind} is ignored: {problem}", pragma.place)
            continue
        lines[first] = _marker(pragma)
        marked.pragmas.append(pragma)
    marked.text = "\n".join(lines)
    return marked


def _marker(pragma: Pragma) -> str:
    name = f"{MARKER}{pragma.number}"
    return f';extern void {name}(void) __asm__("{name}");{name}();'


def _mark_operators(
    line: str, marked: MarkedSource, place: Place, remarks: Remarks, constants: Constants, scan: _Scanner
) -> str:
    """Replace `_Pragma("HLS ...")` operators of a line."""
    if not scan.in_code or line.lstrip().startswith("#"):
        return line

    def mark(found: re.Match[str]) -> str:
        here = replace(place, column=found.start() + 1)
        pragma = _read(found[1], len(marked.pragmas), here, remarks, constants)
        if pragma is None:
            return ""
        before = copy(scan)
        before.feed(line[: found.start()])
        problem = before.problem()
        if problem:
            remarks.warn("PRAGMA_PLACE", f"#pragma HLS {pragma.kind} is ignored: {problem}", here)
            return ""
        marked.pragmas.append(pragma)
        return _marker(pragma)

    return _OPERATOR.sub(mark, line)


def _stands_before_loop(pragma: Pragma, following: list[str], scan: _Scanner) -> bool:
    """Tell whether a pragma of a loop stands before one instead of at the beginning of one's body."""
    if pragma.kind not in _OF_LOOPS or scan.opened:
        return False
    code = next((line for line in following if line.strip() and not _PRAGMA.match(line)), "")
    return bool(re.match(r"\s*(?:[A-Za-z_]\w*\s*:\s*)?(?:for|while|do)\b", code))


def _read(body: str, number: int, place: Place, remarks: Remarks, constants: Constants) -> Pragma | None:
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
        if name in _NUMBERS:
            known = constants.value(value)
            if known is None or known < 0:
                wrong = f"#pragma HLS {kind} is ignored: {name} takes a number, not {value[:_SHOWN]!r}"
                remarks.warn("PRAGMA_VALUE", wrong, place)
                return None
            value = str(known)
        options[name] = value
    unsupported = "m_axi" in (options.get("mode", ""), *options)  # said of the whole pragma
    for name, reason in _WITHOUT_EFFECT.get(kind, {}).items():
        if name in options and not unsupported:
            remarks.warn("PRAGMA_OPTION", f"#pragma HLS {kind}: {name} has no effect: {reason}", place)
    wrong = _missing(kind, options)
    if wrong:
        remarks.warn("PRAGMA_VALUE", f"#pragma HLS {kind} is ignored: {wrong}", place)
        return None
    return Pragma(number, kind, options, place)


def _missing(kind: str, options: Mapping[str, str]) -> str:
    """Say what a pragma needs and does not have; empty if nothing."""
    if kind in ("array_partition", "bind_op", "bind_storage", "stream") and not options.get("variable"):
        return "it takes variable=NAME"
    for option, among in (("factor", "unroll"), ("ii", "pipeline")):
        if kind == among and options.get(option) == "0":
            return f"{option} takes a number from 1"
    if int(options.get("min") or 0) > int(options.get("max") or options.get("min") or 0):
        return "its min is more than its max"
    return ""


class Constants:
    """Values of the macros and constants that a text defines itself, for numbers in pragmas."""

    def __init__(self, text: str) -> None:
        self._texts: dict[str, str] = dict(
            re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+([^\n]+?)[ \t\r]*$", text, re.M)
        )
        declared = r"\bconst(?:expr)?\s+(?:unsigned\s+|static\s+)*\w+\s+(\w+)\s*=\s*([^;,]+);"
        self._texts |= dict(re.findall(declared, text))

    def value(self, text: str, depth: int = 0) -> int | None:
        """Return the value of a number, a name or a sum, difference, product or quotient of such; None if unknown."""
        plain = re.sub(r"//.*$|/\*.*?\*/|(?<=\d)[uUlL]+\b", "", text).strip()
        if len(plain) > _LONGEST_VALUE:
            return None
        try:
            return self._evaluate(ast.parse(plain, mode="eval").body, depth)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _evaluate(self, tree: ast.expr, depth: int) -> int | None:
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return tree.value
        if isinstance(tree, ast.Name) and tree.id in self._texts and depth < _NESTING:
            return self.value(self._texts[tree.id], depth + 1)
        if isinstance(tree, ast.BinOp) and type(tree.op) in _ARITHMETIC:
            a, z = self._evaluate(tree.left, depth), self._evaluate(tree.right, depth)
            if a is None or z is None or (isinstance(tree.op, ast.Div) and z == 0) or abs(z) > _GREATEST:
                return None
            return _ARITHMETIC[type(tree.op)](a, z)
        return None


class _Scanner:
    """Follows C text line by line: comments, strings, braces, and what stands before the next line."""

    def __init__(self) -> None:
        self.depth = 0
        self._comment = False
        self._directive = False
        self._before = ";"
        self._parentheses = 0

    @property
    def opened(self) -> bool:
        """True directly after an opening brace."""
        return self._before == "{"

    @property
    def in_code(self) -> bool:
        """True unless a block comment is open."""
        return not self._comment

    def problem(self) -> str:
        """Say why a statement cannot stand here; empty if it can."""
        if self.depth == 0:
            return "it stands outside any function"
        if self._parentheses or self._before not in "{};:":
            return "it must stand inside the braces of its loop or function"
        return ""

    def feed(self, line: str) -> None:
        """Take the next line."""
        if not self._comment and (self._directive or line.lstrip().startswith("#")):
            self._directive = line.rstrip().endswith("\\")
            return
        if self._comment:
            _, ended, line = line.partition("*/")
            if not ended:
                return
            self._comment = False
        code = _TOKEN.sub(lambda m: m[0] if m[0][0] != "/" else " ", line)
        opened = _OPEN_COMMENT.search(_LITERAL.sub(_blank, code))
        if opened:
            self._comment = True
            code = code[: opened.start()]
        code = _LITERAL.sub(_blank, code)
        self.depth += code.count("{") - code.count("}")
        self._parentheses = max(0, self._parentheses + code.count("(") - code.count(")"))
        code = code.rstrip()
        if code:
            self._before = code[-1]


def _blank(literal: re.Match[str]) -> str:
    return "'" * len(literal[0])


def write_pragmas(text: str, edits: Mapping[int, list[str]], *, without: Collection[int] = ()) -> str:
    """Put pragmas into a source; everything else stays byte for byte.

    Args:
        text: The source.
        edits: Line number (from 1) of an opening brace's line -> pragmas without `#pragma HLS `, to go below it.
        without: Numbers of lines to leave out, such as pragmas that others replace.
    """
    lines = text.split("\n")
    ending = "\r" if lines and lines[0].endswith("\r") else ""
    written: list[str] = []
    for number, line in enumerate(lines, 1):
        if number not in without:
            written.append(line)
        indent = line[: len(line) - len(line.lstrip())].rstrip("\r")
        written += [f"{indent}#pragma HLS {pragma}{ending}" for pragma in edits.get(number, ())]
    return "\n".join(written)
