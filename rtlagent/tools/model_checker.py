"""Prove a property of an AIGER circuit with the ABC that comes with Yosys (property-directed reachability).

After Een, Mishchenko and Brayton, "Efficient implementation of property directed reachability" (2011).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolMissingError
from rtlagent.tools import sandbox


@cache
def _abc() -> Path:
    spec = find_spec("pyosys")
    folder = Path(next(iter(spec.submodule_search_locations or ()), "")) if spec else Path()
    program = folder / "yosys-abc"
    if not program.is_file():
        raise ToolMissingError("yosys-abc is not installed", hint="pip install pyosys")
    return program


def proves(work: Path, circuit: str, *, config: ToolConfig, wall_s: float) -> bool:
    """Tell whether no output of `circuit`, an AIGER file in `work`, can ever be 1; False: not proven in time.

    Raises:
        ToolMissingError, SandboxError: ABC could not be started.
    """
    limits = replace(config.limits, wall_s=wall_s)
    script = f"read_aiger {circuit}; pdr -T {max(1, int(wall_s))}"
    result = sandbox.run([str(_abc()), "-c", script], work=work, config=config, limits=limits)
    return result.limit is None and result.returncode == 0 and "Property proved." in result.stdout
