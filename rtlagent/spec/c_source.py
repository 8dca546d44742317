"""Find the C of a spec: a C file with what it includes, or the C code blocks of a Markdown file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from rtlagent.errors import UsageError
from rtlagent.spec.files import read_text_file
from rtlagent.types import SourceFile

C_SUFFIXES: Mapping[str, str] = {".c": "c", ".cc": "c++", ".cpp": "c++", ".cxx": "c++"}
"""Suffix -> language."""
MAX_INCLUDED = 200
_LANGUAGES = {"c": "c", "c++": "c++", "cpp": "c++", "cc": "c++", "cxx": "c++"}
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})[ \t]*(?P<tag>[^\s`{]*)")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.M)
_DEFINITION = re.compile(r"\b([A-Za-z_]\w*)\s*\([^;{}]*\)\s*\{")
_NO_NAMES = frozenset({"if", "for", "while", "switch", "return", "sizeof", "do", "else", "catch"})
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def code_blocks(text: str, first_line: int) -> tuple[str, str]:
    """Cut the C code blocks out of Markdown, each line at its own number in the file.

    Args:
        text: The Markdown below the front matter.
        first_line: The number of its first line in the file.

    Returns:
        The C text (empty if there is none) and its language, `c++` if any block is C++.
    """
    kept: list[str] = []
    language = "c"
    open_marks, inside = "", False
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence and not open_marks:
            open_marks = fence["marks"]
            found = _LANGUAGES.get(fence["tag"].lower())
            inside = found is not None
            language = "c++" if found == "c++" else language
            kept.append("")
        elif fence and fence["marks"].startswith(open_marks) and not fence["tag"]:
            open_marks, inside = "", False
            kept.append("")
        else:
            kept.append(line if inside else "")
    if not any(kept):
        return "", language
    return "\n" * (first_line - 1) + "\n".join(kept).rstrip() + "\n", language


def defined_functions(text: str) -> tuple[str, ...]:
    """Name the functions that a C text seems to define, in order; macros are not expanded."""
    plain = _COMMENT.sub(" ", text)
    names = (m[1] for m in _DEFINITION.finditer(plain))
    return tuple(dict.fromkeys(n for n in names if n not in _NO_NAMES))


def included_files(sources: Iterable[SourceFile], folder: Path) -> tuple[SourceFile, ...]:
    """Read the files that `sources` include with quotes, and those that these include.

    One that does not exist is left out: it may be conditional, and the compiler tells where it is missed.

    Args:
        sources: C files whose paths are relative to `folder`.
        folder: The folder of the spec.

    Raises:
        UsageError: a file is unreadable, not text, or there are too many.
    """
    queue = list(sources)
    known = {f.path for f in queue}
    found: list[SourceFile] = []
    while queue:
        file = queue.pop(0)
        for name in _INCLUDE.findall(file.text):
            path = Path(os.path.normpath(folder / PurePosixPath(file.path).parent / name))
            relative = PurePosixPath(os.path.relpath(path, folder)).as_posix()
            if relative in known or not _is_file(path):
                continue
            known.add(relative)
            if len(known) > MAX_INCLUDED:
                raise UsageError(f"more than {MAX_INCLUDED} files are included", where=str(folder))
            try:
                found.append(SourceFile(relative, read_text_file(path)))
            except UsageError as error:
                raise UsageError(f"an included file {error.message}", where=str(path), hint=error.hint) from None
            queue.append(found[-1])
    return tuple(found)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not even a possible name
        return False
