"""The value of an operation whose operands are constants."""

from __future__ import annotations

from rtlagent.hls.analysis.evaluate import evaluate, folded
from rtlagent.hls.ir import Op, Value

from .rewriter import Rewriter

__all__ = ["evaluate", "fold"]


def fold(op: Op, rewriter: Rewriter) -> Value | None:
    """Compute an operation on constants."""
    return folded(op)
