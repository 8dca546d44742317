"""What a confined tool sees of the system, as a bubblewrap command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
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


def command(*, work_mb: int, readonly: Sequence[Path], info_fd: int) -> list[str]:
    """Return the bubblewrap command line, up to the program to run.

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
        *_binds(_outermost([*_python_paths(), *(_existing(p) for p in readonly)])),
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


def find_program(name: str, *, work: Path, search_path: str) -> str:
    """Return the path under which a shell inside can start `name`, a name or a path.

    Raises:
        ToolMissingError: there is no such program.
    """
    if "/" in name:
        inside = work / name.removeprefix(f"{WORK}/")
        found = name if Path(name).exists() or inside.exists() else None
    else:
        found = shutil.which(name, path=search_path)
    if found is None:
        raise ToolMissingError(
            f"{name} is not installed", hint="rtlagent doctor lists each tool with the line that installs it"
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
    return *prefixes, *packages, package, simulation


def _existing(path: Path) -> Path:
    if not path.exists():
        raise SandboxError(f"a path that the tool should read does not exist: {path}")
    return path.absolute()


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """Drop paths that lie in another one or in the system's folders."""
    kept: list[Path] = []
    for path in sorted(set(paths), key=lambda p: (len(p.parts), p)):
        if not any(path.is_relative_to(above) for above in [*kept, *_SYSTEM]):
            kept.append(path)
    return kept


def _binds(paths: Sequence[Path]) -> list[str]:
    return [argument for path in paths for argument in ("--ro-bind", str(path), str(path))]
