"""`rtlagent clean`: list old runs and caches with their sizes, and remove them."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

_DAY_S = 86_400
_CACHES = ("verilator", "yowasp", "bench-goldens")
"""Folders in the cache that are ours; nothing else there is touched, whatever the cache's place was set to."""
_RUN_FILES = ("spec.json", "settings.json", "events.jsonl")


@dataclass(frozen=True)
class Item:
    """Something that can be removed."""

    path: Path
    kind: str
    """`run`, `unfinished run`, `calls` (of the MCP server) or `cache`."""
    size_bytes: int
    age_days: float


def clean(
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, metavar="DAYS", help="Only runs that nothing has changed since.")
    ] = 30.0,
    keep: Annotated[int, typer.Option("--keep", min=0, help="Keep at least so many of the latest runs.")] = 5,
    cache: Annotated[
        bool, typer.Option("--cache", help="Compiled runtimes and cached answers, too; they are made again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove; without it they are listed only.")] = False,
    runs_dir: Annotated[
        Path | None, typer.Option("--runs-dir", help="Where runs are (default: runs).", show_default=False)
    ] = None,
) -> None:
    """List old runs and caches, and with --yes remove them.

    A run that a process works on is left alone, and so is everything in the folder that is no run.

    Exit codes: 0 done, 4 something could not be removed.
    """
    from rtlagent.cli.render import table
    from rtlagent.config import load_config
    from rtlagent.errors import RunError
    from rtlagent.printable import printable

    flags = {"runs_dir": runs_dir} if runs_dir is not None else {}
    config = load_config(flags=flags)
    items = [*old_runs(config.runs_dir, older_than, keep), *(caches(config.tools.cache_dir) if cache else ())]
    if not items:
        print(f"nothing to remove: no run in {config.runs_dir} is older than {older_than:g} days")
        return
    rows = [("size", "age", "what", "where")]
    rows += [(_size(i.size_bytes), f"{i.age_days:.0f} d", i.kind, str(i.path)) for i in items]
    print(printable("\n".join(table(rows))))
    total = _size(sum(i.size_bytes for i in items))
    if not yes:
        print(f"\n{total} in all; nothing was removed. Remove with: rtlagent clean --yes")
        return
    failed = [str(i.path) for i in items if not _remove(i)]
    print(f"\nremoved {len(items) - len(failed)} of {len(items)}, {total} in all")
    if failed:
        raise RunError("could not be removed, or is in use again", where=", ".join(failed))


def old_runs(runs_dir: Path, older_than: float, keep: int) -> list[Item]:
    """Return the runs that may go, oldest first."""
    if not runs_dir.is_dir():
        return []
    found = [_item(p, _kind(p)) for p in runs_dir.iterdir() if _is_run(p)]
    latest = {i.path for i in sorted(found, key=lambda i: i.age_days)[:keep]}
    calls = runs_dir / "mcp"
    if calls.is_dir() and not calls.is_symlink():
        found += [_item(p, "calls") for p in calls.iterdir() if p.is_dir() and not p.is_symlink()]
    old = [i for i in found if i.age_days >= older_than and i.path not in latest and not _is_in_use(i.path)]
    return sorted(old, key=lambda i: -i.age_days)


def caches(cache_dir: Path) -> list[Item]:
    """Return our folders in the cache."""
    paths = [cache_dir / name for name in _CACHES]
    return [_item(p, "cache") for p in paths if p.is_dir() and not p.is_symlink()]


def _is_run(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink() and any((path / name).is_file() for name in _RUN_FILES)


def _kind(path: Path) -> str:
    return "run" if (path / "report.json").is_file() else "unfinished run"


def _is_in_use(path: Path) -> bool:
    try:
        with (path / ".lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _item(path: Path, kind: str) -> Item:
    sizes, newest = 0, path.stat().st_mtime
    for status in _files(path):
        sizes += status.st_blocks * 512
        newest = max(newest, status.st_mtime)
    return Item(path, kind, sizes, max(0.0, (time.time() - newest) / _DAY_S))


def _files(path: Path) -> Iterator[os.stat_result]:
    for folder, _, names in os.walk(path):
        for name in names:
            with suppress(OSError):
                yield (Path(folder) / name).lstat()


def _remove(item: Item) -> bool:
    if _is_in_use(item.path):
        return False
    shutil.rmtree(item.path, ignore_errors=True)
    return not item.path.exists()


def _size(size_bytes: int) -> str:
    value = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
