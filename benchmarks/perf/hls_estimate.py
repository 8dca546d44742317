"""How far the HLS engine's area estimate is from what Yosys makes of the same module, on the kernel set.

    python benchmarks/perf/hls_estimate.py [--target ecp5] [--only NAME ...] [--fit]

Prints estimated and measured LUTs, flip-flops and DSP blocks of each kernel at its defaults, and the mean and median
relative
errors. `--fit` also prints LUT coefficients for rtlagent/hls/estimate/coefficients.py: non-negative least squares of
relative errors by coordinate descent, each kernel counting the same.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError
from rtlagent.hls import HlsOptions
from rtlagent.hls.compile import compile_c
from rtlagent.hls.estimate import Features
from rtlagent.hls.estimate.coefficients import COEFFICIENTS, LUT_FEATURES
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.synthesize import synthesize
from rtlagent.types import Metrics, SourceFile

KERNELS = Path(__file__).resolve().parents[1] / "suites" / "kernels"


@dataclass(frozen=True)
class Row:
    """One kernel."""

    name: str
    features: Features
    estimate: Metrics
    measured: Metrics


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="ecp5", choices=sorted(COEFFICIENTS))
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    kernels = tomllib.loads((KERNELS / "kernels.toml").read_text())["kernel"]
    rows = []
    print(f"{'kernel':18} {'LUT':>13} {'error':>6} {'FF':>13} {'error':>6} {'DSP':>7}  (estimated/measured)")
    for kernel in kernels:
        if arguments.only and kernel["name"] not in arguments.only:
            continue
        try:
            row = _measure(kernel["name"], kernel["top"], kernel["file"], arguments.target)
        except RtlagentError as error:
            print(f"{kernel['name']:18} {error.message}")
            continue
        if row is not None:
            rows.append(row)
            print(_line(row), flush=True)
    for name in ("luts", "ffs"):
        errors = [abs(_error(getattr(r.estimate, name), getattr(r.measured, name))) for r in rows]
        if errors:
            mean, median = statistics.mean(errors), statistics.median(errors)
            worst = max(errors)
            print(f"{name}: mean error {mean:.0%}, median {median:.0%}, worst {worst:.0%} over {len(errors)} kernels")
    if arguments.fit and rows:
        for name, value in _fit(rows, arguments.target).items():
            print(f'    "{name}": {value:.3f},')
    return 0


def _measure(name: str, top: str, file: str, target: str) -> Row | None:
    path = KERNELS / name / Path(file).name
    source = SourceFile(path.name, path.read_text())
    config = ToolConfig()

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path=source.path, config=config)

    result = compile_c(source, HlsOptions(top=top, target=target), clang)
    step = synthesize([result.design], top=result.interface.module, target=target, config=config)
    if not step.passed:
        print(f"{name:18} synthesis: {step.status}")
        return None
    assert result.features is not None
    return Row(name, result.features, result.estimate, step.metrics)


def _error(estimated: int | None, measured: int | None) -> float:
    return ((estimated or 0) - (measured or 0)) / max(1, measured or 0)


def _line(row: Row) -> str:
    e, m = row.estimate, row.measured
    luts, ffs = f"{e.luts}/{m.luts}", f"{e.ffs}/{m.ffs}"
    return (
        f"{row.name:18} {luts:>13} {_error(e.luts, m.luts):>+6.0%} {ffs:>13} {_error(e.ffs, m.ffs):>+6.0%} "
        f"{e.dsps}/{m.dsps}"
    )


def _fit(rows: list[Row], target: str) -> dict[str, float]:
    weights = dict(COEFFICIENTS[target])
    data = [
        ([getattr(r.features, n) / max(1, r.measured.luts or 0) for n in LUT_FEATURES], 1.0)
        for r in rows
        if r.measured.luts
    ]
    values = [weights[n] for n in LUT_FEATURES]
    for _ in range(2000):
        for k in range(len(values)):
            top = bottom = 0.0
            for features, wanted in data:
                rest = wanted - sum(v * f for i, (v, f) in enumerate(zip(values, features, strict=True)) if i != k)
                top += features[k] * rest
                bottom += features[k] ** 2
            # A little weight on the old value keeps features apart that the kernels hardly have.
            values[k] = max(0.0, (top + 0.01 * weights[LUT_FEATURES[k]]) / (bottom + 0.01))
    return dict(zip(LUT_FEATURES, values, strict=True))


if __name__ == "__main__":
    sys.exit(main())
