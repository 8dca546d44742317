"""The kernel set through the whole engine: compiled, and co-simulated with the native C under both simulators."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, HlsResult, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import SourceFile, Status, StepResult

FOLDER = Path(__file__).parents[2] / "benchmarks" / "suites" / "kernels"
KERNELS = tomllib.loads((FOLDER / "kernels.toml").read_text())["kernel"]
QUICK = ("fir", "gcd", "matmul", "quick_sort", "packet_parser", "call_tree")
PIPELINED = ("fir_pipeline", "matmul_pipeline", "conv2d_pipeline", "histogram_pipeline", "spmv_pipeline")


def compile_kernel(file: str, top: str) -> HlsResult:
    path = FOLDER / file
    source = SourceFile(path.name, path.read_text())

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path=source.path, config=ToolConfig())

    return compile_c(source, HlsOptions(top=top), clang)


def judge(file: str, top: str, result: HlsResult) -> StepResult:
    path = FOLDER / file
    record = record_calls(
        SourceFile(path.name, path.read_text()),
        top=top,
        arguments=result.interface.arguments,
        result_width=result.interface.result_width,
        result_signed=result.interface.result_signed,
        config=ToolConfig(),
    )
    assert record.status is Status.PASS, record.problem
    return cosimulate([result.design], result.interface, record, config=ToolConfig())


def check(file: str, top: str, wanted_ii: dict[str, int]) -> None:
    result = compile_kernel(file, top)
    step = judge(file, top, result)
    assert step.status is Status.PASS, step.detail
    for label, ii in wanted_ii.items():
        # A flattened nest is reported under the labels of all its loops.
        found = [r for r in result.loops if r.label == label or re.search(rf"(^|_){label}$", r.label)]
        assert any(r.ii is not None and r.ii <= ii for r in found), [
            (r.label, r.ii, r.limited_by) for r in result.loops
        ]


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k["name"] in QUICK], ids=lambda k: k["name"])
def test_kernel(kernel: dict[str, str]) -> None:
    check(kernel["file"], kernel["top"], {})


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [k for k in KERNELS if k["name"] not in QUICK], ids=lambda k: k["name"])
def test_every_kernel(kernel: dict[str, str]) -> None:
    check(kernel["file"], kernel["top"], {})


VARIANTS = [
    pytest.param(
        k["top"], v, id=Path(v["file"]).stem, marks=() if Path(v["file"]).stem in PIPELINED else pytest.mark.slow
    )
    for k in KERNELS
    for v in k["variant"]
]


@pytest.mark.parametrize(("top", "variant"), VARIANTS)
def test_variant(top: str, variant: dict[str, object]) -> None:
    wanted = variant.get("ii", {})
    assert isinstance(wanted, dict)
    check(str(variant["file"]), top, wanted)


def test_a_wrong_kernel_is_noticed() -> None:
    kernel = next(k for k in KERNELS if k["name"] == "matmul")
    result = compile_kernel(kernel["file"], kernel["top"])
    text = result.design.text
    wrong = re.sub(r"(assign sum\w* = )(.*);", r"\1~(\2);", text, count=1)
    assert wrong != text
    broken = HlsResult(**{**result.__dict__, "design": SourceFile(result.design.path, wrong)})
    assert judge(kernel["file"], kernel["top"], broken).status is Status.FAIL
