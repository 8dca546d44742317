"""LUTs per feature and target, fitted by benchmarks/perf/hls_estimate.py against Yosys on the kernel set."""

from __future__ import annotations

LUT_FEATURES = (
    "adder_bits",
    "comparator_bits",
    "logic_bits",
    "multiplexer_bits",
    "shifter_bits",
    "multiplier_bits",
    "divider_bits",
    "lutram_bits",
    "rom_bits",
    "state_bits",
)
_FOUR_INPUTS = {
    "adder_bits": 1.0,
    "comparator_bits": 0.7,
    "logic_bits": 0.6,
    "multiplexer_bits": 0.8,
    "shifter_bits": 0.8,
    "multiplier_bits": 1.2,
    "divider_bits": 12.0,
    "lutram_bits": 0.12,
    "rom_bits": 0.06,
    "state_bits": 1.0,
}
_SIX_INPUTS = {**_FOUR_INPUTS, "multiplexer_bits": 0.5, "logic_bits": 0.4, "shifter_bits": 0.6, "lutram_bits": 0.05}
COEFFICIENTS = {"generic": _FOUR_INPUTS, "ice40": _FOUR_INPUTS, "ecp5": _FOUR_INPUTS, "xc7": _SIX_INPUTS}
