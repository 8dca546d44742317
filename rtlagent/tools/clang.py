"""clang: C and C++ to LLVM IR, inside the sandbox.

Any clang serves whose LLVM is not newer than llvmlite's; the one that PyPI's ziglang bundles is there without a system
package.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from rtlagent.config import ToolConfig, resource_dir
from rtlagent.errors import CSourceError, ToolError, ToolMissingError
from rtlagent.tools import sandbox
from rtlagent.tools.staging import safe_path
from rtlagent.types import SourceFile

_ARGUMENTS = (
    *("-target", "x86_64-linux-gnu", "-O0", "-Xclang", "-disable-O0-optnone", "-g", "-fno-sanitize=all"),
    *("-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-discard-value-names", "-fno-exceptions"),
    *("-fno-stack-protector", "-w", "-S", "-emit-llvm"),
)
# Old C that gcc accepts; to clang these are errors, which -w leaves.
_OLD_C = (
    *("-Wno-implicit-int", "-Wno-implicit-function-declaration", "-Wno-int-conversion", "-Wno-return-mismatch"),
    *("-Wno-incompatible-pointer-types", "-Wno-incompatible-function-pointer-types"),
)
_STANDARDS = {"c": "gnu11", "c++": "gnu++17"}
_MESSAGE = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<text>.*)$", re.M)
_INPUTS = {"c": "rtlagent_in.c", "c++": "rtlagent_in.cpp"}
_OUTPUT = "rtlagent_out.ll"


def emit_llvm(
    source: str,
    language: str,
    arguments: Sequence[str] = (),
    *,
    path: str,
    config: ToolConfig,
    extra_files: Sequence[SourceFile] = (),
) -> str:
    """Compile C (`language` `c`) or C++ (`c++`) text to LLVM IR text, unoptimised, with debug information.

    Args:
        source: The text.
        language: `c` or `c++`.
        arguments: Further options, such as `-DN=4`.
        path: The user's name of the file, for messages.
        config: Sandbox and limits.
        extra_files: Headers that the text includes by relative names.

    Raises:
        CSourceError: it does not compile; the message is the first error.
        ToolError: clang broke.
    """
    command, readonly = clang_command()
    with tempfile.TemporaryDirectory(prefix="rtlagent-") as folder:
        work = Path(folder)
        for file in extra_files:
            place = work / safe_path(file.path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(file.text)
        # In the folder of the original, from which quoted includes are looked up.
        name = str(PurePosixPath(safe_path(path)).parent / _INPUTS[language])
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        # #line keeps the user's name in messages and debug information.
        shown = path.replace("\\", "\\\\").replace('"', '\\"')
        (work / name).write_text(f'#line 1 "{shown}"\n{source}')
        argv = [*command, *_ARGUMENTS, f"-std={_STANDARDS[language]}", f"-I{resource_dir('sim') / 'hls'}", "-I."]
        # No C++ library is there for the hardware's side; what C has goes by its C++ names, too.
        argv += _OLD_C if language == "c" else ("-idirafter", str(resource_dir("sim") / "hls_std"))
        argv += [*arguments, "-o", _OUTPUT, name]
        limits = replace(config.limits, memory_mb=max(config.limits.memory_mb, 4096))
        result = sandbox.run(
            argv,
            work=work,
            config=config,
            limits=limits,
            env={"ZIG_GLOBAL_CACHE_DIR": "zig-cache", "ZIG_LOCAL_CACHE_DIR": "zig-cache"},
            readonly=(*readonly, resource_dir("sim")),
        )
        output = work / _OUTPUT
        if result.returncode == 0 and output.is_file():
            return output.read_text()
        errors = list(_MESSAGE.finditer(result.stderr))
        if errors:
            raise _compile_error(errors)
        if result.limit:
            raise ToolError(f"clang reached its {result.limit} limit", where=path)
        raise ToolError(f"clang failed (exit code {result.returncode}): {result.stderr.strip()[-500:]}", where=path)


def _compile_error(errors: list[re.Match[str]]) -> CSourceError:
    first = errors[0]
    where = f"{posixpath.normpath(first['path'])}:{first['line']}:{first['column']}"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    hint = "the C compiler refuses it; mend it there"
    if first["text"].endswith("file not found"):
        hint = (
            "give the header with the source; of C++'s library and of vendors' there is ap_int.h, hls_stream.h and "
            "what C has, and what only a test needs goes between #ifndef __SYNTHESIS__ and #endif"
        )
    return CSourceError(f"{first['text']}{more}", where=where, hint=hint)


@cache
def clang_command() -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """Return how to call clang, and what it has to be shown.

    Raises:
        ToolMissingError: there is none that llvmlite can read.
    """
    spec = find_spec("ziglang")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        return (str(folder / "zig"), "cc"), (folder,)
    newest = _llvmlite_version()
    for name in ("clang", *(f"clang-{n}" for n in range(newest, 13, -1))):
        program = shutil.which(name)
        if program is None:
            continue
        found = re.search(
            r"version (\d+)", subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        )
        if found and 14 <= int(found[1]) <= newest:
            return (program,), ()
    raise ToolMissingError("no clang is installed", hint=f"{sys.executable} -m pip install ziglang")


def _llvmlite_version() -> int:
    import llvmlite.binding as llvm

    return int(llvm.llvm_version_info[0])
