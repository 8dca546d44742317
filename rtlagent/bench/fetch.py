"""Fetch a suite's public data with git, at one commit, and check them.

No commit is pinned here: one that nobody has verified would be worth nothing. The user names it once, and keeps it
together with the checksum that is printed; with both, the same data come again or none.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rtlagent.bench.suites import suite
from rtlagent.errors import ToolError, ToolMissingError, UsageError, suggestion

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_TIMEOUT_S = 1800
# The repository is somebody else's: nothing of it may run, and no link may lead out of it.
_SAFE = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false", "-c", "core.fsmonitor=false"),
    *("-c", "protocol.ext.allow=never", "-c", "submodule.recurse=false", "-c", "core.autocrlf=false"),
)


@dataclass(frozen=True)
class Source:
    """Where a suite is published."""

    url: str
    folders: tuple[str, ...] = (".",)
    """Where in the repository its data may be; the first that is there is taken."""


SOURCES: dict[str, Source] = {
    "verilog-eval-v1": Source("https://github.com/NVlabs/verilog-eval.git", ("data",)),
    "verilog-eval-v2": Source("https://github.com/NVlabs/verilog-eval.git", ("dataset_spec-to-rtl",)),
    "rtllm-v1.1": Source("https://github.com/hkust-zhiyao/RTLLM.git"),
    "rtllm-v2": Source("https://github.com/hkust-zhiyao/RTLLM.git"),
    "cvdp": Source("https://huggingface.co/datasets/nvidia/cvdp-benchmark-dataset"),
}


@dataclass(frozen=True)
class Fetched:
    """Data that lie on the disk."""

    path: Path
    """What to give as --path."""
    commit: str
    data_sha256: str
    problems: int


def fetch_suite(
    name: str, out: Path, *, commit: str | None = None, url: str | None = None, sha256: str | None = None
) -> Fetched:
    """Fetch a suite into the new folder `out`.

    Args:
        name: Of the suite.
        out: Must not exist, or be empty.
        commit: Full hash.
        url: Of a mirror; None: where the suite is published.
        sha256: What `data_sha256` has to be; None: it is only told.

    Raises:
        UsageError: no such suite, no commit, `out` is taken, or the data are not what was asked for.
        ToolMissingError: git is not installed.
        ToolError: git failed.
    """
    adapter = suite(name)
    source = SOURCES.get(name)
    if source is None:
        raise UsageError(f"{name} is not fetched: its data are your own", hint=suggestion(name, SOURCES))
    if commit is None:
        raise UsageError(
            f"no commit is pinned for {name}",
            hint=f"choose one (git ls-remote {url or source.url}) and give its full hash with --commit",
        )
    if not _SHA.match(commit):
        raise UsageError(f"not the full hash of a commit: {commit!r}", hint="40 hexadecimal digits, in lower case")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} exists already", hint="name a new folder")
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        _check_out(partial, url or source.url, commit)
        shutil.rmtree(partial / ".git")
        place = next((f for f in source.folders if (partial / f).exists()), ".")
        found = len(adapter.problems(partial / place))
        actual = adapter.data_sha256(partial / place)
        if sha256 is not None and actual != sha256.lower():
            raise UsageError(f"the data of {name} have the checksum {actual}, not {sha256.lower()}")
        if out.is_dir():
            out.rmdir()
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Fetched(out / place, commit, actual, found)


def _check_out(folder: Path, url: str, commit: str) -> None:
    _git(folder, "init", "--quiet", ".")
    try:
        _git(folder, "fetch", "--quiet", "--no-tags", "--depth", "1", "--", url, commit)
    except ToolError:
        # Some servers give no commit by its hash.
        _git(folder, "fetch", "--quiet", "--", url, "+refs/heads/*:refs/heads/fetched/*", "+refs/tags/*:refs/tags/*")
    _git(folder, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", commit)
    if _git(folder, "rev-parse", "HEAD").strip() != commit:
        raise ToolError(f"git did not check out {commit}")


def _git(folder: Path, *args: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *_SAFE, *args],
            cwd=folder, env=env, capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT_S,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise ToolMissingError("git is not installed", hint="apt-get install git") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"git {args[0]} takes longer than {_TIMEOUT_S} s") from error
    if done.returncode != 0:
        said = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it gave no reason")
        raise ToolError(f"git {args[0]} failed: {said}")
    return done.stdout
