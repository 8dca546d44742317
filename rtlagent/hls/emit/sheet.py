"""The module's text while it grows: nets, registers with their conditional writes, and sections of further text."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from rtlagent.hls.emit.expressions import literal, vector

CLOCK = "ap_clk"
RESET = "ap_rst"


@dataclass
class _Register:
    width: int
    reset: int | None
    writes: list[tuple[str, str]] = field(default_factory=list)
    """(condition, value); an empty condition means in every cycle, and stands alone."""


@dataclass
class Sheet:
    """Collects what the module body consists of, in an order that a reader can follow."""

    ports: list[str] = field(default_factory=list)
    declarations: list[str] = field(default_factory=list)
    nets: list[str] = field(default_factory=list)
    assigns: list[str] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    submodules: dict[str, str] = field(default_factory=dict)
    """Name -> text of a module that this one instantiates."""
    enable: str = ""
    """A condition under which time passes; empty: always."""
    _registers: dict[str, _Register] = field(default_factory=dict)

    def input(self, name: str, width: int) -> None:
        """Add an input port."""
        self.ports.append(f"input  wire {vector(width)}{name}")

    def output(self, name: str, width: int) -> None:
        """Add an output port that an `assign` drives."""
        self.ports.append(f"output wire {vector(width)}{name}")

    def wire(self, name: str, width: int, text: str, comment: str = "") -> str:
        """Add a net with its driver and return its name."""
        note = f"  // {comment}" if comment else ""
        self.nets.append(f"wire {vector(width)}{name};")
        self.assigns.append(f"assign {name} = {text};{note}")
        return name

    def assign(self, name: str, text: str) -> None:
        """Drive an output port."""
        self.assigns.append(f"assign {name} = {text};")

    def register(self, name: str, width: int, *, reset: int | None = None) -> str:
        """Declare a register and return its name; `write` says what it takes and when."""
        self._registers[name] = _Register(width, reset)
        return name

    def write(self, name: str, condition: str, value: str) -> None:
        """Let a register take `value` at the clock edge that ends a cycle with `condition`.

        Writes that fall into one cycle: the first one given wins. An empty condition means in every cycle.
        """
        self._registers[name].writes.append((condition, value))

    def render_registers(self) -> list[str]:
        """Return declarations and clocked blocks: those with one write grouped by its condition."""
        lines: list[str] = [f"reg {vector(r.width)}{name};" for name, r in self._registers.items()]
        # Control starts in its reset state: before the reset nothing may write into a memory with initial contents.
        starts = [
            f"  {name} = {literal(r.reset, r.width)};" for name, r in self._registers.items() if r.reset is not None
        ]
        lines += ["initial begin", *starts, "end"] if starts else []
        grouped: dict[str, list[str]] = {}
        for name, register in self._registers.items():
            if register.reset is None and len(register.writes) == 1:
                condition, value = register.writes[0]
                grouped.setdefault(condition, []).append(f"{name} <= {value};")
        for condition, writes in grouped.items():
            gate = " && ".join(c for c in (self.enable, condition) if c)
            if not gate:
                lines += [f"always @(posedge {CLOCK}) {w}" for w in writes]
            elif len(writes) == 1:
                lines.append(f"always @(posedge {CLOCK}) if ({gate}) {writes[0]}")
            else:
                lines += [f"always @(posedge {CLOCK}) if ({gate}) begin", *(f"  {w}" for w in writes), "end"]
        for name, register in self._registers.items():
            if register.reset is not None or len(register.writes) > 1:
                lines += self._clocked(name, register)
        return lines

    def _clocked(self, name: str, register: _Register) -> list[str]:
        lines = [f"always @(posedge {CLOCK})"]
        keyword = "if"
        if register.reset is not None:
            lines.append(f"  if ({RESET}) {name} <= {literal(register.reset, register.width)};")
            keyword = "else if"
        for condition, value in register.writes:
            gate = " && ".join(c for c in (self.enable, condition) if c)
            lines.append(f"  {keyword} ({gate}) {name} <= {value};" if gate else f"  else {name} <= {value};")
            keyword = "else if"
        return lines


def partly_unused(lines: list[str], ports: list[str]) -> list[str]:
    """Return the inputs, nets and registers of a module's text that nothing reads as a whole.

    A linter warns about their unread bits; a net that reads them all says that this is meant.
    """
    text = "\n".join(line.split("//", 1)[0] for line in lines)
    declared = re.findall(r"^ *(?:wire|reg) (?:\[\d+:0\] )?(\w+);", text, re.M)
    bare = Counter(found[1] for found in _IDENTIFIER.finditer(text))
    written = Counter(re.findall(r"(\w+) <= ", text)) + Counter(
        re.findall(r"(?:assign|initial|^) *(\w+) = ", text, re.M)
    )
    outputs = Counter(re.findall(r"\.(?:done|quotient|remainder)\((\w+)\)", text))
    inputs = [port.split()[-1] for port in ports if port.startswith("input ")]
    silent = [name for name in inputs if not bare[name]]
    return silent + [name for name in declared if bare[name] <= 1 + written[name] + outputs[name]]


_IDENTIFIER = re.compile(r"(?<![\w.'])([A-Za-z_]\w*)\b(?!\s*\[)")


def any_of(conditions: list[str]) -> str:
    """Return the OR of conditions, each once; `1'd0` for none."""
    unique = list(dict.fromkeys(conditions))
    return " | ".join(unique) if unique else "1'd0"


def both(*conditions: str) -> str:
    """Return the AND of the conditions that are not empty."""
    return " & ".join(f"({c})" if " | " in c else c for c in conditions if c)


def choose(sources: list[tuple[str, str]], width: int) -> str:
    """Return the value whose condition holds, of sources that never hold together; equal values share a term.

    Without any condition that holds the result is arbitrary: few sources become a chain of conditionals whose last
    is the default, more of them an AND-OR, which is flat.
    """
    merged: dict[str, list[str]] = {}
    for condition, value in sources:
        merged.setdefault(value, []).append(condition)
    terms = [(any_of(conditions), value) for value, conditions in merged.items()]
    if not terms:
        return literal(0, width)
    if len(terms) <= 4:
        text = terms[-1][1]
        for condition, value in reversed(terms[:-1]):
            text = f"({condition}) ? {value} : {text}"
        return text
    return " | ".join(f"({{{width}{{{condition}}}}} & {value})" for condition, value in terms)
