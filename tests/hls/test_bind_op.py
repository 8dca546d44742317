"""bind_op: the latency asked for is the latency had, or a warning says why not."""

from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, HlsResult, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import Severity, SourceFile, Status

C = """\
long long f(const @ a[16], const @ b[16]) {
  long long s = 0;
  for (int i = 0; i < 16; i++) {
#pragma HLS pipeline II=1
    long long p = (long long)a[i] * b[i];
#pragma HLS bind_op variable=p op=mul latency=4
    s += p;
  }
  return s;
}
"""


def compiled(text: str, config: ToolConfig, clock_ns: float = 10.0) -> HlsResult:
    def clang(code: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, language, arguments, path="f.c", config=config)

    return compile_c(SourceFile("f.c", text), HlsOptions(top="f", target="ecp5", clock_ns=clock_ns), clang)


def warnings(result: HlsResult) -> list[str]:
    return [d.message for d in result.diagnostics if d.severity is Severity.WARNING]


@pytest.mark.parametrize("kind", ["short", "int"])
def test_a_later_product_is_still_the_product(kind: str, tool_config: ToolConfig) -> None:
    text = C.replace("@", kind)
    plain, later = compiled(text.replace("bind_op", "//"), tool_config), compiled(text, tool_config)
    assert not warnings(later)
    added = 4 - (2 if kind == "int" else 1)
    assert later.loops[0].depth is not None
    assert plain.loops[0].depth is not None
    assert later.loops[0].depth >= plain.loops[0].depth + added
    assert later.loops[0].ii == 1
    interface = later.interface
    record = record_calls(
        SourceFile("f.c", text),
        top="f",
        arguments=interface.arguments,
        result_width=interface.result_width,
        result_signed=interface.result_signed,
        config=tool_config,
    )
    step = cosimulate([later.design], interface, record, simulators=("icarus",), config=tool_config)
    assert step.status is Status.PASS, step.detail


@pytest.mark.parametrize(
    ("pragma", "message"),
    [
        ("variable=p op=mul latency=0", "latency 0 is not followed: at this clock it takes 2 cycles"),
        ("variable=q op=mul latency=3", "no addition or multiplication computes it by itself"),
        ("variable=p op=mul impl=dsp", "impl=dsp is not followed"),
    ],
)
def test_what_cannot_be_followed_is_said(pragma: str, message: str, tool_config: ToolConfig) -> None:
    text = C.replace("@", "int").replace("variable=p op=mul latency=4", pragma)
    (warning,) = warnings(compiled(text, tool_config, clock_ns=6.0))
    assert message in warning
