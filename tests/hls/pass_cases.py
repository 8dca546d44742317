"""Run passes on programs written as text, for the tests of the passes."""

from collections.abc import Callable

from ir_differential import assert_same
from random_ir import random_module

from rtlagent.hls.check import check
from rtlagent.hls.ir import Module
from rtlagent.hls.options import HlsOptions, Remarks
from rtlagent.hls.text import dump, parse

Pass = Callable[[Module, HlsOptions, Remarks], None]


def transformed(text: str, *passes: Pass, ranges: dict[str, tuple[int, int]] | None = None) -> Module:
    """Return the program after the passes, after checking that it still does the same."""
    module = parse(text)
    check(module)
    for one in passes:
        one(module, HlsOptions("f"), Remarks())
    assert_same(text, module, runs=40, ranges=ranges)
    return module


def body(module: Module, block: str = "entry", function: int = 0) -> list[str]:
    """Return the lines of one block."""
    lines = dump(module).split("\nfunction ")[function + 1].splitlines()
    start = next(n for n, line in enumerate(lines) if line == f"{block}:" or line.startswith(f"{block}: "))
    result = []
    for line in lines[start + 1 :]:
        if not line.startswith("  "):
            break
        result.append(line.strip())
    return result


def assert_random_program_stays(seed: int, *passes: Pass, size: int = 25) -> None:
    """Assert that the passes keep what a random program does, and leave a correct module after each."""
    module = random_module(seed, size)
    before = dump(module)
    for one in passes:
        one(module, HlsOptions("f"), Remarks())
        check(module)
    assert_same(before, module, runs=5, seed=seed)
