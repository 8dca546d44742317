"""C or C++ to the CDFG.

Pragmas become markers, clang makes LLVM IR, LLVM inlines and promotes, and what is left is lowered.
"""

from __future__ import annotations

from rtlagent.hls.frontend.lowering import LoweredC, lower

__all__ = ["LoweredC", "lower"]
