"""`rtlagent bundle`: pack a failing gate with everything that it judged by, and run such a bundle again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from rtlagent.cli.completion import run_names
from rtlagent.cli.generate import AsJson, RunsDir
from rtlagent.errors import EXIT_FAIL, RunError, UsageError


def bundle(
    run: Annotated[
        str,
        typer.Argument(
            help="The run's folder, or a part of its name that only it has; with --replay, a bundle.",
            autocompletion=run_names,
        ),
    ],
    step: Annotated[
        str,
        typer.Option("--step", metavar="GATE", help="Which gate (default: the first that failed).", show_default=False),
    ] = "",
    attempt: Annotated[
        int | None,
        typer.Option(
            "--attempt", min=1, help="Of which attempt (default: the last where it failed).", show_default=False
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The zip file (default: RUN-GATE.zip).", show_default=False),
    ] = None,
    whole: Annotated[bool, typer.Option("--whole", help="Add the rest of the run's folder.")] = False,
    with_model: Annotated[
        bool,
        typer.Option("--with-model", help="Add the talk with the model; it may hold more than you want to give."),
    ] = False,
    replay: Annotated[bool, typer.Option("--replay", help="Run the gate in a bundle again, and compare.")] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="With --replay: keep logs and waveforms here.")
    ] = None,
    runs_dir: RunsDir = None,
    as_json: AsJson = False,
) -> None:
    """Pack a failing gate with everything that it judged by into one zip file, to be run again anywhere.

    In it are the design, the specification, the golden model and its trace, your tests or the C, the logs and
    waveforms, and what the gate said. Neither keys nor the environment are, and absolute paths are cut to their last
    part. With --replay the gate runs again, in the sandbox, and its verdict is compared with the recorded one.

    Exit codes: 0 written, or reproduced; 1 not reproduced; 2 there is nothing to pack, or no bundle; 4 a tool broke.

    Such as:

      rtlagent bundle fifo

      rtlagent bundle fifo --step synthesize --attempt 2 -o for-the-vendor.zip

      rtlagent bundle --replay for-the-vendor.zip
    """
    if replay:
        if step or attempt or out or whole or with_model:
            raise UsageError("--replay takes a bundle and nothing else", hint="leave the other options out, but --keep")
        _replay(Path(run), keep, as_json=as_json)
        return
    if keep is not None:
        raise UsageError("--keep belongs to --replay")
    from rtlagent.agent.bundle_file import write_bundle
    from rtlagent.agent.reproduction import case_of
    from rtlagent.config import load_config
    from rtlagent.report.folder import RunFolder
    from rtlagent.workspace import Run

    flags = {"runs_dir": runs_dir} if runs_dir is not None else {}
    config = load_config(flags=flags, env=os.environ, start=Path.cwd())
    direct = Path(run)
    if direct.is_file():
        raise UsageError("this is a file, not a run", where=run, hint="to run a bundle again, add --replay")
    folder = RunFolder(direct if direct.is_dir() else Run.find(config.runs_dir, run).folder)
    case = case_of(folder, attempt=attempt, gate=step)
    path = out or Path(f"{case.run}-{case.gate}.zip")
    if out is None and path.exists():
        raise UsageError("the file is there already", where=str(path), hint="give another name with --out")
    names = write_bundle(case, folder, path, whole=whole, model=with_model)
    if as_json:
        said = {"bundle": str(path), "gate": case.gate, "attempt": case.attempt, "status": case.recorded.status}
        print(json.dumps({**said, "files": names, "problems": folder.problems}))
        return
    print(path)
    print(f"{case.gate} of attempt {case.attempt}, {case.recorded.status}; {len(names)} files")
    for problem in folder.problems:
        print(f"warning: {problem}")


def _replay(path: Path, keep: Path | None, *, as_json: bool) -> None:
    from rtlagent.agent.bundle_file import read_bundle
    from rtlagent.agent.reproduction import replay
    from rtlagent.config import load_config
    from rtlagent.printable import printable
    from rtlagent.tools.scratch import scratch_folder
    from rtlagent.types import to_json

    if not path.is_file():
        raise UsageError("there is no such bundle", where=str(path))
    case = read_bundle(path)
    tools = load_config(env=os.environ, start=Path.cwd()).tools
    if keep is not None:
        try:
            keep.mkdir(parents=True)
        except OSError as error:
            hint = "name a folder that is not there yet"
            raise RunError(f"cannot make the folder: {error.strerror}", where=str(keep), hint=hint) from error
        found = replay(case, tools, keep)
    else:
        with scratch_folder() as place:
            found = replay(case, tools, place)
    if as_json:
        print(json.dumps({"reproduced": not found.differences, **to_json(found), "recorded": to_json(case.recorded)}))
    else:
        print(printable(f"{case.gate} of {case.spec.top}, from run {case.run}, attempt {case.attempt}"))
        print(f"then  {case.recorded.status}  {printable(case.recorded.tool_version)}")
        print(f"now   {found.now.status}  {printable(found.now.tool_version)}")
        for diagnostic in found.now.diagnostics:
            print(printable(str(diagnostic)))
        print("reproduced" if not found.differences else "not reproduced")
        for difference in found.differences:
            print(printable(f"  {difference}"))
    if found.differences:
        raise typer.Exit(EXIT_FAIL)
