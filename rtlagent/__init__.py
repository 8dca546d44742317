"""rtlagent: from a spec in prose, or C, to Verilog that real tools have judged.

The functions of `rtlagent.api` can be imported from here; they are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtlagent.api import Generated, compile_c, generate, lint, simulate, synthesize, verify
    from rtlagent.errors import RtlagentError
    from rtlagent.types import SourceFile

__version__ = "0.1.0"
__all__ = [
    "Generated",
    "RtlagentError",
    "SourceFile",
    "__version__",
    "compile_c",
    "generate",
    "lint",
    "simulate",
    "synthesize",
    "verify",
]

_HOME = {"RtlagentError": "rtlagent.errors", "SourceFile": "rtlagent.types"}


def __getattr__(name: str) -> object:
    """Load a public name; `rtlagent --help` needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'rtlagent' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME.get(name, "rtlagent.api")), name)
