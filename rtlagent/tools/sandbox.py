"""Run a tool over model-written text, confined by bubblewrap."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rtlagent.config import Limits, ToolConfig
from rtlagent.errors import SandboxError, ToolError
from rtlagent.tools import confinement, work_folder
from rtlagent.tools.limits import apply_rlimits
from rtlagent.tools.process import Conversation, ProcessResult
from rtlagent.tools.process_tree import NamespaceTree, ProcessTree, SessionTree

_MEBIBYTE = 1 << 20
_START_S = 30.0
_SHELL_SIGNALLED = 128
# The shell says that it is there, waits until its limits are set and its work folder is filled,
# and keeps its own remarks ("Segmentation fault") out of the tool's standard error. It stays the
# namespace's first process: a tool in that place would be deaf to its own SIGABRT.
_GATE = 'echo; read -r go || exit 1; exec 5>&2 2>/dev/null; "$@" 2>&5 5>&-; exit $?'
_OPEN_GATE = b"go\n"
_turn: AbstractContextManager[object] = nullcontext()
_KERNEL_LIMITS = {-signal.SIGXCPU: "cpu", -signal.SIGXFSZ: "work"}


def run(
    argv: Sequence[str],
    *,
    work: Path,
    config: ToolConfig,
    limits: Limits | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    readonly: Sequence[Path] = (),
    links: Mapping[str, str] | None = None,
) -> ProcessResult:
    """Run `argv` with `work` as its current and only writable folder (seen inside as /work).

    The files in `work` are there when it starts; the regular files it made or changed are in
    `work` when this returns, also after a limit. `readonly` are further host paths it may read,
    at their own place. The environment is exactly `env` plus PATH, HOME, TMPDIR and LANG.
    Name files by paths relative to `work`: they hold with and without confinement. `links` are further names inside,
    absolute path to a path below /work, for tools that insist on their own places; only with confinement.

    No process that `argv` started outlives this call. Safe to call from several threads.

    Raises:
        SandboxError: bubblewrap is missing or the kernel refuses it.
        ToolMissingError: argv[0] is not found.
    """
    limits = limits or config.limits
    confined = config.sandbox != "none"
    environment = _environment(env or {}, work, confined=confined)
    program = confinement.find_program(
        argv[0], work=work, search_path=environment["PATH"], shown=readonly if confined else None
    )
    text = stdin.encode(errors="replace")
    job = _Job((program, *argv[1:]), work, environment, text, limits, tuple(readonly), dict(links or {}))
    try:
        result = _run_confined(job) if confined else _run_unconfined(job)
    except work_folder.FolderTooBigError:
        message = f"the files to work on are larger than {limits.work_mb} MiB"
        return ProcessResult(tuple(argv), None, "", message, 0.0, "work")
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{argv[0]} was killed but does not die") from error
    except OSError as error:
        raise ToolError(f"cannot run {argv[0]}: {error.strerror or error}") from error
    return replace(result, argv=tuple(argv))


def take_turns(turn: AbstractContextManager[object]) -> None:
    """Let every tool of this process hold `turn` while it runs, but not while its sandbox is being made.

    Making a sandbox is mostly waiting for the kernel: processes that share a semaphore here are that much quicker,
    and run no more tools at the same time than it allows. For processes that do nothing else.
    """
    global _turn  # noqa: PLW0603
    _turn = turn


@dataclass(frozen=True)
class _Job:
    argv: tuple[str, ...]
    work: Path
    env: Mapping[str, str]
    stdin: bytes
    limits: Limits
    readonly: tuple[Path, ...]
    links: Mapping[str, str]


def _environment(env: Mapping[str, str], work: Path, *, confined: bool) -> dict[str, str]:
    base = {
        "PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": confinement.WORK if confined else str(work),
        "TMPDIR": "/tmp" if confined else tempfile.gettempdir(),
        "LANG": "C.UTF-8",
    }
    return base | dict(env)


def _run_confined(job: _Job) -> ProcessResult:
    info_reader, info_writer = os.pipe()
    with ExitStack() as stack:
        stack.callback(os.close, info_reader)
        try:
            command = confinement.command(
                work_mb=job.limits.work_mb, readonly=job.readonly, info_fd=info_writer, links=job.links
            )
            process = stack.enter_context(_started(command, job, cwd=Path("/"), pass_fds=(info_writer,)))
        finally:
            os.close(info_writer)
        _await_gate(process)
        pid = int(json.loads(os.read(info_reader, 4096))["child-pid"])
        _, proc_fd, tmp_fd, work_fd = stack.enter_context(_inner_folders(pid))
        tree = NamespaceTree(pid, proc_fd=proc_fd, folder_fds=(work_fd, tmp_fd))
        stack.callback(tree.close)
        apply_rlimits(pid, job.limits, own_user_namespace=True)
        max_bytes = job.limits.work_mb * _MEBIBYTE
        stamps = work_folder.copy_in(job.work, work_fd, max_bytes=max_bytes)
        with _turn:
            result = _converse(process, tree, job)
        # Everything inside is dead now; the descriptor keeps the folder alive.
        try:
            work_folder.copy_out(work_fd, job.work, known=stamps, max_bytes=max_bytes)
        except work_folder.FolderTooBigError:
            result = replace(result, limit=result.limit or "work", returncode=None)
    return result


def _run_unconfined(job: _Job) -> ProcessResult:
    with _started([], job, cwd=job.work, pass_fds=()) as process:
        _await_gate(process)
        apply_rlimits(process.pid, job.limits, own_user_namespace=False)
        tree = SessionTree(process.pid, folder=job.work, max_bytes=job.limits.work_mb * _MEBIBYTE)
        with _turn:
            return _converse(process, tree, job)


@contextmanager
def _started(
    prefix: Sequence[str], job: _Job, *, cwd: Path, pass_fds: tuple[int, ...]
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*prefix, "/bin/sh", "-c", _GATE, "sh", *job.argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=cwd,
        # Also the first process must not hold a secret: the tool can read its environment.
        env=dict(job.env),
        pass_fds=pass_fds,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _await_gate(process: subprocess.Popen[bytes]) -> None:
    """Wait for the shell's first sign of life.

    Raises:
        SandboxError: there was none.
    """
    assert process.stdout and process.stderr
    ready, _, _ = select.select([process.stdout], [], [], _START_S)
    if not ready or process.stdout.read(1) != b"\n":
        process.kill()
        _, stderr = process.communicate(timeout=_START_S)
        raise confinement.refusal(stderr.decode(errors="replace"))


@contextmanager
def _inner_folders(pid: int) -> Iterator[tuple[int, ...]]:
    """Open the root, /proc, /tmp and the work folder as the waiting first process sees them."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with ExitStack() as stack:
        fds: list[int] = []
        try:
            for name in (f"/proc/{pid}/root/", "proc", "tmp", confinement.WORK.strip("/")):
                fds.append(os.open(name, flags, dir_fd=fds[0] if fds else None))
                stack.callback(os.close, fds[-1])
        except OSError as error:
            raise SandboxError(f"cannot look into the sandbox: {error.strerror}") from error
        yield tuple(fds)


def _converse(process: subprocess.Popen[bytes], tree: ProcessTree, job: _Job) -> ProcessResult:
    start = time.monotonic()
    conversation = Conversation(process, stdin=_OPEN_GATE + job.stdin, max_bytes=int(job.limits.output_mb * _MEBIBYTE))
    limit = conversation.run(lambda: tree.watch(job.limits), tree.kill, job.limits.wall_s)
    wall_s = time.monotonic() - start
    returncode = process.returncode
    if returncode > _SHELL_SIGNALLED and returncode - _SHELL_SIGNALLED <= signal.SIGRTMAX:
        returncode = _SHELL_SIGNALLED - returncode
    limit = limit or _KERNEL_LIMITS.get(returncode)
    if limit is None and returncode and tree.full():
        limit = "work"
    stdout, stderr = conversation.output
    return ProcessResult(job.argv, None if limit else returncode, stdout, stderr, wall_s, limit)
