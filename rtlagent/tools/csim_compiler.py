"""Which compiler builds a C program natively, and how it is called.

gcc, or clang for `_BitInt`, which gcc 12 does not know (the ap_int.h shim is made of it).

Two builds: `plain` is the C as it is, and gives the golden results. `checked` counts basic blocks and has the
undefined-behaviour sanitizer, with gcc the address sanitizer too. They fill uninitialised variables differently,
so that results which depend on them are seen to differ.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from rtlagent.config import resource_dir
from rtlagent.errors import ToolMissingError
from rtlagent.tools.clang import clang_command
from rtlagent.types import SourceFile

_UNITS = frozenset((".c", ".cc", ".cpp", ".cxx", ".c++"))
_PLUS = _UNITS - {".c"}
_BIT_PRECISE = re.compile(r'\b_BitInt\b|^\s*#\s*include\s*["<](?:ap_|hls_)', re.M)
_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.M)
# -O0: every call is a call and every argument where the calling convention puts it.
_COMMON = ("-O0", "-w", "-fno-pie", "-fno-stack-protector", "-fcf-protection=none", "-Dalways_inline=noinline")
_GCC = ("-g1", "-fkeep-static-functions", "-fkeep-inline-functions", "-fmax-errors=5")
_GCC_BUILD = {
    "plain": ("-ftrivial-auto-var-init=zero",),
    "checked": (
        *("-fsanitize=address,undefined", "-fsanitize-recover=all", "-fsanitize-coverage=trace-pc"),
        "-ftrivial-auto-var-init=pattern",
    ),
}
# GNU as does not know .addrsig, and not all of clang's debug information.
_CLANG = (
    *("-target", "x86_64-linux-gnu", "-g0", "-fno-addrsig", "-Xclang", "-femit-all-decls"),
    *("-fno-sanitize=all", "-ferror-limit=5"),
)
_CLANG_BUILD = {
    "plain": ("-ftrivial-auto-var-init=zero",),
    "checked": (
        *("-fsanitize=undefined", "-fsanitize-trap=undefined", "-fsanitize-coverage=trace-pc"),
        "-ftrivial-auto-var-init=pattern",
    ),
}


@dataclass(frozen=True)
class Compiler:
    """How the files of one program are compiled and linked."""

    name: str
    """`gcc` or `clang`."""
    command: tuple[str, ...]
    """Of clang; empty for gcc."""
    plus: frozenset[str]
    """The files that are C++."""
    include_dirs: tuple[str, ...]
    readonly: tuple[Path, ...]

    @property
    def linker(self) -> str:
        """gcc, or g++ if any file is C++: both assemble and link."""
        return "g++" if self.plus else "gcc"

    @property
    def finds_addresses(self) -> bool:
        """Whether the checked build has the address sanitizer."""
        return self.name == "gcc"

    def argv(self, unit: str, build: str) -> list[str]:
        """Return the command that compiles a file, without input and output."""
        plus = unit in self.plus
        language = ["-x", "c++", "-std=gnu++17"] if plus else ["-x", "c", "-std=gnu17"]
        folders = [f"-I{d}" for d in self.include_dirs]
        if self.name == "gcc":
            return ["g++" if plus else "gcc", *language, *_COMMON, *_GCC, *_GCC_BUILD[build], *folders]
        return [*self.command, *language, *_COMMON, *_CLANG, *_CLANG_BUILD[build], *folders]

    def link_flags(self, build: str) -> list[str]:
        """Return what the linker needs beside the objects."""
        return ["-fsanitize=address,undefined"] if build == "checked" and self.finds_addresses else []


def choose_compiler(
    files: Sequence[SourceFile], units: Sequence[str], language: str, paths: Sequence[str], include_dirs: Sequence[Path]
) -> Compiler:
    """Return gcc, or clang where the files need it.

    Raises:
        ToolMissingError: clang is needed and there is none.
    """
    shims = resource_dir("sim") / "hls"
    shown = [*include_dirs, *([shims] if shims.is_dir() else [])]
    plus = frozenset(u for u in units if PurePosixPath(u).suffix in _PLUS or (language == "c++" and u == units[0]))
    folders = (*dict.fromkeys(str(PurePosixPath(p).parent) for p in paths), *map(str, shown))
    if not any(_BIT_PRECISE.search(f.text) for f in files):
        return Compiler("gcc", (), plus, folders, tuple(shown))
    command, readonly = clang_command()
    if command[1:] == ("cc",):
        # `zig cc` brings a C library of its own; here the system's is linked.
        command = (command[0], "clang", "-resource-dir", str(Path(command[0]).parent / "lib"))
    return Compiler("clang", command, plus, folders, (*shown, *readonly))


def compiled_files(files: Sequence[SourceFile], paths: Sequence[str]) -> tuple[str, ...]:
    """Return the files to compile: not headers, and not what another file includes."""
    included = {PurePosixPath(name).name for f in files for name in _INCLUDE.findall(f.text)}
    return tuple(
        p for n, p in enumerate(paths)
        if (n == 0 or PurePosixPath(p).suffix in _UNITS) and PurePosixPath(p).name not in included
    )  # fmt: skip


@cache
def require(program: str) -> None:
    """Check that a compiler is installed.

    Raises:
        ToolMissingError: it is not.
    """
    if shutil.which(program) is None:
        raise ToolMissingError(f"{program} is not installed", hint=f"apt-get install {program}")
