"""Which clock the compiled kernels reach after place-and-route, against the one they were scheduled for.

    python benchmarks/perf/hls_fmax.py [--target ecp5] [--clock-ns 10] [--only NAME ...]

Each kernel of benchmarks/suites/kernels is compiled at its defaults, synthesized, placed and routed by nextpnr.
Prints area and
frequency of each, and how many reach 90 % of the requested clock.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import RtlagentError
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.place_and_route import place_and_route
from rtlagent.tools.synthesize import synthesize
from rtlagent.types import Metrics, SourceFile

KERNELS = Path(__file__).resolve().parents[1] / "suites" / "kernels"
_SHARE = 0.9
_LIMIT_S = 900.0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="ecp5", choices=("ecp5", "ice40"))
    parser.add_argument("--clock-ns", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    wanted = 1000 / arguments.clock_ns
    reached = tried = 0
    print(f"{'kernel':18} {'LUT':>6} {'FF':>6} {'MHz':>7}")
    for kernel in tomllib.loads((KERNELS / "kernels.toml").read_text())["kernel"]:
        if arguments.only and kernel["name"] not in arguments.only:
            continue
        try:
            metrics, text = _measure(KERNELS / kernel["file"], kernel["top"], arguments.target, arguments.clock_ns)
        except RtlagentError as error:
            metrics, text = Metrics(), error.message
        tried += 1
        good = metrics.fmax_mhz is not None and metrics.fmax_mhz >= _SHARE * wanted
        reached += good
        shown = "-" if metrics.fmax_mhz is None else f"{metrics.fmax_mhz:.1f}"
        note = text or ("" if good else "below")
        print(f"{kernel['name']:18} {metrics.luts or '-':>6} {metrics.ffs or '-':>6} {shown:>7} {note}", flush=True)
    print(f"{reached} of {tried} kernels reach {_SHARE:.0%} of {wanted:g} MHz on {arguments.target}")
    return 0


def _measure(path: Path, top: str, target: str, clock_ns: float) -> tuple[Metrics, str]:
    source = SourceFile(path.name, path.read_text())
    config = ToolConfig(limits=replace(Limits(), wall_s=_LIMIT_S, cpu_s=int(_LIMIT_S)))

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path=source.path, config=config)

    result = compile_c(source, HlsOptions(top=top, target=target, clock_ns=clock_ns), clang)
    module = result.interface.module
    with tempfile.TemporaryDirectory() as folder:
        keep = Path(folder)
        synthesis = synthesize([result.design], top=module, target=target, keep_dir=keep, config=config)
        if not synthesis.passed:
            return synthesis.metrics, f"synthesis: {synthesis.status}"
        netlist = keep / "netlist.json"
        routed = place_and_route(
            [result.design],
            top=module,
            target=target,
            min_fmax_mhz=1000 / clock_ns,
            netlist=netlist if netlist.is_file() else None,
            config=config,
        )
    fmax = routed.metrics.fmax_mhz
    text = "" if fmax is not None else f"place and route: {routed.status}"
    return Metrics(luts=synthesis.metrics.luts, ffs=synthesis.metrics.ffs, fmax_mhz=fmax), text


if __name__ == "__main__":
    sys.exit(main())
