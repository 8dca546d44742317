"""A sample of what scripts/fuzz does at length."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz" / "random_c.py"
QUICK = (1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22)


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("random_c", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["random_c"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("csmith") is None, reason="csmith is not installed")
@pytest.mark.parametrize("seed", QUICK)
def test_a_random_program_does_what_the_native_compiler_makes_of_it(seed: int) -> None:
    outcome = load().try_program(seed)
    assert outcome.kind == "pass", outcome.text
