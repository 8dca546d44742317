"""C to Verilog: clang's IR to a CDFG, transformed, scheduled, bound and emitted. Runs no tool itself.

```
C --pragmas--> C with markers --clang--> LLVM IR --frontend--> CDFG --transform--> CDFG --schedule--> plans
  --bind--> units and ports --emit--> Verilog and its interface
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options import Clang, HlsOptions

if TYPE_CHECKING:
    from .compile import HlsResult, compile_c

__all__ = ["Clang", "HlsOptions", "HlsResult", "compile_c"]


def __getattr__(name: str) -> Any:
    """Load the compiler when it is asked for: a module's interface alone must not cost that."""
    if name in ("HlsResult", "compile_c"):
        from . import compile as compiler

        return getattr(compiler, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
