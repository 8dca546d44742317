"""C kernels for the HLS engine: a `kernels.toml` that lists them, or a folder a kernel with NAME.c and tb.c.

An answer is the kernel in C, with pragmas or rewritten, or Verilog with the interface that the engine gives the kernel.
It has to give bit for bit what the kernel itself gives for the calls of its `main()`, which is its testbench.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.c_score import score_against_c
from rtlagent.bench.problem import Problem, Score
from rtlagent.bench.suites.testbench_suite import files_sha256, read_source, require_folder, unknown_problem
from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.spec.c_source import included_files
from rtlagent.types import SourceFile, Spec

_LIST = "kernels.toml"
_BENCH = "tb.c"


@dataclass(frozen=True)
class _Kernel:
    top: str
    file: Path
    description: str
    bench: Path | None


class Kernels:
    """Kernels in C with their own tests in C."""

    name = "kernels"

    def problems(self, path: Path) -> tuple[Problem, ...]:
        """Return the kernels; a testbench of its own file stays hidden, one in the kernel's file cannot."""
        return tuple(self._problem(name, k) for name, k in self._kernels(path).items())

    def golden(self, path: Path, name: str) -> tuple[SourceFile, ...] | None:
        """Return the kernel as it is, for the engine to compile."""
        return (read_source(self._kernel(path, name).file),)

    def score(
        self,
        path: Path,
        name: str,
        files: Sequence[SourceFile],
        *,
        config: ToolConfig,
        simulator: str = "auto",
        keep_dir: Path | None = None,
    ) -> Score:
        """Compile the answer if it is C, and co-simulate it with the kernel."""
        kernel = self._kernel(path, name)
        source = read_source(kernel.file)
        extra = included_files([source], kernel.file.parent)
        bench = () if kernel.bench is None else (read_source(kernel.bench),)
        spec = Spec(name=name, text="", top=kernel.top, c_source=source, context_files=(*extra, *bench))
        return score_against_c(spec, files, config=config, simulator=simulator, keep_dir=keep_dir)

    def data_sha256(self, path: Path) -> str:
        """Return a digest of all C files and of the list."""
        folder = require_folder(self.name, path)
        return files_sha256(folder, [f for f in folder.rglob("*") if f.suffix in (".c", ".h", ".toml") and f.is_file()])

    def completed(self, path: Path, name: str, text: str) -> tuple[SourceFile, ...]:
        """Take what is no Verilog for C."""
        is_rtl = "endmodule" in text
        return (SourceFile(f"{name}.v" if is_rtl else self._kernel(path, name).file.name, text),)

    def _problem(self, name: str, kernel: _Kernel) -> Problem:
        source = read_source(kernel.file)
        said = kernel.description or f"The C function {kernel.top}()."
        text = f"{said}\n\n```c\n{source.text.rstrip()}\n```\n"
        context = included_files([source], kernel.file.parent)
        return Problem(self.name, name, text, top=kernel.top, language="c", context=context, c_source=source)

    def _kernel(self, path: Path, name: str) -> _Kernel:
        kernels = self._kernels(path)
        if name not in kernels:
            raise unknown_problem(self.name, path, name, kernels)
        return kernels[name]

    def _kernels(self, path: Path) -> dict[str, _Kernel]:
        folder = require_folder(self.name, path)
        listed = folder / _LIST
        found = _from_list(listed) if listed.is_file() else _from_folders(folder)
        if not found:
            raise UsageError(f"{path} holds no {_LIST} and no folder NAME with NAME.c")
        return found


def _from_list(file: Path) -> dict[str, _Kernel]:
    try:
        rows = tomllib.loads(file.read_text())["kernel"]
        return {
            str(r["name"]): _Kernel(str(r["top"]), file.parent / str(r["file"]), str(r.get("description", "")), None)
            for r in rows
        }
    except (tomllib.TOMLDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise UsageError(f"not a list of kernels: {error}", where=str(file)) from error


def _from_folders(folder: Path) -> dict[str, _Kernel]:
    kernels = {}
    for place in sorted(p for p in folder.iterdir() if p.is_dir()):
        source, bench = place / f"{place.name}.c", place / _BENCH
        if source.is_file():
            kernels[place.name] = _Kernel(place.name, source, "", bench if bench.is_file() else None)
    return kernels
