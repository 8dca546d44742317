"""The whole program as the module: what its main returns or writes, by whichever end."""

from __future__ import annotations

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.cosim import cosimulate
from rtlagent.tools.csim import record_calls
from rtlagent.types import SourceFile, Status

PROGRAMS = {
    "void, globals": ("short out[8]; void main(void) { for (int i = 0; i < 8; i++) out[i] = i * i; }", 1),
    "static globals stay inside": ("static int s; int main(void) { for (int i = 0; i < 8; i++) s += i; return s; }", 0),
    "exit in main": ("#include <stdlib.h>\nint main(void) { for (int i = 0; ; i++) if (i * i > 90) exit(i); }", 0),
    "exit further down": (
        "#include <stdlib.h>\nunsigned char out[4];\nstatic void die(int n) { out[3] = 9; exit(n); }\n"
        "int main(void) { int s = 0; for (int i = 0; i < 80; i++) { s += i; if (s > 300) die(s); } return 1; }",
        0,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_main_does_what_it_does_natively(name: str, tool_config: ToolConfig) -> None:
    text, arrays = PROGRAMS[name]
    source = SourceFile("k.c", text)

    def clang(code: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, language, arguments, path=source.path, config=tool_config)

    result = compile_c(source, HlsOptions(top="main"), clang)
    interface = result.interface
    record = record_calls(
        source,
        top="main",
        arguments=interface.arguments,
        result_width=interface.result_width,
        result_signed=interface.result_signed,
        config=tool_config,
    )
    step = cosimulate([result.design], interface, record, simulators=("icarus",), config=tool_config)
    assert step.status is Status.PASS, step.detail
    assert len(interface.arrays) == arrays
