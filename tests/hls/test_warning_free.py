"""The Verilog is plain Verilog-2005 that Verilator -Wall and Icarus -Wall have nothing to say about."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rtlagent.config import ToolConfig
from rtlagent.hls import HlsOptions, compile_c
from rtlagent.tools.clang import emit_llvm
from rtlagent.tools.verilator_runtime import verilator_root
from rtlagent.types import SourceFile

KERNELS = Path(__file__).parents[2] / "benchmarks" / "suites" / "kernels"
PLAIN = ("gcd", "dot", "histogram", "quick_sort", "newton_sqrt", "riscv")
REGISTERS = """\
int mod(int a, int b) {
#pragma HLS interface s_axilite port=a
#pragma HLS interface s_axilite port=b
#pragma HLS interface s_axilite port=return
  return b ? a % b : 0;
}
"""


def complaints(text: str, name: str, target: str, folder: Path, config: ToolConfig) -> str:
    source = SourceFile(f"{name}.c", text)

    def clang(code: str, language: str, arguments: tuple[str, ...]) -> str:
        return emit_llvm(code, language, arguments, path=source.path, config=config)

    design = compile_c(source, HlsOptions(top=name, target=target), clang).design
    (folder / f"{name}.v").write_text(design.text)
    root = verilator_root()
    said = ""
    for argv in (
        [f"{root}/bin/verilator_bin", "--lint-only", "--quiet", "-Wall", "--language", "1364-2005", f"{name}.v"],
        ["iverilog", "-g2005", "-Wall", "-o", "design.vvp", f"{name}.v"],
    ):
        done = subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, "VERILATOR_ROOT": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
        said += done.stdout + done.stderr
        said += f"{argv[0]} ended with {done.returncode}" if done.returncode else ""
    return said


@pytest.mark.parametrize("target", ["ecp5", "xc7"])
@pytest.mark.parametrize("name", PLAIN)
def test_kernels(name: str, target: str, tmp_path: Path, tool_config: ToolConfig) -> None:
    assert complaints((KERNELS / name / f"{name}.c").read_text(), name, target, tmp_path, tool_config) == ""


def test_a_bus_shell(tmp_path: Path, tool_config: ToolConfig) -> None:
    assert complaints(REGISTERS, "mod", "ecp5", tmp_path, tool_config) == ""
