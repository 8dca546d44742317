"""Put source files into a work folder under safe names, and translate places back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from rtlagent.errors import UsageError
from rtlagent.types import Diagnostic, SourceFile


@dataclass(frozen=True)
class Staged:
    """Files as they lie in a work folder."""

    folder: Path
    paths: tuple[str, ...]
    """Paths relative to the folder, in the order given."""
    originals: Mapping[str, str]
    """Staged path -> the path the user knows."""

    def restore(self, diagnostic: Diagnostic) -> Diagnostic:
        """Give a diagnostic the path that the user knows."""
        path = diagnostic.path.removeprefix("/work/").removeprefix(f"{self.folder}/").removeprefix("./")
        return replace(diagnostic, path=self.originals.get(path, path))


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
    """Write `files` below `folder`.

    Raises:
        UsageError: two files would get the same place.
    """
    paths: list[str] = []
    originals: dict[str, str] = {}
    for file in files:
        path = safe_path(file.path)
        if path in originals:
            raise UsageError(f"two files have the same path: {originals[path]} and {file.path}")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(file.text, encoding="utf-8", errors="replace")
        originals[path] = file.path
        paths.append(path)
    return Staged(folder, tuple(paths), originals)
