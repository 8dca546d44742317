"""Area before synthesis: a linear model over what the module consists of.

Each operation, register, multiplexer and memory adds features (bits of adders, bits of multiplexers, ...); a target's
coefficients turn their sums into LUTs and flip-flops. DSP blocks and block RAMs are counted, not fitted.
"""

from __future__ import annotations

from rtlagent.hls.estimate.coefficients import COEFFICIENTS, LUT_FEATURES
from rtlagent.hls.estimate.features import Features, count
from rtlagent.types import Metrics

__all__ = ["Features", "count", "estimate"]


def estimate(features: Features, target: str) -> Metrics:
    """Return the expected LUTs, flip-flops, block RAMs and DSP blocks after synthesis for a target."""
    weights = COEFFICIENTS[target]
    luts = sum(weights[name] * getattr(features, name) for name in LUT_FEATURES)
    return Metrics(luts=round(luts), ffs=features.register_bits, brams=features.brams, dsps=features.dsps)
