"""Tell what a design consists of and what drives each of its signals."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from rtlagent.config import ToolConfig
from rtlagent.errors import ToolError, UsageError, suggestion
from rtlagent.tools.filelist import compile_order, include_dirs
from rtlagent.tools.inspect_worker import InspectAnswer, InspectJob
from rtlagent.tools.process import ProcessResult
from rtlagent.tools.sandbox import run
from rtlagent.tools.scratch import scratch_folder
from rtlagent.tools.staging import require_size, stage
from rtlagent.types import SourceFile, from_json
from rtlagent.verilog import DesignInfo


def inspect(files: Sequence[SourceFile], *, top: str | None = None, config: ToolConfig) -> DesignInfo:
    """Read a design's modules, ports, parameters, instances and drivers.

    A design with errors gives what could be understood, with `complete` False.

    Args:
        files: All files of the design; headers too.
        top: The top module; None: every module that nobody instantiates.
        config: How tools are run.

    Raises:
        UsageError: no module was found, `top` is not among them, two files have the same path, an include
            names a file that was not given, or all are too large together.
        ToolError: the reader broke or reached a limit.
    """
    require_size(files, config)
    sources = compile_order(files)
    if not sources:
        raise UsageError("no Verilog file was given", hint="give files that end in .v or .sv")
    with scratch_folder() as folder:
        staged = stage(files, folder)
        job = InspectJob(tuple(staged.place(f.path) for f in sources), staged.paths, include_dirs(staged.paths), top)
        process = run(
            [sys.executable, "-I", "-m", "rtlagent.tools.inspect_worker"],
            work=staged.folder,
            config=config,
            stdin=json.dumps(asdict(job)),
        )
    answer = _read(process)
    if answer.design is None:
        path, _, rest = answer.where.partition(":")
        raise UsageError(answer.refusal, where=f"{staged.originals.get(path, path)}:{rest}")
    design = answer.design
    names = [m.name for m in design.modules]
    if not names:
        raise UsageError("the files define no module", hint="rtlagent lint shows what is wrong with them")
    if top is not None and top not in names:
        raise UsageError(f"top module {top!r} not found", hint=suggestion(top, names))
    return _with_paths(design, staged.originals)


def _read(process: ProcessResult) -> InspectAnswer:
    if process.limit:
        raise ToolError(f"reading the design took too much: {process.limit} limit reached")
    try:
        return from_json(InspectAnswer, json.loads(process.stdout))
    except ValueError as wrong:
        last = process.stderr.strip().splitlines()[-1:] or ["no report"]
        raise ToolError(f"the design could not be read: {last[0][:200]}") from wrong


def _with_paths(design: DesignInfo, originals: Mapping[str, str]) -> DesignInfo:
    """Give every place the path that the user knows."""

    def known(path: str) -> str:
        return originals.get(path, path)

    return replace(
        design,
        modules=tuple(
            replace(
                m,
                path=known(m.path),
                instances=tuple(replace(i, path=known(i.path)) for i in m.instances),
                drivers=tuple(replace(d, path=known(d.path)) for d in m.drivers),
            )
            for m in design.modules
        ),
    )
