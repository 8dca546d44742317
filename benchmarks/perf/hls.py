"""What the HLS engine makes of small kernels, against the figures that a folder of kernels brings along.

    python benchmarks/perf/hls.py [FOLDER] [--only NAME]

FOLDER (default: ../shared/data/kernels beside the checkout) holds NAME/NAME.c, NAME/tb.c with a main() that checks
it, and a
README.md whose table gives for each kernel `cycles | LUT / FF / DSP` of another engine, at its defaults and in its
fastest set-up. Each kernel is compiled, co-simulated under Verilator and Icarus and synthesized by Yosys for xc7
twice: as it stands, and with the pragmas of `PRAGMAS` below. Prints cycles and area of both engines, and the
geometric mean of the LUT ratios.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import RtlagentError
from rtlagent.hls import HlsOptions, HlsResult, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.tools.synthesize import synthesize
from rtlagent.types import Metrics, SourceFile, Status

_ROW = re.compile(r"^\| (\w+)[^|]*\| (\d+) \| ([^|]+)\| (\d+) \| ([^|]+)\|$", re.M)
_TARGET = "xc7"

PRAGMAS: dict[str, tuple[tuple[str, str], ...]] = {
    "mm8": (
        (r"(void mm8\([^{]*\{)", "array_partition variable=A complete dim=2"),
        (r"(void mm8\([^{]*\{)", "array_partition variable=B complete dim=1"),
        (r"(int j = 0[^{]*\{)", "pipeline II=1"),
    ),
}
"""Kernel -> (place in the source, pragma on a line of its own after it)."""


@dataclass(frozen=True)
class Figures:
    """What an engine makes of a kernel."""

    cycles: int | None
    luts: int | None
    ffs: int | None
    dsps: int | None

    def __str__(self) -> str:
        shown = ["-" if v is None else str(v) for v in (self.cycles, self.luts, self.ffs, self.dsps)]
        return f"{shown[0]:>6} {'/'.join(shown[1:]):>15}"


def main() -> int:
    """Measure, print, and return 1 if a kernel failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[3] / "shared" / "data" / "kernels"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--only", help="one kernel's name")
    arguments = parser.parse_args()
    readme = arguments.folder / "README.md"
    if not readme.is_file():
        print(f"{readme}: no such file", file=sys.stderr)
        return 2
    failed = False
    ratios: dict[bool, list[float]] = {False: [], True: []}
    print(f"{'kernel':10} {'':8} {'cycles':>6} {'LUT/FF/DSP':>15}   {'theirs':>6} {'LUT/FF/DSP':>15}  compile")
    for name, theirs in _published(readme.read_text()).items():
        if arguments.only not in (None, name):
            continue
        for fast in (False, True):
            source = _source(arguments.folder / name, fast=fast)
            started = time.monotonic()
            try:
                ours, seconds = _measure(source, name)
            except RtlagentError as error:
                print(f"{name:10} {'pragmas' if fast else 'default':8} {error}")
                failed = True
                continue
            other = theirs[fast]
            late = "" if ours.cycles is not None and ours.cycles <= (other.cycles or 0) else "  SLOWER"
            failed |= ours.cycles is None
            if ours.luts and other.luts:
                ratios[fast].append(ours.luts / other.luts)
            whole = time.monotonic() - started
            kind = "pragmas" if fast else "default"
            print(f"{name:10} {kind:8} {ours}   {other}  {seconds:.2f} s of {whole:.1f} s{late}", flush=True)
    for fast, values in ratios.items():
        if values:
            mean = math.exp(sum(math.log(v) for v in values) / len(values))
            print(f"LUTs, geometric mean of the ratios, {'pragmas' if fast else 'default'}: {mean:.2f}")
    return int(failed)


def _published(readme: str) -> dict[str, tuple[Figures, Figures]]:
    found = {}
    for name, cycles, area, fast_cycles, fast_area in _ROW.findall(readme):
        default = _figures(int(cycles), area)
        fast = _figures(int(fast_cycles), area if "same" in fast_area else fast_area)
        found[name] = (default, fast)
    return found


def _figures(cycles: int, area: str) -> Figures:
    luts, ffs, dsps = (int(n) for n in re.findall(r"\d+", area)[:3])
    return Figures(cycles, luts, ffs, dsps)


def _source(folder: Path, *, fast: bool) -> SourceFile:
    """Return kernel and testbench as one file; the kernel with its pragmas if `fast`."""
    kernel = (folder / f"{folder.name}.c").read_text()
    for place, pragma in PRAGMAS.get(folder.name, ()) if fast else ():
        kernel, number = re.subn(place, rf"\1\n#pragma HLS {pragma}\n", kernel, count=1)
        if not number:
            raise SystemExit(f"{folder.name}: no place for {pragma}")
    return SourceFile(f"{folder.name}.c", f"{kernel}\n{(folder / 'tb.c').read_text()}")


def _measure(source: SourceFile, top: str) -> tuple[Figures, float]:
    config = ToolConfig()

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path=source.path, config=config)

    started = time.monotonic()
    result: HlsResult = compile_c(source, HlsOptions(top=top, target=_TARGET), clang)
    seconds = time.monotonic() - started
    record = record_calls(
        source,
        top=top,
        arguments=result.interface.arguments,
        result_width=result.interface.result_width,
        result_signed=result.interface.result_signed,
        config=config,
    )
    with tempfile.TemporaryDirectory() as keep:
        step = cosimulate([result.design], result.interface, record, config=config, keep_dir=Path(keep))
    cycles = step.metrics.latency_cycles
    if step.status is not Status.PASS:
        print(f"{top}: co-simulation {step.status}\n{step.detail}", file=sys.stderr)
        cycles = None
    synthesis = synthesize([result.design], top=result.interface.module, target=_TARGET, config=config)
    area = synthesis.metrics if synthesis.passed else Metrics()
    return Figures(cycles, area.luts, area.ffs, area.dsps), seconds


if __name__ == "__main__":
    sys.exit(main())
