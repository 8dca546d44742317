"""`rtlagent vscode`: tasks, diagnostics and the MCP server for a VS Code folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rtlagent.editors.vscode import Layout

_RTL_FOLDERS = ("rtl", "src", "hdl", "verilog", ".")
_MAX_BYTES = 4_000_000


def vscode(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that is opened in VS Code.")] = Path(),
    target: Annotated[str, typer.Option("--target", help="Of the synth task: generic, ice40, ecp5 or xc7.")] = "ice40",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the files instead of writing them.")] = False,
) -> None:
    """Give a VS Code folder tasks, diagnostics and the MCP server.

    Writes .vscode/tasks.json (generate, lint, sim, synth, bench, watch), extensions.json and mcp.json. What these files
    hold already stays, comments and layout included; a task that you have changed is not touched. Calling it again
    changes nothing.

    Exit codes: 0 done, 2 a file is not JSON, or cannot be written.
    """
    from rtlagent.editors.vscode import merge_extensions, merge_mcp, merge_tasks
    from rtlagent.errors import UsageError, suggestion
    from rtlagent.spec import TARGETS

    if not folder.is_dir():
        raise UsageError("is not a folder", where=str(folder))
    if target not in TARGETS:
        raise UsageError(f"unknown target {target!r}", where="--target", hint=suggestion(target, TARGETS))
    layout = find_layout(folder, target)
    places = {n: folder / ".vscode" / n for n in ("tasks.json", "extensions.json", "mcp.json")}
    old = {name: _read(path) for name, path in places.items()}
    # All are made before the first is written: a wrong one leaves the others as they were.
    new = {
        "tasks.json": merge_tasks(old["tasks.json"], layout, str(places["tasks.json"])),
        "extensions.json": merge_extensions(old["extensions.json"], str(places["extensions.json"])),
        "mcp.json": merge_mcp(old["mcp.json"], str(places["mcp.json"])),
    }
    for name, path in places.items():
        if "\r\n" in (old[name] or ""):
            new[name] = new[name].replace("\r\n", "\n").replace("\n", "\r\n")
        if dry_run:
            print(f"// {path}\n{new[name]}", end="")
            continue
        if new[name] != old[name]:
            _write(path, new[name])
        state = "unchanged" if new[name] == old[name] else "written" if old[name] is None else "extended"
        print(f"{path}: {state}")


def find_layout(folder: Path, target: str) -> Layout:
    """Find where a project keeps its RTL and its tests."""
    from rtlagent.editors.vscode import Layout

    rtl: list[str] = []
    for name in _RTL_FOLDERS:
        suffixes = [s for s in (".v", ".sv") if any((folder / name).glob(f"*{s}"))]
        rtl += [f"*{s}" if name == "." else f"{name}/*{s}" for s in suffixes]
        if rtl:
            break
    found = sorted([*folder.glob("test_*.py"), *folder.glob("tests/test_*.py")])
    tests = tuple(p.relative_to(folder).as_posix() for p in found if " " not in p.name)
    return Layout(tuple(rtl) or ("rtl/*.v",), tests, target)


def _read(path: Path) -> str | None:
    from rtlagent.errors import UsageError
    from rtlagent.spec.files import read_text_file

    if not path.exists() and not path.is_symlink():
        return None
    try:
        read_text_file(path, max_bytes=_MAX_BYTES)  # refuses what is no text
        return path.read_bytes().decode("utf-8")  # line ends as they are
    except UsageError as error:
        raise UsageError(error.message, where=str(path), hint=error.hint) from None


def _write(path: Path, text: str) -> None:
    from rtlagent.errors import RunError

    try:
        path.parent.mkdir(exist_ok=True)
        real = path.resolve()
        part = real.with_name(f".{real.name}.part")
        part.write_bytes(text.encode())
        part.replace(real)
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror}", where=str(path)) from error
