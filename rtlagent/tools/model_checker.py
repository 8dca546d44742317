"""Prove a property of an AIGER circuit with the ABC that comes with Yosys (property-directed reachability).

After Een, Mishchenko and Brayton, "Efficient implementation of property directed reachability" (2011).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import ToolMissingError
from rtlagent.tools import sandbox

# `sat` sees registers as free inputs: what it calls unsatisfiable holds in every state.
_PROVED = re.compile(r"^(?:Property proved\.|UNSATISFIABLE\b)", re.MULTILINE)


@cache
def _abc() -> Path:
    spec = find_spec("pyosys")
    folder = Path(next(iter(spec.submodule_search_locations or ()), "")) if spec else Path()
    program = folder / "yosys-abc"
    if not program.is_file():
        raise ToolMissingError("yosys-abc is not installed", hint="pip install pyosys")
    return program


def proves(work: Path, circuit: str, script: str, *, config: ToolConfig, limits: Limits) -> bool:
    """Tell whether `script` proves that no output of `circuit` can ever be 1; False: not proven in time.

    Args:
        work: the folder of the circuit.
        circuit: an AIGER file.
        script: ABC commands that end in `sat` or `pdr`; `{seconds}` stands for the time they may take.
        config: how tools are run.
        limits: when to give up.

    Raises:
        ToolMissingError, SandboxError: ABC could not be started.
    """
    commands = f"read_aiger {circuit}; {script.format(seconds=max(1, int(limits.wall_s)))}"
    result = sandbox.run([str(_abc()), "-c", commands], work=work, config=config, limits=limits)
    return result.limit is None and result.returncode == 0 and bool(_PROVED.search(result.stdout))
