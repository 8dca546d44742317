"""The rules for model-written RTL that concern text which the parser does not keep: comments, directives, characters.

The rules look at the raw text, also where an `ifdef leaves it out: another tool may see that part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rtlagent.types import Diagnostic, Severity


def words(text: str) -> frozenset[str]:
    """Return the words of a long list."""
    return frozenset(text.split())


_ITEM = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r'|(?P<string>(?<!`)"(?:\\.|[^"\\\n])*")'
    r"|(?P<escaped>\\[^\s]+)",
    re.DOTALL,
)
_HARMLESS = re.compile(r"// verilator lint_off (?:DECLFILENAME|SYMRSVDWORD)")
"""Names of files and words of C++ say nothing about what a design does; compiled C carries these two."""
_METACOMMENT = re.compile(r"/[/*]\s*verilator\b", re.IGNORECASE)
_SYNTHESIS_COMMENT = re.compile(
    r"/[/*]\s*(?:synthesis|synopsys|pragma|cadence|ambit|exemplar|xilinx|altera|\$s|vcs)\b[^\n]*?"
    r"\b(translate_(?:off|on)|synthesis_o(?:ff|n)|full_case|parallel_case|black_?box|syn_black_box)\b",
    re.IGNORECASE,
)
_PROTECT_COMMENT = re.compile(r"//\s*pragma\s+protect\b", re.IGNORECASE)
_CONDITION = re.compile(r"`(?:ifdef|ifndef|elsif)\b\s*(\w*)")
_DEFINE = re.compile(r"`define\s+(\\?[A-Za-z_]\w*)")
_INCLUDE = re.compile(r"`include\b")
_DIRECTIVE = re.compile(r"`([A-Za-z_]\w*)?(``)?")
_QUOTE_TRICK = re.compile(r'`\\`"')
_SYSTEM_NAME = re.compile(r"(?<![\w$\\])\$[A-Za-z_][\w$]*")
_BAD_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\u0085\u2028\u2029]|\r(?!\n)|//[^\n]*\\\r?(?=\n)")

_PREDEFINED = re.compile(
    r"SYNTHESIS|SYNTHESYS|SIMULATION|SIM|COCOTB\w*|VERILATOR|verilator3?|SYSTEMVERILOG|SV_COV_\w+|coverage_block_off"
    r"|__\w+|YOSYS|FORMAL|YOSYS_\w+|IVERILOG|ICARUS|VCS|MODEL_TECH|XCELIUM|QUESTA|INCA|RIVIERA|XILINX\w*|VIVADO|QUARTUS"
    r"|ALTERA_\w+|TARGET_SYNTHESIS|RTLAGENT\w*|TESTBENCH|GL_TEST|ICE40\w*|ECP5\w*|BLACKBOX"
)
"""Macros that some tool defines by itself, so that the tools would judge different designs."""

_DIRECTIVES = words(
    "define undef undefineall ifdef ifndef elsif else endif include timescale default_nettype resetall celldefine "
    "endcelldefine unconnected_drive nounconnected_drive begin_keywords end_keywords __FILE__ __LINE__"
)
_FORBIDDEN_DIRECTIVES = {
    "pragma": ("POLICY_PROTECT", "`pragma may hide text from the tools"),
    "protect": ("POLICY_PROTECT", "protected text cannot be judged"),
    "endprotect": ("POLICY_PROTECT", "protected text cannot be judged"),
    "line": ("POLICY_DIRECTIVE", "`line falsifies the places in messages"),
    "__FILE__": ("POLICY_DIRECTIVE", "`__FILE__ makes the design depend on where it lies"),
}

CODES = {
    "POLICY_METACOMMENT": "remove the comment; correct what it was to hide",
    "POLICY_SIM_SYNTH_MISMATCH": "write one description that simulation and synthesis read alike",
    "POLICY_PROTECT": "give the design as plain text",
    "POLICY_DIRECTIVE": "use plain Verilog instead of this directive",
    "POLICY_INCLUDE": "include only files of the design, by a relative path without ..",
    "POLICY_CHARACTERS": "use printable characters, spaces, tabs and newlines only",
    "POLICY_SYSTEM_TASK": "RTL needs no system tasks; only $clog2, $signed, $bits and the like, and $readmemh",
}


def check_text(path: str, text: str, macros: frozenset[str], allowed: frozenset[str]) -> Iterator[Diagnostic]:
    """Yield what the raw text of one file breaks.

    Args:
        path: The file, as diagnostics shall name it.
        text: Its text.
        macros: Every macro that the given files define.
        allowed: System names that RTL may use.
    """
    for offset, severity, code, message in _found(text, macros, allowed):
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        yield Diagnostic("policy", severity, code, message, path, line, column, CODES[code])


def defined_macros(texts: Mapping[str, str]) -> frozenset[str]:
    """Return the names of all macros that the files define."""
    return frozenset(name for text in texts.values() for name in _DEFINE.findall(without_comments(text)))


def without_comments(text: str) -> str:
    """Blank comments, strings and escaped identifiers; every offset stays."""
    return _ITEM.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


_Found = Iterator[tuple[int, Severity, str, str]]


def _found(text: str, macros: frozenset[str], allowed: frozenset[str]) -> _Found:
    error = Severity.ERROR
    for match in _BAD_CHARACTER.finditer(text):
        yield match.start(), error, "POLICY_CHARACTERS", "a character that tools read differently"
        break
    for match in _ITEM.finditer(text):
        if match["comment"]:
            yield from _comment(match.start(), match[0])
    code = without_comments(text)
    for match in _QUOTE_TRICK.finditer(text):
        yield match.start(), error, "POLICY_DIRECTIVE", "an escaped quote in a macro"
    for match in _CONDITION.finditer(code):
        name = match[1]
        if not name or _PREDEFINED.fullmatch(name):
            message = f"code that depends on `{name}` differs between simulation and synthesis"
            yield match.start(), error, "POLICY_SIM_SYNTH_MISMATCH", message
        elif name not in macros:
            message = f"nothing in the design defines the macro '{name}'"
            yield match.start(), Severity.WARNING, "POLICY_SIM_SYNTH_MISMATCH", message
    yield from _directives(text, code, macros)
    for match in _SYSTEM_NAME.finditer(code):
        if match[0] not in allowed and match[0] not in ("$root", "$unit"):
            yield match.start(), error, "POLICY_SYSTEM_TASK", f"'{match[0]}' is not allowed in RTL"


def _comment(offset: int, comment: str) -> _Found:
    if _HARMLESS.fullmatch(comment.rstrip()):
        return
    if _METACOMMENT.match(comment):
        yield offset, Severity.ERROR, "POLICY_METACOMMENT", "a comment that steers Verilator"
    elif match := _SYNTHESIS_COMMENT.match(comment):
        message = f"'{match[1]}' makes synthesis read another design than simulation"
        yield offset, Severity.ERROR, "POLICY_SIM_SYNTH_MISMATCH", message
    elif _PROTECT_COMMENT.match(comment):
        yield offset, Severity.ERROR, "POLICY_PROTECT", "protected text cannot be judged"


def _directives(text: str, code: str, macros: frozenset[str]) -> _Found:
    for match in _DIRECTIVE.finditer(code):
        name, pasted = match[1] or "", match[2]
        if name in _FORBIDDEN_DIRECTIVES:
            yield match.start(), Severity.ERROR, *_FORBIDDEN_DIRECTIVES[name]
        elif name == "include":
            yield from _include(match.start(), text[match.end() : match.end() + 400])
        elif name == "coverage_block_off" or name.startswith(("systemc_", "verilator")):
            yield match.start(), Severity.ERROR, "POLICY_DIRECTIVE", f"`{name} is for Verilator only"
        elif pasted and name:
            yield match.start(), Severity.ERROR, "POLICY_DIRECTIVE", "a macro name that is put together from parts"
        elif name and name not in _DIRECTIVES and name not in macros:
            yield match.start(), Severity.ERROR, "POLICY_DIRECTIVE", f"unknown directive or macro '`{name}'"


def _include(offset: int, rest: str) -> _Found:
    match = re.match(r'\s*["<]([^">\n]*)[">]', rest)
    if match is None:
        yield offset, Severity.ERROR, "POLICY_INCLUDE", "`include needs a file name in quotes"
    elif match[1].startswith("/") or ".." in match[1].split("/") or not re.fullmatch(r"[\w./+-]+", match[1]):
        yield offset, Severity.ERROR, "POLICY_INCLUDE", "`include of a path outside the design"
