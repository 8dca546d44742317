"""Random C programs through the HLS engine: compiled, simulated and compared with the native compiler.

    scripts/fuzz [--count 300] [--start 1] [--jobs 2] [--keep FOLDER]

Csmith (Yang et al. 2011; Debian's package) writes programs without undefined behaviour. The function under test is
its func_1; all globals that
its main() hashes become ports, so that every one of them is compared bit for bit after the call. Options keep to what
the engine
supports: no floating point, no volatiles, no packed structs, no recursion. A program that runs natively for longer
than a second, or needs more
cycles than the limit, proves nothing and is counted apart; so is one that the engine refuses with a message.

Prints a line for each program that is not a pass, then the counts. Exit code 1 if any program mismatched, crashed the
engine or hung.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter, deque
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rtlagent.config import ToolConfig
from rtlagent.errors import CSourceError, RtlagentError
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import SourceFile, Status

TOP = "func_1"
_OPTIONS = (
    *("--no-argc", "--no-float", "--no-volatiles", "--no-volatile-pointers", "--no-packed-struct", "--no-math64"),
    *("--max-funcs", "5", "--max-block-depth", "3", "--max-block-size", "3", "--max-expr-complexity", "5"),
    "--no-return-structs",
    *("--max-array-dim", "2", "--max-array-len-per-dim", "6", "--max-struct-fields", "5", "--max-pointer-depth", "2"),
)
_COMPILE_LIMIT_S = 120.0
_CYCLES = 60_000


@dataclass(frozen=True)
class Outcome:
    """What became of one program."""

    seed: int
    kind: str
    """`pass`, `mismatch`, `crash`, `slow`, `refused` or `skipped`."""
    text: str = ""
    seconds: float = 0.0


def generate(seed: int) -> str:
    """Return the program that Csmith makes of a seed.

    Raises:
        FileNotFoundError: csmith is not installed.
    """
    # Every third program has 64-bit arithmetic, every second no pointers to pointers: different corners each.
    options = [o for o in _OPTIONS if o != "--no-math64" or seed % 3]
    command = ["csmith", "--seed", str(seed), *options]
    with tempfile.TemporaryDirectory(prefix="rtlagent-fuzz-") as folder:  # csmith leaves a platform.info where it runs
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60).stdout


def _includes() -> tuple[SourceFile, ...]:
    """Return Csmith's own headers, which come with its package."""
    found = [p for root in ("/usr/include", "/usr/local/include") for p in Path(root).glob("csmith*/*.h")]
    return tuple(SourceFile(p.name, p.read_text(errors="replace")) for p in sorted(found))


def try_if_it_ends(seed: int, simulators: tuple[str, ...], keep: Path | None) -> Outcome:
    """Try a program unless it runs natively for more than a second, as many of Csmith's do."""
    if not _ends(SourceFile(f"seed_{seed}.c", generate(seed))):
        return Outcome(seed, "skipped", "runs for more than a second")
    return try_program(seed, simulators, keep)


def try_program(seed: int, simulators: tuple[str, ...] = ("icarus",), keep: Path | None = None) -> Outcome:
    """Compile, simulate and compare one program."""
    started = time.monotonic()
    source = SourceFile(f"seed_{seed}.c", generate(seed))
    try:
        kind, text = _judge(source, simulators)
    except CSourceError as error:
        kind, text = "refused", f"{error.where}: {error.message}"
    except RtlagentError as error:
        kind, text = "crash", str(error)
    except Exception:  # every engine fault counts, whatever its type
        kind, text = "crash", traceback.format_exc(limit=-3)
    if keep is not None and kind in ("mismatch", "crash", "slow"):
        (keep / source.path).write_text(source.text)
    return Outcome(seed, kind, text, time.monotonic() - started)


def _ends(source: SourceFile) -> bool:
    """Tell whether the program ends natively within a second; Csmith's often do not."""
    with tempfile.TemporaryDirectory(prefix="rtlagent-fuzz-") as folder:
        program = Path(folder) / "program"
        (Path(folder) / source.path).write_text(source.text)
        command = ["gcc", "-w", "-O1", "-I/usr/include/csmith", "-o", str(program), str(Path(folder) / source.path)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        try:
            subprocess.run([str(program)], check=True, capture_output=True, timeout=1)
        except subprocess.TimeoutExpired:
            return False
    return True


def _judge(source: SourceFile, simulators: tuple[str, ...]) -> tuple[str, str]:
    config = ToolConfig()
    headers = _includes()

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path=source.path, config=config, extra_files=headers)

    started = time.monotonic()
    result = compile_c(source, HlsOptions(top=TOP), clang)
    if time.monotonic() - started > _COMPILE_LIMIT_S:
        return "slow", f"compiled in {time.monotonic() - started:.0f} s"
    record = record_calls(
        source,
        top=TOP,
        arguments=result.interface.arguments,
        result_width=result.interface.result_width,
        result_signed=result.interface.result_signed,
        config=config,
        extra_files=headers,
    )
    if record.status is not Status.PASS or not record.calls:
        return "skipped", record.problem
    blocks = record.calls[0].blocks
    if blocks is not None and blocks > _CYCLES // 4:
        return "skipped", f"runs through {blocks} basic blocks"
    step = cosimulate(
        [result.design], result.interface, record, simulators=simulators, config=config, timeout_cycles=_CYCLES
    )
    if step.status is Status.PASS:
        return "pass", ""
    if step.status is Status.UNPROVEN:
        return "skipped", "nothing to compare"
    return "mismatch", step.detail


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="programs to judge: neither skipped nor refused")
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where programs that failed are put")
    parser.add_argument("--verilator-every", type=int, default=10, help="every Nth program runs under Verilator too")
    arguments = parser.parse_args()
    keep = arguments.keep or Path(tempfile.mkdtemp(prefix="rtlagent-fuzz-"))
    keep.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    judged = 0
    seeds = itertools.count(arguments.start)
    with ProcessPoolExecutor(arguments.jobs) as pool:
        under_way: deque[Future[Outcome]] = deque()
        while judged < arguments.count:
            while len(under_way) < 2 * arguments.jobs:
                s = next(seeds)
                both = s % arguments.verilator_every == 0
                simulators = ("icarus", "verilator") if both else ("icarus",)
                under_way.append(pool.submit(try_if_it_ends, s, simulators, keep))
            outcome = under_way.popleft().result()
            counts[outcome.kind] += 1
            judged += outcome.kind not in ("skipped", "refused")
            if outcome.kind != "pass":
                print(f"seed {outcome.seed}: {outcome.kind} ({outcome.seconds:.1f} s) {outcome.text[:700]}", flush=True)
        for future in under_way:
            future.cancel()
    print(", ".join(f"{kind} {n}" for kind, n in sorted(counts.items())))
    bad = sum(counts[k] for k in ("mismatch", "crash", "slow"))
    if bad:
        print(f"programs kept in {keep}")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
