"""Area before synthesis: a linear model over what the module consists of.

Each operation, register, multiplexer and memory adds features (bits of adders, bits of multiplexers, ...); a target's
coefficients turn their sums into LUTs and flip-flops. DSP blocks and block RAMs are counted, not fitted.
"""

from __future__ import annotations

from rtlagent.hls.bind import Binding
from rtlagent.hls.estimate.coefficients import COEFFICIENTS, LUT_FEATURES
from rtlagent.hls.estimate.features import Features, count
from rtlagent.hls.ir import Function, Memory, Module
from rtlagent.hls.options import HlsOptions
from rtlagent.hls.schedule.plan import FunctionPlan
from rtlagent.types import Metrics

__all__ = ["Features", "count", "estimate"]


def estimate(
    module: Module,
    plans: dict[Function, FunctionPlan],
    binding: Binding,
    storage: dict[Memory, str],
    options: HlsOptions,
) -> Metrics:
    """Return the expected LUTs, flip-flops, block RAMs and DSP blocks after synthesis for the target."""
    features = count(module, plans, binding, storage, options.target)
    weights = COEFFICIENTS[options.target]
    luts = sum(weights[name] * getattr(features, name) for name in LUT_FEATURES)
    return Metrics(luts=round(luts), ffs=features.register_bits, brams=features.brams, dsps=features.dsps)
