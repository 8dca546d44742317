"""What a confined tool sees of the system, as a bubblewrap command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from rtlagent.config import resource_dir
from rtlagent.errors import SandboxError, ToolMissingError

WORK = "/work"
"""The work folder's place inside."""

_MEBIBYTE = 1 << 20
_SHM_MB = 16
_LEAST_TMP_MB = 64
# Of /etc only what the dynamic linker and Debian's compiler links need.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_SYSTEM_FILES = ("/etc/alternatives", "/etc/ld.so.cache")
_UNCONFINED = "or pass --sandbox none to run model-written text unconfined"


def command(
    *, work_mb: int, readonly: Sequence[Path], info_fd: int, links: Mapping[str, str] | None = None
) -> list[str]:
    """Return the bubblewrap command line, up to the program to run; `links` are symbolic links, path to target.

    Raises:
        SandboxError: bubblewrap or a path in `readonly` is missing.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise SandboxError("bubblewrap is not installed", hint=f"apt install bubblewrap, {_UNCONFINED}")
    tmp_mb = max(_LEAST_TMP_MB, work_mb // 4)
    return [
        *(program, "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
        *("--die-with-parent", "--new-session", "--as-pid-1", "--hostname", "sandbox"),
        *("--info-fd", str(info_fd), "--proc", "/proc", "--dev", "/dev"),
        *("--size", str(_SHM_MB * _MEBIBYTE), "--tmpfs", "/dev/shm"),
        *("--size", str(tmp_mb * _MEBIBYTE), "--tmpfs", "/tmp"),
        *("--size", str(work_mb * _MEBIBYTE), "--tmpfs", WORK),
        *_system_binds(),
        *_binds(_shown(readonly)),
        *_interpreter_links(),
        *(argument for path, target in (links or {}).items() for argument in ("--symlink", target, path)),
        # Root would otherwise still own the writable files of /proc/sys, and core_pattern there
        # runs a program of one's choice outside. Unsized filesystems must not be written either.
        *("--remount-ro", "/dev", "--remount-ro", "/proc", "--remount-ro", "/"),
        *("--chdir", WORK),
    ]


def refusal(stderr: str) -> SandboxError:
    """Turn what bubblewrap said when it could not start into an error with a way out."""
    reason = next((line for line in stderr.splitlines() if line.strip()), "it gave no reason")
    if "nknown option" in reason:
        hint = f"bubblewrap 0.8 or newer is needed; upgrade it, {_UNCONFINED}"
    else:
        hint = (
            "the kernel or a container refuses unprivileged namespaces; allow them (Ubuntu 24.04: "
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0; Docker: --security-opt "
            f"seccomp=unconfined), {_UNCONFINED}"
        )
    return SandboxError(f"bubblewrap could not start: {reason.removeprefix('bwrap: ')}", hint=hint)


def find_program(name: str, *, work: Path, search_path: str, shown: Sequence[Path] | None) -> str:
    """Return the path under which a shell inside can start `name`, a name or a path.

    Args:
        name: What to start: a name to look for, an absolute path, or a path from the work folder.
        work: The work folder on the host.
        search_path: Folders separated by colons.
        shown: Further paths that the sandbox shows; None: there is no sandbox.

    Raises:
        ToolMissingError: there is no such program, or the sandbox does not show it.
    """
    if "/" not in name:
        found = shutil.which(name, path=search_path)
    elif not name.startswith("/") or name.startswith(f"{WORK}/"):
        in_work = (work / name.removeprefix(f"{WORK}/")).is_file()
        found = name if in_work or (name.startswith("/") and Path(name).is_file()) else None
    else:
        found = name if Path(name).is_file() else None
    if found is None:
        raise ToolMissingError(
            f"{name} is not installed", hint="rtlagent doctor lists each tool with the line that installs it"
        )
    places = [WORK, *_SYSTEM, *(_shown(shown) if shown is not None else ())]
    if shown is not None and found.startswith("/") and not any(Path(found).is_relative_to(p) for p in places):
        raise ToolMissingError(
            f"{found} is outside what the sandbox shows", hint="install the tool below /usr, or beside Python"
        )
    return found


@cache
def _system_binds() -> tuple[str, ...]:
    binds: list[str] = []
    for place in map(Path, _SYSTEM):
        if place.is_symlink():
            binds += ["--symlink", str(place.readlink()), str(place)]
        elif place.is_dir():
            binds += ["--ro-bind", str(place), str(place)]
    return *binds, *_binds([Path(p) for p in _SYSTEM_FILES if Path(p).exists()])


@cache
def _python_paths() -> tuple[Path, ...]:
    """Return what this interpreter, its packages and rtlagent's workers need.

    The interpreter's own prefix, never a folder above it: a virtual environment often lies in a
    checkout, beside golden models and private files.
    """
    package = Path(__file__).resolve().parents[1]
    prefixes = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()]
    packages = [Path(p) for p in sys.path if Path(p).name in ("site-packages", "dist-packages") and Path(p).is_dir()]
    try:
        simulation = resource_dir("sim")
    except FileNotFoundError as error:
        raise SandboxError(str(error), hint="reinstall rtlagent") from error
    return tuple(_outermost([*prefixes, *packages, package, simulation], _SYSTEM))


@cache
def _interpreter_links() -> tuple[str, ...]:
    """Return the symbolic links between `sys.executable` and the real interpreter that lie outside its prefixes."""
    links: list[str] = []
    link = Path(sys.executable)
    while link.is_symlink():
        target = link.readlink()
        if _outermost([link], [WORK, *_SYSTEM, *_python_paths()]):
            links += ["--symlink", str(target), str(link)]
        link = link.parent / target
    return tuple(links)


def _shown(readonly: Sequence[Path]) -> list[Path]:
    """Return what is shown beside the system: Python, rtlagent and the paths in `readonly`.

    Raises:
        SandboxError: one of them does not exist.
    """
    for path in readonly:
        if not path.exists():
            raise SandboxError(f"a path that the tool should read does not exist: {path}")
    python = _python_paths()
    return [*python, *_outermost([p.absolute() for p in readonly], [*_SYSTEM, *python])]


def _outermost(paths: Sequence[Path], covered: Sequence[str | Path]) -> list[Path]:
    """Drop the paths that lie in another one or in a covered one."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda p: (len(p.parts), p)):
        if not any(path.is_relative_to(above) for above in [*kept, *covered]):
            kept.append(path)
    return kept


def _binds(paths: Sequence[Path]) -> list[str]:
    return [argument for path in paths for argument in ("--ro-bind", str(path), str(path))]
