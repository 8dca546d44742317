"""Compare what a prompt says with what the golden design has and the hidden test uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rtlagent.bench.audit.findings import DEFECT, DOUBT, PORTS, UNSTATED, Finding
from rtlagent.bench.verilog_tokens import is_verilog
from rtlagent.types import Port, SourceFile

_WORD = re.compile(r"[A-Za-z_]\w*")
_LISTED = re.compile(r"^\s*-\s*(input|output|inout)\s+(?:\[[^\]]*\]\s*)?(\w+)(?:\s*\((\d+) bits?\))?", re.M | re.I)
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_MEMBERS = frozenset({"value", "name", "integer"})


def port_findings(prompt: str, ports: Sequence[Port]) -> list[Finding]:
    """Name ports of the golden design that the prompt never mentions, or lists with another width or direction."""
    words = set(_WORD.findall(prompt))
    missing = [p for p in ports if p.name not in words]
    found = []
    if missing:
        names = ", ".join(f"{p.direction} {p.name}" for p in missing)
        found.append(Finding(PORTS, DEFECT, f"the golden design has ports that the prompt never names: {names}"))
    own = {p.name: p for p in ports}
    listed = {name: (direction.lower(), width) for direction, name, width in _LISTED.findall(prompt)}
    for name, (direction, width) in listed.items():
        port = own.get(name)
        if port is None:
            text = f"the prompt lists {direction} {name}, which the golden design does not have"
            found.append(Finding(PORTS, DEFECT, text))
        elif port.direction != direction:
            text = f"the prompt lists {name} as {direction}, the golden design has it as {port.direction}"
            found.append(Finding(PORTS, DEFECT, text))
        elif port.width is not None and width and int(width) != port.width:
            text = f"the prompt gives {name} {width} bits, the golden design {port.width}"
            found.append(Finding(PORTS, DEFECT, text))
    return found


def unstated_findings(prompt: str, top: str, ports: Sequence[Port], tests: Iterable[SourceFile]) -> list[Finding]:
    """Name what a hidden test takes for granted and the prompt never says; as far as text can tell."""
    words = set(_WORD.findall(prompt))
    found: dict[str, Finding] = {}
    if not any(top in _WORD.findall(text) for text in (prompt,)):
        text = f"the test wants a module {top}, which the prompt never names"
        found[text] = Finding(UNSTATED, DOUBT, text)
    known = {p.name for p in ports}
    for test in tests:
        code = _COMMENTS.sub(" ", test.text)
        if is_verilog(test):
            parts = _verilog_parts(code, top, known)
        else:
            parts = {
                (f"a signal {name} inside the design", name)
                for name in re.findall(r"\bdut\.([A-Za-z]\w*)", code)
                if name not in known | _MEMBERS
            }
        for what, name in sorted(parts):
            if name not in words:
                text = f"{test.path} uses {what}, which the prompt never names"
                found[text] = Finding(UNSTATED, DOUBT, text)
    return list(found.values())


def _verilog_parts(code: str, top: str, ports: set[str]) -> set[tuple[str, str]]:
    """Return (what, name) of parameters that a testbench sets and of signals that it reaches into the design for."""
    parts: set[tuple[str, str]] = set()
    for parameters, instance in re.findall(
        rf"\b{re.escape(top)}\b\s*(?:#\s*\(((?:[^()]|\([^()]*\))*)\)\s*)?([A-Za-z_]\w*)\s*\(", code
    ):
        parts |= {(f"a parameter {name} of the design", name) for name in re.findall(r"\.(\w+)\s*\(", parameters)}
        inside = re.findall(rf"\b{re.escape(instance)}\.([A-Za-z_]\w*)", code)
        parts |= {(f"a signal {name} inside the design", name) for name in inside if name not in ports}
    return parts
