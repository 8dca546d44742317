"""Runs and their logs as resources, and the prompts."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from pydantic import Field

from rtlagent.errors import UsageError
from rtlagent.server import texts
from rtlagent.server.desk import Call, Desk, DeskServer, desk_of
from rtlagent.server.workspace import RUNS, Workspace
from rtlagent.spec import boundary
from rtlagent.spec.files import read_text_file

_MAX_RUNS = 50
_MAX_REPORT_BYTES = 8_000_000
_MAX_LOG_CHARS = 60_000


def list_runs(desk: Desk) -> str:
    """Tell of the latest runs: folder, how they ended, where the report is."""
    place = _place(desk)
    folder = place.path(RUNS)
    found = [p for p in folder.glob("*") if (p / "spec.json").is_file()] if folder.is_dir() else []
    runs = [
        {"run": p.name, "outcome": _outcome(place, p), "report": f"rtlagent://runs/{p.name}/report"}
        for p in sorted(found, key=lambda p: p.name, reverse=True)[:_MAX_RUNS]
    ]
    return json.dumps({"runs": runs, "left_out": max(0, len(found) - _MAX_RUNS)}, indent=1)


async def read_report(run: str, call: Call) -> str:
    """Return a run's report.json."""
    return _read(_place(desk_of(call)), f"{RUNS}/{run}/report.json", _MAX_REPORT_BYTES)


async def read_log(path: str, call: Call) -> str:
    """Return a log below runs/; of a long one the head and the end."""
    text = _read(_place(desk_of(call)), f"{RUNS}/{path}", 64_000_000)
    if len(text) <= _MAX_LOG_CHARS:
        return text
    half = _MAX_LOG_CHARS // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half} characters left out) ...\n{text[-half:]}"


def implement_spec(
    spec: Annotated[str, Field(description="The specification, by path in the workspace.")],
    rtl: Annotated[str, Field(description="Folder for the RTL.")] = "rtl",
    golden: Annotated[str, Field(description="Where the golden model goes.")] = "golden.py",
) -> str:
    """Implement a specification until every gate passes."""
    return texts.render("implement_spec", spec=spec, rtl=rtl, golden=golden)


def debug_failing_test(
    files: Annotated[str, Field(description="The design's files or folders.")],
    test: Annotated[str, Field(description="The failing test.")] = "",
) -> str:
    """Find out why a test fails, and mend the design."""
    return texts.render("debug_failing_test", files=files, test=test)


def optimise_for_area(
    files: Annotated[str, Field(description="The design's files or folders.")],
    target: Annotated[str, Field(description="generic, ice40, ecp5 or xc7.")] = "generic",
) -> str:
    """Make a design smaller, with a proof after each change."""
    return texts.render("optimise_for_area", files=files, target=target)


def add_resources(server: DeskServer) -> None:
    """Give the server its resources and prompts."""
    server.resource("rtlagent://runs", name="runs", mime_type="application/json")(partial(list_runs, server.desk))
    server.resource("rtlagent://runs/{run}/report", name="run report", mime_type="application/json")(read_report)
    server.resource("rtlagent://logs/{+path}", name="log", mime_type="text/plain")(read_log)
    for name, prompt in (
        ("implement spec", implement_spec),
        ("debug failing test", debug_failing_test),
        ("optimise for area", optimise_for_area),
    ):
        server.prompt(prompt.__name__, title=name)(prompt)


def _place(desk: Desk) -> Workspace:
    place = desk.fixed or desk.last
    if place is None:
        raise ResourceError("no workspace is known yet\n\nhint: call a tool first, or start the server with --root")
    return place


def _read(place: Workspace, name: str, max_bytes: int) -> str:
    try:
        path = place.path(name)
        if not path.is_relative_to(place.path(RUNS)):
            raise UsageError("lies outside runs/", where=name)
        with boundary.only_below(place.root):
            return read_text_file(path, max_bytes=max_bytes)
    except UsageError as error:
        raise ResourceNotFoundError(f"{name}: {error.message}\n\nhint: rtlagent://runs lists the runs") from error


def _outcome(place: Workspace, run: Path) -> str:
    try:
        report = json.loads(_read(place, place.name(run / "report.json"), _MAX_REPORT_BYTES))
        return str(report["record"]["exit_reason"])
    except (ResourceNotFoundError, ValueError, KeyError, TypeError):
        return "no report yet"
