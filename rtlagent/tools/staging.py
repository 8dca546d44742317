"""Put source files into a work folder under safe names, and translate places back.

No tool takes every name that a file can have: Verilator's report breaks on letters beyond ASCII, its preprocessor
on quotes, Yosys's commands on blanks. So Verilog goes under names of plain ASCII. Other files keep their own, because
nobody but the design or a test names them, at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path, PurePosixPath

from rtlagent.config import ToolConfig
from rtlagent.errors import UsageError
from rtlagent.types import Diagnostic, SourceFile

_VERILOG = frozenset({".v", ".sv", ".verilog"})
_INCLUDED = frozenset({".vh", ".svh", ".h", ".inc"})
_UNSAFE = re.compile(r"[^A-Za-z0-9_./-]|(?<![^/])-")
_INCLUDE = re.compile(r"""(`\s*include\s*["<])([^"<>\n]+)(?=[">])""")
_BYTES_PER_MB = 1_000_000


@dataclass(frozen=True)
class Staged:
    """Files as they lie in a work folder."""

    folder: Path
    paths: tuple[str, ...]
    """Paths relative to the folder, in the order given."""
    originals: Mapping[str, str]
    """Staged path -> the path the user knows."""

    def place(self, original: str) -> str:
        """Return where the file that the user knows as `original` lies."""
        return next(staged for staged, known in self.originals.items() if known == original)

    def restore(self, diagnostic: Diagnostic) -> Diagnostic:
        """Give a diagnostic, and the places that its text names, the paths that the user knows."""
        path = diagnostic.path.removeprefix("/work/").removeprefix(f"{self.folder}/").removeprefix("./")
        message = diagnostic.message
        for staged, original in self.originals.items():
            if staged != safe_path(original):
                pattern = rf"(?<![\w./]){re.escape(staged)}(?![\w/])"
                message = re.sub(pattern, original.replace("\\", r"\\"), message)
        return replace(diagnostic, path=self.originals.get(path, path), message=message)


def safe_path(path: str) -> str:
    """Return a relative path without `..` that keeps the readable part of `path`.

    Absolute paths and paths that climb out get a folder `ext/` in front, so that they cannot leave
    the work folder; the file name is kept because tools print it.
    """
    pure = PurePosixPath(path)
    kept = [p for p in pure.parts if p not in ("/", ".", "..")]
    if not kept:
        raise UsageError(f"not a file name: {path!r}")
    inside = not pure.is_absolute() and ".." not in pure.parts
    return str(PurePosixPath(*kept)) if inside else str(PurePosixPath("ext", *kept))


def stage(files: Iterable[SourceFile], folder: Path) -> Staged:
    """Write `files` below `folder`; an `include of a file that gets another name is written with that name.

    Raises:
        UsageError: two files would get the same place.
    """
    given = list(files)
    places = _places(given)
    renamed = {safe_path(f.path): place for f, place in zip(given, places, strict=True) if place != safe_path(f.path)}
    for file, place in zip(given, places, strict=True):
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        text = _with_new_names(file.text, renamed) if renamed and _is_verilog(place) else file.text
        target.write_text(text, encoding="utf-8", errors="replace")
    return Staged(folder, tuple(places), {place: f.path for place, f in zip(places, given, strict=True)})


def _places(files: Sequence[SourceFile]) -> list[str]:
    """Choose a path for each file; those with plain names keep them."""
    known: dict[str, str] = {}
    for file in files:
        path = safe_path(file.path)
        if path in known:
            raise UsageError(f"two files have the same path: {known[path]} and {file.path}")
        known[path] = file.path
    suffixes = _VERILOG | _INCLUDED if any(PurePosixPath(p).suffix.lower() in _VERILOG for p in known) else frozenset()
    plain = {p: _UNSAFE.sub("_", p) if PurePosixPath(p).suffix.lower() in suffixes else p for p in known}
    taken = {p for p, q in plain.items() if p == q}
    for path, wanted in plain.items():
        if path != wanted:
            pure = PurePosixPath(wanted)
            others = (str(pure.with_name(f"{pure.stem}_{n}{pure.suffix}")) for n in count(2))
            plain[path] = wanted if wanted not in taken else next(o for o in others if o not in taken)
            taken.add(plain[path])
    return list(plain.values())


def _is_verilog(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in _VERILOG | _INCLUDED


def _with_new_names(text: str, renamed: Mapping[str, str]) -> str:
    def written(match: re.Match[str]) -> str:
        parts = [p for p in PurePosixPath(match[2]).parts if p not in (".", "..")]
        new = next((n for old, n in renamed.items() if PurePosixPath(old).parts[-len(parts) :] == tuple(parts)), None)
        return match[0] if new is None else match[1] + str(PurePosixPath(*PurePosixPath(new).parts[-len(parts) :]))

    return _INCLUDE.sub(written, text)


def require_size(files: Iterable[SourceFile], config: ToolConfig) -> None:
    """Refuse more Verilog than the tools read in reasonable time.

    Raises:
        UsageError: the Verilog among `files` exceeds `limits.source_mb`.
    """
    size_mb = sum(len(f.text) for f in files if _is_verilog(f.path)) / _BYTES_PER_MB
    if size_mb > config.limits.source_mb:
        raise UsageError(
            f"the Verilog files hold {size_mb:.1f} MB, more than the limit of {config.limits.source_mb:g} MB",
            hint="give fewer or smaller files, or raise source_mb under [tools.limits] (RTLAGENT_LIMIT_SOURCE_MB)",
        )
