"""What `rtlagent bench` costs beside the work itself.

    python benchmarks/perf/bench.py [scoring] [runner] [--path dataset_spec-to-rtl] [--jobs 2] [--runs 5]

Each section prints its figures and its goal; without a name all sections run. A section is a file `bench_*.py`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import bench_runner
import bench_scoring

SECTIONS = ("scoring", "runner")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--path", type=Path, help="score this VerilogEval 2 folder instead of one that is made")
    parser.add_argument("--problems", type=int, default=60, help="in the suite that is made")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=bench_runner.TASKS, help="of the runner's section")
    options = parser.parse_args()
    wanted = options.sections or SECTIONS
    if unknown := set(wanted) - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    if "scoring" in wanted:
        bench_scoring.report(options.path, problems=options.problems, jobs=options.jobs, runs=options.runs)
    if "runner" in wanted:
        bench_runner.report(tasks=options.tasks)


if __name__ == "__main__":
    main()
