"""Designs that do nothing, which no test may pass."""

from __future__ import annotations

from rtlagent.types import SourceFile
from rtlagent.verilog import ModuleInfo

ZERO = "all zero"
UNKNOWN = "all X"


def trivial_designs(module: ModuleInfo) -> dict[str, SourceFile]:
    """Return modules with the ports of `module` whose outputs never change, by what they are; empty: none can be made.

    One needs to know the width of every port, and an inout cannot be driven for ever.
    """
    if any(p.width is None or p.direction == "inout" for p in module.ports):
        return {}
    outputs = [p for p in module.ports if p.direction == "output"]
    if not outputs:
        return {}
    parameters = [f"parameter {p.name} = {p.value}" for p in module.parameters if not p.local]
    head = f" #({', '.join(parameters)})" if parameters else ""
    ports = ", ".join(
        f"{p.direction} {f'[{p.width - 1}:0] ' if (p.width or 1) > 1 else ''}{p.name}" for p in module.ports if p.width
    )
    made = {}
    for what, digit in ((ZERO, "0"), (UNKNOWN, "x")):
        lines = [f"  assign {p.name} = {p.width}'b{digit};" for p in outputs]
        text = "\n".join([f"module {module.name}{head} ({ports});", *lines, "endmodule", ""])
        made[what] = SourceFile(f"{module.name}.sv", text)
    return made
