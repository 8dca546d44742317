"""bind_storage down to Yosys: what a pragma asks for must not make memories that no chip has."""

from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, HlsResult, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.synthesize import synthesize
from rtlagent.types import SourceFile, Status

C = """\
int f(int n, int k) {
  static const short rom[40] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13};
  static int start[64] = {5, 6, 7};
  int kept[64];
#pragma HLS bind_storage variable=rom impl=lutram
#pragma HLS bind_storage variable=kept impl=lutram
#pragma HLS bind_storage variable=start impl=lutram
  for (int i = 0; i < 64; i++) {
    kept[i] = n * i + rom[i % 40];
    start[i] += n;
  }
  int s = 0;
  for (int i = 0; i < 64; i++) s += kept[(i * k) & 63] + start[i];
  return s;
}
"""


def compiled(target: str, config: ToolConfig) -> HlsResult:
    source = SourceFile("f.c", C)

    def clang(text: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(text, language, arguments, path=source.path, config=config)

    return compile_c(source, HlsOptions(top="f", target=target), clang)


@pytest.mark.parametrize("target", ["ice40", "ecp5"])
def test_lut_ram_is_asked_for_only_where_a_chip_has_it(target: str, tool_config: ToolConfig) -> None:
    result = compiled(target, tool_config)
    styled = [line for line in result.design.text.splitlines() if "distributed" in line]
    assert [line.split()[-2] for line in styled] == (["kept"] if target == "ecp5" else [])
    told = [d.message for d in result.diagnostics if d.code == "BIND_STORAGE"]
    assert len(told) == (2 if target == "ice40" else 0)
    assert all("has no LUT RAM" in text for text in told)
    found = synthesize([result.design], top="f", target=target, config=tool_config)
    assert found.status is Status.PASS, found.diagnostics
