"""A case in a zip file: once for the program, once laid out for people."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from rtlagent.agent.reproduction import FORMAT, Case
from rtlagent.errors import RunError, UsageError
from rtlagent.report.folder import RunFolder
from rtlagent.types import SourceFile, from_json, to_json
from rtlagent.workspace import Run

_CASE = "case.json"
_MAX_CASE = 64 << 20
"""Bytes of case.json that are read; a zip can claim to hold any number."""
_MAX_LOG = 8 << 20
"""Bytes of one log or waveform that are packed."""
_STAMP = (1980, 1, 1, 0, 0, 0)
"""The same case gives the same bytes."""


def write_bundle(case: Case, folder: RunFolder, out: Path, *, whole: bool = False, model: bool = False) -> list[str]:
    """Pack a case.

    Args:
        case: What to pack.
        folder: The run it is of.
        out: The zip file; it is whole or absent.
        whole: Add the rest of the run's folder below `run/`, but for the talk with the model.
        model: Add the talk with the model.

    Returns:
        The names of the files in it.

    Raises:
        RunError: it cannot be written.
    """
    root, run = PurePosixPath(out.stem), Run(folder.path.resolve())
    part = out.with_name(f".{out.name}.part")
    names = []
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in _entries(case, folder, run, whole=whole, model=model):
                info = zipfile.ZipInfo(str(root / name), _STAMP)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = 0o644 << 16
                archive.writestr(info, data)
                names.append(name)
        part.replace(out)
    except OSError as error:
        raise RunError(f"the bundle cannot be written: {error.strerror}", where=str(out)) from error
    finally:
        part.unlink(missing_ok=True)
    return names


def read_bundle(path: Path) -> Case:
    """Return the case in a zip file; nothing is unpacked.

    Raises:
        UsageError: it is not a bundle, is damaged, or another version of rtlagent made it.
    """
    hint = "a bundle is a file that `rtlagent bundle RUN` has written"
    try:
        with zipfile.ZipFile(path) as archive:
            found = [i for i in archive.infolist() if fnmatch(i.filename, f"*/{_CASE}") and i.filename.count("/") == 1]
            if len(found) != 1:
                raise UsageError(f"there is no {_CASE} in it", where=str(path), hint=hint)
            with archive.open(found[0]) as file:
                data = file.read(_MAX_CASE + 1)
        if len(data) > _MAX_CASE:
            raise UsageError(f"its {_CASE} is larger than {_MAX_CASE >> 20} MiB", where=str(path))
        value = json.loads(data)
        if isinstance(value, dict) and value.get("format") != FORMAT:
            raise UsageError(
                f"the bundle has format {value.get('format')!r}, this version reads {FORMAT}", where=str(path)
            )
        return from_json(Case, value)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (zipfile.BadZipFile, ValueError, RecursionError, NotImplementedError, RuntimeError, EOFError) as error:
        # zipfile has no error of its own for encrypted or unknown entries.
        raise UsageError(f"this is not a bundle: {error}", where=str(path), hint=hint) from error


def _entries(case: Case, folder: RunFolder, run: Run, *, whole: bool, model: bool) -> Iterator[tuple[str, bytes]]:
    logs = list(_logs(folder, case))
    yield "README.md", _readme(case, run, logs).encode()
    yield _CASE, json.dumps({**to_json(case), "recorded": _portable(run, to_json(case.recorded))}, indent=1).encode()
    yield "spec.md", f"{case.spec.text}\n".encode()
    for name, files in (("rtl", case.files), ("golden", case.golden), ("baseline", case.baseline)):
        yield from _laid_out(name, files)
    yield from _laid_out("tests", (f for t in case.spec.tests for f in (t.source, *t.support)))
    yield from _laid_out("context", [*([case.spec.c_source] if case.spec.c_source else []), *case.spec.context_files])
    for name in logs:
        yield name, _cut(folder.path / name)
    if whole:
        yield from _rest(folder)
    if model:
        yield "model.jsonl", folder.bytes_of("model.jsonl") or b""


def _portable(run: Run, value: Any) -> Any:
    """Return what a tool said without this machine's places; what it was given stays as it is."""
    match value:
        case str():
            return run.portable(value)
        case list():
            return [_portable(run, v) for v in value]
        case dict():
            return {k: _portable(run, v) for k, v in value.items()}
    return value


def _laid_out(folder: str, files: Iterable[SourceFile]) -> Iterator[tuple[str, bytes]]:
    seen = set()
    for file in files:
        # A name must not lead out of the folder where somebody unpacks it.
        steps = [p for p in PurePosixPath(file.path.replace("\\", "/")).parts if p not in ("/", "..", ".")]
        steps = steps[1:] if steps[:1] == [folder] else steps
        name = "/".join([folder, *(re.sub(r"[^\w.+ -]", "_", p) for p in steps)])
        if name not in seen:
            seen.add(name)
            yield name, file.text.encode(errors="surrogateescape")


def _logs(folder: RunFolder, case: Case) -> Iterator[str]:
    """Yield what the gate left: the folder of its log, else of its candidate and gate."""
    place = PurePosixPath(case.recorded.log_path).parent if case.recorded.log_path else None
    for path in folder.logs():
        name = path.as_posix()
        if place is not None and PurePosixPath(name).is_relative_to(place):
            yield name


def _rest(folder: RunFolder) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.path.rglob("*")):
        name = path.relative_to(folder.path).as_posix()
        if path.is_file() and not path.is_symlink() and not name.startswith((".", "model.jsonl", "checkpoint.sqlite")):
            yield f"run/{name}", _cut(path)


def _cut(path: Path) -> bytes:
    """Return a file; of a large one the beginning and the end."""
    size = path.stat().st_size
    if size <= _MAX_LOG:
        return path.read_bytes()
    with path.open("rb") as file:
        head = file.read(_MAX_LOG // 2)
        file.seek(-_MAX_LOG // 2, 2)
        tail = file.read()
    return b"%b\n... %d bytes left out ...\n%b" % (head, size - _MAX_LOG, tail)


def _readme(case: Case, run: Run, logs: list[str]) -> str:
    step = case.recorded
    told = [f"- `{d}`" for d in step.diagnostics[:20]] or ["- (no diagnostics)"]
    failed = [f"- test {t.name}: {t.status} {t.message}".rstrip() for t in step.tests if t.status != "PASS"][:20]
    lines = [
        f"# {case.gate} of {case.spec.top}: {step.status}",
        "",
        f"From run {case.run}, attempt {case.attempt}; rtlagent {case.rtlagent}, {case.system}"
        + (f"; {step.tool_version}" if step.tool_version else "")
        + ".",
        "",
        "Run it again, in the sandbox, and compare:",
        "",
        "    rtlagent bundle --replay THIS_FILE.zip",
        "",
        "What was said:",
        "",
        *told,
        *failed,
    ]
    if step.detail:
        lines += ["", *(f"    {line}" for line in step.detail.splitlines()[:60])]
    if step.argv:
        lines += ["", "The command, in its work folder in the sandbox:", "", f"    {' '.join(step.argv)}"]
    lines += [
        "",
        "In here: `rtl/` the design; `golden/` the golden model whose trace judged it; `tests/` the user's own tests;",
        "`context/` existing files, or the C; `baseline/` the design it must equal; `spec.md`; the gate's logs and",
        f"waveforms ({len(logs)} files); `case.json`, all of that as the program reads it. Empty folders are left out.",
    ]
    return run.portable("\n".join(lines)) + "\n"
