import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

KERNELS = Path(__file__).parents[2] / "benchmarks" / "suites" / "kernels"
EXAMPLE = Path(__file__).parents[2] / "examples" / "fir" / "fir.c"
MANIFEST: list[dict[str, Any]] = tomllib.loads((KERNELS / "kernels.toml").read_text())["kernel"]
VARIANTS = [(kernel, variant) for kernel in MANIFEST for variant in kernel["variant"]]
FLAGS = (
    "-std=gnu11",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unknown-pragmas",
    "-Wno-unused-label",  # labels name loops in reports
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)


def runnable() -> list[Path]:
    """Return the files with code of their own; other variants differ by pragmas only, which gcc ignores."""
    files = [KERNELS / kernel["file"] for kernel in MANIFEST]
    return [*files, *(KERNELS / variant["file"] for _, variant in VARIANTS if variant.get("rewritten")), EXAMPLE]


def without_pragmas(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.lstrip().startswith("#pragma HLS")]


@pytest.mark.parametrize("source", runnable(), ids=lambda path: path.stem)
def test_compiles_without_warning_and_passes_its_own_test(source: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    built = subprocess.run(["gcc", *FLAGS, source, "-o", program], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True, timeout=20, cwd=tmp_path, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("kernel", MANIFEST, ids=lambda kernel: kernel["name"])
def test_kernel_has_its_top_and_a_variant(kernel: dict[str, Any]) -> None:
    text = (KERNELS / kernel["file"]).read_text()
    assert re.search(rf"^(?!static)\w[\w *]*\b{kernel['top']}\(", text, re.MULTILINE)
    assert "#pragma" not in text
    assert kernel["variant"]
    assert kernel["description"]


@pytest.mark.parametrize(("kernel", "variant"), VARIANTS, ids=[Path(v["file"]).stem for _, v in VARIANTS])
def test_variant_adds_pragmas_only(kernel: dict[str, Any], variant: dict[str, Any]) -> None:
    text = (KERNELS / variant["file"]).read_text()
    base = (KERNELS / kernel["file"]).read_text()
    assert "#pragma HLS" in text
    assert (without_pragmas(text) == base.splitlines()) != variant.get("rewritten", False)
    for label in variant.get("ii", {}):
        assert re.search(rf"^\s*{label}:\n?\s*(for|while|do)\b", text, re.MULTILINE), label


def test_every_file_is_in_the_manifest() -> None:
    listed = {kernel["file"] for kernel in MANIFEST} | {variant["file"] for _, variant in VARIANTS}
    assert listed == {path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.c")}
