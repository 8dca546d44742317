from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.types import Severity, SourceFile

C = """\
void scale(int a[8], int b[8]) {
  @FUNCTION@
  for (int i = 0; i < 8; i++) {
    @LOOP@
    b[i] = a[i] * 3;
  }
}
"""


def warnings(function: str = "", loop: str = "") -> list[str]:
    text = C.replace("@FUNCTION@", f"\n#pragma HLS {function}" if function else "")
    text = text.replace("@LOOP@", f"\n#pragma HLS {loop}" if loop else "")
    source = SourceFile("scale.c", text)

    def clang(code: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, language, arguments, path=source.path, config=ToolConfig())

    result = compile_c(source, HlsOptions(top="scale"), clang)
    return [f"{d.code} {d.message}" for d in result.diagnostics if d.severity is Severity.WARNING]


@pytest.mark.parametrize(
    ("function", "loop", "code"),
    [
        ("dataflow", "", "DATAFLOW"),
        ("", "dataflow", "DATAFLOW"),
        ("pipeline II=1", "", "PIPELINE_FUNCTION"),
        ("bind_op variable=b op=mul impl=dsp", "", "BIND_OP"),
        ("allocation instances=add limit=1", "", "ALLOCATION"),
        ("latency max=2", "", "LATENCY"),
        ("latency min=5000", "", "LATENCY"),
    ],
)
def test_what_is_not_followed_is_said(function: str, loop: str, code: str) -> None:
    found = warnings(function, loop)
    assert len(found) == 1, found
    assert found[0].startswith(code)


@pytest.mark.parametrize(
    ("function", "loop"),
    [
        ("", ""),
        ("latency max=5000", ""),
        ("allocation instances=mul limit=1", ""),
        ("", "pipeline II=1"),
        ("", "latency min=50"),
    ],
)
def test_what_is_followed_needs_no_warning(function: str, loop: str) -> None:
    assert warnings(function, loop) == []
