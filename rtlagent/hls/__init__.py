"""C to Verilog: clang's IR to a CDFG, transformed, scheduled, bound and emitted. Runs no tool itself.

```
C --pragmas--> C with markers --clang--> LLVM IR --frontend--> CDFG --transform--> CDFG --schedule--> plans
  --bind--> units and ports --emit--> Verilog and its interface
```
"""

from __future__ import annotations

from .compile import HlsResult, compile_c
from .options import Clang, HlsOptions

__all__ = ["Clang", "HlsOptions", "HlsResult", "compile_c"]
